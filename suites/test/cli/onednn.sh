# Large products by oneDNN: backend cpu has them where they are faster, cpu-onednn or nothing, and
# every record says whose they are.
#   onednn.sh LOCKSTEP FOLDER HAS_IT MODULE
. "$(dirname "$0")/common.sh"
module=$4

more=
sweep() {
    backend=$1
    shift
    "$@" sweep --bind none --devices virt:2 --counts 2 --batch 256 --workload mlp:256,256,256 \
        --mode plain,plain-mt,dp,ddp --seconds 0.01 --steps 2:2 --backend "$backend" --out "$backend.jsonl" $more
}

# by BACKEND NUMBER PROGRAM..: records are verified, and NUMBER of their first lines name oneDNN.
by() {
    backend=$1
    number=$2
    shift 2
    rm -f "$backend.jsonl"
    expect_status 0 sweep "$backend" "$@"
    expect_count 4 '"status":"ok"' "$backend.jsonl"
    expect_count "$number" '"blas":"[^"]*, oneDNN [0-9.]* brg[a-z0-9_]*:[a-z0-9_]*"' "$backend.jsonl"
    expect_count "$number" 'oneDNN' "$backend.jsonl"
}

# others BACKEND PROGRAM: train, soak and check name the library in the same words as sweep.
others() {
    library=$(sed -n 's/.*"blas":"\([^"]*\)".*/\1/p' "$1.jsonl")
    [ -n "$library" ] || fail "$1.jsonl names no library"
    rm -f train
    expect_status 0 "$2" train --model tutorial --data random --epochs 1 --devices virt:2 --backend "$1" --out train
    expect_status 0 "$2" soak --workload tutorial --batch 4 --iterations 1 --devices virt:2 --backend "$1" --format json
    mv out soak
    expect_status 0 "$2" check --only SPLIT-01.sizes --devices virt:2 --impl-options "$1" --format json
    mv out check
    for record in train soak check; do
        sed -n 's/.*"blas": *"\([^"]*\)".*/\1/p' $record >named
        [ "$(cat named)" = "$library" ] || fail "$record names '$(cat named)', sweep '$library'"
    done
}

# without TEXT PROGRAM..: the plug-in is missing, and a command that needs it says why.
without() {
    text=$1
    shift
    by cpu 0 "$@"
    rm -f cpu-onednn.jsonl
    one_line 2 "backend cpu-onednn: $text" sweep cpu-onednn "$@"
    [ ! -e cpu-onednn.jsonl ] || fail 'records of nothing'
}

by cpu-cblas 0 "$lockstep"
others cpu-cblas "$lockstep"
if [ "$3" = OFF ]; then
    without 'this build has no oneDNN' "$lockstep"
    exit 0
fi
slow='oneDNN [0-9.]* has no kernels for this CPU that are faster'
without "$slow" env DNNL_MAX_CPU_ISA=SSE41 ONEDNN_MAX_CPU_ISA=SSE41 "$lockstep"
# A program without its plug-in, and with a file that is none.
cp "$lockstep" alone
without 'oneDNN cannot be loaded: no lockstep-onednn.so in ' ./alone
cp cpu.jsonl before.jsonl
# A broken plug-in is never passed over in silence; a backend without it still works.
echo 'not a library' >lockstep-onednn.so
rm -f cpu.jsonl
one_line 2 'backend cpu: oneDNN cannot be loaded: .*lockstep-onednn.so' sweep cpu ./alone
[ ! -e cpu.jsonl ] || fail 'records of nothing'
by cpu-cblas 0 ./alone

# chosen PROGRAM: it makes the large products with the plug-in, and its records are never confused
# with others.
chosen() {
    "$1" devices >devices
    tr -s '\n ' ' ' <devices >joined
    expect_count 1 'BLAS [^,]*, oneDNN [0-9.]* brg' joined
    by cpu 1 "$1"
    by cpu-onednn 1 "$1"
    others cpu-onednn "$1"
    one_line 2 'nothing to compare: 4 cells only in cpu-cblas.jsonl, 4 only in cpu-onednn.jsonl' \
        "$1" compare cpu-cblas.jsonl cpu-onednn.jsonl
    cp before.jsonl cpu.jsonl
    more=--resume
    one_line 2 'the BLAS here is ' sweep cpu "$1"
    more=
}

# A plug-in for tests, which every CPU can run; also one that fails in different ways.
cp "$module" lockstep-onednn.so
chosen ./alone
without "$slow" env FAKE_PRODUCTS=slow ./alone
rm -f cpu.jsonl
one_line 2 'backend cpu: oneDNN 0.0.0 brg:fake cannot be set up' \
    sweep cpu env FAKE_PRODUCTS=broken ./alone
expect_status 1 sweep cpu env FAKE_PRODUCTS=fail ./alone
expect_count 0 '"status":"ok"' cpu.jsonl
expect_count 4 'brg:fake: a product of [0-9]* x 256 x 256 failed' cpu.jsonl

# oneDNN itself is used if it has kernels for this CPU.
if "$lockstep" devices --backend cpu-onednn >devices 2>&1; then
    chosen "$lockstep"
else
    without "$slow" "$lockstep"
    echo 'oneDNN has no kernels for this CPU: only the module of the tests was tried'
fi
