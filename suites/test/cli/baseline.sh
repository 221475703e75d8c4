# `lockstep compare baseline` and `lockstep compare --baseline`: a history of planted sessions, one more
# that is as fast, slower or faster, and everything that a baseline must refuse.
#   baseline.sh LOCKSTEP FOLDER MAKE_RECORDS PYTHON UNREADABLE
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
make_records=$3
python=$4
unreadable=$5
unset CI # which makes a comparison strict

# plant KIND FILE NUMBER [FACTOR [SECONDS_LATER]] [OLD=NEW...]
plant() {
    "$python" -B "$here/baseline_plant.py" "$make_records" "$@" || fail "baseline_plant $*"
}

# compare STATUS FILE [OPTION...]: there is nothing on standard error, and lines have at most 80
# columns.
compare() {
    wanted=$1
    file=$2
    shift 2
    expect_status "$wanted" "$lockstep" compare --verbose --baseline main "$file" "$@"
    [ ! -s err ] || fail "words on standard error"
    [ "${1-}" = --format ] || ! grep -q '.\{81\}' out || fail "more than 80 columns"
}

# counts REGRESSED INCONCLUSIVE EQUIVALENT IMPROVED INVALID
counts() {
    prints "Cells: 12: $1 REGRESSED, $2 INCONCLUSIVE, $3 EQUIVALENT, $4 IMPROVED, $5 INVALID"
}

# Ten sessions have a standard deviation of half a percent; before each the machine was started
# anew.
number=0
for factor in 1.000 0.996 1.004 1.006 0.995 1.001 0.993 1.002 1.007 0.998; do
    number=$((number + 1))
    plant old s$number.jsonl $number $factor
done
plant new same.jsonl 20 1.001
plant new slower.jsonl 21 1.05
plant new faster.jsonl 22 0.95
plant slower two.jsonl 23 1.001 # 12 % in the four cells on two devices

refuse 'main.jsonl is not there: `lockstep compare baseline add` makes it' "$lockstep" compare baseline show main
refuse 'main.jsonl is not there' "$lockstep" compare --baseline main same.jsonl
# A file that could not be read again is not written, by this command and by `lockstep check`.
refuse 'planted' "$unreadable" compare baseline add main s1.jsonl
[ ! -e results/baselines/main.jsonl ] || fail 'a baseline that cannot be read'
expect_status 2 "$unreadable" check --devices virt:1 --only SPLIT-01.sizes --format json --out unread.json
grep -q 'nothing could read the result again: planted$' err || fail "$(cat err)"
[ ! -e unread.json ] || fail 'a result that cannot be read'
expect_status 2 "$unreadable" check --mutants --until-caught --only SPLIT-01.sizes --format json --out matrix.json
grep -q 'nothing could read the result again$' err || fail "$(cat err)"
[ ! -e matrix.json ] || fail 'mutants that cannot be read'
# A sweep whose records cannot be read again does not end with 0, in any form.
for form in '' '--format csv'; do
    rm -f unread.jsonl
    expect_status 2 "$unreadable" sweep --devices virt:1 --bind none --mode plain --workload mlp:8,8 --batch 8 \
        --launches 1 --seconds 0.01 --steps 2:2 --warmup 1:0 --out unread.jsonl $form
    grep -q '^planted$' err && expect_count 1 '"schema":"lockstep/end/1.1"' unread.jsonl || fail "$(cat err)"
done
expect_status 0 "$lockstep" check --devices virt:1 --only SPLIT-01.sizes --format json --out unread.json
expect_status 0 "$lockstep" compare baseline add main s1.jsonl
prints 'results/baselines/main.jsonl: 1 added: now 1 sessions of 12 cells[.] A comparison takes 6 sessions, a gate 10'
expect_status 0 "$lockstep" compare baseline show main
prints 'one session has no spread'
compare 3 same.jsonl
prints 'INVALID: results/baselines/main.jsonl has 1 sessions: it takes 5 more to judge, and 9 more for a gate'
counts 0 0 0 0 12

# With fewer than 6 sessions nothing is judged; two sessions of one plan are no gate.
expect_status 0 "$lockstep" compare baseline add main s2.jsonl s3.jsonl s4.jsonl s5.jsonl
compare 3 slower.jsonl
prints 'it takes 1 more to judge, and 5 more for a gate'
cp results/baselines/main.jsonl five.jsonl

# From 6 to 9 sessions there are verdicts that are no gate, and --strict does not pass them.
expect_status 0 "$lockstep" compare baseline add main s6.jsonl
compare 0 slower.jsonl
counts 12 0 0 0 0
prints '^REGRESSED in 12 of 12 cells, most in [^:]*:*[^:]*: [45][.][0-9] % more time \[+[0-9.]* %, +[0-9.]* %\], against the mean of 6 sessions, not a gate[.]'
prints 'INVALID, not a gate[.]'
prints 'REGRESSED mlp:[^ ]* dp virt:1, 10 rows, f32, cpu/threads, not a gate NEW/mean 1.0[45]'
prints '6 sessions make no gate: the exit status does not say REGRESSED. It takes 4 more'
compare 4 slower.jsonl --strict
compare 4 same.jsonl --strict
with CI=true compare 4 same.jsonl
with CI=true compare 0 same.jsonl --no-strict

# 10 sessions are a gate.
expect_status 0 "$lockstep" compare baseline add main s7.jsonl s8.jsonl s9.jsonl s10.jsonl
compare 1 slower.jsonl
counts 12 0 0 0 0
! grep -q 'not a gate' out || fail "$(cat out)"
prints 'REGRESSED mlp:[^ ]* dp virt:1, 10 rows, f32, cpu/threads NEW/mean 1.0[45][0-9]* \[1[.]0[1-9][0-9]*, 1[.]0[0-9]*\]; cost 1.0'
expect_status 1 "$lockstep" compare --baseline main slower.jsonl
prints '^REGRESSED in 12 of 12 cells, most in .*, against the mean of 10 sessions[.] Cells: 12: 12 REGRESSED'
[ "$(wc -l <out)" -le 25 ] && ! grep -q '.\{81\}' out || fail "more than a screen"
compare 0 same.jsonl --strict
counts 0 0 12 0 0
prints '^EQUIVALENT in 12 of 12 cells, most in .* % \(more\|less\) time \[[-+][0-9.]* %, [-+][0-9.]* %\], against the mean of 10 sessions[.]'
compare 0 faster.jsonl
counts 0 0 0 12 0
compare 1 two.jsonl
counts 4 0 8 0 0
[ "$(grep -c '^REGRESSED  .* dp virt:2, ' out)" -eq 4 ] || fail "$(cat out)"
plant new between.jsonl 24 1.02
compare 0 between.jsonl
counts 0 12 0 0 0
compare 4 between.jsonl --strict
expect_status 0 "$lockstep" compare baseline show main
prints 'results/baselines/main.jsonl: 10 sessions of 12 cells, class of machine 700000000000'
prints 'library of matrix products: OpenBLAS 0.3.21 '
prints '10: 2026-11-21T08:00:00Z, run feed00000000000a, commit 3f2a9c1d5b7e, start 000000000010'
prints 'tutorial dp virt:2, 30 rows, f32, cpu/threads floor [0-9.]* us; sd 0[.]5 %; finds [23][.][0-9] %; 5 % takes 6 sessions'

# Computes the numbers again, from the raw steps.
for file in same slower two; do
    expect_status "$([ $file = same ] && echo 0 || echo 1)" "$lockstep" compare --baseline main $file.jsonl --format json
    "$python" -B "$here/baseline_check.py" out $file.jsonl s1.jsonl s2.jsonl s3.jsonl s4.jsonl s5.jsonl s6.jsonl \
        s7.jsonl s8.jsonl s9.jsonl s10.jsonl || fail "$file"
done
expect_status 0 "$lockstep" compare baseline show main --format json
grep -q '"sitting_sd_log": 0.00' out || fail "$(cat out)"
compare 1 two.jsonl --format md
grep -q '^| REGRESSED | tutorial dp virt:2, 30 rows' out || fail "$(cat out)"

# Exact numbers are compared with those of the last session.
plant new bytes.jsonl 25 1.001 '"bytes_per_step":null="bytes_per_step":0.0'
compare 0 bytes.jsonl
prints 'CHANGED mlp:[^ ]* plain virt:1, 30 rows, f32, cpu/threads bytes_per_step: unknown -> 0 bytes'
compare 1 bytes.jsonl --exact

# A session is added as a whole; nothing else is left in the folder; the earlier lines do not
# change.
[ "$(ls results/baselines)" = main.jsonl ] || fail "$(ls -a results/baselines)"
head -n 60 results/baselines/main.jsonl | cmp - five.jsonl || fail "what was there was changed"
"$python" -B -c 'import json, sys
for line in open("results/baselines/main.jsonl"):
    assert json.loads(line)["schema"] == "lockstep/baseline/1.0"' || fail "no JSON Lines"
cp results/baselines/main.jsonl whole.jsonl

# refused: a session is not taken: status 3, one line with file and line, and the file does not
# change.
refused() {
    one_line 3 "$@"
    cmp whole.jsonl results/baselines/main.jsonl || fail "a refused session changed the baseline: $*"
}
class2=$(printf '8%063d' 0)
refused 's3.jsonl:1: run feed000000000003 is there already: run feed000000000003 of session 3, results/baselines/main.jsonl:25$' \
    "$lockstep" compare baseline add main s3.jsonl
plant old copy.jsonl 3 1 0 feed000000000003=feed0000000000bb "$(printf '%012d%052d=%012d%052d' 3 0 99 0)"
refused 'copy.jsonl:1: run feed0000000000bb is there already: run feed000000000003 of session 3, ' \
    "$lockstep" compare baseline add main copy.jsonl
compare 3 s3.jsonl
prints 'INVALID: s3.jsonl:1: run feed000000000003 is there already: run feed000000000003 of session 3'
plant new near.jsonl 10 1 3600 feed00000000000a=feed0000000000aa
refused 'near.jsonl:1: 1.0 hours from session 10 (results/baselines/main.jsonl:109), in the same start of the machine: it takes 6 hours' \
    "$lockstep" compare baseline add main near.jsonl
plant new class.jsonl 26 1 "7$(printf '%063d' 0)=$class2"
refused 'class.jsonl:1: another class of machine, 800000000000, than 700000000000 of results/baselines/main.jsonl:1' \
    "$lockstep" compare baseline add main class.jsonl
compare 3 class.jsonl
prints 'INVALID: class.jsonl:1: another class of machine'
# The options are the same and the library of matrix products is not: both are named.
onednn='OpenBLAS 0.3.21, oneDNN 2.6.3 brg:avx512_core'
plant new library.jsonl 33 1 "\"blas\":\"OpenBLAS 0.3.21\"=\"blas\":\"$onednn\""
two="library.jsonl:1: another library of matrix products, \"$onednn\", than \"OpenBLAS 0.3.21\" of results/baselines/main.jsonl:1: measure with that one, or take a baseline of another name"
refused "$two\$" "$lockstep" compare baseline add main library.jsonl
compare 3 library.jsonl
prints "INVALID: $two"
counts 0 0 0 0 12
plant new nameless.jsonl 34 1 '"blas":"OpenBLAS 0.3.21"="blas":""'
refused 'nameless.jsonl:1: the library of matrix products is unknown' "$lockstep" compare baseline add main nameless.jsonl
compare 3 nameless.jsonl
plant few-steps plan.jsonl 27
refused 'plan.jsonl:1: another plan than results/baselines/main.jsonl:1' "$lockstep" compare baseline add main plan.jsonl
compare 3 plan.jsonl
plant new dirty.jsonl 28 1 '"git_dirty":false="git_dirty":true'
refused 'dirty.jsonl:1: a changed tree on commit 3f2a9c1d5b7e' "$lockstep" compare baseline add main dirty.jsonl
compare 3 dirty.jsonl
compare 0 dirty.jsonl --allow-dirty
plant new debug.jsonl 29 1 '"build_type":"Release"="build_type":"Debug"'
refused 'debug.jsonl:1: a Debug build, not of Release or RelWithDebInfo' "$lockstep" compare baseline add main debug.jsonl
"$make_records" new open.jsonl
refused 'open.jsonl:1: the class of the machine is unknown' "$lockstep" compare baseline add main open.jsonl
# The first bad one of several is reported: none is added.
plant new good.jsonl 30
refused 'dirty.jsonl:1: a changed tree' "$lockstep" compare baseline add main good.jsonl dirty.jsonl

# edit FILE SED: edits the file and makes its chain right again.
edit() {
    sed "$2" same.jsonl >edited
    ! cmp -s edited same.jsonl || fail "$2 changes nothing"
    "$python" -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from baseline_plant import chained
lines = open("edited", encoding="utf-8").read().splitlines()
open(sys.argv[2], "w", encoding="utf-8").write("\n".join(chained(lines, lambda line: "/end/" in line)) + "\n")' \
        "$here" "$1" || fail "edit $2"
}
edit failed.jsonl '5s/"status":"ok"/"status":"failed"/;5s/"validated":true/"validated":false/
    5s/"reason":""/"reason":"planted"/;s/"ok":96,"not_ok":0/"ok":95,"not_ok":1/'
refused 'failed.jsonl:5: not verified (failed): launch 3 of mlp:1024' "$lockstep" compare baseline add main failed.jsonl
compare 3 failed.jsonl
edit short.jsonl '60,$d'
refused 'short.jsonl:59: not finished: 58 of 96 launches are in it, and no end' "$lockstep" compare baseline add main short.jsonl
compare 3 short.jsonl
edit resumed.jsonl '50,$s/"sitting":0/"sitting":1/'
refused 'resumed.jsonl:50: another session than the cells before' "$lockstep" compare baseline add main resumed.jsonl

# unread: input cannot be read: status 2, and one line.
unread() {
    refuse "$@"
    cmp whole.jsonl results/baselines/main.jsonl || fail "unreadable input changed the baseline: $*"
}
head -c 20000 same.jsonl >torn.jsonl
unread 'torn.jsonl: the last line is torn' "$lockstep" compare baseline add main torn.jsonl
unread 'missing.jsonl: No such file' "$lockstep" compare baseline add main missing.jsonl
edit major.jsonl '1s|lockstep/run/1.1|lockstep/run/2.0|'
unread 'major.jsonl:1: schema "lockstep/run/2.0"' "$lockstep" compare baseline add main major.jsonl
edit nan.jsonl '3s/"mean_ns":[0-9.e+]*/"mean_ns":null/'
unread 'nan.jsonl:3: ' "$lockstep" compare baseline add main nan.jsonl
edit negative.jsonl '3s/"t_step_ns":\[/"t_step_ns":[-/'
unread 'negative.jsonl:3: ' "$lockstep" compare --baseline main negative.jsonl
sed '7s/"order_index":/"order_index": /' same.jsonl >chain.jsonl
unread 'chain.jsonl:8: "chain" is' "$lockstep" compare baseline add main chain.jsonl

# broken: a baseline was edited: nothing is added to it, shown or compared.
broken() {
    place=$1
    cp bad.jsonl results/baselines/bad.jsonl
    for call in 'compare baseline show bad' 'compare baseline add bad good.jsonl' 'compare --baseline bad same.jsonl'; do
        refuse "results/baselines/bad.jsonl$place" "$lockstep" $call
        cmp bad.jsonl results/baselines/bad.jsonl || fail "$call changed a broken baseline"
    done
}
sed 30d whole.jsonl >bad.jsonl
broken ':30: "chain" is .*: a line was changed, removed, added or moved'
sed '30s/"launches":8/"launches":9/' whole.jsonl >bad.jsonl
broken ':30: "seal" is .*: it was changed'
sed '$s/"launches":8/"launches":9/' whole.jsonl >bad.jsonl
broken ':120: "seal" is .*: it was changed'
head -c 60000 whole.jsonl >bad.jsonl
broken ':[0-9]*: the line is torn'
sed '$d' whole.jsonl >bad.jsonl
broken ':119: the last session has 11 of 12 lines: there is a gap'
: >bad.jsonl
broken ':1: the file is empty'
# forge: edits the baseline and makes its chain right again.
forge() {
    sed "$1" whole.jsonl >edited
    ! cmp -s edited whole.jsonl || fail "$1 changes nothing"
    "$python" -B -c 'import sys
sys.path.insert(0, sys.argv[1])
from baseline_plant import chained
lines = open("edited", encoding="utf-8").read().splitlines()
open("bad.jsonl", "w", encoding="utf-8").write("\n".join(chained(lines, lambda line: True)) + "\n")' "$here" ||
        fail "forge $1"
}
forge 30d
broken ':30: line 7 of 12 of session 3 stands where line 6 of 12 of session 3 belongs: there is a gap'
forge '13,24d'
broken ':13: line 1 of 12 of session 3 stands where line 1 of 12 of session 2 belongs: there is a gap'
forge "49,60s/7$(printf '%063d' 0)/$class2/"
broken ':49: another class of machine, 800000000000, than 700000000000 of line 1'
forge '49,60s/OpenBLAS 0.3.21/OpenBLAS 0.3.22/'
broken ':49: another library of matrix products than line 1'
forge '49,60s/feed000000000005/feed000000000002/'
broken ':49: run feed000000000002 is there twice: line 13 has it already'
forge '14s/"floor_log":[0-9.]*/"floor_log":null/'
broken ':14: "floor_log" is nan, outside 0 to 36.7'
forge '14s/"floor_log":[0-9.]*/"floor_log":NaN/'
broken ':14: not JSON'
forge '14s/"sd_floor":[0-9.]*/"sd_floor":-1.0/'
broken ':14: "sd_floor" is -1'
forge '14s/"floor_log":[0-9.]*/"floor_log":40/'
broken ':14: "floor_log" is 40, outside 0 to 36.7'
forge '14s/"cost_log":[0-9.]*/"cost_log":2.5/'
broken ':14: "cost_log" is 2.5, outside'
forge '14s/"launches":[0-9]*/"launches":1/'
broken ':14: "sd_floor" is .*, outside 0 to 0'
forge '14s/"launches":[0-9]*/"launches":9007199254740991/'
broken ':14: "launches" is 9007199254740991, outside 1 to'
forge '14s/"steps":[0-9]*/"steps":3/'
broken ':14: "floor_statistic" is .*; of 3 steps it is "minimum, few"'
# A session under the name of another run.
forge "49,60s/\"start_epoch_ns\": *\"[0-9]*\"/$(sed -n '13s/.*\("start_epoch_ns": *"[0-9]*"\).*/\1/p' whole.jsonl)/"
broken ':49: run feed000000000005 is there twice: line 13 has it already, as run feed000000000002'
forge '14s|baseline/1.0|baseline/2.0|'
broken ':14: schema "lockstep/baseline/2.0" is not known'
forge '14s/"workload":"[^"]*"/"workload":"cnn"/'
broken ':14: another cell than that of line 2'
# The baseline is from before kernels were counted: it is read, and the new session has changed
# nothing by counting them.
plant new kernels.jsonl 31 1.001 '"kernels_per_step":null="kernels_per_step":37.0'
forge 's/"kernels_per_step": *\[null\], *//'
mv bad.jsonl results/baselines/before.jsonl
expect_status 0 "$lockstep" compare --baseline before kernels.jsonl --exact
expect_status 0 "$lockstep" compare baseline add before kernels.jsonl
plant new kernels2.jsonl 32 1.001 '"kernels_per_step":null="kernels_per_step":38.0'
expect_status 1 "$lockstep" compare --baseline before kernels2.jsonl --exact
prints 'CHANGED mlp:[^ ]* plain virt:1, 30 rows, f32, cpu/threads kernels_per_step: 37 -> 38 launches'
rm results/baselines/before.jsonl
# The baseline is from before the library was recorded: it is shown, and it takes and judges
# nothing.
forge 's/"blas": *"[^"]*", *//'
mv bad.jsonl results/baselines/before.jsonl
unnamed='results/baselines/before.jsonl:1: it does not say of which library of matrix products it is, and good.jsonl is of "OpenBLAS 0.3.21": begin a baseline'
expect_status 0 "$lockstep" compare baseline show before
prints 'library of matrix products: not known'
one_line 3 "$unnamed" "$lockstep" compare baseline add before good.jsonl
expect_status 3 "$lockstep" compare --baseline before good.jsonl
prints "INVALID: $unnamed"
rm results/baselines/before.jsonl
sed 's/,"chain":.*/}/' whole.jsonl >bad.jsonl
broken ':1: '
cp same.jsonl bad.jsonl
broken ':1: '
rm results/baselines/bad.jsonl
ln -s main.jsonl results/baselines/link.jsonl
refuse 'link.jsonl: it is a symbolic link' "$lockstep" compare baseline add link good.jsonl
mkdir results/baselines/folder.jsonl
refuse 'folder.jsonl: it is no regular file' "$lockstep" compare baseline show folder
rm -r results/baselines/link.jsonl results/baselines/folder.jsonl

# Names that lead to another place are refused.
for name in ../main /tmp/x a/b .. .hidden '' 'a b' 'a;b' "$(printf '%0120d' 0)"; do
    refuse 'no name of a baseline\|say add NAME\|missing' "$lockstep" compare baseline add "$name" good.jsonl
    refuse 'no name of a baseline\|0 record files\|NAME takes one' "$lockstep" compare --baseline "$name" good.jsonl
done
for name in "$(printf 'a\033[31mb')" "$(printf 'a\nb')" "$(printf 'a\233b')"; do
    refuse 'control' "$lockstep" compare baseline add "$name" good.jsonl
done
[ ! -e main.jsonl ] && [ "$(ls -A results/baselines)" = main.jsonl ] || fail "a name led elsewhere: $(ls -A results/baselines)"

# Errors of the command line.
refuse 'unknown action "remove"; known: add, show\|action' "$lockstep" compare baseline remove main
refuse 'say add NAME FILE.. or show NAME' "$lockstep" compare baseline
refuse 'say add NAME FILE.. or show NAME' "$lockstep" compare baseline show
refuse 'add takes record files' "$lockstep" compare baseline add main
refuse "unexpected argument 'same.jsonl' after show NAME" "$lockstep" compare baseline show main same.jsonl
refuse '2 record files: --baseline NAME takes one' "$lockstep" compare --baseline main same.jsonl s1.jsonl
refuse '0 record files: --baseline NAME takes one' "$lockstep" compare --baseline main
refuse 'strict are of --ab' "$lockstep" compare s1.jsonl s2.jsonl --strict
refuse 'dir is of --baseline NAME' "$lockstep" compare s1.jsonl s2.jsonl --dir results/baselines

# In another folder two commands add at the same time: both sessions are there.
expect_status 0 "$lockstep" compare baseline add --dir deep/er main s1.jsonl
for i in 2 3 4 5 6; do
    "$lockstep" compare baseline add --dir deep/er main s$i.jsonl >/dev/null 2>err.$i &
done
wait
[ "$(wc -l <deep/er/main.jsonl)" -eq 72 ] || fail "$(wc -l <deep/er/main.jsonl) lines: $(cat err.*)"
expect_status 0 "$lockstep" compare --baseline main same.jsonl --dir deep/er

# A folder that cannot be written to: no partial file is left.
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w deep/er
    one_line 2 'cannot write' "$lockstep" compare baseline add --dir deep/er main s7.jsonl
    chmod u+w deep/er
fi
