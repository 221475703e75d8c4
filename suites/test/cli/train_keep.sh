# `lockstep train` cannot write, or is interrupted: trained weights are kept, and the output says
# so.
. "$(dirname "$0")/common.sh"

# small_files KIB: a file system that is full, for one command: files of more than KIB KiB cannot be
# written.
small_files() {
    (
        trap '' XFSZ
        ulimit -f $((2 * $1))
        shift
        exec "$@"
    )
}

# The record is cut short, the training is not. The line of an epoch has about 240 bytes.
expect_status 2 small_files 2 "$lockstep" train --model tutorial --data random --devices virt:2 \
    --epochs 20 --out full.jsonl --save kept.weights
expect_count 1 '^lockstep train: full.jsonl: cannot append .*: File too large' err
expect_count 20 '^epoch ' err
expect_count 1 '^seed 1: test accuracy .* after 20 epochs$' out
expect_count 0 'train-end' full.jsonl
expect_status 0 "$lockstep" train --model tutorial --data random --load kept.weights --epochs 0

# The weights (38 KB) do not fit, the record does.
expect_status 2 small_files 20 "$lockstep" train --devices virt:2 --epochs 1 --save lost.weights \
    --out whole.jsonl
expect_count 1 '^lockstep train: cannot write lost.weights: File too large$' err
expect_count 1 '^seed 1: test accuracy .* after 1 epoch$' out
expect_count 1 '"schema":"lockstep/train-end/1.0".*"exit_status":2' whole.jsonl
[ -z "$(ls ./*.weights.* 2>/dev/null)" ] || fail "a temporary file is left"

# A figure that is cut off is removed. gnuplot itself does not notice.
if command -v gnuplot >/dev/null 2>&1; then
    status=0
    small_files 48 "$lockstep" train --devices virt:2 --epochs 2 --figure cut >out 2>err || status=$?
    [ $status -eq 1 ] && grep -q "no figure: gnuplot made no usable 'train.png'" err ||
        fail "status $status"
    [ ! -e cut/train.png ] || fail "a picture that is cut off is left"
fi

# A signal ends it after a step, or after a batch of a test, and the weights are there.
"$lockstep" train --model tutorial --data random --devices virt:2 --epochs 1000000 \
    --out stopped.jsonl --save stopped.weights >out 2>err &
pid=$!
wait_for_lines 3 '"schema":"lockstep/train-epoch/1.0"' stopped.jsonl $pid
kill -TERM $pid
expect_end 130 $pid
where='\(after step [1-3] of\|in the test after\) epoch [0-9]* of 1000000'
line="^lockstep train: interrupted $where, whose weights are in stopped.weights\$"
expect_count 1 "$line" err
[ ! -s out ] || fail "an interrupted training has a result"
expect_count 0 'train-end' stopped.jsonl
expect_status 0 "$lockstep" train --model tutorial --data random --load stopped.weights --epochs 0

# A signal ends a test, too, after one of its batches; with this text it takes many seconds.
head -c 16000000 /dev/zero >zeros
"$lockstep" train --model gpt-tiny --data text:zeros --devices virt:2 --batch 2 --epochs 0 \
    --out tested.jsonl --save tested.weights >out 2>err &
pid=$!
wait_for_lines 1 . tested.jsonl $pid
sleep 0.2 # once it is open
kill -TERM $pid
expect_end 130 $pid
line='^lockstep train: interrupted in the test after epoch 0 of 0, whose weights are in tested.weights$'
expect_count 1 "$line" err
expect_count 1 '' err
[ ! -s out ] || fail "half a test has a result"
expect_count 1 '"schema":"lockstep/train/' tested.jsonl
expect_count 1 '' tested.jsonl
[ -s tested.weights ] || fail "no weights of an interrupted test"

# Temporary files have names that cannot be guessed: a link that was put there for the number of the
# process changes nothing.
echo mine >victim
sh -c 'ln -s victim new.weights.$$.tmp && exec "$@"' sh "$lockstep" train --model tutorial \
    --data random --devices virt:1 --epochs 0 --save new.weights >out 2>err || fail "$(cat err)"
sh -c 'ln -s victim check.json.$$ && exec "$@"' sh "$lockstep" check --only SPLIT-01.sizes \
    --format json --out check.json >out 2>err || fail "$(cat err)"
[ "$(cat victim)" = mine ] || fail "a link was followed"
# The files have the permissions that the user's mask leaves.
for mask in 022 077 002; do
    rm -f new.weights check.json
    (umask $mask && "$lockstep" train --model tutorial --data random --devices virt:1 --epochs 0 \
        --save new.weights >out 2>err) || fail "$(cat err)"
    (umask $mask && : >wanted)
    [ "$(stat -c %a new.weights)" = "$(stat -c %a wanted)" ] || fail "mask $mask: $(ls -l)"
    rm wanted
done
# A name may have all of the 255 bytes that the file system allows.
long=$(printf '%0255d' 1)
"$lockstep" train --model tutorial --data random --devices virt:1 --epochs 0 --save $long >out 2>err ||
    fail "$(cat err)"
[ -s $long ] || fail "no weights in $long"
[ -z "$(ls | grep '[.]tmp$' | grep -v '^new.weights.[0-9]*.tmp$')" ] || fail "a temporary file is left"
