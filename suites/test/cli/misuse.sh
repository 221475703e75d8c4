# Bad input gives status 2 and exactly one line on stderr that names the value.
. "$(dirname "$0")/common.sh"

refuse "swep.*devices, tutorial, check, sweep, report" "$lockstep" swep
refuse 'frobnicate' "$lockstep" sweep --frobnicate
refuse 'out' "$lockstep" sweep --out
refuse 'stray' "$lockstep" sweep stray
refuse 'virt:0' "$lockstep" sweep --devices virt:0
refuse 'virt:65' "$lockstep" sweep --devices virt:65
refuse 'virt:-1' "$lockstep" sweep --devices virt:-1
refuse 'gpu:2' "$lockstep" sweep --devices gpu:2
refuse 'host' "$lockstep" sweep --devices host
refuse '4.*virt:2' "$lockstep" sweep --devices virt:2 --counts 1,4
refuse '0' "$lockstep" sweep --devices virt:2 --counts 0
refuse '0' "$lockstep" sweep --devices virt:2 --batch 0
refuse 'batch.*"x"' "$lockstep" sweep --devices virt:2 --batch 10,x
refuse '9999999999' "$lockstep" sweep --devices virt:2 --batch 9999999999
refuse 'mpl:3,4.*mlp:SIZES' "$lockstep" sweep --workload mpl:3,4
refuse '65536' "$lockstep" sweep --workload mlp:0,4
refuse '65536' "$lockstep" sweep --workload mlp:4,65537
refuse '2 to 16' "$lockstep" sweep --workload mlp:4
refuse '2 to 16' "$lockstep" sweep --workload mlp:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
refuse 'twice' "$lockstep" sweep --workload mlp:4,04 --workload mlp:04,4
refuse 'twice' "$lockstep" sweep --workload mlp:4,5,cnn,mlp:4,5
refuse '64 is no multiple of 3 heads' "$lockstep" sweep --workload gpt:2,64,3,32,256
refuse '4 sizes, must be 5' "$lockstep" sweep --workload gpt:2,64,2,32
refuse 'layers must be 1 to 48, not 49' "$lockstep" sweep --workload gpt:49,64,2,32,256
refuse 'gpu' "$lockstep" sweep --backend gpu
refuse 'math tf32 is for GPUs' "$lockstep" sweep --devices virt:2 --math tf32
refuse 'workload lstm rounds.*f32 only, not bf16' "$lockstep" sweep --devices virt:2 --math bf16 \
    --workload cnn --workload lstm
refuse 'math.*"fp16"; known: bf16, f32, tf32' "$lockstep" sweep --math fp16
refuse 'mode.*"fsdp"; known: dp, ddp, plain' "$lockstep" sweep --mode plain,fsdp
refuse 'counts has 3.*ddp.*not exact.*like --counts 1,2' "$lockstep" sweep --devices virt:3 --mode ddp
refuse 'batch has 1,.*ddp.*each of 2' "$lockstep" sweep --devices virt:2 --mode ddp --batch 1,8
refuse 'workload mixed.*on the host.*ddp' "$lockstep" sweep --devices virt:2 --mode ddp --workload mixed
refuse 'bucket is of --mode ddp.*mode dp has none' "$lockstep" sweep --devices virt:2 --mode dp \
    --bucket 1Mi
refuse 'bucket is of --mode ddp.*plain,dp has none' "$lockstep" sweep --devices virt:2 --bucket 1Mi
refuse 'bucket: "1MB" is not a whole number.*Ki, then Mi' "$lockstep" sweep --mode ddp --bucket 1MB
refuse 'bucket: "2Gi" is outside' "$lockstep" sweep --mode ddp --bucket 1Mi,2Gi
refuse 'mode.*""' "$lockstep" sweep --mode ''
refuse 'mode.*""' "$lockstep" sweep --mode dp,
refuse 'counts has 2.*plain.*one device' "$lockstep" sweep --devices virt:2 --mode plain --counts 1,2
refuse 'scaling.*"medium"' "$lockstep" sweep --scaling medium
refuse '524289.*1048578 rows on 2 devices; at most 1048576' "$lockstep" sweep --devices virt:2 \
    --scaling weak --batch 10,524289
refuse 'launches: "0" is outside 1 to 1000' "$lockstep" sweep --launches 0
refuse 'launches: "1001" is outside 1 to 1000' "$lockstep" sweep --launches 1001
refuse 'launches 1000 of 180 cells are 180000; at most 100000' "$lockstep" sweep --devices virt:2 \
    --launches 1000 --batch 1:60:+1 --workload mlp:2,2
refuse 'socket' "$lockstep" sweep --bind socket
refuse 'sideways' "$lockstep" sweep --graphs sideways
refuse 'phases is of models, and --mode collective has none' "$lockstep" sweep --devices virt:2 \
    --collective allreduce --phases apart
refuse 'nan' "$lockstep" sweep --seconds nan
refuse '5:2\|5 is more than 2' "$lockstep" sweep --steps 5:2
refuse 'MIN:MAX' "$lockstep" sweep --steps 5
refuse "'5' is not STEPS:SECONDS" "$lockstep" sweep --warmup 5
refuse '"0" is outside 1 to 1000' "$lockstep" sweep --warmup 0:1
refuse '"1001" is outside 1 to 1000' "$lockstep" sweep --warmup 1001:1
refuse '"61" is outside 0 to 60' "$lockstep" sweep --warmup 5:61
refuse '-1' "$lockstep" sweep --seed -1
refuse 'resume.*--out' "$lockstep" sweep --resume
refuse 'no/such/folder' "$lockstep" sweep --devices virt:1 --out no/such/folder/a.jsonl
refuse '/dev/full is not a regular file' "$lockstep" sweep --devices virt:1 --out /dev/full
refuse '/dev/null is not a regular file' "$lockstep" sweep --devices virt:1 --out /dev/null
refuse '/dev/null is not a regular file' "$lockstep" sweep --devices virt:1 --resume --out /dev/null
refuse '--out is empty' "$lockstep" sweep --devices virt:1 --out ''
refuse 'missing.jsonl is not there' "$lockstep" sweep --devices virt:1 --resume --out missing.jsonl
[ ! -e missing.jsonl ] || fail "a refused resume made a file"
refuse 'timeout 2 .*seconds 2' "$lockstep" sweep --seconds 2 --timeout 2

# The error says what is wrong with a list of devices.
refuse "',virt:3' after the number" "$lockstep" sweep --devices virt:2,virt:3
refuse "'+5ms' after the devices.*+1us to +1000000us" "$lockstep" sweep --devices virt:2+5ms
refuse "'+foo' after the devices" "$lockstep" sweep --devices virt:2+foo
refuse "'-1' is not a number" "$lockstep" sweep --devices virt:-1
refuse 'is missing' "$lockstep" sweep --devices virt:
refuse 'is missing' "$lockstep" sweep --devices virt:+lag

# An option counts once; only workloads are added to each other.
for option in '--devices virt:1' '--backend cpu' '--counts 1' '--batch 10' '--out a.jsonl' \
    '--resume' '--seed 1' '--seconds 1' '--steps 1:2' '--bind none' '--timeout 99' \
    '--mode dp' '--communicator staged' '--bucket 1' '--scaling weak' '--launches 2' '--graphs on'; do
    refuse "${option%% *} is given twice" "$lockstep" sweep $option $option
done
# All commands use the same words, and an empty name is refused, too.
for command in devices 'sweep limits' 'soak --iterations 1' train check sweep; do
    for value in '' gpu; do
        refuse "^lockstep [a-z ]*: --backend: unknown backend \"$value\"; known: cpu, " "$lockstep" $command \
            --backend "$value"
    done
done
refuse '--backend is given twice' "$lockstep" devices --backend cpu --backend cpu-ref
refuse '--devices is given twice' "$lockstep" tutorial --devices host --devices virt:1
[ ! -e a.jsonl ] || fail "a refused sweep made a file"

# A grid that is too large for the header, or steps that are too many for a record, leave no file.
long=mlp:10000,10001,10002,10003,10004,10005,10006,10007,10008,10009
refuse 'grid is too long' "$lockstep" sweep --devices virt:1 --batch 100000:400000:+5000 \
    --workload $long --workload $long,1 --out grid.jsonl
[ ! -e grid.jsonl ] || fail "a refused grid left a file"
refuse 'steps 1:100000.*8 devices.*at most' "$lockstep" sweep --devices virt:8 --steps 1:100000 \
    --out grid.jsonl
[ ! -e grid.jsonl ] || fail "refused steps left a file"
# No machine has memory for these.
huge=gpt:48,8192,64,8192,50257
refuse "$huge, mode ddp, 64 devices, 64 rows: that takes .*; not even one row fits by estimate\$" \
    "$lockstep" sweep --devices virt:64 --counts 64 --mode ddp --workload $huge --batch 64 --out grid.jsonl
[ ! -e grid.jsonl ] || fail "a sweep without memory left a file"
refuse 'virt:0' "$lockstep" tutorial --devices virt:0
refuse 'gpu:1' "$lockstep" devices --devices gpu:1
refuse 'xml' "$lockstep" devices --format xml
refuse '`true`' "$lockstep" devices --devices '"`true`<script>,'
# A character that cannot be seen, or that turns the direction of the rest, is shown as its code.
refuse 'a<U+202E>b<U+200B>c<U+00AD>d' "$lockstep" devices --devices "$(printf \
    'a\342\200\256b\342\200\213c\302\255d')"

# Each of these once gave another reason, named only a part of the value, or passed.
refuse 'steps: "99999999999999999999999999" is outside 1 to 100000' "$lockstep" sweep \
    --steps 99999999999999999999999999:5
refuse 'counts: "1:2:x0" does not get larger: x2 or +1 at least' "$lockstep" sweep --counts 1:2:x0
refuse 'batch: "1:2:x1" does not get larger' "$lockstep" sweep --batch 1:2:x1
refuse 'batch: "1:2:+0" does not get larger' "$lockstep" sweep --batch 1:2:+0
for value in nan inf 0x10 ' 5' +5 '' 5s 1e 1..2; do
    refuse 'seconds: "[^"]*" is not a number of 0.001 to 3600 seconds' "$lockstep" sweep --seconds "$value"
    refuse 'timeout: "[^"]*" is not a number of 0.1 to 86400' "$lockstep" sweep --timeout "$value"
    refuse 'timeout: "[^"]*" is not a number of 0.05 to 3600' "$lockstep" check --limit "$value"
    refuse 'lr: "[^"]*" is not a number of 1e-09 to 1000' "$lockstep" train --lr "$value"
    refuse 'momentum: "[^"]*" is not a number of 0 to 0.9999' "$lockstep" train --momentum "$value"
    refuse 'require: "[^"]*" is not a number of 0 to 100' "$lockstep" train --require "$value"
done
for value in -1 9223372036854775808 18446744073709551616 1e999; do
    refuse "seconds: \"$value\" is outside 0.001 to 3600 seconds" "$lockstep" sweep --seconds $value
    refuse "timeout: \"$value\" is outside 0.1 to 86400" "$lockstep" sweep --timeout $value
    refuse "timeout: \"$value\" is outside 0.05 to 3600" "$lockstep" check --limit $value
    refuse "lr: \"$value\" is outside 1e-09 to 1000" "$lockstep" train --lr $value
    refuse "momentum: \"$value\" is outside 0 to 0.9999" "$lockstep" train --momentum $value
    refuse "require: \"$value\" is outside 0 to 100" "$lockstep" train --require $value
done
refuse "^lockstep: unexpected argument 'sweep' after --help" "$lockstep" --help sweep
refuse "^lockstep: unexpected argument 'x' after --version" "$lockstep" --version x
refuse "^lockstep: unknown command 'swep'" "$lockstep" help swep
expect_status 0 "$lockstep" help sweep
grep -q '^Usage: lockstep sweep' out || fail "$(cat out)"
for option in '--out a' '--check a' '--peer a' '--peak 1TFLOP/s'; do
    refuse "^lockstep report: ${option%% *} is given twice" "$lockstep" report a.jsonl $option $option
done
for row in "5|'5' has no unit; known are FLOP/s, with G, T or P before it" \
    "5TFLOPS|'5TFLOPS' has an unknown unit; known are FLOP/s" \
    "5TB/s|'5TB/s' has an unknown unit; known are FLOP/s" \
    "|'' is no number of 0 or more with its unit: FLOP/s" \
    "fastTFLOP/s|'fastTFLOP/s' is no number" "-5TFLOP/s|'-5TFLOP/s' is no number" \
    "nanTFLOP/s|'nanTFLOP/s' is no number" "0TFLOP/s|'0TFLOP/s' is outside 1 FLOP/s to 1000000 PFLOP/s" \
    "1e300PFLOP/s|'1e300PFLOP/s' is more than 1e+21 FLOP/s"; do
    refuse "^lockstep report: --peak: ${row#*|}" "$lockstep" report a.jsonl --out a --peak "${row%%|*}"
done
refuse 'peak stands next to cells in record files: name one' "$lockstep" report --out a --peak 5TFLOP/s
for format in csv bmf github openmetrics annotations junit nccl-tests; do
    refuse 'peak is for reports and for --format md' "$lockstep" report a.jsonl --format $format \
        --peak 5TFLOP/s
done
[ ! -e a ] || fail "a refused report made a folder"
other="unknown backend 'cuda'" # in a build without CUDA
refuse "\\(backend 'cuda' is not for the host and virtual devices\\|$other\\): cpu, cpu-ref" "$lockstep" train \
    --against host --against-backend cuda

# Names that no file can have are refused before a training or a check, not after it.
long=$(printf '%0300d' 1)
refuse '^lockstep train: cannot write 0*: File name too long' "$lockstep" train --save $long \
    --out refused.jsonl
refuse '^lockstep check: cannot write .*: File name too long' "$lockstep" check --out $long \
    --format json
[ ! -e refused.jsonl ] || fail "a refused training left a record"

# A file of this program stands in the place of another one: the error says which kind it is, not
# where its syntax breaks.
mkdir files
expect_status 0 "$lockstep" sweep --wait --devices virt:1 --workload tutorial --batch 10 --seconds 0.01 \
    --out files/run.jsonl
expect_status 0 "$lockstep" check --only SPLIT-01.sizes --format json --out files/check.json
expect_status 0 "$lockstep" train --model tutorial --data random --devices host --epochs 0 \
    --save files/t.weights --out files/train.jsonl
is_not() {
    file=$1
    words=$2
    shift 2
    refuse "files/$file holds $words" "$lockstep" "$@" files/$file
}
sweep='records of `lockstep sweep`' check='a result of `lockstep check`'
train='the record of `lockstep train`' weights='weights of `lockstep train`'
is_not check.json "$check, not $sweep; name it by --check$" report --out rep
is_not train.jsonl "$train, not $sweep$" report --out rep
is_not t.weights "$weights, not $sweep$" report --out rep
is_not run.jsonl "$sweep, not $check; name it without an option$" report --out rep --check
is_not train.jsonl "$train, not $check$" report --out rep --check
is_not t.weights "$weights, not $check$" report --out rep --check
is_not run.jsonl "$sweep, not a record of .scripts/compare-pytorch.; name it without" report --out rep \
    --peer
is_not check.json "$check, not a record of .scripts/compare-pytorch.; name it by --check$" report \
    --out rep --peer
is_not check.json "$check, not $sweep$" sweep --devices virt:1 --resume --out
is_not train.jsonl "$train, not $sweep$" sweep --devices virt:1 --resume --out
is_not t.weights "$weights, not $sweep$" sweep --devices virt:1 --resume --out
for option in --check --peer; do
    : >nothing
    refuse 'nothing: it has 0 bytes: 1 to [0-9]* MiB are allowed' "$lockstep" report --out rep $option nothing
    refuse 'files: it is not a regular file$' "$lockstep" report --out rep $option files
    refuse '/dev/zero: it is not a regular file$' "$lockstep" report --out rep $option /dev/zero
    truncate -s 1G large
    refuse 'large: it has 1073741824 bytes: 1 to [0-9]* MiB' "$lockstep" report --out rep $option large
    rm large
done
[ ! -e rep ] || fail "a refused report made a folder"

# The device list host has no devices, and the error says so in words.
for command in devices tutorial train; do
    one_line 1 '^lockstep [a-z]*: --require-devices 1: host has no devices$' "$lockstep" $command \
        --devices host --require-devices 1
done
no_devices 1 'has no devices, only the host$' --devices host --require-devices 1 --only SPLIT-01.sizes
expect_status 0 "$lockstep" check --devices host --only SPLIT-01.sizes
expect_count 1 ' on the host: 1 of' out

# Characters that a terminal would obey are neither taken nor shown: escape, newline, and U+009B.
# Nor are bytes that are not UTF-8: a byte alone, a surrogate; nor characters without a shape:
# U+202E, U+200B, U+E000.
for bad in "$(printf 'a\033[31mb')" "$(printf 'a\nb')" "$(printf 'a\302\233b')" \
    "$(printf 'a\233b')" "$(printf 'a\355\240\200b')" "$(printf 'a\342\200\256b')" \
    "$(printf 'a\342\200\213b')" "$(printf 'a\356\200\200b')"; do
    for command in swep devices tutorial sweep report; do
        refuse 'control\|unknown command' "$lockstep" $command "$bad"
        refuse 'control\|unknown command' "$lockstep" $command --devices "$bad"
        refuse 'control\|unknown command' "$lockstep" $command "--$bad"
    done
    refuse 'unknown command' "$lockstep" "$bad"
    ! LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177-\237]')" err || fail "a control byte"
    refuse 'control' "$lockstep" sweep --devices virt:1 --out "$bad.jsonl"
done

# Files that this program did not write do not change.
echo 'not a record' >foreign.jsonl
cp foreign.jsonl copy
refuse 'records already' "$lockstep" sweep --devices virt:1 --out foreign.jsonl
refuse 'foreign.jsonl' "$lockstep" sweep --devices virt:1 --resume --out foreign.jsonl
cmp copy foreign.jsonl || fail "a foreign file was changed"
[ ! -e results ] || fail "a refused sweep made a folder"

# -h is --help, and an error of the command line says where the options are explained.
for command in devices tutorial sweep report compare 'compare baseline' validate 'validate learn' 'validate check' fleet \
    forecast check soak 'soak selftest' train 'sweep limits'; do
    expect_status 0 "$lockstep" $command --help
    mv out wanted
    expect_status 0 "$lockstep" $command -h
    cmp out wanted || fail "$command -h is not --help"
    grep -q '^  -h, --help ' out || fail "$command: no -h in its --help"
    expect_status 0 "$lockstep" $command --usage
    expect_status 2 "$lockstep" $command --frobnicate
    printf '%s\n' "lockstep $command: unrecognized option '--frobnicate'" \
        "Try 'lockstep $command --help' for more information." | cmp - err || fail "$(cat err)"
done
# Commands of version 1.0 that have another name: one line says it.
while read -r old now; do
    for arguments in '' --help 'a b'; do
        refuse "^lockstep: '$old' is now $now\$" "$lockstep" $old $arguments
        [ "$(wc -l <err)" -eq 1 ] || fail "$old: more than a line"
    done
    expect_status 2 "$lockstep" help $old
done <<'NAMES'
baseline `lockstep compare baseline`
profile `lockstep validate learn` and `lockstep validate check`
selftest `lockstep soak selftest`
bench `lockstep sweep limits`, and `lockstep sweep` with --parts or --mode ddp
NAMES
refuse "^lockstep: 'bench copies' is now .*sweep limits.*--parts" "$lockstep" bench copies --devices virt:2
refuse "^lockstep: 'bench overlap' is now .*--mode ddp" "$lockstep" bench overlap
refuse "^lockstep: 'bench limits' is now .*sweep limits.\$" "$lockstep" bench limits
expect_status 0 "$lockstep" help compare baseline
expect_status 0 "$lockstep" -h
mv out wanted
expect_status 0 "$lockstep" --help
cmp out wanted || fail "-h is not --help"
expect_status 2 "$lockstep" swep
[ "$(tail -n 1 err)" = "Try 'lockstep --help' for more information." ] || fail "$(cat err)"
for options in '--resume' '--seconds 2 --timeout 2'; do
    expect_status 2 "$lockstep" sweep $options
    [ "$(tail -n 1 err)" = "Try 'lockstep sweep --help' for more information." ] || fail "$(cat err)"
done

expect_status 0 "$lockstep" --help
expect_count 1 '^  sweep  ' out
expect_status 0 "$lockstep" --version
expect_status 0 "$lockstep" sweep --help
expect_count 0 '.\{81\}' out
expect_status 0 "$lockstep" train --help
expect_count 0 ' $' out
