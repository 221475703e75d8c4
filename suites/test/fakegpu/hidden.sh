# Names of GPUs are texts of others: whatever a driver calls its GPUs, terminals, logs and pages get nothing that they
# would obey, or that cannot be seen.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=2 LOCKSTEP_FAKE_NAME=" $hidden"

# says STATUS COMMAND...
says() {
    ran="$*"
    expect_status "$@"
    clean out
    clean err
}

says 0 "$lockstep" devices --devices cuda:all
grep -q 'Fake GPU x' out || fail "no name: $(cat -v out)"
for option in --tree '--format json'; do
    says 0 "$lockstep" devices --devices cuda:all $option
done
says 0 "$lockstep" check --devices cuda:all --only SPLIT-01.sizes
says 0 "$lockstep" check --devices cuda:all --only SPLIT-01.sizes --format json
says 0 "$lockstep" soak --devices cuda:all --iterations 2 --batch 8 --workload mlp:8,6,4
says 0 "$lockstep" train --devices cuda:all --model mlp --epochs 1
says 0 "$lockstep" sweep --wait --devices cuda:0-1 --counts 2 --mode plain,dp --batch 10 --workload mlp:8,8,4 \
    --seconds 0.02 --steps 3:10 --out gpus.jsonl
says 0 "$lockstep" report gpus.jsonl --out page
for file in page/*.html page/*.md page/*.svg page/*.tsv; do
    [ ! -e "$file" ] || clean "$file" # without gnuplot there is no figure
done
grep -q 'Fake GPU x' page/index.html || fail 'the page does not name the GPU'
# One that the kernels are not for is named in a complaint.
LOCKSTEP_FAKE_CAPABILITY=30
export LOCKSTEP_FAKE_CAPABILITY
says 1 "$lockstep" devices --devices cuda:0
