# The load of the machine during a launch: a program that spins on the launch's core takes a good
# part of its time, and the record says so. On a machine about which little is known it says what
# can be known.
. "$(dirname "$0")/common.sh"

command -v taskset >/dev/null || { echo "skipped: taskset is not installed" >&2; exit 77; }
core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')

# measure FILE: measures a launch on that core.
measure() {
    expect_status 0 taskset -c "$core" "$lockstep" sweep --wait --devices virt:1 --mode plain --batch 64 \
        --workload mlp:64,64 --seconds 1 --steps 1:100000 --seed 3 --out "$1"
    expect_count 1 '"status":"ok"' "$1"
}

# value FIELD FILE: prints a number, or null.
value() {
    grep -o "\"$1\":[-0-9.eE+a-z]*" "$2" | cut -d: -f2
}

# between LEAST MOST NUMBER: the number is in that range.
between() {
    awk -v least="$1" -v most="$2" -v number="$3" \
        'BEGIN { exit !(number ~ /^[0-9.eE+-]+$/ && number + 0 >= least && number + 0 <= most) }'
}

taskset -c "$core" sh -c 'while :; do :; done' &
neighbour=$!
trap 'kill "$neighbour" 2>/dev/null || true' EXIT
measure busy.jsonl
kill "$neighbour"
wait "$neighbour" 2>/dev/null || true
between 0.3 1 "$(value foreign_frac busy.jsonl)" ||
    fail "beside a spinning neighbour: foreign_frac is $(value foreign_frac busy.jsonl)"
between 1 1e9 "$(value involuntary_switches busy.jsonl)" ||
    fail "beside a spinning neighbour: no involuntary switch"

measure free.jsonl
for field in foreign_frac steal_frac; do
    number=$(value "$field" free.jsonl)
    [ "$number" = null ] || between 0 1 "$number" || fail "$field is $number"
done
for field in voluntary_switches involuntary_switches minor_faults major_faults; do
    between 0 1e9 "$(value "$field" free.jsonl)" || fail "$field is $(value "$field" free.jsonl)"
done
number=$(value cpu_hz free.jsonl)
[ "$number" = null ] || between 1e7 1e11 "$number" || fail "cpu_hz is $number"

# The launch is too short for the kernel's ticks: its numbers are unknown, not 0.
expect_status 0 "$lockstep" sweep --bind none --devices virt:1 --mode plain --batch 4 --steps 1:2 \
    --workload mlp:4,4 --seconds 0.001 --out short.jsonl
expect_count 1 '"foreign_frac":null,"steal_frac":null' short.jsonl
