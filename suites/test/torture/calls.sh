#!/usr/bin/env bash
# Every call that a command makes fails once; torture_calls says how the command must end.
# usage: calls.sh LOCKSTEP FOLDER TOOLS COMMAND [option of torture_calls]..
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/../cli/common.sh"
lockstep=$1
folder=$2
tools=$3
command=$4
shift 4

rm -rf "$folder"
mkdir -p "$folder/input" "$folder/bin"
folder=$(cd "$folder" && pwd)
cd "$folder/input"
export OPENBLAS_NUM_THREADS=1
for ((i = 0; i < 20; i++)); do
    echo "$((i % 7)),$((i * i % 5)),$((i % 3))"
done >few.csv

# Drawing takes seconds, and gnuplot itself is not tested: this one copies the pictures of the real
# one. It is one process, as gnuplot is: a child of it would go on to write after it was killed.
drawn_gnuplot() {
    cat >"$folder/bin/gnuplot" <<'SCRIPT'
#!/bin/sh
unset LD_PRELOAD
name=${3#*figure=\'} name=${name%%\'*}
after=${3#*ending=\'} after=${after%%\'*}
exec perl -e 'my ($name, $after) = @ARGV;
    for my $drawn ("$name.svg", "$name.png", "$name-narrow.svg") {
        open(my $from, "<:raw", "../../input/drawn/$drawn") or next;
        open(my $to, ">:raw", "$drawn$after") or die;
        print {$to} do { local $/; <$from> };
        close($to) or die;
    }' "$name" "$after"
SCRIPT
    chmod +x "$folder/bin/gnuplot"
}

# The files that the command reads.
case $command in
train_figure)
    "$lockstep" train --data few.csv --model mlp:2,4,3 --epochs 2 --batch 4 --devices virt:2 --figure drawn >log
    drawn_gnuplot
    ;;
train*)
    "$lockstep" train --data few.csv --model mlp:2,4,3 --epochs 0 --devices host --save few.weights >log
    ;;
check_exec)
    ln -s "$tools/../hostile/lockstep_serve" "$folder/bin/serve"
    ;;
sweep_resume)
    "$lockstep" sweep --bind none --devices virt:2 --counts 2 --batch 10 --workload tutorial \
        --mode dp,ddp --seed 5 --seconds 0.001 --steps 2:2 --out whole.jsonl 2>log
    head -n 2 whole.jsonl >s.jsonl
    ;;
compare* | validate* | fleet)
    # Times of a debug build, or of a changed tree, are not compared; the description of the build
    # is edited.
    "$lockstep" sweep --bind none --devices virt:2 --counts 2 --batch 10 --workload tutorial --mode dp \
        --launches 5 --seed 5 --seconds 0.001 --steps 2:2 --out sealed.jsonl 2>log
    sed '1s/"build_type":"[^"]*"/"build_type":"Release"/;1s/"sanitizers":"[^"]*"/"sanitizers":""/
        s/,"chain":"[^"]*"//;s/,"seal":"[^"]*"//;s/"oversubscribed":true/"oversubscribed":false/' \
        sealed.jsonl >s.jsonl
    sed 's/"run_id":"..../"run_id":"feed/; s/"start_epoch_ns":"1/"start_epoch_ns":"2/' s.jsonl >again.jsonl
    # Each machine has this number, 129 KiB: the verdict is not tested here.
    cat >p.yaml <<'PROFILE'
schema: lockstep/profile/1.0
name: any
match: {}
requires: {launches: 5, conformance: primitives}
limits:
  - metric: peak_memory
    max: 200 KiB
    expected: 129 KiB
    at: {workload: tutorial, mode: dp, devices: 2, batch: 10}
    kind: binding
    source: made up
    date: 2026-11-23
    evidence: measured
PROFILE
    # Of binding limits of which none is on speed a note would be printed, too.
    [ "$command" != validate_check ] || sed -i 's/binding/advisory/' p.yaml
    "$lockstep" check --devices virt:2 --profile primitives --format json --out c.json >log
    mkdir nodes
    for node in a b c; do
        "$lockstep" validate --allow-dirty --profile p.yaml --conformance c.json --format json --node "$node" s.jsonl |
            sed "s/\(\"\(run_id\|machine_instance\|samples_sha256\)\": \"\)./\1$node/; s/\"git_dirty\": true/\"git_dirty\": false/" >nodes/$node.json
    done
    ;;
forecast)
    # Transfers are slow, so that the resolution does not depend on the machine.
    "$lockstep" sweep --bind none --devices virt:2+5000us+2MB/s --counts 1,2 --batch 10 --workload mlp:64,64 \
        --workload mlp:128,128 --mode ddp --seed 5 --seconds 0.001 --steps 2:2 --out s.jsonl 2>log
    ;;
report*)
    "$lockstep" sweep --bind none --devices virt:2 --counts 1,2 --batch 10 --workload tutorial \
        --mode dp,ddp --seed 5 --seconds 0.001 --steps 2:2 --out s.jsonl 2>log
    "$lockstep" check --devices virt:2 --only SPLIT-01.sizes --format json --out c.json >log
    "$lockstep" report s.jsonl --out drawn >log
    drawn_gnuplot
    ;;
esac
export PATH=$folder/bin:$PATH
exec "$tools/torture_calls" "$lockstep" "$tools/calls.so" "$folder" "$command" "$@"
