#!/usr/bin/env bash
# lines.sh MPIRUN KIND_OF_MPI PROCESSES PATTERN PROGRAM...: starts so many processes; each must end
# by itself within 20 s, and say one line that matches. It may end without the end of MPI.
set -euo pipefail
mpirun=$1 mpi=$2 processes=$3 pattern=$4
shift 4
command -v "$mpirun" >/dev/null || { echo "no mpirun here" && exit 77; }
export OMPI_MCA_mpi_yield_when_idle=1
case $mpi in
openmpi) start=("$mpirun" --allow-run-as-root --oversubscribe --bind-to none --enable-recovery) ;;
mpich) start=("$mpirun" -disable-auto-cleanup) ;;
*) echo "unknown kind of MPI '$mpi'" >&2 && exit 2 ;;
esac
status=0
out=$(timeout -k 1 20 "${start[@]}" -n "$processes" "$@" 2>&1) || status=$?
[ "$status" -ne 124 ] || { echo "FAIL: it does not end" && echo "$out" && exit 1; }
found=$(grep -Ec -- "$pattern" <<<"$out") || true
if [ "$found" -ne "$processes" ]; then
    echo "FAIL: $found of $processes processes say '$pattern':"
    echo "$out"
    exit 1
fi
grep -E -- "$pattern" <<<"$out"
