#!/usr/bin/env bash
# Writes and fsyncs of records that fail from the n-th on: one line with the reason, status 2, only
# whole lines are kept, and the sweep can be finished. usage: faults.sh LOCKSTEP FOLDER TOOLS GROUP
# shellcheck disable=SC2154 # common.sh sets what is not set here
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
group=$4

# faulty PLAN LINES WORDS: this many lines are kept, and the complaint has the reason.
faulty() {
    local plan=$1 lines=$2 words=$3
    rm -f fault.jsonl
    expect_status 2 env TORTURE_FILE="$plan" LD_PRELOAD="$tools/file.so" \
        "$lockstep" sweep "${quick[@]}" --out fault.jsonl
    one_line err "fault.jsonl: cannot append a record of [0-9]* bytes: $words; the file is as it was"
    [ "$(wc -l <fault.jsonl)" -eq "$lines" ] || fail "$plan: not $lines lines are left"
    cp fault.jsonl kept
    expect_status 0 "$lockstep" sweep "${quick[@]}" --out fault.jsonl --resume
    begins_with fault.jsonl kept
    is_complete fault.jsonl
}

# emptied N: another program empties the file while line N is written to the disk.
emptied() {
    rm -f fault.jsonl
    expect_status 2 env TORTURE_FILE="emptied:$1:1" LD_PRELOAD="$tools/file.so" \
        "$lockstep" sweep "${quick[@]}" --out fault.jsonl
    one_line err 'fault.jsonl was changed by another program: it has 0 bytes, not [0-9]*; nothing more'
    [ ! -s fault.jsonl ] || fail "line $1: something was added"
}

# The header is the first call, the end line the last.
group_errors() {
    faulty write:1:30 0 'Read-only file system'
    faulty write:2:5 1 'Input/output error'
    faulty write:4:122 3 'Disk quota exceeded'
    faulty write:6:28 5 'No space left on device'
    faulty short:1:28 0 'No space left on device'
    faulty short:3:28 2 'No space left on device'
    faulty short:6:27 5 'File too large'
    faulty fsync:1:5 0 'Input/output error'
    faulty fsync:3:28 2 'No space left on device'
    faulty fsync:6:5 5 'Input/output error'
    emptied 1
    emptied 4
    emptied 6
}

# The written part of the line cannot be taken back: it is torn, readers say so, and resume cuts it
# off.
group_torn() {
    local call plan
    for call in 2 5 6; do
        rm -f fault.jsonl
        expect_status 2 env TORTURE_FILE="short:$call:28" TORTURE_FILE_CUT=no \
            LD_PRELOAD="$tools/file.so" "$lockstep" sweep "${quick[@]}" --out fault.jsonl
        one_line err 'cannot append a record of [0-9]* bytes: No space left on device$'
        [ "$(tail -c 1 fault.jsonl | od -An -tu1 | tr -d ' ')" != 10 ] || fail "nothing is torn"
        expect_status 2 "$lockstep" report fault.jsonl --out page
        head -n $((call - 1)) fault.jsonl >kept
        # The line cannot be cut off: then nothing is added, either, not even a newline that could be written.
        cp fault.jsonl copy
        for plan in write:1:30 write:999:30; do
            expect_status 2 env TORTURE_FILE="$plan" TORTURE_FILE_CUT=no \
                LD_PRELOAD="$tools/file.so" "$lockstep" sweep "${quick[@]}" --out fault.jsonl --resume
            one_line err 'cannot cut off its torn end'
            cmp fault.jsonl copy || fail "$plan: a refused resume changed the file"
        done
        expect_status 0 "$lockstep" sweep "${quick[@]}" --out fault.jsonl --resume
        begins_with fault.jsonl kept
        is_complete fault.jsonl
    done
}

case $group in
errors | torn) ;;
*) fail "no group '$group'" ;;
esac
expect_status 0 "$lockstep" sweep "${quick[@]}" --out whole.jsonl
is_complete whole.jsonl
"group_$group"
