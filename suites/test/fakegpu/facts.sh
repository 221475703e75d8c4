# Facts of GPUs in records, reports and verdicts: sweeps on fake GPUs with an NVML that is played
# back. A GPU that was slowed down by heat makes its launches INVALID for timing; a power cap, and
# corrected errors, are only reported.
#   facts.sh LOCKSTEP FOLDER CTEST LIBRARIES MACHINES
. "$(dirname "$0")/../cli/common.sh"
libraries=$4 machines=$5
export LOCKSTEP_FAKE_GPUS=4 LD_LIBRARY_PATH="$libraries/new"

# has TEXT FILE
has() {
    tr '\n' ' ' <"$2" | tr -s ' ' >flat
    grep -qF -- "$1" flat || fail "no '$1' in $2: $(cut -c1-600 "$2")"
}

has_not() {
    if grep -qF -- "$1" "$2"; then fail "'$1' in $2"; fi
}

# sweep NAME: runs on that machine and writes NAME.jsonl; and NAME.m.jsonl, which calls itself
# measured.
sweep() {
    export LOCKSTEP_PLAYED_NVML="$machines/$1.txt"
    rm -f "$1.jsonl"
    expect_status 0 "$lockstep" sweep --wait --devices cuda:0-3 --counts 2 --mode plain,dp \
        --batch 10 --workload mlp:8,8,4 --seconds 0.02 --steps 3:10 --launches 6 --out "$1.jsonl"
    sed -e 's/"source":"simulated"/"source":"measured"/' -e 's/,"chain":"[0-9a-z]*"//' \
        -e 's/,"seal":"[0-9a-f]*"//' "$1.jsonl" >"$1.m.jsonl"
}

cat >limit.yaml <<'YAML'
schema: lockstep/profile/1.0
name: limit.yaml
match: {gpu_model: Fake GPU}
requires: {launches: 6}
limits:
  - metric: step_time
    statistic: typical
    at: {workload: "mlp:8,8,4", mode: dp, devices: 2, batch: 10}
    max: 100 s
    kind: advisory
    source: made up
    date: 2026-11-24
    evidence: measured
  - metric: peak_memory
    at: {workload: "mlp:8,8,4", mode: dp, devices: 2, batch: 10}
    max: 1 TiB
    kind: binding
    source: made up
    date: 2026-11-24
    evidence: measured
YAML

# All is right: before, series and after of the GPUs that a cell has, and of all GPUs in the first
# line.
sweep fake_good
head -n 1 fake_good.jsonl >first
has '"gpu_facts":"NVML 12.550.54.15, driver 550.54.15"' first
has '"bus":"0000:13:00.0"' first
[ "$(grep -o '"uuid_hash"' first | wc -l)" -eq 4 ] || fail "not 4 GPUs: $(cat first)"
grep '"mode":"dp"' fake_good.jsonl | head -n 1 >cell
[ "$(grep -o '"before"' cell | wc -l)" -eq 2 ] || fail "not 2 GPUs watched: $(cat cell)"
has '"during":{"at_ns":[' cell
grep -q '"sampling_ns":[0-9]' cell || fail "no time of readings"
has '"rows_pending":0.0' cell
expect_status 0 "$lockstep" report fake_good.m.jsonl --out good
has 'NVML 12.550.54.15, driver 550.54.15' good/index.html
has '<pre class="node">node: ' good/index.html
has '+- GPU 0000:10:00.0 Fake GPU, 79.65 GiB, PCIe 5 x16' good/index.html
has '+- 18 of 18 NVLinks up: 5 to 0000:05:00.0' good/index.html
has_not INVALID good/summary.md
has_not 'power limit' good/summary.md
fit limit.yaml fake_good.m.jsonl
expect_status 0 "$lockstep" validate --allow-dirty --profile fit-limit.yaml fake_good.m.jsonl
has 'ACCEPTED' out

# Heat: the results are right, and there are no times.
sweep fake_thermal
[ "$(grep -c '"status":"ok"' fake_thermal.jsonl)" -eq 12 ] || fail "cells are not ok"
expect_status 1 "$lockstep" report fake_thermal.m.jsonl --out thermal
has '6 of 12 launches are INVALID for timing and in no number here' thermal/summary.md
has 'GPU 0000:11:00.0: software thermal slowdown in ' thermal/summary.md
has 'INVALID for timing: GPU 0000:11:00.0: software thermal slowdown' thermal/index.html
expect_status 3 "$lockstep" validate --profile limit.yaml fake_thermal.m.jsonl
has 'INVALID step_time' out
has 'launch 0: GPU 0000:11:00.0: software thermal slowdown in ' out
has 'NOT SHOWN' out
expect_status 3 "$lockstep" validate --profile limit.yaml fake_thermal.m.jsonl --format json
has 'software thermal slowdown' out

# Errors of memory: a launch with an uncorrected one is in no number, a corrected one is reported.
sweep fake_ecc
expect_status 0 "$lockstep" report fake_ecc.m.jsonl --out ecc
has '5 corrected memory errors while it was measured' ecc/summary.md
has 'In 12 of 12 launches memory errors of a GPU were corrected' ecc/summary.md
has_not INVALID ecc/summary.md # the GPU with the other errors is in no cell

# A power cap is only a fact, and so is a process of others.
sweep fake_power_cap
expect_status 0 "$lockstep" report fake_power_cap.m.jsonl --out cap
has 'In 12 of 12 launches a GPU was at its power limit, as GPUs that are all right are' cap/summary.md
has 'GPU 0000:12:00.0: 1 process of others computes on it' cap/summary.md
has_not INVALID cap/summary.md
expect_status 0 "$lockstep" validate --allow-dirty --profile fit-limit.yaml fake_power_cap.m.jsonl

# Without NVML the reason is in the record, and no cell says anything about its GPUs.
export LD_LIBRARY_PATH="$libraries/empty"
sweep fake_good
has '"gpu_facts":"this NVML cannot be used: it has no nvmlInit_v2"' fake_good.jsonl
has_not '"before"' fake_good.jsonl
has '"sampling_ns":null' fake_good.jsonl
expect_status 0 "$lockstep" report fake_good.m.jsonl --out none
has 'this NVML cannot be used' none/index.html

# These commands show them.
export LD_LIBRARY_PATH="$libraries/new" LOCKSTEP_PLAYED_NVML="$machines/fake_power_cap.txt"
expect_status 0 "$lockstep" devices --devices cuda:0,1
has 'NVML 12.550.54.15, driver 550.54.15' out
has 'throttle reasons: power cap' out
expect_count 0 '.\{81\}' out
expect_status 0 "$lockstep" devices --devices virt:2 --tree
has 'GPU 0000:10:00.0 Fake GPU' out
expect_count 1 '^node: ' out
expect_count 0 '.\{81\}' out
expect_status 0 "$lockstep" devices --devices cuda:0,1 --format json
has '"throttle": 4.0' out
has '"numa": [' out
