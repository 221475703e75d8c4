# Communicators are an option of every command that opens devices, and an axis of the sweep: each is
# measured, kept apart in the report, and resumed. A communicator that cannot be used is refused
# before anything runs, and the error lists those that can.
. "$(dirname "$0")/common.sh"

grid='--bind none --devices virt:2 --batch 10,33 --workload mlp:7,5,3 --mode plain,dp,ddp'
fast='--seed 7 --seconds 0.001 --steps 2:4'
cell='"schema":"lockstep/cell/1.1"'

# ---- the axis ----------------------------------------------------------------------------------

expect_status 0 "$lockstep" sweep $grid $fast --communicator threads,staged --out both.jsonl
expect_count 20 "$cell.*\"status\":\"ok\"" both.jsonl
expect_count 1 '"schema":"lockstep/run/1.2".*"communicator":"threads,staged"' both.jsonl
for name in threads staged; do
    for mode in plain:2 dp:4 ddp:4; do
        expect_count "${mode#*:}" "$cell.*\"mode\":\"${mode%:*}\".*\"communicator\":\"$name\"" both.jsonl
    done
    expect_count 10 " $name .*batch .* verified" err
done
[ "$(cell_ids both.jsonl | uniq | wc -l)" -eq 20 ] || fail "two communicators have the same cell"

# Without the option the backend's default is used, and its cells have the ids of older versions.
expect_status 0 "$lockstep" sweep $grid $fast --out own.jsonl
expect_count 10 "$cell.*\"communicator\":\"threads\"" own.jsonl
expect_count 0 '"command":"[^"]*--communicator' own.jsonl
expect_count 0 ' threads ' err
expect_status 0 "$lockstep" sweep $grid $fast --communicator threads --out named.jsonl
cell_ids own.jsonl >wanted
cell_ids named.jsonl | cmp - wanted || fail "a communicator that is named has other cells"
grep "$cell.*\"communicator\":\"threads\"" both.jsonl >some.jsonl
cell_ids some.jsonl | cmp - wanted || fail "an axis of communicators has other cells"
expect_status 0 "$lockstep" sweep $grid $fast --backend cpu-ref --communicator threads --out ref.jsonl
expect_count 10 "$cell.*\"backend\":\"cpu-ref\",\"communicator\":\"threads\"" ref.jsonl

# They are apart in the report; the same cells of another sweep are put together.
expect_status 0 "$lockstep" report both.jsonl --out page
expect_count 1 'All 20 planned launches of 20 cells' page/summary.md
expect_count 1 '^\*\*mlp:7,5,3 (strong scaling, f32, cpu/threads on virt)\*\*$' page/summary.md
expect_count 1 '^\*\*mlp:7,5,3 (strong scaling, f32, cpu/staged on virt)\*\*$' page/summary.md
expect_count 2 '^| mlp:7,5,3, staged | plain | ' page/summary.md
expect_count 2 '^| mlp:7,5,3, threads | plain | ' page/summary.md
expect_status 0 "$lockstep" report both.jsonl own.jsonl named.jsonl --out page
expect_count 1 'All 40 planned launches of 20 cells' page/summary.md

# ---- resuming ----------------------------------------------------------------------------------

head -n 8 both.jsonl >cut.jsonl
expect_status 0 "$lockstep" sweep $grid $fast --communicator threads,staged --resume --out cut.jsonl
expect_count 20 "$cell.*\"status\":\"ok\"" cut.jsonl
cell_ids both.jsonl >wanted
cell_ids cut.jsonl | cmp - wanted || fail "a resumed sweep has other cells"
cp cut.jsonl before.jsonl
for other in staged,threads threads staged; do
    refuse "here it is \"--communicator $other\", in the file \"--communicator threads,staged\"" \
        "$lockstep" sweep $grid $fast --communicator $other --resume --out cut.jsonl
done
refuse 'the file has "--communicator threads,staged", here there is no such option' \
    "$lockstep" sweep $grid $fast --resume --out cut.jsonl
cmp before.jsonl cut.jsonl || fail "a refused sweep changed the file"

# A header must say the same as its command, and a cell must be one of its plan.
sed '1s/"communicator":"threads,staged"/"communicator":"staged,threads"/' both.jsonl >bad.jsonl
one_line 2 '"communicator" is "staged,threads", but with this "command" it is "threads,staged"' \
    "$lockstep" report bad.jsonl --out page
sed '1s/"communicator":"threads,staged"/"communicator":"threads"/' both.jsonl >bad.jsonl
one_line 2 '"communicator" is "threads", but' "$lockstep" report bad.jsonl --out page

# ---- what cannot be ----------------------------------------------------------------------------

sweep="$lockstep sweep $grid $fast --out none.jsonl"
refuse 'unknown communicator "mpi-x"; known: .*nccl' $sweep --communicator mpi-x
refuse 'unknown communicator "peer-staged"; known: .*peer' $sweep --communicator peer-staged
refuse 'unknown communicator ""' $sweep --communicator threads,
refuse 'unknown communicator ""' $sweep --communicator ''
refuse '--communicator: staged is given twice' $sweep --communicator staged,threads,staged
refuse '--communicator is given twice' $sweep --communicator staged --communicator threads
virtual="'peer' is not for the host and virtual devices: threads, staged$"
refuse "$virtual" $sweep --communicator peer
refuse "$virtual" $sweep --communicator threads,peer
refuse "'nccl' is not for the host and virtual devices: threads, staged$" $sweep --communicator nccl
[ ! -e none.jsonl ] || fail "a refused sweep has a file"

refuse "$virtual" "$lockstep" devices --devices virt:2 --communicator peer
refuse "$virtual" "$lockstep" sweep limits --devices virt:2 --communicator peer
refuse "$virtual" "$lockstep" check --communicator peer --only SPLIT-01
refuse "$virtual" "$lockstep" train --devices virt:2 --communicator peer
refuse "$virtual" "$lockstep" train --devices host --communicator peer
refuse "$virtual" "$lockstep" train --against virt:1 --against-communicator peer
refuse 'needs --against' "$lockstep" train --against-communicator staged
for command in devices 'sweep limits' check train; do
    refuse '--communicator: unknown communicator "mpi-x"; known: .*threads' "$lockstep" $command \
        --communicator mpi-x
    refuse '--communicator is given twice' "$lockstep" $command --communicator staged \
        --communicator staged
done
refuse 'same thing' "$lockstep" check --communicator staged --impl-options cpu
refuse 'same thing' "$lockstep" check --impl-options cpu --communicator staged
refuse '--communicator is the reference' "$lockstep" check --communicator staged --impl ./it.so
refuse 'mutants' "$lockstep" check --communicator staged --mutants

# A mode needs something that the communicator cannot do.
refuse "'staged' reduces after backward, not during it: threads$" "$lockstep" soak --iterations 1 --mode overlap \
    --devices virt:2 --communicator staged

# ---- the other commands ------------------------------------------------------------------------

expect_status 0 "$lockstep" devices --devices virt:2 --communicator staged
expect_count 1 'backend cpu, communicator staged' out
expect_status 0 "$lockstep" sweep limits --devices virt:2 --backend cpu-ref --communicator threads \
    --workload mlp:6,7 --batch 4 --rounds 1
expect_status 0 "$lockstep" check --communicator staged --only SPLIT-01,DDP-01
expect_count 1 'reference (cpu kernels, staged communicator)' out
expect_status 0 "$lockstep" check --backend cpu-ref --communicator threads --only DDP-15
expect_count 1 'reference (cpu-ref kernels, threads communicator)' out
expect_status 0 "$lockstep" train --model mlp --epochs 1 --devices virt:2 --communicator staged \
    --against virt:2 --against-communicator threads --mode ddp --out train.jsonl
expect_count 1 'all bits equal' out
expect_count 1 '"communicator":"staged"' train.jsonl
