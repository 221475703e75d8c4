# shell.sh: functions that the scripts of the tests share; they source this file, in any shell.

# fail WORDS...: ends the test, and shows the files out and err, where commands have their output,
# or those of $shown.
fail() {
    echo "FAILED: $*" >&2
    # shellcheck disable=SC2086 # a list
    cat ${shown-out err} >&2 2>/dev/null || true
    exit 1
}

# enter FOLDER: makes it, without anything in it, and goes there.
enter() {
    rm -rf "$1"
    mkdir -p "$1"
    cd "$1" || exit 1
}

# expect_status STATUS COMMAND...: runs it with its output in the files out and err.
expect_status() {
    wanted=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
}

# expect_end STATUS PID: waits until that program, which runs in the background, ends with that status.
expect_end() {
    status=0
    wait "$2" || status=$?
    [ "$status" -eq "$1" ] || fail "it ended with status $status, wanted $1"
}

has() { # FILE TEXT
    grep -qF -e "$2" "$1" || fail "$1 lacks '$2'"
}

has_not() { # FILE TEXT
    ! grep -qF -e "$2" "$1" || fail "$1 has '$2'"
}

matches() { # FILE PATTERN: an extended one
    grep -qE -e "$2" "$1" || fail "$1 lacks '$2'"
}
