# A command line of nccl-tests as a sweep, and the results of nccl-tests next to cells of a sweep.
# nccl_tests.sh LOCKSTEP FOLDER
. "$(dirname "$0")/common.sh"
tiny='--devices virt:2 --bind none --seconds 0.01 --seed 3'

# ---- a command line ----------------------------------------------------------------------------

# command FILE: prints the options of the sweep that measures it.
command_of() {
    head -n 1 "$1" | sed 's/.*"command":"\([^"]*\)".*/\1/'
}

expect_status 0 "$lockstep" sweep $tiny --out theirs.jsonl \
    --nccl-tests './build/all_reduce_perf -b 64K -e 1M -f 4 -g 2 -n 5 -w 2 -c 1'
expect_status 0 "$lockstep" sweep $tiny --out ours.jsonl --collective allreduce --type f32 --counts 2 \
    --sizes 65536,262144,1048576 --out-of-place 0,1 --steps 5:5 --warmup 2:0
[ "$(command_of theirs.jsonl)" = "$(command_of ours.jsonl)" ] ||
    fail "$(command_of theirs.jsonl) is not $(command_of ours.jsonl)"
expect_count 6 '"status":"ok"' theirs.jsonl
refuse "nccl-tests: 'mpirun' is no program of nccl-tests that is known here; known are all_reduce_perf" \
    "$lockstep" sweep $tiny --nccl-tests 'mpirun -np 2 all_reduce_perf'
refuse 'nccl-tests: -c 0: every iteration is checked here' "$lockstep" sweep $tiny --nccl-tests 'all_reduce_perf -g 2 -c 0'
refuse 'sizes is given twice' "$lockstep" sweep $tiny --nccl-tests 'all_reduce_perf -g 2' --sizes 8
refuse 'nccl-tests is given twice' "$lockstep" sweep $tiny --nccl-tests 'all_reduce_perf -g 2' --nccl-tests 'all_reduce_perf -g 2'
refuse 'steps: "100001" is outside' "$lockstep" sweep $tiny --nccl-tests 'all_reduce_perf -g 2 -n 100001'
refuse 'counts has 8, but --devices virt:2 has only 2' "$lockstep" sweep $tiny --nccl-tests 'all_reduce_perf -g 8'

# ---- what it printed ---------------------------------------------------------------------------

# printed RANKS LINE...: prints the output of all_reduce_perf, as src/util.cu of nccl-tests writes
# it.
printed() {
    ranks=$1
    shift
    echo '# nccl-tests version 2.19.6 nccl-headers=22900 nccl-library=22900'
    echo '# Collective test starting: all_reduce_perf'
    echo '# Using devices'
    for rank in $(seq 0 $((ranks - 1))); do
        echo "#  Rank  $rank Group  0 Pid   4242 on       node device  $rank [0000:19:00] NVIDIA H100 80GB HBM3"
    done
    echo '#'
    echo '#                                                              out-of-place                       in-place          '
    echo '#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong '
    echo '#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         '
    printf '%s\n' "$@"
}
bytes64k='       65536         16384     float     sum      -1    12.34    5.31    5.31       0    12.00    5.46    5.46       0'
bytes256k='      262144         65536     float     sum      -1    16.40   15.98   15.98     N/A    16.11   16.27   16.27       0'
others='     2097152       1048576      half     sum      -1    30.00   69.91   69.91       0    30.00   69.91   69.91       0
     1048576        262144     float     max      -1    20.00   52.43   52.43       0    20.00   52.43   52.43       0
     4194304       1048576     float     sum      -1    40.00   104.9   104.9       0    40.00   104.9   104.9       0'
good='# Out of bounds values : 0 OK
# Avg bus bandwidth    : 34.5102
#
# Collective test concluded: all_reduce_perf'
printed 2 "$bytes64k" "$bytes256k" "$others" "$good" >printed.txt

# rows STATUS FILE...: makes the table of report, which ends with that status.
rows() {
    wanted=$1
    shift
    options=
    for file; do options="$options --beside $file"; done
    expect_status "$wanted" "$lockstep" report theirs.jsonl $options --out page
    sed -n "s/$(printf '\302\240')/ /g;/^## Next to nccl-tests\$/,/^## /p" page/summary.md >rows
    [ "$(grep -c 'id="beside"' page/index.html)" -eq 1 ] || fail "the page has no table"
}

rows 0 printed.txt
[ "$(grep -c '^| allreduce' rows)" -eq 4 ] || fail "not 4 rows: $(cat rows)"
grep -q '^| allreduce | f32 | 2 virt | cpu/threads | 65536 | 12.0 µs | .* | 5.46 GB/s | .* | [0-9.]* |$' rows || fail "$(cat rows)"
grep -q '^| allreduce, out of place | f32 | .*| 262144 | 16.4 µs | .* | 15.98 GB/s | .* | [0-9.]* (not checked there) |$' rows || fail "$(cat rows)"
# The ratio is the number of this program over that of nccl-tests, from the numbers in the row.
awk -F' [|] ' '$1 == "| allreduce" && $5 == 65536 {
        split($8, theirs, " "); split($9, ours, " "); split($10, ratio, " ")
        scale = ours[2] ~ /^M/ ? 1e-3 : 1
        off = ratio[1] - ours[1] * scale / theirs[1]; found = off > -0.006 && off < 0.006
    } END { exit !found }' rows || fail "another ratio: $(cat rows)"
# Two types and operations are not measured here, and a size has no cell in both places.
grep -q '^4 results of nccl-tests have no cell here[.] What a file of nccl-tests says' rows || fail "$(tail -n 3 rows)"
grep -q '^lockstep report: --beside: 4 results of nccl-tests have no cell here' err || fail "$(cat err)"

# Wrong numbers are no pass, and have no ratio; output that has no end is not hidden, either.
printed 2 "$(echo "$bytes64k" | sed 's/0$/3/')" '# Out of bounds values : 3 FAILED' >wrong.txt
rows 1 wrong.txt
grep -q '^| allreduce | .*| 65536 | .* | WRONG there: 3 numbers |$' rows || fail "$(cat rows)"
grep -q 'nccl-tests found wrong numbers in a collective' page/index.html || fail "not at the top of the page"
grep -q '^lockstep report: --beside: all_reduce_perf found wrong numbers' err || fail "$(cat err)"
printed 2 "$(echo "$others" | sed '1s/0$/3/')" "$bytes64k" >half.txt
rows 1 half.txt
grep -q '^lockstep report: --beside: all_reduce_perf found wrong numbers' err || fail "$(cat err)"
printed 2 "$bytes64k" >cut.txt
rows 0 cut.txt
grep -q '^all.*_perf did not come to its end[.] ' rows || fail "$(cat rows)"

# ---- what it wrote -----------------------------------------------------------------------------

# written NAME OLD NEW: writes a file of -J with a change in one place.
written() {
    sed "s|$2|$3|" >"$1" <<'JSON'
{"version":3,"start_time":"2026-11-27 12:00:00","args":["./build/all_reduce_perf","-g","2","-J","x.json"],
"env":["HOME=\/root"],"nccl_version":22900,"config":{"nthreads":1,"ngpus":2,"minimum_bytes":65536,"maximum_bytes":65536,
"step_factor":2,"devices":[{"rank":0,"group":0,"pid":1,"hostname":"node","device":0,"device_hex":"0000:19:00","device_info":"NVIDIA H100"}]},
"results":[{"size":65536,"count":16384,"type":"float","redop":"sum","root":"    -1",
"out_of_place":{"time":12.340000,"alg_bw":5.310859,"bus_bw":5.310859,"nwrong":0.000000},
"in_place":{"time":12.000000,"alg_bw":5.461333,"bus_bw":5.461333,"nwrong":null},"actual_iterations":20,"experiment_name":"AllReduce"}],
"out_of_bounds":{"count":0,"okay":"true"},"average_bus_bandwidth":{"bandwidth":5.4,"okay":"unchecked"},"end_time":"2026-11-27 12:00:01"}
JSON
}
written written.json same same
rows 0 written.json
[ "$(grep -c '^| allreduce' rows)" -eq 2 ] || fail "not 2 rows: $(cat rows)"
grep -q '^| allreduce | .*| 65536 | 12.0 µs | .* | 5.46 GB/s | .* (not checked there) |$' rows || fail "$(cat rows)"
written wrong.json '"nwrong":0.000000' '"nwrong":7'
rows 1 wrong.json
grep -q '^| allreduce, out of place | .* | WRONG there: 7 numbers |$' rows || fail "$(cat rows)"
written half.json '"type":"float",' '"type":"half",'
sed -i 's/"nwrong":0.000000/"nwrong":1/' half.json
rows 1 half.json
written bounds.json '"okay":"true"' '"okay":"false"'
rows 1 bounds.json
# Both files are given at once.
rows 0 printed.txt written.json
[ "$(grep -c '^| allreduce' rows)" -eq 6 ] || fail "not 6 rows: $(cat rows)"

# ---- what cannot be ----------------------------------------------------------------------------

# not WORDS FILE
not() {
    refuse "$1" "$lockstep" report theirs.jsonl --beside "$2" --out never
    [ ! -e never ] || fail "a page was made: $2"
}
not 'none: No such file' none
not 'it is not a regular file' /dev/null
: >empty
not 'no result of nccl-tests is in it' empty
sed '/Collective test/d' printed.txt >nameless.txt
not 'line 9: no line above it says which collective it is' nameless.txt
sed 's/all_reduce_perf/sendrecv_perf/' printed.txt >other.txt
not "line 2: 'sendrecv_perf' is not measured here" other.txt
cat printed.txt printed.txt >twice.txt
not 'line 20: a second run begins there: name a file for each' twice.txt
printed 4 "$bytes64k" "$good" >ranks.txt
not '65536 bytes: bus bandwidth 5.31 GB/s is not 1.5 times the algorithm bandwidth of 5.31 GB/s, as on 4 ranks' ranks.txt
sed '/^# *size/d' printed.txt >headless.txt
not 'there is no heading of nccl-tests above it' headless.txt
sed '/^ *65536/s/ *[0-9]*$//' printed.txt >short.txt
not 'line 10: it has 12 columns, its heading 13' short.txt
sed '/^ *65536/s/12[.]00/0.00/' printed.txt >zero.txt
not 'a time or a bandwidth is no number of 0 or more' zero.txt
not 'not JSON' "$(printf '{"version":3' >torn.json && echo torn.json)"
written version.json '"version":3' '"version":4'
not '"version"' version.json
written cputime.json '"time":12.34' '"cpu_time":12.34'
not 'its times are those of the CPU' cputime.json
written markup.json './build/all_reduce_perf' '<script>'
not "'<script>' is not measured here" markup.json
refuse 'leave out --beside' "$lockstep" report theirs.jsonl --beside printed.txt --format md
refuse 'beside is empty' "$lockstep" report theirs.jsonl --beside '' --out never
expect_status 0 "$lockstep" sweep $tiny --workload tutorial --mode plain --counts 1 --batch 8 --out steps.jsonl
refuse 'beside is of collectives, and there are none' "$lockstep" report steps.jsonl --beside printed.txt --out never
"$lockstep" check --only SPLIT-01.sizes --format json --out check.json >out 2>err || fail "$(cat err)"
refuse 'beside stands next to collectives or copies in record files' "$lockstep" report --check check.json --beside printed.txt --out never
echo 'nccl_tests: a command line means what it says, and its output stands beside ours'
