# common.sh: for the tests of what is installed; to be sourced. $work is a folder outside of the
# source, which is removed in the end.
# shellcheck shell=bash disable=SC2154
trap 'rm -rf "$work"' EXIT

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

skip() {
    echo "${0##*/}: skipped: $*" >&2
    exit 77
}

# Runs a command without its output; it is shown when the command fails.
quietly() {
    "$@" >"$work/log" 2>&1 || fail "$*: $(cat "$work/log")"
}

# same WHAT FOUND EXPECTED: two lists of lines, in any order.
same() {
    local difference
    difference=$(diff <(sort <<<"$2") <(sort <<<"$3")) ||
        fail "$1: found (<) and expected (>) differ:"$'\n'"$difference"
}
