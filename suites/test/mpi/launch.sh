#!/usr/bin/env bash
# launch.sh MPIRUN KIND PROCESSES PROGRAM...: starts so many processes of a program on this machine,
# and ends as they do. KIND: openmpi or mpich. 77: there is nothing to start them with.
set -euo pipefail
mpirun=$1 kind=$2 processes=$3
shift 3
command -v "$mpirun" >/dev/null || { echo "no mpirun here" && exit 77; }
# Several processes have a core together, and look after each other where they wait.
case $kind in
openmpi)
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
    exec "$mpirun" --allow-run-as-root --oversubscribe --bind-to none -n "$processes" "$@"
    ;;
mpich) exec "$mpirun" -n "$processes" "$@" ;;
*) echo "unknown kind of MPI '$kind'" >&2 && exit 2 ;;
esac
