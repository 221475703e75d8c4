# Replicate and reduce on GPUs, as scripts/gpu-check has them: the record has the times of the phases, all of it
# is right, and it is marked as simulated. Speeds are never compared. The copies next to them (--parts) take more
# memory than fake GPUs have.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=4

# copied DEVICES COUNT BACKEND OPTION...: checks the fields of the one cell.
copied() {
    devices=$1
    count=$2
    backend=$3
    shift 3
    rm -f copies.jsonl
    expect_status 0 "$lockstep" sweep --wait --devices "$devices" --counts "$count" --mode dp --workload mlp:64,64,64 \
        --batch 8 --seconds 0.02 --steps 3:10 --out copies.jsonl "$@"
    expect_count 1 '"source":"simulated"' copies.jsonl
    grep '"schema":"lockstep/cell/' copies.jsonl >cell
    expect_count 1 "\"devices\":\"$devices\".*\"n_devices\":$count,.*\"status\":\"ok\".*\"validated\":true" cell
    expect_count 1 "\"backend\":\"$backend\"" cell
    expect_count 1 '"phase_median_ns":{[^}]*"replicate":[1-9][^}]*"reduce":[1-9]' cell
}
copied cuda:0,0 2 cuda
copied cuda:0,1,2 3 cuda
copied cuda:0,1 2 cuda-staged --backend cuda-staged

# Every byte of copies between them is right, by the calls that a GPU would get.
export LOCKSTEP_FAKE_GPUS=2
expect_status 0 "$lockstep" check --copies 4
prints '^from . to 0 1 0 cuda:0 PASS PASS 1 cuda:1 PASS PASS 96 copies of each pair (.* PASS copies by peer with 2 devices: 4 of 4 cases passed'
no_devices 77 "'cuda:0' has fewer than two devices" --copies 4 --devices cuda:0

export LOCKSTEP_FAKE_PEER=0
expect_status 0 "$lockstep" check --copies 4
prints 'PASS copies by peer-staged with 2 devices: 4 of 4 cases passed'
export LOCKSTEP_FAKE_GPUS=4
copied cuda:0,1,2,3 4 cuda
