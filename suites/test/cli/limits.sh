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
    'bench copies --devices virt:2'
    'devices --devices virt:2'
)

# limited STATUS WORDS COMMAND..: says so in one line, in 20 seconds.
limited()
{
    local wanted=$1 words=$2 status=0
    shift 2
    timeout -s KILL 20 "$@" >out 2>err || status=$?
    if [ "$status" -ne "$wanted" ] || ! cat out err | tr -s ' \n' ' ' | grep -q -- "$words" ||
        [ "$(wc -l <err)" -gt 1 ]; then
        cat out err >&2
        fail "status $status, wanted $wanted and one line with '$words': $*"
    fi
}

# ulimit -v KIB, which is all of the process: libraries, stacks and heaps. Too little to load
# OpenBLAS, and enough for that but not for its buffers.
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

# Nobody has these variables who did not set them.
expect_status 2 env -u OPENBLAS_NUM_THREADS "$lockstep" check --only SPLIT-01 \
    --impl "exec:env >$folder/seen; exit 1"
[ -s seen ] || fail "the command was not started"
! grep -q 'OPENBLAS_NUM_THREADS\|LOCKSTEP_STARTED' seen || fail "variables of our own are left behind"

# ulimit -u: one process, of a user who has no other. Root has no such limit.
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
limited 2 'no process can be started' "${alone[@]}" check --area SPLIT --devices virt:2
