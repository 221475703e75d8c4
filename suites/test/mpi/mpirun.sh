#!/usr/bin/env bash
# mpirun.sh: how processes are started on this machine, for those who read it with mpirun and kind
# set: `start` is the command in front of -n, `go_on` what else lets processes go on when one of them
# has died. KIND: openmpi or mpich. 77: there is nothing to start them with.
# shellcheck disable=SC2034 # both are for the reader
set -euo pipefail
: "${mpirun:?}" "${kind:?}"
command -v "$mpirun" >/dev/null || { echo "no mpirun here" && exit 77; }
case $kind in
openmpi)
    # Several processes have a core together, and look after each other where they wait.
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0
    start=("$mpirun" --allow-run-as-root --oversubscribe --bind-to none)
    go_on=(--enable-recovery)
    # From 5 on that is for processes that a signal has ended, and one that ends with an error ends all.
    [[ $("$mpirun" --version 2>&1) != *"(Open MPI) 5."* ]] ||
        go_on=(--runtime-options "error-nonzero-status=0,recoverable")
    ;;
mpich) start=("$mpirun") go_on=(-disable-auto-cleanup) ;;
*) echo "unknown kind of MPI '$kind'" >&2 && exit 2 ;;
esac
