# Devices with +fault: every command ends with status 1 and one line that names the call, whether
# that call was made or not; records keep the device list as it was given.
. "$(dirname "$0")/common.sh"

call='call 2 of move fails on purpose'
never='call 900000 of launch was to fail, but there were '

one_line 1 "$call" "$lockstep" tutorial --devices virt:2+fault:move@2
expect_status 1 "$lockstep" tutorial --devices virt:2+fault:launch@900000
grep -q "${never}[0-9]" err || fail "tutorial"

# sweep FILE OPTION...: runs small cells.
sweep() {
    file=$1
    shift
    expect_status 1 "$lockstep" sweep --wait --batch 8 --workload mlp:8,6,4 --seconds 0.01 --steps 5:10 \
        --out "$file" "$@"
}

# failed N WORDS FILE: there are N cells, all of them failed, with these words as their reason.
failed() {
    [ "$(count_lines '"schema":"lockstep/cell/1.1"' "$3")" -eq "$1" ] || fail "not $1 cells in $3"
    [ "$(count_lines "\"status\":\"failed\".*\"reason\":\"[^\"]*$2" "$3")" -eq "$1" ] ||
        fail "not $1 cells that failed with '$2' in $3"
}

sweep hit.jsonl --devices virt:2+500us+fault:launch@3 --counts 1,2 --mode plain,dp,ddp
failed 5 'call 3 of launch fails on purpose' hit.jsonl
[ "$(count_lines '"devices":"virt:2+500us+fault:launch@3"' hit.jsonl)" -eq 3 ] ||
    fail "the list of two devices is not in a header and two cells"
[ "$(count_lines '"devices":"virt:1+500us+fault:launch@3"' hit.jsonl)" -eq 3 ] ||
    fail "the list of one device is not in three cells"
expect_status 3 "$lockstep" report hit.jsonl --out hit
sweep missed.jsonl --devices virt:2+lag+fault:launch@900000 --counts 2 --mode dp
failed 1 "$never" missed.jsonl
# The fault is late in a step, when the queues are full.
for operation in launch sync move reduce; do
    sweep $operation.jsonl --devices virt:2+lag+fault:$operation@7 --counts 2 --mode dp
    failed 1 "call 7 of $operation fail" $operation.jsonl
done

expect_status 1 "$lockstep" train --devices virt:2+fault:reduce@2 --epochs 1
grep -q 'call 2 of reduce fails on purpose' err || fail "train"
expect_status 1 "$lockstep" train --devices virt:2 --against virt:2+fault:launch@900000 --epochs 1
grep -q 'call 900000 of launch' err || fail "train --against"
expect_status 1 "$lockstep" sweep limits --devices virt:2+fault:launch@3 --workload mlp:6,7 --batch 4
grep -q 'call 3 of launch fails on purpose' err || fail "limits"

expect_status 1 "$lockstep" check --devices virt:2+fault:launch@3
grep -q '[1-9][0-9]* failed' out || fail "check"
expect_status 1 "$lockstep" check --devices virt:2+fault:poll@900000 --only 'SPLIT-01.*'
tr -s '\n ' ' ' <out | grep -q "FAIL reference .*; but no case failed on 'virt:2+fault:poll@900000': that call was in none, or nothing came of it ([0-9.]* s) \$" || fail "check: $(tail -n 3 out)"
[ ! -s err ] || fail "check: words on standard error"
expect_status 1 "$lockstep" check --devices virt:2+fault:poll@900000 --only 'SPLIT-01.*' --format json --out unfelt.json
grep -q '"verdict": "FAIL",' unfelt.json || fail "check: JSON"

# A fault that only makes a device or a link slow changes no result: the cases decide.
for fault in slow@1/1/300 link@1/1/300; do
    expect_status 0 "$lockstep" check --devices virt:2+fault:$fault --only 'SPLIT-01.*'
    tr -s '\n ' ' ' <out | grep -q "PASS reference .*; the fault of 'virt:2+fault:$fault' makes it slow and changes no result: lockstep soak or lockstep validate finds it ([0-9.]* s) \$" || fail "check: $(tail -n 3 out)"
    expect_status 0 "$lockstep" check --copies 64 --devices virt:2+fault:$fault
    tr -s '\n ' ' ' <out | grep -q "PASS copies by .*; the fault of .* changes no result: " || fail "check: $(tail -n 3 out)"
done

# Devices that are only listed do not fail.
expect_status 0 "$lockstep" devices --devices virt:2+lag+5us+fault:launch@1

refuse "'lunch' is not an operation that can fail: alloc, launch" \
    "$lockstep" sweep --devices virt:2+fault:lunch@3
refuse '1 to 1000000000' "$lockstep" train --devices virt:2+fault:launch@0
refuse '+lag is not for GPUs' "$lockstep" sweep --devices cuda:0+lag
echo "faults: all as documented"
