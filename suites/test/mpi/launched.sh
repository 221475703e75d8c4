#!/usr/bin/env bash
# launched.sh MPIRUN KIND LOCKSTEP CASE WRONG: cells of several processes. WRONG makes a product wrong where
# it is preloaded. What launchers and processes do
# wrong is never a pass, and the record names it; no process is left.
# shellcheck disable=SC2016,SC2034 # what launchers do is expanded by them; kind is for started.sh
set -euo pipefail
mpirun=$1 kind=$2 lockstep=$3 case=$4 wrong=$5
# shellcheck source=/dev/null
. "$(dirname "$0")/started.sh"

short=(--workload "mlp:7,5,3" --seconds 0.01 --steps 4:20)
# sweep STATUS LAUNCHER OPTION...
sweep() {
    local want=$1 launcher=$2 status=0
    shift 2
    rm -f a.jsonl
    "$lockstep" sweep --launcher "$launcher {n}" --batch 11 --bind none --out a.jsonl \
        "$@" >out 2>err || status=$?
    [ "$status" = "$want" ] || fail "exit status $status, not $want"
}
# says STATUS REASON: what the record of the only cell says.
says() {
    grep -Eq "\"status\":\"$1\"" a.jsonl || fail "no cell is $1"
    grep -Eq "\"reason\":\"$2\"" a.jsonl || fail "the reason is not '$2': $(grep -o '"reason":"[^"]*"' a.jsonl)"
}
left() {
    sleep 0.5
    [ -z "$(ours cell)" ] || fail "left behind: $(ours cell)"
}

# shellcheck disable=SC2016
rank='${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}'

case $case in
verified)
    sweep 0 good "${short[@]}" --counts 1,2,4 --per-process 0,1
    [ "$(grep -c '"status":"ok"' a.jsonl)" = 6 ] || fail "not 6 cells"
    [ "$(grep -c '"per_process":1.*"hosts":1,"host_ranks":"[124]"' a.jsonl)" = 3 ] || fail "no hosts"
    sweep 0 good --counts 4 --per-process 2 --workload cnn --seconds 0.01 --steps 4:20 --host-inputs 0,1
    [ "$(grep -c '"host_inputs":[01],.*"status":"ok"' a.jsonl)" = 2 ] || fail "not both places of the batch"
    "$lockstep" report a.jsonl --out page >/dev/null 2>err || fail "no report"
    grep -q 'mpi.*per-process 2' page/summary.md || fail "the report does not say processes"
    ;;
collectives)
    # Every number of every rank, in one process, two and four.
    "$lockstep" sweep --launcher "good {n}" --bind none --out a.jsonl --counts 4 --per-process 0,1,2 --sizes 65536 \
        --seconds 0.01 --steps 4:20 --collective allreduce,broadcast,allgather,reducescatter,alltoall >out 2>err || fail "exit status $?"
    [ "$(grep -c '"per_process":[12],.*"status":"ok".*"hosts":1,"host_ranks":"4"' a.jsonl)" = 10 ] || fail "not 10 cells"
    [ "$(grep -c '"per_process":0,.*"status":"ok"' a.jsonl)" = 5 ] || fail "not 5 cells of one process"
    [ "$(grep -c ' 4 mpi, 2 each .* 1/1$' err)" = 5 ] || fail "not 5 lines"
    "$lockstep" report a.jsonl --out page >/dev/null 2>err || fail "no report"
    [ "$(grep -c 'cpu/mpi, [12] per process' page/summary.md)" -ge 10 ] || fail "the report does not say processes"
    ;;
places)
    # Processes that share a core are no evidence of speed, and those that have a core each are.
    crowded() { # YES_OR_NO LAUNCHER
        rm -f a.jsonl
        "$lockstep" sweep --launcher "$2" "${short[@]}" --batch 11 --counts 2 --per-process 1 --out a.jsonl >out 2>err ||
            fail "$2: exit status $?"
        grep -q '"status":"ok"' a.jsonl || fail "$2: no cell is ok"
        grep -q "\"oversubscribed\":$1" a.jsonl || fail "$2: oversubscribed is not $1"
    }
    [ "$(nproc)" -ge 2 ] || exit 77
    start narrow 'exec taskset -c 0 bash $LAUNCH "$n" "$@"'
    crowded true 'narrow {n}'
    start apart "exec taskset -c $rank"' "$n" "$@"'
    crowded false 'good {n} apart'
    start one_of_two 'exec taskset -c $(('"$rank"' ? 0 : 1)) "$n" "$@"'
    crowded false 'good {n} one_of_two'
    start same 'exec taskset -c 1 "$n" "$@"'
    crowded true 'good {n} same'
    crowded false 'good {n}'
    ;;
wrong)
    # One product of one of the processes is wrong: in the first steps, and in a later one.
    start odd "[ $rank = 0 ] || export LD_PRELOAD=\$WRONG
        "'exec "$n" "$@"'
    export WRONG=$wrong WRONG_PRODUCT
    for WRONG_PRODUCT in 0 1 30 55; do
        want=1 status=0
        [ "$WRONG_PRODUCT" != 0 ] || want=0
        rm -f a.jsonl
        "$lockstep" sweep --launcher 'good {n} odd' --bind none --out a.jsonl --counts 2 --workload mlp:16,16,16 --batch 64 \
            --bucket 1088 --seconds 0.01 --steps 4:20 >out 2>err || status=$?
        [ "$status" = "$want" ] || fail "product $WRONG_PRODUCT: exit status $status, not $want"
        [ "$want" = 0 ] || says failed '.+'
    done
    ;;
banners)
    start loud 'echo "a banner" && printf "lockstep-says-2 0 0 00000000 ended ok\nhalf"
        bash $LAUNCH $n "$@" && printf "the end"'
    sweep 0 loud "${short[@]}" --counts 2
    ;;
cut)
    start cuts 'bash $LAUNCH $n "$@" | sed "/ part /s/,\"/,/"'
    sweep 2 cuts "${short[@]}" --counts 2
    says broken 'what the launcher printed cannot be used: message [0-9]* of process 0 comes where [0-9]* has to'
    ;;
early)
    # One process ends well before it has begun: Open MPI 4 lets the other wait for it until the sweep
    # ends that; with Open MPI 5 the other gives up, and MPICH ends it.
    start wrap 'case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}} in 1) exit 0 ;; esac
        exec "$n" "$@"'
    start early 'bash $LAUNCH $n wrap "$@" || true'
    want=2
    [[ $("$mpirun" --version 2>&1) != *"(OpenRTE) 4."* ]] || want=1
    sweep "$want" early "${short[@]}" --counts 2 --timeout 2
    says '(broken|timeout)' '.*(process [01] of 2|MPI has not started within).*'
    ;;
fewer)
    start fewer 'exec bash $LAUNCH 1 "$@"'
    sweep 2 fewer "${short[@]}" --counts 2
    says broken 'process 0 of 1 .* was told of 2 processes, there are 1'
    ;;
nothing)
    start nothing 'exit 0'
    sweep 2 nothing "${short[@]}" --counts 2
    says broken 'process 0 of 2 has not begun, and 1 more; the launcher ended with status 0'
    ;;
hangs)
    start hangs 'exec sleep 60'
    sweep 1 hangs "${short[@]}" --counts 2 --timeout 1
    says timeout 'killed after 1 s .--timeout.: process 0 of 2 has not begun, and 1 more'
    ;;
killed | stopped)
    # A launcher that says that all is well.
    start kind 'heard $n "$@" || exit 0'
    signal=KILL && [ "$case" = killed ] || signal=STOP
    (p=$(both_begun) && sleep 2 && kill "-$signal" "$p") &
    sweep 1 kind --counts 2 --workload mlp:7,5,3 --seconds 7 --steps 10:90000 --timeout 8
    wait
    if [ "$case" = killed ]; then
        says '(crashed|failed)' '.*process [01] of 2 .*'
    else
        says failed '.*rank [01] .* did not join [a-z]+ [0-9]+ within .*'
    fi
    ;;
options)
    bad() {
        local text=$1 status=0
        shift
        "$lockstep" sweep --out a.jsonl "$@" >out 2>err || status=$?
        [ "$status" = 2 ] || fail "exit status $status, not 2: $*"
        grep -q -- "$text" err || fail "no '$text': $*"
        [ ! -e a.jsonl ] || fail "a file was made: $*"
    }
    bad "'mpiexec' has no {n}" --launcher mpiexec
    bad "there is no program 'no-such'" --launcher 'no-such {n}'
    bad "mode dp is of one process; allowed with a launcher: ddp" --launcher 'good {n}' --mode dp,ddp
    bad "collective is of --mode collective, which has no model" --launcher 'good {n}' --mode ddp --collective allreduce
    bad "does not go with --communicator" --launcher 'good {n}' --collective allreduce --counts 2 --communicator staged
    bad "trace is of one process" --launcher 'good {n}' --trace t.json
    bad "per-process 2 needs --launcher" --per-process 2 --mode ddp
    bad "must be a multiple of 2" --launcher 'good {n}' --per-process 2 --counts 1,2
    bad "does not go with --chain" --launcher 'good {n}' --counts 2 --chain 4
    bad "does not go with --communicator" --launcher 'good {n}' --counts 2 --communicator staged
    ;;
*) echo "unknown case '$case'" && exit 2 ;;
esac
left
