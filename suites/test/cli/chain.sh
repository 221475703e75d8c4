# Chains of steps (`lockstep sweep --chain`): they are separate cells, they are right on devices
# that work late, and a wrong bit of any step of a timed chain is found.
. "$(dirname "$0")/common.sh"

# Each value is a cell: a chain uses both sets, and its duty is known.
sweep 0 both.jsonl --devices virt:2 --counts 1,2 --mode plain,dp,ddp --workload mlp:64,64,64 \
    --chain 0,8 --steps 32:32
expect_count 10 '"status":"ok"' both.jsonl
expect_count 5 '"chain":8,.*"n_samples":9,.*"duty":0[.][0-9]' both.jsonl
expect_count 5 '"chain":0,.*"n_samples":37,.*"duty":null' both.jsonl

# Cells of one kind are never compared with those of the other.
sweep 0 chain.jsonl --devices virt:1 --mode plain --workload tutorial --chain 4
sweep 0 single.jsonl --devices virt:1 --mode plain --workload tutorial
refuse 'nothing to compare: 1 cell only in' "$lockstep" compare single.jsonl chain.jsonl
expect_status 0 "$lockstep" report both.jsonl --format csv
grep -q 'chain' out || fail "the report does not know the chain"

# Every workload that a wrapper takes, on devices that run as late as they may: memory that a step
# gets back is not used by an earlier step any more.
batch=16
for workload in tutorial blocks cnn resnet lstm rnn capsnet mixed; do
    sweep 0 late.jsonl --devices virt:2+lag --counts 2 --mode dp --workload "$workload" \
        --chain 3 --steps 1:6
done
sweep 0 late.jsonl --devices virt:2+lag --counts 2 --mode ddp --workload cnn --chain 3 \
    --steps 1:6

batch=64

# After the probe, the warm-up and both chains step by step, which are 24 steps, everything that is
# flipped, lost, repeated or stuck in a timed chain is found, and on which device. With several
# devices a sum may round a flipped bit away, and bits that are stuck, and then no result is wrong:
# with this seed it does not. With one rank every flip is in a result.
seen='sample [5-8], set [01]: \(a chain of 8 steps gave other results than the steps'
seen="$seen one by one, first seen on virt:[01]\\|after a chain of 8 steps: digest\\)"

# planted MODE FAULT DEVICES
planted() {
    sweep 1 bad.jsonl --devices "virt:$3+fault:$2" --counts "$3" --mode "$1" --workload mlp:64,64,64 \
        --chain 8 --steps 32:32 --seed 1
    expect_count 1 "\"status\":\"failed\",.*\"reason\":\"$seen" bad.jsonl
}

for step in 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
    planted ddp "flip@$step/0" 1
done
for mode in dp ddp; do
    for fault in nan drop double stale row; do
        planted "$mode" "$fault@34/1" 2
    done
done

# A fault in the chain step by step is found, too: the timed chain does not have it.
sweep 1 learned.jsonl --devices virt:1+fault:flip@12/0 --counts 1 --mode ddp \
    --workload mlp:64,64,64 --chain 8 --steps 32:32
expect_count 1 '"status":"failed",.*"reason":"sample 6, set 0: a chain' learned.jsonl

refuse 'outside 0 to 1000' "$lockstep" sweep $short --chain 1001
refuse 'chain is of --mode' "$lockstep" sweep --collective allreduce --chain 4 --devices virt:2
