# The copies that --parts measures, and the results of nvbandwidth for the same copies next to them.
# copies.sh LOCKSTEP FOLDER
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" sweep --devices virt:2 --bind none --seconds 0.01 --seed 3 --workload mlp:7,5,4 --mode dp \
    --counts 1,2 --batch 8 --launches 3 --parts 0.01 --out measured.jsonl

# ---- copies of known speeds ----------------------------------------------------------------------

# lists NS...: prints arrays of samples of which each NS is the median.
lists() {
    arrays=
    for ns; do
        case $ns in
        0) arrays="$arrays,[0,0,0]" ;;
        *) arrays="$arrays,[$((7 * ns)),$ns,16384]" ;;
        esac
    done
    echo "[${arrays#,}]"
}

# parts COPY FROM_HOST TO_HOST MEMORY: prints that object of a record, from lists of times.
parts() {
    copy=
    [ -z "$1" ] || copy="\"copy\":{\"work\":16777216,\"ns\":$(lists $1)},"
    echo "\"parts\":{$copy\"from_host\":{\"work\":67108864,\"ns\":$(lists $2)},\"to_host\":{\"work\":67108864,\"ns\":$(lists $3)},\"memory\":{\"work\":134217728,\"ns\":$(lists $4)}}"
}

# with_parts LAUNCH DEVICES PARTS: prints a command for sed.
with_parts() {
    echo "/\"n_devices\":$2,.*\"launch\":$1[,}]/s/\"parts\":{\(\"[a-z_]*\":{[^}]*},\{0,1\}\)*}/$3/"
}

# The launch in the middle has 6.4 GB/s from 0 to 1 and 12.8 back, 8 and 4 from the host, 2 and 1 to
# it, and 16 and 32 within a device; the others have half and twice as much.
{
    with_parts 0 2 "$(parts '0 5242880 2621440 0' '16777216 33554432' '67108864 134217728' '8388608 4194304')"
    with_parts 1 2 "$(parts '0 2621440 1310720 0' '8388608 16777216' '33554432 67108864' '4194304 2097152')"
    with_parts 2 2 "$(parts '0 1310720 163840 0' '4194304 8388608' '16777216 33554432' '2097152 1048576')"
    for launch in 0 1 2; do
        with_parts $launch 1 "$(parts '' 33554432 67108864 2097152)"
    done
    printf '%s\n' 's/"\(wall\|launch\)_ns":[0-9]*/"\1_ns":9000000000/g; /"lockstep.end/s/"seconds":[0-9.]*/"seconds":99/'
} >edit.sed
sed -f edit.sed measured.jsonl | sed 's/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//' >copies.jsonl # not sealed
expect_count 3 '"copy":{"work":16777216,"ns":\[\[0,0,0\],\[' copies.jsonl
expect_count 3 '"memory":{"work":134217728,"ns":\[\[14680064,2097152,16384\]\]}' copies.jsonl

# table STATUS OPTION...: makes the table of report, which ends with that status. Where unseen is
# set it hides gnuplot: then there are no figures, which take long, and their lack gives status 1.
unseen=
table() {
    wanted=$1
    shift
    expect_status "$wanted" $unseen "$lockstep" report copies.jsonl "$@" --out page
    sed -n '/^## Copies, GB.s$/,/^## /p' page/summary.md >rows
    [ "$(grep -c 'id="copies"' page/index.html)" -eq 1 ] || fail "the page has no table"
}

# has LINE: the table has the line.
has() {
    grep -qxF -- "$1" rows || fail "no line '$1': $(cat rows)"
}

table 0
has '**virt:2, cpu/threads, 3 launches**'
has '| From | to host | to 0 | to 1 |'
has "| host |  | 8.00 | 4.00 |"
has "| 0 (virt:0) | 2.00 | 16.0 | 6.40 |"
has "| 1 (virt:1) | 1.00 | 12.8 | 32.0 |"
# A single device has no other one to copy to.
has '**virt:1, cpu/threads, 3 launches**'
has '| From | to host | to 0 |'
has "| host |  | 2.00 |"
has "| 0 (virt:0) | 1.00 | 32.0 |"
[ "$(grep -c '^| [h0-9]' rows)" -eq 5 ] || fail "not 5 lines: $(cat rows)"

# Without copies there is no table, and no place for other results.
expect_status 0 "$lockstep" sweep --devices virt:2 --bind none --seconds 0.01 --seed 3 --workload tutorial --mode plain \
    --counts 1 --batch 8 --out without.jsonl
expect_status 0 "$lockstep" report without.jsonl --out without
if grep -q 'id="copies"' without/index.html || grep -q '^## Copies' without/summary.md; then
    fail "a table of copies that nobody measured"
fi

# ---- what nvbandwidth wrote ----------------------------------------------------------------------

# written NAME OLD NEW: writes a file like json_output.cpp of nvbandwidth 0.8, with a change in one
# place.
written() {
    sed "s|$2|$3|" >"$1" <<'JSON'
{
	"nvbandwidth" : 
	{
		"CUDA Runtime Version" : 13000,
		"Driver Version" : "580.95.05",
		"GPU Device list" : 
		[
			"0: NVIDIA H100 80GB HBM3 (00000000:19:00): (node)",
			"1: NVIDIA H100 80GB HBM3 (00000000:3b:00): (node)"
		],
		"git_version" : "unknown",
		"testcases" : 
		[
			{ "bandwidth_description" : "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "10", "8" ] ],
				"name" : "host_to_device_memcpy_ce", "status" : "Passed", "sum" : 18.0 },
			{ "bandwidth_description" : "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "4", "5" ] ],
				"name" : "device_to_host_memcpy_ce", "status" : "Passed", "sum" : 9.0 },
			{ "bandwidth_description" : "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "9", "9.5" ] ],
				"name" : "host_to_device_bidirectional_memcpy_ce", "status" : "Passed", "sum" : 18.5 },
			{ "bandwidth_description" : "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "N/A", "25" ], [ "80", "N/A" ] ],
				"name" : "device_to_device_memcpy_read_ce", "status" : "Passed", "sum" : 105.0 },
			{ "bandwidth_description" : "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "N/A", "16" ], [ "20", "N/A" ] ],
				"name" : "device_to_device_memcpy_write_ce", "status" : "Passed", "sum" : 36.0 },
			{ "bandwidth_description" : "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "N/A", "14" ], [ "15", "N/A" ], [ "N/A", "14" ], [ "15", "N/A" ],
					[ "N/A", "28" ], [ "30", "N/A" ] ],
				"name" : "device_to_device_bidirectional_memcpy_read_ce", "status" : "Passed", "sum" : 58.0 },
			{ "name" : "all_to_one_write_ce", "status" : "Waived" },
			{ "bandwidth_description" : "memcpy local GPU(column) bandwidth (GB/s)",
				"bandwidth_matrix" : [ [ "32", "40" ] ],
				"name" : "device_local_copy", "status" : "Passed", "sum" : 72.0 }
		],
		"version" : "v0.8"
	},
	"testcases" : null
}
JSON
}
written written.json same same
table 0 --beside written.json
has '| From | Number | to host | to 0 | to 1 |'
has "| host | here |  | 8.00 | 4.00 |"
has "| host | nvbandwidth |  | 10.0 | 8.00 |"
has "| host | ratio |  | 0.80 | 0.50 |"
has "| 0 (virt:0) | nvbandwidth | 4.00 | 32.0 | 16.0 |"
has "| 0 (virt:0) | ratio | 0.50 | 0.50 | 0.40 |"
has "| 1 (virt:1) | nvbandwidth | 5.00 | 20.0 | 40.0 |"
has "| 1 (virt:1) | ratio | 0.20 | 0.64 | 0.80 |"
# In the matrix of read_ce a row is the device that gets the data.
has "| 0 (virt:0) | nvbandwidth, read | - | - | 80.0 |"
has "| 0 (virt:0) | ratio, read | - | - | 0.080 |"
has "| 1 (virt:1) | nvbandwidth, read | - | 25.0 | - |"
has "| 1 (virt:1) | ratio, read | - | 0.51 | - |"
# A single device is next to the same numbers.
has "| 0 (virt:0) | ratio | 0.25 | 1.00 |"
# Both directions at once, two numbers with the host and six between devices, are not measured here.
grep -q '^1 test of nvbandwidth was not run there[.] 8 results of nvbandwidth have no counterpart here[.] From the end' rows ||
    fail "$(tail -n 3 rows)"
grep -q '^lockstep report: --beside: 1 test of nvbandwidth was not run there[.] 8 results of' err || fail "$(cat err)"

# A GPU with the same number at another place of the bus is another one.
sed 's/"bus":""/"bus":"0000:19:00.0"/2; s/"bus":""/"bus":"0000:19:00.0"/' copies.jsonl >places.jsonl
unseen="env PATH=." # the folder of the test
expect_status 1 $unseen "$lockstep" report places.jsonl --beside written.json --out page
grep -q 'virt:1 is the GPU at 0000:19:00[.]0 here, and that at 0000:3b:00 in nvbandwidth.s file' err || fail "$(cat err)"
! grep -q 'virt:0 is the GPU' err || fail "it is that GPU"

# The file has more devices than the record: two numbers with the host, one within, and with three
# devices four pairs, in both directions.
written three.json '"8" \] \]' '"8", "7" ] ]'
sed -i 's/"5" \] \]/"5", "6" ] ]/; s/"32", "40"/"32", "40", "48"/
    s/\[ "N.A", "25" \], \[ "80", "N.A" \]/[ "N\/A", "25", "1" ], [ "80", "N\/A", "1" ], [ "1", "1", "N\/A" ]/
    s/\[ "N.A", "16" \], \[ "20", "N.A" \]/[ "N\/A", "16", "1" ], [ "20", "N\/A", "1" ], [ "1", "1", "N\/A" ]/' three.json
table 1 --beside three.json
unseen=
has "| 1 (virt:1) | nvbandwidth | 5.00 | 20.0 | 40.0 |"
grep -q '19 results of nvbandwidth have no counterpart here' rows || fail "$(tail -n 3 rows)"

# An error of nvbandwidth is no pass.
written error.json '"status" : "Passed", "sum" : 9.0' '"status" : "Error"'
table 1 --beside error.json
grep -q '^1 test of nvbandwidth ended with an error, the first is device._to._host._memcpy._ce[.] ' rows || fail "$(tail -n 3 rows)"
grep -q '^lockstep report: --beside: 1 test of nvbandwidth ended with an error' err || fail "$(cat err)"
grep -q '<li>nvbandwidth ended with an error' page/index.html || fail "not at the top of the page"
has "| 0 (virt:0) | ratio | - | 0.50 | 0.40 |"
# A copy with wrong data ends the program while its test runs.
written stopped.json '"sum" : 72.0 }$' '"sum" : 72.0 }, { "name" : "host_to_device_memcpy_sm", "status" : "Running" }'
sed -i 's|"git_version"|"error" : "ASSERT in expression \\n<b>isEqual</b>", "git_version"|' stopped.json
unseen="env PATH=." # the folder of the test
table 1 --beside stopped.json
grep -q '^nvbandwidth ended with an error: ASSERT in expression .*isEqual' rows || fail "$(tail -n 3 rows)"
grep -q 'host.to.device.memcpy.sm of nvbandwidth did not come to its end' err || fail "$(cat err)"
! grep -q '<b>isEqual' page/index.html || fail "the page has markup of the file"

# ---- what cannot be ------------------------------------------------------------------------------

# not WORDS FILE
not() {
    refuse "$1" "$lockstep" report copies.jsonl --beside "$2" --out never
    [ ! -e never ] || fail "a page was made: $2"
}
written fast.json '"10"' '"fast"'
not 'test 1: host_to_device_memcpy_ce: "fast" is no bandwidth above 0 and up to 1e+06 GB/s, and not N/A' fast.json
for value in nan inf -3 0 1e7 '3 '; do
    written value.json '"10"' "\"$value\""
    not "\"$value\" is no bandwidth above 0" value.json
done
written bare.json '"10"' '10'
not 'an element of "bandwidth_matrix" is no text' bare.json
written rows.json '\[ \[ "10", "8" \] \]' '[ [ "10", "8" ], [ "10", "8" ] ]'
not '"bandwidth_matrix" has 2 rows of 2 columns, not 1' rows.json
written columns.json '\[ "80", "N/A" \]' '[ "80" ]'
not 'row 1 of "bandwidth_matrix" has 1 columns, row 0 has 2' columns.json
written empty.json '\[ \[ "10", "8" \] \]' '[]'
not '"bandwidth_matrix" has 0 columns, 1 to 256 are allowed' empty.json
written differs.json '\[ \[ "4", "5" \] \]' '[ [ "4", "5", "6" ] ]'
not 'test 2: device_to_host_memcpy_ce: "bandwidth_matrix" is of 3 devices, one before it of 2' differs.json
written matrix.json '\[ \[ "10", "8" \] \]' '"10"'
not '"bandwidth_matrix" is missing or no array' matrix.json
written twice.json device_to_host_memcpy_ce host_to_device_memcpy_ce
not 'test 2: host_to_device_memcpy_ce: it has results twice' twice.json
written status.json Waived Fine
not 'all_to_one_write_ce: "status" is "Fine"; allowed are Passed, Error, Waived, Not Found and Running' status.json
written nameless.json '"name" : "device_local_copy"' '"name" : 4'
not 'test 8: "name" is missing or no text' nameless.json
echo '{"nvbandwidth":{"testcases":[]}}' >none.json
not 'it has no test' none.json
echo '{"nvbandwidth":{"testcases":{}}}' >object.json
not '"testcases" is no array' object.json
echo '{"bandwidth":{}}' >other.json
not 'it is JSON of neither nccl-tests nor nvbandwidth' other.json
echo 'nvbandwidth Version: v0.8' >text.txt
not 'it is the text of nvbandwidth: its JSON is read here, which -j writes' text.txt
echo 'hello' >hello.txt
not 'no result of nccl-tests is in it, nor is it the JSON of nvbandwidth' hello.txt
head -n 12 written.json >torn.json
not 'not JSON' torn.json
refuse 'written.json: it is a second file of nvbandwidth, and one is allowed' \
    "$lockstep" report copies.jsonl --beside three.json --beside written.json --out never
refuse 'beside is of copies, which `lockstep sweep --parts` measures, and there are none' \
    "$lockstep" report without.jsonl --beside written.json --out never
echo 'copies: they are in one table, and what it wrote stands beside them'
