# A sweep and its report on all GPUs: every launch is verified, and only those that were measured on a
# GPU count as such. $1 is the program, $2 a folder for the test, $3 the name that the records must
# have for their source.
. "$(dirname "$0")/../cli/common.sh"
source=$3

expect_status 0 "$lockstep" sweep --wait --devices cuda:all --batch 10,64 --workload tutorial \
    --workload mlp:64,64,64 --seconds 0.02 --steps 3:10 --out all.jsonl
expect_count 1 "\"source\":\"$source\"" all.jsonl
expect_count 0 '"status":"\(failed\|broken\|crashed\|timeout\|oom\|skipped\)"' all.jsonl
cells=$(count_lines '"status":"ok"' all.jsonl)
[ "$cells" -ge 8 ] || fail "only $cells cells"
expect_status 0 "$lockstep" report all.jsonl --out report
[ "$source" = measured ] || source=SIMULATED
expect_count 1 "All $cells planned launches of $cells cells were $source and verified" report/summary.md

# Results that a GPU rounds on purpose are within the bounds of its math, also for a model that
# rounds.
expect_status 0 "$lockstep" sweep --wait --devices cuda:0 --math tf32 --batch 8 --mode plain,dp \
    --workload gpt:1,16,2,8,32 --seconds 0.02 --steps 3:10 --out tf32.jsonl
expect_count 2 '"dtype":"tf32".*"status":"ok".*"validated":true' tf32.jsonl
