# CTest itself uses the specification of resources that the program writes: every test sees the GPUs
# that it was given and no others. A test that cannot run is reported as skipped, or, if GPUs are
# required, as failed. $3 is ctest.
. "$(dirname "$0")/../cli/common.sh"

ctest=$3
on_gpus=$(cd "$(dirname "$0")/../gpu" && pwd)/on-gpus
export LOCKSTEP_FAKE_GPUS=4

# add_test NAME GPUS COMMAND...
add_test() {
    name=$1
    least=$2
    shift 2
    printf 'add_test(%s bash "%s" "%s" %s' "$name" "$on_gpus" "$lockstep" "$least"
    printf ' "%s"' "$@"
    printf ')\nset_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77 ' "$name"
    printf 'RESOURCE_GROUPS "%s,gpus:1")\n' "$least"
}
{
    add_test one 1 "$lockstep" devices --devices cuda:all
    add_test other 1 "$lockstep" devices --devices cuda:all
    add_test pair 2 "$lockstep" devices --devices cuda:all
} >CTestTestfile.cmake

# ran STATUS NAME WORDS OPTIONS...: expects CTest's verdict about one test.
ran() {
    wanted=$1
    name=$2
    words=$3
    shift 3
    expect_status "$wanted" "$ctest" --parallel 4 -R "^$name\$" -V "$@"
    grep -q "$name .*$words" out || fail "$name is not '$words'"
}

# buses: prints the GPUs that the tests saw, one per line.
buses() {
    grep -o 'PCI 0000:[0-9a-f]*' out | sort
}

expect_status 0 "$lockstep" devices --ctest-resources
mv out four.json
# All four run at once, each GPU is used once: CTest had enough GPUs for all of them.
expect_status 0 "$ctest" --parallel 4 -V --resource-spec-file four.json
[ "$(buses | tr '\n' ' ')" = 'PCI 0000:10 PCI 0000:11 PCI 0000:12 PCI 0000:13 ' ] ||
    fail "not each GPU once"
expect_count 3 'on-gpus: CTest gave this test CUDA_VISIBLE_DEVICES=' out
# The numbers are positions among the visible GPUs, not numbers of the machine.
CUDA_VISIBLE_DEVICES=3,1
export CUDA_VISIBLE_DEVICES
expect_status 0 "$lockstep" devices --ctest-resources
mv out two.json
expect_count 2 '"slots": 1' two.json
ran 0 pair Passed --resource-spec-file two.json
[ "$(buses | tr '\n' ' ')" = 'PCI 0000:11 PCI 0000:13 ' ] || fail "not GPUs 3 and 1"
unset CUDA_VISIBLE_DEVICES

# Without a specification a test sees all GPUs.
ran 0 one Passed
[ "$(buses | wc -l)" -eq 4 ] || fail "not all GPUs"
export LOCKSTEP_FAKE_GPUS=1
ran 0 one Passed
ran 0 pair Skipped
grep -q 'needs GPUs: 2; here are: 1' out || fail "no reason"
with LOCKSTEP_REQUIRE_GPU=1 ran 8 pair Failed
with LOCKSTEP_REQUIRE_GPU=1 ran 0 one Passed
with LOCKSTEP_REQUIRE_GPU=yes ran 8 one Failed
grep -q 'LOCKSTEP_REQUIRE_GPU=yes: must be 0 or 1' out || fail "no reason"
export LOCKSTEP_FAKE_GPUS=0
ran 0 one Skipped
grep -q 'no GPU: cudaGetDeviceCount' out || fail "no reason"
with LOCKSTEP_REQUIRE_GPU=1 ran 8 one Failed
# Without a GPU there is no specification.
one_line 77 'no GPU: cudaGetDeviceCount' "$lockstep" devices --ctest-resources
# A GPU that exists and does not work is no skip.
export LOCKSTEP_FAKE_INIT=cudaErrorSystemNotReady
ran 8 one Failed
grep -q 'the driver does not work: .*SystemNotReady' out || fail "no reason"
expect_status 1 "$lockstep" devices --ctest-resources
[ ! -s out ] || fail "a specification without a driver"
unset LOCKSTEP_FAKE_INIT
expect_status 1 "$lockstep" devices --ctest-resources --require-devices 1
with LOCKSTEP_FAKE_GPUS=2 expect_status 1 "$lockstep" devices --ctest-resources --require-devices 3
grep -q 'require-devices 3: there are 2 GPUs' err || fail "no line"
expect_status 2 "$lockstep" devices --ctest-resources --devices cuda:0
grep -q 'ctest-resources and --devices exclude each other' err || fail "no line"
expect_status 2 bash "$on_gpus" "$lockstep" 0 true
expect_status 2 bash "$on_gpus" "$lockstep" 1
expect_status 2 bash "$on_gpus" "$lockstep" 1 "$folder/nothing"
expect_status 0 bash "$on_gpus" --help
