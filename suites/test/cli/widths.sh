# No line that a command prints for people is wider than 80 columns, but for a word that is nearly as
# long. An error, --version, the path of a file, and the command of a replay, which is there to be
# copied, are one line of any length. YAML, CSV and the like are for programs.
#   widths.sh LOCKSTEP FOLDER MAKE_RECORDS
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
make_records=$3
export OPENBLAS_NUM_THREADS=1 COLUMNS=80
unset ARGP_HELP_FMT

# fits FILE...: it is not wider, and not empty.
fits() {
    for file in "$@"; do
        [ -s "$file" ] || fail "nothing in $file of $ran"
        narrow "$file"
    done
}

# shown COMMAND...: runs it; any status except misuse is allowed.
shown() {
    ran="$*"
    status=0
    "$lockstep" "$@" >out 2>err || status=$?
    case $*:$status in *'--impl exec:'*:2) ;; *:2) false ;; esac && [ "$status" -lt 128 ] ||
        fail "status $status: $ran"
    sed -i '/^replay of iteration [0-9]*: lockstep soak /d' out
    fits out
}

shown --help
for command in devices tutorial sweep report compare 'compare baseline' validate 'validate learn' 'validate check' fleet forecast \
    check soak 'soak selftest' train 'sweep limits'; do
    shown $command --help
done
shown validate check --metrics
shown check --list
shown check --rules
shown check --devices virt:2 --only SPLIT-01.sizes
shown check --mutants --only SPLIT-01.sizes
shown check --impl 'exec:a-program-whose-name-is-as-long-as-names-of-programs-are-where-many-are-built --with=options' --only SPLIT-01.sizes
shown devices --devices virt:4
shown devices --devices virt:4 --tree
shown tutorial --devices virt:2
shown soak --devices virt:2 --iterations 2 --batch 8 --workload mlp:8,6,4
shown soak --devices virt:2+fault:flip@2/1 --iterations 3 --batch 8 --workload mlp:8,6,4
shown train --model mlp --devices virt:2 --mode ddp --epochs 1 --against virt:1
shown train --model mlp --devices virt:2 --epochs 1 --require 99.9
fits err
shown sweep limits --devices virt:2 --rounds 5 --workload mlp:64,8 --batch 8

# A sweep has long names, and so have the outputs that are made of it.
long=mlp:100,100,100,100,80,80,80,80,8,8,8,8,8,8,8,8
quick='--bind none --devices virt:2+500us+100MB/s --seconds 0.01 --steps 3:5 --warmup 1:0'
shown sweep $quick --mode plain,ddp --counts 1,2 --batch 8,16 --launches 2 --workload $long --workload mlp:64,8 --out cells.jsonl
fits err
shown soak --devices virt:2 --iterations 2 --batch 8 --workload $long
shown sweep $quick --collective allreduce,alltoall --sizes 1024,1048576 --out copies.jsonl
fits err
shown sweep $quick --mode plain --counts 1 --batch 8 --launches 2 --workload $long --out other.jsonl
shown compare cells.jsonl other.jsonl --allow-dirty

# Files and nodes have long names, and so have the verdicts about them.
path=records-of-a-machine-whose-name-is-as-long-as-names-of-machines-are-where-there-are-many-of-them.jsonl
cp cells.jsonl $path
limit="{metric: step_time, statistic: typical, at: {workload: \"$long\", mode: ddp, devices: 2, batch: 16},
    source: a text that says at length where the number is from and why it is right for this machine,
    date: 2026-11-23, evidence: measured, kind"
cat >profile.yaml <<PROFILE
schema: lockstep/profile/1.0
name: a profile whose name is longer than names of profiles are, and than a line of a terminal is
match: {}
requires: {launches: 2}
limits:
  - $limit: binding, max: 1 ns}
  - $limit: advisory, max: 100 s}
PROFILE
sed -i "s/^match: {}/match: {cores: $("$lockstep" devices --format json | sed -n 's/.*"cores": *\([0-9][0-9]*\).*/\1/p' | head -n 1)}/" profile.yaml
shown validate --allow-dirty --profile profile.yaml $path
grep -q '[.][.][.]: of its binding limits' out || fail "the name is cut without a word"
! grep -q ' $' out || fail "a line ends with a blank: $(cat -A out)"
shown report $path --out page
python3=$(command -v python3 || true)
if [ -n "$python3" ]; then
    "$python3" -B "$here/fleet_make.py" fleet 24 1 reject slow one_device driver model profile >faults
    mv fleet/node0001.json fleet/a-node-whose-name-is-as-long-as-names-are-where-there-are-many-nodes-in-one-machine.json
    cp fleet/node0002.json fleet/another-node-whose-name-is-as-long-as-names-are-where-there-are-many-nodes.json
    shown fleet fleet
    ! grep -q ' $' out || fail "a line ends with a blank: $(cat -A out)"
    for number in 1 2 3 4 5 6; do
        "$python3" -B "$here/baseline_plant.py" "$make_records" old sitting$number.jsonl $number 1.00$number
        shown compare baseline add main sitting$number.jsonl
    done
    "$python3" -B "$here/baseline_plant.py" "$make_records" old slower.jsonl 9 1.1
    shown compare baseline show main
    shown compare --baseline main slower.jsonl
    shown compare sitting1.jsonl slower.jsonl
fi
"$lockstep" --version | grep -q 'Release)\|RelWithDebInfo)' || exit 0
for to in 2 64 65536; do
    shown forecast cells.jsonl --allow-dirty --to $to
done
shown compare --ab "$lockstep" "$lockstep" --allow-dirty --allow-disturbed --bind none --devices virt:1 --batch 8 \
    --workload $long --seconds 0.01 --steps 10:20 --warmup 1:0 --format text
fits err
