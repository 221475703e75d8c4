# The communicator nccl from outside, on fake GPUs with the fake NCCL: the name that it gives
# itself, its records, the bounds for results that round, and combinations that are refused.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=4

# has TEXT FILE
has() {
    grep -q -- "$1" "$2" || fail "no '$1' in $2: $(cut -c1-300 "$2")"
}

expect_status 0 "$lockstep" devices --devices cuda:all --communicator nccl
has 'communicator nccl+peer\(,\|$\)' out
has 'NCCL  *2.28.9, for communicator nccl' out
with LOCKSTEP_FAKE_PEER=0 expect_status 0 "$lockstep" devices --devices cuda:all --communicator nccl
has 'communicator nccl+peer-staged\(,\|$\)' out

# Records have the name of the communicator, and the version.
grid='--wait --devices cuda:0,1 --batch 10 --mode plain,dp,ddp --seconds 0.02 --steps 3:10'
expect_status 0 "$lockstep" sweep $grid --workload mlp:8,8,4 --communicator peer,nccl --out both.jsonl
has '"communicator":"peer,nccl+peer"' both.jsonl
has '"gpu_software":"driver [0-9.]*, runtime [0-9.]*, cuBLAS [0-9.]*, NCCL 2.28.9"' both.jsonl
expect_count 10 '"status":"ok"' both.jsonl
expect_status 0 "$lockstep" report both.jsonl --out page
has 'cuda/nccl+peer on cuda' page/summary.md

# It moves nothing from the host: a batch that starts there is moved by peer.
expect_status 0 "$lockstep" sweep $grid --workload mlp:8,8,4 --communicator nccl,nccl+nccl --host-inputs 1 \
    --out inputs.jsonl
expect_count 10 '"host_inputs":1,.*"status":"ok"' inputs.jsonl

# NCCL adds in another order in every step: each step of a workload that rounds must be within its
# bound.
LOCKSTEP_FAKE_NCCL_VARIES=1
export LOCKSTEP_FAKE_NCCL_VARIES
expect_status 0 "$lockstep" sweep --wait --devices cuda:all --counts 4 --mode ddp --batch 16 \
    --workload lstm --seconds 0.02 --steps 6:10 --communicator nccl --out rounds.jsonl
expect_count 1 '"status":"ok"' rounds.jsonl
unset LOCKSTEP_FAKE_NCCL_VARIES

# Standalone collectives, with both, in place and out of place; NCCL has a call for each.
expect_status 0 "$lockstep" sweep --wait --devices cuda:all --counts 2,4 --communicator peer,nccl \
    --collective allreduce,broadcast,allgather,reducescatter --out-of-place 0,1 --sizes 48,4000 \
    --seconds 0.001 --steps 2:4 --out collectives.jsonl
expect_count 64 '"status":"ok"' collectives.jsonl
expect_count 32 '"communicator":"nccl+peer".*"status":"ok"' collectives.jsonl
expect_status 0 "$lockstep" sweep --wait --devices cuda:all --counts 2,4 --communicator peer,nccl \
    --collective alltoall --sizes 48,4000 --seconds 0.001 --steps 2:4 --out exchange.jsonl
expect_count 8 '"status":"ok"' exchange.jsonl

# Each of these is refused in one line.
one_line 2 'cuda:0 and cuda:0#1 are on one GPU, which NCCL 2.28.9 refuses: use --communicator peer' \
    "$lockstep" devices --devices cuda:0,0 --communicator nccl
with LOCKSTEP_FAKE_NCCL=21003 one_line 1 'NCCL 2.10.3 is too old: 2.14' \
    "$lockstep" devices --devices cuda:0,1 --communicator nccl
with NCCL_DEBUG=INFO one_line 2 "NCCL_DEBUG='INFO' in the environment.*NCCL_DEBUG_FILE" \
    "$lockstep" devices --devices cuda:0,1 --communicator nccl
with NCCL_DEBUG=VERSION one_line 2 "NCCL_DEBUG='VERSION' in the environment.*unset it" \
    "$lockstep" devices --devices cuda:0,1 --communicator nccl
refuse "'nccl' is not for the host and virtual devices" "$lockstep" devices --devices virt:2 \
    --communicator nccl
