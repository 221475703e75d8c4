# `lockstep soak selftest`: every fault is found by the detector that is meant for it, and none without
# one.
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" soak selftest --quick
[ ! -s err ] || fail "words on standard error"
for fault in 'one bit flips' 'three bits flip' 'a row is stuck' 'NaN' 'a bucket is dropped' \
    'a bucket is doubled' 'a bucket is stale' 'dropped, overlapped' 'doubled, overlapped' \
    'stale, overlapped' 'a device is dead' 'a device hangs' 'a device is slow' 'a clock drops'; do
    grep -q "^$fault .* right$" out || fail "$fault"
done
expect_count 0 '.\{81\}' out
expect_count 3 '^no fault.* silent$' out
grep -q '^5 of 5 flips found, with device, iteration and bit$' out || fail "flips"
grep -q '^14 kinds of faults found, nothing found in 3 runs without one; 0 wrong$' out ||
    fail "the end"

# Interrupted while its first run is going on, it says so, to programs, too; unit tests have the rest
# of what is for programs.
interrupt() {
    "$lockstep" soak selftest --format "$1" &
    pid=$!
    until [ -n "$(cat "/proc/$pid/task/$pid/children")" ]; do sleep 0.1; done
    kill -TERM "$pid"
    wait "$pid"
}
expect_status 130 interrupt junit
expect_count 1 '<error message="interrupted' out
if command -v xmllint >/dev/null; then xmllint --noout out || fail "no XML"; fi
expect_status 130 interrupt json
grep -q '"schema": "lockstep/selftest/1.0"' out || fail "no schema"
grep -q '"interrupted": true' out || fail "nobody learns that it was interrupted"

refuse '"md"' "$lockstep" soak selftest --format md
refuse 'unexpected argument' "$lockstep" soak selftest virt:2
refuse '"x"' "$lockstep" soak selftest --flips x
echo "selftest: all as documented"
