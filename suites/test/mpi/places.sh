#!/usr/bin/env bash
# places.sh MPIRUN KIND LOCKSTEP [HOSTILE_NAME]: `lockstep devices --launcher` names every process, and what differs
# between them first; where one of them is missing it shows nothing.
# shellcheck disable=SC2016,SC2034 # what launchers do is expanded by them; kind is for started.sh
set -euo pipefail
mpirun=$1 kind=$2 lockstep=$3
# shellcheck source=/dev/null
. "$(dirname "$0")/started.sh"
# devices STATUS LAUNCHER OPTION...
devices() {
    local want=$1 status=0
    "$lockstep" devices --launcher "$2" "${@:3}" >out 2>err || status=$?
    [ "$status" = "$want" ] || fail "exit status $status, not $want"
}
refused() {
    devices 2 "${@:2}"
    matches err "$1"
    [ ! -s out ] || fail "it shows something"
}
rank='${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}'

devices 0 'good {n}' --processes 3
[ "$(head -n 2 out)" = "Differences between processes
  none, of builds, libraries, settings and machines" ] || fail "something differs"
for p in 0 1 2; do matches out "^  $p  +$(hostname | cut -c 1-24) +[0-9]+ +[0-9]"; done
if grep -nE '.{81}' out; then fail "a line is longer than 80 columns"; fi

# One process has other kernels of the BLAS: so it says, and what it comes from.
other=Nehalem && [ "${OPENBLAS_CORETYPE-}" != Nehalem ] || other=Prescott
start odd "case $rank in 1) export OPENBLAS_CORETYPE=$other ;; esac"'
    exec "$n" "$@"'
devices 0 'good {n} odd'
matches out '^  environment$'
matches out "^    1: .*OPENBLAS_CORETYPE=$other"
if "$lockstep" devices | grep -q 'BLAS .*OpenBLAS'; then
    matches out '^  BLAS$'
    matches out "^    1: OpenBLAS .* $other"
fi
devices 0 'good {n} odd' --format json
matches out '"schema": "lockstep/places/1.0"'
tr -d ' \n' <out >one
matches one '"differences":\[("[a-z_]+",)*"environment"'
[ "$(grep -c '"host"' out)" = 2 ] || fail "not 2 processes"

# A host may have any name. Some MPI does not start on such a one, and then says so.
if [ -n "${4-}" ]; then
    start hidden "export LD_PRELOAD=$4"'
        exec "$n" "$@"'
    for form in text json; do
        "$lockstep" devices --launcher 'good {n} hidden' --format $form >out 2>err || [ $form = text ]
        for file in out err; do
            if LC_ALL=C grep -qa "$(printf '[\033\377]\|\342\200\256')" $file; then fail "$file has it"; fi
        done
        [ $form = json ] || matches out '^  [01]  +n.\[2J'
    done
    matches out '"host": "n'
fi

# One that dies, and a launcher that starts too few.
start dead "case $rank in 1) kill -9 \$\$ ;; esac"'
    exec "$n" "$@"'
devices 1 'good {n} dead'
[ ! -s out ] || fail "it shows something"
matches err 'process [01] of 2'
start fewer 'exec bash $LAUNCH 1 "$@"'
devices 1 'fewer {n}'
matches err 'was told of 2 processes, there are 1'

refused "'mpiexec' has no {n}" mpiexec
refused "no program 'no-such'" 'no-such {n}'
refused 'launcher and --tree exclude' 'good {n}' --tree
refused '"65" is outside 1 to 64' 'good {n}' --processes 65
"$lockstep" devices --processes 2 >out 2>err && fail "--processes alone"
matches err 'needs --launcher'
