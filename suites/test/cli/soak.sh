# `lockstep soak`: silent without a fault, whatever computes; and what it refuses.
. "$(dirname "$0")/common.sh"

small='--workload mlp:24,16,8 --batch 40'

# silent ITERATIONS OPTION...
silent()
{
    iterations=$1
    shift
    expect_status 0 "$lockstep" soak --iterations "$iterations" "$@"
    [ ! -s err ] || fail "words on standard error: $(cat err)"
    grep -q "^nothing found in $iterations iterations$" out || fail "$*: $(cat out)"
}

silent 50 $small --devices virt:2
grep -q '^checking: [0-9.]* % of the time$' out || fail "no share of checking: $(cat out)"
# Of each device 320 outputs, a loss, and twice 24 * 16 + 16 + 16 * 8 + 8 gradients.
grep -q "^compared: $((50 * 2 * (320 + 1 + 2 * 536))) values" out || fail "compared: $(cat out)"
silent 20 --workload tutorial --batch 30 --devices virt:3
silent 3 --workload cnn --batch 8 --devices virt:2
silent 20 --workload blocks --batch 16 --devices virt:1
# Nine ranks: their mean is not exact, and known all the same.
silent 20 $small --devices virt:9 --backend cpu-ref
silent 20 $small --devices virt:4 --communicator staged
silent 20 $small --devices virt:2 --seed 0

expect_status 0 "$lockstep" soak --iterations 5 $small --devices virt:2 --format json
grep -q '"schema": "lockstep/soak/1.0"' out || fail "JSON: $(cat out)"
grep -q '"found": 0' out || fail "JSON: $(cat out)"

# The minutes end it, and so does a signal, with what was found.
expect_status 0 "$lockstep" soak --minutes 0.005 $small --devices virt:2
"$lockstep" soak --minutes 10 $small --devices virt:2 >interrupted 2>&1 &
pid=$!
sleep 2
kill -TERM $pid
status=0
wait $pid || status=$?
[ "$status" -eq 130 ] || fail "status $status of an interrupted soak: $(cat interrupted)"
grep -q '^interrupted: nothing found in [1-9]' interrupted || fail "interrupted: $(cat interrupted)"

refuse 'how long?' "$lockstep" soak
refuse 'mlp:SIZES' "$lockstep" soak --iterations 1 --workload rnn
refuse 'mlp:SIZES' "$lockstep" soak --iterations 1 --workload mixed
refuse '"0" is outside' "$lockstep" soak --iterations 0
refuse 'minutes' "$lockstep" soak --minutes 0
refuse 'minutes' "$lockstep" soak --minutes -1
refuse 'is given twice' "$lockstep" soak --iterations 1 --iterations 2
refuse 'xml' "$lockstep" soak --iterations 1 --format xml
one_line 2 'runs late on purpose' "$lockstep" soak --iterations 1 --devices virt:2+lag
one_line 2 'has no devices' "$lockstep" soak --iterations 1 --devices host
echo "soak: all as documented"
