#!/usr/bin/env bash
# checked.sh MPIRUN KIND LOCKSTEP CASE: conformance cases with ranks in several processes. If a
# process is gone the case never passes, and the process is named; the next case runs; no process is
# left.
# shellcheck disable=SC2016,SC2034 # what launchers do is expanded by them; kind is for started.sh
set -euo pipefail
mpirun=$1 kind=$2 lockstep=$3 case=$4
# shellcheck source=/dev/null
. "$(dirname "$0")/started.sh"

# check STATUS LAUNCHER CASES OPTION...
check() {
    local want=$1 launcher=$2 only=$3 status=0
    shift 3
    "$lockstep" check --profile ddp --launcher "$launcher {n}" --only "$only" "$@" >out 2>err || status=$?
    tr -s '\n ' ' ' <out >flat
    [ "$status" = "$want" ] || fail "exit status $status, not $want"
}
says() { grep -Eq -- "$1" flat || fail "it does not say '$1'"; }
left() {
    sleep 0.5
    [ -z "$(ours rank)" ] || fail "left behind: $(ours rank)"
    if grep -q caution flat; then fail "processes had to be killed"; fi
}
# Each pool of processes writes its size.
start good 'echo "$n" >>started && exec bash $LAUNCH $n "$@"'
process="process [0-9]+ of 2 \(host [^ ]+, process [0-9]+\)"

case $case in
processes)
    check 0 good 'DDP-05.small,DDP-05.exact'
    says ': 2 of 2 cases passed'
    [ "$(sort -u started)" = 2 ] || fail "other processes than two: $(cat started)"
    ;;
four)
    check 0 good DDP-05.small,COUNT-04.three --processes 4
    [ "$(sort -u started | tr '\n' ' ')" = '2 3 4 ' ] || fail "not 2, 3 and 4 processes: $(cat started)"
    ;;
each)
    check 0 good DDP-05.small,GPT-09.ranks --per-process 3 --devices virt:4
    [ "$(sort -u started)" = 2 ] || fail "other processes than two: $(cat started)"
    says 'at most 3 ranks of a model in each of two or more'
    ;;
refused)
    # An error that a rank returns is an answer, and new processes follow.
    check 0 good DDP-29.nothing
    [ "$(wc -l <started)" -ge 4 ] || fail "no new processes: $(cat started)"
    ;;
banner)
    start loud 'echo "a banner" && printf "lockstep-says-2 0 0 00000000 ended ok\nhalf"
        bash $LAUNCH $n "$@" && printf "the end"'
    check 0 loud DDP-07.same
    ;;
cut)
    start cuts 'bash $LAUNCH $n "$@" | sed -u "/ part /s/grad/gra/"'
    check 2 cuts DDP-07.same
    says 'launcher printed cannot be used: message [0-9]+ of process 0 comes where [0-9]+ has to'
    ;;
nothing)
    start nothing 'printf "\n----\nno nodes today\nsorry\n" >&2'
    check 2 nothing DDP-07.same
    says 'process 0 of 2 has not begun, and 1 more; the launcher said: no nodes today'
    ;;
unheard)
    start drops 'exec bash $LAUNCH $n "$@" > >(grep -av --line-buffered "lockstep-says-1 1 0 ")'
    check 2 drops DDP-07.same
    says 'message 1 of process 1 comes where 0 has to'
    ;;
fewer)
    start fewer 'exec bash $LAUNCH 1 "$@"'
    check 2 fewer DDP-07.same
    says 'process 0 of 1 .* was told of 2 processes, there are 1'
    ;;
killed | stopped)
    # Processes were started once to find out what they are, and once for the cases. The latter get
    # a signal between the arrival of their third request, when both have answered the second, and
    # its passing on: there the first case opens its model, however slow everything is.
    signal=KILL && [ "$case" = killed ] || signal=STOP
    export signal
    start kind 'echo "$n" >>started
        [ "$(grep -c . started)" = 2 ] || exec bash $LAUNCH $n "$@"
        exec 3<&0
        exec bash $LAUNCH $n "$@" < <(third <&3) 3<&- > >(tee -a heard.txt)'
    start third '. "$BEGUN"
        pass() { printf "%s\n" "$line"; }
        read_one() { IFS= read -r line; }
        read_one && pass && read_one && pass && read_one
        kill "-$signal" "$(both_begun)" && touch hurt && pass && exec cat'
    check 2 kind DDP-07.same,DDP-05.small
    [ -e hurt ] || fail "nobody got a signal"
    if [ "$case" = killed ]; then
        says "BROKEN DDP-07.*($process has begun, and neither ended nor was told to end|$process did not join)"
    else
        says "BROKEN DDP-07.*$process did not join [a-z]+ [0-9]+ within [0-9.]+ s"
    fi
    says ': 1 of 2 cases passed, 1 broken'
    ;;
misuse)
    bad() {
        local text=$1 status=0
        shift
        "$lockstep" check "$@" >out 2>err || status=$?
        [ "$status" = 2 ] || fail "exit status $status, not 2: $*"
        grep -q -- "$text" err || fail "no '$text': $*"
        [ "$(wc -l <err)" = 2 ] || fail "more than a line and where the options are: $*"
        [ ! -s out ] || fail "something was run: $*"
    }
    bad "'mpiexec' has no {n}" --launcher mpiexec
    bad "there is no program 'no-such'" --launcher 'no-such {n}'
    bad "the other profiles are of one process" --launcher 'good {n}' --profile dataparallel
    bad "the other profiles are of one process" --launcher 'good {n}' --profile all
    bad "does not go with --impl" --launcher 'good {n}' --impl reference
    bad "does not go with --impl" --launcher 'good {n}' --impl ./it.so
    bad "does not go with --impl-options" --launcher 'good {n}' --impl-options x
    bad "does not go with --communicator" --launcher 'good {n}' --communicator staged
    bad "does not go with --mutants" --launcher 'good {n}' --mutants
    bad "one at a time" --launcher 'good {n}' --processes 2 --per-process 1
    bad "need --launcher" --processes 2
    bad "need --launcher" --per-process 2
    bad "processes 9: there are 8 devices" --launcher 'good {n}' --processes 9
    bad "per-process 5: there are 4 devices" --launcher 'good {n}' --per-process 5 --devices virt:4
    bad "the devices are virtual ones" --launcher 'good {n}' --devices cuda:0
    bad "is outside 2 to 64" --launcher 'good {n}' --processes 1
    [ ! -e started ] || fail "processes were started"
    exit 0
    ;;
*) echo "unknown case '$case'" && exit 2 ;;
esac
left
