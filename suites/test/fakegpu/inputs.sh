# Batches that start on the host are copied to GPUs: each step is verified, with every communicator,
# with and without graphs, in chains, and with slots that share a GPU.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=4

grid='--wait --batch 10 --workload mlp:8,8,4 --seconds 0.02 --steps 3:10 --warmup 5:0 --host-inputs 0,1'
# shellcheck disable=SC2086 # several options
{
    expect_status 0 "$lockstep" sweep $grid --devices cuda:all --counts 1,2,4 --mode plain,dp,ddp \
        --communicator peer,staged --chain 0,3 --out all.jsonl
    expect_status 0 "$lockstep" sweep $grid --devices cuda:0,0,0 --counts 1,3 --mode plain,dp \
        --graphs off --workload mixed --out shared.jsonl
}
# The cells are plain, and three counts of two modes, with two communicators, in chains and not.
expect_count 28 '"host_inputs":1,.*"status":"ok"' all.jsonl
expect_count 28 '"host_inputs":0,.*"status":"ok"' all.jsonl
expect_count 0 '"chain":0,"host_inputs":1,.*"scatter":null' all.jsonl
# A step copies 10 rows of 8 inputs and 4 factors.
expect_count 2 '"mode":"plain",.*"chain":0,"host_inputs":1,.*"bytes_per_step":480[.]0' all.jsonl
expect_count 6 '"host_inputs":1,.*"status":"ok"' shared.jsonl
expect_status 0 "$lockstep" report all.jsonl --out report
grep -q ', host-inputs 1' report/summary.md || fail "the report does not name the place of inputs"
