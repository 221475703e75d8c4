# Backend cpu-onednn: large products are oneDNN's, and every record says so.
#   onednn.sh LOCKSTEP FOLDER HAS_IT
. "$(dirname "$0")/common.sh"

sweep()
{
    backend=$1
    shift
    "$@" sweep --bind none --devices virt:2 --counts 2 --batch 256 --workload mlp:256,256,256 \
        --mode plain,dp,ddp --seconds 0.01 --steps 2:2 --backend "$backend" --out "$backend.jsonl"
}

if [ "$3" = OFF ]; then
    one_line 2 'backend cpu-onednn: this build has no oneDNN' sweep cpu-onednn "$lockstep"
    [ ! -e cpu-onednn.jsonl ] || fail 'records of nothing'
    exit 0
fi
for backend in cpu cpu-onednn; do
    expect_status 0 sweep "$backend" "$lockstep"
    expect_count 3 '"status":"ok"' "$backend.jsonl"
done
expect_count 1 '"blas":"[^"]*, oneDNN [0-9.]*"' cpu-onednn.jsonl
expect_count 0 'oneDNN' cpu.jsonl
# Never one for the other.
one_line 2 'nothing to compare: 3 cells are only in cpu.jsonl, 3 only in cpu-onednn.jsonl' \
    "$lockstep" compare cpu.jsonl cpu-onednn.jsonl
refuse 'cpu-onednn has no BLAS of several threads' "$lockstep" sweep --devices virt:2 --mode plain-mt \
    --workload tutorial --backend cpu-onednn --out none.jsonl

# A program without its module.
rm cpu-onednn.jsonl
cp "$lockstep" alone
one_line 2 'oneDNN cannot be loaded: no lockstep-onednn.so in ' sweep cpu-onednn ./alone
[ ! -e cpu-onednn.jsonl ] || fail 'records of nothing'
# One of another version.
echo 'not a library' >lockstep-onednn.so
one_line 2 'oneDNN cannot be loaded: ' sweep cpu-onednn ./alone
