# No output contains text that a terminal or a log would obey, or that cannot be seen: no names of
# files and folders, and no text of records, profiles, verdicts, data sets and implementations.
#   hidden.sh LOCKSTEP FOLDER MAKE_RECORDS
. "$(dirname "$0")/common.sh"
make_records=$3

# The same text as JSON and YAML write it.
json='x\\u001b[2J\\u009b\\u200b\\u202e\\ue000\\uffff'
yaml='x\e[2J\x9b\u200b\u202e\ue000\ufffe'
mkdir "$hidden"
cd "./$hidden"
mkdir temporary
export TMPDIR="$PWD/temporary"

# says STATUS COMMAND...: STATUS is a number, or a pattern of numbers.
says() {
    wanted=$1
    shift
    ran="$*"
    status=0
    "$lockstep" "$@" >out 2>err || status=$?
    case $status in $wanted) ;; *) false ;; esac || { cat -v out err >&2; fail "status $status, wanted $wanted"; }
    clean out
    clean err
}

# All texts of the records have hidden characters; a verdict is made of them.
"$make_records" old plain.jsonl
sed '1s/"\(blas\|kernel\|cpu_model\|compiler\|governor\|gpu_software\|environment\|cflags\)":"[^"]*"/"\1":"'"$json"'"/g
    1s/"model":"[^"]*"/"model":"'"$json"'"/g; s/feedface/deadbeef/; s/"start_epoch_ns":"1/"start_epoch_ns":"2/' plain.jsonl >records.jsonl
! cmp -s plain.jsonl records.jsonl || fail 'nothing is hidden'
"$make_records" hostile hostile.jsonl
sed 's/feedface/deadbeef/; s/"start_epoch_ns":"1/"start_epoch_ns":"2/' hostile.jsonl >again.jsonl
cat >profile.yaml <<PROFILE
schema: lockstep/profile/1.0
name: "$yaml"
match: {cores: 4}
requires: {launches: 6}
limits:
  - metric: step_time
    statistic: typical
    max: 5.7 us
    at: {workload: tutorial, mode: dp, devices: 2, batch: 30}
    kind: binding
    source: "$yaml"
    date: 2026-11-23
    evidence: measured
PROFILE
for format in text json md csv junit annotations openmetrics; do
    says 0 validate --profile profile.yaml --format $format records.jsonl
    says 2 check --impl "exec:printf 'x\\033[2J\\342\\200\\256' >&2; exit 3" --only SPLIT-01.sizes --format $format
done
for format in csv bmf github openmetrics annotations junit md; do
    says 0 report --format $format records.jsonl
done
for format in text json md; do
    says 3 compare plain.jsonl records.jsonl --format $format
    says 3 compare hostile.jsonl again.jsonl --format $format
done
says 0 validate check profile.yaml records.jsonl
says 2 validate learn records.jsonl records.jsonl
says 2 forecast --to 4 records.jsonl
says 3 compare baseline add main records.jsonl
says 2 sweep --resume --devices virt:1 --out records.jsonl
says 1 report hostile.jsonl --out page
for file in page/*.html page/*.md page/*.svg page/*.tsv; do
    [ ! -e "$file" ] || clean "$file" # without gnuplot there is no figure
done
says 2 report records.jsonl --format nccl-tests

# Long or slow commands print names, too: of devices, workloads and files.
says 0 soak --devices virt:2 --iterations 2 --batch 8 --workload mlp:8,6,4
says 1 soak --devices virt:2+fault:flip@2/1 --iterations 3 --batch 8 --workload mlp:8,6,4
for form in text tsv; do
    says 0 sweep limits --devices virt:2 --workload mlp:6,7 --batch 4 --rounds 1 --format $form
done
for command in soak 'sweep limits' 'soak selftest' tutorial devices; do
    says 2 $command --devices "$hidden"
    says 2 $command "$hidden"
done
with "CUDA_VISIBLE_DEVICES=$hidden" says '[1-9]*' devices --devices cuda:0
with "OMP_PLACES=$hidden" says 0 sweep --bind none --devices virt:1 --counts 1 --mode plain --batch 8 --workload mlp:8,4 \
    --seconds 0.001 --steps 3:5 --warmup 1:0 --out own.jsonl
says 0 report own.jsonl --out own
clean own/index.html
clean own/summary.md

# There is a verdict, and a folder with it.
mkdir fleet
"$lockstep" validate --profile profile.yaml --format json plain.jsonl |
    sed 's/"gpu_software": [^,]*,/"gpu_software": "'"$json"'",/;s/\("machine_instance": "\)/\1m/' >fleet/a.json
cp fleet/a.json "fleet/$hidden.json"
cp fleet/a.json fleet/b.json
echo '{"x' >"fleet/y$hidden.json"
sed "s/\"node\": null/\"node\": \"$json\"/;s/\"m\"/\"n\"/;s/feedface/deadbeef/;s/\"samples_sha256\": \"../\"samples_sha256\": \"00/" fleet/a.json >fleet/c.json
for format in text json csv md; do
    says 1 fleet fleet --format $format --out lists
done
for file in lists/*; do
    [ ! -e "$file" ] || clean "$file" # without gnuplot there is no figure
done

# Data sets, weights and a reference that others made.
printf 'a%s,b\n1,2\n' "$hidden" >data.csv
says 2 train --data data.csv --classes 2
says 2 train --data hostile.jsonl --classes 2
for command in report compare validate forecast train; do
    cp records.jsonl "$hidden.jsonl"
    says 2 $command "$hidden.jsonl"
    says 2 $command --"$hidden"
    says 2 $command --format "$hidden" records.jsonl
done
says 2 "$hidden"
