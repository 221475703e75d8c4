#!/usr/bin/env bash
# The worker of one cell misbehaves, each time in another way: its record says how, the other cells
# are measured, the exit status tells, and --resume makes up for it.
# usage: worker.sh LOCKSTEP FOLDER TOOLS GROUP
# shellcheck disable=SC2154 # common.sh sets what is not set here
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
group=$4
cells=(--bind none --mode dp --devices virt:1 --batch '10,20,30' --workload tutorial --seed 5
    --seconds 0.05 --steps 2:100000)

# act NAME TIMEOUT: the worker of batch 20 does that.
act() {
    rm -f act.jsonl pid
    TORTURE_ACT=$1 TORTURE_ROWS=20 TORTURE_RECORD=$folder/record TORTURE_PID=$folder/pid \
        LD_PRELOAD=$tools/worker.so timeout 50 "$lockstep" sweep "${cells[@]}" --timeout "$2" \
        --out act.jsonl >out 2>err && status=0 || status=$?
}

# bad NAME STATUS EXIT REASON [TIMEOUT]: the cell is recorded so, and the other two are verified.
bad() {
    act "$1" "${5-45}"
    [ "$status" -eq "$3" ] || fail "$1: exit status $status, wanted $3"
    expect_count 1 "\"status\":\"$2\",.*\"reason\":\"$4\"" act.jsonl
    expect_count 1 '"global_batch":20,.*"validated":false' act.jsonl
    expect_count 2 '"status":"ok"' act.jsonl
    expect_count 1 '"planned":3,"ok":2,"not_ok":1,"interrupted":false' act.jsonl
    expect_count 1 "^  $2  *1\$" err
    expect_status 1 "$lockstep" report act.jsonl --out page
    cp act.jsonl kept
    expect_status 0 "$lockstep" sweep "${cells[@]}" --resume --out act.jsonl
    begins_with act.jsonl kept
    is_complete act.jsonl 1
    tried=$((tried + 1))
}

# good NAME: the records show nothing of it.
good() {
    act "$1" 45
    [ "$status" -eq 0 ] || fail "$1: exit status $status"
    is_complete act.jsonl
    tried=$((tried + 1))
}

group_dies() {
    bad segv crashed 1 'the worker died of signal 11 (Segmentation fault)'
    bad segv_later crashed 1 'the worker died of signal 11 (Segmentation fault)'
    bad abort crashed 1 'the worker died of signal 6 (Aborted)'
    bad oom crashed 1 'the worker died of signal 9 (Killed)'
    bad silent broken 2 'the worker sent 0 bytes that are not one line'
    bad leave_later broken 2 'the worker sent 0 bytes that are not one line'
    bad closed crashed 1 'the worker ended with status 2'
    bad record_fails crashed 1 'the worker ended with status 7'
}

group_talks() {
    bad garbage broken 2 'the worker sent 25 bytes that are not one line'
    bad line broken 2 "the worker's record cannot be used: .*"
    bad much broken 2 'the worker sent more than a record can be'
    bad record broken 2 'the worker sent the record of another launch'
    bad tail broken 2 'the worker sent [0-9]* bytes that are not one line'
    bad twice broken 2 'the worker sent [0-9]* bytes that are not one line'
    # The line is the right launch of another run.
    grep '"global_batch":20,' whole.jsonl >record
    bad record broken 2 'the worker sent the record of another launch'
}

# Numbers that cannot be those of a cell of this command: the line could not be read again.
group_lies() {
    local edit words="the worker's record cannot be used: "
    while read -r edit; do
        TORTURE_EDIT=$edit bad edit broken 2 "$words.*${edit:3:8}.*"
    done <<'EDITS'
s/"values_checked":[0-9]*/"values_checked":1/
s/"model_params":[0-9]*/"model_params":7/
s/"flops_per_step":[0-9.e+]*/"flops_per_step":12.0/
s/"warmup_rule":"[^"]*"/"warmup_rule":"none"/
s/"order_index":[0-9]*/"order_index":2000/
s/"wall_ns":[0-9]*/"wall_ns":900000000000000/
s/"oversubscribed":false/"oversubscribed":true/
EDITS
}

group_hangs() {
    local words='killed after 3 s (--timeout)'
    bad hang timeout 1 "$words" 3
    bad closed_hang timeout 1 "$words" 3
    bad stop timeout 1 "$words" 3
    bad stop_later timeout 1 "$words" 3
}

# A process that a worker leaves holds its pipe for a minute; the measurements count all the same.
group_leaves() {
    local state
    good child
    state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$(cat pid)/status" 2>/dev/null) || state=
    case $state in
    '' | Z* | X*) ;;
    *) fail "a process of the worker's group outlives it: $state" ;;
    esac
    good daemon
    kill -9 "$(cat pid)" || fail "the daemon was not there, so this shows nothing"
}

case $group in
dies | talks | lies | hangs | leaves) ;;
*) fail "no group '$group'" ;;
esac
tried=0
expect_status 0 "$lockstep" sweep "${cells[@]}" --out whole.jsonl
is_complete whole.jsonl
grep '"global_batch":10,' whole.jsonl >record
"group_$group"
[ "$tried" -gt 0 ] || fail "nothing was tried"
echo "$tried workers"
