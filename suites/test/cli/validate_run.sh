# `lockstep validate --run` measures what a profile needs, and no more; a metric that it has not
# measured is no pass.
#   validate_run.sh LOCKSTEP FOLDER MAKE_RECORDS SOURCE [short]
# short: only what is measured, of one device, without parts; for a build that takes three times as
# long.
. "$(dirname "$0")/validate_common.sh"
mkdir temporary
export TMPDIR="$PWD/temporary"

one='workload: tutorial, mode: dp, devices: 1, batch: 8'
other='workload: "mlp:8,6,4", mode: dp, devices: 1, batch: 16'
{
    limit step_time 'max: 100 s' "$one" binding 'statistic: floor'
    limit speed_up 'min: 0.0001 x' "$other" binding 'statistic: floor'
    limit step_time 'max: 100 s' 'mode: dp' binding 'statistic: typical'
} | profile good.yaml '' 'launches: 5'
limit step_time 'max: 1 ns' "$one" binding 'statistic: floor' | profile bad.yaml ''
limit step_time 'max: 100 s' "$one" binding 'statistic: floor' | profile single.yaml ''
# Each machine has the same numbers: 65 KiB, and 129 KiB with chains.
limit peak_memory 'max: 140 KiB' "$one" | profile memory.yaml '' 'launches: 5'

# run STATUS PROFILE OPTION...: runs while other tests may run here.
run() {
    wanted=$1
    shift
    expect_status "$wanted" "$lockstep" validate --allow-dirty --profile "$@" --bind none
}

# as_if STATUS: the records that exist now give the printed verdict.
as_if() {
    cp out printed
    expect_status "$1" "$lockstep" validate --allow-dirty --profile "$2" "$3"
    cmp -s out printed || fail "another verdict of the same records: $(cat out printed)"
}

# near PROFILE FILE N: by limits near the numbers of these records all N are PASS. On a busy machine those whose launches
# scatter too much are INVALID.
near() {
    fit "$1" "$2"
    status=0
    "$lockstep" validate --allow-dirty --profile "fit-$1" "$2" >out 2>err || status=$?
    if [ $status -eq 0 ]; then
        prints "ACCEPTED .* $3 PASS, 0 FAIL"
    else
        prints 'launches scatter so much .* NOT SHOWN .* 0 FAIL, 0 OPEN, 0 UNMEASURED, '
    fi
}

# No machine is accepted if the times of the build cannot be judged by.
if ! "$lockstep" --version | grep -q 'Release)\|RelWithDebInfo)'; then
    run 3 good.yaml --run --devices virt:1 --out good.jsonl
    prints 'INVALID .* it is of a '
    exit 0
fi

# The cells of the limits and the base of a ratio are measured, each as often as a limit of two cells
# needs, which is more than the profile requires. No machine fails limits that are so far away, so
# none is accepted by them. By limits near its numbers it is.
run 3 good.yaml --run --devices virt:1 --out good.jsonl
prints 'INVALID step_time .*: at most 100 s; is [^:]* it stays PASS even at 0.3 of the speed: '
prints 'NOT SHOWN by profile good.yaml: of its binding limits 0 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 3 INVALID'
grep -q '^6 of 6 launches of each cell, [0-9]* s$' err || fail "progress"
as_if 3 good.yaml good.jsonl
fit good.yaml good.jsonl
expect_status 0 "$lockstep" validate --allow-dirty --profile fit-good.yaml good.jsonl
prints 'ACCEPTED by profile good.yaml: of its binding limits 3 PASS'
expect_count 18 '"schema":"lockstep/cell/1.1"' good.jsonl
[ "$(cell_ids good.jsonl | uniq | wc -l)" -eq 18 ] || fail 'a launch was measured twice'
for cell in 'tutorial","mode":"dp' 'mlp:8,6,4","mode":"dp' 'mlp:8,6,4","mode":"plain'; do
    expect_count 6 "\"workload\":\"$cell\"" good.jsonl
done
run 0 memory.yaml --run --devices virt:1
prints '^PASS peak_memory .*ACCEPTED by profile memory.yaml: of its binding limits 1 PASS'
[ -z "$(ls temporary)" ] || fail "left behind: $(ls temporary)"
! grep -q 'the records are in' err || fail "of records that are gone"

if [ "${5-}" = short ]; then
    exit 0
fi

# A log that is no terminal gets a line for each tenth of the launches.
limit peak_memory 'max: 100 KiB' "$one" | profile twenty.yaml '' 'launches: 20'
"$lockstep" validate --allow-dirty --profile twenty.yaml --minutes 0.25 --devices virt:1 --bind none >out 2>err ||
    [ $? -eq 3 ] || fail "$(cat out err)" # 3: the time was over
lines=$(count_lines '^[0-9]*[02468] of 20 launches of each cell, [0-9]* s$' err)
[ "$lines" -ge 2 ] && [ "$lines" -eq "$(count_lines ' of 20 launches of each' err)" ] || fail "progress: $(cat err)"
rm -rf temporary/*

# Parts of the machine are measured for limits about them, and for no others. They come after the
# steps that other limits need, here chains. A tenth of a second each is enough: so few minutes
# allow no more.
! grep -q '"parts"' good.jsonl || fail 'parts that no limit is about'
{
    limit step_time 'max: 100 s' "$one, chain: 4" binding 'statistic: least'
    limit matrix_product 'min: 1 FLOP/s' "$one" binding 'statistic: least'
    limit sustained_product 'min: 1 FLOP/s' "$one" binding 'statistic: least'
    limit host_copy 'min: 1 B/s' "$one, bytes: 64 MiB" binding 'statistic: least'
    limit memory_bandwidth 'min: 1 B/s' "$one, bytes: 128 MiB" binding 'statistic: least'
} | profile parts.yaml '' 'launches: 2'
run 3 parts.yaml --minutes 0.3 --devices virt:1 --out parts.jsonl
prints ' 0 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 5 INVALID'
near parts.yaml parts.jsonl 5
expect_count 5 '"parts":{"product":{"work":[0-9]*,"ns":\[\[[0-9,]*\]\]},"sustained":' parts.jsonl
expect_count 0 '"chain":0,' parts.jsonl
expect_status 3 "$lockstep" validate --allow-dirty --profile single.yaml parts.jsonl
prints '1 UNMEASURED'
expect_status 0 "$lockstep" validate --allow-dirty --profile memory.yaml parts.jsonl

# Two devices are used if there are two cores: with the size that the limit names, and no other.
if [ "$(nproc)" -ge 2 ]; then
    two='workload: "mlp:8,6,4", mode: ddp, devices: 2, batch: 16'
    {
        limit allreduce_bandwidth 'min: 1 B/s' "$two, bytes: 328 B" binding 'statistic: least'
        limit peer_copy 'min: 1 B/s' "$two, bytes: 16 MiB" binding 'statistic: least'
        limit product_spread 'max: 1000 x' "$two" binding 'statistic: least'
    } | profile two.yaml '' 'launches: 5'
    # sweep STATUS FILE DEVICES [OPTION...]: measures as --run would, but for a shorter time.
    sweep()
    {
        status=$1 out=$2 devices=$3
        shift 3
        expect_status "$status" "$lockstep" sweep --out "$out" --devices "$devices" --bind none \
            --launches 6 --counts 2 --mode ddp --batch 16 --workload mlp:8,6,4 --seconds 0.01 \
            --parts 0.02 "$@"
    }
    sweep 0 two.jsonl virt:2
    near two.yaml two.jsonl 3
    limit allreduce_bandwidth 'min: 1 B/s' "$two, bytes: 1 GiB" binding 'statistic: cost' |
        profile gib.yaml '' ''
    expect_status 3 "$lockstep" validate --allow-dirty --profile gib.yaml two.jsonl
    prints 'UNMEASURED allreduce_bandwidth .* no allreduce_bandwidth of these bytes'
    limit allreduce_bandwidth 'min: 1 TB/s' "$two, bytes: 328 B" binding 'statistic: cost' |
        profile fast.yaml '' ''
    expect_status 1 "$lockstep" validate --allow-dirty --profile fast.yaml two.jsonl

    # A device at a quarter of its speed is named, and no machine with it is accepted. Its copies
    # are as slow. It is so slow that other work on the fast device, for a whole launch, does not
    # hide it.
    {
        limit product_spread 'max: 1.5 x' "$two" binding 'statistic: floor'
        limit matrix_product 'min: 1 FLOP/s' "$two" binding 'statistic: floor'
        limit host_copy 'min: 1 B/s' "$two, bytes: 64 MiB" binding 'statistic: floor'
        limit memory_bandwidth 'min: 1 B/s' "$two, bytes: 128 MiB" binding 'statistic: floor'
    } | profile slow.yaml '' 'launches: 5'
    sweep 1 slow.jsonl virt:2+fault:slow@1/1/300
    expect_status 1 "$lockstep" validate --allow-dirty --profile slow.yaml slow.jsonl
    # It is four times; on a busy machine one of the two waits for a core, too.
    prints 'FAIL product_spread of .*, device 1: at most 1.5 x; is [1-9]'
    prints 'INVALID matrix_product .* a device is slow on purpose'
    if command -v python3 >/dev/null; then
        expect_status 1 "$lockstep" validate --allow-dirty --profile slow.yaml slow.jsonl --format json
        python3 - <<'CHECK' || fail 'the copies of a slow device are not slow'
import json
for limit in json.load(open("out"))["limits"][2:]:
    fast, slow = (device["median"] for device in limit["by_device"])
    assert fast > 2 * slow, limit
CHECK
    fi

    # A launch whose results are wrong rejects the machine, whatever its times are.
    limit step_time 'max: 100 s' "$two" binding 'statistic: floor' | profile right.yaml '' ''
    sweep 1 wrong.jsonl virt:2+fault:flip@7/1
    expect_status 1 "$lockstep" validate --allow-dirty --profile right.yaml wrong.jsonl
    prints 'REJECTED by profile right.yaml'
    prints 'FAIL WRONG NUMBERS, so no step_time .* wrong numbers: launch [0-9]*, .*likely cause: \(a device, its memory or a link\|device 1 of 2 (virt:1), which computed a wrong row\).*lockstep soak'
    mkdir wrong
    expect_status 1 "$lockstep" validate --allow-dirty --profile right.yaml wrong.jsonl --node n1 --format json
    cp out wrong/n1.json
    expect_status 1 "$lockstep" fleet wrong
    prints 'Take out 1 of 1: n1 (REJECTED: wrong numbers)'
    prints 'FAIL step_time of .*: wrong numbers: launch'

    # So does one whose step before the samples, or between a sample and the next, is wrong. Which
    # device computed a row of outputs is told; the spread is of no device then.
    {
        limit product_spread 'max: 1000 x' "$two" binding 'statistic: least'
        limit step_time 'max: 100 s' "$two" binding 'statistic: floor'
    } | profile both.yaml '' ''
    # With the data of this seed the exact step before it has right outputs, and the probe does not.
    sweep 1 probe.jsonl virt:2+fault:row@1/1 --seed 1
    expect_status 1 "$lockstep" validate --allow-dirty --profile both.yaml probe.jsonl
    prints 'FAIL WRONG NUMBERS, so no product_spread of mlp:8,6,4 ddp virt:2+fault:row@1/1, 16 rows: at most 1000 x wrong numbers: launch [01], probe: outputs, row [0-9]*, computed by device 1 of 2 (virt:1): index .* likely cause: device 1 of 2 (virt:1), which computed a wrong row'
    prints 'FAIL WRONG NUMBERS, so no step_time .* REJECTED .* 0 PASS, 2 FAIL'
    for fault in flip@7/1 nan@9/1 flip@40/1; do
        limit step_time 'max: 100 s' "$two, chain: 4" binding 'statistic: cost' | profile chain.yaml '' ''
        run 1 chain.yaml --run --devices "virt:2+fault:$fault"
        prints 'REJECTED .* 1 FAIL, '
    done

    # A link has an eleventh of its speed: it does not reach 0.4 of the full speed. At full speed it
    # reaches that, or is OPEN or INVALID if other work took all the time of a launch's copies.
    limit peer_copy 'min: 1 TB/s' "$two, bytes: 16 MiB" binding 'statistic: floor' | profile all.yaml '' ''
    expect_status 1 "$lockstep" validate --allow-dirty --profile all.yaml two.jsonl
    prints 'slow: only copies between virt:0 and virt:1, both ways: one of the two, or their link (at most'
    near=$(sed -n 's,.*; is \([0-9.]* .B/s\).*,\1,p' flat | awk '{ print 0.4 * $1, $2 }')
    limit peer_copy "min: $near" "$two, bytes: 16 MiB" binding 'statistic: floor' | profile near.yaml '' ''
    status=0
    "$lockstep" validate --allow-dirty --profile near.yaml two.jsonl >out 2>err || status=$?
    [ $status -eq 0 ] || prints 'NOT SHOWN .* 0 FAIL, \(1 OPEN\|.* 1 INVALID\)'
    sweep 1 link.jsonl virt:2+fault:link@1/1/1000
    expect_status 1 "$lockstep" validate --allow-dirty --profile near.yaml link.jsonl
    prints 'slow: only copies between virt:0 and virt:1, both ways: one of the two, or their link (at most'
else
    echo 'note: one core, so nothing of two devices'
fi

# The records of a machine that is not accepted are kept, and named.
run 1 bad.yaml --run --devices virt:1
prints 'REJECTED by profile bad.yaml'
kept=$(sed -n 's/^lockstep validate: the records are in //p' err)
case $kept in
"$TMPDIR"/lockstep-validate-*/records.jsonl) ;;
*) fail "where are the records?" ;;
esac
as_if 1 bad.yaml "$kept"
rm -r temporary/*

# A launch that goes wrong is INVALID.
run 3 single.yaml --run --devices virt:1+fault:launch@3 --out fault.jsonl
prints 'INVALID step_time .* launches \(are\|is\) not verified'

# The time is over long before 64 cells are measured: none of them is a pass, nor is the limit that
# any one of them could satisfy.
{
    limit step_time 'max: 100 s' 'mode: dp' binding 'statistic: floor'
    for batch in $(seq 1 64); do
        limit step_time 'max: 100 s' "workload: tutorial, mode: dp, devices: 1, batch: $batch" \
            binding 'statistic: floor'
    done
} | profile many.yaml '' ''
run 3 many.yaml --minutes 0.01 --devices virt:1 --format json
prints '"verdict": "NOT SHOWN"'
if command -v python3 >/dev/null; then
    python3 - <<'CHECK' || fail 'not the right verdict when the time is over'
import json
verdict = json.load(open("out"))
assert verdict["verdict"] == "NOT SHOWN" and verdict["binding"]["PASS"] == 0, verdict["binding"]
first, *others = verdict["limits"]
assert "run `lockstep validate --profile many.yaml --devices virt:1 --bind none --minutes 1`" in first["action"], first["action"]
assert first["verdict"] == "UNMEASURED" and first["reason"].startswith("not measured: tut"), first
assert {limit["verdict"] for limit in others} <= {"UNMEASURED", "OPEN"}
CHECK
else
    echo 'note: no python3, so the JSON is not read'
fi
grep -q 'the 0.01 minutes were over after [0-9]* of 704 launches' err || fail "time"

rm -r temporary/*

# Too few launches in that time are no fault of the machine.
limit step_time 'max: 100 s' "$one" binding 'statistic: floor' | profile thousand.yaml '' 'launches: 1000'
run 3 thousand.yaml --minutes 0.1 --devices virt:1
prints 'UNMEASURED step_time .* [1-9][0-9]* launch[es]*, and the profile requires 1000 NOT SHOWN'
rm -r temporary/*

# A signal ends it, and the records say so.
"$lockstep" validate --allow-dirty --profile many.yaml --run --devices virt:1 --bind none --out stop.jsonl >out 2>err &
validating=$!
wait_for_cells 1 stop.jsonl $validating
kill -TERM $validating
expect_end 130 $validating
[ ! -s out ] || fail "it printed something"
grep -q '"interrupted":true' stop.jsonl || fail 'no end of the records'

# no WORDS ARGUMENT...: nothing is measured: there is one line, and no records.
no() {
    words=$1
    shift
    refuse "$words" "$lockstep" validate --allow-dirty "$@"
    [ -z "$(ls temporary)" ] || fail "left behind: $(ls temporary)"
}
limit step_time 'max: 1 s' 'workload: tutorial, mode: dp, batch: 8' binding 'statistic: floor' |
    profile part.yaml ''
no 'part.yaml: none of its limits says what to measure' --profile part.yaml --run
{
    limit step_time 'max: 1 s' "$one, backend: cpu" binding 'statistic: floor'
    limit step_time 'max: 1 s' "$one, backend: cpu-ref" binding 'statistic: floor'
} | profile both.yaml ''
no "two values of backend, 'cpu' and 'cpu-ref'" --profile both.yaml --run
limit step_time 'max: 1 s' 'workload: tutorial, mode: dp, devices: 2, batch: 8' binding 'statistic: floor' |
    profile two.yaml ''
no '--counts has 2, but --devices virt:1 has only 1' --profile two.yaml --run --devices virt:1
limit step_time 'max: 1 s' 'workload: none, mode: dp, devices: 1, batch: 8' binding 'statistic: floor' |
    profile what.yaml ''
no "'none'" --profile what.yaml --run
limit step_time 'max: 1 s' "$one" binding 'statistic: floor' | profile other.yaml 'gpus: 8'
no "a number of GPUs of '8', this machine has '0'" --profile other.yaml --run --devices virt:1
limit step_time 'max: 1 s' "$one" binding 'statistic: floor' |
    profile class.yaml "machine_class: $(printf '7%063d' 0)"
no "the class of machine '7000.*, this machine has '" --profile class.yaml --run --devices virt:1
no 'good.jsonl is there already' --profile good.yaml --run --out good.jsonl
no "'good.jsonl': --run and --minutes measure" --profile good.yaml --run good.jsonl
no 'are of --run' --profile good.yaml --out new.jsonl good.jsonl
for minutes in 0 -1 nan 1e9 x ''; do
    no '--minutes: ' --profile good.yaml --minutes="$minutes"
done
TMPDIR=$PWD/nowhere
no 'no folder for the records as .*nowhere/lockstep-validate-' --profile good.yaml --run

# A limit for steps in chains is judged by chains of that length and by nothing else; a limit for
# single steps never by chains; both are measured if both are asked for.
{
    limit step_time 'max: 100 s' "$one, chain: 4" binding 'statistic: least'
    limit step_time 'max: 100 s' "$one" binding 'statistic: least'
} | profile both.yaml '' 'launches: 5'
run 3 both.yaml --run --devices virt:1 --out both.jsonl
expect_count 5 '"chain":4,' both.jsonl
expect_count 5 '"chain":0,' both.jsonl
prints 'tutorial dp virt:1, 8 rows, chain 4'
near both.yaml both.jsonl 2
limit step_time 'max: 100 s' "$one, chain: 8" binding 'statistic: cost' | profile eight.yaml ''
expect_status 3 "$lockstep" validate --allow-dirty --profile eight.yaml both.jsonl
prints '1 UNMEASURED'

# A limit is about cells whose inputs start on the devices, or, if it names those, about cells whose
# inputs start on the host: the others are no evidence for it. Both are measured if both are asked
# for.
{
    limit step_time 'max: 100 s' "$one" binding 'statistic: least'
    limit step_time 'max: 100 s' "$one, host_inputs: 1" binding 'statistic: least'
} | profile places.yaml '' 'launches: 5'
run 3 places.yaml --run --devices virt:1 --out places.jsonl
expect_count 5 '"host_inputs":1,' places.jsonl
expect_count 5 '"host_inputs":0,' places.jsonl
prints 'tutorial dp virt:1, 8 rows, host-inputs 1:'
near places.yaml places.jsonl 2
limit step_time 'max: 100 s' "$one" binding 'statistic: least' | profile single.yaml '' 'launches: 5'
near single.yaml places.jsonl 1
expect_status 0 "$lockstep" sweep --devices virt:1 --counts 1 --mode dp --workload tutorial --batch 8 \
    --host-inputs 1 --launches 5 --bind none --seconds 0.01 --seed 3 --out host.jsonl
expect_status 3 "$lockstep" validate --allow-dirty --profile single.yaml host.jsonl
prints '1 UNMEASURED'
fit places.yaml host.jsonl
expect_status 3 "$lockstep" validate --allow-dirty --profile fit-places.yaml host.jsonl
prints '0 FAIL, 0 OPEN, 1 UNMEASURED'

# A limit that is learned from such cells names them.
id=$(sed -n '1s/.*"run_id":"\([0-9a-f]*\)".*/\1/p' places.jsonl)
for sitting in 1 2 3 4 5 6; do
    sed "s/,\"chain\":\"[^\"]*\"//; s/,\"seal\":\"[^\"]*\"//; s/$id/feedface0000010$sitting/
        s/\"start_epoch_ns\":\"1[0-9]/\"start_epoch_ns\":\"2$sitting/
        1s/\"created_utc\":\"..../\"created_utc\":\"203$sitting/; 1s/\"git_dirty\":true/\"git_dirty\":false/
        s/\(\"\(foreign\|steal\)_frac\":\)[^,}]*/\10.0/g" \
        places.jsonl >sitting$sitting.jsonl
done
expect_status 0 "$lockstep" validate learn sitting[1-6].jsonl
mv out learned.yaml
expect_count 2 ' at: ' learned.yaml
expect_count 1 ' at: .*, host_inputs: 1}' learned.yaml
[ "$(grep 'max: \|expected: ' learned.yaml | sort -u | wc -l)" -gt 2 ] || fail "two limits of the same steps: $(cat learned.yaml)"

# With weak scaling a speed-up counts the rows, too: it is the number of the report.
expect_status 0 "$lockstep" sweep --devices virt:2 --counts 1,2 --scaling weak --mode plain,dp --workload mlp:64,64 \
    --batch 64 --launches 1 --seconds 0.02 --bind none --out weak.jsonl
two='workload: "mlp:64,64", mode: dp, devices: 2'
{
    limit speed_up 'min: 0.0001 x' "$two" binding 'statistic: typical'
    limit efficiency 'min: 0.0001 x' "$two" binding 'statistic: typical'
} | profile weak.yaml '' 'launches: 1'
expect_status 3 "$lockstep" validate --allow-dirty --profile weak.yaml --format json weak.jsonl
grep -o '"median": *[0-9.e+-]*' out | sed 's/.*: *//' >validated
expect_status 0 "$lockstep" report --format csv weak.jsonl
awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    /,"dp","virt:2",/ { print $(at["speedup_ratio"] + 1); print $(at["efficiency_ratio"] + 1) }' out >reported
paste validated reported | awk '{ n += ($1 / $2 > 0.999 && $1 / $2 < 1.001) } END { exit n != 2 }' ||
    fail "another speed-up or efficiency than that of the report: $(paste validated reported)"
