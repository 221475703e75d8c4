# bench copies on GPUs: replicate and reduce are next to copies between the same slots, all of them
# are right, and simulated numbers are marked. Speeds are never compared.
. "$(dirname "$0")/../cli/common.sh"
export LOCKSTEP_FAKE_GPUS=4

# beside DEVICES COUNT BACKEND...: checks every field that is not a time.
beside()
{
    devices=$1
    count=$2
    backend=$3
    shift 3
    expect_status 0 "$lockstep" bench copies --devices "$devices" --bytes 100004 --rounds 5 \
        --format tsv "$@"
    awk -F '\t' -v devices="$devices" -v count="$count" -v backend="$backend" '
        function bad(what) { print "line " NR ": " what ": " $0; wrong = 1 }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["peer"] != "copy" || $at["source"] != "simulated" { bad("peer or source") }
        $at["devices"] != devices || $at["backend"] != backend { bad("devices") }
        $at["peer_work_bytes"] != 2 * 100004 * (count - 1) { bad("bytes of the peer") }
        $at["compared"] != 100004 / 4 * 8 * (4 * count - 1) { bad("compared") }
        !($at["ratio"] > 0) { bad("ratio") }
        { names = names " " $at["name"] }
        END {
            if (names != " replicate reduce") bad("lines" names)
            exit wrong
        }' out >problems || fail "$(cat problems)"
}
beside cuda:0,0 2 cuda
beside cuda:0-2 3 cuda
beside cuda:0,1 2 cuda-staged --backend cuda-staged
export LOCKSTEP_FAKE_PEER=0
beside cuda:all 4 cuda
unset LOCKSTEP_FAKE_PEER

expect_status 0 "$lockstep" bench copies --devices cuda:0,0 --bytes 5Mi --rounds 6
expect_count 0 '.\{81\}' out
expect_count 1 '^SIMULATED on fake GPUs' out
expect_count 1 'copy between the same slots$' out
expect_count 1 '^reduce ' out
refuse "limits is for CPUs, 'cuda:0' is not" "$lockstep" bench limits --devices cuda:0
