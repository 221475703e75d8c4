#!/usr/bin/env bash
# A limit of the address space or of processes is found before OpenBLAS is entered, which would hang
# or raise SIGINT: one line that says so, in good time.
# shellcheck disable=SC2154 # common.sh sets what is not set here
# shellcheck disable=SC2016 # the inner shell expands it
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

commands=(
    'sweep --bind none --workload tutorial --devices virt:2 --batch 10 --steps 2:3 --seconds 0.01 --out x.jsonl'
    'train --model mlp --epochs 1 --devices virt:2'
    'soak --iterations 1 --devices virt:2'
    'devices --devices virt:2'
)

# limited STATUS WORDS COMMAND..: the command prints one line with the words, within 20 seconds.
limited() {
    local wanted=$1 words=$2 status=0
    shift 2
    timeout -s KILL 20 "$@" >out 2>err || status=$?
    if [ "$status" -ne "$wanted" ] || ! cat out err | tr -s ' \n' ' ' | grep -q -- "$words" ||
        [ "$(wc -l <err)" -gt 1 ]; then
        fail "status $status, wanted $wanted and one line with '$words': $*"
    fi
}

# ulimit -v KIB limits all of the process: libraries, stacks and heaps. One value is too little to
# load OpenBLAS, another is enough for that but not for its workspace.
check=(check --area SPLIT --devices virt:2)
for command in "${commands[@]}" "${check[*]}" --version; do
    # shellcheck disable=SC2086 # words
    limited 1 'lockstep: 136 MiB of address space are needed to load OpenBLAS' \
        bash -c 'ulimit -v 90000; exec "$@"' bash "$lockstep" $command
done
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # words
    limited 1 'address space for each of 2 devices, and there is room for [01]: see ulimit -v' \
        bash -c 'ulimit -v 400000; exec "$@"' bash "$lockstep" $command
done
limited 2 'address space for each of 2 devices' \
    bash -c 'ulimit -v 400000; exec "$@"' bash "$lockstep" "${check[@]}"
[ ! -e x.jsonl ] || fail "a file was begun"
# shellcheck disable=SC2086 # words
expect_status 0 bash -c 'ulimit -v 4000000; exec "$@"' bash "$lockstep" ${commands[0]}

# started AGAIN VARIABLE..: a command is started with the same environment as this one; shells add
# some variables, and those of hwloc are set for it. The program executes itself AGAIN times.
started() {
    local often=$1 again
    shift
    rm -f seen
    expect_status 2 env -i "$@" "PATH=$PATH" "$lockstep" check --only SPLIT-01 --impl \
        "exec:env >$folder/seen; cat /proc/\$PPID/environ >$folder/first; exit 1"
    [ -s seen ] || fail 'the command was not started'
    printf '%s\n' "$@" "PATH=$PATH" | grep -v '^\(_\|PWD\|SHLVL\)=' | sort >given
    grep -v '^\(_\|PWD\|SHLVL\|HWLOC_[A-Z_]*\)=' seen | sort | cmp given - || fail "from $*: $(cat seen)"
    again=$(tr '\0' '\n' <first | grep -c '^LOCKSTEP_STARTED_AGAIN=') || true
    [ "$again" -eq "$often" ] || fail "executed again $again times, from $*"
}
started 0 A=1 OLDPWD=/ B=2
started 0 SHLVL=2 A=1 OLDPWD=/
started 0 A=1 PWD=/
started 0 _=x
started 1 A=1 PWDS=/
started 1

# ulimit -u allows one process to a user who has no other. Root has no such limit.
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv prlimit >/dev/null; then
    echo "ulimit -u: not tried; it takes root, setpriv and prlimit"
    exit 0
fi
open=$(mktemp -d)
trap 'rm -r "$open"' EXIT
chmod 755 "$open"
cp "$lockstep" "$open/lockstep"
alone=(prlimit --nproc=1 setpriv --reuid=65533 --clear-groups "$open/lockstep")
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # words
    limited 1 'cannot start a process\|thread cannot be started' "${alone[@]}" $command
done
# shellcheck disable=SC2086 # words
limited 1 'cannot start a process' env -i "PATH=$PATH" "${alone[@]}" ${commands[0]}
limited 2 'no process can be started' "${alone[@]}" check --area SPLIT --devices virt:2
