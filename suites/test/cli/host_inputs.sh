# Batches that start on the host (`lockstep sweep --host-inputs`) are separate cells. Each of their
# steps copies its rows to the devices, in every mode; a copy that is not made is never a pass.
. "$(dirname "$0")/common.sh"

# Each value is a cell, and the cell with its batch on the devices is as before.
sweep 0 both.jsonl --devices virt:2 --counts 1,2 --mode plain,dp,ddp --workload mlp:64,32,16 \
    --host-inputs 0,1
expect_count 10 '"status":"ok"' both.jsonl
expect_count 5 '"host_inputs":1,.*"validated":true' both.jsonl
sweep 0 without.jsonl --devices virt:2 --counts 1,2 --mode plain,dp,ddp --workload mlp:64,32,16
grep '"host_inputs":0' both.jsonl >on_devices.jsonl
[ "$(cell_ids without.jsonl)" = "$(cell_ids on_devices.jsonl)" ] ||
    fail "the ids of cells whose batch is on the devices are others"
[ "$(cell_ids both.jsonl | uniq | wc -l)" -eq 10 ] || fail "two cells have one id"

# bytes MODE DEVICES PLACE: prints the bytes of a step.
bytes() {
    grep "\"mode\":\"$1\",.*\"n_devices\":$2,.*\"host_inputs\":$3," both.jsonl |
        sed 's/.*"bytes_per_step":\([0-9]*\)[.]0,.*/\1/'
}

# more MODE DEVICES BYTES: this many more are moved if the batch is on the host.
more() {
    [ $(($(bytes "$1" "$2" 1) - $(bytes "$1" "$2" 0))) -eq "$3" ] ||
        fail "$1 on $2: $(bytes "$1" "$2" 0) bytes, $(bytes "$1" "$2" 1) from the host"
}

# There are 64 rows of 64 inputs and of 16 factors of the loss. The wrapper moves half of the inputs
# in any case.
more plain 1 $((64 * (64 + 16) * 4))
more dp 1 $((64 * (64 + 16) * 4))
more ddp 1 $((64 * (64 + 16) * 4))
more dp 2 $((64 * (32 + 16) * 4))
more ddp 2 $((64 * (64 + 16) * 4))

# The time of the copy is in the phase scatter, which only the wrapper has without it.
expect_count 0 '"host_inputs":1,.*"scatter":null' both.jsonl
expect_count 3 '"host_inputs":0,.*"scatter":null' both.jsonl

# A transfer takes half a millisecond, and a step has one for the inputs and one for the factors.
sweep 0 slow.jsonl --devices virt:2+500us --counts 1,2 --mode plain,ddp --workload mlp:64,32,16 \
    --host-inputs 1 --steps 5:5
grep -o '"scatter":[0-9]*[.][0-9]*' slow.jsonl | awk -F: '$2 < 1e6 { exit 1 } END { exit NR != 3 }' ||
    fail "slow copies take no time: $(grep -o '"scatter":[0-9.]*' slow.jsonl)"

# A communicator makes the copy: its failure is one of the cell. If the batch is on the device, no
# copy is made.
sweep 1 bad.jsonl --devices virt:1+fault:move@7 --counts 1 --mode plain --workload mlp:8,4 --host-inputs 0,1
expect_count 1 '"host_inputs":1,.*"status":"failed",.*"reason":"[^"]*call 7 of move' bad.jsonl
expect_count 1 '"host_inputs":0,.*"status":"failed",.*"reason":"[^"]*call 7 of move was to fail, but there were 4' bad.jsonl

# Every workload, on devices that run as late as they may, step by step and in chains, where a step
# overwrites the rows of the step before.
batch=16
for workload in tutorial blocks cnn resnet lstm rnn capsnet mixed; do
    sweep 0 late.jsonl --devices virt:2+lag --counts 2 --mode plain,dp --workload "$workload" \
        --host-inputs 1 --chain 0,3 --steps 1:6
done
batch=18
sweep 0 late.jsonl --devices virt:4+lag --counts 1,4 --mode ddp --workload cnn --workload tutorial \
    --host-inputs 1 --chain 0,3 --steps 1:6 --communicator threads,staged
# A line of progress is too short for all axes: they are cut off, and the time left is complete.
expect_count 16 '^.\{8,79\} batch   18 verified .* \([0-9smh]* left\|oversubscribed\)$' err
expect_count 8 ' ddp [a-z]* c[^.]*[.][.][.] batch   18 verified' err
expect_count 8 ' ddp [a-z]* h[^.]*[.][.][.] batch   18 verified' err
batch=

# Cells of one kind are never compared with those of the other.
sweep 0 host.jsonl --devices virt:1 --mode plain --workload tutorial --host-inputs 1
sweep 0 device.jsonl --devices virt:1 --mode plain --workload tutorial
refuse 'nothing to compare: 1 cell only in' "$lockstep" compare host.jsonl device.jsonl
expect_status 0 "$lockstep" report both.jsonl --out page
grep -q ', host-inputs 1)' page/summary.md || fail "the report does not name the place of inputs"

if command -v gnuplot >/dev/null; then
    grep -q '>batch 64, host-inputs 1, mlp:64,32,16<' page/waterfall.svg || fail "nor does the waterfall"
fi
expect_status 0 "$lockstep" report slow.jsonl --out slow
grep -q '2 devices with DDP train mlp (host-inputs 1) [0-9.]* times as fast' slow/summary.md ||
    fail "nor does its sentence: $(head -n 3 slow/summary.md)"

# The timeline of a step has the copies, in the row of transfers.
sweep 0 traced.jsonl --devices virt:2 --counts 2 --mode ddp --workload mlp:64,32,16 --host-inputs 1 \
    --trace steps.json
[ "$(grep -o '"name":"scatter","pid":1,"tid":[24],"cat":"phase"' steps.json | wc -l)" -eq 12 ] ||
    fail "not two copies to each of two devices in three steps: $(grep -o '"name":"scatter"[^}]*' steps.json)"

# If the copy in a record has no time, or fewer bytes than the rows, the cell is not verified.
sed 's/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//' host.jsonl >true.jsonl
expect_status 0 "$lockstep" report true.jsonl --format csv
sed '2s/\("phase_ns":{"scatter":\)\[\[[0-9,]*\]\]/\1null/; 2s/\("phase_median_ns":{"scatter":\)[0-9.]*/\1null/' \
    true.jsonl >untimed.jsonl
refuse 'no time for scatter of replica 0' "$lockstep" report untimed.jsonl --format csv
sed '2s/"bytes_per_step":[0-9.]*/"bytes_per_step":4.0/' true.jsonl >fewer.jsonl
refuse '"bytes_per_step" is 4, outside' "$lockstep" report fewer.jsonl --format csv

refuse 'outside 0 to 1' "$lockstep" sweep $short --host-inputs 2
refuse 'host-inputs is of --mode' "$lockstep" sweep --collective allreduce --host-inputs 1 --devices virt:2
