#!/usr/bin/env bash
# Tests of the figures of `lockstep report`: which there are, how much is drawn, that they are safe.
#   figures_test.sh CASE LOCKSTEP MAKE_RECORDS WORK_DIRECTORY
# Exits 0 when the case passed, 1 when not, 77 when it needs what is not installed.
set -eu

usage() {
    echo "usage: figures_test.sh made|few|hostile|same|fallback|broken|weak|modes|buckets LOCKSTEP MAKE_RECORDS" \
        "WORK_DIRECTORY"
}
if [ "${1-}" = --help ]; then
    usage
    exit 0
fi
if [ $# -ne 4 ]; then
    usage >&2
    exit 2
fi
case_name=$1 lockstep=$2 make_records=$3 work=$4
figures='throughput scaling phases shards distribution'

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

command -v gnuplot >/dev/null || { echo "skipped: gnuplot is not installed" >&2; exit 77; }
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

records() {
    for kind in "$@"; do
        "$make_records" "$kind" "$kind.jsonl" || fail "make_records $kind"
    done
}

# sweep NAME OPTION...: records of a short sweep.
sweep() {
    name=$1
    shift
    "$lockstep" sweep --wait "$@" --seconds 0.001 --steps 10:10 --out "$name.jsonl" >/dev/null 2>sweep.txt ||
        { cat sweep.txt >&2; fail "no records"; }
}

# report STATUS ARGUMENT...
report() {
    want=$1
    shift
    status=0
    "$lockstep" report "$@" >out.txt 2>err.txt || status=$?
    cat err.txt >&2
    [ "$status" -eq "$want" ] || fail "exit status $status, not $want: report $*"
}

is() {
    [ "$2" = "$3" ] || fail "$1: $2, not $3"
}

# width_of FILE: of a PNG, which it must be.
width_of() {
    is "signature of $1" "$(od -An -tx1 -N8 "$1" | tr -d ' \n')" 89504e470d0a1a0a
    # shellcheck disable=SC2046 # four numbers are wanted
    set -- $(od -An -tu1 -j16 -N4 "$1")
    echo $((($1 << 24) + ($2 << 16) + ($3 << 8) + $4))
}

# is_figure DIRECTORY NAME: both pictures are there, are what they say, and have ids of their own.
is_figure() {
    [ -s "$1/$2.svg" ] || fail "no $2.svg"
    [ "$(width_of "$1/$2.png")" -ge 1600 ] || fail "$2.png is narrow"
    head -c 5 "$1/$2.svg" | grep -qF '<?xml' || fail "$2.svg is no SVG"
    if grep -oE " id=['\"][^'\"]*" "$1/$2.svg" | grep -vqE " id=['\"]$2_"; then
        fail "$2.svg has ids that are not its own"
    fi
    is "ids of $2 that are twice" \
        "$(grep -oE " id=['\"][^'\"]*" "$1/$2.svg" | sort | uniq -d | wc -l)" 0
    is "references of $2 to nothing" "$(grep -oE "(href='#|url\(#)[^')]*" "$1/$2.svg" |
        sed 's/.*#//' | sort -u | while read -r id; do
            grep -qE " id=['\"]${id}['\"]" "$1/$2.svg" || echo "$id"
        done | wc -l)" 0
    if command -v xmllint >/dev/null; then
        xmllint --nonet --noout "$1/$2.svg" || fail "$2.svg is not well-formed"
    fi
}

# marks FILE TITLE...: symbols in the parts of an SVG whose title is one of these.
marks() {
    file=$1
    shift
    awk -v titles=" $* " '
        /<title>/ { name = $0; sub(/.*<title>/, "", name); sub(/<.*/, "", name)
                    on = index(titles, " " name " ") > 0 }
        on { n += gsub(/<use /, "<use ") }
        END { print n + 0 }' "$file"
}

# shapes FILE TITLE: filled shapes with that title.
shapes() {
    awk -v title="$2" '
        /<title>/ { on = index($0, "<title>" title "<") > 0 }
        on { n += gsub(/<(polygon|rect) /, "& ") }
        END { print n + 0 }' "$1"
}

# rows FILE BLOCK: rows of a block of a data file (0 is the first) whose second number is known.
rows() {
    awk -F '\t' -v block="$2" '
        /^#/ { next }
        NF == 0 { if (++empty == 2) at++; next }
        { empty = 0 }
        at == block && $2 != "nan" { n++ }
        END { print n + 0 }' "$1"
}

# DataParallel and DistributedDataParallel on 1 and 2 devices: nothing of one stands for the other.
test_modes() {
    sweep modes --devices virt:2 --mode plain,dp,ddp --workload mlp:4,6,3 --counts 1,2 --batch 8,16
    report 0 modes.jsonl --out out
    is "points of throughput" "$(marks out/throughput.svg marker)" 8
    for words in '1 device' '2 devices' '1 device, DDP' '2 devices, DDP' 'plain program'; do
        is "lines '$words'" "$(grep -cF ">$words<" out/throughput.svg)" 1
    done
    is "panels of scaling" "$(grep -c '^left_' out/scaling-layout.gp)" 6
    is "points of scaling" "$(marks out/scaling.svg marker)" $((2 * 3 * 2 * 2))
    is "rows of ranks" "$(grep -cF 'DistributedDataParallel<' out/scaling.svg)" 1
    for p in 1 2; do
        is "bars in panel $p" "$(rows out/phases-$p.tsv 5)" 5
        is "names under panel $p" "$(tail -n 5 out/phases-$p.tsv | tr -d '*' | cut -f2 | xargs)" \
            'plain 1 2 1D 2D'
    done
    # What ranks do not do is in none of their bars.
    is "bars with a gather phase" "$(rows out/phases-1.tsv 3)" 1
    grep -qE '>2 devices, DDP, n = 10<' out/distribution.svg || fail "no steps of ranks"
}

# Buckets: a line, a bar and a row each; DataParallel beside them, and what they hide.
test_buckets() {
    sweep buckets --devices virt:2 --mode dp,ddp --workload mlp:4,6,3 --counts 1,2 --batch 8 \
        --bucket 0,64
    report 0 buckets.jsonl --out out
    for name in modes overlap; do
        is_figure out $name
        is "$name on the page" "$(grep -c "<figure id=\"figure-$name\"" out/index.html)" 1
    done
    is "points of throughput" "$(marks out/throughput.svg marker)" 6
    for words in '2 devices' '2 devices, DDP' '2 devices, DDP 64'; do
        is "lines '$words'" "$(grep -cF ">$words<" out/throughput.svg)" 1
    done
    is "rows of ranks" "$(grep -cF 'DistributedDataParallel' out/scaling.svg)" 2
    is "panels of modes" "$(grep -c '^left_' out/modes-layout.gp)" 3
    is "points of modes" "$(marks out/modes.svg marker)" $((3 * 3 * 2))
    for words in DataParallel DDP 'DDP 64'; do
        is "lines '$words' of modes" "$(grep -cF ">$words<" out/modes.svg)" 3
    done
    for block in 0 1 2 3 4; do
        is "rows of block $block of overlap" "$(rows out/overlap-1.tsv $block)" 2
    done
    is "names of bars" "$(tail -n 2 out/overlap-1.tsv | tr -d '*' | cut -f2 | xargs)" '2 2n64'
    is "rows beside" "$(awk '/id="beside"/,/<\/table>/' out/index.html | grep -c '^<tr><td')" 4
    is "rows of overlap" "$(awk '/id="overlap"/,/<\/table>/' out/index.html | grep -c '^<tr><td')" 2
    grep -qF 'reported, not judged' out/index.html || fail "no word about virtual devices"
    grep -qF '>Moved per step<' out/index.html || fail "no bytes in the table of cells"
    grep -qF '>Peak memory of a device<' out/index.html || fail "no memory in the table of cells"
    grep -qF '## Communication hidden behind backward' out/summary.md || fail "not in the summary"
}

# 4 device counts, 10 batches, 2 workloads: all of them in one figure, 6 batches in the next.
test_made() {
    records good
    report 0 good.jsonl --out out
    [ ! -s err.txt ] || fail "words on stderr"
    for name in $figures; do
        is_figure out "$name"
    done
    is "points of throughput" "$(marks out/throughput.svg marker)" 80
    is "hollow ones" "$(marks out/throughput.svg hollow)" 20
    is "points of scaling" "$(marks out/scaling.svg marker)" $((2 * 3 * 6 * 4))
    is "panels of scaling" "$(grep -c '^left_' out/scaling-layout.gp)" 6
    # The bound of 10 rows on 8 devices: 10 / 2, but there are 4 cores; the 4th of the first line's bounds.
    is "bound" "$(awk 'NF == 0 { if (++empty == 2) at++; next } /^#/ { next }
        { empty = 0 } at == 18 && $1 == 8 { print $2 }' out/scaling-3.tsv)" 0.5
    for p in 1 2 3 4; do
        is "bars with a backward phase in panel $p" "$(rows out/phases-$p.tsv 5)" 4
        is "numbers over bars in panel $p" "$(rows out/phases-$p.tsv 12)" 4
    done
    # 10 rows on 8 devices are 5 blocks and 3 idle slots, and the only ones that are idle.
    is "idle slots" "$(rows out/shards-1.tsv 6)" 3
    for words in '10 rows on 3' '10 rows on 8' '30 rows on 2' '30 rows on 3' 'device 0' '4 rows'; do
        grep -qF ">$words<" out/shards.svg || fail "the shard map lacks '$words'"
    done
    is "p50 and p95 of all lines" "$(marks out/distribution.svg marker)" $((2 * 2 * 4 * 2))
    grep -qF '>8 devices, n = 40<' out/distribution.svg || fail "no number of steps"
    for name in $figures; do
        grep -qF 'run feedface, Example CPU 3000' "out/$name.svg" || fail "$name has no footer"
        is "$name on the page" "$(grep -c "<figure id=\"figure-$name\"" out/index.html)" 1
    done
    [ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left"
}

# One device and one batch: nothing scales and nothing is split, and that is no failure.
test_few() {
    sweep few --devices virt:1 --mode dp --batch 64 --workload tutorial --workload mlp:4,6,3
    mkdir out
    for name in scaling shards; do
        echo stale | tee out/$name.svg out/$name.png out/$name-1.tsv >out/$name-layout.gp
    done
    report 0 few.jsonl --out out
    for name in throughput phases distribution; do
        is_figure out $name
    done
    is "points" "$(marks out/throughput.svg marker)" 2
    ! grep -F 'unsealed' out/index.html || fail "a sealed file is said to be unsealed"
    sed '$d' few.jsonl >short.jsonl
    report 0 short.jsonl --out short
    grep -qF 'has no end line: its file was cut short' short/index.html || fail "no word of the end"
    for name in scaling shards; do
        is "files of $name" "$(find out -name "$name*" | wc -l)" 0
    done
    grep -qF 'No figure of scaling: no workload is verified on two numbers' out/index.html ||
        fail "no reason on the page"
}

# Text of records is shown and never obeyed.
test_hostile() {
    records hostile
    report 1 hostile.jsonl --out out
    for name in $figures; do
        is_figure out "$name"
        if grep -qF '<script' "out/$name.svg"; then
            fail "$name has a script"
        fi
        iconv -f UTF-8 -t UTF-8 "out/$name.svg" >/dev/null || fail "$name is not UTF-8"
    done
    is "files that commands made" "$(find . -name 'pwned*' | wc -l)" 0
    # shellcheck disable=SC2016 # meant as it stands
    if grep -lF 'pwned' out/*.gp; then
        fail "a script has text of a record"
    fi
    grep -qF 'touch pwned' out/scaling.svg || fail "the name is not shown"
}

# The same data, the same bytes; and the scripts draw them without lockstep.
test_same() {
    records launches
    report 0 launches.jsonl --out one
    report 0 launches.jsonl --out two
    for name in $figures; do
        for file in "$name.svg" "$name.png" "$name-1.tsv" "$name-layout.gp"; do
            cmp "one/$file" "two/$file" || fail "$file differs"
        done
        (cd two && gnuplot -d -e "figure='$name'" draw.gp 2>/dev/null) || fail "draw.gp of $name"
        cmp -s "one/$name.svg" "two/$name.svg" && fail "$name was not drawn again"
        cmp <(sed "s/${name}_//g" "one/$name.svg") <(sed "s/${name}_//g" "two/$name.svg") ||
            fail "$name is not the same when drawn by hand"
    done
    is "bars of three launches" "$(rows one/phases-1.tsv 10)" 4
}

# Without pngcairo gnuplot's other PNG terminal draws.
test_fallback() {
    records good
    mkdir bin
    cat >bin/gnuplot <<EOF
#!/bin/sh
sed -i 's/" pngcairo "/" nocairo "/' draw.gp
PATH=$PATH exec gnuplot "\$@"
EOF
    chmod +x bin/gnuplot
    PATH=$work/bin:$PATH report 0 good.jsonl --out out
    grep -qF nocairo out/draw.gp || fail "the script is as it was"
    for name in $figures; do
        is_figure out "$name"
    done
}

# One figure fails: the others are there, and nothing old stands in for it.
test_broken() {
    records good
    report 0 good.jsonl --out out
    mkdir bin
    cat >bin/gnuplot <<EOF
#!/bin/sh
case "\$*" in *phases*) exit 3 ;; *shards*) : >"shards.svg\$(expr "\$3" : ".*ending='\(.*\)'")" ; exit 0 ;; esac
PATH=$PATH exec gnuplot "\$@"
EOF
    chmod +x bin/gnuplot
    PATH=$work/bin:$PATH report 1 good.jsonl --out out
    grep -qF 'gnuplot failed with exit status 3' err.txt || fail "stderr does not say why"
    grep -qF 'No figure of phases: gnuplot failed' out/index.html || fail "nor does the page"
    grep -qF "No figure of shards: gnuplot made no usable" out/index.html ||
        fail "an empty picture counts"
    for name in throughput scaling distribution; do
        is_figure out $name
    done
    for name in phases shards; do
        is "pictures of $name" "$(find out -name "$name.[sp]*" | wc -l)" 0
    done
    is "temporary files" "$(find out -name '*.tmp' | wc -l)" 0
}

# Rows per device: axes say so, and the ideal step time is flat.
test_weak() {
    sweep weak --devices virt:8 --mode dp --counts 1,2,8 --scaling weak --batch 64 \
        --workload tutorial --workload mlp:4,6,3
    report 0 weak.jsonl --out out
    grep -qF '>throughput per device (samples/s)<' out/throughput.svg || fail "no throughput per device"
    grep -qF '>batch per device (rows)<' out/throughput.svg || fail "no batch per device"
    is "ideal step times" "$(awk 'NF == 0 { if (++empty == 2) at++; next } /^#/ { next }
        { empty = 0 } at == 2 { print $2 }' out/scaling-1.tsv | sort -u | wc -l)" 1
    is "points" "$(marks out/scaling.svg marker)" $((2 * 3 * 3))
}

case $case_name in
made | few | hostile | same | fallback | broken | weak | modes | buckets) "test_$case_name" ;;
*)
    usage >&2
    exit 2
    ;;
esac
echo "passed: $case_name"
