# Sweeps that are bound to one core: the second is refused, or waits. Other tests may use the cores,
# too, so a sweep that must be able to begin is told to wait.
. "$(dirname "$0")/common.sh"

command -v taskset >/dev/null || { echo "skipped: taskset is not installed" >&2; exit 77; }
core=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
small='--mode plain --workload tutorial --batch 10 --seconds 0.01 --steps 1:4'
holder=
waiting=
trap 'kill -9 $holder $waiting 2>/dev/null || true' EXIT

# on_core COMMAND...
on_core() {
    taskset -c "$core" "$@"
}

# wait_for WORDS FILE PID: waits until the file has the words.
wait_for() {
    tries=0
    until grep -q -- "$1" "$2"; do
        tries=$((tries + 1))
        [ "$tries" -lt 2400 ] || fail "'$1' is not in $2 after 120 seconds: $(cat "$2")"
        kill -0 "$3" 2>/dev/null || fail "it ended without '$1': $(cat "$2")"
        sleep 0.05
    done
}

# hold FILE: a sweep that takes minutes has the core; its pid is in holder.
hold() {
    : >"$1"
    taskset -c "$core" "$lockstep" sweep --wait --devices virt:1 --mode plain --workload tutorial --batch 10 \
        --launches 500 --seconds 100 --steps 2:100000 --timeout 300 --out "$1" >hold.out 2>hold.err &
    holder=$!
    wait_for '"schema":"lockstep/run/1.2"' "$1" "$holder"
}

hold held.jsonl
if grep -q FLOCK /proc/locks 2>/dev/null; then
    who=", process $holder"
else
    who=
fi
refuse "core $core is in use by another sweep$who (.*/lockstep-core-$core); --wait waits" \
    on_core "$lockstep" sweep --devices virt:1 $small --out second.jsonl
[ ! -e second.jsonl ] || fail "a refused sweep left a file"
refuse "core $core is in use by another sweep$who (.*/lockstep-core-$core); --wait waits" \
    on_core "$lockstep" compare --ab "$lockstep" "$lockstep" --allow-dirty --devices virt:1 --mode plain --workload tutorial --batch 10 --out pairs.jsonl
[ ! -e pairs.jsonl ] || fail "a refused comparison left a file"
kill -0 "$holder" || fail "the first sweep ended: $(cat hold.err)"

# A sweep that is not bound to a core has nothing to wait for.
expect_status 0 on_core "$lockstep" sweep --bind none --devices virt:1 $small --out free.jsonl
expect_count 1 '"status":"ok"' free.jsonl

# A signal ends the waiting, before there is a file.
taskset -c "$core" "$lockstep" sweep --wait --devices virt:1 $small --out stopped.jsonl >wait.out 2>wait.err &
waiting=$!
wait_for "core $core is in use by another sweep$who (.*): waiting for it" wait.err "$waiting"
kill -TERM "$waiting"
expect_end 130 "$waiting"
[ "$(wc -l <wait.err)" -eq 2 ] || fail "not one line that it waits and one that it ends: $(cat wait.err)"
[ ! -e stopped.jsonl ] && [ ! -s wait.out ] || fail "something was left of it"

# A waiting sweep goes on when the other one ends, in whatever way that ends.
taskset -c "$core" "$lockstep" sweep --wait --devices virt:1 $small --out third.jsonl >wait.out 2>wait.err &
waiting=$!
wait_for "core $core is in use by another sweep" wait.err "$waiting"
sleep 1
ended=$(date -u +%Y-%m-%dT%H:%M:%SZ)
kill -9 "$holder"
wait "$holder" 2>/dev/null || true
expect_end 0 "$waiting"
expect_count 1 '"status":"ok"' third.jsonl
expect_count 1 '"schema":"lockstep/end/1.1"' third.jsonl
expect_count 0 '--wait' third.jsonl
# Its record describes the machine at the time when it began to measure.
began=$(sed -n '1s/.*"created_utc":"\([^"]*\)".*/\1/p' third.jsonl)
[ "$(printf '%s\n' "$began" "$ended" | sort | head -n 1)" = "$ended" ] ||
    fail "the header is of $began, before the other ended at $ended"
waiting=
holder=
