# Standalone collectives: they are measured by size, verified in every iteration, and a flipped bit
# is found and named. Their records are resumed, reported and compared, apart from those of
# training.
. "$(dirname "$0")/common.sh"

grid='--bind none --devices virt:4 --counts 2,4 --sizes 4,8:4Ki:x32,1000 --communicator threads,staged'
fast='--seed 7 --seconds 0.001 --steps 2:4'
cell='"schema":"lockstep/cell/1.1"'

# ---- a sweep -----------------------------------------------------------------------------------

expect_status 0 "$lockstep" sweep --collective allreduce,broadcast $grid $fast --launches 2 --out all.jsonl
expect_count 64 "$cell.*\"status\":\"ok\"" all.jsonl
[ "$(cell_ids all.jsonl | uniq | wc -l)" -eq 64 ] || fail "two cells have one id"
expect_count 16 '"workload":"allreduce".*"devices":"virt:4".*"bus_factor":1.5,' all.jsonl
expect_count 16 '"workload":"allreduce".*"devices":"virt:2".*"bus_factor":1.0,' all.jsonl
expect_count 32 '"workload":"broadcast".*"bus_factor":1.0,' all.jsonl
# The table has a line for each size, for both launches together.
expect_count 1 '^collective  *type  *on communicator .* algbw .* busbw right$' err
expect_count 32 '^\(allreduce\|broadcast\)  *f32  *[24] .* 2/2$' err
expect_count 1 '^allreduce  *f32  *4 threads  *in  *1000 .* 2/2$' err
tr -s '\n ' '  ' <err >said
expect_count 1 ' \(allreduce\|broadcast\) with [0-9]* bytes on [24] devices.*: bus bandwidth [0-9.]* [kMG]*B/s[.] ' said
expect_count 64 ' verified .* \(left\|oversubscribed\)$' err

# The default is every collective, and out of place because one of them needs it; the options are
# read back from the header.
expect_status 0 "$lockstep" sweep --mode collective --bind none --devices virt:2 --sizes 8 $fast \
    --out both.jsonl
expect_count 5 "$cell.*\"status\":\"ok\"" both.jsonl
expect_count 1 '"command":"[^"]*--mode collective --counts 2 --collective allreduce,broadcast,allgather,reducescatter,alltoall --type f32 --sizes 8 --out-of-place 1 ' both.jsonl

# Collectives in blocks, in place and out of place, of odd numbers: 1 and 83 for each of 3 or 4
# devices.
expect_status 0 "$lockstep" sweep --collective allgather,reducescatter --out-of-place 0,1 \
    --bind none --devices virt:4 --counts 3,4 --sizes 48,3984 --communicator threads,staged $fast \
    --out blocks.jsonl
expect_count 32 "$cell.*\"status\":\"ok\"" blocks.jsonl
[ "$(cell_ids blocks.jsonl | uniq | wc -l)" -eq 32 ] || fail "two cells have one id"
expect_count 16 '"devices":"virt:4".*"bus_factor":0.75,' blocks.jsonl
expect_count 16 '"out_of_place":1[,}]' blocks.jsonl
expect_count 8 '^reducescatter  *f32  *[34] .* out  .* 1/1$' err
# Other types: bf16 is moved, also an odd number of them.
for type in f64 i32; do
    expect_status 0 "$lockstep" sweep --mode collective --type $type --bind none --devices virt:3 \
        --counts 3 --sizes 2424 --communicator threads,staged $fast --out type-$type.jsonl
    expect_count 10 "$cell.*\"dtype\":\"$type\".*\"status\":\"ok\"" type-$type.jsonl
    expect_status 1 "$lockstep" sweep --collective reducescatter --type $type --bind none \
        --devices 'virt:4+fault:flip@9/2' --counts 4 --sizes 4000 --seconds 0.001 --steps 8:8 \
        --warmup 5:0 --out flip-$type.jsonl
    expect_count 1 'iteration 8, rank 2 (virt:2), index .* XOR 0x0*[1248]0*; 1 of ' flip-$type.jsonl
done
expect_status 0 "$lockstep" sweep --collective broadcast,allgather,alltoall --type bf16 --bind none \
    --devices virt:3 --counts 3 --sizes 1998 --communicator threads,staged $fast --out type-bf16.jsonl
expect_count 6 "$cell.*\"dtype\":\"bf16\".*\"status\":\"ok\"" type-bf16.jsonl
expect_status 1 "$lockstep" sweep --collective alltoall --type bf16 --bind none \
    --devices 'virt:4+fault:flip@9/2' --counts 4 --sizes 4000 --seconds 0.001 --steps 8:8 \
    --warmup 5:0 --out flip-bf16.jsonl
expect_count 1 'iteration 8, rank 2 (virt:2), index .* expected 0x[0-9a-f]\{4\}, actual 0x[0-9a-f]\{4\}, XOR 0x0*[1248]0*; 1 of 2000 ' flip-bf16.jsonl
refuse 'bf16 is only carried, and allreduce adds; types that are added: f32, f64, i32' \
    "$lockstep" sweep --collective allreduce --type bf16 --devices virt:2

# The default sizes can be cut into blocks for every number of devices.
expect_status 0 "$lockstep" sweep --collective alltoall --bind none --devices virt:3 --counts 2,3 \
    $fast --out exchange.jsonl
expect_count 1 '"command":"[^"]*--sizes 24,72,528,4104,32784,262152,2097168,16777224 ' exchange.jsonl
expect_count 16 "$cell.*\"status\":\"ok\"" exchange.jsonl

# ---- resuming ----------------------------------------------------------------------------------

cell_ids all.jsonl >wanted
head -n 30 all.jsonl >cut.jsonl
expect_status 0 "$lockstep" sweep --collective allreduce,broadcast $grid $fast --launches 2 \
    --resume --out cut.jsonl
cell_ids cut.jsonl | cmp - wanted || fail "a resumed sweep has other cells"
expect_count 32 '^\(allreduce\|broadcast\)  *f32  *[24] .* 2/2$' err
refuse 'here it is "--collective allreduce", in the file "--collective allreduce,broadcast"' \
    "$lockstep" sweep --collective allreduce $grid $fast --launches 2 --resume --out cut.jsonl

# ---- a flipped bit -----------------------------------------------------------------------------

# Step 9 is iteration 8. The bit, the index and the numbers are the same each time. index: a rank
# gets a quarter of the input of a reducescatter.
while read -r name place count; do
    for over in threads staged; do
        expect_status 1 "$lockstep" sweep --collective $name --out-of-place $place --bind none \
            --devices 'virt:4+fault:flip@9/2' --counts 4 --sizes 4000 --communicator $over \
            --seconds 0.001 --steps 8:8 --warmup 5:0 --out flip-$name-$place-$over.jsonl
        expect_count 1 "$cell.*\"status\":\"failed\".*\"first_bad_step\":8," flip-$name-$place-$over.jsonl
        grep -o 'iteration 8, rank 2 (virt:2), index [0-9]*: expected 0x[0-9a-f]\{8\}, actual 0x[0-9a-f]\{8\}, XOR 0x[0-9a-f]\{8\}; 1 of '$count' numbers differs there' \
            flip-$name-$place-$over.jsonl >found || fail "the flip is not named: $(grep -o '"reason":"[^"]*"' flip-$name-$place-$over.jsonl)"
        expected=$(sed 's/.*expected \(0x[0-9a-f]*\).*/\1/' found)
        actual=$(sed 's/.*actual \(0x[0-9a-f]*\).*/\1/' found)
        mask=$(sed 's/.*XOR \(0x[0-9a-f]*\).*/\1/' found)
        [ $((expected ^ actual)) -eq $((mask)) ] || fail "not the mask: $(cat found)"
        [ $((mask & (mask - 1))) -eq 0 ] && [ $((mask)) -ne 0 ] || fail "not one bit: $(cat found)"
        expect_count 1 "^$name .* - .* - .* - *0/1$" err
    done
done <<'EOF'
broadcast 1 1000
allgather 0 1000
allgather 1 1000
reducescatter 0 250
reducescatter 1 250
alltoall 1 1000
broadcast 0 1000
allreduce 1 1000
allreduce 0 1000
EOF
# A device leaves data out of the sum, adds them twice, or adds old ones again: all ranks are wrong.
for harm in drop double stale; do
    expect_status 1 "$lockstep" sweep --collective allreduce --bind none \
        --devices "virt:4+fault:$harm@9/2" --counts 4 --sizes 4000 --seconds 0.001 --steps 8:8 \
        --warmup 5:0 --out harm-$harm.jsonl
    expect_count 1 'iteration 8, rank 0 (virt:0), index 0: .* 1000 of 1000 numbers differ' harm-$harm.jsonl
done

# ---- reports -----------------------------------------------------------------------------------

expect_status 0 "$lockstep" sweep --bind none --devices virt:2 --batch 10 --workload mlp:7,5,3 $fast \
    --out steps.jsonl
expect_status 0 "$lockstep" report all.jsonl --out page
expect_count 1 'All 64 planned launches of 32 cells' page/summary.md
expect_count 1 '^## Collectives$' page/summary.md
expect_count 32 '^| \(allreduce\|broadcast\) | f32 | .* 2 of 2 launches |$' page/summary.md
expect_count 0 '^## \(Cells\|Base cases\)$' page/summary.md
if command -v gnuplot >/dev/null; then
    [ -s page/bandwidth.svg ] && [ -s page/bandwidth-narrow.svg ] || fail "no figure of bandwidth"
    [ "$(grep -c '^# ' page/bandwidth.tsv)" -ge 1 ] || fail "no columns"
    # There are four sizes of each collective on 2 and on 4 devices with two communicators, as in
    # csv.
    [ "$(grep -c '^[0-9]' page/bandwidth.tsv)" -eq 32 ] || fail "not all points are in the figure"
    ! grep -q 'base: plain' page/bandwidth-text.tsv || fail "collectives have no base"
fi
# It is the only table of the page, and it is open; its notes are about iterations.
sed -n '/id="collectives"/,/<\/section>/p' page/index.html | grep -q '<details open="open">' ||
    fail "the table of collectives is folded, or not there"
grep '^- Note:' page/summary.md >notes || true
! grep -q 'a step takes\|samples/s\|steps became' notes || fail "notes of steps: $(cat notes)"
expect_status 0 "$lockstep" report all.jsonl --format csv
expect_count 32 '^"\(allreduce\|broadcast\)","collective","virt:[24]",' out
# Each collective has a line through its sizes: two numbers, or the reason why there are none. In
# both cases the sizes of the line have these numbers elsewhere, too.
expect_count 1 '^## Alpha and beta of collectives$' page/summary.md
sed -n '/^## Alpha and beta/,/^## Prov/p' page/summary.md | grep '^| \(allreduce\|broadcast\) ' >lines
[ "$(wc -l <lines)" -eq 8 ] || fail "not 8 lines: $(cat lines)"
grep ' | no number: no line, [0-9]*[^0-9]*% off at [0-9]* bytes |$' lines >bent || true
[ "$(grep -c ' | - | - | - | - | ' bent || true)" -eq "$(wc -l <bent)" ] || fail "numbers without a line: $(cat bent)"
grep ' | 2 launches, at most [0-9]*[^0-9]*% off, at [0-9]* bytes |$' lines >held || true
[ $(($(wc -l <bent) + $(wc -l <held))) -eq 8 ] || fail "neither a line nor why there is none: $(cat lines)"
grep -q 'id="fits"' page/index.html || fail "the page has no table of alpha and beta"
expect_count 1 '^workload,.*,alpha_seconds,alpha_lower,alpha_upper,inverse_beta_bytes_per_second,inverse_beta_lower,inverse_beta_upper,.*$' out
sed 's/^| \([a-z]*\) | f32 | \([24]\) .* | cpu\/\([a-z]*\) | .*/\1 \3 \2/' held | sort >wanted
awk -F, '{ gsub(/["\r]/, "") }
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    $column["alpha_seconds"] != "" { print $column["workload"], $column["communicator"], $column["n_devices"] }' out |
    sort -u | cmp - wanted || fail "other lines for programs: $(cat held)"
expect_status 0 "$lockstep" report both.jsonl --out page
expect_count 5 ' | 1 | - | - | - | - | no number: a line takes 3 sizes |$' page/summary.md
for format in bmf github openmetrics junit annotations; do
    expect_status 0 "$lockstep" report all.jsonl --format $format
done
expect_status 0 "$lockstep" report all.jsonl --format md
expect_count 1 '^## Collectives$' out
expect_count 32 '^| \(allreduce\|broadcast\) | .* launches |$' out
expect_status 0 "$lockstep" report all.jsonl --format nccl-tests
expect_count 8 '^#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong$' out
expect_count 16 '^ *[0-9]*  *[0-9]*     float     sum      -1      N/A     N/A     N/A    N/A  *[0-9.]*  *[0-9.]*  *[0-9.]*      0$' out
expect_count 16 ' float    none       0 ' out
refuse 'of collectives, and there are none' "$lockstep" report steps.jsonl --format nccl-tests
# Both columns of a line are filled; a number that is only in place or only out of place leaves the
# other one empty.
expect_status 0 "$lockstep" report blocks.jsonl exchange.jsonl --format nccl-tests
expect_count 2 '^ *3984  *249     float    none      -1  *[0-9.]*  *[0-9.]*  *[0-9.]*      0  *[0-9.]*  *[0-9.]*  *[0-9.]*      0$' out
expect_count 16 '^ *[0-9]*  *[0-9]*     float    none      -1  *[0-9.]*  *[0-9.]*  *[0-9.]*      0      N/A     N/A     N/A    N/A$' out
expect_status 0 "$lockstep" report blocks.jsonl --out page
expect_count 8 '^| reducescatter, out of place | f32 | .* 1 of 1 launches |$' page/summary.md
expect_status 1 "$lockstep" report flip-allreduce-0-staged.jsonl harm-drop.jsonl all.jsonl --out page
expect_count 2 '^- allreduce, collective, 4 devices, 4000 bytes, launch 0, run .*iteration 8' page/summary.md

# Next to steps of a model they are in no other table: the tables of the model are the same as
# without them.
expect_status 0 "$lockstep" report steps.jsonl --out alone
expect_status 0 "$lockstep" report steps.jsonl all.jsonl --out beside
for section in Cells 'Base cases'; do
    sed -n "/^## $section\$/,/^## /p" alone/summary.md | grep '^|' >wanted
    sed -n "/^## $section\$/,/^## /p" beside/summary.md | grep '^|' | cmp - wanted ||
        fail "collectives are among $section"
done
grep -q '^| mlp:7,5,3 | ' wanted || fail "nothing was compared"

# ---- what cannot be ----------------------------------------------------------------------------

refuse 'unknown collective "allredux"; known: allreduce, alltoall, allgather, broadcast, reducescatter' \
    "$lockstep" sweep --collective allredux --devices virt:2
refuse 'unknown type "f8"; known: ' "$lockstep" sweep --collective allreduce --type f8 --devices virt:2
refuse '"10X" is not a whole number' "$lockstep" sweep --collective allreduce --sizes 10X --devices virt:2
refuse '"0" is outside 1 to' "$lockstep" sweep --collective allreduce --sizes 0 --devices virt:2
refuse 'no multiple of the 4 bytes of f32' \
    "$lockstep" sweep --collective allreduce --sizes 10 --devices virt:2
refuse 'of memory, this machine has' \
    "$lockstep" sweep --collective allreduce --sizes 1024Gi --devices virt:2 --out beyond.jsonl
[ ! -e beyond.jsonl ] || fail "a refused sweep has a file"
refuse 'has one device, a collective needs two' \
    "$lockstep" sweep --collective allreduce --devices virt:1
refuse 'sizes is of --mode collective' "$lockstep" sweep --sizes 8 --devices virt:2
refuse 'trace is of steps of models' \
    "$lockstep" sweep --collective allreduce --devices virt:2 --trace t.json
