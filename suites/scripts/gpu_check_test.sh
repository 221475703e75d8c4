#!/usr/bin/env bash
# scripts/gpu-check from outside: on fake GPUs it runs everything and is never a pass of a GPU; each
# way in which a step can go wrong is a failure; no GPU is a reason and 77.
# usage: gpu_check_test.sh CASE GPU_CHECK BUILD FOLDER
set -eu
export LC_ALL=C

name=$1 check=$2 build=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() {
    echo "FAILED: $*" >&2
    cat out err gpu/summary.md >&2 2>/dev/null || true
    exit 1
}

expect() {
    local wanted=$1 status=0
    shift
    rm -rf gpu
    "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
}

has() {
    grep -qE -e "$2" "$1" || fail "$1 lacks '$2'"
}

# Every line that says something of a simulation says that it is one.
all_marked() {
    if grep -vE '^$|^\|---|^\| step |SIMULATED' gpu/summary.md; then fail "lines without SIMULATED"; fi
    if grep -v SIMULATED err; then fail "lines without SIMULATED on stderr"; fi
}

test_simulated() {
    export LOCKSTEP_FAKE_GPUS=2
    expect 3 "$check" --simulate "$build" --quick --out gpu
    all_marked
    has gpu/summary.md '^# GPU check: SIMULATED no GPU was tested$'
    for step in cases-1 cases-2 cases-staged check-0 check-0,0,0 check-all sweep-small sweep-slots report; do
        has gpu/summary.md "^\| $step \| SIMULATED PASS \|"
    done
    for step in sanitizer-memcheck pytorch; do has gpu/summary.md "^\| $step \| SIMULATED SKIPPED"; done
    has gpu/summary.md '^SIMULATED 9 passed, 0 failed, 0 dropped'
    has gpu/records/small.jsonl '"source":"simulated"'
    [ -s gpu/report/index.html ] || fail "no page"
    [ "$(tail -n 1 out)" = "$folder/gpu/summary.md" ] || fail "the last line is not the summary's name"
}

# A build folder of programs that do what their file says. The good ones are few and quick.
stub() {
    mkdir -p stub/suites/fakegpu
    cat >stub/suites/fakegpu/lockstep-core-cases-fakegpu <<'SH'
#!/bin/sh
case ${BAD-} in
cases-fail) echo "7 passed, 1 failed, 0 skipped, 9 comparisons"; exit 1 ;;
cases-empty) echo "0 passed, 0 failed, 9 skipped, 0 comparisons"; exit 0 ;;
cases-silent) exit 0 ;;
cases-skip) echo "no GPU"; exit 77 ;;
cases-crash) kill -SEGV $$ ;;
cases-slow) sleep 300 ;;
esac
echo "7 passed, 0 failed, 1 skipped, 9 comparisons"
SH
    cat >stub/suites/fakegpu/lockstep-fakegpu <<'SH'
#!/bin/sh
case $1 in
devices) [ "${BAD-}" != no-gpu ] || { echo "cuda:all: no driver" >&2; exit 77; }
    [ "${BAD-}" != broken ] || { echo "cuda:all: the driver | broke <b>" >&2; exit 1; }
    [ "${BAD-}" != silent ] || exit 0
    echo "  cuda:0       Fake|<b>GPU, 1 MiB, PCI 0, x" ;;
check) [ "${BAD-}" != check-empty ] || { echo "PASS reference: 0 of 9 cases passed"; exit 0; }
    echo "PASS reference (x) with 1 device: 9 of 9 cases passed" ;;
sweep) while [ "$1" != --out ]; do shift; done
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
    chmod +x stub/suites/fakegpu/*
}

test_faults() {
    local bad words
    stub
    expect 3 "$check" --simulate stub --quick --out gpu
    all_marked
    has gpu/summary.md 'Fake\\\|&lt;b>GPU'
    expect 3 "$check" --simulate stub --out gpu
    for name in small slots large largest largest-slots; do
        has gpu/summary.md "^\| sweep-$name \| SIMULATED PASS"
    done
    while read -r bad words; do
        BAD=$bad expect 1 "$check" --simulate stub --quick --out gpu
        has gpu/summary.md "$words"
        [ "$bad" = no-gpu ] || all_marked
        # The others ran all the same.
        has gpu/summary.md '^\| report \|'
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
    has err 'no GPU: cuda:all: no driver'
    has gpu/summary.md '^# GPU check: SIMULATED NOT RUN'
    BAD=no-gpu expect 1 "$check" --simulate stub --quick --require --out gpu
    BAD=broken expect 1 "$check" --simulate stub --quick --out gpu
    has gpu/summary.md 'broke &lt;b>'
    BAD=silent expect 1 "$check" --simulate stub --quick --out gpu
    # A real run does not take the programs of the fake.
    mkdir -p stub/harness stub/suites/core
    sed 's/Fake|<b>GPU/Fake GPU/' stub/suites/fakegpu/lockstep-fakegpu >stub/harness/lockstep
    cp stub/suites/fakegpu/lockstep-core-cases-fakegpu stub/suites/core/lockstep-core-cases
    chmod +x stub/harness/lockstep
    expect 1 "$check" --programs stub --quick --out gpu
    has gpu/summary.md '^# GPU check: NOT RUN: these programs are linked with fake GPUs'
    # And its records must be measured.
    sed -i 's/Fake GPU/Real GPU/' stub/harness/lockstep
    expect 1 "$check" --programs stub --quick --out gpu
    has gpu/summary.md '^\| sweep-small \| FAIL .* not of source measured'
}

# What does not fit into the time is dropped or cut, and that is no pass.
test_time() {
    local pid status=0
    stub
    BAD=cases-slow expect 1 "$check" --simulate stub --quick --minutes 0.6 --out gpu
    has gpu/summary.md '^# GPU check: SIMULATED INCOMPLETE: '
    has gpu/summary.md '^\| cases-1 \| SIMULATED DROPPED .* cut by --minutes 0.6'
    has gpu/summary.md '^\| sweep-small \| SIMULATED DROPPED \| 0 \|'
    BAD=cases-slow "$check" --simulate stub --quick --out interrupted >out 2>err &
    pid=$!
    for _ in $(seq 100); do
        if [ -s interrupted/logs/cases-1.log ]; then break; fi
        sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 130 ] || fail "status $status, not 130"
    has interrupted/summary.md '^# GPU check: SIMULATED INTERRUPTED'
}

test_misuse() {
    expect 0 "$check" --help
    has out '^usage: scripts/gpu-check'
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
--out
--simulate /nothing --out gpu
--programs /nothing --out gpu
--programs . --simulate . --out gpu
--out .
WORDS
    [ ! -e gpu ] || fail "a folder was made"
}

"test_$name"
