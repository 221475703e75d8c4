# Too little memory on a GPU in the middle of a sweep is a result of that cell: the others are
# measured, the exit status tells, and --resume tries again what had too little.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=2 LOCKSTEP_FAKE_MEMORY=40

# The workspace of the matrix product is 32 MiB; two sets of 100,000 rows of 8 and of 4 floats are
# 9.6 MB.
sweep() {
    "$lockstep" sweep --wait --devices cuda:all --batch 16,100000 --workload mlp:8,8,4 --seconds 0.02 \
        --steps 3:5 --launches 1 --seed 5 --out memory.jsonl "$@"
}
expect_status 1 sweep
expect_count 3 '"status":"ok"' memory.jsonl
expect_count 3 '"status":"oom"' memory.jsonl
grep '"status":"oom"' memory.jsonl | grep -c '"global_batch":100000' >n
[ "$(cat n)" -eq 3 ] || fail "not the large batch: $(cut -c1-300 memory.jsonl)"
expect_count 3 '"reason":"[^"]*cuda:[01].*\(cannot allocate\|out of memory\)' memory.jsonl
expect_count 0 '"validated":true.*"status":"oom"\|"status":"oom".*"validated":true' memory.jsonl
expect_count 1 '^  oom  *3$' err
expect_count 1 '^  verified  *3$' err
expect_count 1 '"schema":"lockstep/end/' memory.jsonl

expect_status 1 "$lockstep" report memory.jsonl --out report
grep -q 'Of 6 planned launches, .* 3 verified; 3 FAILED' report/summary.md ||
    fail "no verdict: $(cat report/summary.md)"
grep -q 'FAILED (oom): .*cuda:[01]' report/summary.md || fail "no reason: $(cat report/summary.md)"

# On a larger GPU they succeed, and the others are not run again.
export LOCKSTEP_FAKE_MEMORY=512
expect_status 0 sweep --resume
expect_count 6 '"status":"ok"' memory.jsonl
expect_count 3 '"status":"oom"' memory.jsonl
expect_status 0 "$lockstep" report memory.jsonl --out report

# There is so little memory that nothing can be opened: that is a result of every cell.
export LOCKSTEP_FAKE_MEMORY=1
expect_status 1 "$lockstep" sweep --wait --devices cuda:0 --batch 100000 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:5 --out none.jsonl
expect_count 2 '"status":"oom"' none.jsonl
# The tutorial and a bench report it in one line.
expect_status 1 env LOCKSTEP_FAKE_FAIL=cudaMalloc:1+ "$lockstep" tutorial --devices cuda:0
[ "$(wc -l <err)" -eq 1 ] || fail "not one line"
grep -q 'cuda:0: cannot allocate' err || fail "no reason"
