# `lockstep forecast --simulate`: with the fitted numbers, SMPI gives the time of the formula; a
# slower network takes longer, and a bucket that is ready early is hidden; a simulation that has not
# ended by its last line has no number.
#   simulate.sh LOCKSTEP FOLDER PYTHON MPIRUN
plant=$(cd "$(dirname "$0")" && pwd -P)/simulate_plant.py
. "$(dirname "$0")/common.sh"
python=$3
mpirun=$4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

skip() {
    echo "skipped: $*"
    exit 77
}
needs_release
command -v smpirun >/dev/null || skip "no smpirun (SimGrid, libsimgrid-dev)"
[ -e "$(dirname "$lockstep")/lockstep-smpi" ] || skip "this build has no lockstep-smpi (DP_SMPI)"
[ -x "$mpirun" ] || skip "no mpirun: the records are of processes"

# sweep OUT BUCKET: measures processes, and then plants steps.
sweep() {
    rm -f real.jsonl
    expect_status 0 "$lockstep" sweep --launcher "$mpirun --oversubscribe --bind-to none -n {n}" --bind none \
        --counts 1,2,4 --scaling weak --batch 4 --workload mlp:64,64 --workload mlp:256,256 --bucket "$2" \
        --warmup 1:0 --seconds 0.001 --steps 2:3 --out real.jsonl
    expect_status 0 "$python" "$plant" real.jsonl "$1"
}

# number_of COLUMN RANKS FILE: prints the number of the larger workload.
number_of() {
    awk -F, -v column="$1" -v ranks="$2" '
        { gsub(/["\r]/, "") }
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        # The name of the workload has a comma, so it is two fields here.
        $1 "," $2 == "mlp:256,256" && $(at["ranks"] + 1) == ranks { print $(at[column] + 1) }' "$3"
}

# within PART A B: both are numbers, and they differ by at most that part of B.
within() {
    awk -v part="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(a != "" && b > 0 && a >= (1 - part) * b && a <= (1 + part) * b) }'
}

simulate() {
    expect_status 0 "$lockstep" forecast --allow-dirty planted.jsonl --to 64 --format csv --simulate "$@"
    mv out "out.csv"
}

sweep planted.jsonl 1048576

# The fitted platform differs by at most 0.5 %, from rounding to whole bytes of a share and from
# agreeing on a start.
simulate fitted
for ranks in 1 2 4 8 64; do
    seen=$(number_of simulated_seconds $ranks out.csv)
    wanted=$(number_of forecast_seconds $ranks out.csv)
    within 0.005 "$seen" "$wanted" || fail "$ranks ranks: simulated ${seen:-nothing}, the formula says $wanted"
done
for ranks in 2 4; do
    error=$(number_of simulated_error $ranks out.csv)
    within 0.005 "$(awk -v e="$error" 'BEGIN { if (e != "") print 1 + e }')" 1 || fail "error beside $ranks ranks: $error"
done
[ -z "$(number_of simulated_error 8 out.csv)" ] || fail "an error of what nobody measured"

# With 256 ranks some rounds stand for all: each takes at most a minute, and differs by at most 2 %
# from the formula. `scripts/bench processes` measures how long 1024 take.
expect_status 0 "$lockstep" forecast --allow-dirty planted.jsonl --to 256 --format csv --simulate fitted --timeout 60
within 0.02 "$(number_of simulated_seconds 256 out)" "$(number_of forecast_seconds 256 out)" ||
    fail "256 ranks: $(number_of simulated_seconds 256 out), $(number_of forecast_seconds 256 out)"
[ "$(number_of rounds 256 out)" = 255 ] || fail "rounds: $(number_of rounds 256 out)"
[ "$(number_of rounds_simulated 256 out)" -lt 255 ] || fail "all rounds were simulated"

# write_platform: a platform of the user, with a reduction of ten times the time, and hardly
# anything else. No measurement was made on it.
write_platform() {
    cat >"$1" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="own" prefix="host" suffix="" radical="0-63" speed="1Gf" bw="$2" lat="$3"/>
</platform>
XML
}
compute=$(number_of simulated_seconds 1 out.csv)
write_platform fast.xml 10MBps 1ms
write_platform slow.xml 1MBps 10ms
for platform in fast slow; do
    simulate $platform.xml
    number_of simulated_seconds 64 out.csv >$platform
    [ -z "$(number_of simulated_error 4 out.csv)" ] || fail "an error on a platform that nobody measured"
done
ratio=$(awk -v c="$compute" -v a="$(cat slow)" -v b="$(cat fast)" 'BEGIN { print (a - c) / (b - c) }')
within 0.01 "$ratio" 10 || fail "ten times slower: $ratio"
expect_status 0 "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --simulate slow.xml
expect_count 8 'simulated: [*]extrapolated[*]$' out
for platform in h100-400g ethernet-10g; do
    expect_status 0 "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --simulate $platform
    expect_count 2 "^Simulated by SimGrid .* on the platform $platform" out
done

# There are five buckets on two ranks: the first is ready after 31 % of 3.4 ms and a quarter of 59
# %. Four of 64 KiB and one of 1 KiB follow each other from there, and then the update, 10 %: 6.525
# ms.
sweep buckets.jsonl 65536
expect_status 0 "$lockstep" forecast --allow-dirty buckets.jsonl --to 8 --format csv --simulate fitted
within 0.005 "$(number_of simulated_seconds 2 out)" 0.006525 ||
    fail "what is ready early is not hidden: $(number_of simulated_seconds 2 out)"
[ "$(number_of forecast_seconds 2 out)" = 0.00803168 ] || fail "nothing was hidden where it was planted"

for format in text json csv md; do
    expect_status 0 "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --format $format --simulate fitted
    [ -s out ] && [ ! -s err ] && grep -q simulated out || fail "$format"
done

# without_number REASON: no line of 8 has a number, and the status says so.
without_number() {
    reason=$1
    shift
    expect_status 3 "$@"
    expect_count 8 "not simulated: $reason" out
    grep -q '8 of 8 lines were not simulated' err || fail "no complaint"
}

# There are fewer hosts than ranks: MPI calls MPI_Abort, and SMPI ends with status 0.
sed 's/0-63/0-2/' fast.xml >small.xml
expect_status 3 "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --simulate small.xml
expect_count 4 'not simulated: the platform has fewer hosts than ranks' out

# A platform is refused if it makes SimGrid write files, or has a number that SimGrid takes as 0.
echo kept >victim
own='<cluster id="own" prefix="host" suffix="" radical="0-63" speed="1Gf" bw="1MBps" lat="1ms"/>'
edited() {
    printf '%s' "$own" | sed "s|$1|$2|"
}
refused() {
    printf '<?xml version='"'1.0'"'?>\n<platform version="4.1">\n%s\n</platform>\n' "$2" >bad.xml
    expect_status 2 "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --simulate bad.xml
    [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$1" err && [ ! -s out ] || fail "$2"
    [ "$(cat victim)" = kept ] || fail "$2: a file was written"
}
refused 'bad.xml:3: the element config is not known' \
    "<config id=\"c\"><prop id=\"tracing/filename\" value=\"$PWD/victim\"/><prop id=\"tracing\" value=\"yes\"/></config>$own"
refused 'the element trace' "<trace id=\"t\" file=\"$PWD/victim\"/>$own"
refused 'the element include' "<include file=\"fast.xml\"/>$own"
refused 'the attribute availability_file of cluster is not known' "$(edited id= 'availability_file="victim" id=')"
refused 'there is more than elements' "<!DOCTYPE platform [<!ENTITY e SYSTEM \"victim\">]>$own"
refused 'there is more than elements' "text $own"
refused 'not letters' "$(edited own '\&e;')"
refused 'no attribute' "$(edited '"1ms"' 1ms)"
for lat in -1s -5us nans nan inf 1 1h 1e9s 0x1s '1 ms' ''; do
    refused "lat of cluster is \"$lat\", not 0s to 1000s" "$(edited 1ms "$lat")"
done
for bw in 0Bps -1MBps nanBps 1MB 1e30Bps; do
    refused "bw of cluster is \"$bw\", not 1Bps" "$(edited 1MBps "$bw")"
done
refused 'speed of cluster' "$(edited 1Gf -1Gf)"
refused 'radical of cluster' "$(edited 0-63 0-6x)"
refused 'core of cluster' "$(edited bw= 'core="0" bw=')"
echo 'no platform' >broken.xml
expect_status 2 "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --simulate broken.xml

# make_fake: a program that claims to be smpirun, and does something else.
make_fake() {
    mkdir -p fake
    printf '#!/bin/sh\n[ "$1" != -version ] || { echo SimGrid of nobody; exit 0; }\n%s\n' "$1" >fake/smpirun
    chmod +x fake/smpirun
}
faked() {
    with "PATH=$PWD/fake:$PATH" "$lockstep" forecast --allow-dirty planted.jsonl --to 8 --simulate fitted "$@"
}
make_fake 'exit 0'
without_number 'it ended without its last line' faked
make_fake 'echo "lockstep-smpi: ranks=3 step_ns=5 rounds=2 of=2."'
without_number 'it simulated 3 ranks' faked
make_fake 'echo "lockstep-smpi: ranks=$2 step_ns=5 rounds=2 of=2."; echo more'
without_number 'it ended without its last line' faked
make_fake 'printf "lockstep-smpi: ranks=$2 step_ns=5 rounds=2 of=2"'
without_number 'it ended without its last line' faked
make_fake 'echo "lockstep-smpi: ranks=$2 step_ns=5 rounds=2 of=2.5"'
without_number 'it ended without its last line' faked
make_fake 'echo "lockstep-smpi: ranks=$2 step_ns=nan rounds=2 of=2."'
without_number 'it ended without its last line' faked
make_fake 'echo hello; echo "lockstep-smpi: ranks=$2 step_ns=5 rounds=2 of=2."'
expect_status 0 faked # so these are told apart by what they print
make_fake "echo \$\$ >>pids; sleep 987 & echo \$! >>pids; wait"
without_number 'ended after 0.2 s (--timeout)' faked --timeout 0.2
[ "$(wc -l <pids)" -eq 16 ] || fail "it was started $(wc -l <pids) times, twice each"
while read -r pid; do
    tries=0
    while grep -qs '^State:[[:space:]]*[^Z[:space:]]' "/proc/$pid/status"; do # it was killed, and may take a moment
        tries=$((tries + 1))
        [ "$tries" -lt 40 ] || fail "process $pid is left"
        sleep 0.05
    done
done <pids

# Names are no commands and no options. SimGrid would load a file with another ending as a program.
cp fast.xml 'a b;touch owned;$(touch owned)`touch owned`.xml'
cp fast.xml ./--cfg=smpi.xml
cp fast.xml fast.so
for name in 'a b;touch owned;$(touch owned)`touch owned`.xml' --cfg=smpi.xml; do
    expect_status 0 "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate="$name"
done
[ ! -e owned ] || fail "a file's name was a command"
refuse "--simulate fast.so: no such platform: 'fitted', a FILE.xml, or one of: ethernet-10g, h100-400g" \
    "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate fast.so
refuse '--simulate nowhere: no such platform' "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate nowhere
refuse '--simulate missing.xml: No such file' "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate missing.xml
refuse '--timeout: ' "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate fitted --timeout 0
refuse 'no smpirun that runs' env PATH=/nowhere "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate fitted
mkdir alone
cp "$lockstep" alone/lockstep
refuse 'this build has no lockstep-smpi' alone/lockstep forecast --allow-dirty planted.jsonl --to 4 --simulate fitted
mkdir temporary
expect_status 0 with "TMPDIR=$PWD/temporary" "$lockstep" forecast --allow-dirty planted.jsonl --to 4 --simulate fitted
[ -z "$(ls -A temporary)" ] || fail "files are left: $(ls -A temporary)"

# Ranks in threads are not simulated.
expect_status 0 "$lockstep" sweep --bind none --mode ddp --devices virt:2 --counts 1,2 --scaling weak --batch 4 \
    --warmup 1:0 --seconds 0.001 --steps 2:2 --workload mlp:64,64 --workload mlp:128,128 --out threads.jsonl
refuse "the ranks of these records are no processes (communicator 'threads')" \
    "$lockstep" forecast --allow-dirty threads.jsonl --to 2 --simulate fitted
