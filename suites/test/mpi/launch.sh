#!/usr/bin/env bash
# launch.sh MPIRUN KIND PROCESSES PROGRAM...: starts so many processes of a program on this machine,
# and ends as they do (see mpirun.sh).
# shellcheck disable=SC2034,SC2154 # mpirun.sh reads and writes them
set -euo pipefail
mpirun=$1 kind=$2 processes=$3
shift 3
# shellcheck source=/dev/null
. "$(dirname "$0")/mpirun.sh"
exec "${start[@]}" -n "$processes" "$@"
