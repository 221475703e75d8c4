#!/usr/bin/env bash
# The wall clock jumps by hours under a sweep: cells stay verified, nothing times out, and no time of
# a record changes but the dates. Clocks that are too slow or too fast are seen by every cell. usage: clock.sh LOCKSTEP FOLDER TOOLS
# shellcheck disable=SC2154 # common.sh sets what is not set here
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

# numbers FIELD FILE: of the cells, one a line.
numbers() {
    grep '"schema":"lockstep/cell/' "$2" | grep -o "\"$1\":\"\?[0-9]*" | grep -o '[0-9]*$'
}

# jumps_by LEAST MOST FILE: seconds between the earliest and the latest start of a cell.
jumps_by() {
    local seconds
    seconds=$(numbers start_epoch_ns "$3" | sort -n | sed -n '1p;$p' | sed 's/.........$//' |
        paste -s -d ' ' | awk 'NF == 2 { print $2 - $1 }')
    if [ "${seconds:--1}" -lt "$1" ] || [ "$seconds" -gt "$2" ]; then
        fail "the dates of the cells are ${seconds:-no} seconds apart, wanted $1 to $2"
    fi
}

# Nothing in it took as long as the jump.
is_short() {
    local field
    for field in wall_ns setup_ns max_ns launch_ns devices_ns; do
        [ "$(numbers "$field" "$1" | wc -l)" -eq 4 ] || fail "not four cells with $field"
        numbers "$field" "$1" | awk '$1 > 100e9 { exit 1 }' || fail "$field is of the wrong clock"
    done
}

# jump SECONDS NAME: once there is a cell; the jump is taken back after the third one.
jump() {
    rm -f jumped
    export TORTURE_CLOCK_FILE=$folder/jumped TORTURE_CLOCK_BY=$1
    # shellcheck disable=SC2034 # start uses it
    prefix=(env "LD_PRELOAD=$tools/clock.so")
    begin "$2.jsonl" 1
    : >jumped
    kill -CONT "$sweep"
    wait_for_cells 3 "$2.jsonl" "$sweep"
    rm jumped
    ends_with 0
    is_complete "$2.jsonl"
    is_short "$2.jsonl"
    jumps_by 10000 10900 "$2.jsonl"
    expect_status 0 "$lockstep" report "$2.jsonl" --out page
}

expect_status 0 "$lockstep" sweep "${quick[@]}" --out whole.jsonl
is_complete whole.jsonl
jumps_by 0 600 whole.jsonl
jump 10800 forward
jump -10800 backward

# Resumed on a day before it was begun.
head -n 3 whole.jsonl >kept
cp kept yesterday.jsonl
: >jumped
expect_status 0 env TORTURE_CLOCK_FILE="$folder/jumped" TORTURE_CLOCK_BY=-86400 \
    LD_PRELOAD="$tools/clock.so" "$lockstep" sweep "${quick[@]}" --resume --out yesterday.jsonl
begins_with yesterday.jsonl kept
is_complete yesterday.jsonl
jumps_by 85000 86400 yesterday.jsonl
expect_status 0 "$lockstep" report yesterday.jsonl --out page

# rate FACTOR: of all clocks; no cell passes.
rate() {
    rm -f rate.jsonl
    expect_status 1 env TORTURE_CLOCK_RATE="$1" LD_PRELOAD="$tools/clock.so" \
        "$lockstep" sweep "${quick[@]}" --out rate.jsonl
    expect_count 4 '"status":"failed",.*"reason":"the clock cannot be believed: ' rate.jsonl
    expect_count 4 '"validated":false' rate.jsonl
    [ "$1" = 0.001 ] || expect_count 4 "\"clock_ratio\":$2" rate.jsonl
}
rate 0.001

# The time limit of a cell is a timer's: this one would go on for half an hour.
begin=$SECONDS
expect_status 1 env TORTURE_CLOCK_RATE=0.001 LD_PRELOAD="$tools/clock.so" \
    "$lockstep" sweep --wait --workload mlp:1024,1024,1024,1024 --devices virt:1 --mode plain --batch 4096 \
    --timeout 3 --out slow.jsonl
expect_count 1 '"status":"timeout",.*"reason":"killed after 3 s' slow.jsonl
[ $((SECONDS - begin)) -lt 60 ] || fail "a limit of 3 s took $((SECONDS - begin)) s"
rate 0.95 '0\.95'
rate 1.05 '1\.0[45]'
expect_status 0 env TORTURE_CLOCK_RATE=1 LD_PRELOAD="$tools/clock.so" \
    "$lockstep" sweep "${quick[@]}" --out rate1.jsonl
