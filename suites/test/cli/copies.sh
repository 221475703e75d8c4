# What --parts measured of copies, in the report.
# copies.sh LOCKSTEP FOLDER
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" sweep --devices virt:2 --bind none --seconds 0.01 --seed 3 --workload mlp:7,5,4 --mode dp \
    --counts 1,2 --batch 8 --launches 3 --parts 0.01 --out measured.jsonl

# ---- copies of known speeds ----------------------------------------------------------------------

# lists NS...: samples of each, of which NS is the median, in arrays.
lists()
{
    arrays=
    for ns; do
        case $ns in
        0) arrays="$arrays,[0,0,0]" ;;
        *) arrays="$arrays,[$((7 * ns)),$ns,1]" ;;
        esac
    done
    echo "[${arrays#,}]"
}

# parts COPY FROM_HOST TO_HOST MEMORY: that object of a record, of lists of times.
parts()
{
    copy=
    [ -z "$1" ] || copy="\"copy\":{\"work\":16777216,\"ns\":$(lists $1)},"
    echo "\"parts\":{$copy\"from_host\":{\"work\":67108864,\"ns\":$(lists $2)},\"to_host\":{\"work\":67108864,\"ns\":$(lists $3)},\"memory\":{\"work\":134217728,\"ns\":$(lists $4)}}"
}

# with_parts LAUNCH DEVICES PARTS: a command of sed.
with_parts()
{
    echo "/\"n_devices\":$2,.*\"launch\":$1[,}]/s/\"parts\":{\(\"[a-z_]*\":{[^}]*},\{0,1\}\)*}/$3/"
}

# The launch in the middle has 6.4 GB/s from 0 to 1 and 12.8 back, 8 and 4 from the host, 2 and 1 to
# it, and 16 and 32 within a device; the others have half and twice as much.
{
    with_parts 0 2 "$(parts '0 5242880 2621440 0' '16777216 33554432' '67108864 134217728' '8388608 4194304')"
    with_parts 1 2 "$(parts '0 2621440 1310720 0' '8388608 16777216' '33554432 67108864' '4194304 2097152')"
    with_parts 2 2 "$(parts '0 1310720 655360 0' '4194304 8388608' '16777216 33554432' '2097152 1048576')"
    for launch in 0 1 2; do
        with_parts $launch 1 "$(parts '' 33554432 67108864 2097152)"
    done
} >edit.sed
sed -f edit.sed measured.jsonl | sed 's/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//' >copies.jsonl # not sealed
expect_count 3 '"copy":{"work":16777216,"ns":\[\[0,0,0\],\[' copies.jsonl
expect_count 3 '"memory":{"work":134217728,"ns":\[\[14680064,2097152,1\]\]}' copies.jsonl


# has LINE: the table has it.
has()
{
    grep -qxF -- "$1" rows || fail "no line '$1': $(cat rows)"
}

expect_status 0 "$lockstep" report copies.jsonl --out page
sed -n '/^## Copies, GB.s$/,/^## /p' page/summary.md >rows
[ "$(grep -c 'id="copies"' page/index.html)" -eq 1 ] || fail "the page has no table"
has '**virt:2, cpu/threads, 3 launches**'
has '| From | to host | to 0 | to 1 |'
has "| host |  | 8.00 | 4.00 |"
has "| 0 (virt:0) | 2.00 | 16.0 | 6.40 |"
has "| 1 (virt:1) | 1.00 | 12.8 | 32.0 |"
# Of one device by itself; there is nothing to copy to.
has '**virt:1, cpu/threads, 3 launches**'
has '| From | to host | to 0 |'
has "| host |  | 2.00 |"
has "| 0 (virt:0) | 1.00 | 32.0 |"
[ "$(grep -c '^| [h0-9]' rows)" -eq 5 ] || fail "not 5 lines: $(cat rows)"

# Without copies there is no table.
expect_status 0 "$lockstep" sweep --devices virt:2 --bind none --seconds 0.01 --seed 3 --workload tutorial --mode plain \
    --counts 1 --batch 8 --out without.jsonl
expect_status 0 "$lockstep" report without.jsonl --out without
if grep -q 'id="copies"' without/index.html || grep -q '^## Copies' without/summary.md; then
    fail "a table of copies that nobody measured"
fi
echo 'copies: they are in one table'
