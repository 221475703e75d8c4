# A small sweep on every kind of device and backend: every planned cell is there and verified.
fields=$(cd "$(dirname "$0")/../../../results" && pwd)/README.md
. "$(dirname "$0")/common.sh"

sweep() {
    file=$1
    shift
    expect_status 0 "$lockstep" sweep --bind none --seconds 0.02 --steps 2:4 --seed 7 \
        --verbose --out "$file" "$@"
    [ "$(cat out)" = "$file" ] || fail "the file's name is not on standard output"
    expect_count 1 '^  timed  *[0-9][0-9]* % of [0-9]*\.[0-9] s, [0-9]* % in measured steps and [0-9]* % next to them$' err
}

# same_answer FILE WORDS: the sentences at the end of the last sweep, which made the file, begin with
# those that its report begins with, and these have the words.
same_answer() {
    "$lockstep" report "$1" --out same-answer >/dev/null 2>&1 || true
    sed -n '/^\*\*/ { s/[\\*]//g; p; q; }' same-answer/summary.md >answer
    grep -q "$2" answer || fail "the answer of $1 lacks '$2': $(cat answer)"
    tr -s '\n ' '  ' <err >said
    grep -qF " $(cat answer)" said || fail "the sweep of $1 does not say: $(cat answer)"
}

# check FILE CELLS
check() {
    expect_count 1 '"schema":"lockstep/run/1.2"' "$1"
    expect_count "$2" '"schema":"lockstep/cell/1.1"' "$1"
    expect_count "$2" '"status":"ok"' "$1"
    expect_count "$2" '"validated":true' "$1"
    expect_count 1 '"schema":"lockstep/end/1.1"' "$1"
    [ "$(cell_ids "$1" | uniq | wc -l)" -eq "$2" ] || fail "cells are doubled in $1"
}

sweep cpu.jsonl --devices virt:8 --counts 1,2,3,8 --batch 10,30,257 \
    --workload tutorial --workload mlp:24,40,16,8
check cpu.jsonl 30
same_answer cpu.jsonl 'times as fast as one .*once, so not certain'
for devices in 1 2 3 8; do
    expect_count 6 "\"mode\":\"dp\",\"devices\":\"virt:$devices\"" cpu.jsonl
done
expect_count 6 '"mode":"plain","devices":"virt:1"' cpu.jsonl
expect_count 6 '"raw":.*"scatter":null,"replicate":null,"forward":\[\[.*"gather":null.*"reduce":null' \
    cpu.jsonl
expect_count 2 '"shard_rows":\[2,2,2,2,2\]' cpu.jsonl

# Rounded operands are another setting, which every record names.
sweep bf16.jsonl --devices virt:3 --math bf16 --batch 10,33 --workload mlp:7,5,3
check bf16.jsonl 8
expect_count 8 '"dtype":"bf16"' bf16.jsonl
expect_count 30 '"dtype":"f32"' cpu.jsonl
expect_status 2 "$lockstep" sweep --bind none --seconds 0.02 --steps 2:4 --seed 7 --resume \
    --out bf16.jsonl --devices virt:3 --batch 10,33 --workload mlp:7,5,3
grep -q 'the file has "--math bf16", here there is no such option' err || fail "resumed"

# The same with a model that rounds.
sweep gpt-bf16.jsonl --devices virt:2 --math bf16 --batch 8 --mode plain,dp,ddp --workload gpt:1,16,2,8,32
check gpt-bf16.jsonl 5
expect_count 5 '"dtype":"bf16"' gpt-bf16.jsonl

sweep ref.jsonl --devices virt:3 --backend cpu-ref --batch 10,33 --workload mlp:7,5,3
check ref.jsonl 8
sweep lag.jsonl --devices virt:3+lag --counts 3 --batch 10 --workload mlp:7,5,3
check lag.jsonl 2
expect_count 1 '"mode":"plain","devices":"virt:1+lag"' lag.jsonl
expect_count 1 '"mode":"dp","devices":"virt:3+lag"' lag.jsonl

# Models of all kinds; also the middle of a model in the wrapper, and a table on the host before it.
sweep models.jsonl --devices virt:3 --counts 3 --batch 10 --workload blocks --workload mixed \
    --workload cnn,rnn,lstm,capsnet,resnet,gpt:1,16,2,8,32
check models.jsonl 16
sweep ranks.jsonl --devices virt:2 --counts 2 --batch 11 --mode ddp --workload blocks \
    --workload rnn --workload capsnet --workload resnet,gpt:1,16,2,8,32
check ranks.jsonl 5
# Batch norm has shards of 4, 4 and 2 rows on late devices, and ranks of 3, 3, 2 and 2.
sweep shards.jsonl --devices virt:3+lag --counts 1,2,3 --batch 10 --mode dp --workload resnet
check shards.jsonl 3
sweep shards4.jsonl --devices virt:4 --backend cpu-ref --counts 2,4 --batch 10 --mode ddp \
    --warmup 1:0 --workload resnet
check shards4.jsonl 2

# Ranks have a cell for each bucket, with the hidden part of the reduction; slow transfers are
# another device.
sweep ddp.jsonl --devices virt:2+20us --counts 2 --mode dp,ddp --bucket 0,64,1Mi --batch 8 \
    --workload mlp:7,5,4
check ddp.jsonl 4
for bytes in 64 1048576; do
    expect_count 1 "\"mode\":\"ddp\",\"devices\":\"virt:2+20us\",.*\"bucket_bytes\":$bytes," ddp.jsonl
done
expect_count 2 '"bucket_bytes":0,' ddp.jsonl
number='[0-9.e+]*'
expect_count 3 "\"compute_alone_ns\":$number,\"comm_alone_ns\":$number,\"whole_ns\":$number,\"hidden_frac\":[-0-9n]" ddp.jsonl
expect_count 1 '"compute_alone_ns":null,"comm_alone_ns":null,"whole_ns":null,"hidden_frac":null' ddp.jsonl
expect_count 3 '"rounds_ns":{"compute":\[[0-9,]*\],"comm":\[[0-9,]*\],"whole":\[[0-9,]*\]}' ddp.jsonl
expect_count 1 '"alone_ns":\[[0-9]*,[0-9]*,[0-9]*,[0-9]*,[0-9,]*\]' ddp.jsonl
expect_count 4 '"bytes_per_step":[1-9].*"peak_bytes":\[[1-9][0-9]*,[1-9][0-9]*\]' ddp.jsonl
expect_count 1 ' 2 ddp 1Mi batch ' err
expect_status 2 "$lockstep" sweep --bind none --seconds 0.02 --steps 2:4 --seed 7 --resume \
    --out ddp.jsonl --devices virt:2+20us --counts 2 --mode dp,ddp --batch 8 --workload mlp:7,5,4
grep -q 'the file has "--bucket 0,64,1048576", here there is no such option' err ||
    fail "resumed"

# The parts of the machine are products of each device, copies between devices, from the host and
# back, and within a device. A late device has none.
sweep parts.jsonl --devices virt:2 --counts 2 --mode plain,dp --batch 8 --parts 0.01 \
    --workload mlp:7,5,4
check parts.jsonl 2
copies='"from_host":{"work":67108864,"ns":N},"to_host":{"work":67108864,"ns":N},"memory":{"work":134217728,"ns":N}}'
of_one=$(echo "$copies" | sed 's/N/\\[\\[[1-9][0-9,]*\\]\\]/g')
of_two=$(echo "$copies" | sed 's/N/\\[\\[[1-9][0-9,]*\\],\\[[1-9][0-9,]*\\]\\]/g')
expect_count 1 '"parts":{"product":{"work":33554432,"ns":\[\[[0-9,]*\]\]},"sustained":{[^}]*},'"$of_one" parts.jsonl
expect_count 1 '"ns":\[\[[0-9,]*\],\[[0-9,]*\]\]},"copy":{"work":16777216,"ns":\[\[0,0[0,]*\],\[[1-9][^}]*},'"$of_two" parts.jsonl
grep -q '"command":"[^"]* --parts 0.01"' parts.jsonl || fail "no --parts in the command"
sweep lagged.jsonl --devices virt:2+lag --counts 2 --mode dp --batch 8 --parts 0.01 --workload mlp:7,5,4
expect_count 0 '"parts"' lagged.jsonl

# The same seed gives the same order, another seed a different one.
order() {
    grep -o '"cell_id":"[0-9a-f]*"' "$1"
}
for file in once again; do
    sweep $file.jsonl --devices virt:3 --mode dp --counts 1,2,3 --batch 10,20,30 --workload tutorial
done
order once.jsonl >first
order again.jsonl >second
cmp first second || fail "one seed, two orders"
sort first | cmp -s - first && fail "the order is not random"

# There is one mode alone.
sweep plain.jsonl --devices virt:3 --mode plain --batch 10,33 --workload mlp:7,5,3
check plain.jsonl 2
same_answer plain.jsonl 'Nothing can be said about scaling'
expect_count 1 ' known[.] mlp:7,5,3 with [13][03] rows on 1 device: throughput ' said
expect_count 2 '"mode":"plain","devices":"virt:1"' plain.jsonl
# Two layers have 18 kernels: forward 4 and the relu between; loss, its upstream, its gradient;
# backward 3 + 1 + 2; update 4.
expect_count 2 '"kernels_per_step":18.0,' plain.jsonl
sweep dp.jsonl --devices virt:3 --mode dp --counts 2 --batch 10,33 --workload mlp:7,5,3
check dp.jsonl 2
expect_count 2 '"mode":"dp","devices":"virt:2"' dp.jsonl

# With weak scaling the batches are rows per device.
sweep weak.jsonl --devices virt:3 --counts 1,3 --scaling weak --batch 10,40 --workload mlp:7,5,3
check weak.jsonl 6
expect_count 1 '"scaling":"weak"' weak.jsonl
expect_count 2 '"n_devices":1,"global_batch":10,' weak.jsonl
expect_count 2 '"n_devices":1,"global_batch":40,' weak.jsonl
expect_count 1 '"n_devices":3,"global_batch":30,.*"shard_rows":\[10,10,10\]' weak.jsonl
expect_count 1 '"n_devices":3,"global_batch":120,.*"shard_rows":\[40,40,40\]' weak.jsonl
expect_count 1 ' 3 dp  x   40 rows ' err
expect_count 2 ' plain  x   10 rows \| 1 dp  x   10 rows ' err

# With launches every cell is run by as many processes, block after block, each in a different
# order.
sweep launches.jsonl --devices virt:2 --launches 3 --batch 10,20,30 --workload mlp:7,5,3
check launches.jsonl 27
expect_count 1 '"planned":27,.*"launches":3,' launches.jsonl
expect_count 27 '^\[[ 12][0-9]/27\] launch [123]/3 ' err
expect_count 1 '^  planned      27 launches of 9 cells$' err
for block in 0 1 2; do
    sed -n "$((2 + 9 * block)),$((10 + 9 * block))p" launches.jsonl >block
    expect_count 9 "\"launch\":$block}" block
    grep -o '"cell":{.*"launch"' block >"order.$block"
    sort "order.$block" >"cells.$block"
    cmp cells.0 "cells.$block" || fail "block $block has other cells than block 0"
done
for pair in '0 1' '1 2' '0 2'; do
    ! cmp -s "order.${pair% *}" "order.${pair#* }" || fail "blocks $pair have one order"
done

sweep six.jsonl --devices virt:2 --launches 6 --batch 10,20 --workload mlp:7,5,3
check six.jsonl 36
same_answer six.jsonl 'times as fast as one '

# A cell that takes too long is a record, not a measurement, and the sweep goes on.
expect_status 1 "$lockstep" sweep --bind none --devices virt:1 --mode dp --batch 10,20 --seconds 0.1 \
    --steps 100000:100000 --workload mlp:2048,2048,2048 --timeout 0.2 --out late.jsonl
expect_count 2 '"status":"timeout"' late.jsonl
expect_count 1 'measured  *0$' err
expect_count 0 '^  timed ' err
expect_count 1 'timeout  *2$' err
same_answer late.jsonl 'Nothing can be said about scaling'

# Lines have at most 80 columns; a name that does not fit is marked.
expect_status 0 "$lockstep" sweep --bind none --devices virt:2 --seconds 0.01 --steps 1:2 \
    --workload mlp:8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8 --workload tutorial --batch 10,1000 \
    --out wide.jsonl
expect_count 12 '^\[[ 1][0-9]/12\] ' err
expect_count 6 '^\[[ 1][0-9]/12\] mlp:8,8[8,]*\.\.\.[8,]* ' err
expect_count 0 '.\{81\}' err
expect_status 0 "$lockstep" sweep --bind none --devices virt:2 --seconds 0.001 --steps 1:2 \
    --workload mlp:8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8 --batch 100 --launches 34 --out long.jsonl
expect_count 102 '^\[[ 0-9]*/102\] launch [ 0-9]*/34 mlp[:8,]*\.\.\.[8,]* .* left$' err
expect_count 0 '.\{81\}' err
# Names that are cut stay different: by their end, or by their numbers. In one run a workload has one
# name, whatever else is in its lines.
expect_status 0 "$lockstep" sweep --bind none --devices virt:1 --mode plain --seconds 0.001 --steps 1:2 --batch 100 --launches 10 \
    --workload mlp:8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8 --workload mlp:8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,4 \
    --workload mlp:8,8,8,8,8,4,8,8,8,8,8,8,8,8,8,8 --out alike.jsonl
for number in 1 2 3; do
    expect_count 10 " mlp:[8,]*\\.\\.\\.$number " err
done
expect_count 0 '.\{81\}' err
expect_status 0 "$lockstep" sweep --bind none --devices virt:2 --mode plain,ddp --seconds 0.001 --steps 1:2 --batch 8,10000 \
    --bucket 0,4Mi --launches 2 --workload mlp:8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8 --workload mlp:8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,4 \
    --workload tutorial --out names.jsonl
sed -n 's/^\[[ 0-9]*\/[0-9]*\] \(launch \)\{0,1\}[0-9]*\/2 \([^ ]*\) .*/\2/p' err | sort | uniq -c >names
[ "$(wc -l <names)" -eq 3 ] || fail "3 workloads have these names: $(cat names)"
[ "$(grep -c ' 20 ' names)" -eq 3 ] || fail "not 20 lines of each name: $(cat names)"
expect_count 1 ' mlp[:8,]*\.\.\.[8,]*,4$' names
expect_count 0 '.\{81\}' err
# Devices that share cores are called so in each of their lines.
most=$(($(nproc) + 1))
if [ "$most" -le 64 ]; then
    expect_status 0 "$lockstep" sweep --bind none --devices virt:$most --counts 1,$most --seconds 0.001 --steps 1:2 --batch 128 \
        --workload tutorial --out shared.jsonl
    expect_count 1 '"oversubscribed":true' shared.jsonl
    expect_count 1 " $most dp  batch  128 verified .* oversubscribed\$" err
    expect_count 2 ' left$' err
    same_answer shared.jsonl '(oversubscribed) train .* This is no evidence of speed: more devices than cores'
fi

# A descriptor that the caller has closed never becomes the file of records.
status=0
"$lockstep" sweep --bind none --devices virt:1 --seconds 0.01 --steps 1:2 --batch 10 \
    --mode dp --workload mlp:4,4 --out closed.jsonl >out 2>&- || status=$?
[ "$status" -eq 0 ] || fail "status $status with standard error closed"
expect_count 3 '^{"schema":"lockstep/.*}$' closed.jsonl
[ "$(wc -l <closed.jsonl)" -eq 3 ] || fail "something else is among the records"
for name in in out all; do
    status=0
    case $name in
    in) "$lockstep" devices <&- >out 2>err || status=$? ;;
    out) "$lockstep" devices >&- 2>err || status=$? ;;
    all) "$lockstep" devices <&- >&- 2>&- || status=$? ;;
    esac
    [ "$status" -eq "$([ "$name" = in ] && echo 0 || echo 2)" ] || fail "status $status: $name closed"
done

# Output that cannot be written is no success.
for command in sweep devices tutorial report; do
    status=0
    "$lockstep" "$command" --help >/dev/full 2>err || status=$?
    [ "$status" -eq 2 ] || fail "status $status of $command --help on a full device"
    expect_count 1 'standard output: No space' err
done

# Without --out each sweep has a separate file, also in the same second.
for i in 1 2 3; do
    "$lockstep" sweep --bind none --devices virt:1 --seconds 0.01 --steps 1:2 --batch 10 \
        --mode dp --workload mlp:4,4 >name.$i 2>err.$i &
    eval "sweep$i=$!"
done
for i in 1 2 3; do
    eval "wait \"\$sweep$i\"" || fail "a sweep without --out: $(cat err.$i)"
    expect_count 1 '"status":"ok"' "$(cat name.$i)"
done
[ "$(cat name.? | sort -u | wc -l)" -eq 3 ] || fail "two sweeps share a file"

# A worker that dies gives a record, too.
"$lockstep" sweep --bind none --devices virt:1 --mode dp --batch 10,20,30 --seconds 0.5 --steps 1:100000 \
    --workload mlp:64,64 --out crash.jsonl >out 2>err &
sweep=$!
wait_for_cells 1 crash.jsonl "$sweep"
find_workers "$sweep"
kill -KILL $workers
expect_end 1 "$sweep"
expect_count 1 '"status":"crashed"' crash.jsonl
expect_count 2 '"status":"ok"' crash.jsonl

# Every field is explained.
grep -oh '"[a-z0-9_]*":' cpu.jsonl crash.jsonl | tr -d '":' | sort -u >names
[ "$(wc -l <names)" -gt 90 ] || fail "only $(wc -l <names) fields"
while read -r name; do
    grep -q "\`$name\`" "$fields" || fail "results/README.md does not explain $name"
done <names
