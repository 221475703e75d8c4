# `lockstep check` from outside: implementations that misbehave, formats, misuse, signals.
fake=$3
old=$4
empty=$5
. "$(dirname "$0")/common.sh"
cases=SPLIT-01.sizes,SPLIT-01.known

# misuse WORDS OPTION...
misuse() {
    words=$1
    shift
    refuse "$words" "$lockstep" check "$@"
}

# fake STATUS MISDEED WORDS OPTION...: runs the fake with two cases; WORDS must be in the output.
fake() {
    wanted_status=$1
    misdeed=$2
    words=$3
    shift 3
    expect_status "$wanted_status" "$lockstep" check --impl "$fake" --impl-options "$misdeed" \
        --only "$cases" "$@"
    tr -s ' \n' '  ' <out >flat
    grep -q -- "$words" flat || fail "$misdeed: no '$words'"
    ! grep -Ev '^(FAIL|BROKEN) SPLIT-01[.][a-z]+: ' err || fail "$misdeed: something on stderr"
    if LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177-\377]')" out; then
        fail "$misdeed: a control byte went through"
    fi
}

# no_process_left PID
no_process_left() {
    tries=0
    while kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || fail "process $1 is still there"
        sleep 0.05
    done
}

# Each thing that an implementation may do, and the result.
fake 0 good 'PASS fake 1 with 2 devices: 2 of 2 cases passed'
fake 0 no-devices 'PASS fake 1 on the host: 2 of 2 cases passed'
fake 1 wrong '2 rows on 1 device: 1 shard (1), must be 1 (2)'
fake 1 crash 'FAIL SPLIT-01.sizes .* died of signal 11 .*, in split'
fake 1 abort 'died of signal 6 .*, in split'
fake 1 hang 'no answer after 0.3 s, in split; killed: --timeout sets this limit' --limit 0.3 --jobs 2
fake 1 exit0 'ended with status 0 and without an answer, in split'
fake 1 exit3 'ended with status 3 and without an answer, in split'
fake 1 forge 'something other than the suite wrote'
fake 1 close 'ended with status 3'
fake 1 close-crash 'died of signal 11 .*, in close'
fake 0 noise '2 of 2 cases passed'
fake 1 noise-crash 'it said: ?\[31mlast words'
fake 1 escape '\]0;x?<b>'
fake 1 open-crash 'could not be tested: the process died of signal 11 .*, in open; 2 cases were not run'
fake 1 open-hang 'no answer after 0.3 s, in open' --limit 0.3
fake 1 open-exit 'ended with status 0'
fake 2 open-error 'no ?\[31mdriver'
fake 1 open-error 'no ?\[31mdriver' --require-devices 1
fake 2 nameless 'it has no name'
fake 2 devices 'number of devices'
fake 2 claims 'claims a capability and has no operation'
fake 0 stay '2 of 2 cases passed'
no_process_left "$(cat stayed)"

# An implementation that cannot be loaded is broken, and the output says why.
for spec in "$old|version 9" "$empty|no symbol lockstep_impl" "./none.so|none.so" \
    "elsewhere|elsewhere" "mutant:nobody|unknown mutant 'nobody'" 'exec:true|exec' \
    'exec:echo rubbish|exec' 'exec:no-such-command-at-all|no-such-command'; do
    expect_status 2 "$lockstep" check --impl "${spec%%|*}" --only "$cases" --limit 5
    tr -s ' \n' '  ' <out >flat
    grep -q 'BROKEN .*could not be tested' flat || fail "$spec: no cause"
    grep -q -- "${spec#*|}" flat || fail "$spec: another cause"
done

# A profile requires cases that the fake does not have; a missing case is not skipped.
expect_status 1 "$lockstep" check --impl "$fake" --profile primitives
grep -q "^FAIL    PROFILE.primitives.gather " out || fail "no line for a missing capability"
grep -q "profile primitives requires 'gather', which the implementation" out || fail "no reason"
grep -q "requires 'scatter', which the implementation does not have" out || fail "no case fails"
expect_status 0 "$lockstep" check --impl "$fake" --profile primitives --only "$cases"
expect_status 0 "$lockstep" check --impl "$fake" --require-devices 2 --only "$cases"
expect_status 1 "$lockstep" check --impl "$fake" --require-devices 3 --only "$cases"
grep -q 'require-devices 3: fake has 2' err || fail "no line about devices"

# The printed command repeats the case.
fake 1 wrong 'SPLIT-01.known'
grep -o "[^ ]*lockstep check .*--only SPLIT-01.sizes" out >again || fail "no command"
grep -q -- "--impl-options wrong" again || fail "the command lacks an option"
sh again >out2 2>&1 && fail "the repeated case passed"
grep -q '^FAIL    SPLIT-01.sizes ' out2 || fail "the command repeats something else"

# Each failure is said as it happens: the first sentence of its reason.
printf 'FAIL SPLIT-01.%s\n' 'sizes: 2 rows on 1 device: 1 shard (1), must be 1 (2)' \
    'known: 30 rows on 2 devices: 2 shards (14, 15), must be 2 (15, 15)' | diff - err || fail "the failures on stderr"
fake 0 good 'cases passed'
[ ! -s err ] || fail "a failure of cases that pass: $(cat err)"

# A capability that is required and not offered is a failure, and so are its cases.
fake 1 good 'FAIL PROFILE.asked.join (must; by its own report) --require-capabilities requires .join., which the implementation does not have .* 2 of 3 cases passed, 1 failed' --require-capabilities split,join
fake 0 good '2 of 2 cases passed' --require-capabilities split
refuse 'unknown require-capabilities "joi"; known: join' "$lockstep" check --require-capabilities joi

# Failures of one cause are one block, which says what was found, then the rule, and names the others.
fake 1 wrong 'FAIL SPLIT-01.sizes (must) 2 rows on 1 device: 1 shard (1), must be 1 (2) SPLIT-01: Shards are consecutive runs of c rows; .* --only SPLIT-01.sizes 2 in the same way: SPLIT-01.sizes SPLIT-01.known area'

# known STATUS MISDEED WORDS LINE: with a file of known failures, whose third line this is.
known() {
    printf '# CASE, the first words of its failure # why\n\n%s\n' "$4" >known.txt
    fake "$1" "$2" "$3" --known known.txt
}

# What fails as known is skipped, and counted. Another failure of that case, a pass, and a case without a verdict are not.
known 1 wrong ': 0 of 2 cases passed, 1 failed, 1 skipped (1 known to fail)' 'SPLIT-01.sizes 2 rows on 1 device: 1 shard (1),   # a #7'
known 1 wrong 'skipped 1 case: known failure (a #7): 2 rows on 1 device: 1 shard (1), must be 1 (2) SPLIT-01.sizes FAIL' \
    'SPLIT-01.sizes 2 rows on 1 device: 1 shard (1) # a #7'
known 1 wrong '1 failed, 1 skipped (1 known to fail)' 'SPLIT-01.sizes 2 rows on 1 device: 1 shard (1), must be 1 (2) # all of it'
known 1 wrong '1 shard (1), must be 1 (2) (not as known.txt:3 says: ' 'SPLIT-01.sizes 3 rows # a'
# Its words end where a word or a number of the failure does, and have the wrong number: another one is not hidden.
known 1 crash '(not as known.txt:3 says: ' 'SPLIT-01.sizes the process died of signal 1 # a'
for words in 2 '2 rows on 1 device' '2 rows on 1 device:' '2 rows on 1 device: 1 shar'; do
    known 1 wrong '(known.txt:3 says too little, write: SPLIT-01.sizes 2 rows on 1 device: 1 shard (1) # a)' \
        "SPLIT-01.sizes $words # a"
done
known 1 crash '(known.txt:3 says too little, write: SPLIT-01.sizes the process died of signal # a)' 'SPLIT-01.sizes the process # a'
first='DDP-01.known setting 0, step 1: rank 0 of 2: gradient of parameter 0: element 0 is'
echo "${first%: gradient*} # all bad" >known.txt
expect_status 1 "$lockstep" check --impl mutant:M61-ddp-sum --only DDP-01.known --known known.txt
tr -s ' \n' '  ' <out >flat
grep -q "(known.txt:1 says too little, write: $first [0-9.]* (0x[0-9a-f]*) # all bad)" flat || fail "a number is hidden: $(cat flat)"
sed -n 's/.*too little, write: \(.*# all bad\)).*/\1/p' flat >known.txt
expect_status 77 "$lockstep" check --impl mutant:M61-ddp-sum --only DDP-01.known --known known.txt
ones='GRAD-01.ones 2 devices, 10 rows: gradient of parameter 0: element 0 is'
for words in 2 27 '27.5 (0x41dc'; do # it says 27.5 (0x41dc0000)
    echo "$ones $words # a" >known.txt
    expect_status 1 "$lockstep" check --impl mutant:M10-average --only GRAD-01.ones --known known.txt
    grep -q 'known.txt:1' out || fail "$words: $(cat out)"
done
echo "$ones 27.5 (0x41dc0000) # a" >known.txt
expect_status 77 "$lockstep" check --impl mutant:M10-average --only GRAD-01.ones --known known.txt
known 1 good 'it no longer fails: remove known.txt:3 (a) .* 1 of 2 cases passed, 1 failed' 'SPLIT-01.sizes 2 rows # a'
expect_status 1 "$lockstep" check --impl "$fake" --only "$cases" --known known.txt --format annotations
grep -q '^::error file=known.txt,line=3,title=SPLIT-01.sizes%3A ' out || fail "not the line that is stale: $(cat out)"
known 1 crash '1 failed, 1 skipped (1 known to fail)' 'SPLIT-01.sizes the process died of signal 11 # a'
known 2 open-error 'no ?\[31mdriver' 'SPLIT-01.sizes no # a'
known 0 good '2 of 2 cases passed; [1-9][0-9]* more were not selected (' 'GRAD-01.ones element 0 # of a case that is not run'
for line in 'SPLIT-01.size 2 rows # a|known.txt:1: there is no such case' 'SPLIT-01.sizes # a|known.txt:1: a line is' \
    'SPLIT-01.sizes 2 rows #|known.txt:1: a line is' 'SPLIT-01.sizes|known.txt:1: a line is'; do
    echo "${line%|*}" >known.txt
    misuse "${line#*|}" --impl "$fake" --only "$cases" --known known.txt
done
misuse "cannot read 'none.txt': No such file" --known none.txt
misuse 'known: not with' --known known.txt --list
# It selects nothing: all of the profile was asked for. What failed so is no proof that it is kept: validate_cases.sh
echo 'SPLIT-01.sizes 2 rows on 1 device: 1 shard (1) # a' >known.txt
expect_status 1 "$lockstep" check --impl "$fake" --impl-options wrong --profile primitives --known known.txt --format json
grep -q '"partial": false' out && grep -q '"reason": "known failure (a): 2 rows' out || fail "the JSON: $(cat out)"
cp out known.json
expect_status 1 "$lockstep" report --out page --check known.json
grep -qF '<b>Profile</b>: primitives</li>' page/conformance.html || fail "the page is of a part"
if grep 'not selected' page/conformance.html; then fail "something was left out"; fi

# The first failure ends the run; the rest is said not to have been run, and nothing turns into a pass.
fake 1 wrong ': 0 of 2 cases passed, 1 failed, 1 skipped (1 not run: --exitfirst)' --exitfirst
[ "$(grep -c . out)" -le 9 ] && ! grep -q '^\(area\|rules\|counts\|claimed\|skipped\) ' out || fail "more than the failure: $(cat out)"
fake 0 good ': 2 of 2 cases passed; [1-9][0-9]* more were not selected (' --exitfirst
expect_status 1 "$lockstep" check --impl "$fake" --profile primitives --exitfirst
tr -s ' \n' '  ' <out | grep -q ': 0 of [0-9]* cases passed, [0-9]* failed, .* not run: --exitfirst)' ||
    fail "--exitfirst ran something although a capability is missing"
expect_status 2 "$lockstep" check --impl "$fake" --impl-options open-error --only "$cases" --exitfirst

# A fault that only the schedule 0 shows is found with every seed, and each seed adds its schedule.
fake 1 late 'SPLIT-01.known'
fake 1 late 'SPLIT-01.known' --seed 3
fake 1 early 'SPLIT-01.known' --seed 3
fake 0 early 'cases passed' --seed 4

# The case that leads those that look alike is of the area that has the most of them.
expect_status 1 "$lockstep" check --impl mutant:M10-average --only 'SPLIT-01.changing,REPL-01.steps,GRAD-0[12].*'
[ "$(grep '^FAIL    [A-Z]*-' out | head -1)" = 'FAIL    GRAD-01.ones (must)' ] || fail "another leads: $(cat out)"
tr -s ' \n' '  ' <out | grep -q ' in the same way: SPLIT-01.changing REPL-01.steps GRAD-01.ones ' || fail "the others: $(cat out)"

# What was skipped stands in one block, after the table of areas and before the answer.
expect_status 0 "$lockstep" check --only 'COMP-12.*,SPLIT-01.sizes,SPLIT-05.refused,COUNT-04.*'
[ "$(sed 's/  .*//' out | grep -v '^$' | tr '\n' ' ')" = 'area SPLIT COMP COUNT total rules counts skipped PASS ' ] ||
    fail "the order: $(cat out)"
grep -q "^skipped   1 case: it chose the other" out && grep -q '^          COMP-12.live ' out || fail "skipped: $(cat out)"

# Where devices are missing there is a file that says so.
if [ ! -e /dev/nvidiactl ] && ! "$lockstep" devices 2>/dev/null | grep -q cuda:0; then
    expect_status 77 "$lockstep" check --devices cuda:all --area SPLIT --format junit --out none.xml
    grep -q '^SKIP    reference could not be tested: .*cuda:all' out || fail "no answer: $(cat out)"
    n=$(grep -c "<skipped message=.*cuda:all.*\(no CUDA part\|no driver\|no GPU\)" none.xml)
    grep -q "tests=\"$n\" failures=\"0\" errors=\"0\" skipped=\"$n\"" none.xml || fail "none.xml: $(head -3 none.xml)"
    expect_status 1 "$lockstep" check --devices cuda:0 --area SPLIT --format json --out none.json
    grep -q '"verdict": "FAIL"' none.json || fail "one device is missing: $(cat none.json)"
fi

# If all cases are skipped the status is 77.
expect_status 77 "$lockstep" check --impl mutant:none --only SPLIT-05.refused

# So are they where GPUs are asked for and the implementation found none: it would pass on the host.
expect_status 77 "$lockstep" check --impl "$fake" --impl-options no-devices --devices cuda:all --only "$cases"
grep -q '^SKIP ' out && grep -q 'devices cuda:all: fake has no devices, only the host' err || fail "no GPU: $(cat out err)"
expect_status 1 "$lockstep" check --impl "$fake" --impl-options no-devices --devices cuda:all --require-devices 1 --only "$cases"

# The formats have the same contents.
expect_status 1 "$lockstep" check --impl "$fake" --impl-options escape --profile primitives \
    --area SPLIT --out a.json
grep -q '^FAIL' out || fail "no text beside --out"
blocks=$(grep -c '^FAIL    [A-Z]*[-.]' out)
expect_status 1 "$lockstep" check --impl "$fake" --impl-options escape --profile primitives \
    --area SPLIT --format junit
cp out a.xml
expect_status 1 "$lockstep" check --impl "$fake" --impl-options escape --profile primitives \
    --area SPLIT --format md
grep -q '^### Conformance: FAIL' out || fail "no heading"
if grep -q '<b>' out; then fail "HTML in the table"; fi
grep -q '"schema": "lockstep/check/1.0"' a.json || fail "no schema"
grep -q '"created_utc": "20[0-9-]*T[0-9:]*Z"' a.json || fail "no date"
if LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177-\377]')" a.xml a.json; then
    fail "a control byte in a document"
fi
# json_count NAME: prints that member of counts.
json_count() {
    sed -n '/^ "counts"/,/^ }/s/^  "'"$1"'": \([0-9]*\),*$/\1/p' a.json
}
[ "$(grep -c '"id": ' a.json)" -eq "$(json_count cases)" ] || fail "cases in the JSON"
[ "$(json_count cases)" -gt 5 ] || fail "too few cases"
for pair in pass:PASS fail:FAIL skip:SKIP broken:BROKEN; do
    [ "$(grep -c "^   \"verdict\": \"${pair#*:}\"" a.json || true)" -eq \
        "$(json_count "${pair%:*}")" ] || fail "${pair%:*} in the JSON"
done
if command -v xmllint >/dev/null; then
    xmllint --noout a.xml || fail "not XML"
    # xml_number XPATH
    xml_number()
    {
        xmllint --xpath "number($1)" a.xml
    }
    [ "$(xml_number 'count(//testcase)')" = "$(json_count cases)" ] || fail "cases in the XML"
    [ "$(xml_number 'sum(//testsuite/@tests)')" = "$(json_count cases)" ] || fail "tests"
    [ "$(xml_number 'count(//failure)')" = "$(json_count fail)" ] || fail "failures"
    [ "$(xml_number 'sum(//testsuite/@failures)')" = "$(json_count fail)" ] || fail "@failures"
    [ "$(xml_number 'count(//error)')" = "$(json_count broken)" ] || fail "errors"
    [ "$(xml_number 'count(//skipped)')" = "$(json_count skip)" ] || fail "skipped"
    [ "$(xml_number '/testsuites/@tests')" = "$(json_count cases)" ] || fail "testsuites"
    [ "$(xmllint --xpath 'string(//testcase[1]/failure/@type)' a.xml)" = FAIL ] || fail "type"
else
    echo "note: xmllint is not installed, the XML was not read" >&2
fi

# A name that pretends: it has the text that ends raw text in XML, and links. Hidden characters are
# no argument.
odd='exec:@x #1 https://h ]]>é; exit 3'
for format in text junit md annotations csv json openmetrics; do
    expect_status 2 "$lockstep" check --impl "$odd" --area SPLIT --format $format
    cp out odd.$format
done
refuse 'has control or invisible characters' "$lockstep" check --impl "$odd$(printf '\342\200\256')" --area SPLIT
grep -q ']]&gt;é' odd.junit || fail "the XML does not escape it"
grep -q '@<!-- -->x .#<!-- -->1 https:<!-- -->//h .*&gt;é' odd.md || fail "a link or a mention"
if command -v xmllint >/dev/null; then xmllint --noout odd.junit || fail "not XML"; fi

# --list and --rules.
expect_status 0 "$lockstep" check --list --only 'SPLIT-01*'
grep -q '^SPLIT-01.sizes  *must  *split$' out || fail "--list"
expect_count 0 '.\{81\}' out
expect_status 0 "$lockstep" check --rules --area SPLIT
expect_count 14 '^SPLIT-[0-9][0-9] ' out
expect_count 1 '^SPLIT: cutting the input$' out
expect_count 1 '^14 rules: ' out
expect_count 0 '.\{81\}' out
expect_status 0 "$lockstep" check --help
expect_count 0 '.\{81\}' out

# Misuse.
misuse 'known are .*SPLIT\|area.*SPLIT' --area SPLT
misuse "'NOPE' matches no case" --only NOPE
misuse "'SPLIT-01.sizes' is outside of --area or --profile; --list" --area GRAD --only SPLIT-01.sizes
misuse "'DDP-01' is outside of --area or --profile; --list" --profile primitives --only SPLIT-01,DDP-01
misuse "'NOPE-\*' matches no case" --only 'SPLIT-01,NOPE-*'
misuse 'dataparallel' --profile dataparalel
misuse 'junit' --format xml
misuse 'cpu-ref' --backend gpu
misuse 'reference' --backend cpu --impl ./it.so
misuse 'same thing' --backend cpu --impl-options cpu
misuse 'jobs' --jobs 0
misuse 'timeout' --limit nan
misuse 'timeout' --timeout 0
misuse 'seed' --seed -1
misuse 'require-devices' --require-devices 65
misuse '--impl is empty' --impl ''
misuse 'one at a time' --list --rules
misuse 'only --list with json' --list --format junit
misuse 'only --list with json' --rules --format json
misuse 'until-caught' --mutants --exitfirst
misuse 'mutants' --mutants --impl reference
misuse 'mutants' --mutants --format junit
misuse 'mutants' --until-caught
misuse 'every-run' --every-run
misuse 'isolate' --mutants --until-caught --isolate
misuse 'twice' --jobs 1 --jobs 2
misuse 'stray' stray
misuse 'regular file' --out /dev/null
misuse "'junit' and 'md' would both go to standard output; name a file, like md:FILE" --format junit --format md
misuse "'junit' has no file after ':'" --format junit:
misuse "'junit' has two files" --format junit:never.xml --format junit:b.xml
misuse "'junit' has two files" --format junit:never.xml --format junit --out b.xml
misuse "'junit' and 'md' have one file, 'never.xml'" --format junit:never.xml --format md --out never.xml
misuse 'no/such/folder' --format junit:never.xml --format md:no/such/folder/a.md
[ ! -e never.xml ] || fail 'a file without a result'
misuse 'no/such/folder' --out no/such/folder/a.json
misuse 'names nothing' --profile ,
misuse 'names nothing' --only ,
[ -c /dev/null ] || fail "/dev/null was replaced"

# interrupted PASSED SKIPPED BROKEN OPTION...: the status is 130, the files have the verdicts so far, and no process is left.
interrupted() {
    wanted="\"pass\": $1, \"fail\": 0, \"skip\": $2, \"broken\": $3"
    broken=$3
    shift 3
    "$lockstep" check --impl "$fake" --format json:held.json --format md:held.md --format junit:held.xml "$@" >out 2>err &
    runner=$!
    before=none
    workers=
    until [ "$workers" = "$before" ]; do # the one that hangs
        before=$workers
        sleep 0.5
        find_workers "$runner"
    done
    kill -INT "$runner" 2>/dev/null || true
    kill -TERM "$runner"
    expect_end 130 "$runner"
    grep -q 'interrupted' err || fail "no word about the signal"
    for worker in $workers; do no_process_left "$worker"; done
    tr -s ' \n' '  ' <held.json >flat
    grep -qF "$wanted" flat || fail "not $wanted: $(cat flat)"
    grep -q '"verdict": "BROKEN", "exit": 130, "interrupted": true' flat || fail "not interrupted: $(cat flat)"
    grep -q '^### Conformance: INTERRUPTED' held.md || fail "$(cat held.md)"
    grep -q '^INTERRUPTED ' out || fail "$(cat out)"
    "$lockstep" report --out ended --check held.json >report 2>&1 && fail "status 0 of an interrupted check"
    grep -q '</span> INTERRUPTED: .* without a verdict' ended/conformance.html || fail "the page of an end"
    grep -q ' is INTERRUPTED' report || fail "$(cat report)"
    grep -q "<testsuites .* failures=\"0\" errors=\"$broken\"" held.xml || fail "$(cat held.xml)"
}
few='--impl-options hang@20 --only SPLIT-02.fewer,SPLIT-03.count,GRAD-01.ones'
# shellcheck disable=SC2086 # words
interrupted 1 1 1 $few
grep -q 'interrupted after 2 of 3 verdicts' err || fail "not of all cases: $(cat err)"
expect_status 0 "$lockstep" check --impl "$fake" --only @held.json
grep -q '1 of 1 cases passed' out || fail "not the case that had no verdict: $(cat out)"
# shellcheck disable=SC2086 # words
interrupted 0 1 2 $few --seed 7 # a pass with one schedule is none
interrupted 0 0 2 --impl-options open-hang --only "$cases"
grep -q 'tested: the run was interrupted; 2 cases were not run' out || fail "$(cat out)"

# The runner is killed: its children die with it.
"$lockstep" check --impl "$fake" --impl-options hang --only "$cases" >out 2>err &
runner=$!
find_workers "$runner"
kill -KILL "$runner"
wait "$runner" || true
for worker in $workers; do no_process_left "$worker"; done

# hint MUTANT CASE WORDS: the failure has that hint; "": it has none, because the numbers only look alike.
hint() {
    expect_status 1 "$lockstep" check --impl "mutant:$1" --only "$2" --format text --format md:hint.md
    tr -s ' \n' '  ' <out >flat
    if [ -n "$3" ]; then
        grep -qF "Hint: $3" flat || fail "$1: no hint '$3'"
    elif grep -q 'Hint:' flat; then
        fail "$1: a hint that is wrong"
    fi
}
hint M61-ddp-sum DDP-01.known '2 times what it must be, with 2 ranks: a sum where a mean belongs, reduced twice, or not cleared?'
grep -qF 'cleared? Model: 2 ranks; affine (weight [2], bias [1]); inputs [1], [1]; calls zero_grad, forward, backward ' flat ||
    fail "no model: $(cat flat)"
grep -qF ' differ<br/>Hint: 2 times' hint.md && grep -qF 'cleared?<br/>Model: 2 ranks; affine' hint.md || fail "no lines: $(cat hint.md)"
expect_status 1 "$lockstep" check --impl mutant:M04-drop-ragged --only GRAD-07.misfit
tr -s ' \n' '  ' <out | grep -q ' after the refusal: output of the step after the error: ' || fail "where it is wrong: $(cat out)"
hint M10-average GRAD-01.ones '1/2 of what it must be, with 2 devices: a mean where a sum belongs?'
hint M19-replicate-once REPL-01.steps 'that was right earlier in this case: an old copy, not refreshed?'
hint M22-completion-order GATH-01.model 'the right numbers in another order: are parts swapped?'
hint M35-counter-summed BUF-01.counter '2 times what it must be, with 2 devices: counted once for each of them?'
hint M12-first-gradient GRAD-01.replicas ''
hint M70-ddp-no-broadcast DDP-07.sent 'rank 0 has the right one: was it not broadcast from there?'
hint X184-ddp-buffers-never DDP-08.sent 'rank 0 has the right one: was it not broadcast from there?'
hint M66-ddp-last-bucket DDP-01.known 'rank 1 has another gradient: not reduced over the ranks, or the collective was not waited for?'
hint M66-ddp-last-bucket DDP-19.divisor 'rank 0 has none: not reduced over the ranks, or the collective was not waited for?'
ignored='has the same, and after a forward in no_sync() each rank keeps its own: was no_sync() ignored?'
hint S59-ddp-inner DDP-35.inner "rank 1 $ignored"
hint X185-ddp-buffers-always DDP-08.sent "rank 0 $ignored"
hint M61-ddp-sum GRAD-19.ranks 'after a step: was the gradient wrong already?'
# A long list is cut, a search for unused parameters is named, and a primitive has no model.
hint M61-ddp-sum DDP-01.network '2 times what'
grep -qF 'weight [-8, 4, 4, -6, .. 12 numbers], bias' flat || fail "a long list: $(cat flat)"
hint M61-ddp-sum DDP-21.some '2 times what'
grep -qF 'Model: 2 ranks; find_unused; branch (low [1], high [1]); inputs ' flat || fail "find_unused: $(cat flat)"
expect_status 1 "$lockstep" check --impl mutant:M01-floor-split --only SPLIT-01.sizes
! grep -q 'Model:' out || fail 'a primitive has a model'
! grep -q 'begin with' out || fail 'one area, and where to begin'
expect_status 1 "$lockstep" check --impl mutant:M01-floor-split --only 'SPLIT-01.sizes,GATH-*'
tr -s ' \n' '  ' <out | grep -q '; begin with SPLIT-01.sizes: what fails in later areas may follow from it ([0-9.]* s) $' ||
    fail "where to begin: $(tail -3 out)"

# The block of the lead is the first one. With the profile ddp alone that is area DDP's, and rules of
# other profiles are not counted.
expect_status 1 "$lockstep" check --impl mutant:M61-ddp-sum --profile ddp --format json:ddp.json
[ "$(sed -n '1s/ *(.*//p' out)" = 'FAIL    DDP-01.known' ] || fail "the first block: $(head -1 out)"
tr -s ' \n' '  ' <out | grep -q '(1 not offered: double); begin with DDP-01.known: what fails' ||
    fail "where to begin: $(tail -3 out)"
rules=$(awk -F '"' '$2 == "rule" { rule = $4 } $2 == "verdict" && rule != "" && $4 ~ /^(PASS|FAIL)$/ { print rule }' ddp.json |
    sort -u | wc -l)
grep -q "^rules     $rules tested: " out && grep -q "^total  *$rules " out || fail "not $rules rules: $(tail -20 out)"

# What is optional and fails says which claim it comes from; what is not optional does not.
claims() { # MUTANT CASE WORDS
    expect_status 1 "$lockstep" check --impl "mutant:$1" --only "$2" --format text --format md:hint.md
    tr -s ' \n' '  ' <out >flat
    [ "$(grep -o "You claim '[a-z_]*'; leave it out if you do not offer this" flat)" = "$3" ] || fail "$1: $(cat flat)"
}
claims M70-ddp-no-broadcast DDP-07.sent "You claim 'unlike_ranks'; leave it out if you do not offer this"
claims M74-leak COMP-12.live "You claim 'memory'; leave it out if you do not offer this"
claims M61-ddp-sum DDP-01.known ''

# A rank needs a device: with fewer devices there are fewer ranks, and with fewer than two no
# verdict.
ranks=DDP-01.known,DDP-02.unequal,DDP-29.nothing
few() {
    expect_status "$2" "$lockstep" check --devices virt:$1 --only $ranks
    tr -s ' \n' '  ' <out >flat
    grep -q -- "$3" flat || fail "on $1 devices: no '$3'"
}
few 1 77 '0 of 3 cases passed, 3 skipped (3 because of too few devices: they need up to 2)'
few 2 0 'with 2 devices: 3 of 3 cases passed; [1-9][0-9]* more were not selected ([0-9]'
few 3 0 'with 3 devices: 3 of 3 cases passed; [1-9][0-9]* more were not selected ([0-9]'
few 4 0 'with 4 devices: 3 of 3 cases passed; [1-9][0-9]* more were not selected ([0-9]'
# An area needs two devices as a profile does; cases that are named do not, and the last line says what they are worth.
expect_status 1 "$lockstep" check --devices virt:1 --area SPLIT,COUNT
more=$(tr -s ' \n' '  ' <out | grep -o '[0-9]* more were not selected')
grep -q '^FAIL    PROFILE[.]dataparallel[.]devices ' out || fail "an area on one device: $(cat out)"
expect_status 0 "$lockstep" check --devices virt:1 --only 'SPLIT-*,COUNT-*'
tr -s ' \n' '  ' <out | grep -q '[0-9]* because of too few devices: .*); no case ran on two devices; ' || fail "one device: $(tail -4 out)"
tr -s ' \n' '  ' <out | grep -q "; $more (" || fail "not $more: $(tail -4 out)"
expect_status 0 "$lockstep" check --devices virt:1 --area COAL

# The kill matrix of one area: its bugs are caught by its cases.
expect_status 1 "$lockstep" check --mutants --jobs 2 --only SPLIT-01.sizes,SPLIT-06.ceil \
    --format json --out m.json
grep -q '"schema": "lockstep/mutants/1.0"' m.json || fail "no matrix"
grep '^SURVIVED' out >all || fail "survivors are not named"
# Up to the first catch, by default on all cores: the same mutants survive, and none is caught
# twice.
expect_status 1 "$lockstep" check --mutants --until-caught --only SPLIT-01.sizes,SPLIT-06.ceil
grep '^SURVIVED' out | cmp - all || fail "--until-caught: others survive"

# Runs in which a case never asks for the bug are left out, which changes no catch.
same() {
    sed '/"seconds"/d; /"runs/d' "$1"
}
expect_status 1 "$lockstep" check --mutants --every-run --jobs 2 --only SPLIT-01.sizes,SPLIT-06.ceil \
    --format json --out every.json
same m.json >some.txt
same every.json | cmp - some.txt || fail "another matrix with --every-run"
grep -q '"runs_left_out": [1-9]' m.json || fail "no run was left out"
grep -q '"runs_left_out": 0,' every.json || fail "--every-run left some out"

# The page: everything is escaped, and a file whose numbers do not add up gives no page.
expect_status 1 "$lockstep" report --out page --check a.json
page=page/conformance.html
version=$("$lockstep" --version | sed 's/ (.*//;s/.* //')
grep -q "<dt>Ended</dt><dd>20[0-9-]*T[0-9:]*Z, Lockstep $version, commit [^<]" $page || fail "no date"
grep -q '&lt;b&gt;' $page || fail "nothing was escaped"
if grep -q '<b>]]' $page; then fail "HTML went through"; fi
grep -qF '<b>Matrix products</b>: &lt;none&gt; 2</li>' $page || fail "the page does not name the library"
grep -q 'PROFILE.primitives.scatter' $page || fail "a failing case is not on the page"
[ ! -e page/index.html ] || fail "an index without records"
if command -v xmllint >/dev/null; then
    xmllint --nonet --noout $page || fail "the page is not well-formed"
    [ "$(xmllint --xpath 'count(//*[@id="failed"]//*[local-name()="tr"][@class="failed"])' $page)" = "$blocks" ] ||
        fail "another number of failures on the page"
fi
# The command that repeats a case has the options as they were given.
expect_status 1 "$lockstep" check --devices virt:2+fault:drop@1/0 --backend cpu --communicator threads \
    --only 'REPL-01.*' --format json --out flags.json
grep -o "lockstep check .*--only REPL-01.[a-z]*" out | sed 's/.*lockstep check/lockstep check/' >again
grep -q -- '--backend cpu --communicator threads' again || fail "the command lacks an option: $(cat out)"
expect_status 1 "$lockstep" report --out page --check flags.json
while read -r again; do grep -qF -- "$again" $page || fail "not on the page: $again"; done <again
expect_status 0 "$lockstep" check --impl "$fake" --only "$cases" --format json --out good.json
expect_status 0 "$lockstep" sweep --devices virt:1 --workload mlp:2,2 --batch 2 --steps 2:2 \
    --seconds 0.001 --bind none --out r.jsonl
expect_status 0 "$lockstep" report --out both --check good.json r.jsonl
grep -qF '<p class="lead"><a href="conformance.html">' both/index.html || fail "a list item without a list"
grep -q 'href="conformance.html">Conformance</a>: PASS of fake' both/index.html || fail "no link"
grep -q 'href="index.html"' both/conformance.html || fail "no link back"
expect_status 1 "$lockstep" report --out both --check a.json r.jsonl
expect_status 0 "$lockstep" report --out both r.jsonl
[ ! -e both/conformance.html ] || fail "an old page was left beside a new report"
# unreadable WORDS SED-SCRIPT
unreadable() {
    sed -e "$2" -e "s|^,\"chain\".*|}|" good.json >bad.json
    expect_status 2 "$lockstep" report --out none --check bad.json
    grep -q -- "$1" err || fail "no '$1'"
    [ ! -e none ] || fail "something was written"
}
unreadable 'pass.*not the number' 's/"pass": 2/"pass": 3/'
unreadable 'verdict PASS is not' '0,/"verdict": "PASS"/s//"verdict": "FAIL"/; s/"pass": 2/"pass": 1/
    s/"fail": 0/"fail": 1/'
unreadable 'compared nothing' 's/"compared": [0-9]*/"compared": 0/'
unreadable 'the case SPLIT-01.sizes is there twice' 's/"id": "[^"]*"/"id": "SPLIT-01.sizes"/'
unreadable 'schema' 's|check/1.0|check/2.0|'
unreadable "not a word of 'verdict'" 's/"verdict": "PASS"/"verdict": "FINE"/'
unreadable 'line ' '$d'
unreadable "'spec'" 's/"spec": .*/"spec": 5,/'
unreadable 'add up' 's/"pending": 0/"pending": 7/'
refuse_report() {
    expect_status 2 "$lockstep" report --out none --check "$1"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line: report --check $1"
}
refuse_report missing.json
refuse_report .
refuse_report /dev/zero
