# kill -9 loses at most the cell under way; --resume measures the rest, and no cell is lost or
# doubled.
. "$(dirname "$0")/common.sh"

grid='--bind none --devices virt:2 --batch 10,64 --workload tutorial --workload mlp:16,8,4 --launches 2'
cell='"schema":"lockstep/cell/1.1"'
planned=24

expect_status 0 "$lockstep" sweep $grid --seed 11 --seconds 0.001 --steps 1:2 --verbose --out whole.jsonl
cp err whole.err
cell_ids whole.jsonl >wanted

"$lockstep" sweep $grid --seed 11 --seconds 0.1 --steps 1:100000 --out cut.jsonl >out 2>err &
sweep=$!
wait_for_cells 15 cut.jsonl "$sweep" # in the middle of the second block
find_workers "$sweep"
kill -9 "$sweep"
wait "$sweep" 2>/dev/null || true
for worker in $workers; do
    tries=0
    while grep -q ') [A-Y] ' "/proc/$worker/stat" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || fail "worker $worker outlived its parent"
        sleep 0.05
    done
done
kept=$(count_lines "$cell" cut.jsonl)
[ "$kept" -lt "$planned" ] || fail "the sweep was complete before it was killed"
expect_count 0 '"schema":"lockstep/end/1.1"' cut.jsonl
cp cut.jsonl before.jsonl

# Without --resume, and with other options, the file does not change.
expect_status 2 "$lockstep" sweep $grid --seed 11 --out cut.jsonl
expect_status 2 "$lockstep" sweep $grid --seed 12 --seconds 0.1 --steps 1:100000 --resume \
    --out cut.jsonl
expect_count 1 'seed 12.*seed 11' err
for other in '--scaling weak:--scaling strong' '--mode dp:--mode plain,dp'; do
    expect_status 2 "$lockstep" sweep $grid ${other%%:*} --seconds 0.1 --steps 1:100000 --resume \
        --out cut.jsonl
    expect_count 1 "here it is \"${other%%:*}\", in the file \"${other#*:}\"" err
done
expect_status 2 "$lockstep" sweep ${grid%2}3 --seconds 0.1 --steps 1:100000 --resume --out cut.jsonl
expect_count 1 'here it is "--launches 3", in the file "--launches 2"' err
cmp before.jsonl cut.jsonl || fail "a refused sweep changed the file"

# It does not change with a torn line, either, which is cut off only when the sweep goes on.
printf '{"schema":"lockstep/cell/1.1","run_id":"12' >>cut.jsonl
cp cut.jsonl torn.jsonl
expect_status 2 "$lockstep" sweep $grid --seconds 0.2 --steps 1:100000 --resume --out cut.jsonl
expect_count 1 'cannot resume' err
cmp torn.jsonl cut.jsonl || fail "a refused resume changed the file"
cp before.jsonl cut.jsonl

# A whole record without its newline is a record.
expect_status 0 "$lockstep" sweep $grid --seed 11 --seconds 0.001 --steps 1:2 --out end.jsonl
for lines in 25 26; do # the last cell's record, then the end record
    head -n "$lines" end.jsonl | head -c -1 >bare.jsonl
    expect_status 0 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out bare.jsonl
    head -n "$lines" end.jsonl >wanted_lines
    head -n "$lines" bare.jsonl | cmp - wanted_lines || fail "a whole record was cut off"
    expect_status 0 "$lockstep" report bare.jsonl --out bare-report
    rm -r bare-report
    expect_count "$planned" "$cell" bare.jsonl
done

# A file with nothing or less than a header starts anew, unless another program wrote it.
: >start.jsonl
expect_status 0 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out start.jsonl
expect_count "$planned" '"status":"ok"' start.jsonl
head -c 300 end.jsonl >start.jsonl
expect_status 0 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out start.jsonl
expect_count "$planned" '"status":"ok"' start.jsonl
expect_count 1 '"schema":"lockstep/run/1.2"' start.jsonl
printf 'my thesis' >start.jsonl
expect_status 2 "$lockstep" sweep $grid --resume --out start.jsonl
[ "$(cat start.jsonl)" = 'my thesis' ] || fail "a foreign file was changed"

# Without its chain a file is read as one from before there were chains, so that the edits below are
# reached. Lines that are added have no chain, either.
sed 's/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//' end.jsonl >plain.jsonl

# elsewhere FIELD VALUE WORDS: another machine or build is refused, with the difference, and without
# its control characters.
elsewhere() {
    sed "1s/\"$1\":\(\"[^\"]*\"\|[a-z0-9]*\)/\"$1\":$2/" plain.jsonl >other.jsonl
    ! cmp -s plain.jsonl other.jsonl || fail "no $1 in the header"
    cp other.jsonl copy.jsonl
    expect_status 2 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out other.jsonl
    expect_count 1 "$3" err
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line"
    cmp copy.jsonl other.jsonl || fail "a refused resume changed the file"
}
elsewhere node_hash '"0000000000000000"' 'the machine here'
elsewhere pus 999 'number of processing units here'
elsewhere blas '"another"' 'the BLAS here'
elsewhere cflags '"-O0"' 'the set of compiler flags here'
elsewhere kernel '"Linux 0"' 'the kernel here'
elsewhere git_sha '"unknown"' 'the commit here'
elsewhere git_dirty "$(grep -q '"git_dirty":true' end.jsonl && echo false || echo true)" \
    'the working tree here is "[a-z ]*", in the file "[a-z ]*"'
digest=$(printf '%064d' 7)
elsewhere source_digest "\"$digest\"" "the digest of the source here is \"[0-9a-f]*\", in the file \"$digest\""
elsewhere governor '"warp"' 'the governor here is "[^"]*", in the file "warp"'
elsewhere clock '"CLOCK_MONOTONIC"' 'the clock here is "[A-Z_]*", in the file "CLOCK_MONOTONIC"'
elsewhere machine_class "\"$digest\"" 'the class of machine here'
elsewhere machine_instance "\"$digest\"" 'the start of the machine here'
elsewhere environment '"MALLOC_ARENA_MAX=1"' 'the environment here is "[^"]*", in the file "MALLOC_ARENA_MAX=1"'
elsewhere gpu_software '"driver 1"' 'the GPU software here'
elsewhere name '"virt:9"' 'device 0 here'
cp end.jsonl other.jsonl
expect_status 2 env OMP_NUM_THREADS=7 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume \
    --out other.jsonl
expect_count 1 'the environment here is "[^"]*OMP_NUM_THREADS=7' err
cmp end.jsonl other.jsonl || fail "a refused resume changed the file"
elsewhere cpu_model '"a\\u001b[31m\\nb\\u009bc"' 'the processor here'
! grep -q "$(printf '[\001-\011\013-\037\177-\237]')" err || fail "a control byte was shown"

# A file of another version has other options: the error names the first of them, in both
# directions. Minor 0 had no launches.
sed '1s/ --mode plain,dp//;1s/ --scaling strong//;1s/ --launches 2//;1s/"launches":2,//' plain.jsonl >other.jsonl
expect_status 2 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out other.jsonl
expect_count 1 'here it is "--mode plain,dp", the file has no such option' err
[ "$(wc -l <err)" -eq 1 ] || fail "not one line"
sed '1s/ --launches 2/ --zeal 9&/' plain.jsonl >other.jsonl
expect_status 2 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out other.jsonl
expect_count 1 'other.jsonl:1: "command" is that of no sweep: this version does not know its "--zeal"' err

# Cells that are missing here and there are run in the order of the whole.
sed '4d;9d;20d;$d' plain.jsonl >gaps.jsonl
expect_status 0 "$lockstep" sweep $grid --seconds 0.001 --steps 1:2 --resume --out gaps.jsonl
sed -n '4p;9p;20p' plain.jsonl | grep -o '"cell_id":"[0-9a-f]*"' >wanted_lines
expect_count 0 '"chain":"' gaps.jsonl
sed -n '23,25p' gaps.jsonl | grep -o '"cell_id":"[0-9a-f]*"' | cmp - wanted_lines ||
    fail "not the missing cells in their order"

# A torn line is cut off; the options, and the seed from the file, are those of the first session.
printf '{"schema":"lockstep/cell/1.1","run_id":"12' >>cut.jsonl
expect_status 0 "$lockstep" sweep $grid --seconds 0.1 --steps 1:100000 --resume --out cut.jsonl
head -c "$(wc -c <before.jsonl)" cut.jsonl | cmp - before.jsonl || fail "earlier records changed"
cell_ids cut.jsonl >found
diff wanted found || fail "not the cells of an undisturbed sweep"
grep -o '"cell_id":"[0-9a-f]*"' whole.jsonl >wanted_order
grep -o '"cell_id":"[0-9a-f]*"' cut.jsonl | cmp - wanted_order || fail "another order"
expect_count "$planned" '"status":"ok"' cut.jsonl
expect_count 1 '"schema":"lockstep/run/1.2"' cut.jsonl

# A cell has the number of its session, and the page says that there were two.
expect_count "$kept" '"sitting":0,.*"start_epoch_ns"' cut.jsonl
expect_count $((planned - kept)) '"sitting":1,.*"start_epoch_ns"' cut.jsonl
mkdir bare
program=$(command -v "$lockstep")
expect_status 1 env PATH="$PWD/bare" "$program" report cut.jsonl --out sittings # without figures
grep -q 'there were 2 sessions' sittings/summary.md || fail "the page says nothing of two sessions"
# The duration of the first one is not known, because it was killed. That of an undisturbed sweep
# is.
expect_count 0 ' were timed: ' sittings/summary.md
expect_status 1 env PATH="$PWD/bare" "$program" report whole.jsonl --out undisturbed
expect_count 1 'Of the [0-9]*\.[0-9] s of run [0-9a-f]*, [0-9]* % were timed: [0-9]* % in measured steps, [0-9]* % in the steps and reductions next to them' \
    undisturbed/summary.md
share=$(sed -n 's/^  timed  *\([0-9]*\) % of .*/\1/p' whole.err)
grep -q ", $share % were timed: " undisturbed/summary.md || fail "the sweep said $share %, the report something else"

expect_count 1 '"schema":"lockstep/end/1.1"' cut.jsonl

# The chain goes on over all sessions: a changed digit in the first one shows.
expect_count $((planned + 2)) '"chain":"' cut.jsonl
sed '3s/"launch_ns":\([0-9]*\)/"launch_ns":\19/' cut.jsonl >changed.jsonl
expect_status 2 "$lockstep" report changed.jsonl --out page
expect_count 1 'changed.jsonl:4: "chain" is .* line 3 has the SHA-256 .* was changed' err

# A second resume has nothing to do, which its status says.
expect_status 0 "$lockstep" sweep $grid --seconds 0.1 --steps 1:100000 --resume --out cut.jsonl
expect_count "$planned" "$cell" cut.jsonl

# A file can have one sweep at a time, also when it is resumed.
cp before.jsonl held.jsonl
"$lockstep" sweep $grid --seconds 0.1 --steps 1:100000 --resume --out held.jsonl >out 2>err &
sweep=$!
wait_for_cells $((kept + 1)) held.jsonl "$sweep"
status=0
"$lockstep" sweep $grid --seconds 0.1 --steps 1:100000 --resume --out held.jsonl \
    >out2 2>err2 || status=$?
[ "$status" -eq 2 ] || fail "status $status of a second sweep of one file"
expect_count 1 'another lockstep is writing' err2

kill -HUP "$sweep"
expect_end 130 "$sweep"
expect_count 1 'interrupted; to continue, run the same command' err
expect_count 1 '"interrupted":true' held.jsonl

# Ctrl-C gives status 130 and an end record that says so; nothing is lost.
"$lockstep" sweep $grid --seed 3 --seconds 0.1 --steps 1:100000 --out int.jsonl >out 2>err &
sweep=$!
wait_for_cells 1 int.jsonl "$sweep"
kill -TERM "$sweep"
expect_end 130 "$sweep"
expect_count 1 '"interrupted":true' int.jsonl
# The numbers so far are in CSV, and none of them is called certain; no other format has a number.
done=$(count_lines "$cell" int.jsonl)
expect_status 3 "$lockstep" report int.jsonl --format csv
expect_count "$done" ',0,"[0-9]* of [0-9]* planned launches \(is\|are\) missing[;"]' out
expect_status 3 "$lockstep" report int.jsonl --format md
expect_count 1 "Run [0-9a-f]* was interrupted after $done of $planned launches[.]$" out
expect_count 1 "The sweep was interrupted after $done of $planned launches: continue with --resume[.] " out
expect_count 0 'no end line' out
expect_status 0 "$lockstep" sweep $grid --seconds 0.1 --steps 1:100000 --resume --out int.jsonl
expect_count "$planned" '"status":"ok"' int.jsonl

# A file cannot grow: there is one line, status 2, and only whole records; with more space the sweep
# goes on.
expect_status 2 sh -c 'ulimit -f 24; exec "$@"' sh "$lockstep" sweep $grid --seed 5 \
    --seconds 0.02 --steps 10:20 --out full.jsonl
expect_count 1 'cannot append' err
[ "$(tail -c 1 full.jsonl | od -An -c | tr -d ' ')" = '\n' ] || fail "a torn record was left"
expect_status 0 "$lockstep" sweep $grid --seed 5 --seconds 0.02 --steps 10:20 --resume \
    --out full.jsonl
expect_count "$planned" '"status":"ok"' full.jsonl
