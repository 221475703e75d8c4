# `lockstep validate` of a profile that requires conformance: no machine is accepted before the cases
# have passed on its devices.
#   validate_cases.sh LOCKSTEP FOLDER MAKE_RECORDS SOURCE [short]
# short: what is measured is judged once; for a build that takes three times as long.
. "$(dirname "$0")/validate_common.sh"

one='workload: tutorial, mode: dp, devices: 1, batch: 8'
limit step_time 'max: 100 s' "$one" binding 'statistic: floor' >limits
profile good.yaml '' 'launches: 5, conformance: primitives' <limits
quiet='--bind none --devices virt:2' # cases of a profile take two

# Measured: the cases first, then the launches. The result of the cases is kept beside the records.
# shellcheck disable=SC2086 # words
expect_status 0 "$lockstep" validate --profile good.yaml --run $quiet --out good.jsonl
has 'PASS conformance of primitives: [1-9][0-9]* of [1-9][0-9]* cases passed, 0 failed'
has 'ACCEPTED by profile good.yaml: of its binding limits 1 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 0 INVALID; conformance PASS'
[ -s good.jsonl.check ] || fail "no result of the cases: $(ls)"
if [ "${5-}" = short ]; then
    exit 0
fi

# judged STATUS FILE WORDS: by the records that are there, and that result of the cases.
judged()
{
    expect_status "$1" "$lockstep" validate --profile good.yaml good.jsonl --conformance "$2"
    has "$3"
    ! grep -q '.\{81\}' out || fail "more than 80 columns: $(cat out)"
}

# changed SCRIPT...: the result, but for that.
changed()
{
    sed "$@" good.jsonl.check >other
    ! cmp -s other good.jsonl.check || fail "nothing was changed by $*"
}

# The same from the files; without the result of the cases the machine is not shown.
judged 0 good.jsonl.check 'PASS conformance of primitives'
expect_status 3 "$lockstep" validate --profile good.yaml good.jsonl
has 'UNMEASURED conformance of primitives nobody ran the cases: lockstep check --profile primitives'
has 'NOT SHOWN by profile good.yaml: of its binding limits 1 PASS, .*; conformance UNMEASURED'

# A result of another start, of other devices, of a part, of other cases, of nobody knows which machine.
changed 's/"instance": ".\{8\}/"instance": "00000000/'
judged 3 other 'INVALID conformance of primitives the cases were run after another start'
changed 's/"virt:1"/"virt:7"/'
judged 3 other 'INVALID .* the cases were run on virt:0, virt:7, and measured was virt:0, virt:1'
changed 's/"partial": false/"partial": true/'
judged 3 other 'INVALID .* only some of the cases were run'
changed '/"machine": {/,/}/d'
judged 3 other 'INVALID .* it does not say on which machine'
profile good.yaml '' 'launches: 5, conformance: "primitives,ddp"' <limits
judged 3 good.jsonl.check 'UNMEASURED conformance of primitives,ddp: .* the cases of ddp were not run'
profile good.yaml '' 'launches: 5, conformance: all' <limits
judged 3 good.jsonl.check 'UNMEASURED .* the cases of dataparallel were not run'
# Beside others it stands for all of them, too, as in `lockstep check --profile`.
changed 's/^\( *\)"primitives"$/\1"primitives", "dataparallel", "ddp"/'
for list in all ddp,all all,ddp,ddp; do
    profile good.yaml '' "launches: 5, conformance: \"$list\"" <limits
    judged 3 good.jsonl.check 'UNMEASURED .* the cases of dataparallel were not run'
    judged 0 other "PASS conformance of $list"
done
profile good.yaml '' 'launches: 5, conformance: primitives' <limits

# A case that failed rejects the machine, in every form; one without a verdict does not accept it.
passed=$(sed -n 's/^ *"pass": \([0-9]*\),$/\1/p' good.jsonl.check | head -1)
changed -e '0,/"verdict": "PASS"/s//"verdict": "FAIL"/' -e "0,/\"pass\": $passed/s//\"pass\": $((passed - 1))/" \
    -e '0,/"fail": 0/s//"fail": 1/' -e '/"counts": {/,/}/s/"verdict": "PASS"/"verdict": "FAIL"/'
cp other failed
judged 1 failed 'FAIL conformance of primitives: .* 1 failed'
has 'REJECTED by profile good.yaml: of its binding limits 1 PASS, 0 FAIL, .*; conformance FAIL'
for form in 'junit:<failure message="conformance of primitives' 'md:FAIL: conformance of primitives' \
    'annotations:^::error title=lockstep::conformance of primitives: .* 1 failed' 'json:"verdict": "FAIL"'; do
    expect_status 1 "$lockstep" validate --profile good.yaml good.jsonl --conformance failed \
        --node bad --format "${form%%:*}"
    grep -q -e "${form#*:}" out || fail "${form%%:*}: $(cat out)"
done
mkdir fleet
cp out fleet/bad.json
expect_status 1 "$lockstep" fleet fleet
has 'REJECTED bad: FAIL conformance: SPLIT-01.sizes'
sed 's/"verdict": "REJECTED"/"verdict": "ACCEPTED"/' fleet/bad.json >changed
mv changed fleet/bad.json
expect_status 1 "$lockstep" fleet fleet
has 'it is ACCEPTED, but its limits and cases show REJECTED'
changed -e '0,/"verdict": "PASS"/s//"verdict": "BROKEN"/' -e "0,/\"pass\": $passed/s//\"pass\": $((passed - 1))/" \
    -e '0,/"broken": 0/s//"broken": 1/' -e '/"counts": {/,/}/s/"verdict": "PASS"/"verdict": "BROKEN"/'
judged 3 other 'INVALID conformance of primitives: '

# Devices that go wrong, and a time that is too short for the cases.
expect_status 1 "$lockstep" validate --profile good.yaml --run --bind none \
    --devices virt:2+fault:launch@100 --out bad.jsonl
has 'FAIL conformance of primitives: .* fails on purpose'
profile good.yaml '' 'launches: 5, conformance: all' <limits
# shellcheck disable=SC2086 # words
expect_status 3 "$lockstep" validate --profile good.yaml --minutes 0.01 $quiet --out short.jsonl
has 'UNMEASURED conformance of all nobody ran the cases'
grep -q 'the time was over before all cases were run' err || fail "words: $(cat err)"

# What nobody can read, and misuse: exit 2, one line.
refuse()
{
    words=$1
    shift
    expect_status 2 "$lockstep" validate --profile good.yaml "$@"
    grep -q -e "$words" err || fail "no '$words' in: $(cat err)"
    [ ! -s out ] || fail "a verdict: $(cat out)"
}
head -c 1000 good.jsonl.check >torn
refuse 'torn: ' good.jsonl --conformance torn
refuse 'none: No such file' good.jsonl --conformance none
refuse 'is of records: --run and --minutes run the cases themselves' --run --conformance torn
profile good.yaml '' 'launches: 5, conformance: "ddp,fast"' <limits
refuse "requires: conformance: 'fast' is not one of primitives, dataparallel, ddp or all" good.jsonl
