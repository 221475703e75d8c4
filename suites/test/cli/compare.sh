# `lockstep compare`: the results that two files can give, the differences that make them INVALID,
# and the words that it never prints.
#   compare.sh LOCKSTEP FOLDER MAKE_RECORDS
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
make_records=$3

class=$(printf '7%063d' 0)
class2=$(printf '8%063d' 0)
boot=$(printf "%064d" 1)

# records KIND FILE [SED]: makes records of a known class of machine; SED edits the first line.
records() {
    "$make_records" "$1" raw.jsonl || fail "make_records $1"
    sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/;1s/\"machine_instance\":\"\"/\"machine_instance\":\"$boot\"/
        ${3:+1$3}" raw.jsonl >"$2"
    [ -z "${3-}" ] || ! sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/;1s/\"machine_instance\":\"\"/\"machine_instance\":\"$boot\"/" \
        raw.jsonl | cmp -s - "$2" || fail "$3 changes nothing"
}

# compare STATUS FILE FILE [OPTION...]: there is nothing on standard error, and lines have at most
# 80 columns.
compare() {
    expect_status "$1" "$lockstep" compare --verbose "$2" "$3" ${4+"$4"} ${5+"$5"} ${6+"$6"}
    [ ! -s err ] || fail "words on standard error"
    [ "${4-}" = --format ] || ! grep -q '.\{81\}' out || fail "more than 80 columns"
}

# counts SUSPECT NO_EVIDENCE INVALID
counts() {
    prints "Cells in both files: $(($1 + $2 + $3)): $1 SUSPECT, $2 NO EVIDENCE, $3 INVALID, 0 measured"
}

# invalid REASON: all is INVALID, and no cell is judged.
invalid() {
    prints "INVALID: $1"
    counts 0 0 12
    prints_not '\[\|The median'
}

records old a.jsonl
records new b.jsonl
records slower slow.jsonl

# Nothing differs: there is no evidence. The words are never those of a gate.
compare 0 a.jsonl b.jsonl
counts 0 12 0
prints '^NO EVIDENCE of a difference in 12 of 12 cells, which is not evidence of none[.]'
prints 'Evidence class III, two files: two sessions, .*No verdict is a pass, and none is a gate[.]'
prints 'NO EVIDENCE tutorial dp virt:2, 30 rows, f32, cpu/threads B/A 1.000 \[0[.]9[0-9]*, 1[.]0[0-9]*\], p 1; cost 1.000; floor'
prints 'A and B are of one build in one setting: this is an A/A comparison'
prints 'A is unsealed'
prints 'The median of the ratios is 1.000, .* half-width of their intervals (95 % or more, of independent launches) is [1-9][.]. %'
prints_not 'SUSPECT  \|Differs'

# Without --verbose it is a screen, the answer first, and it says how much is left out.
expect_status 0 "$lockstep" compare a.jsonl slow.jsonl
prints '^SUSPECT in 4 of 12 cells, most in '
prints ' SUSPECT .* SUSPECT .* [1-9][0-9]* more: --verbose says all, and what was compared; --help, how it is judged[.] *$'
[ "$(wc -l <out)" -le 25 ] && ! grep -q '.\{81\}' out || fail "more than a screen"

# The four cells on two devices are 12 % slower: these are found, and no others; with --exact, too.
for option in '' --exact; do
    compare 0 a.jsonl slow.jsonl $option
    counts 4 8 0
    [ "$(grep -c '^SUSPECT  .* dp virt:2, ' out)" -eq 4 ] || fail "$(cat out)"
    prints 'B/A 1.120 \[1[.]0[0-9]*, 1[.]1[0-9]*\], p 0.0019; cost 1.120; floor [0-9.]* ms -> [0-9.]* ms'
    prints '^SUSPECT in 4 of 12 cells, most in [a-z]*:*[^ ]* dp virt:2, [^:]*: 1[12][.][0-9] % more time \[+[0-9.]* %, +[0-9.]* %\][.] Not sure: measure both again, in turns (--ab)'
done
# In the other direction it is as suspect.
compare 0 slow.jsonl a.jsonl
counts 4 8 0
prints 'B/A 0.893 \['
# 4.5 % are shown, but are less than the threshold.
records little-slower little.jsonl
compare 0 a.jsonl little.jsonl
counts 0 12 0
prints 'B/A 1.045 \['

records three three.jsonl
records four four.jsonl

# The side with fewer steps decides what a launch counts as.
records few-steps few.jsonl
records fewest-steps fewest.jsonl
compare 0 a.jsonl few.jsonl
prints_not few:
compare 0 a.jsonl fewest.jsonl
prints '(few: the minimum of 6 steps)'
compare 0 a.jsonl few.jsonl --format json
grep -q '"floor_statistic": "10th percentile"' out || fail "$(cat out)"
compare 0 fewest.jsonl few.jsonl --format json
grep -q '"least_steps": 6' out || fail "$(cat out)"

# Differences that one may want to compare are reported, not refused.
records new other.jsonl 's/"git_sha":"[^"]*"/"git_sha":"0a1b2c3d4e5f"/'
compare 0 a.jsonl other.jsonl
prints 'Differs: the commit: 3f2a9c1d5b7e -> 0a1b2c3d4e5f'
prints_not A/A
records new other.jsonl "s/\"machine_instance\":\"$boot\"/\"machine_instance\":\"$class2\"/"
compare 0 a.jsonl other.jsonl
prints 'Differs: the start of the machine: 000000000000 -> 800000000000'
prints A/A
records new other.jsonl 's/"environment":""/"environment":"OMP_NUM_THREADS=2"/'
compare 0 a.jsonl other.jsonl
prints 'Differs: the environment: none -> OMP_NUM_THREADS=2'
records new other.jsonl 's/"gpu_software":""/"gpu_software":"driver 13.1"/'
compare 0 a.jsonl other.jsonl
prints 'Differs: the GPU software: none -> driver 13.1'
records new other.jsonl 's/"cores":"[^"]*"/"cores":"3"/'
compare 0 a.jsonl other.jsonl
prints 'Differs: the set of cores of device 0: none -> 3'
sed 's/"warmup_rule":"[^"]*"/"warmup_rule":"5 steps"/' b.jsonl >other.jsonl
compare 0 a.jsonl other.jsonl
prints 'Differs: the rule of the warm-up: a fixed number -> 5 steps'
compare 0 a.jsonl few.jsonl # which has another option --steps, too, that does not set runs apart
prints_not Differs
compare 3 a.jsonl three.jsonl
prints 'Differs: the number of launches: 8 -> 3'
# A launch counts once: a run and itself, or a copy of it under another name, show nothing.
refuse 'A and B hold the same run: a launch counts once' "$lockstep" compare a.jsonl a.jsonl
sed 's/"run_id":"feedface/"run_id":"cafeface/' a.jsonl >copy.jsonl
# again FILE: prints the same times as other launches.
again() {
    sed 's/"run_id":"feedface/"run_id":"cafeface/; s/"start_epoch_ns":"17/"start_epoch_ns":"18/' "$1" >again.jsonl
}
# against STATUS A B OPTION...: compares with B as other launches.
against() {
    wanted=$1 first=$2
    again "$3"
    shift 3
    compare "$wanted" "$first" again.jsonl "$@"
}
refuse 'run cafeface[0-9a-f]*, cell [0-9a-f]*, and run feedface[0-9a-f]*, cell [0-9a-f]*, are one launch' \
    "$lockstep" compare a.jsonl copy.jsonl
sed '2!s/"start_epoch_ns":"17/"start_epoch_ns":"18/' copy.jsonl >same.jsonl
refuse 'are one launch' "$lockstep" compare a.jsonl same.jsonl

# The files are INVALID as a whole, each for a different reason.
records new bad.jsonl "s/\"machine_class\":\"$class\"/\"machine_class\":\"$class2\"/" # after the class is set
compare 3 a.jsonl bad.jsonl
invalid 'the class of machine: 700000000000 -> 800000000000'
"$make_records" new bad.jsonl
compare 3 a.jsonl bad.jsonl
invalid 'the class of machine of B is unknown: its record has none'
compare 3 bad.jsonl a.jsonl
invalid 'the class of machine of A is unknown'
records new bad.jsonl 's/"usable_pus":8/"usable_pus":4/'
compare 3 a.jsonl bad.jsonl
invalid 'the number of usable processing units: 8 -> 4'
records new bad.jsonl 's/"cpu_model":"Example/"cpu_model":"Other/'
compare 3 a.jsonl bad.jsonl
invalid 'the processor: Example CPU 3000 @ 2.50GHz -> Other CPU'
records new bad.jsonl 's/"build_type":"Release"/"build_type":"RelWithDebInfo"/'
compare 3 a.jsonl bad.jsonl
invalid 'the build type: Release -> RelWithDebInfo'
records new bad.jsonl 's/"build_type":"Release"/"build_type":"Debug"/'
against 3 bad.jsonl bad.jsonl
invalid 'A is of a Debug build, not of Release or RelWithDebInfo'
prints 'INVALID: B is of a Debug build'
records new bad.jsonl 's/"sanitizers":""/"sanitizers":"address"/'
compare 3 a.jsonl bad.jsonl
invalid 'B is of a build with sanitizers: address'
records new bad.jsonl 's/"source":"measured"/"source":"simulated"/'
compare 3 bad.jsonl a.jsonl
invalid 'A is of times that are simulated, not measured'
records new bad.jsonl 's/"clock":"CLOCK_MONOTONIC_RAW"/"clock":"CLOCK_MONOTONIC"/'
compare 3 a.jsonl bad.jsonl
invalid 'B is of the clock CLOCK_MONOTONIC, not CLOCK_MONOTONIC_RAW'
prints 'the clock: CLOCK_MONOTONIC_RAW -> CLOCK_MONOTONIC'
records new bad.jsonl 's/"model":""/"model":"GPU X"/'
compare 3 a.jsonl bad.jsonl
invalid 'the model of device 0: none -> GPU X'
records new bad.jsonl 's/"git_dirty":false/"git_dirty":true/'
compare 3 a.jsonl bad.jsonl
invalid 'B is of a changed tree on commit 3f2a9c1d5b7e; --allow-dirty takes it'
compare 0 a.jsonl bad.jsonl --allow-dirty
counts 0 12 0
prints 'Differs: the working tree: false -> true'

# One cell is INVALID; the others are judged.
first_dp=$(awk '/"mode":"dp"/ && /"n_devices":2,/ { print NR; exit }' slow.jsonl)
sed "${first_dp}s/\"oversubscribed\":false/\"oversubscribed\":true/" slow.jsonl >bad.jsonl
compare 3 a.jsonl bad.jsonl
counts 3 8 1
prints 'INVALID mlp:1024[^ ]* dp virt:2, 10 rows, f32, cpu/threads oversubscribed: more devices than cores'
# fails LINES: makes those launches not verified.
fails() {
    sed "$1s/\"status\":\"ok\"/\"status\":\"failed\"/;$1s/\"validated\":true/\"validated\":false/
        $1s/\"reason\":\"\"/\"reason\":\"planted\"/;\$d" slow.jsonl
}
fails "$((first_dp + 2))" >bad.jsonl
compare 3 a.jsonl bad.jsonl
counts 3 8 1
prints 'not verified: 0 of 8 launches of A, 1 of 8 launches of B (failed)'
fails "$first_dp,$((first_dp + 7))" >bad.jsonl
compare 3 bad.jsonl a.jsonl
counts 3 8 1
prints 'not verified: 8 of 8 launches of A (failed), 0 of 8 launches of B'
prints 'A has no end: its sweep was stopped'
# It is verified in neither file: there is nothing to say, and no reason to fail.
against 0 bad.jsonl bad.jsonl
prints 'Cells in both files: 12: 0 SUSPECT, 11 NO EVIDENCE, 0 INVALID, 1 measured in neither'

# There are too few launches for an interval, and for this many cells.
compare 3 a.jsonl three.jsonl
counts 0 0 12
prints 'launches: 8 of A and 3 of B; it takes 4 to 60 of each'
against 3 four.jsonl four.jsonl
counts 0 0 12
prints 'launches: 4 of A and 4 of B cannot show anything in one of 12 cells; that takes 6 of each'

# Cells in one file only are counted. The cells of one workload are taken out, and the end line,
# which counts them.
grep -v '"workload":"tutorial"\|lockstep/end' b.jsonl >part.jsonl
compare 0 a.jsonl part.jsonl
counts 0 6 0
prints 'Only in A: 6, only in B: 0'
prints 'B is not finished: 48 of 96 launches are in it'
compare 0 part.jsonl a.jsonl
prints 'Only in A: 0, only in B: 6'
grep -v '"workload":"mlp\|lockstep/end' b.jsonl >rest.jsonl
again rest.jsonl
refuse 'nothing to compare: 6 cells only in again.jsonl, 6 only in part.jsonl, and 0 in both' \
    "$lockstep" compare again.jsonl part.jsonl
"$make_records" no-cells none.jsonl
again none.jsonl
refuse 'nothing to compare: 0 cells' "$lockstep" compare none.jsonl again.jsonl

# Exact numbers: one more is a change, on any machine.
sed 's/"bytes_per_step":null/"bytes_per_step":4096.0/;s/"peak_bytes":\[\]/"peak_bytes":[]/' a.jsonl |
    sed '/"n_devices":1,/s/"bytes_per_step":4096.0/"bytes_per_step":0.0/' >bytes.jsonl
sed "${first_dp},$((first_dp + 7))s/\"bytes_per_step\":4096.0/\"bytes_per_step\":4097.0/" bytes.jsonl >more.jsonl
against 0 bytes.jsonl bytes.jsonl --exact
prints 'Exact numbers that changed: 0[.]'
against 0 bytes.jsonl more.jsonl
prints 'CHANGED mlp:1024[^ ]* dp virt:2, 10 rows, f32, cpu/threads bytes_per_step: 4096 -> 4097 bytes'
prints 'Exact numbers that changed: 1[.]'
against 1 bytes.jsonl more.jsonl --exact
sed "1s/\"machine_class\":\"$class\"/\"machine_class\":\"$class2\"/" more.jsonl >foreign.jsonl
against 3 bytes.jsonl foreign.jsonl
prints CHANGED
against 1 bytes.jsonl foreign.jsonl --exact
# The number differs in one launch only, and is in one file only.
sed "$((first_dp + 3))s/\"bytes_per_step\":4096.0/\"bytes_per_step\":4100.0/" bytes.jsonl >launch.jsonl
against 1 bytes.jsonl launch.jsonl -e
prints 'bytes_per_step: 4096 -> 4096 to 4100 bytes'
against 1 a.jsonl bytes.jsonl --exact
prints 'bytes_per_step: unknown -> 4096 bytes'
sed '/"n_devices":2,/s/"peak_bytes":\[\]/"peak_bytes":[7,8]/' bytes.jsonl >peaks.jsonl
sed '/"n_devices":2,/s/"peak_bytes":\[\]/"peak_bytes":[7,9]/' bytes.jsonl >peaks2.jsonl
against 1 peaks.jsonl peaks2.jsonl --exact
prints 'peak_bytes of device 1: 8 -> 9 bytes'
# Older versions did not count kernels: a file without the count is an old one, unless it is the
# newer of the two.
for number in 37 38; do
    sed "s/\"kernels_per_step\":null/\"kernels_per_step\":$number.0/" a.jsonl >kernels$number.jsonl
done
against 1 kernels37.jsonl kernels38.jsonl --exact
prints 'CHANGED mlp:1024[^ ]* dp virt:2, 10 rows, f32, cpu/threads kernels_per_step: 37 -> 38 launches'
against 1 kernels37.jsonl a.jsonl --exact
prints 'kernels_per_step: 37 -> unknown launches'
against 0 a.jsonl kernels37.jsonl --exact
# Values that a plan fixes can differ in files that have no plan.
sed '1s/"launches":8,//' bytes.jsonl >free.jsonl
sed "1s/\"launches\":8,//;${first_dp},$((first_dp + 7))s/\"model_params\":[0-9]*/\"model_params\":7/
    ${first_dp},$((first_dp + 7))s/\"flops_per_step\":[0-9.e+]*/\"flops_per_step\":9.0/" bytes.jsonl >free2.jsonl
against 1 free.jsonl free2.jsonl --exact
prints 'model_params: [0-9]* -> 7 values'
prints 'flops_per_step: [0-9]* -> 9 operations'

# Real sweeps of this build; their seeds are drawn.
for name in one two; do
    expect_status 0 "$lockstep" sweep --bind none --devices virt:2 --counts 1,2 --mode dp,ddp --workload tutorial \
        --batch 30 --launches 6 --seconds 0.001 --steps 40:40 --out $name.jsonl
done
status=0
"$lockstep" compare one.jsonl two.jsonl --allow-dirty --exact >out 2>err || status=$?
if grep -q 'INVALID: . is of a' out; then
    [ $status -eq 3 ] || fail "status $status"
elif [ "$(nproc)" -ge 2 ]; then
    [ $status -eq 0 ] || fail "status $status"
    prints 'Cells in both files: 4: [0-4] SUSPECT, [0-4] NO EVIDENCE, 0 INVALID, 0 measured in neither'
fi
prints 'Exact numbers that changed: 0[.]'
prints 'Differs: the seed: '

# For programs there is valid JSON with the same contents, for a page Markdown.
compare 0 a.jsonl slow.jsonl --format json
for words in '"schema": "lockstep/compare/1.0"' '"class": "III"' '"gate": false' '"suspect": 4' \
    '"no_evidence": 8' '"exit": 0' '"verdict": "SUSPECT"' '"n_devices": 2' '"tested": 12' '"half_width": 0.0'; do
    grep -qF -e "$words" out || fail "no $words in the JSON"
done
# Computes all of its numbers again, from the raw steps.
if command -v python3 >/dev/null; then
    for pair in 'a slow' 'a few' 'fewest few' 'slow fewest'; do
        compare 0 ${pair% *}.jsonl ${pair#* }.jsonl --format json
        python3 "$here/compare_check.py" ${pair% *}.jsonl ${pair#* }.jsonl out || fail "$pair"
    done
else
    echo 'note: no python3, so the numbers are not computed again'
fi
compare 0 a.jsonl slow.jsonl --format md
grep -q '^\* The median of the ratios is 1[.]000, .* of their intervals .* is [0-9.]* %[.]$' out || fail "$(cat out)"
grep -q '^| SUSPECT | tutorial dp virt:2, 30 rows, f32, cpu/threads | 1.1' out || fail "$(cat out)"
compare 3 a.jsonl three.jsonl --format md
grep -q 'launches: 8 of A and 3 of B' out || fail "$(cat out)"

# Text of others is data: there is no control character, and nothing that a page would obey.
hostile='\\u001b[31m<script>|a\\u202eb`x`'
records new hostile.jsonl "s/\"kernel\":\"[^\"]*\"/\"kernel\":\"$hostile\"/"
for format in text json md; do
    compare 0 a.jsonl hostile.jsonl --format $format
    ! LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" out || fail "a control byte as $format"
    grep -q 'script' out || fail "the kernel is not said as $format"
done
! grep -q '<script>' out || fail "a tag in the Markdown"

# Files that cannot be read give one line, and nothing on standard output.
refuse 'missing.jsonl: No such file' "$lockstep" compare a.jsonl missing.jsonl
head -c 20000 a.jsonl >torn.jsonl
refuse 'torn.jsonl: the last line is torn, from byte' "$lockstep" compare torn.jsonl a.jsonl
head -c 200 a.jsonl >torn.jsonl
refuse 'torn.jsonl:1: ' "$lockstep" compare a.jsonl torn.jsonl
sed '1s|lockstep/run/1.1|lockstep/run/2.0|' a.jsonl >major.jsonl
refuse 'major.jsonl:1: .*2' "$lockstep" compare a.jsonl major.jsonl
sed '3s/"mean_ns":[0-9.e+]*/"mean_ns":null/' a.jsonl >nan.jsonl
refuse 'nan.jsonl:3: .* does not follow from the samples' "$lockstep" compare a.jsonl nan.jsonl
sed '3s/"t_step_ns":\[/"t_step_ns":[-/' a.jsonl >negative.jsonl
refuse 'negative.jsonl:3: ' "$lockstep" compare negative.jsonl a.jsonl
: >empty.jsonl
refuse 'empty.jsonl' "$lockstep" compare a.jsonl empty.jsonl
expect_status 0 "$lockstep" check --only SPLIT-01.sizes --format json --out check.json
refuse 'check.json holds a result of `lockstep check`, not records of `lockstep sweep`$' \
    "$lockstep" compare a.jsonl check.json
refuse '1 of 2 record files: name A and B' "$lockstep" compare a.jsonl
refuse '0 of 2 record files' "$lockstep" compare
refuse "'c.jsonl' is a third file" "$lockstep" compare a.jsonl b.jsonl c.jsonl
refuse 'format.*"xml"; known: ' "$lockstep" compare a.jsonl b.jsonl --format xml
refuse '--exact is given twice' "$lockstep" compare a.jsonl b.jsonl --exact --exact
mkdir directory
refuse 'directory' "$lockstep" compare a.jsonl directory
