#!/usr/bin/env bash
# PyTorch itself, tested by the suite: what it does without a GPU (chunk, buckets, sampler,
# DistributedDataParallel over gloo), and, noted by a communication hook, what it reduces when. What
# a version is known to fail (pytorch_known.txt) must fail as known, and nothing else may: a pass
# that was not expected is said, too. 77 where there is no PyTorch.
# short: without more ranks than four and models of many parameters, which take two fifths of the time.
# usage: pytorch.sh LOCKSTEP PYTHON [short]
set -eu

lockstep=$1
export LOCKSTEP_PYTHON=$2
impl=torch
known=$(dirname -- "${BASH_SOURCE[0]}")/pytorch_known.txt
cases='SPLIT-01.sizes,SPLIT-01.large,SPLIT-01.known,SPLIT-02.fewer,SPLIT-03.count,SPLIT-04.sizes'
cases=$cases',SPLIT-05.sizes,SPLIT-06.ceil'

version=$("$2" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
    echo "pytorch.sh: no PyTorch for $2"
    exit 77
}
"$lockstep" check --impl "$impl" --only "$cases"
"$lockstep" check --impl "$impl" --impl-options trace_buckets --only 'DDP-11*,DDP-12*,DDP-15*'

areas=$("$lockstep" check --profile ddp --list | sed -n 's/^\([A-Z]*\)-[0-9].*/\1/p' | sort -u)
if [ "${3-}" = short ]; then
    areas=$(grep -vx -e COUNT -e SIZE <<<"$areas")
fi
status=0
found=$("$lockstep" check --impl "$impl" --profile ddp --area "${areas//$'\n'/,}") || status=$?
echo "$found"
[ "$status" -le 1 ] || exit 1
failed=$(sed -nE 's/^FAIL +([A-Z]+-[0-9]+\.[^ ]+) .*/\1/p' <<<"$found")
wrong=0
complain() {
    echo "pytorch.sh: PyTorch $version: $*"
    wrong=1
}
while read -r versions case issue words; do
    # shellcheck disable=SC2053
    [[ $versions != '#'* && $version == $versions ]] || continue
    if ! grep -qxF "$case" <<<"$failed"; then
        complain "$case passes, and was expected to fail ($issue): take it out of pytorch_known.txt"
    elif ! grep -qF "$words" <<<"$found"; then
        complain "$case fails otherwise than with '$words' ($issue)"
    fi
    failed=$(grep -vxF "$case" <<<"$failed" || true)
done <"$known"
[ -z "$failed" ] || complain "fails, and is not known to: ${failed//$'\n'/ }"
exit "$wrong"
