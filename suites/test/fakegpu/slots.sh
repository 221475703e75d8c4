# Several slots on one GPU show that it works, and never how fast: record and report say so.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=2

expect_status 0 "$lockstep" sweep --wait --devices cuda:0,0,0 --batch 10,64 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out slots.jsonl
# The cells are plain and on 1, 2 and 3 devices, with two batches; the last two share a GPU.
expect_count 4 '"oversubscribed":true' slots.jsonl
expect_count 4 '"oversubscribed":false' slots.jsonl
grep '"oversubscribed":true' slots.jsonl | grep -c '"devices":"cuda:0,0\(,0\)\{0,1\}"' >n
[ "$(cat n)" -eq 4 ] || fail "not those of 2 and 3 slots: $(cut -c1-300 slots.jsonl)"
grep -q '"name":"cuda:0#2"' slots.jsonl || fail "no name of the third slot"

expect_status 0 "$lockstep" report slots.jsonl --out report
for file in report/index.html report/summary.md; do
    grep -q '4 of 8 cells had several slots on one GPU or core: evidence of correctness, not of performance' \
        $file || fail "no caution in $file"
    ! grep -q 'more devices than cores' $file || fail "$file speaks of cores"
done
expect_count 4 '| verified, SIMULATED, oversubscribed' report/summary.md
grep -q '[23] devices (oversubscribed) train' report/summary.md || fail "the verdict does not say so"
grep -q 'several slots on one GPU' report/waterfall.svg || fail "nothing at the bars"

# The records are neither simulated nor sealed, as after an edit: the figures then explain their
# hollow markers.
sed 's/"source":"simulated"/"source":"measured"/; s/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//' slots.jsonl >measured.jsonl
expect_status 0 "$lockstep" report measured.jsonl --out measured
grep -q 'hollow: several slots on one GPU' measured/scaling.svg || fail "scaling is bare"
# Lines through batches are for the most devices that share nothing.
grep -q '>DataParallel on 1<' measured/batch.svg || fail "no line of one slot"

# One slot on each of two GPUs shares nothing.
expect_status 0 "$lockstep" sweep --wait --devices cuda:0,1 --batch 10 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out two.jsonl
expect_count 0 '"oversubscribed":true' two.jsonl
expect_status 0 "$lockstep" report two.jsonl --out two
expect_count 0 'several slots' two/summary.md

# Slow transfers and a fault on GPUs; the records have the list as it was given.
small="--batch 8 --workload mlp:8,6,4 --seconds 0.01 --steps 5:10 --mode dp"
# shellcheck disable=SC2086 # several options
{
    expect_status 0 "$lockstep" sweep --wait --devices cuda:0,0+500us --counts 2 $small --out slow.jsonl
    expect_status 1 "$lockstep" sweep --wait --devices cuda:all+500us+fault:launch@9 --counts 1,2 $small \
        --out fault.jsonl
}
[ "$(count_lines '"devices":"cuda:0,0+500us".*"status":"ok"' slow.jsonl)" -eq 1 ] ||
    fail "no cell on slow GPUs is ok"
# Its median is at least the delay of a transfer.
grep -o '"median_ns":[0-9]*' slow.jsonl | awk -F: '$2 < 500000 { exit 1 }' ||
    fail "a step with slow transfers took less than one: $(grep -o '"median_ns":[0-9]*' slow.jsonl)"
[ "$(count_lines 'cuda:0-1+500us+fault:launch@9".*"status":"failed".*call 9 of launch' fault.jsonl)" -eq 1 ] ||
    fail "no cell on two GPUs failed with the fault"
refuse '+lag is not for GPUs' "$lockstep" sweep --wait --devices cuda:all+lag
