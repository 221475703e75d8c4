# `lockstep validate` with its learn and check: machines that are accepted, and all that never are.
#   validate.sh LOCKSTEP FOLDER MAKE_RECORDS
. "$(dirname "$0")/validate_common.sh"

for kind in old slower three simulated flaky one-slow; do
    "$make_records" $kind $kind.jsonl || fail "make_records $kind"
done

cell='workload: tutorial, mode: dp, devices: 2, batch: 30'

# The step of that cell is 5.5 us and noise. A step that is 12 % longer is found, and named.
limit step_time 'max: 5.7 us' "$cell" binding 'statistic: typical' | profile good.yaml
validate 0 good.yaml old.jsonl
prints '^PASS step_time of tutorial dp virt:2, 30 rows: at most 5.7 us; is 5\.[0-9]* us \['
prints 'ACCEPTED by profile good.yaml: of its binding limits 1 PASS, 0 FAIL'
validate 1 good.yaml slower.jsonl
prints '^FAIL step_time of tutorial dp virt:2'
prints 'likely cause: not shown'
prints 'REJECTED'

# A metric that was not measured, or cannot be believed, is no pass.
validate 3 good.yaml three.jsonl
prints 'UNMEASURED step_time'
prints '3 launches, and the profile requires 6'
limit step_time 'max: 5.7 us' "$cell" binding 'statistic: typical' | profile any.yaml 'cores: 4' ''
validate 3 any.yaml three.jsonl
prints 'OPEN .* 3 launches; a bound at 95 % takes 5 do: not decided yet: by an estimate, about 5 launches instead of 3 decide it: measure with --launches 5[.] If it stays OPEN, the machine is at the limit NOT SHOWN'
validate 3 any.yaml simulated.jsonl
prints 'it is of times that are simulated, not measured'
limit step_time 'max: 100 s' 'workload: tutorial' binding 'statistic: typical' |
    profile all.yaml 'cores: 4' ''
validate 1 all.yaml flaky.jsonl
prints 'FAIL .* wrong numbers: launch [0-9]*, index '
prints 'REJECTED'
limit step_time 'max: 100 s' 'workload: tutorial, batch: 12345' binding 'statistic: typical' |
    profile nowhere.yaml
validate 3 nowhere.yaml old.jsonl
prints 'UNMEASURED .* no cell of the records is at its place'
limit moved 'max: 1 B' "$cell" | profile unknown.yaml
validate 3 unknown.yaml old.jsonl
prints 'UNMEASURED .* a launch of the cell has no moved'

# No machine fails a limit that is far away, so by it none is accepted.
limit step_time 'max: 5.7 ms' "$cell" binding 'statistic: typical' | profile far.yaml
validate 3 far.yaml old.jsonl
prints '^INVALID step_time of tutorial dp virt:2, 30 rows: at most 5.7 ms; is 5[.][^:]* it stays PASS even at 0.3 of the speed: write a bound near the number of a good machine, or delete it NOT SHOWN by profile far.yaml: of its binding limits 0 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 1 INVALID'

# An advisory limit decides nothing, and a profile without binding limits accepts no machine.
{
    limit step_time 'max: 5.7 us' "$cell" binding 'statistic: typical'
    limit step_time 'max: 1 ns' "$cell" advisory 'statistic: floor'
} | profile advice.yaml
validate 0 advice.yaml old.jsonl
prints 'FAIL step_time (advisory)'
limit step_time 'max: 5.7 us' "$cell" advisory 'statistic: floor' | profile advisory.yaml
validate 3 advisory.yaml old.jsonl
prints '^PASS step_time (advisory)'

# More cells share the error: each needs more launches to be shown.
limit step_time 'max: 5.7 us' "$cell" binding 'statistic: typical' | profile one.yaml '' ''
validate 0 one.yaml old.jsonl
limit step_time 'max: 5 ms' 'mode: dp' binding 'statistic: tail' | profile wide.yaml '' ''
validate 0 wide.yaml old.jsonl

# The slow one of three devices is named, and no other.
limit device_spread 'max: 1.05 x' 'workload: tutorial, mode: dp, devices: 3, batch: 30' binding \
    'statistic: floor' | profile spread.yaml
validate 1 spread.yaml one-slow.jsonl
prints 'FAIL device_spread of tutorial dp virt:3, 30 rows, device 1: at most 1.05 x; is 1\.1'
prints 'likely cause: one device is slower than the others'
expect_count 1 '^FAIL' out

# Devices that are slow alike keep every ratio, and the verdict says that it does not know them.
limit device_spread 'max: 3 x' 'workload: tutorial, mode: dp, devices: 3, batch: 30' binding \
    'statistic: floor' | profile ratio.yaml
validate 0 ratio.yaml one-slow.jsonl
prints 'ACCEPTED by profile ratio.yaml: .*; no limit on speed binds: a slow machine passes'
validate 0 good.yaml old.jsonl
! grep -q 'no limit on speed' out || fail 'a limit on a time is a limit on speed'

# The same for programs.
expect_status 1 "$lockstep" validate --profile spread.yaml --format json one-slow.jsonl
prints '"schema": *"lockstep/verdict/1\.0"'
if command -v python3 >/dev/null; then
    python3 - <<'CHECK' || fail 'not the right JSON'
import hashlib
import json
verdict = json.load(open("out"))
assert verdict["schema"] == "lockstep/verdict/1.0" and verdict["verdict"] == "REJECTED"
assert verdict["profile_sha256"] == hashlib.sha256(open("spread.yaml", "rb").read()).hexdigest()
(limit,) = verdict["limits"]
assert limit["device"] == 1 and limit["verdict"] == "FAIL" and limit["launches"] == 8
assert 1.05 < limit["lo"] <= limit["median"] <= limit["hi"] and limit["max"] == 1.05
assert limit["min"] is None and limit["unit"] == "1" and limit["likely"]
CHECK
else
    echo 'note: no python3, so the JSON is not read'
fi

# A profile is the text of its author: nothing of it reaches the terminal as it is.
sed 's/^name: .*/name: "a\\e[31m\\nACCEPTED"/;s/made up/"\\e[2J"/' good.yaml >hostile.yaml
expect_status 0 "$lockstep" validate --profile hostile.yaml old.jsonl
prints 'ACCEPTED by profile a?\[31m?ACCEPTED: of'
! grep -q "$(printf '\033')" out || fail "an escape went through"

# Another machine has no verdict.
for match in 'cores: 2' 'cpu_model: Example CPU 4000' 'gpu_model: NVIDIA H200' 'gpus: 8' \
    "machine_class: $(printf '7%063d' 0)"; do
    limit step_time 'max: 1 s' "$cell" binding 'statistic: floor' | profile other.yaml "$match"
    validate 2 other.yaml old.jsonl
    [ ! -s out ] || fail "a verdict of another machine"
    grep -q '^lockstep validate: the profile is for .*, the records are of ' err ||
        fail "$match"
    [ "$(wc -l <err)" -eq 1 ] || fail "more than a line"
done
limit step_time 'max: 6 us' "$cell" binding 'statistic: floor' |
    profile same.yaml 'cpu_model: "Example CPU 3000 @ 2.50GHz", cores: 4'
validate 0 same.yaml old.jsonl

# Every limit is shown to fail on a machine that gets slower.
expect_status 0 "$lockstep" validate check good.yaml old.jsonl
grep -q '^good.yaml:6: step_time at most 5.7 us: OK: would fail if [1-9] % longer than measured$' out ||
    fail "fires"
# A limit that takes much to fail is marked, and that is no error.
limit step_time 'max: 7 us' "$cell" binding 'statistic: floor' | profile loose.yaml
expect_status 0 "$lockstep" validate check loose.yaml old.jsonl
expect_count 1 '^loose.yaml:6: step_time at most 7 us: WIDE: would fail if [234][0-9] % longer than measured$' out
limit step_time 'max: 7 us' "$cell" binding 'statistic: floor
    expected: 5.4 us' | profile loose.yaml
expect_status 0 "$lockstep" validate check loose.yaml
expect_count 1 '^loose.yaml:6: step_time at most 7 us: WIDE: would fail if 30 % longer than expected$' out
limit step_time 'max: 7 us' "$cell" binding 'statistic: floor
    peak: 5.4 us' | profile peak.yaml
expect_status 0 "$lockstep" validate check peak.yaml
expect_count 1 '^peak.yaml:6: step_time at most 7 us: OK: would fail if 30 % longer than its peak$' out
# A rate is lower, never slower.
limit throughput 'min: 8 ksamples/s' "$cell" binding 'statistic: floor
    expected: 10 ksamples/s' | profile rate.yaml
expect_status 0 "$lockstep" validate check rate.yaml
expect_count 1 '^rate.yaml:6: throughput at least 8 ksamples/s: WIDE: would fail if 20 % lower than expected$' out

limit step_time 'max: 5.1 us' "$cell" binding 'statistic: typical' | profile fails.yaml
expect_status 0 "$lockstep" validate check fails.yaml old.jsonl
grep -q '^fails.yaml:6: step_time at most 5.1 us: can fail: these records fail it already$' out || fail "fails already"

# cannot WORDS METRIC BOUND [MORE [RECORDS]]: the limit accepts every machine.
cannot() {
    limit "$2" "$3" "$cell" binding "$4" | profile cannot.yaml
    expect_status 1 "$lockstep" validate check cannot.yaml $5
    grep -q "^lockstep validate check: cannot.yaml:6: $2 .*: $1" err || fail "$3"
}
# A limit in another unit, one that lost a digit, one for the previous model: in the words of a
# vendor for H200, and A100.
cannot 'it stays PASS even at 0.3 of the speed' step_time 'max: 5.7 ms' 'statistic: typical' old.jsonl
cannot '5.7 ms is 1.06e+03 times the 5.4 us' step_time 'max: 5.7 ms' \
    'statistic: typical
    expected: 5.4 us' ''
cannot '137.2 ksamples/s is 0.098 times' throughput 'min: 137.2 ksamples/s' \
    'statistic: typical
    expected: 1.4 Msamples/s' ''
cannot '.* is 1.2 times the' throughput 'min: 1.2 Msamples/s' \
    'statistic: typical
    expected: 1 Msamples/s' ''
cannot 'it has no max: more of step_time is worse' step_time 'min: 1 ns' 'statistic: typical' old.jsonl
cannot 'it has no min above 0: less of speed_up is worse' speed_up 'max: 2 x' 'statistic: floor' old.jsonl
cannot 'it has no min above 0: less of speed_up is worse' speed_up 'min: 0 x' 'statistic: floor' old.jsonl
cannot 'nothing shows that it can fail' step_time 'max: 5.7 us' 'statistic: floor' ''
cannot 'the class of machine below can show 1.2 Msamples/s and keeps 1.1 Msamples/s' throughput \
    'min: 1.1 Msamples/s' 'statistic: typical
    expected: 2 Msamples/s
    sibling: 1.2 Msamples/s' ''
cannot 'the class of machine below can show 5.5 us and keeps 5.7 us' step_time 'max: 5.7 us' \
    'statistic: typical
    sibling: 5.5 us' old.jsonl
limit throughput 'min: 1.1 Msamples/s' "$cell" binding 'statistic: typical
    expected: 1.2 Msamples/s
    sibling: 1 Msamples/s' | profile sibling.yaml
expect_status 0 "$lockstep" validate check sibling.yaml
cannot 'it stays UNMEASURED' moved 'max: 1 B' '' old.jsonl

# A launch counts once, whatever the name of its run: a copy is refused if files are put together,
# and in one file.
copied() {
    expect_status 2 "$lockstep" "$@"
    grep -q '^lockstep [a-z ]*: .*run feedface00000001, cell [0-9a-f]*, and run feedface0000000[12], cell [0-9a-f]*, are one launch' err &&
        [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "$*"
}
sed 's/feedface00000001/feedface00000002/' old.jsonl >copy.jsonl
copied validate --profile good.yaml old.jsonl copy.jsonl
copied validate check good.yaml old.jsonl copy.jsonl
copied report --format csv old.jsonl copy.jsonl
copied forecast --to 8 old.jsonl copy.jsonl
validate 0 good.yaml old.jsonl

# The limits are learned from six sessions: all of them keep the limits, a slower machine does not,
# and every limit can fail.
class=$(printf '7%063d' 0)
for sitting in 1 2 3 4 5 6; do
    sed "s/feedface00000001/feedface0000010$sitting/;1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/
        s/\"start_epoch_ns\":\"1795/\"start_epoch_ns\":\"179$sitting/
        1s/2026-11-21/2026-11-1$sitting/" old.jsonl >sitting$sitting.jsonl
done
expect_status 0 "$lockstep" validate learn --name 'a "b" \ c' sitting[1-6].jsonl
mv out learned.yaml
grep -q '^name: "a \\"b\\" \\\\ c"$' learned.yaml || fail "name: $(head -2 learned.yaml)"
grep -q 'source: "6 sessions, 2026-11-11 to 2026-11-16, of commit 3f2a9c1d5b7e; 95 % of' learned.yaml ||
    fail "source: $(grep source: learned.yaml | head -1)"
expect_count 12 'metric: step_time' learned.yaml
expect_count 4 'metric: device_spread' learned.yaml
# A session accepts no machine by limits that were learned from it; another one does.
validate 3 learned.yaml sitting3.jsonl
prints 'INVALID step_time .* the limit was learned from these records .*NOT SHOWN by profile a "b" .* 0 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 16 INVALID'
sed 's/feedface00000103/feedface00000107/' sitting3.jsonl >another.jsonl
validate 0 learned.yaml another.jsonl
prints 'ACCEPTED by profile a "b" \\ c: of its binding limits 16 PASS, 0 FAIL'
expect_status 0 "$lockstep" validate check learned.yaml sitting1.jsonl
[ "$(grep -c ': OK: would fail if [1-9] % \(longer\|higher\) than measured$' out)" -eq 16 ] || fail "fires"
sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/" slower.jsonl >slow.jsonl
validate 1 learned.yaml slow.jsonl
prints 'REJECTED by profile .* 4 FAIL'
validate 2 learned.yaml old.jsonl
expect_count 0 'NOT APART' learned.yaml
# notes WORDS: they are on standard error, within 80 columns.
notes() {
    tr -s '\n ' ' ' <err >noted
    grep -q -- "$1" noted && ! grep -q '.\{81\}' err || fail "no note '$1': $(cat err)"
}
# Sessions of one start of the machine, or of one day, are noted, and others are not.
expect_count 1 '^  # NOTE: the 6 sessions are of 6 days and 1 start of the machine[.]' learned.yaml
for sitting in 1 2 3 4 5 6; do
    sed "1s/\"machine_instance\":\"\"/\"machine_instance\":\"$(printf '%064d' $sitting)\"/" sitting$sitting.jsonl >apart$sitting.jsonl
    sed '1s/2026-11-1./2026-11-11/' apart$sitting.jsonl >day$sitting.jsonl
done
expect_status 0 "$lockstep" validate learn apart[1-6].jsonl
! grep -q NOTE out err || fail "a note: $(cat err)"
notes '^lockstep validate learn: 16 limits, 12 of them on speed, from [0-9]* launches (0 disturbed; sessions: 6, days: 6, starts of the machine: 6); written to standard output[.] Next: lockstep validate check PROFILE $'
cp out printed.yaml
expect_status 0 "$lockstep" validate learn --out written.yaml apart[1-6].jsonl
notes 'written to written.yaml[.] Next: lockstep validate check PROFILE $'
[ ! -s out ] && cmp printed.yaml written.yaml || fail "--out"
refuse "cannot make 'written.yaml': File exists: delete it, or name another file" "$lockstep" validate learn --out written.yaml apart[1-6].jsonl
refuse "cannot make 'no/such.yaml'" "$lockstep" validate learn --out no/such.yaml apart[1-6].jsonl
expect_status 2 "$lockstep" validate learn --out none.yaml apart[1-5].jsonl
[ ! -e none.yaml ] || fail "a profile that was not learned is there"
# A profile that requires fewer launches than its limits need.
sed 's/launches: [0-9]*/launches: 3/' written.yaml >few.yaml
expect_status 0 "$lockstep" validate check few.yaml
notes 'NOTE: the profile requires 3 launches, and its limits stay OPEN with fewer than [5-9]: write `requires: {launches: [5-9]}`'
expect_status 0 "$lockstep" validate check written.yaml
! grep -q OPEN err || fail "a note about launches: $(cat err)"
expect_status 0 "$lockstep" validate learn day[1-6].jsonl
notes '^lockstep validate learn: NOTE: the 6 sessions are of 1 day and 6 starts of the machine[.] They do not show'
expect_count 1 '^  # NOTE: the 6 sessions are of 1 day and 6 starts' out
# So are sessions in which other programs took cores, in more than a tenth of the launches.
for sitting in 1 2 3 4 5 6; do
    sed "s/\"foreign_frac\":[^,}]*/\"foreign_frac\":0.4/" apart$sitting.jsonl >busy$sitting.jsonl
done
# If they took them in more than half, the limits are those of the other programs: no pass.
expect_status 3 "$lockstep" validate learn busy[1-6].jsonl
launches=$(cat busy[1-6].jsonl | grep -c '"foreign_frac":0.4')
[ "$launches" -gt 0 ] || fail "no launch is disturbed"
notes "^lockstep validate learn: NOTE: other work disturbed $launches of $launches launches, so limits are wider"
notes "^.*NOT SHOWN: other work disturbed $launches of $launches launches, and limits are learned where it disturbs at most half: use none of these $"
expect_count 1 "^  # NOTE: other work disturbed $launches of $launches launches" out
# Such a profile accepts no machine: not when its limits are cut, and validate.sbatch stops at its check.
mv out busy.yaml
awk '/^  - metric/ && ++n > 3 { exit } 1' busy.yaml >cut.yaml
for profile in busy cut; do
    expect_status 1 "$lockstep" validate check $profile.yaml
    grep -q "^lockstep validate check: $profile.yaml: not_shown: learned while other work disturbed $launches of $launches launches: learn it again$" err ||
        fail "$(cat err)"
    validate 3 $profile.yaml another.jsonl
    prints 'INVALID step_time .* learned while .* 0 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, '
done
validate 1 busy.yaml slow.jsonl
sed /^not_shown/d cut.yaml >old.yaml
validate 0 old.yaml another.jsonl
expect_status 0 "$lockstep" validate learn apart[1-3].jsonl busy[4-6].jsonl
expect_status 3 "$lockstep" validate learn apart[1-2].jsonl busy[3-6].jsonl
expect_status 0 "$lockstep" validate learn apart[1-5].jsonl busy6.jsonl
notes "NOTE: other work disturbed $((launches / 6)) of $launches launches"
sed "4,\$s/\"foreign_frac\":0.4/\"foreign_frac\":0.2/" busy6.jsonl >calm6.jsonl
expect_status 0 "$lockstep" validate learn apart[1-5].jsonl calm6.jsonl
! grep -q NOTE err || fail "a note about a few launches: $(cat err)"
# Sessions within one hour are reported as such.
for sitting in 1 2 3 4 5 6; do
    sed "s/\"start_epoch_ns\":\"179$sitting/\"start_epoch_ns\":\"1795/;s/\"start_epoch_ns\":\"1795248/&$sitting/;s/\(\"start_epoch_ns\":\"1795248$sitting\)[0-9]/\1/" \
        sitting$sitting.jsonl >near$sitting.jsonl
done
expect_status 0 "$lockstep" validate learn near[1-6].jsonl
mv out near.yaml
expect_count 16 'source: "6 sessions, .* of commit 3f2a9c1d5b7e; 95 .*; NOT APART: some are less than 6 hours' near.yaml
expect_status 0 "$lockstep" validate check near.yaml near1.jsonl

# What gets no limit is named, with the reason, and a profile without a limit on speed does not end
# with 0.
number=0
for factor in 1 1.15 1.3 1.5 1.7 1.95; do # the bound is 3.5 times the best session
    number=$((number + 1))
    "$make_records" old differs.jsonl $factor || fail "make_records old"
    sed "s/feedface00000001/feedface0000010$number/;1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/
        1s/\"machine_instance\":\"\"/\"machine_instance\":\"$(printf '%064d' $number)\"/
        s/\"start_epoch_ns\":\"1795/\"start_epoch_ns\":\"179$number/
        1s/2026-11-21/2026-11-1$number/" differs.jsonl >differs$number.jsonl
done
expect_status 3 "$lockstep" validate learn differs[1-6].jsonl
expect_count 12 '^lockstep validate learn: NOTE: no limit on step_time of ' err
notes 'NOTE: no limit on step_time of mlp:1024,1024,1024,1024 dp virt:2, 30 rows: the sessions differ too much lock'
notes 'NOTE: no limit on speed: slow machines pass'
notes '; no limit, at one place or more, on step_time[.] Next: '
mv out differs.yaml
expect_count 0 'metric: step_time' differs.yaml
expect_count 4 'metric: device_spread' differs.yaml
expect_count 12 '^  # NOTE: no limit on step_time of ' differs.yaml
! grep '^ *#.\{80\}' differs.yaml || fail "a comment of more than 80 columns"
expect_status 0 "$lockstep" validate check differs.yaml differs1.jsonl
notes '^lockstep validate check: NOTE: no limit on speed binds: where all devices are slow alike, it passes'
expect_status 0 "$lockstep" validate check learned.yaml sitting1.jsonl
[ ! -s err ] || fail "a note about a profile with limits on speed: $(cat err)"
# Where one session has too few launches of a cell, the number that is there is shown.
sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/" three.jsonl >few.jsonl
expect_status 2 "$lockstep" validate learn apart[1-5].jsonl few.jsonl
notes 'NOTE: no limit on step_time of tutorial dp virt:2, 30 rows: OPEN: is .*: 3 launches; a bound at 95 % takes 5 lock'
notes 'no cell of these sessions makes a limit'

# A profile that cannot be read is none.
for name in '' "$(printf '%0600d' 0)"; do
    expect_status 2 "$lockstep" validate learn --name "$name" sitting[1-6].jsonl
    [ ! -s out ] && grep -q 'what was learned cannot be read: .*:2: STRING length' err || fail "--name '$name'"
done

# unlearned WORDS FILE...
unlearned() {
    words=$1
    shift
    expect_status 2 "$lockstep" validate learn "$@"
    grep -q "^lockstep validate learn: $words" err && [ "$(wc -l <err)" -eq 1 ] || fail "$words"
    [ ! -s out ] || fail "half a profile"
}
unlearned 'a profile takes at least 6 files, a session each, not 5$' sitting[1-5].jsonl
unlearned 'a profile takes at least 6 files, a session each, not 1$' sitting1.jsonl
unlearned 'nowhere.jsonl: No such file' nowhere.jsonl
unlearned 'sitting1.jsonl: it is a session that another file has, too' sitting[1-6].jsonl sitting1.jsonl
sed 's/feedface00000101/feedface00000109/' sitting1.jsonl >forged.jsonl
unlearned 'forged.jsonl: run feedface00000101, cell [0-9a-f]*, and run feedface00000109, cell [0-9a-f]*, are one launch' sitting[1-6].jsonl forged.jsonl
unlearned 'old.jsonl: its class of machine is not known' old.jsonl sitting[1-6].jsonl
sed "1s/$class/$(printf '8%063d' 0)/" sitting6.jsonl >else.jsonl
unlearned 'else.jsonl: it is of another class of machine' sitting[1-5].jsonl else.jsonl
sed '1s/"blas":"OpenBLAS 0.3.21"/"blas":"OpenBLAS 0.3.22"/' sitting6.jsonl >library.jsonl
unlearned 'library.jsonl: another library of matrix products, "OpenBLAS 0.3.22", than "OpenBLAS 0.3.21" of the first file$' \
    sitting[1-5].jsonl library.jsonl
sed '$d' sitting6.jsonl | sed '$d' >short.jsonl
unlearned 'short.jsonl: not all launches that it plans' sitting[1-5].jsonl short.jsonl
sed '1s/"git_dirty":false/"git_dirty":true/' sitting6.jsonl >dirty.jsonl
unlearned 'dirty.jsonl: it is of a changed tree' sitting[1-5].jsonl dirty.jsonl

# Records that `lockstep compare` refuses are not judged by other commands, either.
doubted() {
    sed "1s/$1/$2/" sitting6.jsonl >doubted.jsonl
    ! cmp -s doubted.jsonl sitting6.jsonl || fail "nothing was changed by $1"
    validate 3 good.yaml doubted.jsonl
    prints "INVALID .* it is of $3"
    unlearned "doubted.jsonl: it is of $3" sitting[1-5].jsonl doubted.jsonl
}
doubted '"build_type":"Release"' '"build_type":"Debug"' 'a Debug build, not of Release or RelWithDebInfo'
doubted '"sanitizers":""' '"sanitizers":"address"' 'a build with sanitizers: address'
doubted CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC 'the clock CLOCK_MONOTONIC, not CLOCK_MONOTONIC_RAW'
doubted '"git_dirty":false' '"git_dirty":true' 'a changed tree on commit 3f2a9c1d5b7e'
expect_status 0 "$lockstep" validate --profile good.yaml --allow-dirty doubted.jsonl
prints 'ACCEPTED by profile .*; of a changed tree, by --allow-dirty'

# wrong PATTERN SED: there is one clear line with file, line and key, and exit 2.
wrong() {
    sed "$2" good.yaml >wrong.yaml
    ! cmp -s good.yaml wrong.yaml || fail "$2 changes nothing"
    for command in 'validate check wrong.yaml' 'validate --profile wrong.yaml old.jsonl'; do
        expect_status 2 "$lockstep" $command
        grep -q "^lockstep [a-z ]*: wrong.yaml:$1" err || fail "$2"
        [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "$2: $(cat err out)"
    done
}
wrong "6: limit of step_time: max: '5.7' has no unit; known are ns, us, ms or s" 's/5.7 us/5.7/'
wrong "6: limit of step_time: max: '5.7 GB' has an unknown unit" 's/5.7 us/5.7 GB/'
wrong "6: limit of step_time: max: 'nan us' is no number" 's/5.7 us/nan us/'
wrong "6: limit of step_time: max: '-2 us' is no number" 's/5.7 us/-2 us/'
wrong "6: limit of step_time: max: '0x2 us' is no number" 's/5.7 us/0x2 us/'
wrong '6: limit of step_tim: metric: it is not known' 's/step_time/step_tim/'
wrong '6: limit of step_time: statistic: it has to be' 's/typical/mean/'
wrong '6: limit of step_time: kind: it has to be binding or advisory' 's/binding/must/'
wrong '6: limit of step_time: source: it says nothing' 's/made up/" "/'
wrong '6: limit of step_time: date: it has to be a day' 's/2026-11-23/2026-02-30/'
wrong '6: limit of step_time: evidence: it has to be' 's/measured/believed/'
wrong '6: limit of step_time: min, max: no number is above min and below max' \
    's/max: 5.7 us/max: 5.7 us\n    min: 9 us/'
wrong '6: limit of step_time: bytes: only a bandwidth' 's/batch: 30/batch: 30, bytes: 1 GiB/'
wrong "[0-9]*: host_inputs: .2. is outside 0 to 1" 's/batch: 30/batch: 30, host_inputs: 2/'
wrong "[0-9]*: batch: .-64." 's/batch: 30/batch: -64/'
wrong "[0-9]*: batch: a 0 stands in front" 's/batch: 30/batch: 0x40/'
wrong "[0-9]*: batch: a 0 stands in front" 's/batch: 30/batch: 036/'
wrong "[0-9]*: devices: .0. is outside 1 to" 's/devices: [0-9]*/devices: 0/'
wrong "[0-9]*: launches: .-1." 's/launches: 6/launches: -1/'
wrong "[0-9]*: launches: .0. is outside 1 to" 's/launches: 6/launches: 0/'
wrong "[0-9]*: cores: .0. is outside 1 to" 's/cores: 4/cores: 0/'
wrong '6: limit of step_time: mode: no record has one of that name' 's/mode: dp/mode: magic/'
wrong '6: limit of step_time: mode: a limit is of steps' 's/mode: dp/mode: collective/'
wrong '6: limit of step_time: backend: no record' 's/mode: dp/mode: dp, backend: magic/'
wrong '6: limit of step_time: communicator: no record' 's/mode: dp/mode: dp, communicator: magic/'
wrong '6: limit of step_time: math: no record' 's/mode: dp/mode: dp, math: f16/'
wrong "6: limit of step_time: max: '1e30 s' is more than 1e+15 ns" 's/5.7 us/1e30 s/'
wrong '[0-9]*: .*' 's/cores: 4/cores: 4, cpu_model: ""/'
wrong '[0-9]*: a profile is one document of YAML' '$s/$/\n---\nname: other/'
wrong "6: limit of step_time: workload: 'gpt:2,65,2,32,256': a width of 65 is no multiple of 2 heads" \
    's/tutorial/"gpt:2,65,2,32,256"/'
wrong "6: limit of step_time: workload: 'mlp:0,4': sizes must be 1 to" 's/tutorial/"mlp:0,4"/'
wrong "6: limit of step_time: workload: 'mlp:08,4' has the name mlp:8,4" 's/tutorial/"mlp:08,4"/'
wrong '8: STRING length < 1' 's/tutorial/""/'
wrong "6: limit of step_time: sibling: '5' has no unit" 's/max: 5.7 us/max: 5.7 us\n    sibling: 5/'
wrong "6: limit of step_time: peak: '5' has no unit" 's/max: 5.7 us/max: 5.7 us\n    peak: 5/'
# A second number decides about the same place.
limit step_time 'max: 5.8 us' "$cell" advisory 'statistic: typical' >advisory
cat good.yaml advisory >two.yaml
expect_status 0 "$lockstep" validate --profile two.yaml old.jsonl
sed 's/advisory/binding/' advisory | cat good.yaml - >two.yaml
refuse 'two.yaml:14: limit of step_time: max: the one of line 6 is binding, too' \
    "$lockstep" validate --profile two.yaml old.jsonl
sed 's/typical/floor/;s/advisory/binding/' advisory | cat good.yaml - >two.yaml
expect_status 0 "$lockstep" validate --profile two.yaml old.jsonl
wrong '[0-9]*: Unexpected key: btch' 's/batch/btch/'
wrong '[0-9]*: Unexpected key: limts' 's/limits/limts/'
wrong '[0-9]*: Mapping field already seen: kind' 's/kind: binding/kind: binding\n    kind: advisory/'
wrong '[0-9]*: Mapping field already seen: limits' '$s/$/\nlimits: []/'
wrong '[0-9]*: Mapping field already seen: cores' 's/cores: 4/cores: 4, cores: 8/'
wrong '[0-9]*: Unexpected key: <<' 's/cores: 4/cores: 4, <<: {gpus: 1}/'
wrong '[0-9]*: .*lias' 's/made up/\&a made up/;s/measured/*a/'
wrong '[0-9]*: a profile has no anchors' 's/made up/\&a made up/'
wrong '[0-9]*: a profile has no anchors' 's/cores: 4/\&a cores: 4/'
wrong '[0-9]*: a profile has no anchors' 's/at: /at: \&a /'
wrong '[0-9]*: a profile has no anchors' 's/limits:/limits: !!seq/'
wrong '[0-9]*: a profile has no anchors' 's/launches: 6/launches: !!str 6/'
wrong '[0-9]*: a profile has no anchors' 's/kind: binding/kind: !other binding/'
wrong '[0-9]*: a profile has no anchors' 's/{cores/!!map {cores/'
wrong '[0-9]*: Missing required mapping field: source' '/source/d'
wrong ' schema is .lockstep/profile/9.0., this program knows lockstep/profile/1.0' 's/1\.0/9.0/'
: >empty.yaml
expect_status 2 "$lockstep" validate check empty.yaml
grep -q 'empty.yaml: it is empty$' err || fail "empty"
expect_status 2 "$lockstep" validate check no/such.yaml
expect_status 2 "$lockstep" validate check
expect_status 2 "$lockstep" validate learn
expect_status 2 "$lockstep" validate teach good.yaml
expect_status 2 "$lockstep" validate old.jsonl
expect_status 2 "$lockstep" validate --profile good.yaml
expect_status 2 "$lockstep" validate --profile good.yaml good.yaml
