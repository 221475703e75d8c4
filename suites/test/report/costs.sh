#!/usr/bin/env bash
# Where the time of launches went, of a sweep made here: each part is in the records, and the page's
# table of them is made again from these. usage: costs.sh LOCKSTEP PYTHON FOLDER
set -eu
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

lockstep=$1
python=$2
rm -rf "$3"
mkdir -p "$3"
here=$(cd -- "$(dirname -- "$0")" && pwd)
cd "$3"

"$lockstep" sweep --workload tutorial --devices virt:2 --batch 30 --seconds 0.01 --launches 6 \
    --verbose --out records.jsonl 2>err || fail "the sweep"
grep -Eq '^  outside   [0-9.]+ m?s of a launch: process [0-9.]+ [mu]?s, devices ' err || fail "no line of costs"
[ "$(grep -c '"schema":"lockstep/cell/' records.jsonl)" -eq 18 ] || fail "not 18 launches"
for field in devices_ns reference_ns verify_ns launch_ns; do
    [ "$(grep -c "\"$field\":[1-9]" records.jsonl)" -eq 18 ] || fail "$field is not in each record"
done
grep -q '"writing":[0-9.]*[1-9]' records.jsonl || fail "no time of writing"

"$python" -B "$here/numbers_test.py" "$lockstep" records.jsonl - "$PWD/page" || exit
grep -q 'id="costs"' page/index.html || fail "the page has no table of costs"
grep -Eq 'The rest is [0-9.]+ m?s of a launch: process ' page/summary.md || fail "nothing in the summary"

# Old records have no such time.
sed '1s|lockstep/run/1.2|lockstep/run/1.1|; s/"launch_ns":[0-9]*/"launch_ns":0/; s/"clock_ratio":[0-9.]*/"clock_ratio":null/' records.jsonl |
    sed 's/,"chain":"[0-9a-z]*"//; s/,"seal":"[0-9a-f]*"//' >old.jsonl
"$lockstep" report old.jsonl --out old >/dev/null || fail "old records"
if grep -q 'id="costs"' old/index.html; then fail "a table of what is not known"; fi
