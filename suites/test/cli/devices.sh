# The text of devices has every slot in at most 80 columns; a device that is not here has a separate
# status.
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" devices --devices virt:3
expect_count 3 '^  [0-2]    virt:[0-2] ' out
expect_count 1 'hwloc' out
expect_count 0 '.\{81\}' out
# Long values continue in the next line and are complete.
sed -n '/^  BLAS/,$p' out | sed '/^  CUDA/,$d' | sed 's/^  BLAS//' | tr -d ' \n' >shown
expect_status 0 "$lockstep" devices --devices virt:1 --format json
grep -o '"blas" *: *"[^"]*"' out | sed 's/^"blas" *: *"//; s/"$//' | tr -d ' \n' >whole
[ -s whole ] || fail "no BLAS in the JSON"
cmp shown whole || fail "the BLAS line is cut: $(cat shown)"
expect_status 0 "$lockstep" devices --devices host --backend cpu-ref
expect_count 1 'cpu-ref' out
expect_status 0 "$lockstep" devices

# Without /sys, as in some containers, hwloc prints more lines: here they must not
# appear.
mkdir nothing
HWLOC_FSROOT=$folder/nothing
export HWLOC_FSROOT
expect_status 0 "$lockstep" devices
[ ! -s err ] || fail "words of hwloc"
grep -q '^Machine' out || fail "no machine"
HWLOC_HIDE_ERRORS=0 "$lockstep" devices 2>err >out
grep -q hwloc err || fail "hwloc says nothing, so this shows nothing"
expect_count 1 '^Machine: not this one' out
expect_status 1 "$lockstep" sweep limits --devices virt:1
grep -q 'another machine' err || fail "measured on another machine"
unset HWLOC_FSROOT

# Another machine is shown, but never bound to, and nothing is measured on it, whatever hwloc is
# told.
export HWLOC_SYNTHETIC='package:1 core:16 pu:1' HWLOC_THISSYSTEM=1
expect_status 0 "$lockstep" devices --devices virt:16
expect_count 1 '^Machine: not this one' out
expect_count 16 ' virt:[0-9]* *virt .* no ' out
expect_status 0 "$lockstep" devices --format json
grep -q '"foreign": true' out || fail "not said in JSON"
for command in 'sweep --out seen.jsonl' 'soak --minutes 0.01' 'sweep limits'; do
    $lockstep $command --devices virt:2 >out 2>err && fail "$command measures on another machine"
    grep -q 'another machine' err || fail "$command"
done
[ ! -e seen.jsonl ] || fail "a record of another machine: $(cat seen.jsonl)"
# The topology has hardware threads only: they are shared out as cores are.
HWLOC_SYNTHETIC='pu:4' expect_status 0 "$lockstep" devices --format json
grep -q '"cores": 0,' out && grep -q '"pus": 4,' out && grep -q '"usable_cores": 4,' out || fail "without cores"
unset HWLOC_SYNTHETIC HWLOC_THISSYSTEM
ARGP_HELP_FMT=rmargin=10 expect_status 0 timeout 10 "$lockstep" sweep --help
