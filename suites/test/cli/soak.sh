# `lockstep soak` is silent without a fault, with every backend; and it refuses bad options.
. "$(dirname "$0")/common.sh"

small='--workload mlp:24,16,8 --batch 40'

# silent ITERATIONS OPTION...
silent() {
    iterations=$1
    shift
    expect_status 0 "$lockstep" soak --iterations "$iterations" "$@"
    [ ! -s err ] || fail "words on standard error"
    grep -q "^nothing found in $iterations iterations$judged\$" out || fail "$*: $(tail -n 1 out)"
}

# The last line says that no speed was judged, and why: so few iterations, so short a step, one device.
judged='; speed not judged: 49 timed iterations, 96 needed'
silent 50 $small --devices virt:2
judged='; speed not judged: a step of [0-9.e-]* ms, 1 needed'
silent 120 $small --devices virt:2
judged='; speed not judged: .*'

silent 50 $small --devices virt:2
grep -q '^checking: [0-9.]* % of the time$' out || fail "no share of checking"
# Each device has 320 outputs, a loss, and twice 24 * 16 + 16 + 16 * 8 + 8 gradients.
grep -q "^compared: $((50 * 2 * (320 + 1 + 2 * 536))) values" out || fail "compared"
silent 20 --workload tutorial --batch 30 --devices virt:3
silent 3 --workload cnn --batch 8 --devices virt:2
silent 20 --workload blocks --batch 16 --devices virt:1
# There are nine ranks: their mean is not exact, and known all the same.
silent 20 $small --devices virt:9 --backend cpu-ref
silent 20 $small --devices virt:4 --communicator staged
silent 20 $small --devices virt:2 --seed 0
silent 20 $small --devices virt:3 --mode dp
grep -q "^compared: $((20 * (3 * 320 + 1 + 536))) values" out || fail "compared, dp"
silent 20 $small --devices virt:1 --mode dp
silent 3 --workload cnn --batch 8 --devices virt:2 --mode dp --backend cpu-ref

# With overlap, outputs and means are compared, and it is counted whether anything overlapped: the
# first iteration has one bucket, the others have one for each of four parameters.
silent 20 $small --devices virt:3 --mode overlap
grep -q "^compared: $((20 * 3 * (320 + 1 + 536))) values" out || fail "compared, overlap"
grep -q "^overlap: [1-9][0-9]* of $((3 * (1 + 19 * 4))) buckets were launched while" out || fail "overlap"
silent 3 --workload cnn --batch 8 --devices virt:2 --mode overlap
expect_status 1 "$lockstep" soak --iterations 1 $small --devices virt:2 --mode overlap
grep -q 'nothing was overlapped, so this shows nothing of it' err || fail "one bucket overlaps"
refuse "'staged' reduces after backward, not during it: threads" "$lockstep" soak --iterations 5 \
    $small --devices virt:2 --mode overlap --communicator staged
expect_status 1 "$lockstep" soak --iterations 5 $small --devices virt:1 --mode overlap
grep -q 'nothing to overlap: one device' err || fail "one device"
expect_status 0 "$lockstep" soak --iterations 5 $small --devices virt:2 --mode overlap --format json
grep -q '"buckets_beside": [1-9]' out || fail "JSON of overlap"

expect_status 0 "$lockstep" soak --iterations 5 $small --devices virt:2 --format json
grep -q '"schema": "lockstep/soak/1.0"' out || fail "JSON"
grep -q '"found": 0' out || fail "JSON"

# The minutes end it, and so does a signal; then it prints its findings.
expect_status 0 "$lockstep" soak --minutes 0.005 $small --devices virt:2
"$lockstep" soak --minutes 10 $small --devices virt:2+fault:row@1/1 --show 1 >interrupted 2>&1 &
pid=$!
turns=0
while [ ! -s interrupted ] && [ $turns -lt 300 ]; do
    sleep 0.1
    turns=$((turns + 1))
done
kill -TERM $pid
expect_end 130 $pid
grep -q '^iteration 1, virt:1: ' interrupted || fail "interrupted: $(cat interrupted)"
grep -q '^interrupted: FOUND: [1-9]' interrupted || fail "interrupted: $(cat interrupted)"

# joined COMMAND...: like expect_status 1; in the file out, a text that is broken into several lines
# is one line.
joined() {
    expect_status 1 "$@"
    ! grep '.\{81\}' out | grep -v '^replay of ' || fail 'more than 80 columns'
    sed -e ':again' -e '$!N' -e 's/\n  / /' -e 't again' -e P -e D out >whole
    mv whole out
}

# found FAULT LINE [OPTION...]: the line is printed for every finding.
found() {
    fault=$1
    line=$2
    shift 2
    joined "$lockstep" soak --iterations 12 $small --devices "virt:3+fault:$fault" --limit 3 --spread 0.5 "$@"
    [ ! -s err ] || fail "words on standard error"
    grep -q "^iteration .*$line" out || fail "$fault"
    ! grep '^iteration ' out | grep -v "$line" || fail "$fault: other findings"
}

# One bit, three bits or all are wrong: the line has the pattern that must be there, and which bits
# are wrong.
bits='is 0x[0-9a-f]\{8\}, must be 0x[0-9a-f]\{8\}, xor'
found flip@5/1 "5, virt:1: \(outputs\|gradient of .*\): index [0-9]* $bits 0x0*[1248]0*; 1 of"
expect_count 1 '^iteration' out
found flip@1/0 "1, virt:0: .* $bits 0x0*[1248]0*; 1 of"
found flips@7/2 "7, virt:2: .* $bits 0x[0-9a-f]*; 1 of"
found nan@4/1 '4, virt:1: .* is 0x7fc00000, must be 0x[0-9a-f]*, xor'
found row@9/0 "virt:0: gradient of [a-z0-9.]*: .* $bits 0x000000[0-9a-f]*; [1-9][0-9]* of"
grep -q '^iteration 9,' out || fail "the row from iteration 9"
! grep -q '^iteration [1-8],' out || fail "the row before iteration 9"
grep -q '^iteration 12,' out || fail "the row in iteration 12"
mean='reduced gradient of [a-z0-9.]*: .*'
found drop@6/2 "6, virt:2: $mean; its part is missing"
found double@6/0 "6, virt:0: $mean; its part is there twice"
found stale@7/1 "7, virt:1: $mean; its part is that of the iteration before"
found dead@8/1 '8, virt:1: dead: .*virt:1 is dead on purpose'
found drop@6/2 "6, virt:2: $mean; its part is missing" --mode dp
found double@6/0 "6, virt:0: $mean; its part is there twice" --mode dp
found stale@7/1 "7, virt:1: $mean; its part is that of the iteration before" --mode dp
found dead@8/1 '8, virt:1: dead: .*virt:1 is dead on purpose' --mode dp
found drop@6/2 "6, virt:2: $mean; its part is missing" --mode overlap
found double@6/0 "6, virt:0: $mean; its part is there twice" --mode overlap
found stale@7/1 "7, virt:1: $mean; its part is that of the iteration before" --mode overlap
found dead@8/1 '8, virt:1: dead: .*virt:1 is dead on purpose' --mode overlap
found row@9/0 "device not told: $mean is 0x[0-9a-f]*, must be" --mode overlap
found nan@4/1 '4, virt:1: outputs: .* is 0x7fc00000, must be 0x[0-9a-f]*, xor' --mode overlap
# The gradient of a single device does not appear.
found nan@3/2 "3, device not told: $mean is 0x7fc00000, must be" --mode dp
found hang@3/2 '3, virt:2: hung: forward, longer than 3 s'

# replayed ITERATION FAULT [OPTION...]: the printed command finds the same in that iteration, and in
# JSON it is the same command.
replayed() {
    number=$1
    fault=$2
    shift 2
    joined "$lockstep" soak --iterations 12 $small --devices "virt:3+fault:$fault" --limit 3 --seed 5 "$@"
    replay=$(sed -n "s/^replay of iteration $number: lockstep //p" out)
    [ -n "$replay" ] || fail "$fault: no replay of iteration $number"
    [ "$(tail -n 1 out)" = "replay of iteration $number: lockstep $replay" ] || fail "$fault: not the last line"
    grep "^iteration $number," out >found
    expect_status 1 "$lockstep" soak --iterations 12 $small --devices "virt:3+fault:$fault" --limit 3 --seed 5 "$@" \
        --format json
    grep -qxF " \"replay\": \"lockstep $replay\"," out || fail "$fault: JSON"
    joined "$lockstep" $replay
    grep "^iteration $number," out | cmp -s found - || fail "$fault: not $(cat found)"
}
replayed 9 row@9/0
replayed 5 flip@5/1 --backend cpu-ref --communicator staged
replayed 1 row@1/2
replayed 7 stale@7/1
replayed 6 drop@6/2 --mode overlap
replayed 6 double@6/0 --mode dp
replayed 8 dead@8/1
# Iterations have fixed numbers: a number that is always wrong is wrong in the middle of a run, too.
# Without a finding there is nothing to replay.
expect_status 1 "$lockstep" soak --iterations 9 $small --devices virt:3+fault:row@1/0
grep '^iteration [89],' out >found
expect_status 1 "$lockstep" soak --first 8 --iterations 2 $small --devices virt:3+fault:row@1/0
grep '^iteration ' out | cmp -s found - || fail "--first: $(cat found out)"
silent 3 $small --devices virt:2 --first 1000000
! grep -q replay out || fail "nothing to replay"
expect_status 0 "$lockstep" soak --iterations 2 $small --devices virt:2 --format json
grep -q '"replay": null' out || fail "JSON"

# A run goes on, and counts the findings that it does not print.
found row@1/1 'virt:1' --show 2
grep -q '^and [1-9][0-9]* more$' out || fail "more"
# A fault in a call that was never made, or one that cannot be found, is no pass.
one_line_of() {
    expect_status 1 "$lockstep" soak --iterations 3 $small --devices "$1"
    grep -q "^lockstep soak: .*$2" err || fail "$1"
}
one_line_of virt:2+fault:flip@4/1 'flip on device 1 was to be made in step 4, and was not'
one_line_of virt:1+fault:slow@1/0 'slow on device 0 in step 1 was made, and was not found'

expect_status 1 "$lockstep" soak --iterations 6 $small --devices virt:2+fault:flip@5/1 --format json
grep -q '"iteration": 5' out && grep -q '"device": "virt:1"' out && grep -q '"xor": "0x' out || fail "JSON"

refuse 'how long?' "$lockstep" soak
refuse 'tutorial, mlp:SIZES, .*cnn have' "$lockstep" soak --iterations 1 --workload rnn
refuse 'tutorial, mlp:SIZES, .*cnn have' "$lockstep" soak --iterations 1 --workload mixed
refuse '"0" is outside' "$lockstep" soak --iterations 0
refuse '"0" is outside' "$lockstep" soak --iterations 1 --first 0
refuse 'minutes' "$lockstep" soak --minutes 0
refuse 'minutes' "$lockstep" soak --minutes -1
refuse 'is given twice' "$lockstep" soak --iterations 1 --iterations 2
refuse 'plain' "$lockstep" soak --iterations 1 --mode plain
refuse 'xml' "$lockstep" soak --iterations 1 --format xml
one_line 2 'runs late on purpose' "$lockstep" soak --iterations 1 --devices virt:2+lag
one_line 2 'has no devices' "$lockstep" soak --iterations 1 --devices host
echo "soak: all as documented"
