#!/usr/bin/env bash
# lines.sh MPIRUN KIND_OF_MPI PROCESSES PATTERN PROGRAM...: starts so many processes; each must end
# by itself within 20 s, and say one line that matches. It may end without the end of MPI.
# shellcheck disable=SC2034,SC2154 # mpirun.sh reads and writes them
set -euo pipefail
mpirun=$1 kind=$2 processes=$3 pattern=$4
shift 4
# shellcheck source=/dev/null
. "$(dirname "$0")/mpirun.sh"
status=0
out=$(timeout -k 1 20 "${start[@]}" "${go_on[@]}" -n "$processes" "$@" 2>&1) || status=$?
[ "$status" -ne 124 ] || { echo "FAIL: it does not end" && echo "$out" && exit 1; }
found=$(grep -Ec -- "$pattern" <<<"$out") || true
if [ "$found" -ne "$processes" ]; then
    echo "FAIL: $found of $processes processes say '$pattern':"
    echo "$out"
    exit 1
fi
grep -E -- "$pattern" <<<"$out"
