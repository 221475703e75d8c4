#!/usr/bin/env bash
# failing.sh MPIRUN KIND_OF_MPI PROGRAM MODULE FIRST COUNT: for each seed of so many, starts two to
# four processes, lets one go wrong at a call (see failing.c), and expects of all others that they
# end within the deadline and a second, with the line that names it and the call, all the same one;
# and that no process is left. DETAILS=1: shows all lines.
set -u
mpirun=$1 mpi=$2 program=$3 module=$4 first=$5 count=$6
deadline=1000 # ms
command -v "$mpirun" >/dev/null || { echo "no mpirun here" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_MCA_mpi_yield_when_idle=1
case $mpi in # processes go on when one of them dies
openmpi) start=("$mpirun" --allow-run-as-root --oversubscribe --bind-to none --enable-recovery) ;;
mpich) start=("$mpirun" -disable-auto-cleanup) ;;
*) echo "unknown kind of MPI '$mpi'" >&2 && exit 2 ;;
esac
kinds=(allreduce broadcast allgather reducescatter alltoall sum send exchange barrier agree)
hows=(kill stop late other abort during larger)
sizes=(1 100 961 200000)
failed=0

pid_of() {
    sed -n "s/^started $1 //p" "$folder/out"
}

# Lines of processes that have ended; lines that are there in the end.
count_ended() {
    grep -c '^process ' "$folder/out"
}

complain() {
    echo "FAIL seed $seed ($what): $1"
    sed 's/^/    /' "$folder/out"
    failed=1
}

# What all lines must say.
pattern() {
    local who="rank $victim \(host [^ ]+, process $(pid_of "$victim")\)" name=$kind number=$((at + 3))
    case $kind in sum) name=allreduce ;; send) name=broadcast ;; esac
    case $how in
    kill | stop) echo "^$who did not join $name $number within 1\.0 s: it does not answer$" ;;
    during) echo "^$who did not join $name [0-9]+ within 1\.0 s: it does not answer$" ;;
    late)
        local last=$name
        [ "$at" -gt 1 ] || last=barrier
        echo "^$who did not join $name $number within 1\.0 s: it has joined $((number - 1)) calls, the last one $last$"
        ;;
    abort) echo "^$who has given up$" ;;
    *) echo "rank $victim \(host [^ ]+, process [0-9]+\)? ?(is )?in " ;;
    esac
}

check_left() {
    local pid
    for pid in $(sed -n 's/^started [0-9]* //p' "$folder/out"); do
        ! kill -0 "$pid" 2>/dev/null || complain "process $pid is left"
    done
}

check() {
    local lines wanted=$((processes - 1)) pid ms close text
    case $how in late | other | abort | larger) wanted=$processes ;; esac
    # MPICH's mpiexec kills all others when one is killed, also when told not to.
    [ "$mpi-$how" != mpich-kill ] || { check_left && return; }
    lines=$(grep '^process ' "$folder/out")
    [ "$(count_ended)" -eq "$wanted" ] || complain "$(count_ended) processes have ended by themselves, not $wanted"
    if [ "$(sed 's/^process [^:]*:[^:]*: //' <<<"$lines" | sort -u | wc -l)" -ne 1 ]; then
        case $how in other | larger) ;; *) complain "they do not say the same" ;; esac
    fi
    while read -r _ pid ms _ _ close _ text; do
        [ "${pid%:}" = "$(pid_of "$victim")" ] || [ "$ms" -le $((deadline + 1000)) ] ||
            complain "process $pid took $ms ms"
        [ "$close" -le 1000 ] || complain "process $pid took $close ms to close"
        grep -Eq "$(pattern)" <<<"$text" || complain "process $pid says '$text', not $(pattern)"
    done <<<"$lines"
    check_left
}

run() {
    local living=$((processes - 1)) i
    case $how in late | other | abort | larger) living=$processes ;; esac
    "${start[@]}" -n "$processes" "$program" "$module" "$kind" "$how" "$victim" "$at" "$size" "$deadline" \
        >"$folder/out" 2>"$folder/err" &
    for ((i = 0; i < 200 && $(count_ended) < living; ++i)); do
        kill -0 $! 2>/dev/null || break
        sleep 0.05
    done
    local pid
    pid=$(pid_of "$victim")
    case $how in stop | during) [ -z "$pid" ] || kill -KILL "$pid" ;; esac
    for ((i = 0; i < 200; ++i)); do
        kill -0 $! 2>/dev/null || break
        sleep 0.05
    done
    ! kill -0 $! 2>/dev/null || { complain "mpirun does not end" && kill -KILL $!; }
    wait $! 2>/dev/null
}

for ((seed = first; seed < first + count; ++seed)); do
    RANDOM=$((seed * 7919 + 13))
    kind=${kinds[seed % 10]} how=${hows[(seed / 10 + seed) % 7]}
    processes=$((2 + RANDOM % 3)) at=$((1 + RANDOM % 9)) size=${sizes[RANDOM % 4]}
    victim=$((RANDOM % processes))
    # These have no size that could be another, and a call of another kind must be one of all.
    case $how-$kind in larger-exchange | larger-barrier | larger-agree | other-send | other-broadcast | larger-send | larger-broadcast) how=stop ;; esac
    what="$kind $how, process $victim of $processes, call $at, $size elements"
    run
    check
    [ -z "${DETAILS-}" ] || { echo "seed $seed: $what" && grep '^process ' "$folder/out"; }
done
[ "$failed" -eq 0 ] || exit 1
echo "ok: $count seeds from $first on"
