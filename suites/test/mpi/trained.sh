#!/usr/bin/env bash
# trained.sh MPIRUN KIND LOCKSTEP CASE WRONG MESSAGE SUM BATCH: trainings with ranks in several
# processes. They give the bits of one process; a missing process is named, no trained weights are
# lost, and no process is left.
# shellcheck disable=SC2016,SC2034 # what launchers do is expanded by them; kind is for started.sh
set -euo pipefail
mpirun=$1 kind=$2 lockstep=$3 case=$4 wrong=$5 message=$6 sum=$7 batch=$8
# shellcheck source=/dev/null
. "$(dirname "$0")/started.sh"

# train STATUS OPTION...
train() {
    local want=$1 status=0
    shift
    "$lockstep" train --mode ddp --batch 24 "$@" >out 2>err || status=$?
    [ "$status" = "$want" ] || fail "exit status $status, not $want: $*"
}
says() { grep -Eq -- "$1" err || fail "no '$1'"; }
left() {
    sleep 0.5
    [ -z "$(ours traine)" ] || fail "left behind: $(ours traine)"
}
# in_a_while COMMAND...: runs it when an epoch has been trained, and a moment later.
in_a_while() {
    for _ in $(seq 600); do
        sleep 0.1
        ! grep -qs '^epoch' err || break
    done
    sleep "0.$((RANDOM % 10))" && "$@" "$(ours traine | tail -1)"
}

case $case in
same)
    # The rows of 4 ranks are in 1, 4 and 2 processes; then there are 3 ranks, an odd number in one
    # process.
    for list in 4:1 4:2 3:3; do
        ranks=${list%:*}
        train 0 --devices "virt:$ranks" --epochs 2 --seed 5 --save one.weights --out one.jsonl
        train 0 --devices "virt:$ranks" --epochs 2 --seed 5 --save many.weights --out many.jsonl \
            --launcher "good {n}" --per-process "${list#*:}"
        cmp one.weights many.weights || fail "other weights of $list"
        [ "$(grep -o '"train_loss":[^,]*' one.jsonl)" = "$(grep -o '"train_loss":[^,]*' many.jsonl)" ] ||
            fail "other losses of $list"
        [ "$(grep -c train_loss many.jsonl)" = 2 ] || fail "not 2 epochs"
        grep -q "\"processes\":$((ranks / ${list#*:})),\"hosts\":1,\"host_ranks\":\"$ranks\"" many.jsonl ||
            fail "no processes in the record"
        rm one.* many.*
    done
    # Ranks train on a text with AdamW, clipping, its learning rate and a batch in parts.
    yes 'the quick brown fox jumps over the lazy dog; ' | head -c 1000 >fox.txt || true
    gpt=(--devices virt:2 --epochs 2 --model gpt-tiny --data text:fox.txt --accumulate 2)
    train 0 "${gpt[@]}" --save one.weights
    train 0 "${gpt[@]}" --save many.weights --launcher "good {n}"
    cmp one.weights many.weights || fail "other weights of a text"
    # Seeds follow each other, each with a new optimizer; loaded weights have an effect.
    train 0 --devices virt:2 --epochs 1 --model cnn --seed 6 --save one.weights
    train 0 --devices virt:2 --epochs 1 --model cnn --seed 5 --seeds 2 --launcher "good {n}"
    tail -2 out | head -1 >seeds
    train 0 --devices virt:2 --epochs 1 --model cnn --seed 6 --save many.weights --launcher "good {n}"
    cmp one.weights many.weights || fail "other weights of a cnn"
    cmp out seeds || fail "the second of two seeds comes to something else"
    train 0 --devices virt:2 --epochs 0 --model cnn --seed 6 --load one.weights --launcher "good {n}"
    [ "$(sed 's/ after.*//' out)" = "$(sed 's/ after.*//' seeds)" ] || fail "other weights were loaded"
    ;;
narrow)
    # A launcher ends all when more data are on their way to a process than a pipe holds.
    command -v python3 >/dev/null || { echo "no python3 here" && exit 77; }
    cat >few <<'PYTHON'
import os, sys, time
most = 0
while data := os.read(0, 1 << 20):
    most = max(most, len(data))
    if most > 32768:
        sys.exit(f"too slow: {most} bytes are on their way")
    os.write(1, data)
    time.sleep(0.002)
open("most", "w").write(f"{most}\n")
PYTHON
    start narrow 'python3 few | bash $LAUNCH $n "$@"'
    train 0 --devices virt:2 --epochs 1 --seed 5 --save one.weights
    train 0 --devices virt:2 --epochs 1 --seed 5 --save many.weights --launcher "narrow {n}"
    cmp one.weights many.weights || fail "other weights"
    [ "$(cat most)" -ge 8192 ] || fail "nothing long went through it: $(cat most)"
    ;;
killed | stopped)
    signal=KILL && [ "$case" = killed ] || signal=STOP
    in_a_while kill "-$signal" &
    train 1 --devices virt:2 --epochs 100000 --launcher "good {n}" --timeout 2 --out a.jsonl
    wait
    if [ "$case" = killed ]; then
        says 'process [01] of 2 \(host [^ ]+, process [0-9]+\)'
    else
        says 'rank [01] \(host [^ ]+, process [0-9]+\) did not join [a-z]+ [0-9]+ within 2.0 s'
    fi
    trained=$(grep -c '^epoch' err)
    [ "$trained" -ge 1 ] || fail "no epoch was trained"
    [ "$(grep -c '"train_loss":' a.jsonl)" -ge "$trained" ] || fail "epochs that were trained are lost"
    ;;
interrupted)
    # A background job of a shell ignores SIGINT.
    "$lockstep" train --mode ddp --devices virt:2 --epochs 100000 --launcher "good {n}" --out a.jsonl --save a.weights >out 2>err &
    pid=$! status=0
    stop() { kill -TERM "$pid"; }
    in_a_while stop
    expect_end 130 "$pid"
    says 'interrupted (after step [0-9]+ of|in the test after) epoch [0-9]+ of 100000, whose weights are in a.weights'
    train 0 --devices virt:2 --epochs 0 --load a.weights --launcher "good {n}" --require 90
    ;;
data)
    # One of the processes runs in another folder.
    start apart 'bash $LAUNCH $n moved "$@"'
    start moved '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" = 0 ] || cd there; exec "$n" "$@"'
    mkdir there
    for row in 1,0 2,1 3,0 4,1 5,0 6,1 7,0 8,1 9,0 10,1; do echo $row; done >own.csv
    train 2 --data own.csv --devices virt:2 --launcher "apart {n}" --epochs 0
    says 'process 1 of 2 \(host [^ ]+, process [0-9]+\): data .own.csv. is neither'
    sed 's/^9,0/9,1/' own.csv >there/own.csv
    train 2 --data own.csv --devices virt:2 --launcher "apart {n}" --epochs 0
    says 'process 1 of 2 .*own.csv has other data here than where the training was asked for'
    cp own.csv there
    train 0 --data own.csv --devices virt:2 --launcher "apart {n}" --epochs 1
    ;;
launchers)
    start nothing 'exit 0'
    train 1 --devices virt:2 --launcher "nothing {n}"
    says 'process 0 of 2 has not begun, and 1 more'
    start loud 'echo "a banner" && printf "lockstep-says-2 0 0 00000000 ended ok\nhalf"
        bash $LAUNCH $n "$@" && printf "the end"'
    train 0 --devices virt:2 --launcher "loud {n}" --epochs 1
    start fewer 'exec bash $LAUNCH 1 "$@"'
    train 1 --devices virt:2 --launcher "fewer {n}"
    says 'process 0 of 1 .* was told of 2 processes, there are 1'
    ;;
unheard)
    start drops 'exec bash $LAUNCH $n "$@" > >(grep -av --line-buffered "lockstep-says-1 1 0 ")'
    train 1 --devices virt:2 --launcher "drops {n}" --epochs 1 --save a.weights
    says 'message 1 of process 1 comes where 0 has to'
    start mutes 'exec bash $LAUNCH $n "$@" > >(grep -av --line-buffered "lockstep-says-1 1 ")'
    train 1 --devices virt:2 --launcher "mutes {n}" --epochs 1 --save a.weights --timeout 2
    says 'process 1 of 2 has not begun'
    [ ! -e a.weights ] || fail "something was saved"
    ;;
lies)
    # An answer of process 0, or a request to it, is changed on its way, and has a right checksum.
    command -v python3 >/dev/null || { echo "no python3 here" && exit 77; }
    cat >lie <<'PYTHON'
import os, re, sys
asks, pattern, to = sys.argv[1] == "asks", sys.argv[2].encode(), sys.argv[3].encode()
def sum_of(number, rest):
    sum = 2166136261
    for byte in [0, int(number)] + list(rest):
        sum = (sum ^ byte) * 16777619 & 0xFFFFFFFF
    return b"%08x" % sum
def said(match):
    number, sum, rest = match.groups()
    if sum_of(number, rest) != sum: # another line stands within it
        return match[0]
    rest = re.sub(pattern, to, rest)
    return b"lockstep-says-1 0 %s %s %s" % (number, sum_of(number, rest), rest)
# A long request comes in pieces, each of which is waited for.
while line := os.read(0, 65536) if asks else sys.stdin.buffer.readline():
    if asks:
        line = re.sub(pattern, to, line)
    else:
        line = re.sub(rb"lockstep-says-1 0 (\d+) ([0-9a-f]+) (.* .*)", said, line)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
PYTHON
    start tells 'exec bash $LAUNCH $n "$@" > >(python3 lie tells "$from" "$to")'
    start asks 'exec 3<&0 && exec bash $LAUNCH $n "$@" < <(python3 lie asks "$from" "$to" <&3) 3<&-'
    # lie WHO FROM TO WORDS
    lie() {
        export from=$2 to=$3
        train 1 --devices virt:2 --launcher "$1 {n}" --epochs 1 --seed 5 --timeout 5 --save a.weights
        says "$4"
        [ ! -e a.weights ] || fail "weights were saved: $*"
    }
    answer='process 0 of 2 .* has another answer than process 0 gave for all'
    lie tells '"values":"[0-9a-f]{8}' '"values":"0000803f' 'the processes have other parameters than are here'
    lie tells '"steps":"[0-9a-f]{8}' '"steps":"0000803f' "$answer"
    lie tells '"digest":"[0-9a-f]{8}' '"digest":"00000000' "$answer"
    request='process 0 of 2 .* got another request than was sent'
    lie asks '"values": ?"[0-9a-f]{8}' '"values":"0000803f' "$request"
    lie asks '"options": ?"[0-9a-f]{8}' '"options":"0000803f' "$request"
    lie asks '"seed": ?"5"' '"seed":"6"' "$request"
    lie asks '"epoch": ?1' '"epoch":2' "$request"
    ;;
zero)
    # All products of one of the ranks are 0.
    start odd '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" != "$who" ] || export LD_PRELOAD=$WRONG
        exec "$n" "$@"'
    export WRONG=$wrong WRONG_PRODUCT=zero who
    for who in 0 1; do
        # The mean of three ranks rounds: a process that is right by its own reference gets the
        # other outputs.
        for ranks in 2 3; do
            train 1 --backend cpu-cblas --devices "virt:$ranks" --launcher 'good {n} odd' --epochs 1 --save a.weights
            says "process [0-9] of $ranks .*: the step before the first one: mlp:64,128,10(, set 0|: probe): "
            [ ! -e a.weights ] || fail "something was saved"
        done
    done
    # The process that asks tests its answers, and a training in one process is tested in the same
    # way.
    for where in "host" "virt:2" "virt:3" "virt:2 --mode ddp" "virt:3 --mode ddp"; do
        # shellcheck disable=SC2086 # words
        for epochs in 1 0; do
            # shellcheck disable=SC2086 # words
            if LD_PRELOAD=$wrong "$lockstep" train --backend cpu-cblas --epochs $epochs --devices $where >out 2>err; then
                fail "nothing is wrong on $where in $epochs epochs"
            fi
            says '^lockstep train: the step before the first one: mlp:64,128,10, set 0: output'
        done
    done
    ;;
sum)
    # The numbers of a rank are zeros for all others: each process alone is right, and all have the
    # same sums. If the number of ranks is no power of two, results are verified within bounds.
    start odd '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" != "$who" ] || export LD_PRELOAD=$SUM
        exec "$n" "$@"'
    export SUM=$sum who
    for list in 2:0 3:0 3:2 5:3 6:5; do
        who=${list#*:}
        train 1 --devices "virt:${list%:*}" --launcher 'good {n} odd' --epochs 1 --save a.weights
        says "process [0-9] of ${list%:*} .*: the step before the first one: mlp:64,128,10(, set 0|: probe): gradient"
        [ ! -e a.weights ] || fail "something was saved"
    done
    # Each process has several ranks, there are AdamW with clipping, and a model of convolutions.
    who=1
    for model in "gpt-tiny --data text:fox.txt" "cnn"; do
        yes 'the quick brown fox jumps over the lazy dog; ' | head -c 1000 >fox.txt || true
        # shellcheck disable=SC2086 # words
        train 0 --devices virt:6 --per-process 2 --launcher 'good {n}' --epochs 0 --model $model
        # shellcheck disable=SC2086 # words
        train 1 --devices virt:6 --per-process 2 --launcher 'good {n} odd' --epochs 1 --model $model
        says 'the step before the first one: [a-z:0-9,-]*: probe: '
    done
    ;;
batch)
    # In the second epoch a row of a batch differs in one of the processes.
    start odd '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" != "$who" ] || export LD_PRELOAD=$BATCH
        exec "$n" "$@"'
    export BATCH=$batch WRONG_BATCH=1000000 who=0
    train 0 --devices virt:2 --launcher 'good {n} odd' --epochs 2
    for list in 0:40 1:500; do
        IFS=: read -r who WRONG_BATCH <<<"$list"
        train 1 --devices virt:2 --launcher 'good {n} odd' --epochs 2 --save a.weights
        says '^lockstep train: the devices had other rows than those of the batch$'
        [ ! -e a.weights ] || fail "something was saved"
    done
    ;;
message)
    # One bit of one message of a process is flipped, of gradients (WRONG_BYTES) or of anything
    # else.
    start odd '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" != "$who" ] || export LD_PRELOAD=$MESSAGE
        exec "$n" "$@"'
    export MESSAGE=$message WRONG_MESSAGE=100000 WRONG_BYTES=4000 who=0
    train 0 --devices virt:2 --launcher 'good {n} odd' --epochs 2
    for list in 0:1:0 1:1:4000 0:90:4000 1:90:0; do
        IFS=: read -r who WRONG_MESSAGE WRONG_BYTES <<<"$list"
        train 1 --devices virt:2 --launcher 'good {n} odd' --epochs 2 --save a.weights
        says "data of (rank|process) $who (of 2 )?\\(host [^ ]+, process [0-9]+\\) changed on their way, in [a-z]+ [0-9]+ or before"
        [ ! -e a.weights ] || fail "something was saved"
    done
    ;;
against)
    # The bits are those of ranks in one process, so the comparison is the same.
    for list in virt:2 virt:3; do
        two=(--devices "$list" --epochs 1 --seed 5 --against virt:1)
        train 0 "${two[@]}" --save one.weights --out one.jsonl
        mv out one
        train 0 "${two[@]}" --save many.weights --out many.jsonl --launcher "good {n}"
        cmp one.weights many.weights || fail "other weights of $list"
        diff <(grep -v '^ *exact\|^   *8 of' one) <(grep -v '^exact' out) || fail "another comparison"
        grep -q "^$list against virt:1: holds$" out || fail "it does not hold"
        grep -q '^exact steps: none: each process has verified a step by itself$' out || fail "$(cat out)"
        rm one.* many.*
    done
    # A product is wrong after the verified steps: compared step by step it is another training.
    start odd '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK-}}" = 0 ] || export LD_PRELOAD=$WRONG
        exec "$n" "$@"'
    export WRONG=$wrong WRONG_PRODUCT=100
    train 1 --backend cpu-cblas --devices virt:2 --epochs 1 --against virt:1 --launcher 'good {n} odd'
    grep -q '^real data: BEYOND THE BOUND from step [0-9]* on: ' out || fail "$(cat out)"
    ;;
options)
    bad() {
        local text=$1 status=0
        shift
        "$lockstep" train --out a.jsonl "$@" >out 2>err || status=$?
        [ "$status" = 2 ] || fail "exit status $status, not 2: $*"
        grep -q -- "$text" err || fail "no '$text': $*"
        [ ! -e a.jsonl ] || fail "a file was made: $*"
    }
    bad "'mpiexec' has no {n}" --launcher mpiexec
    bad "there is no program 'no-such'" --launcher 'no-such {n}'
    bad "does not go with --mode dp" --launcher 'good {n}' --mode dp
    bad "needs --against LIST" --launcher 'good {n}' --against-communicator staged
    bad "does not go with --communicator" --launcher 'good {n}' --communicator staged
    bad "the devices are virtual ones" --launcher 'good {n}' --devices host
    bad "do not fail on purpose" --launcher 'good {n}' --devices virt:2+fault:sync@7
    bad "4 devices are no multiple of it" --launcher 'good {n}' --devices virt:4 --per-process 3
    status=0
    "$lockstep" train --launcher 'good {n}' --devices virt:2 --require-devices 3 >out 2>err || status=$?
    [ "$status" = 1 ] || fail "exit status $status of too few devices, not 1"
    says "--require-devices 3: 'virt:2' has 2"
    bad "need --launcher" --per-process 2
    bad "need --launcher" --timeout 2
    bad "outside 1 to" --launcher 'good {n}' --timeout 0.5
    ;;
*) echo "unknown case '$case'" && exit 2 ;;
esac
left
