#!/usr/bin/env bash
# torn.sh MPIRUN KIND LOCKSTEP FIRST COUNT: for each seed of so many, a sweep of two cells over two or
# four processes. At some moment after all of the first cell have said who they are, one process gets
# SIGKILL or SIGSTOP. That cell must not pass, and its record must name the process; the next cell must
# be verified, and no process be left. DETAILS=1 shows all reasons.
set -euo pipefail
# shellcheck disable=SC2034 # kind is for started.sh
mpirun=$1 kind=$2 lockstep=$3 first=$4 count=$5
# shellcheck source=/dev/null
. "$(dirname "$0")/started.sh"
timeout=16 # of a cell; a call may stand still for half of it
# Until the record is there: that half, a second to say so, and what the launcher takes to end.
most=$((timeout / 2 + 1 + 5))
failed=0 named=0 longest=0 wrong=()

complain() {
    sed 's/^/    /' err
    wrong+=("seed $seed ($what): $*")
    echo "FAIL ${wrong[-1]}"
    failed=1
}

now_ms() {
    local now=${EPOCHREALTIME/[.,]/}
    echo "${now%???}"
}

cells() {
    grep -c '"schema":"lockstep/cell/' a.jsonl 2>/dev/null || true
}

# hurt: waits until the first cell has all of its processes, and a moment more.
hurt() {
    local pids
    for _ in $(seq 200); do
        mapfile -t pids < <(begun)
        [ ${#pids[@]} -lt "$processes" ] || break
        sleep 0.02
    done
    [ ${#pids[@]} -ge "$processes" ] || return 1
    sleep "$(printf '0.%03d' "$moment")"
    kill "-$signal" "${pids[victim]}" || return 1
    echo "${pids[victim]} $(now_ms)" >hurt
}

# watched: until the record of the first cell is there.
watched() {
    for _ in $(seq 400); do
        [ "$(cells)" = 0 ] || break
        sleep 0.05
    done
    now_ms >seen
}

try() {
    local reason pid at status=0 took due=1
    rm -f a.jsonl heard.txt hurt seen
    "$lockstep" sweep --launcher 'heard {n}' --bind none --out a.jsonl --counts "$processes" \
        --workload mlp:7,5,3 --batch 11,12 --seconds 2 --steps 10:90000 --timeout $timeout >out 2>err &
    local sweep=$!
    hurt || complain "nothing could be sent"
    watched
    wait $sweep || status=$?
    [ -e hurt ] || return 0
    read -r pid at <hurt
    mapfile -t states < <(grep -o '"cell":{.*"status":"[a-z]*"' a.jsonl | sed 's/.*"status":"//; s/"//')
    [ "${states[*]:1}" = ok ] || complain "the next cell is '${states[*]:1}'"
    reason=$(grep -o '"reason":"[^"]*"' a.jsonl | head -n 1)
    [ -z "${DETAILS-}" ] || echo "seed $seed ($what): ${states[0]}, $reason"
    case ${states[0]} in
    failed | crashed | timeout) ;;
    broken) due=2 ;; # it was not yet set up: no verdict
    *) complain "the cell is '${states[0]}'" ;;
    esac
    [ $status = $due ] || complain "exit status $status, not $due"
    if [[ $reason == *"process $pid)"* ]]; then
        named=$((named + 1))
    else
        complain "process $pid is not named: $reason"
    fi
    took=$(($(<seen) - at))
    [ $took -le $longest ] || longest=$took
    [ $took -le $((1000 * most)) ] || complain "the record came after $took ms"
    sleep 0.3
    [ -z "$(ours cell)" ] || complain "left behind: $(ours cell)"
}

for ((seed = first; seed < first + count; ++seed)); do
    RANDOM=$seed
    signals=(KILL STOP)
    processes=$((2 + RANDOM % 2 * 2)) signal=${signals[RANDOM % 2]} moment=$((RANDOM % 1000))
    victim=$((RANDOM % processes))
    what="SIG$signal after $moment ms, $processes processes"
    try
done
[ $failed = 0 ] || printf 'FAIL %s\n' "${wrong[@]}"
echo "$named of $count named by their process, the longest after $longest ms"
exit $failed
