# The forms of a verdict, read by other programs, with texts that were written to break them.
#   validate_forms.sh LOCKSTEP FOLDER MAKE_RECORDS
check=$(cd "$(dirname "$0")" && pwd)/validate_forms.py
. "$(dirname "$0")/validate_common.sh"

for kind in old slower one-slow hostile; do
    "$make_records" $kind $kind.jsonl || fail "make_records $kind"
done
cell='workload: tutorial, mode: dp, devices: 2, batch: 30'
three='workload: tutorial, mode: dp, devices: 3, batch: 30'

# One profile has each verdict, binding and advisory.
{
    limit step_time 'max: 5.7 us' "$cell" binding 'statistic: typical
    expected: 5.4 us'
    limit step_time 'max: 9 us' "$cell" binding 'statistic: floor'
    limit step_time 'max: 5.8 us' "$cell" advisory 'statistic: typical'
    limit step_time 'max: 2.77 us' 'workload: tutorial, mode: plain, batch: 30' advisory 'statistic: cost'
    limit moved 'max: 1 B' "$cell"
    limit step_time 'max: 1 s' 'batch: 12345' binding 'statistic: floor'
} | profile all.yaml
limit device_spread 'max: 1.05 x' "$three" binding 'statistic: floor' | profile spread.yaml
limit step_time 'max: 9 us' "$cell" binding 'statistic: floor' | profile good.yaml
limit step_time 'max: 9 us' "$cell" advisory 'statistic: floor' | profile advisory.yaml

# forms STATUS NAME PROFILE FILE [OPTION...]: writes a file in each form; all have the same exit
# status.
forms() {
    for form in json junit md csv openmetrics annotations; do
        expect_status "$1" "$lockstep" validate --profile "$3" --format $form "$4" ${5+"$5"}
        [ ! -s err ] || fail "words on standard error"
        mv out "$2.$form"
    done
}
forms 1 rejected all.yaml slower.jsonl --node=node-7.example.org
forms 1 spread spread.yaml one-slow.jsonl
forms 0 accepted good.yaml old.jsonl
forms 3 unbound advisory.yaml old.jsonl

# Hostile profiles and records; YAML that is not UTF-8 is refused.
sed 's/^name: .*/name: "a\\e[31m\\x01\\u202E\\uFFFE<b>\&amp;\\"| @you `x` ]]>"/
    s/made up/"<\/error>\\n\\e[2J]]>--> |"/' all.yaml >bad.yaml
sed '1s/"model":""/"model":"\\u202e<\&>]]>"/' one-slow.jsonl >devices.jsonl
! cmp -s devices.jsonl one-slow.jsonl || fail 'no model was changed'
forms 1 hostile bad.yaml slower.jsonl
grep -q 'a \[31m ??<b>' hostile.annotations || fail "the log does not show what cannot be seen"
for form in annotations json csv junit md; do
    ! grep -q "$(printf '\342\200\256')" "hostile.$form" || fail "$form: what turns directions"
done
forms 1 devices spread.yaml devices.jsonl
printf 'made up\377' >bytes
LC_ALL=C sed "s/made up/$(cat bytes)/" good.yaml >bytes.yaml
expect_status 2 "$lockstep" validate --profile bytes.yaml old.jsonl
LC_ALL=C sed '1s/"name":"virt:1"/"name":"virt\xff"/' one-slow.jsonl >bytes.jsonl
expect_status 2 "$lockstep" validate --profile spread.yaml bytes.jsonl
{
    limit step_time 'max: 1 s' 'mode: dp' advisory 'statistic: floor'
    limit step_time 'max: 1 s' 'mode: ddp' advisory 'statistic: floor'
} | profile wide.yaml ''
forms 3 records wide.yaml hostile.jsonl

# A name is one word, in lists as in lines; the name of the host is not used.
for name in '' ' ' 'a b' 'a,b' 'a/b' '-a' "$(printf 'a\nb')" 'a[1-3]' "$(printf '%0254d' 0)"; do
    expect_status 2 "$lockstep" validate --profile good.yaml --node="$name" old.jsonl
    [ "$(wc -l <err)" -le 2 ] && [ ! -s out ] || fail "--node=$name"
done
! grep -q "$(uname -n)" accepted.* || fail "the host name stands in a verdict"
expect_status 2 "$lockstep" validate --profile good.yaml --format xml old.jsonl

if command -v python3 >/dev/null; then
    python3 -B "$check" || fail 'a form of the verdict is wrong'
else
    echo 'note: no python3, so the forms are not read by other parsers'
fi
