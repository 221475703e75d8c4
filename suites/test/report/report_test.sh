#!/bin/sh
# Tests of `lockstep report` from outside.
#   report_test.sh CASE LOCKSTEP MAKE_RECORDS WORK_DIRECTORY
# The program differ is in the folder of MAKE_RECORDS.
# Exits 0 when the case passed, 1 when not, 77 when it needs what is not installed.
set -eu
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"
case_name=$1 lockstep=$2 make_records=$3 work=$4
results=$(cd "$(dirname "$0")/../../../results/reference" && pwd)
enter "$work"

need() {
    command -v "$1" >/dev/null || { echo "skipped: $1 is not installed" >&2; exit 77; }
}

records() {
    for kind in "$@"; do
        "$make_records" "$kind" "$kind.jsonl" || fail "make_records $kind"
    done
}

# report STATUS ARGUMENT...: runs it and checks the exit status; out.txt and err.txt stay.
report() {
    want=$1
    shift
    status=0
    "$lockstep" report "$@" >out.txt 2>err.txt || status=$?
    cat err.txt >&2
    [ "$status" -eq "$want" ] || fail "exit status $status, not $want: report $*"
    if [ "$want" -ge 2 ]; then
        [ "$(wc -l <err.txt)" -ge 1 ] || fail "exit status $want without a word"
    fi
}

# There is one line, except for the hint after misuse.
one_line() {
    sed -i "/^Try 'lockstep report --help' for more information[.]$/d" err.txt
    [ "$(wc -l <err.txt)" -eq 1 ] || fail "not one line on stderr"
    grep -qF -e "$1" err.txt || fail "stderr does not name '$1'"
}

count_is() {
    got=$(grep -cF -e "$2" "$1" || true)
    [ "$got" -eq "$3" ] || fail "$1 has $got lines with '$2', not $3"
}

well_formed() {
    if command -v xmllint >/dev/null; then
        xmllint --nonet --noout "$@" || fail "not well-formed: $*"
    else
        echo "note: xmllint is not installed, well-formedness not checked" >&2
    fi
}

no_leftovers() {
    [ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left"
}

not_written() {
    [ ! -e "$1" ] || fail "$1 was written"
}

# Both figures exist, have the right format, and are large enough to read.
figure_is_good() {
    [ "$(wc -c <"$1/batch.svg")" -gt 10000 ] || fail "the SVG is too small"
    [ "$(wc -c <"$1/batch.png")" -gt 10000 ] || fail "the PNG is too small"
    well_formed "$1/batch.svg" "$1/index.html"
    signature=$(od -An -tx1 -N8 "$1/batch.png" | tr -d ' \n')
    [ "$signature" = 89504e470d0a1a0a ] || fail "not a PNG: $signature"
    # shellcheck disable=SC2046 # eight numbers are wanted
    set -- $(od -An -tu1 -j16 -N8 "$1/batch.png")
    width=$((($1 << 24) + ($2 << 16) + ($3 << 8) + $4))
    height=$((($5 << 24) + ($6 << 16) + ($7 << 8) + $8))
    [ "$width" -ge 1600 ] || fail "the PNG is $width pixels wide"
    [ "$height" -ge 700 ] || fail "the PNG is $height pixels high"
}

# Counts the verified points: rows of the table of cells.
points() {
    grep -c '<td class="text status">verified' "$1/index.html"
}

test_figure() {
    need gnuplot
    records good
    report 0 good.jsonl --out page/of/good
    has out.txt page/of/good/index.html
    has out.txt 'Not certain: 3 devices train mlp 2.94 times as fast as DataParallel on one'
    [ ! -s err.txt ] || fail "words on stderr"
    figure_is_good page/of/good
    no_leftovers
    cd page/of/good || fail "no directory"
    has index.html 'All 80 planned launches of 80 cells were measured and verified.'
    has index.html '<td class="number">1.99?</td>'
    has index.html '3 devices train mlp 2.94 times as fast as DataParallel on one (batch 4096; at most 3.00 is possible).<small> Measured once, so not certain: sweep again with --launches 6.'
    has index.html 'Run feedface is unsealed: its lines have no chain, so an edit would not show.'
    has_not index.html 'has no end line'
    has index.html '60 of 80 cells had DataParallel on one device as the base'
    has index.html '<summary><h3>Cells</h3> <span class="count">80 cells</span></summary>'
    has index.html 'Bars of one launch: 5th to 95th percentile of its 40 steps'
    has index.html 'Run feedface00000001'
    for fact in 'CLOCK_MONOTONIC_RAW, tick 1 ns' 'barrier before each step' 'slowest replica of each step'; do
        has index.html "$fact"
    done
    has index.html '<svg'
    [ "$(grep -c '<tr class="good">' index.html)" -eq 81 ] || fail "not 80 cells and a run"
    has index.html '5×2 (3 idle)'
    has index.html '0.017? of 0.50'
    if sed 's/xmlns[:a-z]*="[^"]*"//g' index.html | grep -qE '(https?:|<script|<link|src=|@import)'; then
        fail "the page needs something from outside"
    fi
    has summary.md '![Samples/s per device against rows per device](batch.png)'
    [ "$(grep -c '^| ' summary.md)" -eq 46 ] || fail "not 30 and 12 rows and 2 x 2 of headings"
    has summary.md '30 of 80 cells; the other 50 are in index.html.'
    has summary.md '12 of 20 base cases; the other 8 are in index.html.'
    [ "$(points .)" -eq 80 ] || fail "not 80 points"
}

test_failed() {
    need gnuplot
    records failing
    report 1 failing.jsonl --out out
    has out/index.html 'Of 80 planned launches, 80 were measured and 71 verified; 9 FAILED.'
    # They are in the counts, among the failures, and among the cells.
    count_is out/index.html '<tr class="failed">' 19
    count_is out/index.html '>80</td><td class="number">80</td><td class="number">71</td>' 1
    has out/index.html 'FAILED: index 7: got 3'
    has out/summary.md '- mlp:1024,1024,1024,1024, dp, 1 device, 128 rows, launch 0, run feedface00000001: FAILED: index 7'
    [ "$(grep -c ', launch 0, run ' out/summary.md)" -eq 9 ] || fail "not 9 failures in the summary"
    has out/index.html '>not verified<'
    has out/index.html 'FAILED (broken)'
    [ "$(points out)" -eq 71 ] || fail "$(points out) points, not 71"
    # Three devices: batch 32 failed, so an empty line separates 30 from 64, and no others are
    # separated.
    line=$(awk '/^#/ { next } NF == 0 { printf "| "; if (empty++) exit; next } { empty = 0; printf "%.0f ", 3 * $1 }' \
        out/batch.tsv)
    [ "$line" = '10 30 | 64 128 256 512 1024 2048 4096 | | ' ] || fail "the first line is $line"
    figure_is_good out
}

test_hostile() {
    need gnuplot
    records hostile
    report 1 hostile.jsonl --out out
    figure_is_good out
    for file in out/index.html out/summary.md out/batch.svg; do
        has_not $file '<script'
        has_not $file '<b>`'
        has $file '&lt;script'
    done
    [ "$(tr -d '\040-\176\n\200-\377\t' <out/index.html | wc -c)" -eq 0 ] || fail "control characters"
    for file in out/index.html out/summary.md out/batch.svg out/*.tsv; do
        iconv -f UTF-8 -t UTF-8 "$file" >/dev/null || fail "$file is not UTF-8"
    done
    well_formed out/index.html out/batch.svg
    # There is no link and no mention, and a character that cannot be seen is a question mark.
    for link in 'https://' 'www.evil' '@victim' '#12' '[x]'; do
        has_not out/summary.md "$link"
    done
    for file in out/index.html out/summary.md; do
        has $file 'a?b?c?d?e?f?'
    done
    has out/batch.svg '2026-11-21, commit 3f2a9c1d5b7e'
    # shellcheck disable=SC2016 # meant as it stands
    has out/summary.md '\`touch pwned\`'
    # Cells: 30 rows, a header and a rule, of 13 columns; base cases: 12 and two, of 8 columns.
    bars=$(sed 's/\\|//g' out/summary.md | awk -F '|' '/^\|/ { n[NF]++ } END { print n[15] "," n[10] "," length(n) }')
    [ "$bars" = 32,14,2 ] || fail "$bars: rows of the summary have a wrong number of columns"
    [ -z "$(find . -name 'pwned*')" ] || fail "text of a record was executed"
}

test_simulated() {
    need gnuplot
    records simulated
    report 0 simulated.jsonl --out out
    has out/index.html 'verified, SIMULATED'
    has out/index.html '<p class="answer">Not certain: SIMULATED: 3 devices train'
    has_not out/index.html 'Farthest from what is possible' # one launch shows no loss
    has out/batch.svg 'SIMULATED, not measured'
    has out/scaling.svg 'SIMULATED, not measured'
    has out/summary.md SIMULATED
}

test_repeated() {
    need gnuplot
    records launches
    report 0 launches.jsonl --out out
    has out/index.html 'All 240 planned launches of 80 cells'
    has out/index.html 'Bars of 3 launches: smallest to largest launch; this is a range, not an interval.'
    has_not out/index.html '>95 % interval<'
    [ "$(points out)" -eq 80 ] || fail "$(points out) points, not 80"
}

# There are six launches, and the plain program is the base.
test_launches() {
    need gnuplot
    records six six-alike flaky
    report 0 six.jsonl --out six
    has six/index.html 'All 600 planned launches of 100 cells'
    has six/index.html 'interval of the median over launches by order statistics, which covers 96.9'
    has six/index.html 'or more, of launches that are independent, in this session.'
    has_not six/index.html 'no interval'
    has_not six/index.html 'had DataParallel on one device as'
    # 10 rows take 800 us, times 0.9 without the wrapper, times 1.05 for the middle of the steps,
    # times 1, 1.05, 1.03, 1.01, 1.06, 1.04 for the launches.
    nbsp=$(printf '\302\240')
    has six/index.html "<td class=\"number\">6</td><td class=\"number\">782${nbsp}µs</td><td class=\"number range\">[756, 801]${nbsp}µs</td>"
    has six/summary.md "| mlp:1024,1024,1024,1024 | 4096 | 241${nbsp}ms |"
    report 0 six-alike.jsonl --out alike # ratios by launch are alike, too
    has alike/summary.md '| 1.11× |'
    has six/index.html ">46${nbsp}%</td>"
    well_formed six/index.html
    report 1 flaky.jsonl --out flaky
    has flaky/index.html 'Of 600 planned launches, 600 were measured and 533 verified; 67 FAILED.'
    has flaky/index.html 'verified, 1 of 6 launches FAILED'
    has flaky/index.html '<h3>Failed and skipped</h3> <span class="count">67 launches without a result</span></summary>'
    count_is flaky/index.html '>5 of 6</td>' 67
    well_formed flaky/index.html
}

test_weak() {
    need gnuplot
    records weak
    report 0 weak.jsonl --out out
    has out/index.html 'Ideal: K devices are K times as fast'
    has out/index.html 'weak scaling'
    has out/index.html ' in 3 launches; batch 4096 per device; at most'
    # 12288 rows are 3 x 4096; the base has 4096: (2e5 + 60e3 * 4096) * 0.9 over that and 1.6e6.
    has out/index.html '>12288</td><td class="text shards">3×4096</td>'
    has out/index.html '>2.68?</td>'
    well_formed out/index.html
}

# Launches of different runs are no pairs; missing launches are counted as launches.
test_unpaired() {
    need gnuplot
    records six
    sed '$d' six.jsonl | grep -v '"mode":"dp"' >plain.jsonl
    sed '$d' six.jsonl | grep -v '"mode":"plain"' | sed 's/feedface00000001/feedface00000009/' >dp.jsonl
    report 1 plain.jsonl dp.jsonl --out out
    has out/index.html '80 of 100 cells had no launch in common with the base case'
    grep '"launch":0}\|"created_utc"' six.jsonl >first.jsonl
    report 1 first.jsonl --out out
    one_line '100 of 600 planned launches are verified'
    has out/index.html 'Of 600 planned launches, 100 were measured and 100 verified; 500 not run.'
    has out/index.html 'Run feedface has no end line: it goes on, or its file was cut short.'
    has out/summary.md 'Run feedface has no end line'
    has out/index.html 'so the noise is unknown. Go on with --resume.'
    has out/index.html 'Launches of each run'
    has_not out/index.html 'no launch in common'
    has_not out/index.html ' sessions'
    # Launches of two sessions are no pairs, either, whatever their numbers.
    sed '/"launch":5}/{/"mode":"dp"/s/"sitting":0/"sitting":1/}' six.jsonl >mixed.jsonl
    { grep -v '"sitting":1' mixed.jsonl | sed '$d'; grep '"sitting":1' mixed.jsonl; tail -n 1 six.jsonl; } >two.jsonl
    report 0 two.jsonl --out two
    has two/index.html 'there were 2 sessions, between which the machine may have changed'
    has two/index.html '(5 pairs)'
    has_not two/index.html 'no launch in common'
}

# A list of many devices is printed to its end.
test_wide() {
    need gnuplot
    records wide-again
    report 0 wide-again.jsonl --out out
    count_is out/summary.md '; 64 devices (oversubscribed) ' 2
    # On 4 cores.
    count_is out/summary.md 'of the possible 64.00' 0
    has out/summary.md 'of the possible 4.00'
}

# Conditions that make times mean little are reported; runs under different conditions are not put
# together.
test_conditions() {
    need gnuplot
    records good good-again
    sed '1s/"sanitizers":""/"sanitizers":"address"/' good.jsonl >asan.jsonl
    report 0 asan.jsonl --out out
    has out/index.html 'Run feedface is of a build with sanitizers: address: its times mean little.'
    sed '1s/CLOCK_MONOTONIC_RAW/CLOCK_MONOTONIC/' good.jsonl >clock.jsonl
    report 0 clock.jsonl --out out
    has out/index.html 'Run feedface is of the clock CLOCK_MONOTONIC, not CLOCK'
    sed '1s/"governor":"performance"/"governor":"powersave"/' good-again.jsonl >slow.jsonl
    report 0 good.jsonl slow.jsonl --out out
    has out/index.html 'All 160 planned launches of 160 cells'
    has out/index.html 'built and run as run feedface'
    # A part of a run is not a complete one, and cannot claim that less was planned.
    head -n 41 good.jsonl >part.jsonl
    sed '1s/"planned":80/"planned":40/' part.jsonl >less.jsonl
    report 2 less.jsonl --out less
    one_line 'less.jsonl:1: "planned" is 40, but with this "command" it is 80'
    report 1 part.jsonl part.jsonl --out out
    has out/index.html 'Of 80 planned launches, 40 were measured and 40 verified; 40 not run.'
}

# Other load of the cores is reported by launches that know it; old records say nothing.
test_busy() {
    records good
    lockstep=$(command -v "$lockstep")
    mkdir bin # without figures, which would take long
    page() {
        status=0
        PATH=$work/bin "$lockstep" report "$1" --out out >out.txt 2>err.txt || status=$?
        [ "$status" -eq 1 ] || fail "exit status $status, not 1, without gnuplot"
    }
    shares() {
        sed "$1s/\"foreign_frac\":null,\"steal_frac\":null/\"foreign_frac\":$2,\"steal_frac\":$3/"
    }
    page good.jsonl
    has_not out/index.html "launches were disturbed: "
    shares 2 0.3 0.0 <good.jsonl | shares 3 0.301 0.02 | shares 4 0.9 null | shares 5 0.04 0.07 >busy.jsonl
    page busy.jsonl
    for page in out/index.html out/summary.md; do
        has $page '3 of 80 launches were disturbed: up to 90 % of the time of their cores went to other programs, 7 % to other machines; whether 76 of 80 launches were disturbed is not known.'
    done
    grep -q '"foreign_frac":null' good.jsonl || fail "no record is without"
    sed 's/"foreign_frac":[^}]*"cpu_hz":null,//' busy.jsonl >old.jsonl
    page old.jsonl
    has out/index.html 'Keep in mind: whether 80 of 80 launches were disturbed is not known.'
}

# A badge is green only if the numbers show what it says, of every cell and every launch. Each
# record differs from a good one in one thing, which must turn its badge, and no other.
test_badges() {
    records good six six-alike three one-slow one-noisy failing beyond
    lockstep=$(command -v "$lockstep")
    nbsp=$(printf '\302\240')
    mkdir bin # without figures, which would take long
    # badges FILE TONE...: the badges of verification, of noise, and of the state.
    badges() {
        PATH=$work/bin "$lockstep" report "$1" --out out >out.txt 2>err.txt || [ $? -eq 1 ] || fail "no page: $(cat err.txt)"
        shift
        found=$(sed -n 's/.*<li class="badge \([a-z]*\)".*/\1/p' out/index.html | tr '\n' ' ')
        [ "$found" = "$* " ] || fail "badges: $found, not $*"
    }
    badges "$results/records.jsonl" good amber amber
    has out/index.html '4 of 105 step times and 3 of 84 speed-ups are not certain</b>'
    has out/index.html '; whether 383 of 1260 launches were disturbed is not known.'
    for kind in good six six-alike three one-slow one-noisy failing; do
        sed 's/"foreign_frac":null,"steal_frac":null/"foreign_frac":0.01,"steal_frac":0/' $kind.jsonl >$kind-calm.jsonl
    done
    badges one-slow-calm.jsonl amber good good
    has out/index.html 'A file is unsealed, or its plan was not checked.'
    badges failing-calm.jsonl bad amber amber
    has out/index.html 'verified 71/80'
    badges one-noisy-calm.jsonl amber amber good
    has out/index.html '1 of 100 step times and 1 of 80 speed-ups are not certain</b>'
    has out/index.html 'All cells together: noise'
    # A speed-up above what is possible does not count, however quiet its launches are.
    sed 's/"foreign_frac":null,"steal_frac":null/"foreign_frac":0.01,"steal_frac":0/' beyond.jsonl >beyond-calm.jsonl
    badges beyond-calm.jsonl amber amber amber
    has out/index.html '4 of 8 speed-ups are not certain</b>'
    has out/index.html 'more than is possible, 2.00: one device was disturbed).<small> That is too noisy to be certain: sweep again with --launches 16'
    has out/index.html '>more than is possible: one device was disturbed</td>'
    has_not out/index.html 'Nothing has to be measured again'
    badges three-calm.jsonl amber amber amber
    has out/index.html '12 of 12 step times and 8 of 8 speed-ups are not certain</b>'
    badges good-calm.jsonl amber amber amber
    has out/index.html 'Each cell was measured fewer than 3 times, so the noise is unknown. Use --launches 6.'
    has out/index.html 'state: drift unknown'
    badges six-calm.jsonl amber good good
    badges six-alike-calm.jsonl amber amber amber
    has out/index.html '100 of 100 step times are not certain</b>'
    has out/index.html 'Keep in mind: launches that follow each other are alike (autocorrelation 0.99), so intervals may be 12.1 times too narrow'
    has out/index.html 'Steps became longer while it ran, perhaps by chance.'
    # One launch of 800 was disturbed: by programs, and by another machine.
    sed '2s/"foreign_frac":0.01/"foreign_frac":0.31/' one-slow-calm.jsonl >foreign.jsonl
    badges foreign.jsonl amber good amber
    has out/index.html ", 1 of 800 launches disturbed</b>"
    has out/index.html '>verified, disturbed</td>'
    sed '2s/"steal_frac":0/"steal_frac":0.03/' one-slow-calm.jsonl >steal.jsonl
    badges steal.jsonl amber good amber
    has out/index.html ", 1 of 800 launches disturbed</b>"
    sed '2,100s/"foreign_frac":0.01/"foreign_frac":0.31/' one-slow-calm.jsonl >much.jsonl # more than a tenth
    badges much.jsonl amber amber bad # most launches of 13 cells
    has out/index.html '13 of 100 step times and 40 of 80 speed-ups are not certain</b>'
    sed 's/"foreign_frac":0.01/"foreign_frac":0.31/' one-slow-calm.jsonl >busy.jsonl # quiet times, of a busy machine
    badges busy.jsonl amber amber bad
    has out/index.html '100 of 100 step times and 80 of 80 speed-ups are not certain</b>'
    has out/index.html '"answer">Not certain: '
    has out/index.html '8 of its 8 launches were disturbed, too many to be certain: sweep again on an idle machine. Keep in mind: 800 of 800 launches were disturbed: up to 31 %'
    sed '2,100s/"foreign_frac":0.01/"foreign_frac":null/' one-slow-calm.jsonl >unknown.jsonl # of 99 of 800: more than a tenth
    badges unknown.jsonl amber good amber
    has out/index.html "less than 5${nbsp}% of the cores in 701 of 701 launches."
    has out/index.html 'Keep in mind: whether 99 of 800 launches were disturbed is not known.'
}

test_merged() {
    need gnuplot
    records good failing good-again
    report 1 good.jsonl failing.jsonl --out later_fails
    has later_fails/index.html '71 verified; 9 FAILED'
    report 0 failing.jsonl good.jsonl --out later_passes
    has later_passes/index.html 'All 80 planned launches of 80 cells'
    report 0 good.jsonl good-again.jsonl --out both
    has both/index.html 'All 160 planned launches of 80 cells'
    for id in feedface00000001 feedface00000002; do
        has both/index.html "Run $id"
        has both/summary.md "Run $id"
    done
    [ "$(points both)" -eq 80 ] || fail "$(points both) points, not 80"
}

# Bound and unbound workers make different machines in all but name: they are never compared.
test_bindings() {
    need gnuplot
    records good unbound
    sed '$d' good.jsonl | grep -v '"n_devices":1,' >many.jsonl
    report 1 many.jsonl unbound.jsonl --out out
    has out/index.html 'Of 160 planned launches, 140 were measured and 140 verified; 20 not run.'
    one_line '140 of 160 planned launches are verified'
    has out/index.html 'Run feedface has no end line'
    # The cells of several devices that ran bound have no base; the others have theirs.
    none=$(sed -n '/id="cells"/,$p' out/index.html | grep -c '<td class="number">-</td><td class="number">-</td>' || true)
    [ "$none" -eq 60 ] || fail "$none rows without a base, not 60"
    report 0 good.jsonl unbound.jsonl --out whole
    has whole/index.html 'All 160 planned launches of 160 cells'
    [ "$(points whole)" -eq 160 ] || fail "$(points whole) points, not 160"
}

# Names are data, too: a terminal must not obey them.
test_controls() {
    records good
    escape=$(printf '\033[2J')
    status=0
    cp good.jsonl "good$escape.jsonl"
    for call in "no$escape.jsonl --out out" "good.jsonl --out no$escape/file" \
        "good$escape.jsonl --out good.jsonl"; do
        # shellcheck disable=SC2086 # words are wanted
        "$lockstep" report $call >out.txt 2>err.txt && fail "accepted: $call"
        [ "$(wc -l <err.txt)" -eq 1 ] || fail "not one line on stderr"
        [ "$(tr -d '\040-\176\n' <err.txt | wc -c)" -eq 0 ] || fail "control characters on stderr"
    done
    sed '2s/"workload":"/"workload":7,"was":"\\u001b[2J/' good.jsonl >bad.jsonl
    sed '1s/"Example CPU/"\\u001b[2J CPU/;1s/00000000000000aa/00000000000000ab/' good.jsonl >odd.jsonl
    for call in "2 bad.jsonl" "3 good.jsonl odd.jsonl"; do
        # shellcheck disable=SC2086 # words are wanted
        report $call --out out
        [ "$(wc -l <err.txt)" -eq 1 ] || fail "not one line on stderr"
        [ "$(tr -d '\040-\176\n' <err.txt | wc -c)" -eq 0 ] || fail "control characters on stderr"
    done
}

# A row of gpt-small is 128 tokens, and one takes 6 * 3211264 + 6 * 4 * 256 * 129 = 20.1 MFLOP. The
# plain program makes 2.67 GFLOP of a row, 20.6 rows a second, in 80 % of its time: 68.8 GFLOP/s. Of
# that 2.38 k tokens/s of a device need 69 %.
test_tokens() {
    records tokens
    report 0 tokens.jsonl --out out
    space=$(printf '\302\240') # between a number and its unit
    for file in summary.md index.html; do
        sed "s/$space/ /g" out/$file >$file
    done
    for text in 'Tokens: 4.75 k tokens/s there, 2.38 k of a device' \
        '128 to a row, 20.1 MFLOP for each: 69 % of the product rate' \
        '| gpt-small | 2 | 30 | 3840 | 4.75 k | 2.38 k | 20.1 M | 47.7 GFLOP/s | 69 % |' \
        '| gpt-small | 2 | 10 | 140 MiB | 176 MiB | 16.0 GiB | 772 |' \
        '| Samples/s at the median step | Tokens/s at the median step |' '## Tokens' \
        '## Planned memory of a device' '6 N + 6 L D (C + 1)'; do
        has summary.md "$text"
    done
    for text in 'Of the peak' '--parts' 'No rate'; do
        has_not summary.md "$text"
    done
    for text in 'Tokens/s' 'Planned memory of a device' 'Largest batch, estimate' '16.0 GiB'; do
        has index.html "$text"
    done
    report 0 tokens.jsonl --format csv
    awk -F, -f - out.txt <<'AWK' || fail "tokens/s of CSV"
NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
{ rate = $at["throughput_samples_per_second"] * 128; tokens = $at["token_rate_tokens_per_second"] }
$1 ~ /gpt-small/ { ++n; bad += tokens < 0.999999 * rate || tokens > 1.000001 * rate }
$1 ~ /tutorial/ { bad += tokens != "" }
END { exit n != 6 || bad > 0 }
AWK
}

# plain FILE...: prints it without the characters between a number and its unit.
plain() {
    space=$(printf '\302\240')
    for file in "$@"; do
        sed "s/$space/ /g" "out/$file" >"$file"
    done
}

# A device needs 47.7 GFLOP/s for its tokens, as above, and those of the plain program 53.0. In the
# products of --parts, 33554432 operations in 100.2 us, it reached 335 GFLOP/s.
test_peak() {
    records gpus gpus-machine tokens six
    report 0 gpus.jsonl --out out
    plain summary.md index.html
    for text in '| gpt-small | 2 | 30 | 3840 | 4.75 k | 2.38 k | 20.1 M | 47.7 GFLOP/s | no rate |' \
        '20.1 MFLOP for each; no rate of its devices is known' 'a sweep with --parts measures it' \
        'A report with --peak has the share'; do
        has summary.md "$text"
    done
    has index.html '<td class="number">no rate</td>'
    has_not index.html '(parts)</td>'

    report 0 gpus-machine.jsonl --out out
    plain summary.md index.html
    for text in '| 20.1 M | 47.7 GFLOP/s | 14 % (parts) |' \
        '20.1 MFLOP for each: 14 % of the product rate of --parts' '(parts): the time in matrix'; do
        has summary.md "$text"
    done
    has_not summary.md 'No rate'
    has index.html '>14 % (parts)</td>'

    report 0 gpus.jsonl --peak '0.4 TFLOP/s' --out out
    plain summary.md index.html
    for text in '| Of the product rate | Of the peak |' '| 47.7 GFLOP/s | no rate | 12 % |' \
        'for each: 12 % of the stated peak of 400 GFLOP/s' \
        'Peak: 400 GFLOP/s, which --peak states of one device (Example GPU) in f32.'; do
        has summary.md "$text"
    done
    has index.html '>Of the peak</th>'
    has index.html '<td class="number">12 %</td>'
    has_not summary.md 'is too low'

    # The peak is used for CPUs, too; also one that cannot be right, and one that parts have
    # exceeded.
    report 0 tokens.jsonl --peak 40GFLOP/s --out out
    plain summary.md index.html
    for text in '| 53.0 GFLOP/s | 77 % | 133 % |' \
        '69 % of the product rate, 119 % of the stated peak of 40 GFLOP/s' \
        'Note: The stated peak of 40 GFLOP/s is too low: a device reached 53.0 GFLOP/s in gpt-small'; do
        has summary.md "$text"
    done
    has index.html 'The stated peak of 40 GFLOP/s is too low'
    report 0 gpus-machine.jsonl --peak 300GFLOP/s --format md
    has out.txt 'a device reached 335'
    has out.txt 'in the matrix products of --parts. So the shares'
    has out.txt 'of the product rate of --parts, 16'
    has out.txt 'of the stated peak of 300 GFLOP/s'

    # One peak is for one math, one model, and language models.
    differ=$(dirname "$make_records")/differ
    "$differ" key.dtype gpus.jsonl math.jsonl
    report 2 gpus.jsonl math.jsonl --peak 400GFLOP/s --out never
    one_line 'are in f32 on Example GPU and in f322 on Example GPU: name fewer files'
    report 2 gpus.jsonl tokens.jsonl --peak 400GFLOP/s --out never
    one_line 'are in f32 on virt and in f32 on Example GPU: name fewer files'
    report 2 six.jsonl --peak 400GFLOP/s --out never
    one_line 'for the tokens of language models, and no cell is of one'
    not_written never
    report 0 gpus.jsonl six.jsonl --peak 400GFLOP/s --format md
}

test_refused() {
    records good no-cells
    head -c 100000 good.jsonl >torn.jsonl
    echo '{"schema": "somebody/else/1.0", "x": 1}' >foreign.jsonl
    echo 'not JSON at all' >text.jsonl
    : >empty.jsonl
    for file in torn foreign text empty no-cells missing; do
        report 2 $file.jsonl --out out
        one_line $file.jsonl
        not_written out
    done
    # Two bytes of text can take some hundred bytes of memory.
    { printf '{"x":[' && yes '{},' | head -n 1000000 | tr -d '\n' && echo '0]}'; } >wide.jsonl
    for option in '' --check --peer; do
        # shellcheck disable=SC2086 # no word is wanted
        report 2 $option wide.jsonl --out out
        one_line 'so many values need more than 256 MiB of memory'
        not_written out
    done
    report 2 good.jsonl torn.jsonl --out out
    one_line torn.jsonl
    # shellcheck disable=SC2016 # meant as it stands
    one_line '`lockstep sweep --resume`'
    not_written out
    report 2 good.jsonl
    one_line '--out DIR is missing'
    report 2 --out out
    one_line 'no record file'
    report 2 good.jsonl --out out --no-such-option
    one_line no-such-option
    report 2 good.jsonl --out=
    one_line '--out is empty'
    not_written out
}

# Machines are compared by their class, which contains no host name; drivers and starts of the
# machine, too.
test_classes() {
    records good good-again other-machine
    # digest TWO_DIGITS: prints a text as long as a digest; nothing for nothing.
    digest() {
        [ -z "$1" ] || printf '%s%062d' "$1" 0
    }
    class() {
        sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$(digest "$1")\"/;1s/\"machine_instance\":\"\"/\"machine_instance\":\"$(digest "$2")\"/;\
1s/\"gpu_software\":\"\"/\"gpu_software\":\"$3\"/;1s/\"environment\":\"\"/\"environment\":\"$4\"/" "$5" >"$6"
    }
    mkdir bin
    lockstep=$(command -v "$lockstep")
    # page FILE..: makes a page without figures, which would take long.
    page() {
        status=0
        PATH=$work/bin "$lockstep" report "$@" --out out >out.txt 2>err.txt || status=$?
        [ "$status" -eq 1 ] || fail "exit status $status, not 1, without gnuplot"
    }
    class c1 b1 '' '' good.jsonl one.jsonl
    class c2 b1 '' '' good-again.jsonl two.jsonl
    report 3 one.jsonl two.jsonl --out out
    one_line 'class c2'
    report 3 good.jsonl two.jsonl --out out
    one_line 'class unknown'
    class c1 b1 'driver 13.0' '' good.jsonl one.jsonl
    class c1 b1 'driver 13.1' '' good-again.jsonl two.jsonl
    report 3 one.jsonl two.jsonl --out out
    one_line 'one.jsonl has driver 13.0, two.jsonl has driver 13.1'
    # Another file in front that has no GPU hides nothing.
    class c1 b1 '' '' other-machine.jsonl none.jsonl
    report 3 none.jsonl one.jsonl two.jsonl --out out
    one_line 'one.jsonl has driver 13.0, two.jsonl has driver 13.1'
    not_written out
    # NCCL is among the versions if it was used. If two files used it, it must be the same.
    class c1 b1 'driver 13.0, NCCL 2.28.9' '' good-again.jsonl two.jsonl
    class c1 b1 'driver 13.0, NCCL 2.30.3' '' other-machine.jsonl three.jsonl
    report 3 one.jsonl two.jsonl three.jsonl --out out
    one_line 'two.jsonl has driver 13.0, NCCL 2.28.9, three.jsonl has driver 13.0, NCCL 2.30.3'
    class c1 b1 'driver 13.04' '' other-machine.jsonl three.jsonl
    report 3 two.jsonl three.jsonl --out out
    one_line 'two.jsonl has driver 13.0, NCCL 2.28.9, three.jsonl has driver 13.04'
    not_written out
    page one.jsonl two.jsonl
    # The name of the host does not matter; another start is reported, once.
    class c1 b1 '' '' good.jsonl one.jsonl
    class c1 b2 '' '' other-machine.jsonl two.jsonl
    page one.jsonl two.jsonl
    count_is out/index.html 'are not from one boot of one machine' 1
    has out/index.html 'All 160 planned'
    class c1 b1 '' '' other-machine.jsonl two.jsonl
    page one.jsonl two.jsonl
    has_not out/index.html 'are not from one boot of one machine'
    [ "$(points out)" -eq 80 ] || fail "$(points out) points, not 80"
    # Another environment, or an unknown commit, is another variant.
    class c1 b1 '' 'OMP_NUM_THREADS=2 <b>' other-machine.jsonl two.jsonl
    page one.jsonl two.jsonl
    [ "$(points out)" -eq 160 ] || fail "$(points out) points, not 160"
    has out/index.html 'OMP_NUM_THREADS=2 &lt;b&gt;'
    sed '1s/"git_sha":"[^"]*"/"git_sha":"unknown"/' good.jsonl >one.jsonl
    sed '1s/"git_sha":"[^"]*"/"git_sha":"unknown"/' good-again.jsonl >two.jsonl
    page one.jsonl two.jsonl
    [ "$(points out)" -eq 160 ] || fail "$(points out) points of unknown commits, not 160"
}

# Two runs that differ in their work, in the build or in the hardware are refused or are separate
# points, whichever field differs: the fields are those of the tables. All other differences are
# pooled.
test_different() {
    records good
    differ=$(dirname "$make_records")/differ
    lockstep=$(command -v "$lockstep")
    mkdir bin
    # both FILE FILE: sets points, to 0 if the two were refused with one line.
    both() {
        rm -rf out
        status=0
        PATH=$work/bin "$lockstep" report "$@" --out out >out.txt 2>err.txt || status=$?
        points=0
        if [ "$status" -ge 2 ]; then
            [ "$(wc -l <err.txt)" -eq 1 ] || fail "not one line: $(cat err.txt)"
        else
            points=$(grep -c '"text status"' out/index.html || true)
        fi
    }
    "$differ" base good.jsonl base.jsonl
    both base.jsonl
    [ "$points" -eq 10 ] || fail "$points points, not 10: $(cat err.txt)"
    fields=0 pooled=
    for field in $("$differ" list identity build system machine); do
        "$differ" "$field" base.jsonl other.jsonl
        both base.jsonl other.jsonl
        fields=$((fields + 1))
        if [ "$points" -ne 0 ] && [ "$points" -ne 20 ]; then
            pooled="$pooled $field"
        fi
    done
    [ "$fields" -gt 40 ] || fail "only $fields fields"
    [ -z "$pooled" ] || fail "pooled, though this differs:$pooled"
    for field in $("$differ" list host condition); do
        "$differ" "$field" base.jsonl other.jsonl
        both base.jsonl other.jsonl
        [ "$points" -eq 10 ] || fail "not pooled, though only $field differs: $(cat err.txt)"
    done
    # Two GPUs, one GPU twice, one of another model; each with its caution.
    "$differ" devices=cuda:0,1 base.jsonl two.jsonl
    "$differ" devices=cuda:0,0 base.jsonl one.jsonl
    "$differ" key.launch one.jsonl again.jsonl
    for pair in 'one.jsonl two.jsonl' 'two.jsonl again.jsonl'; do
        # shellcheck disable=SC2086 # two words are wanted
        both $pair
        has out/index.html 'cells had several slots on one GPU or core: evidence of correctness'
    done
    [ "$points" -eq 20 ] || fail "cuda:0,1 and cuda:0,0 are $points points"
    has out/summary.md '10 of 20 cells had several slots on one GPU'
    has out/summary.md 'on cuda:0,0)'
    has out/summary.md 'on cuda:0,1)'
    "$differ" slot.model two.jsonl other.jsonl
    both two.jsonl other.jsonl
    [ "$points" -eq 20 ] || fail "two models of GPU are $points points"
    # A launch that ended before it recorded its work belongs to its point.
    records flaky
    both flaky.jsonl
    [ "$points" -eq 100 ] || fail "$points points, not 100: $(cat err.txt)"
    sed '/"status":"broken"/s/"warmup_rule":"[^"]*"/"warmup_rule":""/
        /"status":"broken"/s/"oversubscribed":[a-z]*/"oversubscribed":false/' flaky.jsonl >silent.jsonl
    ! cmp -s flaky.jsonl silent.jsonl || fail 'no launch is broken'
    both silent.jsonl
    [ "$points" -eq 100 ] || fail "with silent launches $points points, not 100: $(cat err.txt)"
    # The beginning of a longer list is the same work on the same devices.
    "$differ" base good.jsonl base.jsonl
    "$differ" run.created_utc base.jsonl other.jsonl
    sed '1s/,{"name":"virt:2".*}\]/]/; 1s/"devices":"virt:8"/"devices":"virt:2"/' other.jsonl >short.jsonl
    ! cmp -s other.jsonl short.jsonl || fail 'the list is as long as before'
    both short.jsonl base.jsonl
    [ "$points" -eq 10 ] || fail "virt:2 of virt:8 and of virt:2 are $points points"
}

test_machines() {
    records good other-machine
    report 3 good.jsonl other-machine.jsonl --out out
    one_line 'good.jsonl'
    one_line 'other-machine.jsonl'
    one_line 00000000000000aa
    one_line 0123456789abcdef
    not_written out
}

test_unverified() {
    records all-failing
    report 3 all-failing.jsonl --out out
    one_line 'no cell is verified'
    has out/index.html '80 FAILED'
    has out/index.html 'No figure of batch: no cell is verified'
    has_not out/index.html '<svg'
    not_written out/batch.svg
    has_not out/summary.md batch.png
    well_formed out/index.html
}

test_no_gnuplot() {
    records good
    mkdir bin out
    echo stale >out/batch.svg
    lockstep_path=$(command -v "$lockstep")
    status=0
    PATH=$work/bin "$lockstep_path" report good.jsonl --out out >out.txt 2>err.txt || status=$?
    [ "$status" -eq 1 ] || fail "exit status $status, not 1, without gnuplot"
    one_line 'gnuplot was not found'
    has out/index.html 'No figure of batch: gnuplot was not found'
    has out/index.html 'All 80 planned launches of 80 cells'
    has out/summary.md 'All 80 planned launches of 80 cells'
    not_written out/batch.svg
    printf '#!/bin/sh\nexit 0\n' >bin/gnuplot
    chmod +x bin/gnuplot
    status=0
    PATH=$work/bin "$lockstep_path" report good.jsonl --out out >out.txt 2>err.txt || status=$?
    [ "$status" -eq 1 ] || fail "exit status $status, not 1, with a gnuplot that draws nothing"
    one_line 'gnuplot made no usable'
    no_leftovers
}

test_unwritable() {
    records good
    : >file
    report 2 good.jsonl --out file
    one_line "'file'"
    report 2 good.jsonl --out file/below
    one_line "'file/below'"
    mkdir -p out/index.html
    report 2 good.jsonl --out out
    one_line out/index.html
    no_leftovers
    rmdir out/index.html
    rm -f out/*
    (trap '' XFSZ && ulimit -f 2 && report 2 good.jsonl --out out) || exit 1
    one_line "cannot write 'out/draw.gp': File too large"
    no_leftovers
    not_written out/draw.gp
}

# Links were put where a report once made its temporary files: they are not followed.
test_planted() {
    records good
    mkdir out
    echo mine >victim
    for name in index.html summary.md draw.gp panel.gp ends.gp grid.gp scaling.gp scaling-layout.gp \
        scaling-text.tsv scaling.tsv waterfall.tsv scaling.svg scaling.png; do
        ln -s ../victim "out/$name.tmp"
    done
    want=1
    ! command -v gnuplot >/dev/null || want=0
    report "$want" good.jsonl --out out
    [ "$(cat victim)" = mine ] || fail "a link was followed"
    rm out/*.tmp
    # A link with the final name is replaced by the file.
    ln -sf ../victim out/index.html
    report "$want" good.jsonl --out out
    [ "$(cat victim)" = mine ] || fail "a link was followed"
    [ ! -L out/index.html ] || fail "the page is a link"
}

# A signal leaves no temporary file, and no gnuplot.
test_interrupted() {
    records good
    mkdir bin
    printf '#!/bin/sh\necho $$ >pid\nexec sleep 60\n' >bin/gnuplot
    chmod +x bin/gnuplot
    PATH=$work/bin:$PATH "$lockstep" report good.jsonl --out out >out.txt 2>first.txt &
    reporter=$!
    tries=0
    while [ ! -s out/pid ]; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] || fail "no gnuplot was started"
        sleep 0.1
    done
    # Another report is refused while this one writes: a page has figures of one report only.
    report 2 good.jsonl --out out
    one_line "another lockstep is writing to 'out'"
    kill -TERM $reporter
    expect_end 130 $reporter
    mv first.txt err.txt
    one_line 'interrupted'
    no_leftovers
    ! kill -0 "$(cat out/pid)" 2>/dev/null || fail "gnuplot is still there"
}

test_help() {
    report 0 --help
    has out.txt 'Usage: lockstep report'
    has out.txt '--out=DIR'
    has out.txt 'Exit status: 0 every planned launch is verified; 1'
}

case $case_name in
figure | failed | hostile | simulated | repeated | launches | weak | unpaired | wide | conditions | busy | badges | merged | bindings | controls | refused | different | machines | classes | \
    tokens | peak | unverified | no_gnuplot | unwritable | planted | interrupted | help)
    "test_$case_name"
    ;;
*)
    fail "unknown case $case_name"
    ;;
esac
echo "passed: $case_name"
