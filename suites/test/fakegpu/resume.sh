# A sweep on GPUs that is interrupted and taken up again, and one that is taken up elsewhere.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=2

sweep() {
    "$lockstep" sweep --wait --devices cuda:all --counts 1,2 --batch 16,64,256 --workload mlp:8,8,4 \
        --seconds 0.2 --steps 3:2000 --out it.jsonl "$@"
}
"$lockstep" sweep --wait --devices cuda:all --counts 1,2 --batch 16,64,256 --workload mlp:8,8,4 \
    --seconds 0.2 --steps 3:2000 --out it.jsonl >out 2>err &
running=$!
wait_for_cells 2 it.jsonl $running
kill -TERM $running
expect_end 130 $running
there=$(count_lines '"status":"ok"' it.jsonl)
[ "$there" -ge 2 ] && [ "$there" -lt 9 ] || fail "$there cells"

# On other devices it is another sweep: fewer GPUs, or real ones in place of fakes.
cp it.jsonl before
export CUDA_VISIBLE_DEVICES=0
expect_status 2 sweep --resume
[ "$(wc -l <err)" -eq 1 ] || fail "not one line"
cmp it.jsonl before || fail "a refused resume changed the file"
unset CUDA_VISIBLE_DEVICES
LOCKSTEP_FAKE_GPUS=0
expect_status 77 sweep --resume
cmp it.jsonl before || fail "a skipped resume changed the file"
LOCKSTEP_FAKE_DRIVER=broken
export LOCKSTEP_FAKE_DRIVER
expect_status 1 sweep --resume
cmp it.jsonl before || fail "a failed resume changed the file"
unset LOCKSTEP_FAKE_DRIVER
LOCKSTEP_FAKE_GPUS=2
LOCKSTEP_FAKE_PEER=0
export LOCKSTEP_FAKE_PEER
expect_status 2 sweep --resume
grep -q 'cannot resume' err || fail "not why"
cmp it.jsonl before || fail "a refused resume changed the file"
unset LOCKSTEP_FAKE_PEER

expect_status 0 sweep --resume
expect_count 9 '"status":"ok"' it.jsonl
[ "$(cell_ids it.jsonl | uniq | wc -l)" -eq 9 ] || fail "cells are missing or there twice"
expect_status 0 "$lockstep" report it.jsonl --out report
grep -q 'All 9 planned launches of 9 cells were SIMULATED and verified' report/summary.md ||
    fail "no verdict: $(cat report/summary.md)"
