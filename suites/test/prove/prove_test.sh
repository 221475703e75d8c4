#!/usr/bin/env bash
# scripts/prove from outside: its quick form passes; with one rule of a program broken it is a FAIL;
# a trial, and what was not run, is no PASS; the table is put where it belongs and nowhere else.
# usage: prove_test.sh CASE PROVE BUILD FOLDER
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

name=$1 prove=$2 build=$3 folder=$4
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
enter "$folder"

# expect STATUS OPTION..
expect() {
    local wanted=$1 status=0
    shift
    "$prove" "$@" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
}

# rows VERDICT NAME N
rows() {
    [ "$(grep -cE "^$1 +$2 " out)" -eq "$3" ] || fail "not $3 rows $1 of $2"
}

# other WHICH SCRIPT: the build folder fake, in which that program is a script; $real is the true one.
other() {
    local file
    rm -rf fake
    for file in harness/lockstep suites/test/report/make_records suites/test/prove/lockstep-prove suites/test/prove/lockstep-slowed; do
        mkdir -p "fake/$(dirname $file)"
        ln -s "$build/$file" "fake/$file"
    done
    rm "fake/$1"
    printf '#!/bin/sh\nreal=%q\n%s\n' "$build/$1" "$2" >"fake/$1"
    chmod +x "fake/$1"
}

page() {
    printf '# Above\n<!-- prove:begin -->\nold\n<!-- prove:end -->\nbelow\n' >page.md
}

case $name in
quick)
    page
    expect 0 --quick --build "$build" --write page.md
    rows PASS aa-sim 5
    rows PASS power-sim 1
    rows PASS coverage 3
    rows SHOWN coverage 1
    rows PASS exact 1
    rows PASS sittings 1
    rows PASS fail-closed 1
    [ "$(head -n 2 page.md)" = $'# Above\n<!-- prove:begin -->' ] || fail 'what is above the table'
    [ "$(tail -n 2 page.md)" = $'<!-- prove:end -->\nbelow' ] || fail 'what is below the table'
    ! grep -q '^old$' page.md || fail 'the old table is still there'
    [ "$(grep -c '| PASS |$' page.md)" -eq 12 ] || fail "not all rows are in the table: $(cat page.md)"
    [ "$(grep -c '| not run yet | NOT RUN |$' page.md)" -eq 7 ] || fail "rows that were not run: $(cat page.md)"
    matches page.md '^Run of 20[0-9-]* [0-9:]* UTC, which took [0-9]* s, in its quick form[.] Commit [0-9a-f]{12}'
    matches page.md '^[0-9a-f]{12}: .*, [0-9]* cores, .*Load average [0-9.]* at the start'
    ;;
trial) # of real programs, so this can be seen to run; what it sees is no promise of this machine
    expect 3 --quick --build "$build" tail fits validate
    rows 'NOT RUN' tail 1
    matches out "^NOT RUN +fits +alpha of collectives"
    matches out 'a trial of 1: allreduce/threads/2 [0-9.]+ [(]40[)], '
    rows 'NOT RUN' validate 1
    matches out 'a trial of 1: floor EQUIVALENT in [01] of 1, and in [0-4] of 4 cells; cost [01][.][0-9]* [A-Z]*$'
    ;;
broken) # each experiment finds what it is there for
    while read -r break experiment; do
        other suites/test/prove/lockstep-prove "PROVE_BREAK=$break exec $build/suites/test/prove/lockstep-prove-broken \"\$@\""
        expect 1 --quick --build fake "$experiment"
        matches out "^FAIL +$experiment "
    done <<'LIST'
holm aa-sim
timid power-sim
interval coverage
LIST
    # shellcheck disable=SC2016
    other suites/test/prove/lockstep-prove 'exit 0'
    expect 1 --quick --build fake aa-sim
    # shellcheck disable=SC2016
    other harness/lockstep '"$real" "$@" || exit 0'
    expect 1 --quick --build fake exact fail-closed
    rows FAIL exact 1
    rows FAIL fail-closed 1
    # shellcheck disable=SC2016
    other harness/lockstep '"$real" "$@"; exit 1'
    expect 1 --quick --build fake sittings
    # shellcheck disable=SC2016
    other suites/test/prove/lockstep-slowed 'unset PROVE_BYTES; exec "$real" "$@"'
    expect 1 --quick --build fake exact
    ;;
pairs) # what is concluded from comparisons, whose records are made up
    other harness/lockstep "FOLDER=$folder . $here/fake_compare.sh"
    [ "$(nproc)" -ge 2 ] || exit 77
    expect 0 --build fake pairs neighbour one-cell tail
    rows PASS pairs 4
    rows PASS neighbour 3
    rows PASS one-cell 1
    rows PASS tail 1
    matches out '^ +found in 8; estimate in 1.04 to 1.07 in 8: 1.050 to 1.050$'
    matches out '^ +96 of 96$'
    expect 3 --rounds 7 --build fake pairs
    rows 'NOT RUN' pairs 4
    while read -r setting experiment n words; do
        printf '%s\n' "$setting" >settings
        expect 1 --build fake "$experiment"
        rows FAIL "$experiment" "$n"
        matches out "$words"
    done <<'LIST'
slow=1.2 pairs 1 estimate.in.1.04.to.1.07.in.0
slow=1.03 pairs 1 estimate.in.1.04.to.1.07.in.0
alike=EQUIVALENT pairs 2 ^.+0.of.96
apart=0.01 pairs 1 ^.+0.of.96
alarm=REGRESSED pairs 1 no.alarm.in.0
alarm=IMPROVED neighbour 1 no.alarm.in.0
alarm=INVALID pairs 1 no.alarm.in.0
alike=EQUIVALENT neighbour 2 neither.24
alike=INCONCLUSIVE neighbour 2 neither.24
alarm=REGRESSED one-cell 1 others:.5
alike=EQUIVALENT one-cell 1 it.in.0.of.5
alike=REGRESSED tail 1 floor.EQUIVALENT.in.0.of.3
cost=1 tail 1 cost.1.000.EQUIVALENT
status=3 pairs 1 aa.jsonl:.status.3
status=2 tail 1 tail.jsonl:.status.2
LIST
    ;;
validate) # what is concluded from runs of validate, whose verdicts are made up
    other harness/lockstep "FOLDER=$folder . $here/fake_validate.sh"
    while read -r wanted setting words; do
        printf '%s\n' "$setting" >settings
        expect "$wanted" --build fake validate
        matches out "$words"
    done <<'LIST'
0 alike=1 ^PASS.+validate
0 alike=1 ^.+REJECTED.and.named;.as.it.is.ACCEPTED$
0 healthy=3 ^.+REJECTED.and.named;.as.it.is.NOT.SHOWN$
1 healthy=1 ^.+status.1:.healthy.1:.REJECTED,.WRONG
1 slow=0 ^.+status.1:.slow.1:.ACCEPTED,.WRONG
1 device=0 ^.+status.1:.slow.1:.REJECTED,.WRONG
1 learned= ^.+status.2:.prove-accept:.no.profile.was.learned
LIST
    ;;
fits) # what is concluded from reports, whose numbers are made up, and one trial of real ones
    other harness/lockstep "FOLDER=$folder . $here/fake_fits.sh"
    cp --remove-destination fake/harness/lockstep fake/suites/test/prove/lockstep-slowed
    command -v gnuplot >/dev/null || exit 77
    page
    expect 0 --build fake --write page.md fits
    rows PASS fits 4
    grep -q '^| fits | alpha of collectives.* PASS |$' page.md
    matches out 'allreduce/threads/2 40 [(]40[)], allreduce/threads/4 80 [(]80[)], broadcast/threads/2 20 [(]20[)], broadcast/threads/4 60 [(]60[)], allreduce/staged/2 100 [(]100[)], broadcast/staged/2 40 [(]40[)]$'
    matches out 'allreduce/threads/2 2 [(]2[)], .*broadcast/threads/2 4 [(]4[)], .*allreduce/staged/2 0.4 [(]0.4[)], '
    matches out 'beside-30ms 0.75 [(]0.75[)], .*beside-10ms 0.3125 [(]0.3125[)]$'
    matches out '3-rows-on-2-dp 0.25 [(]0.25[)], 3-rows-on-2-ddp 0.25 [(]0.25[)], 10-rows-on-4-dp 0.1667 [(]0.1667[)]$'
    while read -r setting wanted words; do
        printf '%s\n' "$setting" >settings
        expect "$wanted" --build fake fits
        [ "$wanted" -eq 0 ] || rows FAIL fits 1
        matches out "$words"
    done <<'LIST'
alpha=1.04 0 ^PASS.+fits.+alpha
alpha=1.06 1 ^FAIL.+fits.+alpha
alpha=0.94 1 ^FAIL.+fits.+alpha
alpha=none 1 ^FAIL.+fits.+alpha
beta=1.06 1 ^FAIL.+fits.+1/beta
beta=none 1 ^FAIL.+fits.+1/beta
hidden=0.94 1 ^FAIL.+fits.+hidden
hidden=none 1 ^FAIL.+fits.+hidden
shard=1.06 1 ^FAIL.+fits.+smaller.shard
shard=none 1 ^FAIL.+fits.+smaller.shard
status=1 1 threads.jsonl:.status.1
LIST
    rm settings
    expect 3 --rounds 5 --build fake fits
    rows 'NOT RUN' fits 4
    ;;
forecast) # what is concluded from forecasts, whose numbers are made up
    other harness/lockstep "FOLDER=$folder . $here/fake_fits.sh"
    cp --remove-destination fake/harness/lockstep fake/suites/test/prove/lockstep-slowed
    while read -r setting wanted words; do
        printf '%s\n' "$setting" >settings
        expect "$wanted" --build fake forecast
        matches out "$words"
    done <<'LIST'
forecast=1 0 ^PASS.+forecast.+within.10
forecast=1 0 weak/128.66.51.[(]66.51[)],.weak/192.99.56.[(]99.56[)],.strong/128.59.01.[(]59.01[)],.strong/192.82.68.[(]82.68[)]$
forecast=1.09 0 ^PASS.+forecast
forecast=1.11 1 ^FAIL.+forecast
forecast=0.89 1 ^FAIL.+forecast
forecast=none 1 ^FAIL.+forecast
status=1 1 forecast-weak.jsonl:.status.1
LIST
    rm settings
    expect 3 --rounds 5 --build fake forecast
    rows 'NOT RUN' forecast 1
    ;;
misuse)
    other harness/lockstep 'exit 0'
    page
    while read -r words; do
        read -ra options <<<"${words%%|*}"
        expect 2 --build fake ${options[@]+"${options[@]}"}
        matches err "^prove: .*${words#*|}"
        [ ! -s out ] || fail 'misuse, and words on standard output'
        [ "$(wc -l <err)" -eq 1 ] || fail 'not one line'
    done <<'LIST'
nothing|unknown experiment 'nothing'
--bogus|unknown option '--bogus'
--rounds|--rounds needs a value
--rounds 0|takes 1 to 99, not '0'
--rounds x exact|takes 1 to 99, not 'x'
--write missing.md exact|'missing.md' has no line
--build nowhere exact|there is no program
LIST
    sed -i 's/prove:end/prove:END/' page.md
    cp page.md before.md
    expect 2 --build fake --write page.md exact
    cmp -s page.md before.md || fail 'the page was changed'
    expect 0 --list
    [ "$(wc -l <out)" -eq 13 ] || fail 'not 13 experiments'
    expect 0 --help
    ;;
*) fail "no case $name" ;;
esac
