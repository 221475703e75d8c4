# A small sweep on every kind of device and backend: every planned cell is there and verified.
. "$(dirname "$0")/common.sh"

sweep()
{
    file=$1
    shift
    expect_status 0 "$lockstep" sweep --bind none --seconds 0.02 --steps 2:4 --seed 7 \
        --out "$file" "$@"
    [ "$(cat out)" = "$file" ] || fail "the file's name is not on standard output"
}

# check FILE CELLS
check()
{
    expect_count 1 '"schema":"lockstep/run/1.0"' "$1"
    expect_count "$2" '"schema":"lockstep/cell/1.0"' "$1"
    expect_count "$2" '"status":"ok"' "$1"
    expect_count "$2" '"validated":true' "$1"
    expect_count 1 '"schema":"lockstep/end/1.0"' "$1"
    [ "$(cell_ids "$1" | uniq | wc -l)" -eq "$2" ] || fail "cells are doubled in $1"
}

sweep cpu.jsonl --devices virt:8 --counts 1,2,3,8 --batch 10,30,257 \
    --workload tutorial --workload mlp:24,40,16,8
check cpu.jsonl 24
for devices in 1 2 3 8; do
    expect_count 6 "\"mode\":\"dp\",\"devices\":\"virt:$devices\"" cpu.jsonl
done
expect_count 2 '"shard_rows":\[2,2,2,2,2\]' cpu.jsonl

sweep ref.jsonl --devices virt:3 --backend cpu-ref --batch 10,33 --workload mlp:7,5,3
check ref.jsonl 6
sweep lag.jsonl --devices virt:3+lag --counts 3 --batch 10 --workload mlp:7,5,3
check lag.jsonl 1
expect_count 1 '"mode":"dp","devices":"virt:3+lag"' lag.jsonl

# The same seed makes the same order, another seed another one.
order()
{
    grep -o '"cell_id":"[0-9a-f]*"' "$1"
}
sweep again.jsonl --devices virt:8 --counts 1,2,3,8 --batch 10,30,257 \
    --workload tutorial --workload mlp:24,40,16,8
order cpu.jsonl >first
order again.jsonl >second
cmp first second || fail "one seed, two orders"
sort first | cmp -s - first && fail "the order is not random"

# A cell that takes too long is a record, and the sweep goes on.
expect_status 1 "$lockstep" sweep --bind none --devices virt:1 --batch 10,20 --seconds 60 \
    --steps 1:100000 --workload mlp:2048,2048,2048 --timeout 0.2 --out late.jsonl
expect_count 2 '"status":"timeout"' late.jsonl

# A worker that dies is a record too.
"$lockstep" sweep --bind none --devices virt:1 --batch 10,20,30 --seconds 0.5 --steps 1:100000 \
    --workload mlp:64,64 --out crash.jsonl >out 2>err &
sweep=$!
wait_for_cells 1 crash.jsonl "$sweep"
find_workers "$sweep"
kill -KILL $workers
status=0
wait "$sweep" || status=$?
[ "$status" -eq 1 ] || fail "status $status after a worker died"
expect_count 1 '"status":"crashed"' crash.jsonl
expect_count 2 '"status":"ok"' crash.jsonl
