#!/usr/bin/env bash
# The results of `lockstep check` for bad implementations: the exit status, the verdict, and the
# cause in words; no bad one passes. usage: hostile.sh LOCKSTEP FOLDER OBJECTS SERVE GROUP
set -eu

# shellcheck source=/dev/null
. "$(dirname -- "${BASH_SOURCE[0]}")/../cli/common.sh"
lockstep=$1
objects=$3
serve=$4
group=$5
seconds=120 # for a command

# check STATUS WORDS OPTIONS..: runs it; the output must have the words, wherever its lines break.
check() {
    wanted=$1
    words=$2
    shift 2
    status=0
    timeout "$seconds" "$lockstep" check "$@" >out 2>err || status=$?
    tr -s ' \n' ' ' <out >flat
    [ "$status" -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
    grep -qF -- "$words" flat || fail "'$words' is not in what it said: $*"
    # Failures, and how far it is after half a minute.
    ! grep -Ev '^(FAIL|BROKEN) [A-Z]+-[0-9]+[.][a-z_]+: |^\[[0-9]+/[0-9]+\] [A-Z]+-[0-9]+[.][a-z_]+' err || fail "it complained: $*"
    if [ "$(cat out err | LC_ALL=C tr -d '\n\040-\176' | wc -c)" -ne 0 ]; then
        fail "unprintable characters: $*"
    fi
    tried=$((tried + 1))
}

# bad VERDICT CASE WORDS OPTIONS..: one case must have that verdict, and must not pass.
bad() {
    verdict=$1
    case=$2
    words=$3
    shift 3
    status=2
    [ "$verdict" = BROKEN ] || status=1
    check "$status" "$verdict $case " --only "$case" "$@"
    grep -qF -- "$words" flat || fail "'$words' is not the cause: $*"
    grep -qF -- " 0 of 1 cases passed" flat || fail "something passed: $*"
}

# habit VERDICT NAME CASE WORDS: the same with habit.so.
habit() {
    bad "$1" "$3" "$4" --impl "$objects/habit.so" --impl-options "$2"
}

# An implementation cannot be tested at all, for that cause. --fault: it is its fault, and a
# failure.
untestable() {
    wanted=2
    if [ "$1" = --fault ]; then
        wanted=1
        shift
    fi
    cause=$1
    shift
    check "$wanted" "could not be tested: " --only SPLIT-01.sizes,SPLIT-01.order "$@"
    grep -qF -- "$cause" flat || fail "'$cause' is not the cause: $*"
    grep -qF -- "2 cases were not run" flat || fail "something was run: $*"
}

# A zombie has ended; it does not matter which process collects it.
lives() {
    state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) || state=
    case $state in
    '' | Z* | X*) return 1 ;;
    esac
}

# On a busy machine a killed process takes a moment to end.
nobody_stays() {
    [ -s stayed ] || fail "nobody was to stay, so this shows nothing"
    while read -r process; do
        for _ in $(seq 100); do
            lives "$process" || break
            sleep 0.1
        done
        if lives "$process"; then fail "process $process stays: $state"; fi
    done <stayed
}

group_load() {
    untestable "has no symbol lockstep_impl" --impl "$objects/no_symbol.so"
    untestable --fault "the process died of signal 11 (Segmentation fault), in load" \
        --impl "$objects/load_crash.so"
    untestable "its table has version 7, this suite 1" --impl "$objects/version.so"
    untestable "its table has 64 bytes, version 1 has " --impl "$objects/short.so"
    untestable "its table lacks open, close or reset" --impl "$objects/no_open.so"
    untestable "does not know version 1 of impl.h" --impl "$objects/unknown.so"
    untestable "open: it claims a capability and has no operation for it" \
        --impl "$objects/no_split.so"
    untestable "cannot load: ./there-is-none.so" --impl ./there-is-none.so
    printf 'not an object' >text.so
    untestable "cannot load: ./text.so" --impl ./text.so
    untestable "unknown implementation 'vendor'" --impl vendor
    untestable "unknown mutant 'M99'; known: none" --impl mutant:M99
}

group_open() {
    while IFS='|' read -r name cause; do
        untestable --fault "$cause" --impl "$objects/habit.so" --impl-options "$name"
    done <<'END'
open-crashes|the process died of signal 11 (Segmentation fault), in open
open-exits|the process ended with status 0 and without an answer, in open
close-crashes|the process died of signal 11 (Segmentation fault), in close
END
    while IFS='|' read -r name cause; do
        untestable "$cause" --impl "$objects/habit.so" --impl-options "$name"
    done <<'END'
open-forgets|open failed (ok)
open-no-name|open: it has no name
open-many-devices|open: its number of devices is not 0..64
open-negative-devices|open: its number of devices is not 0..64
open-rubbish-dialect|open: a dialect is declared with a choice that it does not have
no-such-habit|open failed (inval): no habit 'no-such-habit'
END
    rm -f opened
    habit BROKEN open-shrinks SPLIT-02.idle "open reports a different number of devices than the first time"
    habit FAIL open-host-devices CPU-01.values "a session with host_only has devices"
    # A habit that is no fault must not become one.
    check 0 "1 of 1 cases passed" --only SPLIT-01.order --impl "$objects/habit.so"
    check 0 "1 of 1 cases passed" --only SPLIT-01.order --impl "$objects/habit.so" \
        --impl-options open-noise
}

group_scatter() {
    while IFS='|' read -r verdict name cause; do
        habit "$verdict" "$name" SPLIT-01.order "$cause"
    done <<'END'
FAIL|scatter-crashes|the process died of signal 11 (Segmentation fault), in scatter
FAIL|scatter-aborts|the process died of signal 6 (Aborted), in scatter
FAIL|scatter-exits|the process ended with status 0 and without an answer, in scatter
FAIL|scatter-recurses|the process died of signal 
FAIL|scatter-closes|and without an answer
FAIL|scatter-forges|something other than the suite wrote into the pipe for answers
BROKEN|scatter-broken|scatter: the adapter lost its licence server
BROKEN|reset-fails|reset failed (fault): somebody still holds device 2
FAIL|scatter-behind|scatter wrote outside an output's room of
FAIL|scatter-before|scatter wrote outside an output's room of
FAIL|scatter-input|scatter wrote into an input array of the caller
FAIL|scatter-nan|is nan (0x7fc00000), must be 3 (0x40400000)
FAIL|scatter-device|its device: 0, must be 2
FAIL|scatter-unfilled|there is none
FAIL|scatter-no-count|scatter: -7 shards, must be 0..1
FAIL|scatter-ndim|scatter: an output has 1048576 dimensions
FAIL|scatter-dtype|scatter: an output has the unknown type 77
FAIL|scatter-dim|scatter: an output's shape does not fit its room of
FAIL|scatter-status|scatter returned the status 4711, which impl.h does not know
FAIL|scatter-no-reason|scatter returned the status 1, its error says 1 ''
FAIL|scatter-lies|scatter returned 0 and filled an error: in fact it did not work
FAIL|scatter-raw-reason|scatter failed (inval): ????????
END
    habit FAIL never-refuses SPLIT-09.scatter "must be refused and was accepted"
    bad FAIL SPLIT-01.order "no answer after 0.5 s, in scatter; killed" \
        --impl "$objects/habit.so" --impl-options scatter-stops --limit 0.5
    rm -f stayed
    check 0 "1 of 1 cases passed" --only SPLIT-09.scatter \
        --impl "$objects/habit.so" --impl-options scatter-forks
    nobody_stays
    grep -qF "processes, left running by 1 case, were killed; the first: 'lockstep', by SPLIT-09.scatter" \
        flat || fail "nothing was said of who stayed"
    check 0 "1 of 1 cases passed" --only SPLIT-08.accepted \
        --impl "$objects/habit.so" --impl-options scatter-noise
}

group_models() {
    bad FAIL GRAD-01.ones "no answer after 0.5 s, in forward; killed" \
        --impl "$objects/habit.so" --impl-options forward-hangs --limit 0.5
    habit FAIL backward-crashes GRAD-01.ones \
        "the process died of signal 11 (Segmentation fault), in backward"
    habit FAIL get-nan GRAD-01.ones "gradient of parameter 0: element 0 is nan (0x7fc00000)"
    habit FAIL forward-leaks COMP-12.resident "bytes that every 16 steps add to the process"
}

# From here on lockstep runs in a locale whose numbers have a comma, made in this folder. Returns 1
# if it cannot be made here.
comma() {
    command -v localedef >localedef.txt 2>&1 && mkdir -p locale &&
        localedef -i de_DE -f UTF-8 locale/de_DE.UTF-8 >localedef.txt 2>&1 || return 1
    printf '#!/bin/sh\nLOCPATH=%s/locale LC_ALL=de_DE.UTF-8 exec %s "$@"\n' "$PWD" "$lockstep" >in-comma
    chmod +x in-comma
    lockstep=$PWD/in-comma
}

# Changes that a call leaves, memory that it reaches for, and results that it pretends.
group_walls() {
    while IFS='|' read -r name cause; do
        habit FAIL "$name" SPLIT-01.order "$cause"
    done <<'END'
rounds|scatter changed the rounding mode: it was to nearest, it is upward
traps|scatter changed the floating-point exceptions that raise a signal: they were 0x0, they are 0x4
signals|scatter changed the signal mask: signal 2 (Interrupt) is blocked
input-behind|scatter wrote outside an input array of
input-before|: byte 1 before it
reads-far|the process died of signal 11 (Segmentation fault), in scatter; it touched memory 4096 bytes behind an input array of
scatter-crashes|the process died of signal 11 (Segmentation fault), in scatter
refuses-all|scatter failed (inval): no
END
    case $(uname -m) in
    x86_64) habit FAIL flushes SPLIT-01.order "scatter changed flush-to-zero: it is on" ;;
    *) echo "hostile.sh walls: flush-to-zero was not tried on $(uname -m)" ;;
    esac
    # The same in the process of the cases: there only the forger is not found out.
    while IFS='|' read -r name cause; do
        bad FAIL SPLIT-01.order "$cause" --impl "$objects/habit.so" --impl-options "$name" --same-process
    done <<'END'
rounds|scatter changed the rounding mode: it was to nearest, it is upward
signals|scatter changed the signal mask: signal 2 (Interrupt) is blocked
input-behind|scatter wrote outside an input array of
input-before|: byte 1 before it
reads-far|the process died of signal 11 (Segmentation fault), in scatter
END
    check 0 "and could have written a result" --only SPLIT-01.order --impl "$objects/habit.so" \
        --impl-options forges-pass --same-process
    # It searches for the token of results in its memory, then in that of its parent.
    rm -f forged
    habit FAIL forges-pass SPLIT-01.order "the process ended with status 0 and without an answer, in scatter"
    grep -q '^files 0, memory ' forged || fail "it reached files: $(cat forged)"
    if grep -q 'memory open' forged; then fail "it reached our memory"; fi
    # A process leaves its group and its session.
    rm -f stayed
    check 0 "1 of 1 cases passed" --only SPLIT-09.scatter --impl "$objects/habit.so" --impl-options stays
    nobody_stays
    grep -q "^caution .*left running by 1 case" out || fail "nothing was said of who stayed"
    # Without ranks most of a profile is skipped; a skipped part does not count for it.
    check 77 "because of too few devices" --profile ddp --jobs 2 --impl "$objects/habit.so" \
        --impl-options no-ranks
    check 1 "FAIL PROFILE.ddp.devices " --profile primitives,ddp --jobs 2 --impl "$objects/habit.so" \
        --impl-options no-ranks
    grep -qF "profile ddp needs 2 devices, or as many ranks: " flat || fail "no reason"
    check 1 "FAIL SPLIT-09.scatter " --only SPLIT-09.scatter --impl "$objects/habit.so" \
        --impl-options refuses-all
    check 1 "SPLIT-09.scatter" --area SPLIT --profile primitives --jobs 2 --impl "$objects/habit.so" \
        --impl-options refuses-all
    grep -qF ": 0 of " flat || fail "refusing everything passes something"
    check 0 "1 of 1 cases passed" --only SPLIT-01.order --impl "$objects/habit.so" \
        --impl-options rounds-back
    comma || { echo "hostile.sh walls: no locale with a comma can be made here: $(cat localedef.txt)" && return; }
    habit FAIL locale SPLIT-01.order "scatter changed the locale: it was 'C', it is 'de_DE.UTF-8'"
    # Locales that a call sets and restores, and the locale of the user, change nothing.
    check 0 "cases passed" --only 'SPLIT-*,GRAD-01.*,GRAD-02.*,DDP-02.*' --jobs 2 --impl "$objects/habit.so" \
        --impl-options locale-inside
}

# If the system lacks something that is needed, that is reported.
group_poor() {
    run="--only SPLIT-09.scatter --impl $objects/habit.so --impl-options"
    rm -f stayed
    # shellcheck disable=SC2086
    LD_PRELOAD=$objects/no_subreaper.so check 0 "processes that are left running cannot be found on this system" \
        $run stays
    while read -r process; do kill -9 "$process"; done <stayed
    rm -f stayed
    # shellcheck disable=SC2086
    LD_PRELOAD=$objects/no_proc.so check 0 "a process was left running that could not be found and killed" \
        $run stays
    while read -r process; do kill -9 "$process"; done <stayed
    # shellcheck disable=SC2086
    LD_PRELOAD=$objects/no_dumpable.so check 0 "could have looked into the suite and written a result" \
        $run none
}

group_exec() {
    # Devices that are required and are not there are a failure, which says how many there are, and why.
    # shellcheck disable=SC2016 # for the shell that runs it
    none='read x; echo '\''{"id":1,"error":{"status":"nodev","text":"found no GPU (no driver)","replica":null,"device":null,"device_also":null}}'\''; cat'
    untestable 'open failed (nodev): found no GPU (no driver)' --impl "exec:$none"
    untestable --fault 'tested: --require-devices 2: found no GPU (no driver)' --impl "exec:$none" --require-devices 2
    while IFS='|' read -r cause command; do
        untestable "$cause" --impl "exec:$command"
    done <<'END'
open: the process ended with status 3|exit 3
open: the process ended with status 0|true
open: the process ended with status 127; its last words: sh: 1: |there-is-no-such-command
open: the process died of signal 9 (Killed)|kill -KILL $$
open: the process died of signal 11 (Segmentation fault); its last words: no licence|sh -c 'echo no licence >&2; kill -SEGV $$'; exit $?
: 'hello|echo hello; cat >/dev/null
open: the answer must have one of 'ok' and 'error'|cat
open: 'name' is missing|read x; echo '{"id":1,"ok":{}}'; cat
open: name is not a text|read x; echo '{"id":1,"ok":{"name":7}}'; cat
open: capabilities[0] 'spilt' is not a capability|read x; echo '{"id":1,"ok":{"name":"n","version":"1","devices":[],"capabilities":["spilt"],"dialects":{}}}'; cat
open: devices is not a list of at most 64 names|read x; echo '{"id":1,"ok":{"name":"n","version":"1","devices":2,"capabilities":[],"dialects":{}}}'; cat
open: dialects.empty_ids 'zero' is none of: refuse, all, call|read x; echo '{"id":1,"ok":{"name":"n","version":"1","devices":[],"capabilities":[],"dialects":{"empty_ids":"zero"}}}'; cat
no ?[2J gpu|read x; echo '{"id":1,"error":{"status":"nodev","text":"no \u001b[2J gpu"}}'; cat
END
    while IFS='|' read -r verdict mode cause; do
        bad "$verdict" SPLIT-01.sizes "$cause" --impl "exec@0.5:exec '$serve' mutant:none $mode"
    done <<'END'
BROKEN|rubbish|split: the answer is not a JSON object: 'Loading weights?[31m... done'
BROKEN|half|split: only half a line within 0.5 s: '{"id":3,"ok":
BROKEN|half-and-die|split: the process ended in the middle of a line
BROKEN|gigabyte|split: wrote more than the 1048576 bytes that an answer can have
BROKEN|wrong-id|split: the answer does not have the id 3 of the request: '{"id":4,
BROKEN|no-ok|split: the answer must have one of 'ok' and 'error'
BROKEN|twice|split: wrote more than one line
BROKEN|nan|split: the answer is not a JSON object
BROKEN|overflow|split: the answer is not a JSON object
BROKEN|negative|split: size is not an integer of 0 or more
FAIL|silent|split: no answer within 0.5 s
BROKEN|close|split: the process closed its output without an answer
BROKEN|leave|split: the process ended with status 0
FAIL|crash|its last words: RuntimeError: device 3 fell off the bus
BROKEN|orphan|split: the process ended with status 5
BROKEN|no-status|split: error.status 'sorry' is not a status
FAIL|many|split: the answer has more than there is room for
END
    while IFS='|' read -r mode cause; do
        bad BROKEN SPLIT-01.sizes "$cause" --impl "exec:exec '$serve' mutant:none $mode"
    done <<'END'
bomb|split: wrote more than the 1048576 bytes
nested|split: the answer is not a JSON object: '{"id":3,"ok":[[[[
list|split: the answer is not a JSON object: '[1,2,3]'
text-id|split: the answer does not have the id 3 of the request
both|split: the answer must have one of 'ok' and 'error'
empty-ok|split: 'size' is missing
digits|split: size is not an integer of 0 or more
fraction|split: size is not an integer of 0 or more
ok-status|split: error.status 'ok' is not a status
no-text|split: error.text is empty
END
    while IFS='|' read -r verdict mode cause; do
        bad "$verdict" SPLIT-01.order "$cause" \
            --impl "exec:exec '$serve' mutant:none $mode scatter"
    done <<'END'
BROKEN|wrong-sizes|scatter: shards[0].data has 24 digits, the dims and dtype need 2 times 252
BROKEN|overflowing-sizes|scatter: shards[0].data has 24 digits, the dims
BROKEN|many-dims|scatter: shards[0].dims has 6 entries, it may have 5
BROKEN|no-hex|scatter: shards[0].data has a character that is not a hexadecimal digit
BROKEN|no-dtype|scatter: shards[0].dtype 'bf16' is not a type
BROKEN|no-device|scatter: shards[0].device is 4294967296, it must be -1..63
FAIL|large|scatter: the answer has more than there is room for
END
    # A bad implementation is in another process, whose protocol is right: the causes are the same.
    bad FAIL SPLIT-01.order "scatter: the process died of signal 11 (Segmentation fault)" \
        --impl "exec:exec '$serve' '$objects/habit.so'" --impl-options scatter-crashes
    bad FAIL SPLIT-01.order "is nan (0x7fc00000), must be 3 (0x40400000)" \
        --impl "exec:exec '$serve' '$objects/habit.so'" --impl-options scatter-nan
    bad FAIL COMP-12.resident "bytes that every 16 steps add to the process" \
        --impl "exec:exec '$serve' '$objects/habit.so'" --impl-options forward-leaks
    # After a death the next case gets a new process.
    check 1 "2 of 3 cases passed" --only SPLIT-01.order,SPLIT-03.count,SPLIT-04.sizes \
        --impl "exec:exec '$serve' mutant:none crash scatter"
    # One process serves the cases of all areas, and with --isolate each has its own; the first tells what it offers.
    while read -r starts more; do
        rm -f starts
        # shellcheck disable=SC2086
        check 0 "3 of 3 cases passed" --only SPLIT-01.order,SPLIT-03.count,GATH-01.order $more \
            --impl "exec:echo >>starts; exec '$serve' mutant:none"
        [ "$(wc -l <starts)" -eq "$starts" ] || fail "$(wc -l <starts) processes, not $starts: $more"
    done <<'END'
2
3 --jobs 3
4 --isolate
END
    # If three cases in a row hang, the rest of their area is not run, and the next area is.
    check 2 "1 of 5 cases passed, 3 failed, 1 broken" --only SPLIT-01.sizes,SPLIT-01.large,SPLIT-01.known,SPLIT-03.count,GATH-01.order \
        --timeout 2 --impl "exec:exec '$serve' mutant:none silent"
    grep -qxF "BROKEN SPLIT-03.count: not run: three cases in a row gave no answer in time" err || fail "not given up"
    # Neither a process that stays nor much output, where that is allowed, is a fault.
    check 0 "1 of 1 cases passed" --only SPLIT-03.count \
        --impl "exec:exec '$serve' mutant:none background"
    check 0 "1 of 1 cases passed" --only SPLIT-03.count \
        --impl "exec:exec '$serve' mutant:none talkative"
}

# Without the capability to join, as each adapter that is older than it: what joins is skipped and
# said to be, and the rest of COUNT-04 is tested. A bug in that rest is caught with and without it.
group_join() {
    joins='DDP-08.join DDP-19.divisor DDP-19.many DDP-20.last DDP-20.tie'
    cases="COUNT-04.*,${joins// /,}"
    old="--impl $objects/habit.so --impl-options no-join"
    for impl in "$old" "--impl mutant:none"; do
        # shellcheck disable=SC2086
        check 0 " cases passed" $impl --only "$cases" --format json --out join.json
        tr -d ' \n' <join.json | grep -oE '"id":"[^"]*"|"verdict":"[A-Z]*"' | paste -d ' ' - - >verdicts
        [ "$(grep -cE '^"id":"COUNT-04\..*"PASS"' verdicts)" -eq 9 ] || fail "COUNT-04 of $impl: $(cat verdicts)"
        skipped=
        [ "$impl" != "$old" ] || skipped=$joins
        [ "$(sed -n 's/^"id":"\(.*\)" .*"SKIP"$/\1/p' verdicts | paste -s -d ' ')" = "$skipped" ] ||
            fail "skipped of $impl, not '$skipped': $(cat verdicts)"
    done
    # shellcheck disable=SC2086
    check 0 "skipped 5 cases: not offered: the implementation does not have 'join' $joins " $old --only "$cases"
    grep -qF "adamw, strides, half, scalars, calls; not claimed (not tested): join, double skipped 5 cases" flat || fail "join is claimed: $(cat flat)"
    grep -qF ": 9 of 14 cases passed, 5 skipped (5 not offered: join)" flat || fail "no number of what is not offered"
    check 77 "claimed nothing; not claimed (not tested): split, " --only SPLIT-01.sizes \
        --impl "exec:'$serve' mutant:none | sed -u 's/\"capabilities\":\[[^]]*]/\"capabilities\":[]/'"
    check 0 "1 of 1 cases passed" --only SPLIT-01.sizes
    if grep -q claimed flat; then fail "the reference's claims are not for review"; fi
    # No profile asks for it, so the profile passes; joins alone are no pass.
    # shellcheck disable=SC2086
    check 0 "(6 not offered: join, double)" $old --profile ddp --area DDP,COUNT --jobs 2
    # shellcheck disable=SC2086
    check 77 "(5 not offered: join)" $old --only "${joins// /,}"
    # The same word by the protocol; S31 is the bug of the join.
    while read -r without bug case; do
        bad FAIL "$case" "$case (must)" --impl "mutant:$bug"
        only="--only $case --impl"
        # shellcheck disable=SC2086
        check "$without" " cases passed" $only "exec:'$serve' mutant:$bug | sed -u 's/,\"join\"//'"
        grep -qF "not claimed (not tested): join" flat || fail "join is claimed"
    done <<'END'
1 S29-ddp-five COUNT-04.five
1 S30-ddp-buffers-four COUNT-04.seven
0 S31-ddp-join-six COUNT-04.six
1 S32-ddp-nine COUNT-04.more
1 S33-ddp-seven-lost COUNT-04.seven
1 S34-ddp-eight COUNT-04.eight
END
}

# Cases that pass in this process pass through a pipe, one by one. Cases that send the most numbers,
# or thousands of small messages, are left out: they take as long as all others together.
group_pipe() {
    seconds=270
    cases='[!CDS]*,DDP-0*,DDP-1[0-36-9]*,DDP-[23]*,DET*,DEV*,DIM*'
    cases=$cases',CPU*,COAL*,COST*,COUNT*,COMP-0*,COMP-1[0134]*,COMP-12.in*,SPLIT*,STRUCT*,SHAPE*,SIZE-04*'
    check 0 " cases passed" --jobs 2 --impl mutant:none --only "$cases" --format json --out here.json
    check 0 " cases passed" --jobs 2 --impl "exec:exec '$serve' mutant:none" --only "$cases" \
        --format json --out there.json
    grep -oE '"(id|verdict)": *"[^"]*"' here.json >here
    grep -oE '"(id|verdict)": *"[^"]*"' there.json >there
    [ "$(wc -l <here)" -gt 900 ] || fail "too few verdicts"
    cmp here there || fail "a pipe makes a difference: $(diff here there | head -5)"
}

tried=0
"group_$group"
[ "$tried" -gt 0 ] || fail "nothing was tried"
echo "hostile.sh $group: $tried commands"
