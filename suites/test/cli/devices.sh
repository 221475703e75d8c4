# The text of devices: every slot, at most 80 columns; what is not here has its own status.
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" devices --devices virt:3
expect_count 3 '^  [0-2]    virt:[0-2] ' out
expect_count 1 'hwloc' out
expect_count 0 '.\{81\}' out
# Long values go on in the next line and are whole.
sed -n '/^  BLAS/,$p' out | sed '/^  CUDA/,$d' | sed 's/^  BLAS//' | tr -d ' \n' >shown
expect_status 0 "$lockstep" devices --devices virt:1 --format json
grep -o '"blas" *: *"[^"]*"' out | sed 's/^"blas" *: *"//; s/"$//' | tr -d ' \n' >whole
[ -s whole ] || fail "no BLAS in the JSON"
cmp shown whole || fail "the BLAS line is cut: $(cat shown)"
expect_status 0 "$lockstep" devices --devices host --backend cpu-ref
expect_count 1 'cpu-ref' out
expect_status 0 "$lockstep" devices

# Without /sys, as in some containers, hwloc has lines of its own to say: not here.
mkdir nothing
HWLOC_FSROOT=$folder/nothing
export HWLOC_FSROOT
expect_status 0 "$lockstep" devices
[ ! -s err ] || fail "words of hwloc: $(cat err)"
grep -q '^Machine' out || fail "no machine: $(cat out)"
HWLOC_HIDE_ERRORS=0 "$lockstep" devices 2>err >out
grep -q hwloc err || fail "hwloc says nothing, so this shows nothing"
unset HWLOC_FSROOT
