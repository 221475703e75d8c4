#!/usr/bin/env bash
# scripts/gpu-check from outside: on fake GPUs it runs everything and is never a pass of a GPU; each
# way in which a step can go wrong is a failure; no GPU is a reason and 77.
# usage: gpu_check_test.sh CASE GPU_CHECK BUILD FOLDER
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

export shown="out err gpu/summary.md"
name=$1 check=$2 build=$3 folder=$4
enter "$folder"

expect() {
    local wanted=$1 status=0
    shift
    rm -rf gpu
    "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
}

# Runs the judge of the speeds on the existing folder.
expect_limits() {
    local status=0
    "$(dirname "$check")/gpu-limits" gpu >limits 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "status $status of gpu-limits, wanted $1: $(cat limits)"
}

# Every line about a simulation says that it is one.
all_marked() {
    if grep -vE '^$|^\|---|^\| step |SIMULATED' gpu/summary.md; then fail "lines without SIMULATED"; fi
    if grep -E '.{81}' err; then fail "a line on stderr is longer than 80 columns"; fi
    if grep -v SIMULATED err; then fail "lines without SIMULATED on stderr"; fi
}

test_simulated() {
    export LOCKSTEP_FAKE_GPUS=2
    expect 3 "$check" --simulate "$build" --quick --out gpu
    all_marked
    matches gpu/summary.md '^# GPU check: SIMULATED no GPU was tested$'
    for step in cases-1 cases-2 cases-staged eager-graphs eager-math sweep-graphs-on sweep-graphs-off sweep-tf32 \
        sweep-bf16 sweep-gpt check-0 check-0,0,0 check-all check-copies check-ddp-0,0,0 sweep-small sweep-slots \
        sweep-ranks-slots sweep-communicators sweep-collectives sweep-copies sweep-copies-peers report; do
        matches gpu/summary.md "^\| $step \| SIMULATED PASS \|"
    done
    # A build without NCCL says so.
    passed=23
    if grep -qE '^\| check-nccl \| SIMULATED PASS' gpu/summary.md; then
        passed=24
        matches gpu/records/communicators.jsonl '"communicator":"nccl.nccl".*"mode":"dp"|"mode":"dp".*"communicator":"nccl.nccl"'
        matches gpu/records/collectives.jsonl '"communicator":"nccl.peer"'
    else
        matches gpu/summary.md "^\| check-nccl \| SIMULATED SKIPPED .*communicator 'nccl' is not in this build"
    fi
    for step in sanitizer-memcheck pytorch pytorch-gpt2 gemm; do matches gpu/summary.md "^\| $step \| SIMULATED SKIPPED"; done
    matches gpu/summary.md "^SIMULATED $passed passed, 0 failed, 0 dropped"
    # Simulated numbers are never judged, and a judge that is asked finds no measurement.
    matches gpu/summary.md '^SIMULATED no speed was judged$'
    matches gpu/records/copies-peers.jsonl '"devices":"cuda:0,1"'
    expect_limits 3
    [ "$(grep -c '^not measured' limits)" -eq 9 ] || fail "$(cat limits)"
    matches gpu/records/small.jsonl '"source":"simulated"'
    matches gpu/records/tf32.jsonl '"dtype":"tf32"'
    matches gpu/records/bf16.jsonl '"dtype":"bf16"'
    matches gpu/records/gpt.jsonl '"workload":"gpt-tiny".*"dtype":"tf32"'
    matches gpu/records/graphs-off.jsonl '"command":"[^"]*--graphs off'
    if grep -qE '"command":"[^"]*--graphs off' gpu/records/graphs-on.jsonl; then fail "graphs-on has none"; fi
    matches gpu/logs/eager-math.log '^env CUDA_MODULE_LOADING=EAGER '
    [ -s gpu/report/index.html ] || fail "no page"
    # The last screen: a sentence, what was measured, what did not pass and why, and what passed. Long lines are wrapped.
    tr '\n' ' ' <err | sed 's/SIMULATED //g' >flat
    matches flat "GPU check: no GPU was tested \($passed passed, 0 failed, 0 dropped, [0-9]+ skipped\)[.]"
    matches flat 'GPUs: cuda:0 '
    matches flat 'Measured: [1-9][0-9]* cells[.] Files in records/: 1[0-9]; output of each step: logs/; page: '
    matches flat 'SKIPPED pytorch: there is no GPU for it '
    matches flat 'PASS cases-1 cases-2 cases-staged '
    matches gpu/summary.md '^SIMULATED Measured: [1-9][0-9]* cells[.] .*; page: report/index.html$'
    [ "$(tail -n 1 out)" = "$folder/gpu/summary.md" ] || fail "the last line is not the summary's name"
}

# stub: makes a build folder of programs that do what their file says. The good ones are few and
# quick.
stub() {
    mkdir -p stub/suites/test/fakegpu
    cat >stub/suites/test/fakegpu/lockstep-core-cases-fakegpu <<'SH'
#!/bin/sh
case ${BAD-} in
cases-fail) echo "7 passed, 1 failed, 0 skipped, 9 comparisons"; exit 1 ;;
cases-empty) echo "0 passed, 0 failed, 9 skipped, 0 comparisons"; exit 0 ;;
cases-silent) exit 0 ;;
cases-skip) echo "no GPU"; exit 77 ;;
cases-crash) kill -SEGV $$ ;;
cases-slow) sleep 300 ;;
eager) [ "${CUDA_MODULE_LOADING-}" != EAGER ] || { echo "7 passed, 1 failed, 0 skipped, 9 comparisons"; exit 1; } ;;
esac
echo "7 passed, 0 failed, 1 skipped, 9 comparisons"
SH
    cat >stub/suites/test/fakegpu/lockstep-fakegpu <<'SH'
#!/bin/sh
case $1 in
devices) [ "${BAD-}" != no-gpu ] || { echo "cuda:all: no driver" >&2; exit 77; }
    [ "${BAD-}" != broken ] || { echo "cuda:all: the driver | broke <b>" >&2; exit 1; }
    [ "${BAD-}" != silent ] || exit 0
    for i in $(seq 0 $((${GPUS:-1} - 1))); do echo "  cuda:$i       Fake|<b>GPU, 1 MiB, PCI 0, x"; done ;;
check) case ${BAD-}$2 in copies--copies) echo "FAIL  copies by peer with 2 devices: 3 of 4 cases passed, 1 failed"; exit 1 ;; esac
    [ "${BAD-}" != check-empty ] || { echo "PASS reference: 0 of 9 cases passed"; exit 0; }
    echo "PASS reference (x) with 1 device: 9 of 9 cases passed" ;;
sweep) [ "${BAD-}" != busy ] || { echo "lockstep sweep: core 0 is in use by another sweep, process 7; waiting for it" >&2; exec sleep 100; }
    while [ "$1" != --out ]; do shift; done
    source=simulated planned=1 valid=true
    [ "${BAD-}" != sweep-source ] || source=measured
    [ "${BAD-}" != sweep-short ] || planned=2
    [ "${BAD-}" != sweep-wrong ] || valid=false
    echo "{\"schema\":\"lockstep/run/1.1\",\"source\":\"$source\",\"planned\":$planned}" >"$2"
    echo "{\"schema\":\"lockstep/cell/1.1\",\"status\":\"ok\",\"validated\":$valid}" >>"$2"
    echo "$2" ;;
report) while [ "$1" != --out ]; do shift; done
    mkdir -p "$2"
    [ "${BAD-}" = report-empty ] || echo page >"$2/index.html" ;;
esac
SH
    chmod +x stub/suites/test/fakegpu/*
}

test_faults() {
    local bad words
    stub
    expect 3 "$check" --simulate stub --quick --out gpu
    all_marked
    matches gpu/summary.md 'Fake\\\|&lt;b>GPU'
    [ ! -e gpu/records/gpt2.jsonl ] || fail "gpt2 is not quick"
    matches gpu/summary.md '^\| check-copies \| SIMULATED SKIPPED .* it takes two GPUs'
    expect 3 "$check" --simulate stub --out gpu
    for name in graphs-on graphs-off tf32 bf16 gpt gpt2 small slots models ranks ranks-slots large largest largest-slots copies; do
        matches gpu/summary.md "^\| sweep-$name \| SIMULATED PASS"
    done
    while read -r bad words; do
        BAD=$bad expect 1 "$check" --simulate stub --quick --out gpu
        matches gpu/summary.md "$words"
        matches err '^SIMULATED GPU check: FAILED: [0-9]+ steps'
        matches err '^SIMULATED FAIL '
        [ "$bad" = no-gpu ] || all_marked
        # The others ran all the same.
        matches gpu/summary.md '^\| report \|'
    done <<'BAD'
cases-fail cases-1 \| SIMULATED FAIL .* exit status 1: 7 passed, 1 failed
cases-empty cases-1 \| SIMULATED FAIL .* exit status 0, but
cases-silent cases-1 \| SIMULATED FAIL
cases-skip cases-1 \| SIMULATED FAIL .* exit status 77: no GPU
cases-crash cases-1 \| SIMULATED FAIL .* exit status 139
check-empty check-0 \| SIMULATED FAIL
sweep-source sweep-small \| SIMULATED FAIL .* not of source simulated
sweep-short sweep-small \| SIMULATED FAIL .* 1 of 2 cells are verified
sweep-wrong sweep-small \| SIMULATED FAIL .* 0 of 1 cells are verified
report-empty report \| SIMULATED FAIL
BAD
    BAD=no-gpu expect 77 "$check" --simulate stub --quick --out gpu
    matches err 'no GPU: cuda:all: no driver'
    matches gpu/summary.md '^# GPU check: SIMULATED NOT RUN'
    BAD=no-gpu expect 1 "$check" --simulate stub --quick --require 1 --out gpu
    # There are as many GPUs as required, and one fewer: then nothing is run, and the number is
    # reported.
    GPUS=7 expect 1 "$check" --simulate stub --quick --require 8 --out gpu
    matches gpu/summary.md '^# GPU check: SIMULATED NOT RUN: --require 8: there are only 7 GPUs'
    matches err 'require 8: there are only 7 GPUs'
    [ ! -e gpu/logs/cases-1.log ] || fail "cases were run on 7 GPUs"
    GPUS=8 expect 3 "$check" --simulate stub --quick --require 8 --out gpu
    matches gpu/summary.md '^\| cases-8 \| SIMULATED PASS'
    # Copies take two GPUs, and one that is wrong is a failure.
    matches gpu/summary.md '^\| check-copies \| SIMULATED PASS'
    BAD=copies GPUS=2 expect 1 "$check" --simulate stub --quick --out gpu
    matches gpu/summary.md '^\| check-copies \| SIMULATED FAIL .* exit status 1: FAIL  copies by peer'
    # Each step of the list runs, and if one fails that is a failure.
    BAD=eager expect 1 "$check" --simulate stub --quick --out gpu
    matches gpu/summary.md '^\| eager-graphs \| SIMULATED FAIL .* exit status 1: 7 passed, 1 failed'
    matches gpu/summary.md '^\| cases-1 \| SIMULATED PASS'
    BAD=broken expect 1 "$check" --simulate stub --quick --out gpu
    matches gpu/summary.md 'broke &lt;b>'
    BAD=silent expect 1 "$check" --simulate stub --quick --out gpu
    # A real run does not take the programs of the fake.
    mkdir -p stub/harness stub/suites/test/core
    sed 's/Fake|<b>GPU/Fake GPU/' stub/suites/test/fakegpu/lockstep-fakegpu >stub/harness/lockstep
    cp stub/suites/test/fakegpu/lockstep-core-cases-fakegpu stub/suites/test/core/lockstep-core-cases
    chmod +x stub/harness/lockstep
    expect 1 "$check" --programs stub --quick --out gpu
    matches gpu/summary.md '^# GPU check: NOT RUN: these programs are linked with fake GPUs'
    # And its records must be measured.
    sed -i 's/Fake GPU/Real GPU/' stub/harness/lockstep
    expect 1 "$check" --programs stub --quick --out gpu
    matches gpu/summary.md '^\| sweep-small \| FAIL .* not of source measured'
}

# Steps that do not fit into the time are dropped or cut, and that is no pass.
test_time() {
    local pid status=0
    stub
    BAD=cases-slow expect 1 "$check" --simulate stub --quick --minutes 0.6 --out gpu
    matches gpu/summary.md '^# GPU check: SIMULATED INCOMPLETE: '
    matches gpu/summary.md '^\| cases-1 \| SIMULATED DROPPED .* cut by --minutes 0.6'
    matches gpu/summary.md '^\| sweep-small \| SIMULATED DROPPED \| 0 \|'
    # Waiting for the cores of another sweep is no failure of this one.
    BAD=busy expect 1 "$check" --simulate stub --quick --minutes 0.6 --out gpu
    matches gpu/summary.md '^# GPU check: SIMULATED INCOMPLETE: '
    matches gpu/summary.md '^\| sweep-[a-z-]* \| SIMULATED DROPPED .* nothing was measured in [0-9]* s: core 0 is in use by another sweep, process 7'
    BAD=cases-slow "$check" --simulate stub --quick --out interrupted >out 2>err &
    pid=$!
    for _ in $(seq 100); do
        if [ -s interrupted/logs/cases-1.log ]; then break; fi
        sleep 0.1
    done
    kill -TERM "$pid"
    expect_end 130 "$pid"
    matches interrupted/summary.md '^# GPU check: SIMULATED INTERRUPTED'
}

# cells FILE SOURCE LINES: writes a record; each line is "DEVICES MODE N LAUNCH NS [STATUS]".
cells() {
    local devices mode n launch ns status
    {
        echo "{\"schema\":\"lockstep/run/1.1\",\"source\":\"$2\"}"
        while read -r devices mode n launch ns status; do
            printf '{"schema":"lockstep/cell/1.1","cell":{"workload":"mlp:4096,4096,4096,4096",'
            printf '"mode":"%s","devices":"%s","n_devices":%s,"global_batch":4096,"dtype":"f32",' "$mode" "$devices" "$n"
            printf '"launch":%s},"status":"%s","validated":true,"median_ns":%s}\n' "$launch" "${status:-ok}" "$ns"
        done <<<"$3"
    } >"gpu/records/$1.jsonl"
}

# copies RATIO...: makes a launch for each. 4 MB are copied in 1000 ns, the median of three; "-": a phase has no
# time.
copies() {
    local ratio
    {
        echo '{"schema":"lockstep/run/1.1","source":"measured"}'
        for ratio in "$@"; do
            printf '{"schema":"lockstep/cell/1.1","cell":{"mode":"dp","devices":"cuda:0,0","n_devices":2,"launch":0},'
            printf '"model_params":1000000,"status":"ok","validated":true,'
            awk -v ratio="$ratio" 'BEGIN { one = ratio == "-" ? "null" : 1000 / ratio; two = ratio == "-" ? "null" : 1500 / ratio
                printf "\"phase_median_ns\":{\"replicate\":%s,\"reduce\":%s},", one, two }'
            printf '"raw":{"parts":{"copy":{"work":4000000,"ns":[[0,0,0],[3000,1000,10],[7,7,7],[0,0,0]]}}}}\n'
        done
    } >gpu/records/copies.jsonl
}

# peer: a peer's record of six rounds, in which lockstep takes $1 ns and PyTorch 100; of workload
# $2, $3 rows and mode $4 of PyTorch, with $5 added at its beginning.
peer() {
    local arm round
    printf '{"device":"cuda",%s"cells":[{"workload":"%s","batch":%s,"arms":[' "${5-}" "${2-tutorial}" "${3-30}"
    for arm in "lockstep $1" "pytorch 100"; do
        [ "${arm% *}" = lockstep ] || printf ','
        printf '{"program":"%s","mode":"%s","devices":1,"launches":[' "${arm% *}" \
            "$([ "${arm% *}" = lockstep ] && echo dp || echo "${4-plain}")"
        printf '{"round":0,"status":"ok","step_ns":[%s]}' "${arm#* }"
        for round in 1 2 3 4 5; do printf ',{"round":%s,"status":"ok","step_ns":[%s]}' "$round" "${arm#* }"; done
        printf ']}'
    done
    printf ']}]}\n'
}

# six DEVICES MODE N NS...: makes launches of a cell; the last time is for all that are left.
six() {
    local devices=$1 mode=$2 n=$3 launch ns
    shift 3
    for launch in 0 1 2 3 4 5; do
        ns=$1
        [ $# -eq 1 ] || shift
        echo "$devices $mode $n $launch $ns"
    done
}

# The judge's results for records: intervals of pairs, at the limit and just beyond it.
test_limits() {
    local python=true wanted=0
    mkdir -p gpu/records
    expect_limits 3
    [ "$(grep -c '^not measured' limits)" -eq 7 ] || fail "$(cat limits)"
    cells largest measured "$(six cuda:0 dp 1 102 204 102)
$(six cuda:0 plain 1 100 200 100)"
    cells largest-slots measured "$(six cuda:0,0,0 dp 3 110)
$(six cuda:0 dp 1 100)"
    printf 'source\tdevice\tsize\tlockstep_ns\tpytorch_ns\n' >gpu/records/gemm.tsv
    for _ in 1 2 3 4 5 6; do printf 'measured\tcuda\t4096\t100\t95\n'; done >>gpu/records/gemm.tsv
    copies 0.8 0.9 0.8 0.9 0.8 0.9
    peer 30 >gpu/records/peer.json
    peer 125 gpt2 8 plain-steps '"math":"tf32",' >gpu/records/peer-gpt2.json
    command -v python3 >/dev/null || python=false wanted=3
    expect_limits "$wanted"
    if $python; then
        [ "$(grep -c '^met ' limits)" -eq 7 ] || fail "$(cat limits)"
        matches limits '^met +1.250 \(1.250 .. 1.250\) at most 1.25  gpt2, 8 x 1024 tokens, tf32'
        peer 126 gpt2 8 plain-steps '"math":"tf32",' >gpu/records/peer-gpt2.json
        expect_limits 1
        matches limits '^MISSED +1.260 .*gpt2'
        # In f32, or compared with PyTorch's own attention, it is not that number; nor is that of
        # the tutorial in tf32.
        peer 125 gpt2 8 plain-steps '"math":"f32",' >gpu/records/peer-gpt2.json
        peer 30 tutorial 30 plain '"math":"tf32",' >gpu/records/peer.json
        expect_limits 3
        [ "$(grep -c '^not measured' limits)" -eq 2 ] || fail "$(cat limits)"
        peer 125 gpt2 8 plain '"math":"tf32",' >gpu/records/peer-gpt2.json
        peer 30 tutorial 30 plain '"math":"f32",' >gpu/records/peer.json
        expect_limits 3
        matches limits '^not measured .*gpt2'
        peer 125 gpt2 8 plain-steps '"math":"tf32",' >gpu/records/peer-gpt2.json
        peer 31 >gpu/records/peer.json
        expect_limits 1
        matches limits '^MISSED +0.310 .*Linear'
        peer 30 >gpu/records/peer.json
    fi
    matches limits '^met +1.020 \(1.020 .. 1.020\) at most 1.02  wrapper'
    matches limits '^met +1.100 \(1.100 .. 1.100\) at most 1.1  three'
    matches gpu/limits.md '^\| reduce on cuda:0,0, rate over copies \| 0.850 \| 0.800 .. 0.900 \| at least 0.8 \| met \|$'
    # The interval decides, not the median; five launches have none.
    copies 0.79 0.9 0.8 0.9 0.8 0.9
    expect_limits 3
    matches limits '^OPEN +0.850 \(0.790 .. 0.900\) at least 0.8  reduce'
    matches gpu/limits.md '\| at least 0.8 \| OPEN \|$'
    copies 0.9 0.9 0.9 0.9 0.9
    expect_limits 3
    [ "$(grep -c '^OPEN .*over copies' limits)" -eq 2 ] || fail "a range meets a limit: $(cat limits)"
    # A launch that only one side has, or that failed, is in no pair; a slow one counts.
    cells largest measured "$(six cuda:0 dp 1 103 100)
$(six cuda:0 plain 1 100)"
    expect_limits 3
    matches limits '^OPEN +1.000 \(1.000 .. 1.030\) at most 1.02  wrapper'
    cells largest measured 'cuda:0 dp 1 0 103
cuda:0 plain 1 0 100
cuda:0 dp 1 1 100
cuda:0 plain 1 1 100 failed
cuda:0 plain 1 2 100'
    expect_limits 3
    matches limits '^OPEN +1.030 \(one launch\)'
    cells largest simulated 'cuda:0 dp 1 0 100
cuda:0 plain 1 0 100'
    copies 0.79 - 0.9
    sed -i 's/95$/94/' gpu/records/gemm.tsv
    expect_limits 1
    matches limits '^not measured .*wrapper'
    matches limits '^MISSED +0.940 \(0.940 .. 0.940\) at least 0.95  matrix'
    [ "$(grep -c '^not measured .*over copies' limits)" -eq 2 ] || fail "a NaN is a number: $(cat limits)"
    copies 0.79 0.79 0.79 0.79 0.79 0.79
    expect_limits 1
    [ "$(grep -c '^MISSED .*over copies' limits)" -eq 2 ] || fail "$(cat limits)"
}

# The product is compared with PyTorch's, on the host; a program that fails or prints nothing is no
# measurement.
test_gemm() {
    local compare status=0
    compare=$(dirname "$check")/compare-pytorch
    "$compare" gemm --device cpu --size 64 --rounds 3 --launches 2 --out gemm.tsv \
        --program "$build/suites/test/gpu/lockstep-gemm-rate" >out 2>err || status=$?
    if [ "$status" -eq 77 ]; then cat err && exit 77; fi
    [ "$status" -eq 0 ] || fail "status $status"
    [ "$(grep -cE $'^measured\tcpu\t64\t[0-9.]+\t[0-9.]+$' gemm.tsv)" -eq 2 ] || fail "$(cat gemm.tsv)"
    for program in /bin/false /bin/true; do
        expect 1 "$compare" gemm --device cpu --size 64 --rounds 3 --launches 1 --out none.tsv --program "$program"
        matches err '^compare-pytorch gemm: lockstep: '
        rm none.tsv
    done
    expect 2 "$compare" gemm --device cpu --out gemm.tsv --program /bin/false
}

test_misuse() {
    expect 0 "$check" --help
    matches out '^usage: scripts/gpu-check'
    while read -r words; do
        # shellcheck disable=SC2086 # words
        expect 2 "$check" $words
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $words"
    done <<'WORDS'
--fast
cuda:0
--minutes 0 --out gpu
--minutes x --out gpu
--minutes
--require
--require all --out gpu
--require -1 --out gpu
--require 99999 --out gpu
--out
--simulate /nothing --out gpu
--programs /nothing --out gpu
--programs . --simulate . --out gpu
--out .
WORDS
    [ ! -e gpu ] || fail "a folder was made"
    expect 0 "$(dirname "$check")/gpu-limits" --help
    for words in '' --fast /nothing 'a b'; do
        # shellcheck disable=SC2086 # words
        expect 2 "$(dirname "$check")/gpu-limits" $words
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $words"
    done
}

"test_$name"
