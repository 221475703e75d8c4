# The plain program with the products of its backend on several cores: it is measured and verified like any cell, with
# threads where the devices' workers would be; it is a reference in the report, and refused where it
# cannot be one.
. "$(dirname "$0")/common.sh"

short='--seconds 0.05 --steps 2:6 --seed 7'
expect_status 0 "$lockstep" sweep --bind none $short --devices virt:2 --counts 1,2 --batch 31,64 \
    --mode plain,plain-mt,dp --workload mlp:64,96,10 --out cells.jsonl
expect_count 8 '"status":"ok"' cells.jsonl
expect_count 2 '"mode":"plain-mt","devices":"virt:2","n_devices":2' cells.jsonl
expect_count 1 '"mode":"plain-mt",.*"shard_rows":\[31\]' cells.jsonl
expect_count 1 '"schema":"lockstep/run/1.2".*--mode plain,dp,plain-mt' cells.jsonl
grep -q ' 2 plain-mt batch  *31 verified' err || fail "the progress"
# One workload rounds, and one depends on its shards.
expect_status 0 "$lockstep" sweep --bind none $short --devices virt:2 --counts 2 --batch 31 \
    --mode plain-mt,dp --workload lstm --workload resnet --out models.jsonl
expect_count 4 '"status":"ok"' models.jsonl
# It has as many rows as the devices have together.
expect_status 0 "$lockstep" sweep --bind none $short --devices virt:2 --scaling weak --counts 1,2 \
    --batch 8 --mode plain,plain-mt,dp --workload mlp:64,96,10 --out weak.jsonl
expect_count 1 '"mode":"plain-mt",.*"shard_rows":\[16\]' weak.jsonl
[ "$(cell_ids cells.jsonl | uniq | wc -l)" -eq 8 ] || fail "cells are doubled"

for name in cells weak; do
    expect_status 0 "$lockstep" report $name.jsonl --out $name
done
grep -q '^| mlp:64,96,10 | one process, 2 cores | 64 | 64 | 1 |' cells/summary.md || fail "no row"
grep -q 'against the plain program: 2 devices .*; one process on 2 cores [0-9.]*×' cells/summary.md ||
    fail "no reference"
grep -q '>one process, 2 cores<' cells/index.html || fail "no row on the page"
! grep -q 'as fast as one process on' cells/summary.md || fail "it is the base"

# threads_of NAME MODES: sets NAME to the cores on which each thread of the first worker may run, as
# they are most of the time. With that seed its mode is the first of them.
threads_of() {
    rm -f long.jsonl
    : >seen
    "$lockstep" sweep --wait --seed 7 --devices virt:2 --counts 2 --batch 256 --mode "$2" \
        --seconds 1 --steps 10:100000 --workload mlp:256,256,10 --out long.jsonl >out 2>err &
    pid=$!
    tries=0
    while find_workers $pid; do # the first ones look at the devices
        worker=${workers%% *}
        [ "$(cat /proc/"$worker"/comm 2>/dev/null)" != 'lockstep cell' ] || break
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || fail "no cell has begun"
        sleep 0.05
    done
    while grep -h '^Cpus_allowed_list' /proc/"$worker"/task/*/status >now 2>/dev/null; do
        sort now | tr '\n' ';' >>seen
        echo >>seen
        sleep 0.05
    done
    kill -TERM $pid 2>/dev/null || true # it may have ended
    wait $pid || true
    sort seen | uniq -c | sort -rn | sed -n '1{s/^ *[0-9]* //;s/;$//;p}' | tr ';' '\n' >"$1"
}

# In addition to the two workers there is one thread of OpenBLAS, and one of oneDNN where it makes
# products. They, and the calling thread, may run on the cores of all devices: no product then has
# fewer cores than threads. Devices have two more workers at the end of their cell, for the steps
# without communication.
threads_of dp dp
threads_of mt plain-mt,dp
case $(wc -l <dp) in 2 | 4) ;; *) fail "threads of dp: $(cat dp)" ;; esac
case $(sed -n 's/.*"blas":"\([^"]*\)".*/\1/p' cells.jsonl) in *oneDNN*) threads=4 ;; *) threads=3 ;; esac
[ "$(wc -l <mt)" -eq $threads ] || fail "threads of plain-mt, not $threads: $(cat mt)"
[ "$(sort -u dp | wc -l)" -eq 2 ] || fail "cores of dp: $(cat dp)"
both=$(sed 's/.*:[[:space:]]*//' dp | sort -nu | tr '\n' ' ')
[ "$(grep -c "[[:space:]]${both%% *}[-,]" mt)" -eq $((threads - 1)) ] || fail "other cores: $(cat dp mt)"

refuse 'plain-mt: backend cpu-ref has no BLAS' "$lockstep" sweep --devices virt:2 --backend cpu-ref \
    --mode plain,plain-mt --out none.jsonl
refuse 'plain-mt uses as many cores as the most devices, and --counts has only 1' "$lockstep" sweep \
    --devices virt:2 --counts 1 --mode plain,plain-mt --out none.jsonl
refuse 'plain-mt is a reference: add plain, dp or ddp' "$lockstep" sweep --devices virt:2 \
    --mode plain-mt --out none.jsonl
[ ! -e none.jsonl ] || fail "a refused sweep left a file"
