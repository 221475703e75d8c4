#!/usr/bin/env bash
# Functions that the scripts here share. They source this file. $1 is the program, $2 a folder,
# which is emptied, $3 the folder of the tools and the preloaded libraries.
# shellcheck disable=SC2034 # used by those who source it
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/../cli/common.sh"
lockstep=$1
folder=$2
tools=$3
sweep=
prefix=() # of the command of a sweep in the background
grid=(--bind none --mode dp --devices virt:2 --counts '1,2' --batch '10,30' --workload tutorial --seed 5)
quick=("${grid[@]}" --seconds 0.01 --steps 2:3)
slow=("${grid[@]}" --seconds 0.15 --steps 2:100000)

# Ends everything that this script has started, in whatever way it ends.
clean_up() {
    # A stopped process dies of this, too.
    [ -z "$sweep" ] || kill -9 "$sweep" 2>/dev/null || true
}
trap clean_up EXIT

# is_complete FILE [N]: it has the contents of an undisturbed sweep, with N cells that are not
# verified.
is_complete() {
    "$tools/torture_records" whole.jsonl "$1" "${2-0}" || fail "$1 is not complete"
}

cells_in() {
    "$tools/torture_records" "$1" || fail "$1 cannot be read"
}

# begins_with: it has only whole lines, and begins with the lines of another file.
begins_with() {
    [ ! -s "$1" ] || [ "$(tail -c 1 "$1" | od -An -tu1 | tr -d ' ')" = 10 ] ||
        fail "$1 ends within a line"
    head -c "$(wc -c <"$2")" "$1" | cmp -s - "$2" || fail "earlier records in $1 changed"
}

# one_line FILE WORDS: except for progress there is one line of complaint, with these words.
one_line() {
    grep -v '^[[ ]' "$1" >complaint || true
    [ "$(wc -l <complaint)" -eq 1 ] || { cat "$1" >&2 && fail "not one line of complaint"; }
    grep -q -- "$2" complaint || { cat "$1" >&2 && fail "'$2' is not in it"; }
}

# start FILE OPTION..: starts a slow sweep in the background; its pid is in sweep.
start() {
    "${prefix[@]}" "$lockstep" sweep "${slow[@]}" --out "$@" >out 2>err &
    sweep=$!
}

# begin FILE [MOST]: starts it, and stops it when it has at least one cell and at most MOST, or 2.
begin() {
    local tries cells
    for ((tries = 0; tries < 50; tries++)); do
        start "$1"
        wait_for_cells 1 "$1" "$sweep"
        kill -STOP "$sweep"
        until grep -q ') [TZX] ' "/proc/$sweep/stat"; do
            sleep 0.01
        done
        cells=$(count_lines '"schema":"lockstep/cell/' "$1")
        [ "$cells" -gt "${2-2}" ] || return 0
        kill -9 "$sweep" # too late: this machine has other things to do
        wait "$sweep" 2>/dev/null || true
        rm "$1"
    done
    fail "no sweep could be stopped in time"
}

# ends_with STATUS: the sweep in the background goes on, and ends with that status.
ends_with() {
    status=0
    kill -CONT "$sweep"
    wait "$sweep" || status=$?
    sweep=
    [ "$status" -eq "$1" ] || fail "status $status, wanted $1"
}

# resume FILE [COMMAND..]: resumes it to its end, with the options of the slow sweep.
resume() {
    local file=$1
    shift
    expect_status 0 "$@" "$lockstep" sweep "${slow[@]}" --resume --out "$file"
}
