#!/usr/bin/env bash
# Changes by others to the file of a sweep while it runs: the outcome of each is reported, and
# nothing that was measured is lost without a word.
# usage: file.sh LOCKSTEP FOLDER TOOLS GROUP
# shellcheck disable=SC2154 # common.sh sets what is not set here
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
group=$4

# under_way NAME: starts a slow sweep and stops it when it has a cell in NAME.jsonl.
under_way() {
    file=$1.jsonl
    begin "$file"
}

# has_all: each cell that the sweep announced is in FILE, and the one that it was writing.
has_all() {
    [ "$(cells_in "$1")" -eq $(($(count_lines '^\[.* verified' err) + ${2-1})) ] ||
        { cat err >&2 && fail "$(cells_in "$1") cells in $1"; }
}

# unwritable WORDS COMMAND..: a resume with the command changes nothing.
unwritable() {
    local words=$1
    shift
    cp "$file" copy
    expect_status 2 "$@" "$lockstep" sweep "${slow[@]}" --resume --out "$file"
    one_line err "$words"
    cmp "$file" copy || fail "a refused resume changed the file"
}

group_readonly() {
    local nobody=()
    under_way mode
    chmod 444 "$file"
    ends_with 0 # it was opened before
    is_complete "$file"
    [ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=65534 --clear-groups)
    unwritable 'cannot write to .*: Permission denied' "${nobody[@]}"
    # Root may write to any file, another owner only after a chmod.
    chmod 644 "$file"
    resume "$file"

    under_way immutable
    if ! chattr +i "$file" 2>/dev/null; then
        echo "not tried: no chattr +i here"
        return
    fi
    trap 'chattr -i "$folder/immutable.jsonl"; clean_up' EXIT
    ends_with 2
    one_line err "$file: cannot append a record of [0-9]* bytes: Operation not permitted"
    cp "$file" before
    has_all "$file" 0
    unwritable 'cannot write to .*: Operation not permitted'
    chattr -i "$file"
    trap clean_up EXIT
    resume "$file"
    begins_with "$file" before
    is_complete "$file"
}

group_removed() {
    under_way removed
    rm "$file"
    ends_with 2
    one_line err "the file was removed while it was written; what was measured is in $file.rescued"
    [ ! -e "$file" ] || fail "it is back"
    has_all "$file.rescued"
    resume "$file.rescued"
    is_complete "$file.rescued"

    under_way replaced
    echo mine >"$file.rescued"
    cp whole.jsonl other
    mv other "$file"
    ends_with 2
    one_line err "the file was replaced while it was written; what was measured is in $file.rescued-2"
    cmp "$file" whole.jsonl || fail "the other sweep's file changed"
    [ "$(cat "$file.rescued")" = mine ] || fail "a file of another was overwritten"
    has_all "$file.rescued-2"
    resume "$file.rescued-2"
    is_complete "$file.rescued-2"

    under_way moved
    mkdir elsewhere
    mv "$file" elsewhere/name.jsonl
    ends_with 2
    one_line err 'the file was moved while it was written; what was measured is in .*/elsewhere/name.jsonl'
    has_all elsewhere/name.jsonl
    resume elsewhere/name.jsonl
    is_complete elsewhere/name.jsonl

    # The file has two names: the other one does not lead there, so a copy is made.
    under_way linked
    ln "$file" other_name
    rm "$file"
    ends_with 2
    one_line err "what was measured is in $file.rescued"
    has_all "$file.rescued"

    mkdir inner
    under_way inner/gone
    rm -r inner
    ends_with 2
    one_line err 'the file was removed and what was measured cannot be saved in inner/gone'
}

group_changed() {
    under_way truncated
    : >"$file"
    ends_with 2
    one_line err "$file was changed by another program: it has 0 bytes, not [0-9]*; nothing more is added"
    [ ! -s "$file" ] || fail "something was added"
    resume "$file"
    is_complete "$file"

    under_way shorter
    head -n 1 "$file" >header
    truncate -s "$(wc -c <header)" "$file"
    ends_with 2
    one_line err 'was changed by another program'
    cmp "$file" header || fail "something was added"
    resume "$file"
    begins_with "$file" header
    is_complete "$file"

    under_way overwritten
    cat whole.jsonl >"$file"
    ends_with 2
    one_line err 'was changed by another program'
    cmp "$file" whole.jsonl || fail "records of two runs are mixed"
    expect_status 0 "$lockstep" report "$file" --out page

    under_way appended
    echo 'a note of mine' >>"$file"
    cp "$file" with_note
    ends_with 2
    one_line err 'was changed by another program'
    cmp "$file" with_note || fail "something was added"
    head -n -1 "$file" >before
    unwritable 'appended.jsonl:[0-9]*: not JSON'
    cp before "$file"
    resume "$file"
    begins_with "$file" before
    is_complete "$file"
}

# several FILE OPTION..: four sweeps start at once; one gets the file, the others say why not.
several() {
    local file=$1 winners=0 i status
    local pids=()
    shift
    for i in 1 2 3 4; do
        "$lockstep" sweep "${slow[@]}" --out "$file" "$@" >"out.$i" 2>"err.$i" &
        pids+=($!)
    done
    for i in 1 2 3 4; do
        status=0
        wait "${pids[i - 1]}" || status=$?
        [ "$status" -ne 0 ] || winners=$((winners + 1))
        [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || fail "status $status of sweep $i"
        [ "$status" -eq 0 ] ||
            one_line "err.$i" "$file: another lockstep is writing to it\|$file holds records already"
    done
    [ "$winners" -eq 1 ] || { cat err.? >&2 && fail "$winners sweeps had the file"; }
    is_complete "$file"
}

group_two() {
    several both.jsonl
    head -n 2 both.jsonl >half.jsonl
    several half.jsonl --resume
}

case $group in
readonly | removed | changed | two) ;;
*) fail "no group '$group'" ;;
esac
expect_status 0 "$lockstep" sweep "${quick[@]}" --out whole.jsonl
is_complete whole.jsonl
"group_$group"
