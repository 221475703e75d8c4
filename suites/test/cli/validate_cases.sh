# `lockstep validate` of a profile that requires conformance: no machine is accepted before the
# cases have passed on its devices.
#   validate_cases.sh LOCKSTEP FOLDER MAKE_RECORDS SOURCE [short]
# short: what is measured is judged once; for a build that takes three times as long.
. "$(dirname "$0")/validate_common.sh"

one='workload: tutorial, mode: dp, devices: 1, batch: 8'
limit peak_memory 'max: 100 KiB' "$one" >limits # each machine has the same number: 65 KiB
profile good.yaml '' 'launches: 5, conformance: primitives' <limits
quiet='--bind none --devices virt:2' # cases of a profile take two

# No machine is accepted if the times of the build cannot be judged by.
if ! "$lockstep" --version | grep -q 'Release)\|RelWithDebInfo)'; then
    # shellcheck disable=SC2086 # words
    expect_status 3 "$lockstep" validate --allow-dirty --profile good.yaml --run $quiet --out good.jsonl
    prints 'INVALID .* it is of a '
    exit 0
fi

# The cases run first, then the launches. The result of the cases is kept next to the records.
# shellcheck disable=SC2086 # words
expect_status 0 "$lockstep" validate --allow-dirty --profile good.yaml --run $quiet --out good.jsonl
prints 'PASS conformance of primitives: [1-9][0-9]* of [1-9][0-9]* cases passed, 0 failed'
prints 'ACCEPTED by profile good.yaml: of its binding limits 1 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 0 INVALID; conformance PASS'
[ -s good.jsonl.check ] || fail "no result of the cases: $(ls)"
if [ "${5-}" = short ]; then
    exit 0
fi

# judged STATUS FILE WORDS: judges by the existing records, and by that result of the cases.
judged() {
    expect_status "$1" "$lockstep" validate --allow-dirty --profile good.yaml good.jsonl --conformance "$2"
    prints "$3"
    ! grep -q '.\{81\}' out || fail "more than 80 columns"
}

# seal FILE: makes the seal right again.
seal() {
    body=$(sed 's/,"seal":"[^"]*"}$//' "$1")
    printf '%s,"seal":"%s"}\n' "$body" "$(printf %s "$body" | sha256sum | cut -c 1-64)" >"$1"
}

# changed SCRIPT...: changes the result in that way.
changed() {
    sed "$@" good.jsonl.check >other
    seal other
    ! cmp -s other good.jsonl.check || fail "nothing was changed by $*"
}

# The files give the same verdict; without the result of the cases the machine is not shown.
judged 0 good.jsonl.check 'PASS conformance of primitives'
expect_status 3 "$lockstep" validate --allow-dirty --profile good.yaml good.jsonl
prints 'UNMEASURED conformance of primitives the cases were not run: lockstep check --profile primitives'
prints 'NOT SHOWN by profile good.yaml: of its binding limits 1 PASS, .*; conformance UNMEASURED'

# The result is of another start, of other devices, of a part, of other cases, or of an unknown
# machine.
changed 's/"instance": ".\{8\}/"instance": "00000000/'
judged 3 other 'INVALID conformance of primitives the cases were run after another start'
changed 's/"virt:1"/"virt:7"/'
judged 3 other 'INVALID .* the cases were run on virt:0, virt:7, and measured was virt:0, virt:1'
changed 's/"partial": false/"partial": true/'
judged 3 other 'INVALID .* only some of the cases were run'
passed=$(sed -n 's/^ *"pass": \([0-9]*\),$/\1/p' good.jsonl.check | head -1)
skipped=$(sed -n 's/^ *"skip": \([0-9]*\),$/\1/p' good.jsonl.check | head -1)
changed -e '0,/"verdict": "PASS"/s//"verdict": "SKIP"/' -e '/"verdict": "SKIP"/,/"known"/s/"known": false/"known": true/' \
    -e "0,/\"pass\": $passed/s//\"pass\": $((passed - 1))/" -e "0,/\"skip\": $skipped/s//\"skip\": $((skipped + 1))/"
judged 3 other 'INVALID .* [1-9][0-9]* of the cases failed as --known says'
changed '/"machine": {/,/}/d'
judged 3 other 'INVALID .* it does not say on which machine'
profile good.yaml '' 'launches: 5, conformance: "primitives,ddp"' <limits
judged 3 good.jsonl.check 'UNMEASURED conformance of primitives,ddp: .* the cases of ddp were not run'
profile good.yaml '' 'launches: 5, conformance: all' <limits
judged 3 good.jsonl.check 'UNMEASURED .* the cases of dataparallel were not run'
# If it is one of several profiles the result holds for all of them, too, as in `lockstep check
# --profile`.
changed 's/^\( *\)"primitives"$/\1"primitives", "dataparallel", "ddp"/'
for list in all ddp,all all,ddp,ddp; do
    profile good.yaml '' "launches: 5, conformance: \"$list\"" <limits
    judged 3 good.jsonl.check 'UNMEASURED .* the cases of dataparallel were not run'
    judged 3 other "INVALID conformance of $list: .* the case .* is not in it"
done
profile good.yaml '' 'launches: 5, conformance: primitives' <limits

# The result is of another implementation, communicator, build or library; it lacks a case, has
# another rule, or no seal.
changed 's/"spec": "reference"/"spec": ".\/mine.so"/'
judged 3 other 'INVALID .* the cases are of reference (cpu kernels, .*'
changed 's/ communicator)"/x communicator)"/'
judged 3 other 'INVALID .* the cases are of .*x communicator), and measured was reference'
changed 's/"program": "......../"program": "00000000/'
judged 3 other 'INVALID .* the cases are of another build than the records'
changed 's/"blas": "/"blas": "Other/'
judged 3 other 'INVALID .* the cases are of "Other'
gpus='driver 12.4, runtime 12.4, cuBLAS 12.4.5, NCCL 2.21.5'
changed "s/\"gpu_software\": null/\"gpu_software\": \"$gpus\"/"
judged 3 other "INVALID .* the cases are of \"$gpus\", and the records of \"\""
sed "s/,\"chain\":\"[^\"]*\"//;s/,\"seal\":\"[^\"]*\"//;1s/\"gpu_software\":\"\"/\"gpu_software\":\"$gpus\"/" good.jsonl >gpus.jsonl
expect_status 0 "$lockstep" validate --allow-dirty --profile good.yaml gpus.jsonl --conformance other
prints 'PASS conformance of primitives'
changed "s/\"gpu_software\": null/\"gpu_software\": \"${gpus%.5}.4\"/"
for result in good.jsonl.check other; do
    expect_status 3 "$lockstep" validate --allow-dirty --profile good.yaml gpus.jsonl --conformance $result
    prints "INVALID .* the cases are of \".*\", and the records of \"$gpus\""
done
changed '0,/"rule": "SPLIT-01"/s//"rule": "SPLIT-99"/'
judged 3 other 'INVALID .* is of SPLIT-01, .*, and not of SPLIT-99'
changed '0,/"id": "SPLIT-01\./s//"id": "SPLIT-01.no/'
judged 3 other 'INVALID .* the case SPLIT-01\..* is not in it'
sed 's/^,"chain".*/}/' good.jsonl.check >other
judged 3 other 'INVALID .* it is unsealed'
sed 's/"seed": 0/"seed": 1/;s/"devices": 2/"devices": 3/' good.jsonl.check >other
expect_status 2 "$lockstep" validate --allow-dirty --profile good.yaml good.jsonl --conformance other
grep -q '"seal" is .* it was changed' err || fail "words"
for other in '--backend cpu-ref' '--communicator staged'; do
    # shellcheck disable=SC2086 # words
    "$lockstep" check --profile primitives $other --devices virt:2 --format json --out "other ${other#* }" >/dev/null
    judged 3 "other ${other#* }" 'INVALID .* and measured was reference (cpu kernels'
done

# A case that failed rejects the machine, in every form; one without a verdict does not accept it.
changed -e '0,/"verdict": "PASS"/s//"verdict": "FAIL"/' -e "0,/\"pass\": $passed/s//\"pass\": $((passed - 1))/" \
    -e '0,/"fail": 0/s//"fail": 1/' -e '/"counts": {/,/}/s/"verdict": "PASS"/"verdict": "FAIL"/'
cp other failed
judged 1 failed 'FAIL conformance of primitives: .* 1 failed'
prints 'REJECTED by profile good.yaml: of its binding limits 1 PASS, 0 FAIL, .*; conformance FAIL'
for form in 'junit:<failure message="conformance of primitives' 'md:FAIL: conformance of primitives' \
    'annotations:^::error title=lockstep::conformance of primitives: .* 1 failed' 'json:"verdict": "FAIL"'; do
    expect_status 1 "$lockstep" validate --allow-dirty --profile good.yaml good.jsonl --conformance failed \
        --node bad --format "${form%%:*}"
    grep -q -e "${form#*:}" out || fail "${form%%:*}"
done
mkdir fleet
cp out fleet/bad.json
expect_status 1 "$lockstep" fleet fleet
prints 'REJECTED bad: FAIL conformance: SPLIT-01.sizes'
sed 's/"verdict": "REJECTED"/"verdict": "ACCEPTED"/' fleet/bad.json >changed
mv changed fleet/bad.json
expect_status 1 "$lockstep" fleet fleet
prints 'it is ACCEPTED, but its limits and cases show REJECTED'
changed -e '0,/"verdict": "PASS"/s//"verdict": "BROKEN"/' -e "0,/\"pass\": $passed/s//\"pass\": $((passed - 1))/" \
    -e '0,/"broken": 0/s//"broken": 1/' -e '/"counts": {/,/}/s/"verdict": "PASS"/"verdict": "BROKEN"/'
judged 3 other 'INVALID conformance of primitives: '

# The devices go wrong, or the time is too short for the cases.
expect_status 1 "$lockstep" validate --allow-dirty --profile good.yaml --run --bind none \
    --devices virt:2+fault:launch@100 --out bad.jsonl
prints 'FAIL conformance of primitives: .* fails on purpose'
profile good.yaml '' 'launches: 5, conformance: all' <limits
# shellcheck disable=SC2086 # words
expect_status 3 "$lockstep" validate --allow-dirty --profile good.yaml --minutes 0.01 $quiet --out short.jsonl
prints 'UNMEASURED conformance of all the cases were not run'
grep -q 'the time was over before all cases were run' err || fail "words"

# refuse: files that cannot be read, and misuse: exit 2, one line.
refuse() {
    words=$1
    shift
    expect_status 2 "$lockstep" validate --allow-dirty --profile good.yaml "$@"
    grep -q -e "$words" err || fail "no '$words' in"
    [ ! -s out ] || fail "a verdict"
}
head -c 1000 good.jsonl.check >torn
refuse 'torn: ' good.jsonl --conformance torn
refuse 'none: No such file' good.jsonl --conformance none
refuse 'is of records: --run and --minutes run the cases themselves' --run --conformance torn
profile good.yaml '' 'launches: 5, conformance: "ddp,fast"' <limits
refuse "requires: conformance: 'fast' is not one of primitives, dataparallel, ddp or all" good.jsonl
