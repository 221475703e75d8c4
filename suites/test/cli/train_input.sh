# Bad input of `lockstep train`: status 2 and one line that names the value, and where it is.
. "$(dirname "$0")/common.sh"

expect_status 0 "$lockstep" train --devices virt:3 --epochs 0 --save three.weights --out curve.jsonl

# Weights that are not this model's, or no longer what they were.
head -c 20000 three.weights >short.weights
refuse 'short.weights is truncated: it has 20000 of 38592 bytes' "$lockstep" train --load short.weights
head -c 20 three.weights >short.weights
refuse 'short.weights is truncated' "$lockstep" train --load short.weights
: >empty.weights
refuse 'empty.weights holds no weights' "$lockstep" train --load empty.weights
refuse 'curve.jsonl holds no weights' "$lockstep" train --load curve.jsonl
{ head -c 9000 three.weights; printf 'x'; tail -c +9002 three.weights; } >damaged.weights
refuse 'damaged: its checksum is wrong' "$lockstep" train --load damaged.weights
{ head -c 8 three.weights; printf '\002'; tail -c +10 three.weights; } >newer.weights
refuse 'newer.weights is of version 2; this program reads 1' "$lockstep" train --load newer.weights
{ cat three.weights; printf 'x'; } >long.weights
refuse 'long.weights is too long' "$lockstep" train --load long.weights
refuse 'tensor 0 is 0.weight float32 \[128, 64\] there, 0.weight float32 \[64, 64\] here' \
    "$lockstep" train --model mlp:64,64,10 --load three.weights
refuse 'tensor 4 is no tensor there, 4.weight float32 \[10, 10\] here' \
    "$lockstep" train --model mlp:64,128,10,10 --load three.weights
refuse 'tensor 2 is 2.weight .* there, none here' "$lockstep" train --model mlp:64,128 \
    --load three.weights
# Files of any size, most of which is not there: told by their beginning.
truncate -s 100G zero.weights
refuse 'zero.weights holds no weights: it does not begin with LOCKSTPW$' "$lockstep" train \
    --load zero.weights
{ printf 'LOCKSTPW\001\000\000\000\004\000\000\000\000\000\000\000\031\000\000\000'; } >huge.weights
truncate -s 100G huge.weights
refuse 'huge.weights is of another model: it has 107374182400 bytes, this one.s weights at most' \
    "$lockstep" train --load huge.weights
rm zero.weights huge.weights
refuse 'nowhere' "$lockstep" train --load nowhere
refuse 'not a regular file' "$lockstep" train --load /dev/zero

# Weights that are no numbers: a test and a first step, for which no rate is to blame.
printf '1,0\n2,1\n3,0\n' >few.csv
if command -v python3 >/dev/null 2>&1; then
    expect_status 0 "$lockstep" train --data few.csv --model mlp:1,2 --epochs 0 --save few.weights
    python3 -c '
import sys
raw = bytearray(open(sys.argv[1], "rb").read()[:-8])
raw[-4:] = b"\0\0\xc0\x7f"
total = 0xCBF29CE484222325
for byte in raw:
    total = (total ^ byte) * 0x100000001B3 & 2**64 - 1
open(sys.argv[1], "wb").write(raw + total.to_bytes(8, "little"))' few.weights
    for epochs in 0 1; do
        one_line 1 'is not finite; the weights in few.weights give no better' "$lockstep" train \
            --data few.csv --model mlp:1,2 --epochs $epochs --load few.weights
    done
fi
refuse 'not a regular file' "$lockstep" train --save /dev/null
refuse 'no/folder/a.weights' "$lockstep" train --save no/folder/a.weights

# Data that are none: one line that names file, line and column. unit/dataset.c has the sentences.
csv() {
    printf "$2" >"$1.csv"
    refuse "^lockstep train: $1.csv:$3" "$lockstep" train --data "$1.csv" --out refused.jsonl
}
csv empty '' '1:1: '
csv missing '1,2,0\n3,1\n' '2:3: '
csv control '1,2,0\n1,\033[31m,0\n' "2:2: '?\[31m' is not a number"
printf '1,2,0\r\n3,4,1' >two.csv
refuse "two.csv:2:3: .*'1'.* 0 to 0" "$lockstep" train --data two.csv --model mlp:2,1
refuse 'two.csv:1:4: ' "$lockstep" train --data two.csv --model mlp:3,2
expect_status 0 "$lockstep" train --data two.csv --devices virt:2 --epochs 1
printf '1,2,1\n' >one.csv
refuse 'one.csv has 1 row' "$lockstep" train --data one.csv --epochs 1 --out refused.jsonl
printf '1,0\n2,0\n3,0\n' >same.csv
refuse 'same.csv: with one class every answer is right; at least 2' "$lockstep" train \
    --data same.csv --require 99
# The file is named with its folder, and of a long path the end.
mkdir -p folder
for file in few one same; do
    cp $file.csv folder/
done
refuse '^lockstep train: folder/one.csv ' "$lockstep" train --data folder/one.csv
refuse '^lockstep train: folder/same.csv: ' "$lockstep" train --data folder/same.csv
refuse '^lockstep train: folder/few.csv:1:3: ' "$lockstep" train --data folder/few.csv \
    --model cnn
long=$(printf '%0110d' 1)
mkdir -p $long
cp one.csv $long/
refuse '^lockstep train: [.][.][.]0*1/one.csv ' "$lockstep" train --data $long/one.csv

# Names of columns, and classes without a row.
printf 'x,y,class\n1,2,0\n3,4,1\n5,6,3\n1,3,0\n' >names.csv
expect_status 0 "$lockstep" train --data names.csv --header --devices host --epochs 1 --out gaps.jsonl
expect_count 1 '^data: no row of names.csv has class 2, of 4$' err
expect_count 1 '"rows":4,"features":2,"classes":4,"missing_classes":1,"first_missing_classes":\[2\]' gaps.jsonl
expect_status 0 "$lockstep" train --data few.csv --devices host --epochs 1 --out whole.jsonl
expect_count 0 '^data:' err
expect_count 1 '"missing_classes":0,"first_missing_classes":\[\]' whole.jsonl
expect_status 0 "$lockstep" train --data few.csv --model mlp:1,12 --devices host --epochs 1
expect_count 1 'has class 2, 3, 4, 5, 6, 7, 8, 9 or one of 2 more, of 12$' err
refuse 'few.csv:1:1: ' "$lockstep" train --data few.csv --header
refuse '^lockstep train: --header is for a file: digits' "$lockstep" train --header
refuse "data 'nowhere'" "$lockstep" train --data nowhere
refuse 'cannot read' "$lockstep" train --data .
[ ! -e refused.jsonl ] || fail "refused data left a record"
printf '1,0\n1000,0\n' >table.csv
refuse "table.csv:2:1: '1000' .* 0 to 999" "$lockstep" train --model mixed --data table.csv
refuse 'digits has 64 numbers a row, the model takes 1' "$lockstep" train --model mixed

# Texts.
refuse "data 'digits' is no text: this model takes text or text:FILE" "$lockstep" train \
    --model gpt-tiny --data digits
refuse "data 'text:few.csv' is a text, which a model of rows does not take" "$lockstep" train \
    --data text:few.csv
head -c 65 /dev/zero >short.txt
refuse 'short.txt has 65 bytes: a context of 32 needs 66 at least' "$lockstep" train --model gpt-tiny \
    --data text:short.txt --out refused.jsonl
printf 'x\200' | cat short.txt - >high.txt
refuse 'high.txt: byte 67 is 128, the model.s vocabulary has 0 to 127' "$lockstep" train \
    --model gpt:1,8,1,32,128 --data text:high.txt --out refused.jsonl
refuse 'cannot read nowhere: No such file' "$lockstep" train --model gpt-tiny --data text:nowhere
refuse "data 'text:' names no file: text:FILE, or text for this project's documents" "$lockstep" \
    train --model gpt-tiny --data text:
refuse '^lockstep train: --header is for a file: text' "$lockstep" train --model gpt-tiny --header
refuse 'a width of 10 is no multiple of 4 heads' "$lockstep" train --model gpt:1,10,4,8,256
one_gpt="--model gpt:1,8,2,16,256 --data text:high.txt --epochs 0"
expect_status 0 "$lockstep" train $one_gpt --save gpt.weights
cp gpt.weights kept.weights
refuse 'tensor 1 is transformer.wpe.weight float32 \[16, 8\] there, transformer.wpe.weight float32 \[8, 8\]' \
    "$lockstep" train --model gpt:1,8,2,8,256 --data text:high.txt --load gpt.weights \
    --save gpt.weights --out refused.jsonl
cmp gpt.weights kept.weights || fail "weights of another shape are lost"
[ ! -e refused.jsonl ] || fail "a refused text left a record"
refuse 'high.txt is the file of --data' "$lockstep" train --model gpt-tiny --data text:high.txt \
    --save ./high.txt

# Options.
refuse '"adam"; known: adamw, sgd' "$lockstep" train --optimizer adam
refuse 'momentum is of SGD: AdamW has none' "$lockstep" train --optimizer adamw --momentum 0.5
refuse 'accumulate.*0' "$lockstep" train --accumulate 0
refuse 'clip.*-1' "$lockstep" train --clip -1
refuse 'decay.*x' "$lockstep" train --decay x
refuse 'warmup.*1.5' "$lockstep" train --warmup 1.5
refuse 'mode.*"fsdp"; known: dp, ddp' "$lockstep" train --mode fsdp
refuse 'mode ddp needs devices' "$lockstep" train --mode ddp --devices host
refuse 'mixed has a table on the host' "$lockstep" train --mode ddp --model mixed --data random
refuse "workload.*'mpl'.*mlp" "$lockstep" train --model mpl
refuse 'digits has 64 numbers a row, the model takes 5' "$lockstep" train --model mlp:5,2
refuse 'digits has 10 classes' "$lockstep" train --model mlp:64,9
refuse '80.02 GiB of weights, 66 times .*, do not fit in this machine.s [0-9.]* GiB of memory$' \
    "$lockstep" train --devices virt:64 --out refused.jsonl \
    --model mlp:64,65536,65536,65536,65536,65536,65536,10
# And a batch that does not, as a sweep refuses it; each part of one is held by itself.
head -c 1000 /dev/zero >zeros
big='--model gpt-small --data text:zeros --batch 1048576 --out refused.jsonl'
refuse 'batch: gpt-small, mode dp, 2 devices, 1048576 rows: .* a batch of [0-9]* fits by estimate$' \
    "$lockstep" train --devices virt:2 $big
refuse 'batch: gpt-small, mode ddp, 2 devices, 1048576 rows: ' "$lockstep" train --devices virt:2 \
    --mode ddp $big
refuse 'batch: gpt-small, mode plain, 1 device, 1048576 rows: ' "$lockstep" train --devices host $big
refuse 'batch: in each part gpt-small, mode dp, 2 devices, 524288 rows: ' "$lockstep" train \
    --devices virt:2 --accumulate 2 $big
[ ! -e refused.jsonl ] || fail "a model that does not fit left a record"
refuse "backend 'cuda'" "$lockstep" train --mode ddp --devices virt:3 --batch 2 \
    --against virt:1 --against-backend cuda
refuse 'batch' "$lockstep" train --batch 0
refuse 'lr.*nan' "$lockstep" train --lr nan
refuse 'lr.*0' "$lockstep" train --lr 0
refuse 'momentum.*1' "$lockstep" train --momentum 1
refuse 'prefetch.*"maybe"' "$lockstep" train --prefetch maybe
refuse 'epochs' "$lockstep" train --epochs -1
refuse 'seeds.*"0"' "$lockstep" train --seeds 0
refuse 'virt:0' "$lockstep" train --devices virt:0
refuse 'virt:0' "$lockstep" train --against virt:0
refuse 'needs --against' "$lockstep" train --against-backend cpu
refuse 'leave out --seeds' "$lockstep" train --against virt:1 --seeds 2
refuse 'leave out --seeds' "$lockstep" train --save a --seeds 2
refuse '--epochs is given twice' "$lockstep" train --epochs 1 --epochs 1

# One file for two things: one of them would be lost.
cp few.csv many.csv
refuse 'few.csv is the file of --data' "$lockstep" train --data few.csv --save ./../train_input/few.csv
refuse '--save both is the file of --out' "$lockstep" train --save both --out both
cmp few.csv many.csv || fail "weights are in the place of the data"
refuse 'is not empty' "$lockstep" train --epochs 1 --out curve.jsonl
refuse 'cannot make the directory' "$lockstep" train --epochs 1 --figure curve.jsonl/figure
