#!/usr/bin/env bash
# bench.sh SOURCE BUILD: scripts/bench-processes has a number for each place that is asked for, and
# says which are missing. How good the numbers are is not tested here, because other tests run at
# the same time.
set -euo pipefail
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"
source=$1 build=$2
command -v python3 >/dev/null || { echo "no python3 here" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
bench() {
    local want=$1 status=0
    shift
    "$source/scripts/bench-processes" --build "$build" --runs 1 "$@" >out 2>err || status=$?
    [ "$status" = "$want" ] || fail "exit status $status, not $want: $*"
}

bench 0 allreduce
grep -Eqx 'allreduce [0-9]+\.[0-9]{4}' out || fail "no number"
[ "$(wc -l <out)" = 1 ] || fail "more than was asked"
# The number is the one on its line: the better of the two, divided by that of Lockstep.
awk '{ gsub(/[^0-9. ]/, " "); best = $2 < $3 ? $2 : $3; print best / $1 }' err >said
awk 'NR == FNR { said = $1; next } { exit !($2 / said > 0.98 && $2 / said < 1.02) }' said out || fail "another number"

if "$source/scripts/hosts" 2 -- true 2>err; then
    bench 0 hosts2
    # 12 MiB and some more go over 1 Gbit/s: no step is faster than its links.
    grep -Eq ', 12595200 bytes at 1 Gbit/s 100\.8 ms$' err || fail "other bytes"
    awk '$1 == "hosts2" && $2 > 0.95 && $2 < 100 { good++ } END { exit good != 1 }' out || fail "faster than the links"
    # 4 MiB of numbers at 200 Mbit/s take 168 ms, when both directions are used at once.
    mpi=$build/suites/test/mpi/lockstep-mpi-rate module=$build/harness/lockstep-mpi.so
    "$source/scripts/hosts" 2 --rate 200mbit -- mpirun -n 2 "$mpi" "$module" 4194304 5 >out 2>err
    awk '$1 > 160 && $1 < 240 { good++ } END { exit good != 1 || NR != 1 }' out || fail "an allreduce over two hosts"
else
    echo "note: $(<err)"
fi

# Places that cannot be measured are missing, and the others are there.
mkdir empty
PATH=$dir/empty:$PATH && ln -s /bin/false empty/nsenter
bench 1 hosts2 allreduce
grep -q '^bench-processes: hosts2: ' err || fail "not said"
[ "$(cut -d' ' -f1 out)" = allreduce ] || fail "other numbers"
bench 2 speed
grep -q "no number is named 'speed'; known: allreduce, gloo, hosts2, hosts4, simulated" err || fail "not named"
