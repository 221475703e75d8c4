# Separate steps for phases (`lockstep sweep --phases apart`), as GPUs always have them: each sample
# has another step for its phases, the cost of measuring them is known, and a wrong bit of either
# step is found, though results are compared on the device.
. "$(dirname "$0")/common.sh"

# Each sample has such a step, and the cost is known; a chain has no phases.
sweep 0 apart.jsonl --devices virt:2 --counts 1,2 --mode plain,dp,ddp --workload mlp:64,64,64 \
    --steps 32:32 --phases apart
expect_count 5 '"status":"ok"' apart.jsonl
expect_count 5 '"n_samples":37,.*"tracing_ns":-\{0,1\}[0-9.e+]*,.*"phased_ns":\[\([0-9]*,\)\{36\}[0-9]*\]' \
    apart.jsonl
expect_count 2 '"mode":"dp",.*"bytes_per_step":\(0.0\|[1-9][0-9.]*\),' apart.jsonl
expect_count 1 '"mode":"dp",.*"n_devices":2,.*"bytes_per_step":[1-9]' apart.jsonl
sweep 0 timed.jsonl --devices virt:2 --counts 1,2 --mode plain,dp,ddp --workload mlp:64,64,64 \
    --steps 32:32
expect_count 5 '"tracing_ns":null' timed.jsonl
expect_count 0 'phased_ns' timed.jsonl
sweep 0 chain.jsonl --devices virt:2 --mode dp --workload mlp:64,64,64 --chain 4 --phases apart
expect_count 2 '"chain":4,.*"tracing_ns":null,.*"forward":null,' chain.jsonl

# The report prints the smallest and the largest cost of the cells that have one. Cells that were
# timed with phases are not compared with cells that were timed without.
expect_status 0 "$lockstep" report apart.jsonl chain.jsonl --format md
says=$(sed -n 's/.*"median_ns":\([^,]*\),.*"tracing_ns":\(-\{0,1\}[0-9][^,]*\),.*/\1 \2/p' apart.jsonl | awk '
    { cost = 100 * $2 / $1 }
    NR == 1 || cost < least { least = cost }
    NR == 1 || cost > most { most = cost }
    END { printf "In %d of 7 cells phases were measured in separate steps, which took from %.1f %% to %.1f %%", NR, least, most }')
grep -q -- "$says longer" out || fail "not '$says'"
expect_status 0 "$lockstep" report timed.jsonl --format md
! grep -q 'steps of their own' out || fail "phases apart, where there are none"

# Late devices, and each workload that a wrapper takes.
batch=16
for workload in tutorial blocks cnn resnet lstm rnn capsnet mixed; do
    sweep 0 late.jsonl --devices virt:2+lag --counts 2 --mode dp --workload "$workload" \
        --phases apart --steps 2:6
done
sweep 0 late.jsonl --devices virt:2+lag --counts 2 --mode ddp --workload cnn --phases apart --steps 2:6
batch=64

# After the probe and the warm-up, which are 11 steps, everything that is flipped, lost, repeated or
# stuck is found, in the step for phases and in the timed one. With several devices a sum may round
# a flipped bit away, and bits that are stuck, and then no result is wrong: with this seed it does
# not. With one rank every flip is in a result.
seen='step [5-9], set [01]: \(outputs, row\|loss is\|gradient of\|updated\|virt:[01] has a result that it had not\)'

# planted MODE FAULT DEVICES
planted() {
    sweep 1 bad.jsonl --devices "virt:$3+fault:$2" --counts "$3" --mode "$1" --workload mlp:64,64,64 \
        --phases apart --steps 16:16 --seed 1
    expect_count 1 "\"status\":\"failed\",.*\"reason\":\"$seen" bad.jsonl
}

for step in 12 13 14 15 16 17 18 19; do
    planted ddp "flip@$step/0" 1
done
for mode in dp ddp; do
    for fault in nan drop double stale row; do
        planted "$mode" "$fault@14/1" 2
    done
done

refuse 'sideways' "$lockstep" sweep $short --phases sideways
