#!/usr/bin/env bash
# scripts/torture with programs that pass or fail as told: its last line and its exit status agree.
# usage: command.sh SCRIPT FOLDER
set -eu

script=$1
rm -rf "$2"
mkdir -p "$2/scripts" "$2/bin" "$2/build/release/suites/test/torture"
cd "$2"
cp "$script" scripts/torture
export TMPDIR=$PWD
# stub FILE COMMANDS
stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
stub bin/cmake :
# shellcheck disable=SC2016 # they expand it
stub bin/ctest 'exit "$TESTS"'
# shellcheck disable=SC2016
stub build/release/suites/test/torture/torture_kill \
    '[ "$KILL" -eq 0 ] && echo "PASS 200 of 200" || echo "FAIL round 3"; exit "$KILL"'

# expect TESTS KILL STATUS LAST ARGUMENT..
expect() {
    local status=0
    TESTS=$1 KILL=$2 PATH=$PWD/bin:$PATH scripts/torture "${@:5}" >out 2>err || status=$?
    if [ "$status" -ne "$3" ] || ! tail -n 1 out | grep -q "^$4"; then
        echo "FAILED: status $status, wanted $3 and '$4': torture ${*:5}, tests $1, kill $2" >&2
        cat out err >&2
        exit 1
    fi
}
expect 0 0 0 'PASS all' all
expect 1 0 1 'FAIL all' all
expect 0 1 1 'FAIL all' all
expect 0 0 0 'PASS 200'
expect 0 1 1 'FAIL round 3' kill
expect 0 1 0 'PASS disk' disk
expect 1 0 1 'FAIL disk' disk
expect 0 1 0 'PASS calls' calls
expect 1 0 1 'FAIL calls' calls train
