# The reader of standard output has gone: there is no message, the status is that of SIGPIPE, and
# all files are complete.
. "$(dirname "$0")/common.sh"

# unread COMMAND...: runs it with such an output.
unread() {
    rm -f gone status
    {
        while [ ! -e gone ]; do
            sleep 0.01
        done
        code=0
        "$@" 2>err || code=$?
        echo $code >status
    } | {
        exec <&-
        : >gone
    }
    [ "$(cat status)" -eq 141 ] || fail "status $(cat status), wanted 141: $*"
    ! grep -qi 'pipe\|standard output' err || fail "$(cat err)"
}

# quiet COMMAND...: runs it, and it prints nothing at all.
quiet() {
    unread "$@"
    [ ! -s err ] || fail "$*"
}

quiet "$lockstep" --help
quiet "$lockstep" --version
quiet "$lockstep" --dump-options
quiet "$lockstep" sweep --help
quiet "$lockstep" check --dump-options
quiet "$lockstep" check --rules
quiet "$lockstep" check --list
quiet "$lockstep" devices
quiet "$lockstep" devices --format json
quiet "$lockstep" tutorial --devices virt:2
quiet "$lockstep" sweep limits --devices virt:2 --workload mlp:6,7 --batch 4 --rounds 1

# Files are written all the same.
unread "$lockstep" sweep --wait --devices virt:2 --workload tutorial --batch 10,30 --seconds 0.01 --out s.jsonl
expect_count 1 '"ok":6,"not_ok":0,"interrupted":false[,}]' s.jsonl
unread "$lockstep" check --only SPLIT-01.sizes --format json --out c.json
grep -q '"verdict"' c.json || fail "no result in c.json"
unread "$lockstep" train --model tutorial --data random --devices virt:2 --epochs 1 --save t.weights \
    --out t.jsonl
expect_count 1 '"schema":"lockstep/train-end/1.0".*"exit_status":0' t.jsonl
expect_status 0 "$lockstep" train --model tutorial --data random --load t.weights --epochs 0
sed 's/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//; s/"run_id":"..../"run_id":"feed/; s/"start_epoch_ns":"1/"start_epoch_ns":"2/' \
    s.jsonl >again.jsonl
quiet "$lockstep" compare s.jsonl again.jsonl
quiet "$lockstep" report --out conformance --check c.json
[ -s conformance/conformance.html ] || fail "no page"
# The same holds if standard error has no reader.
"$lockstep" sweep --wait --devices virt:2 --workload tutorial --batch 10 --seconds 0.01 --out e.jsonl \
    2>&1 >out | :
expect_count 1 '"interrupted":false[,}]' e.jsonl

# An output that is full is an error, with its reason.
if [ -w /dev/full ]; then
    for arguments in --help 'check --rules' 'sweep --help'; do
        status=0
        "$lockstep" $arguments >/dev/full 2>err || status=$?
        [ $status -eq 2 ] && [ "$(cat err)" = 'lockstep: standard output: No space left on device' ] ||
            fail "$arguments: status $status"
    done
fi
