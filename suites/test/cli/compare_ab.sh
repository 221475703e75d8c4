# `lockstep compare --ab` measures two builds in pairs: which programs are no such build, which
# cells are INVALID, and which results of a stopped comparison are kept.
. "$(dirname "$0")/common.sh"
unset CI

tiny='--allow-dirty --allow-disturbed --bind none --devices virt:1 --workload mlp:8,6,4 --batch 8 --seconds 0.01 --steps 10:50 --warmup 1:0'

# wrapper NAME LINE...: makes a shell script of that name; in it, $lockstep is the real program.
wrapper() {
    name=$1
    shift
    {
        echo '#!/bin/sh'
        echo "lockstep='$lockstep'"
        printf '%s\n' "$@"
        echo 'exec "$lockstep" "$@"'
    } >"$name"
    chmod +x "$name"
}

# Lines of a wrapper: which cell it was asked for, by the launch. All wrappers with these lines are
# asked for the same cells.
keep_id='all=$* && launch=${all#*--launch } && launch=${launch%% *}
id=$(cat id-$launch 2>/dev/null) ||
    { id=$("$lockstep" "$@" | grep -o "\"cell_id\":\"[0-9a-f]*\"") && echo "$id" >id-$launch || exit 1; }'

# valid_lines FILE: each line is a JSON object of the schema, and the lines are chained.
valid_lines() {
    [ "$(wc -l <"$1")" -eq "$(grep -c '^{"schema":"lockstep/compare/1.0","type":"[a-z]*",.*"}$' "$1")" ] ||
        fail "a line that is none: $(cut -c1-80 "$1")"
    previous=sha256
    while read -r line; do
        case $line in
        *",\"chain\":\"$previous\""*) ;;
        *) fail "chain: $line" ;;
        esac
        previous=$(printf %s "$line" | sha256sum | cut -d' ' -f1)
    done <"$1"
}

# The programs are equal, and the output says A/A. By design 5 of 100 such comparisons are wrong, 1
# of 8000 three times in a row. On a machine with other load they need not be shown to be
# equivalent.
for seed in 1 2 3; do
    rm -f same.jsonl
    status=0
    "$lockstep" compare --verbose --ab "$lockstep" "$lockstep" $tiny --mode plain,dp --seed $seed --out same.jsonl >out 2>err ||
        status=$?
    [ $status -eq 3 ] || break
done
[ $status -eq 0 ] || fail "status $status"
prints '^A/A [EI][A-Z]*, all cells together: NEW takes [0-9.]* % [a-z]* time \[[-+][0-9.]* %, [-+][0-9.]* %\]: '
prints 'Cost of the cells: [0-2] REGRESSED, .* 0 INVALID[.]'
prints 'A/A: both are the same program with the same options'
prints 'Evidence class I, interleaved pairs'
prints 'A/A [A-Z]* mlp:8,6,4 plain virt:1, 8 rows, f32, cpu/threads NEW/OLD'
prints 'A/A [A-Z]* mlp:8,6,4 dp virt:1, 8 rows, f32, cpu/threads NEW/OLD .*; finds [0-9.]* %'
prints 'In about 80 of 100 comparisons, 12 pairs find a change of [0-9.]* % in a cell'
prints 'Cells: 2: 0 REGRESSED, .* 0 INVALID. Pairs of each: 12[.] Exact numbers that changed: 0[.]'
! grep -q '.\{81\}' out || fail "more than 80 columns"
[ "$(tail -n 1 err | cut -d, -f1)" = '12 of 12 pairs of each of 2 cells' ] || fail "$(cat err)"
valid_lines same.jsonl
expect_count 1 '"type":"begin"' same.jsonl
expect_count 24 '"type":"pair"' same.jsonl
expect_count 3 '"type":"verdict"' same.jsonl
expect_count 1 '"type":"end","pairs_planned":24,"pairs_done":24,"interrupted":false,"fitness":null,"exit":0' same.jsonl
# Each arm comes first in some pairs; all launches of a cell have the steps of the first one.
for arm in old new; do
    [ "$(grep -c "\"first\":\"$arm\"" same.jsonl)" -ge 4 ] || fail "$arm is hardly ever first"
done
for cell in 0 1; do
    steps=$(grep "\"type\":\"pair\",\"cell\":$cell," same.jsonl | grep -o '"steps":[0-9]*' | sort -u)
    case $steps in
    '"steps":'[1-9]*) [ "$(echo "$steps" | wc -l)" -eq 1 ] || fail "cell $cell: $steps" ;;
    *) fail "cell $cell: $steps" ;;
    esac
done
# The order depends on the seed.
"$lockstep" compare --verbose --ab "$lockstep" "$lockstep" $tiny --mode plain,dp --seed $seed --out again.jsonl >again 2>&1 ||
    [ $? -eq 3 ] || fail "$(cat again)"
for file in same again; do
    grep -o '"type":"pair","cell":[01],"pair":[0-9]*,"first":"[a-z]*"' $file.jsonl >$file.order
done
cmp -s same.order again.order || fail "one seed, two orders"

quiet='--allow-dirty --bind none --devices virt:2 --counts 2 --mode dp --workload mlp:8,6,4 --batch 8 --seconds 0.01 --steps 10:10 --warmup 1:0'
two="$quiet --pairs 8 --allow-disturbed"

# A planted slowdown is found. The devices are slower, and the record does not say so.
wrapper slow 'case $* in *--rows*) ;; *) exec "$lockstep" "$@" ;; esac' \
    "$keep_id" \
    'for word; do shift; [ "$word" != virt:2 ] || word=virt:2+1000us; set -- "$@" "$word"; done' \
    '"$lockstep" "$@" | sed "s/virt:2+1000us/virt:2/g;s/\"cell_id\":\"[0-9a-f]*\"/$id/"; exit'
expect_status 1 "$lockstep" compare --verbose --ab "$lockstep" ./slow $two
prints '^REGRESSED, all cells together: NEW takes [0-9.]* times the time \[[0-9.]*, [0-9.]*\]: slower, and that is shown[.]'
prints 'REGRESSED mlp:8,6,4 dp virt:2, 8 rows, f32, cpu/threads NEW/OLD [1-9][0-9.]* \[[1-9].*(few: the minimum of 10 steps)'
prints 'Cells: 1: 1 REGRESSED'
prints_not 'A/A'
expect_status 0 "$lockstep" compare --verbose --ab ./slow "$lockstep" $two --strict
prints '^IMPROVED, all cells together: NEW takes 0[.][0-9]* times the time \[0[.][0-9]*, 0[.][0-9]*\]: faster, and that is shown[.]'
prints 'Cells: 1: 0 REGRESSED, 0 INCONCLUSIVE, 0 EQUIVALENT, 1 IMPROVED, 0 INVALID'

# --figure draws the results: a row for all cells, and one for each, with its interval and its
# verdict.
if command -v gnuplot >/dev/null; then
    "$lockstep" compare --verbose --ab ./slow "$lockstep" $two --no-strict --figure drawn --format json >out 2>err || fail "$(cat out err)"
    for name in drawn/forest.svg drawn/forest.png drawn/forest-narrow.svg; do
        [ -s $name ] || fail "no $name"
    done
    expect_count 1 'IMPROVED 0[.][0-9]*: all cells together' drawn/forest-text.tsv
    expect_count 1 'IMPROVED 0[.][0-9]*: mlp:8,6,4 dp virt:2, 8 rows' drawn/forest-text.tsv
    ratio=$(sed -n 's/^  *"ratio": \(0[.][0-9]\{4\}\).*/\1/p' out | tail -n 1)
    expect_count 1 "^2	$ratio[0-9]*	0[.][0-9]*	0[.][0-9]*	1\$" drawn/forest.tsv
    grep -q 'IMPROVED 0' drawn/forest-narrow.svg || fail 'the narrow figure has no words'
    # A figure that cannot be drawn is an error; the results are printed all the same.
    expect_status 2 "$lockstep" compare --verbose --ab ./slow "$lockstep" $two --no-strict --figure err/none
    prints '^IMPROVED, all cells together'
    grep -q "^lockstep compare: no figure: cannot make the directory 'err/none'" err || fail "$(cat err)"
fi

# One more byte moved in a step is CHANGED, in whatever time; --exact makes it a failure.
wrapper more 'case $* in *--rows*) ;; *) exec "$lockstep" "$@" ;; esac' \
    '"$lockstep" "$@" | sed "s/\"bytes_per_step\":912[.]0/\"bytes_per_step\":913.0/"; exit'
for form in text md json; do
    expect_status 1 "$lockstep" compare --verbose --ab "$lockstep" ./more $two --exact --format $form --out more_$form.jsonl
    case $form in
    text)
        prints 'CHANGED mlp:8,6,4 dp virt:2, 8 rows, f32, cpu/threads bytes_per_step: 912 -> 913 bytes'
        prints 'Exact numbers that changed: 1[.]'
        ;;
    md) prints '^### .*Exact numbers that changed: 1[.] .*| CHANGED | cell | OLD | NEW .*| bytes._per._step | mlp:8,6,4 dp virt:2, 8 rows, f32, cpu/threads | 912 | 913 | bytes |' ;;
    json) prints '"changes": \[ { "cell": 0, "metric": "bytes_per_step", "unit": "bytes", "a": "912", "b": "913" } \], "false_alarms": 0, "fitness": null, "exit": 1' ;;
    esac
    valid_lines more_$form.jsonl
    expect_count 1 '"type":"change","cell":0,"metric":"bytes_per_step","unit":"bytes","a":"912","b":"913"' more_$form.jsonl
done
"$lockstep" compare --verbose --ab "$lockstep" ./more $two --no-strict --out without.jsonl >out 2>err || [ $? -eq 1 ] || fail "$(cat out err)"
prints CHANGED
# Without --exact it is reported, and is no failure: status 1 then means that a time is REGRESSED.
grep -q 'REGRESSED"' without.jsonl || expect_count 1 '"type":"end".*"exit":0' without.jsonl

# busy NAME LAUNCHES: makes a program that others disturb in the launches of that pattern, in the
# last one of 0 to 3 also the host; the shares in the other launches are just below the limit. It is
# slow if its name says so.
busy() {
    wrapper "$1" "# $1" 'case $* in *--rows*) ;; *) exec "$lockstep" "$@" ;; esac' \
        'case $* in' \
        "*'--launch '$2' '*) share='\"foreign_frac\":0.31,\"steal_frac\":0.0' ;;" \
        "*) share='\"foreign_frac\":0.3,\"steal_frac\":0.02' ;;" \
        'esac' \
        "case \$*\$share in *'--launch 3 '*0.31*) share='\"foreign_frac\":0.31,\"steal_frac\":0.03' ;; esac" \
        'case $0 in *slow*) late=600us ;; *) late=60us ;; esac' \
        "$keep_id" \
        'for word; do shift; [ "$word" != virt:2 ] || word=virt:2+$late; set -- "$@" "$word"; done' \
        '"$lockstep" "$@" | sed "s/virt:2+$late/virt:2/g;s/\"cell_id\":\"[0-9a-f]*\"/$id/;s/\"foreign_frac\":[^,]*,\"steal_frac\":[^,]*/$share/"; exit'
}

# A cell with more than a quarter of such pairs is not judged, and the output says what to do; with
# --allow-disturbed they count like all others.
busy busy '[0-3]'
for form in text md; do
    "$lockstep" compare --verbose --ab ./busy ./busy $two --format $form --no-strict --out busy_$form.jsonl >out 2>err || [ $? -eq 3 ] || fail "$(cat out err)"
    case $form in
    text)
        prints '; disturbed: 4 of 8 pairs'
        prints 'Disturbed: 4 of 8 pairs (by other programs: 4, by other machines on the same host: 1; not known: 0)[.] They count like all others (--allow-disturbed)'
        ;;
    md)
        prints 'Disturbed: 4 of 8 pairs (by other programs: 4, '
        prints '; disturbed: 4 of 8 pairs[; ]'
        ;;
    esac
    expect_count 4 '"pair":[0-3],"first":"[a-z]*","disturbed":true,"old":.*"foreign_frac":0.31,.*"new":.*"foreign_frac":0.31,' busy_$form.jsonl
    expect_count 4 '"pair":[4-7],"first":"[a-z]*","disturbed":false,' busy_$form.jsonl
    expect_count 2 '"type":"verdict",.*"pairs_disturbed":4,"pairs_disturbed_unknown":0,' busy_$form.jsonl
done
why='disturbed: 4 of 8 pairs, and at most 25 % may be (by other programs: 4, by other machines on the same host: 1)[.] Stop what else runs, or measure on another machine'
for form in text json; do
    expect_status 3 "$lockstep" compare --verbose --ab ./busy ./busy $quiet --pairs 8 --format $form --no-strict
    case $form in
    text)
        prints "^A/A INVALID: no cell is valid[.] .* A/A INVALID mlp:8,6,4 .* $why"
        prints 'Disturbed: 4 of 8 pairs (.* Measure again while nothing else runs here, or on another machine; --allow-disturbed judges all pairs'
        ;;
    json) prints "\"verdict\": \"INVALID\", \"reason\": \"$why\"" ;;
    esac
done
# A quarter of them is no reason yet; but the result has to be shown without them, too.
busy some '[0-2]'
busy some_slow '[0-2]'
expect_status 1 "$lockstep" compare --verbose --ab ./some ./some_slow $quiet --pairs 12
prints '^REGRESSED, all cells together: NEW takes .*: slower, and that is shown[.] .*; disturbed: 3 of 12 pairs (few'
busy few '[01]'
busy few_slow '[01]'
expect_status 4 "$lockstep" compare --verbose --ab ./few ./few_slow $quiet --pairs 8 --strict
prints 'INCONCLUSIVE mlp.*; disturbed: 2 of 8 pairs; with all pairs REGRESSED, without the disturbed ones INVALID: 6 pairs; for one of 1 cells it takes 8 to 60'

# One program has two names, and under one of them it is slower: a difference between a program and
# itself is a false alarm, and status 3 says that no result on this machine can be believed.
wrapper twin_a 'case $* in *--rows*) ;; *) exec "$lockstep" "$@" ;; esac' \
    'case $0 in *twin_a) late=100us ;; *) late=1000us ;; esac' \
    "$keep_id" \
    'for word; do shift; [ "$word" != virt:2 ] || word=virt:2+$late; set -- "$@" "$word"; done' \
    '"$lockstep" "$@" | sed "s/virt:2+$late/virt:2/g;s/\"cell_id\":\"[0-9a-f]*\"/$id/"; exit'
cp twin_a twin_b
expect_status 3 "$lockstep" compare --verbose --ab ./twin_a ./twin_b $two --out twin.jsonl
prints '^A/A REGRESSED, all cells together: NEW takes [0-9.]* times the time .*: a false alarm of this machine, as both are the same program[.]'
prints 'A/A REGRESSED mlp:8,6,4 dp .*; a false alarm (few'
prints 'False alarms: 2 of 2 verdicts. Nothing is slower or faster than itself'
prints_not 'and that is shown'
expect_count 2 '"verdict":"REGRESSED",.*"false_alarm":true' twin.jsonl
expect_status 3 "$lockstep" compare --verbose --ab ./twin_b ./twin_a $two --format md
prints '^### A/A IMPROVED, all cells together: NEW takes .*: a false alarm of this machine.*False alarms: 2 of 2 verdicts'
prints '| A/A IMPROVED | mlp.*; a false alarm |'

# --aa asks for that, and says how small a change the machine can show. That depends on the machine:
# word and status have to match.
for form in text md json junit; do
    status=0
    "$lockstep" compare --verbose --aa "$lockstep" $quiet --pairs 8 --allow-disturbed --format $form --out aa_$form.jsonl >out 2>err || status=$?
    case $status in
    0) word=FIT state=/ ;;
    3) word='NOT FIT' state=error ;;
    4) word='TOO NOISY' state=skipped ;;
    *) fail "status $status" ;;
    esac
    case $form in
    text) prints "^$word for comparisons of these cells: .*A/A [A-Z]*, all cells together" ;;
    md) prints "^### $word for comparisons of these cells: .*### A/A [A-Z]*, all cells together" ;;
    json) prints "\"same\": true,.*\"fitness\": \"$word\", \"exit\": $status" ;;
    junit) prints "name=\"this machine\"[^<]*\(/>\|<$state message=\"$word for comparisons\)" ;;
    esac
    expect_count 1 "\"type\":\"end\".*\"fitness\":\"$word\",\"exit\":$status," aa_$form.jsonl
done
# A machine on which the program fails is not fit for anything.
wrapper dies 'case $* in *--rows*) exit 1 ;; esac'
expect_status 3 "$lockstep" compare --verbose --aa ./dies $two
prints '^NOT FIT for comparisons of these cells: 1 of 1 cells is INVALID'

# Two sets of options of this build are compared.
sets="--allow-dirty --allow-disturbed --bind none --counts 2 --mode dp --workload mlp:8,6,4 --batch 8 --seconds 0.01 --steps 10:10 --warmup 1:0 --pairs 8"
for form in text md json; do
    expect_status 1 "$lockstep" compare --verbose --a '--devices virt:2' --b '--devices virt:2+1000us' $sets --format $form
    prints 'REGRESSED'
    prints_not 'A/A'
    case $form in
    text)
        prints 'OLD: this program --devices virt:2: lockstep .*NEW: this program --devices virt:2+1000us: lockstep'
        prints 'against mlp:8,6,4 dp virt:2+1000us, 8 rows'
        ;;
    md) prints '^### REGRESSED, .*| REGRESSED | mlp:8,6,4 dp virt:2+1000us, 8 rows, f32, cpu/threads | [1-9]' ;;
    json) prints '"schema": "lockstep/compare/1.0", "class": "I",.*"all": {[^}]*"verdict": "REGRESSED".*"exit": 1' ;;
    esac
done
"$lockstep" compare --verbose --a '--communicator threads' --b '--communicator staged' $two --no-strict >out 2>err ||
    [ $? -eq 1 ] || fail "$(cat out err)" # they may well differ
prints 'dp virt:2, 8 rows, f32, cpu/threads against mlp:8,6,4 dp virt:2, 8 rows, f32, cpu/staged'

# INCONCLUSIVE is printed, and with --strict, which CI=true turns on, it has a status: in every
# second pair one program is slower, in the others the other one.
for turn in 0 1; do
    wrapper turn$turn 'case $* in *--rows*) ;; *) exec "$lockstep" "$@" ;; esac' \
        "$keep_id" \
        "case \$* in *'--launch '*[13579]' --run-id '*) late=\$((300 + 700 * $turn)) ;; *) late=\$((1000 - 700 * $turn)) ;; esac" \
        'for word; do shift; [ "$word" != virt:2 ] || word=virt:2+${late}us; set -- "$@" "$word"; done' \
        '"$lockstep" "$@" | sed "s/virt:2+${late}us/virt:2/g;s/\"cell_id\":\"[0-9a-f]*\"/$id/"; exit'
done
# inconclusive STATUS OPTION
inconclusive() {
    expect_status "$1" "$lockstep" compare --verbose --ab ./turn0 ./turn1 $two "$2"
    prints '^INCONCLUSIVE, all cells together: NEW takes .*: not sure: neither a difference nor its absence is shown[.]'
    prints 'INCONCLUSIVE mlp:8,6,4 .*; finds [0-9]'
}
inconclusive 0 --no-strict
# So a second interim analysis is made, of all pairs; the results of the first are kept, too. A cell
# that is settled at the first has one only.
expect_status 4 "$lockstep" compare --verbose --ab ./turn0 ./turn1 $two --strict --looks 2 --out looks.jsonl
prints '^INCONCLUSIVE, all cells together: .*Interim analysis 2 of 2[.] They share the errors evenly[.] .*Pairs of each: 16[.] .*16 pairs find a change '
valid_lines looks.jsonl
expect_count 16 '"type":"pair"' looks.jsonl
expect_count 2 '"type":"verdict".*"look":1,' looks.jsonl
expect_count 2 '"type":"verdict".*"look":2,' looks.jsonl
expect_count 1 '"type":"begin".*"pairs":8,"looks":2,' looks.jsonl
expect_count 1 '"type":"end","pairs_planned":16,"pairs_done":16,' looks.jsonl
expect_status 1 "$lockstep" compare --verbose --ab ./some ./some_slow $two --looks 2 --out looked.jsonl
prints 'Interim analysis 1 of 2: it was settled[.] .*Pairs of each: 8[.] '
expect_count 1 '"type":"end","pairs_planned":16,"pairs_done":8,' looked.jsonl
expect_status 1 "$lockstep" compare --verbose --ab ./some ./some_slow $two --looks 2 --format md
expect_count 1 '^[*] Interim analysis 1 of 2: it was settled[.] They share the errors evenly[.] Cells: ' out
expect_status 1 "$lockstep" compare --verbose --ab ./some ./some_slow $two --looks 2 --format annotations
expect_count 1 '^::notice title=lockstep::Interim analysis 1 of 2: it was settled[.] They share the errors evenly[.] 1 REGRESSED, ' out
expect_status 1 "$lockstep" compare --verbose --ab ./some ./some_slow $two --format md
expect_count 0 'Look ' out
inconclusive 4 --strict
with CI=true inconclusive 4 --format=text
with CI=true inconclusive 0 --no-strict

# A launch fails in one arm: the cell is not judged, and that is no pass.
wrapper fails 'case $* in *--rows*) exit 1 ;; esac'
expect_status 3 "$lockstep" compare --verbose --ab "$lockstep" ./fails $tiny --mode dp --pairs 8
prints '^INVALID: no cell is valid'
prints 'INVALID mlp:8,6,4 dp virt:1, .* not verified: 8 of 8 pairs; NEW: crashed: the worker ended with status 1'
wrapper fails_dp 'case $* in *"--mode dp"*) kill -9 $$ ;; esac'
# The other cell is of equal programs. As above, 1 of some 20 looks slower, 1 of 8000 three times.
for seed in 1 2 3; do
    rm -f fails.jsonl
    status=0
    "$lockstep" compare --verbose --ab ./fails_dp "$lockstep" $tiny --mode plain,dp --pairs 8 --seed $seed \
        --out fails.jsonl >out 2>err || status=$?
    [ $status -eq 1 ] || break
done
[ $status -eq 3 ] || fail "status $status"
prints 'not verified: 8 of 8 pairs; OLD: crashed: the worker died of signal 9 (Killed)'
prints 'Cells: 2: 0 REGRESSED, .* 1 INVALID'
valid_lines fails.jsonl
expect_count 8 '"old":{"status":"crashed",.*"floor_ns":null,' fails.jsonl
expect_count 1 '"verdict":"INVALID"' fails.jsonl
# Planted faults.
expect_status 3 "$lockstep" compare --verbose --ab "$lockstep" "$lockstep" --allow-dirty --bind none --devices virt:1+fault:launch@3 --workload mlp:8,6,4 \
    --batch 8 --seconds 0.01 --pairs 8 --mode dp
prints 'not verified: 8 of 8 pairs'
# More devices than cores.
cores=$(nproc)
expect_status 3 "$lockstep" compare --verbose --ab "$lockstep" "$lockstep" --allow-dirty --bind none --devices virt:$((cores + 1)) --counts $((cores + 1)) \
    --mode dp --workload mlp:8,6,4 --batch 64 --seconds 0.01 --steps 10:10 --warmup 1:0 --pairs 8
prints 'oversubscribed: more devices than cores'

# A program that is no build of lockstep is refused before anything is measured.
ab() {
    refuse "$1" "$lockstep" compare --ab "$2" "$3" $tiny
}
printf '#!/bin/sh\nsleep 60\n' >hangs
printf '#!/bin/sh\necho lockstep 9.9 "(x, Release)"\n' >says
printf '#!/bin/sh\nexec /nonexistent "$@"\n' >breaks
chmod +x hangs says breaks
echo text >plain
: >empty
ab 'none: cannot be read: No such file' "$lockstep" ./none
ab '/: it is a folder, no program' / "$lockstep"
ab 'plain: cannot be executed: Permission denied' ./plain "$lockstep"
ab 'empty: it is no file with a program' "$lockstep" ./empty
ab '/dev/null: it is no file with a program' "$lockstep" /dev/null
ab 'sh: no build of lockstep: ' "$(command -v sh)" "$lockstep"
ab 'breaks: no build of lockstep: --version failed' "$lockstep" ./breaks
ab 'says: another version of lockstep: its `cell` does not know --workload' "$lockstep" ./says
ab 'hangs: no build of lockstep: --version did not end in 10 s' "$lockstep" ./hangs
wrapper old 'if [ "$1 $2" = "cell --help" ]; then "$lockstep" cell --help | grep -v warmup; exit; fi'
ab 'old: another version of lockstep: its `cell` does not know --warmup-steps' "$lockstep" ./old
wrapper none 'if [ "$1" = sweep ]; then exit 1; fi'
ab 'none: no build of lockstep: sweep failed' "$lockstep" ./none
wrapper torn 'if [ "$1" = sweep ]; then for out; do :; done; echo "{" >"${out#--out=}"; exit; fi'
ab 'torn: its record cannot be read: ' "$lockstep" ./torn

# writes NAME SCRIPT [LINE]: makes a program that writes its records with that change.
writes() {
    wrapper "$1" "${3-}" 'if [ "$1" = sweep ]; then' \
        'for out; do :; done' 'out=${out#--out=}' '"$lockstep" "$@" || exit' \
        "sed '1{$2};s/,\"chain\":\"[^\"]*\"//;s/,\"seal\":\"[^\"]*\"//' \"\$out\" >$1.records" \
        "cat $1.records >\"\$out\"" 'exit' 'fi'
}

# A build is judged by its records, like files, whatever it prints about itself.
of_what() {
    writes odd "$1"
    one_line 3 "^lockstep compare: INVALID: ./odd is of $2\$" "$lockstep" compare --ab "$lockstep" ./odd $tiny
}
of_what 's/"build_type":"[^"]*"/"build_type":"Debug"/' 'a Debug build, not of Release or RelWithDebInfo'
of_what 's/"build_type":"[^"]*"/"build_type":""/' 'a nameless build, not of Release or RelWithDebInfo'
of_what 's/"sanitizers":""/"sanitizers":"address"/' 'a build with sanitizers: address'
of_what 's/"clock":"CLOCK_MONOTONIC_RAW"/"clock":"CLOCK_MONOTONIC"/' 'the clock CLOCK_MONOTONIC, not CLOCK_MONOTONIC_RAW'
of_what 's/"source":"measured"/"source":"simulated"/' 'times that are simulated, not measured'

# The build is of a changed tree.
writes dirty 's/"git_dirty":false/"git_dirty":true/' 'if [ "$1" = --version ]; then echo "lockstep 0.1.0 (x, Debug)"; exit; fi'
expect_status 3 "$lockstep" compare --verbose --ab ./dirty ./dirty --bind none --devices virt:1 --workload mlp:8,6,4 --mode dp --batch 8
grep -q '^lockstep compare: INVALID: ./dirty is of a changed tree on commit [0-9a-z]*; --allow-dirty takes it$' err ||
    fail "$(cat err)"
[ ! -s out ] || fail "a result of a changed tree"
expect_status 3 "$lockstep" compare --verbose --ab ./dirty ./dirty --allow-dirty --bind none --devices virt:1+fault:launch@3 --workload mlp:8,6,4 \
    --batch 8 --seconds 0.01 --pairs 8 --mode dp
prints 'not verified: 8 of 8 pairs'
prints 'OLD: ./dirty: lockstep 0.1.0 (x, Debug)'

# Misuse.
refuse '--pairs 7: to show anything in one of 1 cell it takes at least 8 pairs' \
    "$lockstep" compare --verbose --ab "$lockstep" "$lockstep" $tiny --mode dp --pairs 7
refuse '--pairs 8: to show anything in one of 16 cells it takes at least 9 pairs' \
    "$lockstep" compare --verbose --ab "$lockstep" "$lockstep" --devices virt:1 --workload mlp:8,6,4 --batch 8:64:+8 --pairs 8
refuse '--pairs: "61" is outside 1 to 60' "$lockstep" compare --ab "$lockstep" "$lockstep" $tiny --pairs 61
refuse 'NEW is missing: write it as --ab OLD NEW' "$lockstep" compare --ab "$lockstep"
refuse 'write it as --ab OLD NEW' "$lockstep" compare --ab="$lockstep" "$lockstep"
refuse '--ab is given twice' "$lockstep" compare --ab x y --ab x y
refuse 'exclude each other' "$lockstep" compare --ab x y --strict --no-strict
refuse '--exact is given twice' "$lockstep" compare --ab x y --exact -e
refuse '--allow-disturbed is given twice' "$lockstep" compare --ab x y --allow-disturbed --allow-disturbed
refuse '--allow-dirty is given twice' "$lockstep" compare --ab x y --allow-dirty --allow-dirty
refuse '--ab compares two programs, --a and --b' "$lockstep" compare --ab x y --a '--mode dp'
refuse '--aa compares a program with itself: not with --ab' "$lockstep" compare --aa x --ab x y
refuse '--aa compares a program with itself: not with --ab' "$lockstep" compare --aa x --a '--mode dp' --b '--mode dp'
refuse '--aa has the exit status 4 if the machine is too noisy' "$lockstep" compare --aa x --strict
refuse '--looks is not of --aa' "$lockstep" compare --aa x --looks 2
refuse '--looks: "3" is outside 1 to 2' "$lockstep" compare --ab x y --looks 3
refuse '--pairs 31: with --looks 2 there are at most 30 to each interim analysis' "$lockstep" compare --ab "$lockstep" "$lockstep" $tiny --pairs 31 --looks 2
refuse '--pairs 9: to show anything in one of 12 cells it takes at least 10 pairs' \
    "$lockstep" compare --verbose --ab "$lockstep" "$lockstep" --devices virt:1 --mode plain --workload mlp:8,6,4 --batch 8:96:+8 --pairs 9 --looks 2
refuse '--figure is given twice' "$lockstep" compare --ab x y --figure x --figure y
refuse '--aa is given twice' "$lockstep" compare --aa x --aa y
refuse "option '--aa' requires an argument" "$lockstep" compare --aa
refuse '--b is missing' "$lockstep" compare --a '--mode dp'
refuse '--a is missing' "$lockstep" compare --b '--mode dp'
refuse '--baseline and --dir are of one record file' "$lockstep" compare --ab x y --baseline main
refuse '--launches is of a sweep: say --pairs N' "$lockstep" compare --ab x y $tiny --launches 2
refuse '--resume is of a sweep' "$lockstep" compare --ab x y $tiny --resume --out x.jsonl
refuse "unrecognized option '--bogus'" "$lockstep" compare --ab x y --bogus
refuse 'are of --ab OLD NEW' "$lockstep" compare a.jsonl b.jsonl --pairs 12
refuse '--a has 1 cells and --b 2' \
    "$lockstep" compare --verbose --a '--mode dp' --b '--mode plain,dp' --devices virt:1 --workload mlp:8,6,4 --batch 8
refuse '--a has mlp:8,6,4 with 8 rows where --b has mlp:8,6,4 with 16' \
    "$lockstep" compare --verbose --a '--batch 8' --b '--batch 16' --devices virt:1 --workload mlp:8,6,4 --mode dp
refuse 'same.jsonl' "$lockstep" compare --ab "$lockstep" "$lockstep" $tiny --mode dp --out same.jsonl

# A comparison is stopped: its measurements are kept, and nothing is judged.
"$lockstep" compare --verbose --ab "$lockstep" "$lockstep" --allow-dirty --bind none --devices virt:1 --mode dp --workload mlp:8,6,4 --batch 8 --seconds 1 \
    --steps 10:100000 --out stopped.jsonl >out 2>err &
pid=$!
wait_for_lines 1 '"type":"pair"' stopped.jsonl "$pid"
kill -TERM "$pid"
expect_end 130 "$pid"
grep -q '^lockstep compare: interrupted: [1-9][0-9]* of 12 pairs [a-z]* done; nothing was judged$' err || fail "$(cat err)"
[ ! -s out ] || fail "a result of a comparison that was stopped"
valid_lines stopped.jsonl
expect_count 1 '"type":"end","pairs_planned":12,"pairs_done":[1-9][0-9]*,"interrupted":true,"fitness":null,"exit":null,' stopped.jsonl
expect_count 0 '"type":"verdict"' stopped.jsonl
