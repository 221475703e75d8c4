#!/bin/sh
# The committed records are all verified, and their report says what the committed one says: summary
# and page.
#   reference_test.sh LOCKSTEP RESULTS WORK_DIRECTORY
# Exits 0 when that is so, 1 when not, 77 when gnuplot is not installed.
set -eu
lockstep=$1 results=$2 work=$3
command -v gnuplot >/dev/null || { echo "skipped: gnuplot is not installed" >&2; exit 77; }
rm -rf "$work"
mkdir -p "$work"
"$lockstep" report "$results/records.jsonl" --peer "$results/peer.json" --out "$work/report"
cmp "$work/report/summary.md" "$results/summary.md"
# gnuplot draws the figures, and its versions differ: the page is compared without them.
for page in "$work/report/index.html" "$results/index.html"; do
    sed -e '/<svg/,/<\/svg>/d' "$page" >"$work/words"
    grep -q 'Provenance' "$work/words" || { echo "FAILED: no words of $page" >&2; exit 1; }
    mv "$work/words" "$work/$(basename "$(dirname "$page")").words"
done
diff "$work/report.words" "$work/$(basename "$results").words" ||
    { echo "FAILED: $results/index.html is not what lockstep report prints: make it again, with its figures" >&2; exit 1; }
# PyTorch is next to lockstep where it did the same work: the three models, on 1 and 2 devices.
[ "$(grep -c '>PyTorch [0-9.]*<' "$work/report/scaling.svg")" -eq 3 ] || { echo "FAILED: no PyTorch" >&2; exit 1; }
