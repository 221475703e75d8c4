#!/usr/bin/env bash
# The rows of RULES.md are the rules that `lockstep check --rules` knows: each once, none missing, and
# with its sentence.
# usage: rules.sh LOCKSTEP RULES.md
set -eu

lockstep=$1
page=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

grep -oE '^\| [A-Z]+-[0-9][0-9] \|' "$page" | tr -d '| ' | LC_ALL=C sort >"$work/page"
"$lockstep" check --rules >"$work/listing"
grep -oE '^[A-Z]+-[0-9][0-9]\b' "$work/listing" | LC_ALL=C sort >"$work/program"

rules=$(wc -l <"$work/program")
if [ "$rules" -lt 225 ]; then
    echo "rules.sh: lockstep check --rules lists $rules rules, there are at least 225" >&2
    exit 1
fi
if ! diff "$work/page" "$work/program"; then
    echo "rules.sh: < only in $page, > only in lockstep check --rules" >&2
    exit 1
fi
tr -s ' \n' '  ' <"$work/listing" >"$work/flat"
sed -nE 's/`//g; s/^\| ([A-Z]+-[0-9][0-9]) \| ([^|]*) \|.*/\1 \2/p' "$page" >"$work/sentences"
while read -r rule sentence; do
    if ! grep -qF -- " $sentence " "$work/flat"; then
        echo "rules.sh: lockstep check --rules does not say of $rule: $sentence" >&2
        exit 1
    fi
done <"$work/sentences"
echo "rules.sh: $rules rules, each with its row and its sentence"
