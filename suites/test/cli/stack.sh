#!/usr/bin/env bash
# Every command does its work with a stack of 256 KiB, which is that of each of its threads, too. With
# less it is refused in one line.
#   stack.sh LOCKSTEP FOLDER MAKE_RECORDS SOURCE [MPIRUN KIND]
# shellcheck disable=SC2154 # common.sh sets what is not set here
set -eu
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/validate_common.sh"
# shellcheck disable=SC2034 # mpirun.sh reads kind
source=$4 mpirun=${5-} kind=${6-} start=()
# shellcheck source=/dev/null
[ -z "$mpirun" ] || ! command -v "$mpirun" >/dev/null || . "$here/../mpi/mpirun.sh"
unset CI

# does STATUS WORDS ARGUMENT...: with a small stack; the words are in the output, wherever its lines break. STATUS is
# several where times or the state of the sources decide: [03].
does() {
    local wanted=$1 words=$2 status=0
    shift 2
    (
        ulimit -s 256
        exec "$lockstep" "$@"
    ) >out 2>err || status=$?
    # shellcheck disable=SC2053 # a pattern
    if [[ $status != $wanted ]]; then
        fail "status $status, wanted $wanted: $*"
    fi
    cat err >>out
    prints "$words"
}

short='--bind none --devices virt:2 --seconds 0.001 --steps 2:2 --warmup 1:0'
launched() {
    [ ${#start[@]} -eq 0 ] || does "$1" "$2" "${@:3}" --launcher "${start[*]} -n {n}"
}

do_devices() {
    does 0 '^Machine.*virt:1' devices --devices virt:2
    does 0 '"name": "virt:1"' devices --devices virt:2 --format json
    launched 0 'Processes .* 1 .* Of process 0' devices --processes 2
}
do_tutorial() { does 0 'Outside: input size \[30, 5\]' tutorial --devices virt:2; }
# shellcheck disable=SC2086 # words
do_sweep() {
    does 0 'verified 12 failed 0' sweep $short --workload tutorial --batch 10 --mode plain,plain-mt,dp,ddp --launches 2 --out a.jsonl
    does 0 '"tutorial","ddp"' sweep $short --workload tutorial --batch 10 --mode plain,dp,ddp --launches 2 --out b.jsonl --format csv
    does 0 'verified 4 failed 0' sweep $short --workload resnet,blocks --batch 8 --counts 2 --parts 0.01 --out c.jsonl
    does 0 'verified' sweep $short --workload gpt-tiny --batch 2 --mode ddp --out d.jsonl
    does 0 'rounds' sweep limits --devices virt:2 --rounds 5 --workload mlp:64,64 --batch 16
    does 0 'verified' sweep $short --workload mlp:64,64 --batch 8 --math bf16 --backend cpu-cblas --out e.jsonl
    does 0 'verified' sweep $short --collective allreduce --sizes 4096 --out f.jsonl
    launched 0 'verified' sweep --bind none --workload tutorial --batch 10 --mode ddp --counts 2 --per-process 1 \
        --seconds 0.001 --steps 2:2 --warmup 1:0 --out g.jsonl
}
do_report() { does 0 'index.html' report a.jsonl --out page; }
do_compare() {
    does '[03]' 'Cells in both files: 5' compare --allow-dirty a.jsonl b.jsonl
    # shellcheck disable=SC2086 # words
    does '[013]' 'pairs' compare --ab "$lockstep" "$lockstep" --allow-dirty --allow-disturbed $short --workload mlp:8,6,4 \
        --batch 8 --mode plain --pairs 8 --out ab.jsonl
    does '[03]' 'a[.]jsonl\|main[.]jsonl: 1 added' compare baseline --dir here add main a.jsonl
}
do_validate() {
    mkdir -p nodes
    limit peak_memory 'max: 100 KiB' 'workload: tutorial, mode: dp, devices: 1, batch: 8' |
        profile good.yaml '' 'launches: 5'
    does 0 'ACCEPTED' validate --allow-dirty --profile good.yaml --run --bind none --devices virt:1 --out good.jsonl
    does 0 '"ACCEPTED"' validate --allow-dirty --profile good.yaml good.jsonl --format json
    cp out nodes/one.json
    does 0 'h100-sxm-x8' validate check "$source/profiles/h100-sxm-x8.yaml"
}
# A changed tree is NOT SHOWN.
do_fleet() { does '[03]' '1 node: 1 \(ACCEPTED\|NOT SHOWN\)' fleet nodes; }
do_forecast() {
    does 0 'verified 8 failed 0' sweep --bind none --devices virt:2+5000us --scaling weak --batch 4 --launches 2 --mode ddp \
        --counts 1,2 --seconds 0.001 --steps 2:2 --warmup 1:0 --workload mlp:64,64 --workload mlp:128,128 --out two.jsonl
    does '[03]' 'mlp:64,64, ddp, weak scaling of 4 rows a rank' forecast --allow-dirty two.jsonl --to 4
}
do_check() {
    does 0 'SPLIT' check --area SPLIT --devices virt:2
    does 0 'DDP' check --area DDP --devices virt:2 --format json
    launched 0 'PASS  *reference' check --profile ddp --only DDP-01
}
do_soak() {
    for mode in ddp dp overlap; do
        does 0 'nothing found in 5 iterations' soak --iterations 5 --workload mlp:24,16,8 --batch 40 --devices virt:2 --mode $mode
    done
    does 0 '; 0 wrong' soak selftest --quick
}
do_train() {
    does 0 'epoch 1/1' train --model mlp --epochs 1 --devices virt:2
    does 0 'epoch 1/1' train --model mlp --epochs 1 --devices virt:2 --mode ddp --against host
    launched 0 'epoch 1/1' train --model mlp --epochs 1 --mode ddp --devices virt:2
}

commands=$("$lockstep" --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p')
[ -n "$commands" ] || fail "no commands: $("$lockstep" --help)"
for command in ${ONLY:-$commands}; do
    declare -F "do_$command" >/dev/null || fail "no task for $command"
    "do_$command"
    one_line 1 'a stack of 256 KiB is needed: see ulimit -s' bash -c 'ulimit -s 64; exec "$@"' bash "$lockstep" "$command" --help
done
