#!/usr/bin/env bash
# failing.sh MPIRUN KIND_OF_MPI PROGRAM MODULE FIRST COUNT: for COUNT seeds from FIRST on, starts
# two to four processes and lets one misbehave at a call (see failing.c). All others must end within
# the deadline and a second, all with the same line, which names that process and the call; no
# process is left. Then once more without telling mpirun that others go on: it ends all. DETAILS=1
# shows all lines.
# shellcheck disable=SC2034,SC2154 # mpirun.sh reads and writes them
set -euo pipefail
mpirun=$1 mpi=$2 program=$3 module=$4 first=$5 count=$6
deadline=1000 # ms
kind=$mpi # from there on it is that of a call
# shellcheck source=/dev/null
. "$(dirname "$0")/mpirun.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
kinds=(allreduce broadcast allgather reducescatter alltoall sum send exchange barrier agree)
hows=(kill stop late other abort during larger killed)
sizes=(1 100 961 200000)
failed=0 stuck=0

pid_of() {
    sed -n "s/^started $1 //p" "$folder/out"
}

# Prints the lines of the processes that have ended by themselves.
lines() {
    grep '^process ' "$folder/out" || true
}

count_ended() {
    lines | wc -l
}

complain() {
    echo "FAIL seed $seed ($what): $1"
    sed 's/^/    /' "$folder/out"
    failed=1
}

# A process that is dead and only not yet waited for does not count as left.
is_left() {
    local state
    state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 1
    [ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ]
}

check_left() {
    local pid i
    while read -r _ _ pid; do
        for ((i = 0; i < 20; ++i)); do
            is_left "$pid" || break
            sleep 0.05
        done
        if is_left "$pid"; then complain "process $pid is left"; fi
    done < <(grep '^started ' "$folder/out")
}

# Prints the pattern that all lines must match.
pattern() {
    local who name=$kind number=$((at + 3)) last
    who="rank $victim \(host [^ ]+, process $(pid_of "$victim")\)"
    case $kind in sum) name=allreduce ;; send) name=broadcast ;; esac
    case $how in
    kill | stop) echo "^$who did not join $name $number within 1\.0 s: it does not answer$" ;;
    during | killed) echo "^$who did not join $name [0-9]+ within 1\.0 s: it does not answer$" ;;
    late)
        if [ "$at" -eq 1 ]; then last=barrier; else last=$name; fi
        echo "^$who did not join $name $number within 1\.0 s: it has joined $((number - 1)) calls, the last one $last$"
        ;;
    abort) echo "^$who has given up$" ;;
    *) echo "rank $victim \(host [^ ]+, process [0-9]+\)? ?(is )?in " ;;
    esac
}

# Prints how many processes end by themselves.
living() {
    case $how in late | other | abort | larger) echo "$processes" ;; *) echo $((processes - 1)) ;; esac
}

check() {
    local pid ms close text
    check_left
    # MPICH's mpiexec kills all others when one is killed, even if it is told not to.
    case $mpi-$how in mpich-kill*) return ;; esac
    [ "$(count_ended)" -eq "$(living)" ] ||
        complain "$(count_ended) processes have ended by themselves, not $(living)"
    case $how in
    other | larger) ;; # two of them have found it
    *) [ "$(lines | cut -d: -f3- | sort -u | wc -l)" -eq 1 ] || complain "they do not say the same" ;;
    esac
    while read -r _ pid ms _ _ close _ text; do
        [ "${pid%:}" = "$(pid_of "$victim")" ] || [ "$ms" -le $((deadline + 1000)) ] ||
            complain "process $pid took $ms ms"
        [ "$close" -le 1000 ] || complain "process $pid took $close ms to close"
        grep -Eq "$(pattern)" <<<"$text" || complain "process $pid says '$text', not $(pattern)"
    done < <(lines)
}

# wait_until COMMAND: waits until the command succeeds, at most 10 s.
wait_until() {
    local i
    for ((i = 0; i < 200; ++i)); do
        ! "$@" || return 0
        sleep 0.05
    done
    return 1
}

all_ended() {
    [ "$(count_ended)" -ge "$(living)" ] || ! is_left "$launcher"
}

launcher_ended() {
    ! is_left "$launcher"
}

run() {
    local pid
    "${start[@]}" "$@" -n "$processes" "$program" "$module" "$kind" "$how" "$victim" "$at" "$size" "$deadline" \
        >"$folder/out" 2>"$folder/err" &
    launcher=$!
    wait_until all_ended || true
    # A stopped process never ends: mpirun, which lets all go on, would wait for it.
    pid=$(pid_of "$victim")
    case $how-$# in stop-[1-9] | during-[1-9]) [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true ;; esac
    if ! wait_until launcher_ended; then
        stuck=$((stuck + 1))
        kill -KILL "$launcher"
        [ $# -gt 0 ] || complain "mpirun does not end"
    fi
    wait "$launcher" 2>/dev/null || true
}

for ((seed = first; seed < first + count; ++seed)); do
    RANDOM=$((seed * 7919 + 13))
    kind=${kinds[seed % 10]} how=${hows[(seed / 10 + seed) % 8]}
    processes=$((2 + RANDOM % 3)) at=$((1 + RANDOM % 9)) size=${sizes[RANDOM % 4]}
    victim=$((RANDOM % processes))
    # These calls have no size that could differ, or no process to wait for.
    case $how-$kind in larger-exchange | larger-barrier | larger-agree | other-send | other-broadcast | larger-send | larger-broadcast) how=stop ;; esac
    what="$kind $how, process $victim of $processes, call $at, $size elements"
    run "${go_on[@]}"
    check
    [ -z "${DETAILS-}" ] || { echo "seed $seed: $what" && lines; }
done
for how in stop kill late; do
    seed=none kind=sum processes=3 at=5 size=1000 victim=1 what="mpirun as it is, $how"
    run
    check_left
done
[ "$failed" -eq 0 ] || exit 1
echo "ok: $count seeds from $first on; mpirun, told that processes go on, had to be ended $stuck times"
