# lockstep check --copies: a copy that goes wrong is found in each of 100 runs, with its pair, its direction and what
# arrived, and no other pair is accused; without a fault all pairs pass.
# pair_copies.sh LOCKSTEP FOLDER COPIES_BROKEN
. "$(dirname "$0")/common.sh"
broken_program=$3

# copies STATUS DEVICES OPTION...: leaves the table of pairs in the file out.
copies() {
    wanted=$1
    shift
    expect_status "$wanted" "$lockstep" check --copies 16 --devices "$@"
}

# ---- 100 faults ----------------------------------------------------------------------------------

x=2026
# draw N: sets drawn to 0 .. N-1.
draw() {
    x=$(((x * 1103515245 + 12345) % 2147483648))
    drawn=$((x / 65536 % $1))
}

n=0
while [ "$n" -lt 100 ]; do
    n=$((n + 1))
    draw 4 && kind=$drawn
    draw 3 && devices=$((drawn + 2))
    draw "$devices" && from=$drawn
    draw $((devices - 1)) && to=$(((from + 1 + drawn) % devices))
    draw 119 && number=$((drawn + 2))
    case $kind in
    0) name=flip arrived='flipped bits' ;;
    1) name=zero arrived='zeros' ;;
    2) name=drop arrived='what was there before' ;;
    3) name=stale arrived='the bytes of the copy before' ;;
    esac
    fault="virt:$devices+fault:copy-$name@$number/$from/$to"
    copies 1 "$fault" --seed "$n"
    awk -v from="$from" -v to="$to" -v n="$devices" '
        NR > 1 && NR <= n + 1 { for (i = 3; i <= NF; ++i) if ($i != (NR == from + 2 && i == to + 3 ? "FAIL" : "PASS")) exit 1 }
        NR == n + 1 { rows = 1; exit } END { exit !rows }' out || fail "$fault: $(cat out)"
    expect_count 1 '^FAIL  virt:' out
    prints "^.*FAIL virt:$from to virt:$to: 1 of 120 copies is wrong, .* What arrived: $arrived\. The first: [1-9]"
    prints "120 copies of each pair (.* FAIL copies by threads with $devices devices: $((devices * devices - 1)) of $((devices * devices)) cases passed, 1 failed"
    [ ! -s err ] || fail "$fault: $(cat err)"
done

# Two patterns that no +fault plants, each with as many wrong copies as there are of that size.
broken() { # HOW ARRIVED: fills the file flat
    with BROKEN_COPIES="$1" expect_status 1 "$broken_program" check --copies 16 --devices virt:3
    expect_count 1 '^FAIL  virt:' out
    prints "FAIL virt:0 to virt:1: 12 of 120 copies are wrong, 8 of them under load, .* What arrived: $2\. The first: [0-9]* of 4098 bytes"
}
broken shifted 'the right bytes in a wrong place'
broken other 'the bytes of another pair'

# ---- no fault, and other ways ----------------------------------------------------------------------

for devices in virt:2 virt:4 virt:3+lag virt:2+5us; do
    copies 0 "$devices"
    expect_count 0 FAIL out
    prints '120 copies of each pair (.* PASS copies by threads with [234] devices: [0-9]* of [0-9]* cases passed'
done
copies 0 virt:3 --communicator staged
prints 'PASS copies by staged'
copies 1 virt:3+fault:copy-drop@50/2/1 --communicator staged
prints 'FAIL virt:2 to virt:1: '
# A fault that is never made, and a copy that fails, are no pass.
copies 1 virt:2+fault:copy-drop@121/0/1
prints "FAIL copies .*; but no case failed on .*: that call was in none"
copies 1 virt:2+fault:move@5
grep -q 'call 5 of move fails on purpose' err || fail "$(cat err)"

# ---- formats and misuse ----------------------------------------------------------------------------

copies 1 virt:2+fault:copy-flip@7/1/0 --format junit --out copies.xml
prints 'FAIL virt:1 to virt:0: '
expect_count 1 '<testsuites name="lockstep check" tests="4" failures="1" errors="0" skipped="0"' copies.xml
expect_count 1 '<testcase classname="lockstep.COPY" name="virt:1 to virt:0".*<failure message="1 of 120 copies is wrong' copies.xml
grep -q 'check --devices virt:2+fault:copy-flip@7/1/0 --copies 16</failure>' copies.xml || fail "no command to repeat it"
no_devices 77 "'virt:1' has fewer than two devices" --copies 16 --devices virt:1
no_devices 1 '--require-devices 2: virt:1 has 1' --copies 16 --devices virt:1 --require-devices 2
refuse '--copies and --area exclude each other' "$lockstep" check --copies 16 --area SPLIT
refuse '--copies: the format is text' "$lockstep" check --copies 16 --format json
for bad in copy-flip@3/0 copy-flip@3/1/1 copy-flip@0/0/1 copy-flip@3/0/64; do
    refuse 'which copy, 1 to 1000000000, from which device to which other one' "$lockstep" check --copies 16 --devices "virt:2+fault:$bad"
done
refuse 'a fault of device 2, there are 0 to 1' "$lockstep" check --copies 16 --devices virt:2+fault:copy-flip@3/0/2
echo "pair_copies: 100 of 100 faults found, pair, direction and what arrived"
