# `lockstep selftest`: every fault is found by the detector that is meant for it, and none without
# one.
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" selftest --quick
[ ! -s err ] || fail "words on standard error: $(cat err)"
for fault in 'one bit flips' 'three bits flip' 'a row is stuck' 'NaN' 'a bucket is dropped' \
    'a bucket is doubled' 'a bucket is stale' 'a device is dead' 'a device hangs' \
    'a device is slow' 'a clock drops'; do
    grep -q "^$fault .* right$" out || fail "$fault: $(cat out)"
done
expect_count 2 '^no fault.* silent$' out
grep -q '^5 of 5 flips found, with device, iteration and bit$' out || fail "flips: $(cat out)"
grep -q '^11 kinds of faults found, nothing found in 2 runs without one; 0 wrong$' out ||
    fail "the end: $(cat out)"

refuse 'unexpected argument' "$lockstep" selftest virt:2
refuse '"x"' "$lockstep" selftest --flips x
echo "selftest: all as documented"
