# `lockstep fleet`: which nodes are named, which are not, and the effect of files that others wrote.
#   fleet.sh LOCKSTEP FOLDER MAKE_RECORDS PYTHON [sanitized]
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/common.sh"
make_records=$3
python=$4

# fleet STATUS ARGUMENT...: lines have at most 80 columns, except where a hidden character is
# written as its code, and there is nothing on standard error.
fleet() {
    wanted=$1
    shift
    expect_status "$wanted" "$lockstep" fleet "$@"
    [ ! -s err ] || fail "words on standard error"
    ! grep -v '<U+' out | LC_ALL=C.UTF-8 grep -q '.\{81\}' || fail "more than 80 columns"
}

# make FOLDER NODES SEED [FAULT...]: makes verdicts; the names of the nodes with a fault are in the
# file planted.
make() {
    "$python" "$here/fleet_make.py" "$@" >planted || fail "make $*"
}

# named ARGUMENT...: all planted nodes are named, and no others.
named() {
    "$python" "$here/fleet_check.py" named "$lockstep" planted "$@" || fail "named: $*"
}

# Five faults in 256 nodes are all named, each with its kind, and no other node is named.
echo 'node[0001-0256]' >all
make five 256 1 reject slow torn missing driver
named five --expect all
fleet 1 five --expect all --out lists
prints 'REJECTED node0043: FAIL step_time of mlp:128,256 dp virt:8, 64 rows: is 1[12]\.[0-9]* ms, allowed is at most 9 ms; likely cause: not shown; do: end them'
prints 'OUTLYING node0085: step_time floor of mlp:256,256 dp virt:8, 64 rows, cpu, threads, f32: 2[0-9] % longer than the other 253 nodes: .* ms, and the median is'
prints '^Take out 4 of 256: node0043 (REJECTED: step_time [23][0-9] % longer than allowed), node0085 (step_time 2[0-9] % longer than the others), node0127 (BROKEN: its file cannot be read), node0169 (no verdict)[.] REJECTED'
prints ' 110 numbers were compared over 254 nodes[.] A node is named if it is more than 3 % worse and chance explains it in at most 1 of 20 fleets[.]'
grep -q '^<p class="verdict" id="answer"[^>]*>Take out 4 of 256: node0043 (REJECTED: step_time [23][0-9] % longer than allowed), ' lists/index.html || fail "the page has no answer"
expect_count 2 '<td [^>]*>step_time 2[0-9] % longer than the others; likely cause: not shown</td>' lists/index.html
expect_count 2 'allowed is at most 9 ms; likely cause: not shown; do: end them</td>' lists/index.html
expect_count 254 '^<circle cx="[0-9.]*%" cy="[0-9]*" r="[35]" fill="#[0-9a-f]*"><title>node[0-9]*: [0-9]* %</title></circle>$' lists/index.html
grep -q 'The axis is logarithmic; the lowest line is 1 % or less[.]' lists/index.html || fail "no logarithm"
! grep -q 'href="node' lists/index.html || fail "a link to a file that is not next to the page"
expect_count 2 '^<circle .* r="5" fill="#a8320a"><title>node0\(043\|085\): ' lists/index.html
expect_count 2 '^<text .*>node0\(043\|085\)</text>$' lists/index.html
expect_count 1 '<td [^>]*>OUTLYING: worse than its neighbours (keeps its limits)</td><td [^>]*data-name="Measured"' lists/index.html
prints 'BROKEN node0127: node0127.json: not JSON: line 1'
prints 'MISSING node0169: it has no verdict: there is no five/node0169[.]json, and no node0169[.]steps '
prints 'DRIFT node0211: software.gpu_software is driver 570.12, most have driver 580.65'
prints '256 nodes: 253 ACCEPTED, 1 REJECTED, 1 BROKEN, 1 MISSING; 2 outlying'
expect_status 1 "$lockstep" fleet five --expect all --format md
prints '^[*][*]Take out 4 of 256: node0043 (REJECTED: step.*_time [23][0-9] % longer than allowed), '
printf 'node%s\n' 0043 0085 0127 0169 | cmp - lists/failing_nodes.txt || fail "failing_nodes.txt"
sort lists/passing_nodes.txt lists/failing_nodes.txt >both
"$python" -c 'for i in range(1, 257): print("node%04d" % i)' | cmp - both || fail "not each node once"

# If all nodes are alike, none is named.
for seed in 11 12 13; do
    make alike$seed 64 $seed
    named alike$seed
    fleet 0 alike$seed --out lists
    [ ! -s lists/failing_nodes.txt ] || fail "seed $seed: $(cat lists/failing_nodes.txt)"
    expect_count 64 . lists/passing_nodes.txt
    prints '^Take out none of 64: all keep their limits, and none is shown to be worse (numbers compared: 110)[.]'
done

! grep -q 'slow alike' out || fail "limits that were not learned are not alone"
! grep -q 'The axis is' lists/index.html || fail "a logarithm of what is alike"

# Where all binding limits on speed were learned, nothing shows that all nodes are slow alike. A page
# next to the verdicts leads to them.
make learned 16 5
sed -i 's/"evidence": "measured"/"evidence": "learned"/g' learned/*.json
fleet 0 learned --out learned
prints ' Nodes are compared with each other and with learned limits: that all are slow alike would not show[.]'
expect_count 16 '<a href="node00[01][0-9].json">node00[01][0-9]</a></td>' learned/index.html

# one FAULT STATUS WORDS: in a fleet of 24, the node with the fault is named and no other.
one() {
    make "$1" 24 3 "$1"
    named "$1"
    fleet "$2" "$1"
    prints "$3"
}
one one_device 1 'OUTLYING node0013: device_spread floor of mlp:64,256 dp virt:8, 256 rows, .*, device 2: 6 % higher than the other 23 nodes: 1.06 x'
prints '^Take out 1 of 24: node0013 (device_spread 6 % higher than the others, device 2)'

# The page names that position, and no other.
fleet 1 one_device --out page
expect_count 1 'device 2: 6 % higher than' page/index.html
expect_count 0 'device [013-7]: [0-9]* %' page/index.html
expect_count 1 'OUTLYING: worse than its neighbours (keeps its limits)</td><td [^>]*data-name="Measured"' page/index.html
expect_count 1 '23 of 24 nodes pass' page/index.html

# badge TONE HEAD: the page has this badge. A badge is green if the nodes that were compared are
# alike: a single node or a broken one is not compared. That none differs is never amber.
badge() {
    expect_count 1 "^<li class=\"badge $1\"><b><span[^>]*>[^<]*</span> $2</b>" page/index.html
    expect_count 0 '^<li class="badge amber"><b><span[^>]*>[^<]*</span> 0 of [0-9]* nodes differ' page/index.html
}
make single 1 1
fleet 0 single --out page
prints '^Take out none of 1: it keeps its limits[.] Nodes were not compared: that takes at least 8 of them[.]'
expect_count 0 '<circle' page/index.html
badge good '1 of 1 nodes passes'
expect_count 1 '<li class="badge ' page/index.html
make whole 24 3
fleet 0 whole --out page
badge good '24 of 24 nodes pass'
badge good '0 outlying nodes'
badge good '0 of 24 nodes differ from most'
make part 24 3 torn
fleet 1 part --out page
prints '^Take out 1 of 24: node0013 (BROKEN: its file cannot be read)[.] Without --expect a node that has no verdict does not show[.] BROKEN'
expect_count 23 '<circle' page/index.html
badge bad '23 of 24 nodes pass'
badge good '0 of 23 nodes differ from most'
make other 24 3 model
fleet 0 other --out page
badge amber '1 of 24 nodes differs from most'

one future 3 'NOT SHOWN node0013: it is accepted, but it was measured on another day than most nodes: 2099-01-01T00:00:00Z, most have 2026-11-23T10:00:1[0-9]Z'
prints 'By profile made-up, SHA-256 333333333333, lockstep 1.0.0, commit c0ffee[.] Steps of most nodes: unknown[.] Measured 2026-11-23T10:00:01Z to 2099-01-01T00:00:00Z[.] 24 nodes: 23 ACCEPTED, 1 NOT SHOWN'
fleet 3 future --out page
expect_count 1 'By profile made-up, SHA-256 333333333333, lockstep 1.0.0, commit c0ffee[.] Steps of most nodes: unknown[.] Measured 2026-11-23T10:00:01Z to ' page/index.html
expect_count 2 '>2099-01-01T00:00:00Z</td>' page/index.html
expect_status 3 "$lockstep" fleet future --format csv
expect_count 1 ',"2099-01-01T00:00:00Z"' out
one no_date 1 "BROKEN node0013: .*: its measured_utc is '<b>6-11-23T10:00:00Z', no date"
one model 0 'DRIFT node0013: devices.3.model is Example 90, most have Example 100'
one not_shown 3 'NOT SHOWN node0013: OPEN step_time of .*, 128 rows: more launches can decide'
prints '^Take out none of 24[.] Measure 1 again: node0013 (NOT SHOWN: OPEN step_time)[.] Without --expect'
one profile 3 'NOT SHOWN node0013: it is accepted, but its limits are not those of most nodes: 40 limits, SHA'
one same_name 3 'NOT SHOWN node0013: it is accepted, but its profile is another file than that of most nodes: 4*, most have 3*'
one fewer_devices 3 'NOT SHOWN node0013: it is accepted, but its number of devices is not that of most nodes: 4, most have 8'
one few_cases 3 'NOT SHOWN node0013: it is accepted, but it passed other cases than most nodes: 1 of 76, most have 66 of 76'
one older 3 'NOT SHOWN node0013: it is accepted, but it is of a build and a clock that it does not name'
one dirty 3 'NOT SHOWN node0013: it is accepted, but it is of a changed tree on commit c0ffee'
one spared 3 'NOT SHOWN node0013: .*: 39 limits, SHA-256 [0-9a-f]*\.\.\., most have 40 limits'
one false 1 'BROKEN node0013: node0013.json: it is ACCEPTED, but its limits and cases show REJECTED'
one no_median 1 'BROKEN node0013: .*: limit 5: its median is missing, or not within lo and hi'
one outside 1 'BROKEN node0013: .*: limit 5: its median is missing, or not within'
one within 1 'BROKEN node0013: .*: limit 5: its verdict is FAIL, but its numbers show PASS'
one nothing 1 'BROKEN node0013: .*: it is ACCEPTED, but its limits and cases show NOT SHOWN'
prints '^Take out 1 of 24: node0013 (BROKEN: '
one other_version 1 "its schema is 'lockstep/verdict/2.0', this program knows lockstep/verdict/1.x"
one lame 1 'REJECTED node0013: FAIL device_spread of mlp:64,256 dp virt:8, 256 rows, device 2: is 1[.]5 x, allowed is at most 1[.]2 x'
prints '^Take out 1 of 24: node0013 (REJECTED: device_spread 25 % higher than allowed, device 2)'
one doubled 1 'BROKEN node0013: 2 files are of this node: again.json and node0013.json'
make copied 24 3 copied
echo node0013x >>planted
named copied
fleet 1 copied
prints 'BROKEN node0013: 2 nodes have one run, feedface0000000d: this file and node0013x.json come from one machine; only one can be judged: remove the other '
prints '^Take out 2 of 25: node0013 (BROKEN: node0013x has the same run), node0013x (BROKEN: node0013 has the same run)[.]'

make few0 8 5
# Steps of nodes: one that failed speaks against a verdict that is good; one that is torn is no step.
make steps 24 3
for i in $(seq -w 1 24); do printf '%s 0\n' devices check validate >"steps/node00$i.steps"; done
fleet 0 steps
prints '[.] Steps of most nodes: devices, check, validate[.] '
printf 'devices 0\ncheck 1\nvalidate 0\n' >steps/node0002.steps
printf 'devices 0\ncheck 77\nvalidate 0\n' >steps/node0003.steps
printf 'devices 0\nvalidate 0\n' >steps/node0004.steps
rm steps/node0005.steps
printf 'devices 0\ncheck 0 # all is well\n' >steps/node0006.steps
printf 'devices 0\ncheck 1\n' >steps/node0007.steps
printf 'devices 0\ncheck ' >steps/node0008.steps
printf 'devices 0\ncheck 1\nvalidate 0\n' >steps/node0009.steps
rm steps/node0007.json steps/node0008.json
echo '{"torn' >steps/node0009.json
mkdir steps/node0010x.steps
echo 'check 0' >'steps/a b.steps'
echo 'check 1' >'steps/<img>.steps'
fleet 1 steps --out page
prints 'REJECTED node0002: its steps: devices ok, check FAILED (1), validate ok '
prints 'NOT SHOWN node0003: its steps: devices ok, check skipped (77), validate ok '
prints 'NOT SHOWN node0004: it is accepted, but it ran other steps than most nodes: devices, validate, most have devices, check, validate '
prints 'NOT SHOWN node0005: it is accepted, but it ran other steps than most nodes: unknown, most have '
prints 'BROKEN node0006: node0006.json: its steps are not lines of a name and an exit status '
prints 'REJECTED node0007: its steps: devices ok, check FAILED (1); also, it has no verdict: there is no steps/node0007[.]json '
prints 'MISSING node0008: it has no verdict: there is no steps/node0008[.]json; its steps: devices ok, check did not end '
prints 'REJECTED node0009: its steps: devices ok, check FAILED (1), validate ok; also, node0009.json: not JSON'
prints 'BROKEN node0010x: node0010x.steps: its steps are no regular file '
prints 'BROKEN a b: a b.steps: its name is not safe'
prints 'node0008 (no verdict: check did not end)'
prints ' 27 nodes: 16 ACCEPTED, 4 REJECTED, 3 NOT SHOWN, 3 BROKEN, 1 MISSING '
expect_count 16 . page/passing_nodes.txt
! grep -q '<img' page/index.html || fail "a name is HTML in the page"
expect_count 1 '>devices ok, check skipped (77), validate ok</td>' page/index.html
expect_status 1 "$lockstep" fleet steps --format csv
expect_count 1 ',"devices ok, check did not end"' out

# What no step and no case has tested is not shown to be right, however fast it is. One node ran both
# steps, and one of the others skipped soak.
make untested 10 3
sed -i 's/"conformance": {[^}]*}/"conformance": null/' untested/*.json
fleet 3 untested --out page
prints '^Take out none of 10, but correctness was not tested on 10[.] Measure 10 again: node\[0001-0010\] (NOT SHOWN: correctness not tested)[.] Without --expect'
prints 'NOT SHOWN node0001 and 9 more: it is accepted, but whether it computes right was not tested: neither by steps check and soak (unknown) nor by cases that its profile requires'
[ ! -s page/passing_nodes.txt ] || fail "untested nodes pass"
for i in $(seq -w 1 10); do printf '%s 0\n' check validate >"untested/node00$i.steps"; done
fleet 3 untested
prints ' (check ok, validate ok) nor by cases'
for i in $(seq -w 1 10); do printf 'check 0\nsoak 0: nothing found; speed not judged: 42 iterations, 80 needed\nvalidate 0\n' >"untested/node00$i.steps"; done
fleet 0 untested --out page
prints '^Take out none of 10 (of those that pass, none ran devices, selftest, copies; soak judged no speed on 10): all keep their limits'
expect_count 1 '>Take out none of 10 (of those that pass, none ran devices, selftest, copies; soak judged' page/index.html
# Steps that nearly all ran; a single device copies to no other.
mkdir ran
cp untested/*.json ran
for i in $(seq -w 1 10); do printf '%s 0\n' devices selftest check copies soak validate >"ran/node00$i.steps"; done
fleet 0 ran
prints '^Take out none of 10: all keep their limits'
sed -i /copies/d ran/*.steps
fleet 0 ran
prints '^Take out none of 10 (of those that pass, none ran copies): all keep their limits'
echo 'copies 0' >>ran/node0001.steps
fleet 3 ran
prints '^Take out none of 10 (of those that pass, none ran copies)[.] Measure 1 again: node0001 '
sed -i 's/"devices": \[\({[^}]*}\)[^]]*\]/"devices": [\1]/' ran/*.json
rm ran/node0001.*
fleet 0 ran
prints '^Take out none of 9: all keep their limits'
mkdir nospeed
cp untested/*.steps nospeed
"$python" - <<'EDIT'
import json, pathlib
for path in pathlib.Path("untested").glob("*.json"):
    node = json.loads(path.read_text())
    for limit in node["limits"]:
        limit["binding"] = limit["unit"] == "1"
    node["binding"]["PASS"] = sum(limit["binding"] for limit in node["limits"])
    pathlib.Path("nospeed", path.name).write_text(json.dumps(node))
EDIT
fleet 3 nospeed
prints '^Take out none of 10[.] Measure 10 again: node\[0001-0010\] (NOT SHOWN: speed not judged: more minutes, or a profile with a limit on speed that binds)[.] Without --expect'
expect_count 10 '>check ok, soak ok: nothing found; speed not judged: 42 iterations, 80 needed, validate ok</td>' page/index.html
printf 'check 0\nsoak 77\nvalidate 0\n' >untested/node0004.steps
printf 'check 1: <b>adds twice\n' >untested/node0005.steps
fleet 1 untested
prints 'NOT SHOWN node0004: its steps: check ok, soak skipped (77), validate ok '
prints 'REJECTED node0005: its steps: check FAILED (1): <b>adds twice '

# The last sentence of a check that failed is shown up to the case to begin with.
rm untested/node0005.json
printf 'devices 0\nselftest 0\ncheck 1: 448 of 536 cases passed, 30 failed, 58 skipped (16 because of too few devices: they need up to 10; 19 not offered: transfers, memory, unlike_ranks, strides, double, half, scalars, calls); begin with GRAD-03.network: what fails in later areas may follow from it (30.4 s)\n' >untested/node0005.steps
fleet 1 untested
prints ' begin with GRAD-03.network: what fails in later areas may follow from it (30.4 s); also, it has no verdict: '

# A node that is REJECTED is called so, whatever else is wrong: one of two files, or one run of two nodes.
make twice 24 3 reject
sed 's/"node0013"/"node0014"/' twice/node0013.json >twice/again.json
fleet 1 twice
prints 'REJECTED node0013: FAIL step_time of .*; also, 2 nodes have one run, '
prints 'REJECTED node0014: FAIL step_time of .*; also, 2 files are of this node: again.json and node0014.json'

# The rehearsal: what is planted is what is found.
rm -rf rehearsal
"$here/../../../scripts/rehearse" rehearsal >planted || fail 'scripts/rehearse'
fleet 1 rehearsal --expect rehearsal/expected.txt
prints ' 32 nodes: 24 ACCEPTED, 2 REJECTED, 3 NOT SHOWN, 1 BROKEN, 2 MISSING; 2 outlying '
while read -r node words; do
    case $words in 'NOT SHOWN'*) words='NOT SHOWN' ;; *) words=${words%% *} ;; esac
    grep -q "^$words *$node: " out || fail "$node is not $words"
done <planted
[ "$(wc -l <planted)" -eq 10 ] || fail "planted: $(cat planted)"
prints 'REJECTED node06: .*; do: look at device 1: clock, cooling; mend, then measure once'
fleet 1 rehearsal --expect rehearsal/expected.txt --out page
grep -q ' Nodes without a dot: 4, with no number that enough others have: node09, node12, node15, node18</p>' page/index.html || fail "which have no dot"
takes=$(sed -n 's/.*# takes out \([0-9]*\).*/\1/p' "$here/../../../docs/accept.md")
prints "^Take out $takes of 32: "
# A node of one's own is slow, or wrong.
expect_status 0 "$lockstep" validate check rehearsal/small.yaml
if [ $# -lt 5 ] && [ "$(nproc)" -ge 2 ]; then
    for planted in 'slow@1/1/300|product_spread ' 'row@1/0|wrong numbers'; do
        rm -f mine.jsonl
        expect_status 1 "$lockstep" sweep --devices "virt:2+fault:${planted%|*}" --counts 2 --mode ddp --workload mlp:64,64 \
            --batch 64 --launches 6 --seconds 0.01 --parts 0.02 --bind none --out mine.jsonl
        expect_status 1 "$lockstep" validate --allow-dirty --profile rehearsal/small.yaml --node mine --format json mine.jsonl
        cp out rehearsal/mine.json
        fleet 1 rehearsal
        prints "[ ,]mine (REJECTED: ${planted#*|}"
    done
fi

# No single edit of a verdict is believed, and a run never counts for more than one node.
"$python" "$here/fleet_check.py" edited "$lockstep" few0 || fail "an edited verdict"
"$python" "$here/fleet_check.py" copied "$lockstep" few0 || fail "one run as ten nodes"

# Half of the fleet has other limits: neither half's limits are those of the fleet, so no node is
# shown to keep them.
make half 8 5
for i in 1 3 5 7; do
    sed -i 's/"max": 1500000.0/"max": 3000000.0/' half/node000$i.json
done
fleet 3 half --out page
badge amber '1 fact without a majority'
prints '8 nodes: 8 NOT SHOWN *$'
prints '^Take out none of 8[.] Measure 8 again: node\[0001-0008\] (NOT SHOWN: no majority has its limits)[.] Without --expect'
prints 'SPLIT limits: 2 values, and none is that of more than half; 4 nodes have 40 limits'
prints 'NOT SHOWN node0001 and 7 more: '

# A list of names is given: a missing node fails, an unexpected one is named.
make few 8 5
fleet 0 few
printf '# the rack\nnode[0001-0007], # blanks and comments\r\n' | sed 's/, #/ #/' >list
fleet 0 few --expect list
prints 'UNEXPECTED node0008: it has a verdict, and is not expected'
# The lists are for a scheduler, which refuses a name that it does not know.
make unasked 8 5 lame
echo 'node[0001-0004]' >half.list
fleet 1 unasked --expect half.list --out lists
prints '^Take out 1 of 8: node0005 (REJECTED'
[ "$(cat lists/passing_nodes.txt lists/failing_nodes.txt | tr '\n' ' ')" = 'node0001 node0002 node0003 node0004 ' ] ||
    fail "the lists have $(cat lists/*.txt)"
# Of a commit or a digest 12 digits are shown.
cp -r few commits
sed -i "s/\"commit\": \"c0ffee\"/\"commit\": \"$(printf %040d 7)-dirty\"/" commits/node0003.json
fleet 0 commits
prints 'DRIFT node0003: judged_by.commit is 000000000000-dirty, most have c0ffee '
printf 'login1,node[0001-0008]\n' >list
fleet 1 few --expect list
prints 'MISSING login1: it has no verdict: there is no few/login1[.]json, and no login1[.]steps '
prints '9 nodes: 8 ACCEPTED, 1 MISSING *$'
printf 'login1,node[0001-0012]\n' >list
fleet 1 few --expect list
prints '^Take out 5 of 13: login1, node\[0009-0012\] (no verdict)[.] MISSING '
fleet 0 few --out page
for form in text md; do
    expect_status 0 "$lockstep" fleet few --format $form
    prints 'Without --expect a node that has no verdict does not show[.]'
done
expect_count 1 'Without --expect a node that has no verdict does not show[.]</p>' page/index.html
refuse "list:1: 'a b' is no name of a node" sh -c 'echo "a b" >list; "$1" fleet few --expect list' - "$lockstep"
refuse "list:2: 'n\[2-1\]': '2-1' is no range" sh -c 'printf "a\nn[2-1]\n" >list; "$1" fleet few --expect list' - "$lockstep"
refuse 'cannot read .no/list' "$lockstep" fleet few --expect no/list

# Names that a scheduler would read as something else are refused, named, and never written.
other() {
    echo ";s/feedface0/feedface$1/;s/: \"0\{52\}/: \"$(printf '%052d' "$1")/g"
}
make hostile 8 6
sed 's/"node0001"/"a,b"/'"$(other 1)" hostile/node0001.json >hostile/comma.json
sed 's/"node0001"/"$(touch pwned)"/'"$(other 2)" hostile/node0001.json >hostile/shell.json
sed 's/"node0001"/"x\\u001b[31m\\nnode0001"/'"$(other 3)" hostile/node0001.json >hostile/line.json
sed 's/"node0001"/"=1+1|<b>"/'"$(other 4)" hostile/node0001.json >hostile/sheet.json
sed 's/"node0001"/"-v"/'"$(other 5)" hostile/node0001.json >hostile/dash.json
sed 's/"node": "node0001", //'"$(other 6)" hostile/node0001.json >hostile/plain.json
sed 's/"node": "node0001", //'"$(other 7)" hostile/node0001.json >'hostile/a b.json'
sed 's/"driver 580.65"/"<script>|\\u001b[2J\\u202e"/' -i hostile/node0002.json
mkdir hostile/folder.json
printf '\0\0' >hostile/zero.json
: >hostile/empty.json
mkfifo hostile/pipe.json
printf '{"schema": "lockstep/verdict/1.0", "schema": "lockstep/verdict/1.0"}' >hostile/twice.json
printf '[1]' >hostile/list.json
head -c 2000000 /dev/zero | tr '\0' '[' >hostile/deep.json
echo '{"torn' >hostile/.hidden.json
fleet 1 hostile --out lists
prints 'BROKEN a,b: comma.json: its name is not safe in a list of nodes'
prints 'BROKEN $(touch pwned): shell.json: its name is not safe'
prints 'BROKEN x?\[31m?node0001: line.json: its name is not safe'
prints 'BROKEN -v: dash.json: its name is not safe'
prints 'BROKEN a b: a b.json: its name is not safe'
prints 'BROKEN folder: folder.json: it is not a regular file'
prints 'BROKEN pipe: pipe.json: it is not a regular file'
prints 'BROKEN empty: empty.json: it has 0 bytes'
prints 'BROKEN deep: deep.json: it has 2000000 bytes'
prints 'BROKEN twice: twice.json: not JSON: line 1: duplicate object key'
prints 'BROKEN list: list.json: it is no verdict'
prints 'DRIFT node0002: software.gpu_software is <script>|?\[2J<U+202E>, most have driver 580.65'
prints '22 nodes: 9 ACCEPTED, 13 BROKEN'
printf '%s\n' deep empty folder list pipe twice zero | cmp - lists/failing_nodes.txt ||
    fail "failing: $(cat lists/failing_nodes.txt)"
expect_count 9 . lists/passing_nodes.txt
! grep -v '^[A-Za-z0-9._-]*$' lists/*.txt || fail "a name that is not safe was written"
! grep -q '<script\|<b>1\||<b>' lists/index.html || fail "what others wrote is HTML in the page"
grep -q '&lt;script&gt;|?\[2J&lt;U+202E&gt;' lists/index.html || fail "the page does not say what differs"
! LC_ALL=C grep -q "$(printf '[\001-\010\013\014\016-\037]')" lists/index.html || fail "control characters"
if command -v xmllint >/dev/null; then xmllint --noout lists/index.html || fail "the page is not well-formed"; fi
for format in text json csv md; do
    expect_status 1 "$lockstep" fleet hostile --format $format
    ! LC_ALL=C grep -q "$(printf '[\001-\010\013\014\016-\037]')" out || fail "$format: control characters"
done
! grep -q '<script>\||<b>' out || fail "HTML in Markdown"
expect_status 1 "$lockstep" fleet hostile --format csv
grep -q '^"'"'"'=1+1|<b>","BROKEN",no,,0,0,0,"sheet.json",' out || fail "a formula"
[ ! -e pwned ] || fail "a name was run"
"$python" - <<'CHECK' || fail 'not the right CSV'
import csv
rows = list(csv.DictReader(open("out", newline="")))
assert len(rows) == 22 and {len(row) for row in rows} == {12}
assert sum(row["passes"] == "yes" for row in rows) == 9
CHECK

# Misuse, and verdicts with nothing to judge.
mkdir none
refuse "'none' has no verdict: no file NAME.json" "$lockstep" fleet none
# If no expected node has a verdict, all of them fail, in all forms.
echo 'node[0001-0032]' >rack
fleet 1 none --expect rack --out page
prints '^Take out 32 of 32: node\[0001-0032\] (no verdict)[.]'
prints ' 32 nodes: 32 MISSING *$'
prints ' No node has a verdict that can be read[.] '
! grep -q "SHA-256 unknown" page/index.html || fail "the page says unknown"
expect_count 32 . page/failing_nodes.txt
expect_count 0 . page/passing_nodes.txt
expect_count 1 '>Take out 32 of 32: node\[0001-0032\] (no verdict)[.]<' page/index.html
badge bad '0 of 32 nodes pass'
for format in json csv md; do expect_status 1 "$lockstep" fleet none --expect rack --format $format; done
# A fleet that cannot be judged leaves no list of another day, by which nodes would pass.
for wrong in "none" "no/such" "few --expect no/list"; do
    fleet 0 few --out old
    # shellcheck disable=SC2086 # several words
    expect_status 2 "$lockstep" fleet $wrong --out old
    [ -z "$(ls old)" ] || fail "fleet $wrong leaves $(ls old)"
done
refuse "cannot read the folder 'no/such'" "$lockstep" fleet no/such
refuse 'name the folder' "$lockstep" fleet
refuse "'b' is a second one" "$lockstep" fleet five b
refuse 'unknown format "xml"' "$lockstep" fleet five --format xml
refuse "cannot make the directory 'all/x'" "$lockstep" fleet five --out all/x

# If lists cannot be written, those of an earlier day are not left.
mkdir -p blocked/passing_nodes.txt
echo of another day >blocked/index.html
refuse "cannot write 'blocked/passing_nodes.txt'" "$lockstep" fleet few --out blocked
[ ! -e blocked/index.html ] || fail "the page of another day is still there"

# A real verdict is a fleet of one.
"$make_records" old old.jsonl
cat >p.yaml <<'PROFILE'
schema: lockstep/profile/1.0
name: p
match: {cores: 4}
requires: {launches: 6}
limits:
  - metric: step_time
    statistic: typical
    max: 5.7 us
    at: {workload: tutorial, mode: dp, devices: 2, batch: 30}
    kind: binding
    source: made up
    date: 2026-11-23
    evidence: measured
PROFILE
mkdir real
"$lockstep" validate --profile p.yaml --format json old.jsonl >one.json
grep -q '"samples_sha256": "[0-9a-f]\{64\}",' one.json || fail "no digest of samples: $(cat one.json)"
# These records name no machine.
mkdir unnamed
cp one.json unnamed/
fleet 1 unnamed
prints 'BROKEN one: one.json: its machine_instance has the length 0'
sed 's/\("machine_instance": "\)/\1m/' one.json >real/one.json
printf '%s 0\n' check soak >real/one.steps
fleet 0 real
prints '1 node: 1 ACCEPTED'
prints '1 number was not compared, because fewer than 8 nodes have it[.]'
sed 's/5.7 us/5 us/' p.yaml >q.yaml
"$lockstep" validate --profile q.yaml --format json old.jsonl | sed 's/\("machine_instance": "\)/\1m/' >real/one.json
fleet 1 real
prints 'REJECTED one: FAIL step_time of tutorial dp virt:2, 30 rows: is 5.* us, allowed is at most 5 us'

# The largest fleet, and one more node. The cost is printed; memory under sanitizers does not
# matter.
if [ $# -lt 5 ]; then
    make many 2000 9
    "$python" "$here/fleet_check.py" cost "$lockstep" 300 many --out lists || fail 'the cost of 2000 nodes'
    echo >many/x.json
    refuse 'more than 2000 verdicts' "$lockstep" fleet many
    rm -r many
fi
