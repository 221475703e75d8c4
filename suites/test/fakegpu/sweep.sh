# A sweep on fake GPUs: its records are marked as simulated, and no part of a report takes them for
# a result of a GPU: verdict, notes, tables, footer, figures.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=4

# has TEXT FILE
has() {
    grep -q -- "$1" "$2" || fail "no '$1' in $2: $(cut -c1-300 "$2")"
}

sh "$(dirname "$0")/../gpu/sweep.sh" "$lockstep" "$folder/all" simulated
expect_status 0 "$lockstep" sweep --wait --devices cuda:0-2 --batch 10,64 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out gpus.jsonl
has 'note  *simulated: not a result from a GPU' err
expect_count 1 '"schema":"lockstep/run/' gpus.jsonl
expect_count 1 '"source":"simulated"' gpus.jsonl
has '"model":"Fake GPU","bus":"0000:12:00.0"' gpus.jsonl
has '"gpu_software":"driver [0-9.]*, runtime [0-9.]*, cuBLAS [0-9.]*"' gpus.jsonl
has '"communicator":"peer"' gpus.jsonl
# A result of the cases names the same software.
expect_status 0 "$lockstep" check --devices cuda:0-1 --only SPLIT-01.sizes --format json --out gpus.check
software=$(sed -n 's/.*"gpu_software":"\([^"]*\)".*/\1/p' gpus.jsonl)
has "\"gpu_software\": \"$software\"" gpus.check
# What was learned from GPUs is measured on GPUs, and judged as what it is.
cat >learned.yaml <<'YAML'
schema: lockstep/profile/1.0
name: learned
match: {}
limits:
  - metric: step_time
    statistic: floor
    at: {workload: "mlp:8,8,4", mode: dp, devices: 2, batch: 10, backend: cuda}
    max: 100 s
    kind: binding
    source: made up
    date: 2026-11-24
    evidence: learned
YAML
expect_status 3 "$lockstep" validate --profile learned.yaml --wait --allow-dirty --minutes 0.1 --out learned.jsonl
has 'step_time of mlp:8,8,4 dp cuda:0-1, 10 rows' out
has 'of times that are simulated' out
# validate.sbatch asks its first step for as many devices as the profile is for, so one that lacks is found there.
expect_status 1 "$lockstep" validate check learned.yaml
grep -qx 'learned.yaml: devices needed: 2' out || fail "how many devices: $(cat out)"
sed 's/^match: .*/match: {gpus: 8}/' learned.yaml >eight.yaml
expect_status 1 "$lockstep" validate check eight.yaml
grep -qx 'eight.yaml: devices needed: 8' out || fail "how many devices: $(cat out)"
# The worker of a GPU needs a core like any other.
usable=$("$lockstep" devices --format json | sed -n 's/.*"usable_cores": \([0-9]*\).*/\1/p')
for n in 1 2 3; do
    crowded=$([ "$n" -gt "$usable" ] && echo true || echo false)
    expect_count 0 "\"n_devices\":$n,.*\"oversubscribed\":$([ $crowded = true ] && echo false || echo true)" gpus.jsonl
    grep -q "\"n_devices\":$n,.*\"oversubscribed\":$crowded" gpus.jsonl || fail "$n GPUs: not $crowded"
done
if command -v taskset >/dev/null; then
    core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
    expect_status 0 taskset -c "$core" "$lockstep" sweep --wait --devices cuda:0-1 --mode dp --batch 10 \
        --workload mlp:8,8,4 --seconds 0.02 --steps 3:10 --out shared.jsonl
    grep -q '"n_devices":2,.*"oversubscribed":true' shared.jsonl || fail "two GPUs, one core: not said"
fi
# Phases have separate steps, without an option for it.
expect_count 8 '"tracing_ns":-\{0,1\}[0-9.e+]*,.*"phased_ns":\[[0-9]' gpus.jsonl

expect_status 0 "$lockstep" report gpus.jsonl --out report
page=report/index.html
summary=report/summary.md
for file in $page $summary; do
    has '8 planned launches of 8 cells were SIMULATED and verified' $file
    has 'SIMULATED: [1-3] device' $file
    has 'is of times that are simulated, not measured: its times mean little' $file
    has 'mlp:8,8,4 (strong scaling, f32, cuda/peer on cuda, SIMULATED)' $file
    ! grep -q 'were measured and verified' $file || fail "$file calls it measured"
done
# Every row of the table of cells is marked, and so is the run that it is from.
expect_count 8 '| verified, SIMULATED' $summary
has 'cuda/peer on cuda:0-2, simulated' $summary
sed -n '/<footer/,$p' $page >footer
has '<dt>Source</dt><dd>simulated</dd>' footer
has '<dt>GPUs</dt><dd>Fake GPU (cuda:0 to cuda:2); driver [0-9.]*, runtime' footer
# Every figure is marked at its foot, and above its panels.
for figure in batch scaling waterfall trust; do
    has 'SIMULATED, not measured' report/$figure.svg
    has 'SIMULATED: run ' report/$figure.svg
    # There is one launch of each cell, so the figure trust has one panel.
    least=3
    [ $figure != trust ] || least=2
    [ "$(count_lines 'SIMULATED' report/$figure.svg)" -ge $least ] || fail "$figure says it too rarely"
done

# A simulated time is no share of the peak of a device, whichever peak is given.
expect_status 0 "$lockstep" sweep --wait --devices cuda:0-1 --batch 4 --workload gpt:1,16,2,8,32 \
    --seconds 0.02 --steps 3:10 --out tokens.jsonl
expect_status 0 "$lockstep" report tokens.jsonl --peak 1FLOP/s --out tokens
expect_count 3 '^| gpt:1,16,2,8,32 .*FLOP/s | simulated | simulated |$' tokens/summary.md
# One launch is not certain, so no fact has its rate.
has '^- Best throughput: not shown: none of its cells is certain$' tokens/summary.md
expect_count 0 '^- Tokens: ' tokens/summary.md
expect_count 0 'is too low' tokens/summary.md

# The times of a trace are those of events in the queues, to some microseconds on the clock of the
# host.
if command -v python3 >/dev/null; then
    expect_status 0 "$lockstep" sweep --wait --devices cuda:0-1 --counts 2 --mode plain,dp,ddp \
        --batch 10 --workload mlp:8,8,4 --seconds 0.02 --steps 3:10 --out traced.jsonl \
        --trace traced.json
    python3 "$here/../cli/trace_check.py" traced.json 3 --slack 100 || fail "the trace"
fi

# Next to virtual devices, which were measured, only the simulated cells are marked.
expect_status 0 "$lockstep" sweep --wait --devices virt:2 --batch 10,64 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out cores.jsonl
expect_count 0 'simulated' err
expect_status 0 "$lockstep" report gpus.jsonl cores.jsonl --out both
has '14 planned launches of 14 cells were measured or SIMULATED and verified' both/summary.md
expect_count 1 'is of times that are simulated' both/summary.md
expect_count 8 '| verified, SIMULATED' both/summary.md

# A call that fails gives a failed cell, with the words of the runtime; the others are measured.
LOCKSTEP_FAKE_FAIL=cudaMemcpyAsync:40
export LOCKSTEP_FAKE_FAIL
expect_status 1 "$lockstep" sweep --wait --devices cuda:0 --batch 10 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out failed.jsonl
expect_count 2 '"status":"failed"' failed.jsonl
expect_count 2 '"reason":"[^"]*unknown error (cudaErrorUnknown)"' failed.jsonl
unset LOCKSTEP_FAKE_FAIL

# Without peer access the record names the communicator that was really used.
LOCKSTEP_FAKE_PEER=0
export LOCKSTEP_FAKE_PEER
expect_status 0 "$lockstep" sweep --wait --devices cuda:0,1 --batch 10 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out staged.jsonl
has '"communicator":"peer-staged"' staged.jsonl
expect_count 0 '"communicator":"peer"' staged.jsonl
expect_status 0 "$lockstep" report staged.jsonl --out staged
has 'cuda/peer-staged on cuda' staged/summary.md

# Communicators are in one record, each under the name that it gives itself, and resumed under it.
both='--wait --devices cuda:0,1 --batch 10 --workload mlp:8,8,4 --mode plain,dp,ddp --communicator staged,peer'
expect_status 0 "$lockstep" sweep $both --seconds 0.02 --steps 3:10 --out both.jsonl
has '"schema":"lockstep/run/1.2".*"communicator":"staged,peer-staged"' both.jsonl
expect_count 10 '"status":"ok"' both.jsonl
expect_count 5 '"communicator":"peer-staged"' both.jsonl
head -n 4 both.jsonl >cut.jsonl
expect_status 0 "$lockstep" sweep $both --seconds 0.02 --steps 3:10 --resume --out cut.jsonl
expect_count 10 '"status":"ok"' cut.jsonl
with LOCKSTEP_FAKE_PEER=1 refuse 'communicator here is "staged,peer", in the file "staged,peer-staged"' \
    "$lockstep" sweep $both --seconds 0.02 --steps 3:10 --resume --out cut.jsonl
refuse "'threads' is not for GPUs: staged, peer" "$lockstep" sweep --wait --devices cuda:0,1 \
    --communicator threads

# The GPUs can be used by one process at a time, as on clusters: a sweep keeps none while its cells
# run, nor does check.
LOCKSTEP_FAKE_EXCLUSIVE=$folder
export LOCKSTEP_FAKE_EXCLUSIVE
expect_status 0 "$lockstep" sweep --wait --devices cuda:0,1 --batch 10 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out exclusive.jsonl
expect_count 3 '"status":"ok"' exclusive.jsonl
expect_status 0 "$lockstep" check --devices cuda:0,1 --area SPLIT
