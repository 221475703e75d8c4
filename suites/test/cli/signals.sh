# Started with SIGCHLD ignored and all signals blocked: nothing waits for its time limit, nothing is
# called a timeout, and a signal still ends it. $3 is the parent that does so.
. "$(dirname "$0")/common.sh"
parent=$3
set -- sweep --bind none --mode dp --devices virt:2 --batch 10,30 --workload tutorial --seed 5

expect_status 0 timeout -s KILL 100 "$parent" "$lockstep" "$@" --seconds 0.02 --steps 2:4 \
    --timeout 10 --out sweep.jsonl
expect_count 4 '"status":"ok"' sweep.jsonl
expect_count 0 '"status":"timeout"' sweep.jsonl
expect_status 0 timeout -s KILL 100 "$parent" "$lockstep" report sweep.jsonl --out page

expect_status 0 timeout -s KILL 100 "$parent" "$lockstep" check --area SPLIT --format json --out check.json
grep -q '"verdict": "PASS"' check.json || fail "no case passed"

expect_status 0 timeout -s KILL 100 "$parent" "$lockstep" train --model mlp --epochs 1 --devices virt:2

# The parent has blocked SIGTERM; without an end the sweep would take minutes.
"$parent" "$lockstep" "$@" --seconds 100 --steps 2:100000 --timeout 300 --out long.jsonl >out 2>err &
sweep=$!
until [ -s long.jsonl ]; do
    kill -0 "$sweep" 2>/dev/null || fail "the sweep ended early"
    sleep 0.05
done
kill -TERM "$sweep"
expect_end 130 "$sweep"
