#!/usr/bin/env bash
# benched.sh MPIRUN KIND LOCKSTEP CASE WRONG: `bench overlap` whose ranks are in several processes. Its
# numbers belong together, a wrong one is found, who is missing is named, no process is left.
# WRONG: what makes a product wrong where it is preloaded.
# shellcheck disable=SC2016,SC2034 # what launchers do is expanded by them; kind is for started.sh
set -euo pipefail
mpirun=$1 kind=$2 lockstep=$3 case=$4 wrong=$5
# shellcheck source=/dev/null
. "$(dirname "$0")/started.sh"

fail() { echo "FAIL $case: $*" && cat out err && exit 1; }
# bench STATUS LAUNCHER OPTION...
bench() {
    local want=$1 launcher=$2 status=0
    shift 2
    "$lockstep" bench overlap --launcher "$launcher" --bytes 16Ki "$@" >out 2>err || status=$?
    [ "$status" = "$want" ] || fail "exit status $status, not $want: $*"
}
says() { grep -Eq -- "$1" err || fail "no '$1'"; }
silent() { [ ! -s out ] || fail "a report"; }
left() {
    sleep 0.5
    [ -z "$(ours benche)" ] || fail "left behind: $(ours benche)"
}
# in_a_while COMMAND...: when both processes of the benchmark have run for a second.
in_a_while() {
    local p
    p=$(both_begun)
    sleep 1 && "$@" "$p"
}
process='process [01] of 2 \(host [^ ]+, process [0-9]+\)'

case $case in
numbers)
    # RANKS:EACH; transfers take longer on purpose.
    for list in 2:1 4:2; do
        ranks=${list%:*} each=${list#*:}
        bench 0 'good {n}' --devices "virt:$ranks+20us" --per-process "$each" --rounds 6 --format tsv
        awk -F '\t' -v ranks="$ranks" -v processes=$((ranks / each)) '
            function bad(what) { print what ": " $0; wrong = 1 }
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; fields = NF; next }
            NF != fields || $at["name"] != "overlap" { bad("fields") }
            $at["devices"] != "virt:" ranks "+20us" || $at["rounds"] != 6 { bad("what was asked for") }
            $at["processes"] != processes || $at["hosts"] != 1 { bad("processes") }
            !($at["rows"] >= 256 && $at["rows"] <= 16384) { bad("rows") }
            # 15 layers of 16 x 16 and a bias each: on all ranks, both ways, in six rounds and four of
            # warm-up; before them two sets in every process against the reference.
            $at["bucket_bytes"] != 4 * 16 * 17 || $at["model_bytes"] != 15 * 4 * 16 * 17 { bad("bytes") }
            $at["compared"] != 15 * 16 * 17 * (2 * ranks * 10 + 2 * processes) { bad("compared") }
            !($at["compute_ns"] > 0 && $at["comm_ns"] >= 15 * 2 * 20000 && $at["whole_ns"] > 0) { bad("times") }
            $at["ratio"] !~ /^-?[0-9.]+$/ { bad("ratio") }
            !($at["ratio_lo"] + 0 <= $at["ratio"] + 0 && $at["ratio"] + 0 <= $at["ratio_hi"] + 0) { bad("bounds") }
            END { if (NR != 2) bad("not one line"); exit wrong }' out >problems || fail "$list: $(cat problems)"
    done
    # For people: one report, of 80 columns, that says where the ranks are.
    bench 0 'good {n}' --per-process 1 --rounds 6
    [ "$(grep -c '^hidden ' out)" = 1 ] || fail "not one report"
    grep -q ', on virt:2;$' out || fail "other devices"
    grep -q '^2 processes on 1 host, 1 rank in each$' out || fail "no processes"
    if grep -nE '.{81}' out; then fail "a line is longer than 80 columns"; fi
    ;;
wrong)
    # Products 1 and 2 are of the first step, the last one of a round: in one of the processes.
    start odd '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" = 0 ] || export LD_PRELOAD=$WRONG
        exec "$n" "$@"'
    export WRONG=$wrong WRONG_PRODUCT=0
    bench 0 'good {n} odd' --rounds 1
    for WRONG_PRODUCT in 1 200; do
        bench 1 'good {n} odd'
        says "$process: (the first step: mlp:[0-9,]*, set [01]: |round [0-9]+(, set [01])?: )|rank [01] .* has given up"
        silent
    done
    ;;
launchers)
    start nothing 'exit 0'
    bench 1 'nothing {n}'
    says 'process 0 of 2 has not begun, and 1 more'
    silent
    start fewer 'exec bash $LAUNCH 1 "$@"'
    bench 1 'fewer {n}'
    says 'process 0 of 1 .* was told of 2 processes, there are 1'
    silent
    start loud 'echo "a banner" && printf "lockstep-says-2 0 0 00000000 ended ok\nhalf"
        bash $LAUNCH $n "$@" && printf "the end"'
    bench 0 'loud {n}' --rounds 1
    [ "$(grep -c '^hidden ' out)" = 1 ] || fail "not one report"
    if grep -q banner out; then fail "a banner in the report"; fi
    ;;
never)
    # One process never gets as far as MPI, and the launcher waits for it: half a minute is its limit.
    start wrap '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" = 0 ] || exec sleep 100
        exec "$n" "$@"'
    SECONDS=0
    bench 1 'good {n} wrap' --timeout 2
    [ "$SECONDS" -lt 60 ] || fail "it took $SECONDS s"
    says 'MPI has not started within|process [01] of 2'
    silent
    ;;
killed | stopped)
    signal=KILL && [ "$case" = killed ] || signal=STOP
    in_a_while kill "-$signal" &
    bench 1 'heard {n}' --rounds 100000 --timeout 2
    wait
    if [ "$case" = killed ]; then
        says "$process|rank [01] .* did not join"
    else
        says 'rank [01] \(host [^ ]+, process [0-9]+\) did not join [a-z]+ [0-9]+ within 2.0 s'
    fi
    silent
    ;;
interrupted)
    # A background job of a shell has SIGINT ignored.
    "$lockstep" bench overlap --launcher 'heard {n}' --bytes 16Ki --rounds 100000 >out 2>err &
    pid=$! status=0
    stop() { kill -TERM "$pid"; }
    in_a_while stop
    wait "$pid" || status=$?
    [ $status = 130 ] || fail "exit status $status, not 130"
    says 'interrupted: there is no result'
    silent
    ;;
options)
    bad() {
        local text=$1 status=0
        shift
        "$lockstep" bench "$@" >out 2>err || status=$?
        [ "$status" = 2 ] || fail "exit status $status, not 2: $*"
        grep -q -- "$text" err || fail "no '$text': $*"
        [ "$(wc -l <err)" -le 2 ] || fail "more than a line and where the options are: $*"
        silent
    }
    bad "launcher is for overlap: the copies of DataParallel are of one process" copies --launcher 'good {n}'
    bad "'mpiexec' has no {n}" overlap --launcher mpiexec
    bad "there is no program 'no-such'" overlap --launcher 'no-such {n}'
    bad "does not go with --communicator" overlap --launcher 'good {n}' --communicator staged
    bad "the devices are virtual ones" overlap --launcher 'good {n}' --devices host
    bad "do not fail on purpose" overlap --launcher 'good {n}' --devices virt:2+fault:sync@7
    bad "3 devices are no multiple of it" overlap --launcher 'good {n}' --devices virt:3 --per-process 2
    bad "has fewer than 2 devices" overlap --launcher 'good {n}' --devices virt:1
    bad "runs late on purpose" overlap --launcher 'good {n}' --devices virt:2+lag
    bad "4096 are too few for 15 layers" overlap --launcher 'good {n}' --bytes 4Ki
    bad "need --launcher" overlap --per-process 2
    bad "need --launcher" copies --timeout 2
    bad "outside 1 to" overlap --launcher 'good {n}' --timeout 0.5
    status=0
    "$lockstep" bench overlap --launcher 'good {n}' --devices virt:2 --require-devices 3 >out 2>err || status=$?
    [ "$status" = 1 ] || fail "exit status $status of too few devices, not 1"
    says "--require-devices 3: 'virt:2' has 2"
    ;;
*) echo "unknown case '$case'" && exit 2 ;;
esac
left
