#!/usr/bin/env bash
# Tests of the figures of `lockstep report`: which figures there are, how much is drawn, and that
# they are safe.
#   figures_test.sh CASE LOCKSTEP MAKE_RECORDS WORK_DIRECTORY
# Exits 0 when the case passed, 1 when not, 77 when it needs what is not installed.
set -eu
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

usage() {
    echo "usage: figures_test.sh made|few|hostile|same|fallback|broken|weak|modes|buckets|parts|trust|delay LOCKSTEP MAKE_RECORDS" \
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
figures='map scaling batch waterfall trust'

command -v gnuplot >/dev/null || { echo "skipped: gnuplot is not installed" >&2; exit 77; }
enter "$work"

records() {
    for kind in "$@"; do
        "$make_records" "$kind" "$kind.jsonl" || fail "make_records $kind"
    done
}

# sweep NAME OPTION...: writes records of a short sweep.
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

# width_of FILE: prints the width of a file, which must be a PNG.
width_of() {
    is "signature of $1" "$(od -An -tx1 -N8 "$1" | tr -d ' \n')" 89504e470d0a1a0a
    # shellcheck disable=SC2046 # four numbers are wanted
    set -- $(od -An -tu1 -j16 -N4 "$1")
    echo $((($1 << 24) + ($2 << 16) + ($3 << 8) + $4))
}

# is_figure DIRECTORY NAME: both pictures exist, have the right format, and separate ids.
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

# marks FILE TITLE...: counts symbols in the parts of an SVG whose title is one of these.
marks() {
    file=$1
    shift
    awk -v titles=" $* " '
        /<title>/ { name = $0; sub(/.*<title>/, "", name); sub(/<.*/, "", name)
                    on = index(titles, " " name " ") > 0 }
        on { n += gsub(/<use /, "<use ") }
        END { print n + 0 }' "$file"
}

# shapes FILE TITLE: counts filled shapes with that title.
shapes() {
    awk -v title="$2" '
        /<title>/ { on = index($0, "<title>" title "<") > 0 }
        on { n += gsub(/<(polygon|rect) /, "& ") }
        END { print n + 0 }' "$1"
}

# numbers_of DIRECTORY NAME: prints the files of numbers that a figure is drawn from.
numbers_of() {
    find "$1" -name "$2-1.tsv" -o -name "$2.tsv"
}

# rows FILE BLOCK: counts rows of a block of a data file (0 is the first) whose second number is
# known.
rows() {
    awk -F '\t' -v block="$2" '
        /^#/ { next }
        NF == 0 { if (++empty == 2) at++; next }
        { empty = 0 }
        at == block && $2 != "nan" { n++ }
        END { print n + 0 }' "$1"
}

# blocks FILE BLOCK: counts parts of a block, which an empty line separates.
blocks() {
    awk -F '\t' -v block="$2" '
        /^#/ { next }
        NF == 0 { if (++empty == 2) at++; next }
        at == block && (empty || !n) { n++ }
        { empty = 0 }
        END { print n + 0 }' "$1"
}

# what FILE: prints the kinds of the rows of a waterfall.
what() {
    grep -v '^#' "$1" | cut -f2 | xargs
}

# adds_up FILE: the terms of each waterfall, and the parts of each thin bar, end at the whole step.
adds_up() {
    awk -F '\t' '/^#/ || NF == 0 { next }
        $2 == 1 || $2 == 16 { if (n++ && (end - 1) ^ 2 > 1e-12) bad = 1; end = 0 }
        ($3 - end) ^ 2 > 1e-12 { bad = 1 }
        { end = $4 }
        END { exit bad || n < 2 || (end - 1) ^ 2 > 1e-12 }' "$1" || { cat "$1" >&2; fail "$1 does not add up"; }
}

# captions DIRECTORY WORDS...: the captions of map and scaling explain these marks, and no others.
captions() {
    page=$1/index.html
    shift
    for words in 'Hatched:' 'Grey: no evidence' '!:' 'Dashes:' 'Plus:' 'PyTorch: against'; do
        want=0
        for given in "$@"; do
            if [ "$given" = "$words" ]; then
                want=1
            fi
        done
        is "captions with '$words'" "$(grep '<figcaption>' "$page" | grep -cF " $words")" "$want"
    done
}

# DataParallel and DistributedDataParallel on 1 and 2 devices: neither is shown for the other.
test_modes() {
    sweep modes --devices virt:2 --mode plain,dp,ddp --workload mlp:4,6,3 --counts 1,2 --batch 8,16
    report 0 modes.jsonl --out out
    is "points of batch" "$(marks out/batch.svg marker)" 6
    for words in plain 'DataParallel on 2' 'DDP on 2' 'fewer than 4 batches: no knee'; do
        is "words '$words'" "$(grep -cF ">$words<" out/batch.svg)" 1
    done
    is "panels of scaling" "$(grep -c '^block_' out/scaling-layout.gp)" 1
    is "points of scaling" "$(marks out/scaling.svg marker)" 4
    # A line ends with its last value.
    for words in DataParallel DDP; do
        value=$(awk -v mode="$words" '/^[0-9]/ && $1 == 2 { if (++n == (mode == "DDP") + 1) printf "%.2f", $2 }' out/scaling.tsv)
        is "words '$words $value' of scaling" "$(grep -cF ">$words $value<" out/scaling.svg)" 1
    done
    is "words of the batch of scaling" "$(grep -cE ">batch (8|16) rows; hollow: not certain<" out/scaling.svg)" 1
    # The operations of a device are computed from samples/s: a row of mlp:4,6,3 takes 2 * (2 * 4 *
    # 6 + 3 * 6 * 3).
    is_figure out roofline
    is "points of roofline" "$(marks out/roofline.svg marker)" 6
    is "operations" "$(paste <(grep '^[0-9]' out/batch.tsv | cut -f2) <(grep '^[0-9]' out/roofline.tsv | cut -f2) |
        awk '{ if ($2 < 0.9999 * 204 * $1 / 1e9 || $2 > 1.0001 * 204 * $1 / 1e9) bad++ } END { print NR, bad + 0 }')" '6 0'
    is "what moves no byte" "$(awk '$1 == "0"' out/roofline.tsv | wc -l)" 2
    grep -qF '>products alone' out/roofline.svg || fail "no ceiling"
    # A shard of 8 rows is measured alone at batch 8: batch 16 has all terms, in both modes.
    is "panels of the waterfall" "$(grep -c '^block_' out/waterfall-layout.gp)" 1
    grep -qF '>batch 16, mlp:4,6,3<' out/waterfall.svg || fail "not the batch whose shard was measured"
    for words in 'DataParallel, 2 devices' 'DDP, 2 devices'; do
        is "waterfalls of $words" "$(grep -cF ">$words: p5 " out/waterfall.svg)" 1
    done
    is "what the rows are" "$(what out/waterfall.tsv)" \
        '1 3 6 12 16 17 18 19 20 1 3 6 12 16 17 18 19 20'
    adds_up out/waterfall.tsv
    # Cells with one launch have no median to compare with.
    is "kinds of panels of trust" "$(grep '^kind_' out/trust-layout.gp)" 'kind_1 = 3'
    is "first steps of all launches" "$(blocks out/trust.tsv 1)" 10
    # Memory has a row for each line of batches; for the plain program also the memory of 8 more
    # rows.
    memory=$(awk '/id="memory"/,/<\/table>/' out/index.html | grep '^<tr><td')
    is "rows of memory" "$(wc -l <<<"$memory")" 5
    held() {
        grep '"mode":"plain".*"global_batch":'"$1"',' modes.jsonl | grep -o '"peak_bytes":\[[0-9]*' | grep -o '[0-9]*$'
    }
    is "bytes for a row more" "$(head -n 1 <<<"$memory" | sed 's/<[^>]*>/ /g; s/\xc2\xa0/ /g' | awk '{ print $10, $11 }')" \
        "$((($(held 16) - $(held 8)) / 8)) B"
    # Each transfer takes 0.5 ms: no step of ranks can be as fast as that of the plain program,
    # which takes less.
    sweep slow --devices virt:2+500us --mode plain,ddp --workload mlp:4,6,3 --counts 1,2 --batch 16
    report 0 slow.jsonl --out slow
    is "bounds of the reduction" "$(marks slow/scaling.svg roof)" 1
    is "its bound" "$(awk '$1 == 2 { print ($7 > 0 && $7 < 1) }' slow/scaling.tsv)" 1
    captions slow 'Hatched:' 'Plus:'
    # The steps may be timed as faster than that: they are still in the figure.
    awk -F '\t' -v OFS='\t' '$1 == 2 { $7 = $3 / 2 } { print }' slow/scaling.tsv >lower.tsv
    mv lower.tsv slow/scaling.tsv
    (cd slow && gnuplot -d -e "figure='scaling'" draw.gp)
    is "bounds below the steps" "$(marks slow/scaling.svg roof)" 1
}

# limits_of RECORDS: prints the limits of a machine, and a step of it, in round numbers.
limits_of() {
    machine=$(head -n 1 "$1" | grep -oE '"(node_hash|machine_class|blas)":"[^"]*"' | paste -sd ,)
    cat <<EOF
{"schema":"lockstep/limits/1.0",$machine,"created_utc":"2026-11-28T00:00:00Z","cpu_model":"Example",
"devices":"virt:2","instructions":"AVX-512","n_devices":2,"rounds":11,"oversubscribed":false,
"ceilings":{"multiply_adds":{"alone":[120,110,130],"at_once":[100,90,110]},
"memory_read":{"alone":[20,18,22],"at_once":[10,9,11]},"memory_copied":{"alone":[8,7,9],"at_once":[5,4,6]}},
"workloads":[{"workload":"mlp:4,6,3","batch":8,"rows":4,"step_ns":4e7,"phases":[
{"phase":"forward","ns":[2e7,1.25e7,2.5e7],"flops":1e9,"bytes":1e6},
{"phase":"backward","ns":[4e5,4e5,4e5],"flops":1e6,"bytes":1e6},
{"phase":"reduce","ns":[2e5,2e5,2e5],"flops":0,"bytes":1e6},
{"phase":"update","ns":[2e4,2e4,2e4],"flops":0,"bytes":1e6},
{"phase":"loss","ns":[1e4,1e4,1e4],"flops":0,"bytes":0}],
"products":[{"shape":"8x8x8 nt","phase":"forward","count":3,"ns":[1e7,1e7,1e7],"flops":9e8,"bytes":1e6}]}]}
EOF
}

# are_limits DIRECTORY: the shares of limits.json, by multiply-adds, memory and copies; the update
# is above its own.
are_limits() {
    is "shares" "$(grep '^| mlp:4,6,3, 8 ' "$1/summary.md" | sed 's/\xc2\xa0/ /g' | cut -d'|' -f3,6-8 | sed 's/ $//')" "$(cat <<EOF
 forward | 50.0 GFLOP/s | 100 GFLOP/s, multiply-adds | 50 % (40..80)
 product 8x8x8 nt × 3 | 90.0 GFLOP/s | 100 GFLOP/s, multiply-adds | 90 % (90..90)
 loss | - | - | not counted
 backward | 2.50 GFLOP/s | 10.0 GFLOP/s, memory | 25 % (25..25)
 reduce | 5.00 GB/s | 10.0 GB/s, copies | 50 % (50..50)
 update | 50.0 GB/s | 20.0 GB/s, memory | 250 % (250..250), above it
EOF
)"
    is_figure "$1" limits
    is "points of limits" "$(grep '^[0-9]' "$1/limits.tsv" | cut -f1,2 | xargs)" '1 0.5 2 0.25 3 0.5 4 2.5 5 0.9'
    is "their marks" "$(marks "$1/limits.svg" marker)" 5
    is "cautions" "$(grep -c 'update of mlp:4,6,3, batch 8: faster than its limit' "$1/index.html")" 1
    is "words of another library" "$(grep -c 'another library of matrix products' "$1/index.html")" 0
    is "rows on the page" "$(awk '/id="limits"/,/<\/table>/' "$1/index.html" | grep -c '^<tr><td')" 6
}

# no_limits RECORDS LIMITS: impossible limits are refused in one line, and so are those of another
# machine.
no_limits() {
    while IFS='=' read -r want edit words; do
        sed "$edit" "$2" >bad.json
        cmp -s "$2" bad.json && fail "no edit: $edit"
        report "$want" "$1" --limits bad.json --out bad
        is "lines about $edit" "$(grep -c bad.json err.txt), $(wc -l <err.txt)" '1, 1'
        grep -qF "$words" err.txt || fail "not '$words'"
        [ ! -e bad ] || fail "a report with $edit"
    done <<EOF
2=s/2e7,1/-2e7,1/='ns' is missing or no number
2=s/2e7,1/0,1/='ns' is missing or no number
2=s/2e7,1/1e300,1/='ns' is missing or no number
2=s/2e7,1/NaN,1/=invalid
2=s/2e7,1/3e7,1/='ns' is 3e+07, outside its range
2=s/"flops":1e9/"flops":"much"/='flops' is missing or no number
2=s/"bytes":0}]/"byte":0}]/='bytes' is missing or no number
2=s/"n_devices":2/"n_devices":0/='n_devices' is missing or no whole number of 1 to
2=s/"count":3/"count":-3/='count' is missing or no whole number
2=s/"phase":"loss"/"phase":"lost"/=there is no phase 'lost'
2=s/"memory_read"/"memory"/='memory_read' is missing
2=s/"workloads":.*/"workloads":[]}/;6,\$d='workloads' is missing or no list
2=s,limits/1.0,limits/2.0,=schema
3=s/"node_hash":"./"node_hash":"-/=the machines differ
EOF
    report 2 limits.json --out bad
    grep -qF 'name it by --limits' err.txt || fail "no word of where it belongs"
}

# Each bucket has a line and a bar, next to those of DataParallel, with the part that it hides.
test_buckets() {
    sweep buckets --devices virt:2 --mode dp,ddp --workload mlp:4,6,3 --counts 1,2 --batch 8 \
        --bucket 0,64
    limits_of buckets.jsonl >limits.json
    report 0 buckets.jsonl --limits limits.json --out out
    are_limits out
    library=$(head -n 1 buckets.jsonl | sed 's/.*"blas":"\([^"]*\)".*/\1/')
    kernels=${library##*(}
    kernels=${kernels/)/}
    grep -qF ", kernels $kernels, " out/index.html || fail "the page does not name the kernels '$kernels'"
    no_limits buckets.jsonl limits.json
    sed 's/"blas":"/&Other /' limits.json >other.json
    report 0 buckets.jsonl --limits other.json --out other
    for page in other/index.html other/summary.md; do
        is "cautions of $page" "$(grep -cF "another library of matrix products than run" $page)" 1
        sed 's/\\//g' $page | grep -qF "with Other $library, the run with $library. Their" ||
            fail "$page does not name both libraries"
    done
    # One launch has no interval.
    grep -qF '<p class="remark">No figure of overlap: of no cell is it resolved' out/index.html || fail "an unresolved cell is drawn"
    is "points of batch" "$(marks out/batch.svg marker)" 3
    for words in 'DataParallel on 2' 'DDP on 2' 'DDP 64 on 2'; do
        is "lines '$words'" "$(grep -cF ">$words<" out/batch.svg)" 1
    done
    is "points of scaling" "$(marks out/scaling.svg marker)" 6
    for words in DataParallel DDP 'DDP 64'; do
        is "lines '$words' of scaling" "$(grep -cE ">$words [0-9.]+<" out/scaling.svg)" 1
    done
    is "rows beside" "$(awk '/id="beside"/,/<\/table>/' out/index.html | grep -c '^<tr><td')" 4
    is "rows of overlap" "$(awk '/id="overlap"/,/<\/table>/' out/index.html | grep -c '^<tr><td')" 2
    grep -qF 'reported, not judged' out/index.html || fail "no word about virtual devices"
    grep -qF '>Moved per step<' out/index.html || fail "no bytes in the table of cells"
    grep -qF '>Peak memory of a device<' out/index.html || fail "no memory in the table of cells"
    grep -qF '## Communication hidden during backward' out/summary.md || fail "not in the summary"
}

# The records have 4 device counts, 10 batches and 2 workloads.
test_made() {
    records good
    report 0 good.jsonl --out out
    [ ! -s err.txt ] || fail "words on stderr"
    for name in $figures; do
        is_figure out "$name"
    done
    # A base is no cell of the map: 10 batches on 2, 3 and 8 devices, the last oversubscribed; one
    # launch resolves nothing.
    is "cells of the map" "$(shapes out/map.svg cell)" 60
    is "cells by state" "$(awk '/^[0-9]/ { n[$5]++ } END { print n[0] + 0, n[1], n[2] }' out/map.tsv)" '0 40 20'
    # 10 rows on 8 devices take 0.8 over 0.2 + 0.06 * 2 * 2 + 0.8 * 7 ms, on 8 devices, on 4 cores.
    is "percent of the bound" "$(awk '$1 == 3 { printf "%.2f", $3; exit }' out/map.tsv)" 3.31
    # 3 devices are the most with separate cores.
    is "points of batch" "$(marks out/batch.svg marker)" 20
    is "hollow ones" "$(marks out/batch.svg hollow)" 0
    is "knees" "$(marks out/batch.svg knee)" 2
    # 4096 rows on 3 devices: 4096 / 3 over 1.05 * (0.2 + 0.06 * 1366 + 2 * 0.8) ms.
    is "samples/s of a device" "$(awk '$1 > 1365 { printf "%.0f ", $2; exit }' out/batch.tsv)" '15524 '
    is "its knee" "$(awk '$6 == 1 { printf "%.0f ", 3 * $1; exit }' out/batch.tsv)" '512 '
    is "points of scaling" "$(marks out/scaling.svg marker)" $((2 * 4))
    is "panels of scaling" "$(grep -c '^block_' out/scaling-layout.gp)" 2
    # 4096 rows: 0.2 + 0.06 * 4096 ms on one device, 0.2 + 0.06 * 2048 + 0.8 ms on two.
    is "speed-up on 2" "$(awk '$1 == 2 { printf "%.3f", $2; exit }' out/scaling.tsv)" 1.985
    # 8 devices have 4 cores, 3 have one each; and one launch is no number that counts.
    is "bounds" "$(awk '$1 == 3 || $1 == 8 { printf "%.2f ", $6 }' out/scaling.tsv)" \
        '3.00 4.00 3.00 4.00 '
    is "hollow ones" "$(marks out/scaling.svg hollow)" $((2 * 4))
    captions out 'Hatched:' 'Grey: no evidence' 'Dashes:'
    # 3 devices are the most with separate cores; for 30 rows their shard of 10 was measured alone.
    is "panels of the waterfall" "$(grep -c '^block_' out/waterfall-layout.gp)" 2
    is "batches of the waterfall" "$(grep -oE '>batch [0-9]+' out/waterfall.svg | tr -d '>' | xargs)" \
        'batch 30 batch 30'
    adds_up out/waterfall.tsv
    # The shards of a batch are in the table of cells.
    grep -qF '<td class="number">8</td><td class="number">10</td><td class="text shards">5×2 (3 idle)</td>' out/index.html || fail "no shards of 10 rows on 8"
    grep -qF '>thick: median of all launches; shaded: warm-up, 3 steps in the middle; 40 of 80 drawn<' \
        out/trust.svg || fail "no number of launches"
    is "first steps of launches" "$(blocks out/trust.tsv 1)" 40
    for name in $figures; do
        grep -qF 'run feedface, Example CPU 3000' "out/$name.svg" || fail "$name has no footer"
        is "$name on the page" "$(grep -c "<figure id=\"figure-$name\"" out/index.html)" 1
    done
    [ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left"
    # Six equal launches resolve cells with separate cores, also DataParallel on one device.
    records six
    report 0 six.jsonl --out six
    is "cells by state" "$(awk '/^[0-9]/ { n[$5]++ } END { print n[0], n[1] + 0, n[2] }' six/map.tsv)" '60 0 20'
    captions six 'Grey: no evidence' 'Dashes:'
}

# There is one device and one batch: nothing scales and nothing is split, and that is no failure.
test_few() {
    sweep few --devices virt:1 --mode dp --batch 64 --workload tutorial --workload mlp:4,6,3
    mkdir out
    for name in scaling waterfall; do
        echo stale | tee out/$name.svg out/$name.png out/$name.tsv >out/$name-layout.gp
    done
    report 0 few.jsonl --out out
    for name in batch trust; do
        is_figure out $name
    done
    is "points" "$(marks out/batch.svg marker)" 2
    ! grep -F 'unsealed' out/index.html || fail "a sealed file is said to be unsealed"
    sed '$d' few.jsonl >short.jsonl
    report 0 short.jsonl --out short
    grep -qF 'has no end line: it goes on, or its file was cut short' short/index.html || fail "no word of the end"
    for name in scaling waterfall; do
        is "files of $name" "$(find out -name "$name*" | wc -l)" 0
    done
    grep -qF 'No figure of map: no cell is verified that has another as its base' out/index.html ||
        fail "no reason for the map"
    grep -qF 'No figure of scaling: no workload is verified in mode dp or ddp on two numbers' out/index.html ||
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

# The same data give the same bytes, and the scripts draw them without lockstep.
test_same() {
    records launches
    report 0 launches.jsonl --out one
    report 0 launches.jsonl --out two
    for name in $figures; do
        for file in "$name.svg" "$name.png" "$(basename "$(numbers_of one "$name")")" "$name-layout.gp"; do
            cmp "one/$file" "two/$file" || fail "$file differs"
        done
        (cd two && gnuplot -d -e "figure='$name'" draw.gp 2>/dev/null) || fail "draw.gp of $name"
        cmp -s "one/$name.svg" "two/$name.svg" && fail "$name was not drawn again"
        cmp <(sed "s/${name}_//g" "one/$name.svg") <(sed "s/${name}_//g" "two/$name.svg") ||
            fail "$name is not the same when drawn by hand"
    done
}

# Without pngcairo the other PNG terminal of gnuplot draws.
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

# One figure fails: the others are there, and no old one stands in for it.
test_broken() {
    records good
    report 0 good.jsonl --out out
    mkdir bin
    cat >bin/gnuplot <<EOF
#!/bin/sh
case "\$*" in *scaling*) exit 3 ;; *waterfall*) : >"waterfall.svg\$(expr "\$3" : ".*ending='\(.*\)'")" ; exit 0 ;; esac
PATH=$PATH exec gnuplot "\$@"
EOF
    chmod +x bin/gnuplot
    PATH=$work/bin:$PATH report 1 good.jsonl --out out
    grep -qF 'gnuplot failed with exit status 3' err.txt || fail "stderr does not say why"
    grep -qF '<p class="note">No figure of scaling: gnuplot failed' out/index.html || fail "nor does the page"
    grep -qF "No figure of waterfall: gnuplot made no usable" out/index.html ||
        fail "an empty picture counts"
    for name in map batch trust; do
        is_figure out $name
    done
    for name in waterfall scaling; do
        is "pictures of $name" "$(find out -name "$name.[sp]*" | wc -l)" 0
    done
    is "temporary files" "$(find out -name '*.tmp' | wc -l)" 0
}

# Batches are rows per device: axes and words say so.
test_weak() {
    sweep weak --devices virt:8 --mode dp --counts 1,2,8 --scaling weak --batch 64 \
        --workload tutorial --workload mlp:4,6,3
    report 0 weak.jsonl --out out
    grep -qF '>samples/s per device<' out/batch.svg || fail "no throughput per device"
    is "rows per device" "$(awk '/^[0-9]/ { print $1 }' out/batch.tsv | sort -u)" 64
    is "points" "$(marks out/scaling.svg marker)" $((2 * 3))
    is "words of the batch" "$(grep -cF '>batch per device 64 rows' out/scaling.svg)" 2
}

# Launches are in the order of time, divided by the median of their cell; foreign CPU and steal are
# as recorded; and the page lists the cells and launches that are not drawn.
test_trust() {
    records launches
    sed 's/"foreign_frac":null,"steal_frac":null/"foreign_frac":0.25,"steal_frac":0.02/' launches.jsonl >busy.jsonl
    report 0 busy.jsonl --out out
    is "kinds of panels" "$(sed -n 's/^kind_[123] = //p' out/trust-layout.gp | xargs)" '1 2 3'
    is "launches" "$(rows out/trust.tsv 0)" 240
    is "what else the cores did" "$(awk 'NF && !/^#/ { print $3, $4; if (++n == 240) exit }' out/trust.tsv | sort -u)" '0.25 0.02'
    is "borders of blocks" "$(awk 'NF && !/^#/ { n += $5; if (++i == 240) { print n; exit } }' out/trust.tsv)" 2
    # Launches 0, 1 and 2 take 0, 5 and 3 % more: against the middle one -3, 2 and 0 %.
    is "launches of the first cell" "$(awk -F '\t' 'NF == 0 && ++empty == 2 { at++ } NF { empty = 0 }
        at == 1 && $5 == 1 { printf "%.2f ", $2 }' out/trust.tsv)" '0.97 1.02 1.00 '
    is "cells" "$(grep -cE '</?title>.*bar|>bar<' out/trust.svg)" 12
    grep -qF '; 68 cells nearer together are not drawn<' out/trust.svg || fail "no cells left out"
    grep -qE '; 60 of [0-9]+ drawn<' out/trust.svg || fail "no lines left out"
}

# The figure shows the planted terms.
test_parts() {
    records parts
    report 0 parts.jsonl --out out
    adds_up out/waterfall.tsv
    is "kinds of rows" "$(what out/waterfall.tsv)" "$(for _ in 1 2; do
        echo 1 3 10 16 17 18 19 20 1 3 6 12 16 17 18 19 20
    done | xargs)"
    # batch, K = 2: T1(N) = .9 (f + r N), A = 1.05 T1(N/2), T = f + r N/2 + d: see make_records.c.
    # All launches are 3.5 % slower in the middle, and the 5th percentile of steps is 0.3 % above
    # the fastest.
    awk -F '\t' '
        function near(name, want) {
            want *= 1.035 * 1.003
            if (!(($8 - want) ^ 2 <= (0.05 * want) ^ 2)) {
                print name " is " $8 ", not " want
                bad = 1
            }
            n++
        }
        /^#/ || NF == 0 { next }
        $2 == 1 { at++; f = at < 3 ? 2e5 : 2.5e3; r = at < 3 ? 60e3 : 12; d = at < 3 ? 8e5 : 2.4e3
                  rows = at % 2 ? 9 : 10
                  near("ideal", 0.9 * (f + r * rows) / 2) }
        $2 == 3 { near("smaller shard of " rows " rows", 0.9 * (f + r * 5 - (f + r * rows) / 2)) }
        $2 == 6 { near("together", 0.05 * 0.9 * (f + r * 5)) }
        $2 == 12 { near("communication", f + r * 5 + d - 1.05 * 0.9 * (f + r * 5)) }
        $2 == 10 { near("together, communication", f + r * 5 + d - 0.9 * (f + r * 5)) }
        $2 < 16 && $2 > 1 && $7 > 0 { print "row " NR " is not told apart from 0"; bad = 1 }
        END { exit bad || n != 14 }' out/waterfall.tsv || fail "planted terms are not recovered"
    grep -qF 'joined: no step without communication' out/waterfall.svg || fail "nothing says what is joined"
}

# Planted delays are reported as communication, and none of them is hidden, because no computation
# runs at the same time. Each operation of the comm queues takes as long as the delay, one after the
# other.
test_delay() {
    for us in 2000 6000; do
        "$lockstep" sweep --bind none --devices "virt:2+${us}us" --counts 1,2 --mode plain,dp,ddp \
            --workload mlp:64,64 --batch 8 --launches 6 --warmup 2:0 --seconds 0.001 --steps 4:4 --out "$us.jsonl" \
            >/dev/null 2>sweep.txt || { cat sweep.txt >&2; fail "no records"; }
        report 0 "$us.jsonl" --out "$us"
        # All of the lost time is communication, or is added to the extra time of one shard.
        awk '!/^#/ && $2 < 16 && $2 >= 8 { print $8 / 1e3 }' "$us/waterfall.tsv" >"$us.txt"
        is "modes with communication" "$(wc -l <"$us.txt")" 2
    done
    paste 2000.txt 6000.txt | awk '
        { n = ($2 - $1) / 4000; whole = int(n + 0.5); print "operations: " n
          if (whole < 1 || (n - whole) ^ 2 > (0.05 * whole) ^ 2) bad = 1 }
        END { exit bad || NR != 2 }' || fail "the delay is not recovered"
    is "rows of overlap" "$(rows 6000/overlap.tsv 0)" 1
    awk '!/^#/ && NF { if ($6 ^ 2 > 0.05 ^ 2) { print "hidden: " $6; exit 1 } }' 6000/overlap.tsv ||
        fail "something is hidden behind nothing"
}

case $case_name in
made | few | hostile | same | fallback | broken | weak | modes | buckets | parts | trust | delay) "test_$case_name" ;;
*)
    usage >&2
    exit 2
    ;;
esac
echo "passed: $case_name"
