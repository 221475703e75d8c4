#!/usr/bin/env bash
# `lockstep report --peer` on hand-made files: the report of a good one, and that each bad one is
# refused in one line.
# usage: reader_test.sh CASE LOCKSTEP EXAMPLE FOLDER MAKE_RECORDS EXAMPLE_OF_ARMS
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

name=$1
lockstep=$2
example=$3
folder=$4
make_records=$5
arms=$6
enter "$folder"

# report STATUS FILE: writes a page of it into out/.
report() {
    local status=0
    "$lockstep" report --peer "$2" --out out >stdout 2>stderr || status=$?
    cat stderr >&2
    [ "$status" -eq "$1" ] || fail "exit status $status, not $1: $2"
}

# changed NAME SED...: the example after these commands, which must change it.
changed() {
    local file=$1
    shift
    sed "$@" "$example" >"$file"
    if cmp -s "$example" "$file"; then fail "$file is the example itself: the test is out of date"; fi
}

# refused WORDS SED...: exit status 2, one line with these words, and nothing is written.
refused() {
    local words=$1
    shift
    changed bad.json "$@"
    report 2 bad.json
    [ "$(wc -l <stderr)" -eq 1 ] || fail "not one line on stderr"
    has stderr "$words"
    [ ! -e out ] || fail "something was written for a bad file"
}

need_gnuplot() {
    command -v gnuplot >/dev/null || { echo "skipped: gnuplot is not installed" >&2; exit 77; }
}

test_good() {
    need_gnuplot
    report 0 "$example"
    [ ! -s stderr ] || fail "words on stderr"
    # Paired by round: 40/100, 41/100, 42/100, 43/200, 44/200, 45/200.
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | 0.31 | \[0.21, 0.42\] | 6 |'
    has out/summary.md "| lockstep 2 / PyTorch's fastest | 0.31 | \[0.21, 0.42\] | 6 | PyTorch DDP over gloo, tuned, 2 processes |"
    has_not out/summary.md 'lockstep DDP'
    has out/summary.md '| speed-up, lockstep | 2.00 | \[2.00, 2.00\] | 6 |'
    has out/summary.md '| lockstep plain / PyTorch plain | 0.49 |'
    has out/summary.md '| PyTorch DDP over gloo, tuned, 2 processes | 150'
    has out/summary.md '| torch.mm alone, 15 rows | 30.0'
    has out/index.html '>0.31 [0.21, 0.42]: lockstep 2 / PyTorch DDP 2<'
    has out/index.html '<figure'
    has out/index.html "a step of lockstep takes 0.31 [0.21, 0.42] of the time of PyTorch&#39;s fastest program (mlp:8,4, batch 30)."
    has_not out/index.html 'busy'
    [ "$(wc -c <out/peer.svg)" -gt 5000 ] || fail "the SVG is too small"
    [ "$(wc -c <out/peer.png)" -gt 5000 ] || fail "the PNG is too small"
    if command -v xmllint >/dev/null; then
        xmllint --nonet --noout out/index.html out/peer.svg || fail "not well-formed"
    fi
}

# Two launches have no interval, one has nothing; and a missing arm has no ratio.
test_few() {
    need_gnuplot
    changed five.json -z -e 's/,\n    {"round": 5, [^}]*}//g' -e 's/"launches": 6/"launches": 5/'
    report 0 five.json
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | 0.40 | 0.21..0.42 | 5 |'
    has out/index.html 'Bars of 5 launches: smallest to largest launch; this is a range, not an interval.'
    changed one.json -z -e 's/,\n    {"round": [1-5], [^}]*}//g' -e 's/"launches": 6/"launches": 1/'
    report 0 one.json
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | 0.40 | - | 1 |'
    has out/index.html 'One launch shows no spread'
    changed missing.json -e 's/"mode": "ddp", "devices": 2/"mode": "ddp", "devices": 3/'
    report 0 missing.json
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | - | - | 0 |'
    has out/index.html 'takes an unknown part of the time of'
    has out/summary.md "| speed-up, PyTorch's parallel program against plain | - | - | 0 |"
    changed llmc.json -e 's/"lockstep", "mode": "plain", "devices": 1/"llmc", "mode": "step", "devices": 2/'
    report 0 llmc.json
    has out/summary.md '| llm.c, 2 threads | '
    has out/summary.md '| lockstep 2 / llm.c 2 | 0.5'
}

# The math of a record is reported (old ones do not have it); a limit of TF32 does not hold for f32.
test_math() {
    need_gnuplot
    report 0 "$example"
    has_not out/summary.md 'TF32'
    changed f32.json -e 's/"devices": 2,$/&\n "math": "f32",/'
    report 0 f32.json
    has_not out/index.html 'TF32'
    changed tf32.json -e 's/"devices": 2,$/&\n "math": "tf32",/'
    report 0 tf32.json
    has out/index.html 'on 2 devices of the same machine, in TF32 on both sides, a step'
    has out/summary.md 'DistributedDataParallel over gloo, in TF32'
    has out/summary.md 'In TF32 numbers of exact models fit its 11 bits'
    has out/peer.svg ', TF32, Made-up CPU'
    # On a GPU, compared with attention in steps: 80 over 163 and others.
    local gpu=(-e 's/"devices": 2,$/&\n "math": "tf32",/' -e 's/"mlp:8,4", "batch": 30/"gpt2", "batch": 8/'
        -e 's/"pytorch", "mode": "ddp"/"pytorch", "mode": "dp"/'
        -e 's/"lockstep", "mode": "plain"/"pytorch", "mode": "plain-steps"/')
    changed gpu.json "${gpu[@]}"
    report 0 gpu.json
    has out/summary.md '| PyTorch plain, attention in steps, 1 process | '
    has out/summary.md '| lockstep 1 / PyTorch in steps | 1.0'
    has out/summary.md '| PyTorch in steps / PyTorch plain | 0.49 |'
    has out/index.html '>MET '
    changed f32.json "${gpu[@]}" -e 's/"math": "tf32"/"math": "f32"/'
    report 0 f32.json
    has_not out/index.html '>MET '
    rm -rf out
    refused "'math' is 'bf16', not f32 or tf32" -e 's/"devices": 2,$/&\n "math": "bf16",/'
    refused "'math' is missing, no text" -e 's/"devices": 2,$/&\n "math": 32,/'
}

# A record has several arms and several PyTorchs: the fastest of each group counts, and absent arms
# are listed.
test_arms() {
    need_gnuplot
    report 0 "$arms"
    has out/index.html 'Next to PyTorch 2.15.0 and 1.13.0, on 2 devices'
    has out/index.html "takes 0.77 [0.77, 0.77] of the time of PyTorch&#39;s fastest program"
    has out/index.html 'Absent: PyTorch plain by torch.compile, 1 process (1.13.0): PyTorch 1.13.0 has no torch.compile.'
    has out/summary.md "| lockstep 2 / PyTorch's fastest | 0.77 | \[0.77, 0.77\] | 6 | PyTorch plain by torch.compile, 1 process (2.15.0) |"
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | 0.68 | \[0.67, 0.70\] | 6 | PyTorch DDP over gloo, tuned, 2 processes (1.13.0) |'
    has out/summary.md '| lockstep 2 / products alone 2 | 1.08 | \[1.06, 1.10\] | 6 | torch.mm alone, 2 x 1024 rows (1.13.0), in 6 of 6 |'
    has out/summary.md "| speed-up, lockstep's over that of products | 0.97 |"
    has out/summary.md '(1.13.0) | - | - | - | absent: PyTorch 1.13.0 has no torch.compile |'
    has out/index.html ">MET 0.77 [0.77, 0.77]: lockstep 2 / PyTorch's fastest<"
    example=$arms
    # The compiled program is slower than plain, and passes: it is not the fastest any more.
    changed slow.json -e 's/"step_ns": \[\(69\|70\|71\)000000\]/"step_ns": [90000000]/'
    report 0 slow.json
    has out/summary.md "| lockstep 2 / PyTorch's fastest | 0.68 | \[0.67, 0.70\] | 6 | PyTorch DDP over gloo, tuned, 2 processes (1.13.0) |"
    # In five rounds the products of lockstep are faster than torch.mm.
    changed ours.json -e '20,25s/"steps_checked": 6/&, "outside_frac": 0.08/'
    report 0 ours.json
    has out/summary.md '| lockstep 2 / products alone 2 | 1.09 | \[1.09, 1.10\] | 6 | those of lockstep DataParallel, 2 devices, in 5 of 6 |'
    # One arm has no number: then the fastest is not known.
    changed wrong.json -e '0,/"status": "ok", "step_ns": \[70000000\]/s//"status": "wrong", "reason": "x"/'
    report 1 wrong.json
    has out/summary.md "| lockstep 2 / PyTorch's fastest | - | - | 0 |"
    rm -rf out
    refused "'launches' is missing or no list of 0 to 0" -e 's/"mode": "compiled", "devices": 1, "torch": "2.15.0"/&, "absent": "why"/'
    refused "'absent' gives no reason" -e 's/"absent": "[^"]*"/"absent": ""/'
    refused "'absent' is missing, no text" -e 's/"absent": "[^"]*"/"absent": 1/'
    refused "'launches' is missing or no list of 6 to 6" -e 's/"absent": "[^"]*", //'
    refused 'is there twice' -e 's/"mode": "compiled", "devices": 1, "torch": "1.13.0"/"mode": "compiled", "devices": 1, "torch": "2.15.0"/'
    refused "'beside' is missing or no list" -e 's/"beside": \[.*\]/"beside": {}/'
}

# Failed launches do not count in the mean, and an arm that was wrong is not reported at all.
test_failed() {
    need_gnuplot
    local launch='"order": 3, "status": "ok", "step_ns": \[203000000, 200000000, 198000000\]'
    changed broken.json -e "s/$launch/\"order\": 3, \"status\": \"broken\", \"reason\": \"it <b>died<\\/b>\"/"
    report 1 broken.json
    has stderr 'that failed: 1'
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | 0.40 | 0.22..0.42 | 5 |'
    has out/index.html 'Bars of 6 launches: interval of the median over launches by order statistics, which covers 96.9'
    has out/index.html 'Bars of 5 launches: smallest to largest launch; this is a range, not an interval.'
    has out/index.html 'it &lt;b&gt;died&lt;/b&gt;'
    changed wrong.json -e "s/$launch/\"order\": 3, \"status\": \"wrong\", \"reason\": \"no average\"/"
    report 1 wrong.json
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | - | - | 0 |'
    has out/summary.md "| lockstep 2 / PyTorch's fastest | - | - | 0 |"
    has out/summary.md 'WRONG NUMBERS'
    has out/summary.md '| PyTorch DDP over gloo, tuned, 2 processes | - | - |'
    changed busy.json -e 's/"load_start": \[0.5,/"load_start": [3.5,/'
    report 0 busy.json
    has out/index.html 'The machine was busy at the start'
    changed unfinished.json -e 's/"complete": true/"complete": false/'
    report 1 unfinished.json
    has out/index.html 'The comparison was not finished.'
}

test_hostile() {
    need_gnuplot
    # shellcheck disable=SC2016 # not to be expanded
    changed hostile.json -e 's/"mlp:8,4"/"<script>`touch pwned`$(touch pwned)\\u202e|\\\\\\"@{x}_^"/' \
        -e 's/Made-up CPU/<img src=x>\\u0007`touch pwned`/' -e 's/"1.13.0"/"1<b>"/'
    report 0 hostile.json
    for file in out/index.html out/summary.md out/peer.svg; do
        has_not "$file" '<script'
        has_not "$file" '<img'
        has_not "$file" '1<b>'
        has "$file" '&lt;script'
    done
    [ -z "$(find . -name pwned)" ] || fail "text of the record was executed"
    [ "$(tr -d '\040-\176\n\200-\377\t' <out/index.html | wc -c)" -eq 0 ] || fail "control characters"
    if command -v xmllint >/dev/null; then
        xmllint --nonet --noout out/index.html out/peer.svg || fail "not well-formed"
    fi
}

# With records of a sweep it is a section of the same page, and only if the machine is the same.
test_together() {
    need_gnuplot
    "$make_records" good good.jsonl
    local status=0
    "$lockstep" report good.jsonl --peer "$example" --out out >stdout 2>stderr || status=$?
    [ "$status" -eq 3 ] || fail "exit status $status for another machine, not 3"
    has stderr 'the machines differ'
    [ ! -e out ] || fail "something was written"
    # The machine is written as in the records.
    same=$(head -n 1 good.jsonl)
    for field in 'node_hash=("[^"]*")' 'cpu_model=("[^"]*")' 'packages=([0-9]+)' 'cores=([0-9]+)' \
        'pus=([0-9]+)' 'usable_pus=([0-9]+)'; do
        key="\"${field%%=*}\":"
        value=$(sed -E "s/.*$key${field#*=}.*/\\1/" <<<"$same")
        set -- "$@" -e "s/$key ${field#*=}/$key $value/"
    done
    changed same.json -E "$@"
    status=0
    "$lockstep" report good.jsonl --peer same.json --out out >stdout 2>stderr || status=$?
    cat stderr >&2
    [ "$status" -eq 0 ] || fail "exit status $status, not 0"
    has out/index.html '<section id="peer">'
    has out/index.html '<a href="#peer">'
    has out/index.html 'id="figure-peer"'
    has out/index.html 'id="figure-batch"'
    has out/summary.md '| lockstep 2 / PyTorch DDP 2 | 0.31 |'
    if command -v xmllint >/dev/null; then
        xmllint --nonet --noout out/index.html || fail "not well-formed"
    fi
}

test_refused() {
    refused "the schema is 'lockstep/peer/2.0'" -e 's#lockstep/peer/1.0#lockstep/peer/2.0#'
    refused 'holds a result of' -e 's#lockstep/peer/1.0#lockstep/check/1.0#'
    refused "the schema is 'lockstep/peer/1.x'" -e 's#lockstep/peer/1.0#lockstep/peer/1.x#'
    refused 'line 1' -e '1s/{/nothing/'
    refused 'line ' -e 's/\[43000000,/[NaN,/'
    refused "'step_ns' has something" -e 's/\[43000000,/["43000000",/'
    refused "'step_ns' has something" -e 's/\[43000000,/[43000000.5,/'
    refused "'step_ns' has something" -e 's/\[43000000,/[-43000000,/'
    refused "'step_ns' has something" -e 's/\[43000000,/[0,/'
    refused "'step_ns' is missing or no list" -e 's/\[43000000, 40000000, 38000000\]/[]/'
    refused 'did not check all' -e '0,/"steps_checked": 13/s//"steps_checked": 2/'
    refused "'values_checked' is missing" -e '0,/"values_checked": 8/s//"values_checked": 0/'
    refused "'outside_frac' is more than 1" -e 's/"outside_frac": 0.03}/"outside_frac": 1.5}/'
    refused "'status' is 'fine'" -e '0,/"status": "ok"/s//"status": "fine"/'
    refused "'reason' is missing" -e '0,/"status": "ok"/s//"status": "broken"/'
    refused 'round 1 is there twice' -e '0,/"round": 0/s//"round": 1/'
    refused "'round' is missing or no whole number of 0 to 5" -e '0,/"round": 0/s//"round": 6/'
    refused "'launches' is missing or no list" -e 's/"launches": 6/"launches": 7/'
    refused 'is not a known arm' -e 's/"mode": "ddp"/"mode": "fsdp"/'
    refused 'is there twice' -e 's/"mode": "dp", "devices": 1/"mode": "dp", "devices": 2/'
    refused "'devices' is missing" -e 's/"mode": "ddp", "devices": 2/"mode": "ddp", "devices": 0/'
    refused "'git_dirty' is missing" -e 's/"git_dirty": false/"git_dirty": 0/'
    refused "'load_end' is missing" -e 's/"load_end": \[1.5, 1.0, 0.5\]/"load_end": null/'
    refused "'torch' is missing" -e 's/"torch": "1.13.0"/"torch": null/'
    refused 'duplicate' -e 's/"seconds": 1.0/"seconds": 1.0, "seconds": 1.0/'
    report 2 nothing-here.json
    has stderr 'No such file'
    report 2 .
    has stderr 'not a regular file'
}

"test_$name"
