# The trace of a sweep: read by Python's JSON, in which no two events of a row overlap and the phases
# add up to what is recorded; and what becomes of it, and of the records, when it cannot be written.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
if ! command -v python3 >/dev/null; then
    echo 'SKIPPED: no python3, which reads the traces'
    exit 77
fi
check=$here/trace_check.py

short='--bind none --seconds 0.02 --steps 2:4 --seed 7'
all=scatter,replicate,forward,gather,loss,backward,reduce,update,all-reduce,step

# sweep FILES CELLS TRACED OPTION...: makes records and a trace of that name.
sweep() {
    name=$1
    cells=$2
    traced=$3
    shift 3
    expect_status 0 "$lockstep" sweep $short --out "$name.jsonl" --trace "$name.json" "$@"
    expect_count "$cells" '"status":"ok"' "$name.jsonl"
    grep -q "^  trace  *$name.json: steps of $traced cells" err || fail "no trace"
    python3 "$check" "$name.json" "$traced" || fail "$name.json"
}

# nothing_left: there is no file of a trace that was given up.
nothing_left() {
    ! ls -d ./*.tmp >list 2>/dev/null || fail "left: $(cat list)"
}

sweep modes 14 14 --devices virt:2 --counts 1,2 --mode plain,dp,ddp --batch 30,64 \
    --workload mlp:40,70,10 --bucket 0,1Ki
python3 "$check" modes.json 14 --names "$all" || fail "an event is missing"
# There is one trace per cell, not per launch.
sweep launches 6 3 --devices virt:2 --counts 1,2 --batch 8 --workload mlp:4,6,2 --launches 2
sweep models 9 9 --devices virt:2 --counts 2 --batch 10 --workload cnn --workload lstm \
    --workload resnet --mode plain,dp,ddp --communicator staged
sweep mixed 2 2 --devices virt:2 --counts 2 --batch 10 --workload mixed
sweep three 1 1 --devices virt:3 --counts 3 --mode dp --batch 30 --workload mlp:40,70,10
sweep late 3 3 --devices virt:2+lag --counts 2 --mode plain,dp,ddp --batch 8 --workload mlp:4,6,2
sweep delayed 2 2 --devices virt:2+300us --counts 2 --mode dp,ddp --batch 8 --workload mlp:4,6,2
nothing_left

# The check can fail: for an event that is too long, one that is missing, a device without any.
expect_status 0 python3 - <<'END'
import json
trace = json.load(open("modes.json"))
events = trace["traceEvents"]
at = next(i for i, e in enumerate(events) if e.get("cat") == "phase" and e["name"] == "forward")
longer = [dict(e, dur=e["dur"] + 0.002) if i == at else e for i, e in enumerate(events)]
less = events[:at] + events[at + 1:]
silent = [e for e in events if e["ph"] == "M" or (e["tid"] - 1) // 2 != 1]
for name, changed in ("longer", longer), ("less", less), ("silent", silent):
    json.dump({"traceEvents": changed}, open(name + ".json", "w"))
END
for changed in longer less silent; do
    expect_status 1 python3 "$check" "$changed.json" 14
done

# A bad name of a trace is refused before anything is measured: no record is begun, and no other
# file is replaced.
few='--devices virt:1 --batch 8 --workload mlp:4,6,2'
refuse "cannot write 'nowhere/t.json': No such file" "$lockstep" sweep $short $few \
    --out none.jsonl --trace nowhere/t.json
refuse 'modes.jsonl is there and is no trace: name another file' "$lockstep" sweep $short $few \
    --out none.jsonl --trace modes.jsonl
refuse 'none.jsonl is there and is no trace' "$lockstep" sweep $short $few \
    --out none.jsonl --trace none.jsonl
mkdir folder
refuse 'folder is there and is no trace' "$lockstep" sweep $short $few --out none.jsonl \
    --trace folder
refuse 'trace is empty' "$lockstep" sweep $short $few --out none.jsonl --trace ''
if [ -e none.jsonl ]; then
    fail "a refused sweep left a file of records"
fi
nothing_left
# An older trace is replaced.
sweep late2 3 3 --devices virt:2 --counts 2 --mode plain,dp,ddp --batch 8 --workload mlp:4,6,2
cp late2.json again.json
sweep again 2 2 $few
nothing_left

# The trace cannot be put in its place: the records are complete, and one line says so.
"$lockstep" sweep --bind none --seconds 2 --steps 2:100000 $few --out torn.jsonl --trace torn.json \
    >out 2>err &
pid=$!
wait_for_cells 1 torn.jsonl $pid
mkdir torn.json
expect_end 2 $pid
expect_count 1 "cannot write './torn.json': Is a directory" err
expect_count 2 '"status":"ok"' torn.jsonl
expect_count 1 '"schema":"lockstep/end/1.1"' torn.jsonl
nothing_left

# An interrupted sweep writes the events that it has.
"$lockstep" sweep --bind none --seconds 2 --steps 2:100000 --devices virt:1 --batch 8,16,32 \
    --workload mlp:4,6,2 --out stopped.jsonl --trace stopped.json >out 2>err &
pid=$!
wait_for_cells 1 stopped.jsonl $pid
kill -TERM $pid
expect_end 130 $pid
python3 "$check" stopped.json "$(count_lines '"status":"ok"' stopped.jsonl)" || fail "stopped"
nothing_left
