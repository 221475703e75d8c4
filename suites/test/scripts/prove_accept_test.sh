#!/usr/bin/env bash
# scripts/prove-accept on a machine whose times never change: sweeps and runs of its `lockstep` take
# records that are made, so nothing here depends on what else this machine does. The real lockstep
# learns from them and judges them. BAD names a `lockstep` with other answers, which must not be as
# they should.
# usage: prove_accept_test.sh verdicts|misuse SCRIPT FOLDER LOCKSTEP MAKE_RECORDS
set -euo pipefail
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

case=$1 script=$2 folder=$3 make_records=$5
export REAL=$4
enter "$folder"

# expect STATUS ARGUMENT...: runs the script; its output goes to the files out and err.
expect() {
    local status=0
    "$script" --program ./lockstep "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "status $status, not $1: BAD=${BAD-} ${*:2}"
}

# machine: records of two devices as they are, with a slow one, and without the parts of the
# machine; of one class.
machine() {
    local kind class
    class=$(printf '7%063d' 0)
    for kind in machine machine-slowed old; do
        "$make_records" "$kind" "$kind.jsonl"
        sed -i "1s/\"machine_class\":\"\"/\"machine_class\":\"$class\"/" "$kind.jsonl"
    done
    cat >lockstep <<'SH' && chmod +x lockstep
#!/bin/bash
set -eu
command=$1 arguments=("$@") out='' devices='' minutes='' kind=old
shift
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$2 ;;
    --devices) devices=$2 ;;
    --minutes) minutes=$2 ;;
    --parts) kind=machine ;;
    esac
    shift
done

# measure: the records that a sweep of these devices writes: each has a different id and start.
measure() {
    [ "${BAD-}" != no-sweep ] || exit 1
    [ ! -e "$out" ] || exit 2
    id=$(echo "$out" | cksum | cut -d ' ' -f 1)
    sed "s/feedface000000[0-9]*/$(printf %016x "$id")/; s/\"start_epoch_ns\":\"1795248/\"start_epoch_ns\":\"1$(printf %010d "$id")/; s/\(\"start_epoch_ns\":\"[0-9]\{15\}\)[0-9]*/\1/" "$kind.jsonl" >"$out"
    [ "$devices" != virt:1 ] || sed -i '/"n_devices":2,/d; /lockstep\/end/d' "$out"
}

# validate: the verdict about this machine, measured now. Its class is not that of the machine
# below.
validate() {
    [ "$devices" != virt:1 ] || { echo 'lockstep validate: --counts has 2, but --devices virt:1 has only 1' && exit 2; }
    kind=machine
    [ "$devices" != virt:2+fault:slow@1/1/5 ] || kind=machine-slowed
    [ "${BAD-}" != half ] || kind=old
    measure
    "$REAL" validate --profile "${arguments[2]}" "$out"
}

case $command-${BAD-} in
validate-learn) [ "${arguments[1]}" != learn ] || exit 2 ;;
validate-check) [ "${arguments[1]}" != check ] || exit 1 ;;
esac
case ${arguments[1]-} in learn | check) [ "$command" != validate ] || exec "$REAL" "${arguments[@]}" ;; esac
case $command-${BAD-} in
sweep-*) measure ;;
validate-accepts) echo 'ACCEPTED by profile x: of its binding limits 9 PASS, 0 FAIL, 0 OPEN, 0 UNMEASURED, 0 INVALID' ;;
validate-rejects) echo 'FAIL product_spread of x, device 1: at most 1 x' && exit 1 ;;
validate-open) [ -n "$minutes" ] || exec "$REAL" "${arguments[@]}"
    [ "$devices" = virt:2 ] || validate
    echo 'NOT SHOWN by profile x: of its binding limits 3 PASS, 0 FAIL, 2 OPEN, 0 UNMEASURED, 0 INVALID' && exit 3 ;;
validate-other-device) status=0
    BAD='' "$0" "${arguments[@]}" >all || status=$?
    sed 's/device 1/device 0/' all && exit "$status" ;;
validate-other-status) BAD='' "$0" "${arguments[@]}" || exit 4; exit 4 ;;
validate-silent) BAD='' "$0" "${arguments[@]}" >/dev/null ;;
validate-dead) kill -9 $$ ;;
*) if [ -n "$minutes" ]; then validate; else exec "$REAL" "${arguments[@]}"; fi ;;
esac
SH
}

# wrong STATUS [NAME...]: the verdicts of which the script says that they are not as they should be.
wrong() {
    local status=$1
    shift
    rm -rf run
    expect "$status" --profile proof/profile.yaml --runs 2 --out run
    [ "$(sed -n 's/: .*, WRONG, .*//p' out | paste -sd ,)" = "$(IFS=, && echo "$*")" ] || fail "BAD=$BAD: not $*"
    grep -qx "$# verdicts were not as they should be" out || fail "BAD=$BAD: another number"
    grep -c ', load [0-9.]*: ' out >lines || true
    [ "$(cat lines)" -eq 7 ] || fail "BAD=$BAD: $(cat lines) verdicts"
}

test_verdicts() {
    local each=('healthy 1' 'slow 1' 'healthy 2' 'slow 2' metric device 'one-device 1')
    machine
    expect 0 --sittings 6 --runs 1 --out proof
    [ "$(grep -c '^sitting [1-6] of 6, load ' out)" -eq 6 ] || fail 'not six sittings'
    grep -q '^  - metric: product_spread' out || fail 'no limit of the spread'
    [ "$(grep -c '^  - metric: \(product_spread\|matrix_product\)$' proof/profile.yaml)" = \
        "$(grep -c '^  - metric: ' proof/profile.yaml)" ] || fail 'a limit of another metric'
    grep -q '^healthy 1: ACCEPTED, as-it-should, load [0-9.]*: ' out || fail 'the machine as it is'
    grep -q '^slow 1: REJECTED, as-it-should, load [0-9.]*: is 1.0[45]' out || fail 'a slow device'
    for name in metric device; do
        grep -q "^$name: NOT SHOWN, as-it-should, load " out || fail "a $name that is missing"
    done
    grep -q '^one-device 1: misuse, as-it-should, load ' out || fail 'one device'
    [ "$(tail -n 1 out)" = '0 verdicts were not as they should be' ] || fail 'no sum'
    for file in sitting6 healthy1 slow1 metric device; do [ -s "proof/$file.jsonl" ] || fail "no records of $file"; done

    BAD='' wrong 0
    BAD=open wrong 0
    BAD=accepts wrong 1 'slow 1' 'slow 2' metric device 'one-device 1'
    BAD=rejects wrong 1 'healthy 1' 'healthy 2' metric device 'one-device 1'
    BAD=half wrong 1 'healthy 1' 'slow 1' 'healthy 2' 'slow 2'
    BAD=other-device wrong 1 'slow 1' 'slow 2'
    for bad in other-status silent dead; do BAD=$bad wrong 1 "${each[@]}"; done
}

# refused WORDS ARGUMENT...: status 2, one line (sessions of one day are noted, too).
refused() {
    expect 2 "${@:2}"
    [ "$(grep -vc 'NOTE:\|^  \|learn: [0-9]* limits' err)" -eq 1 ] || fail "not one line: ${*:2}"
    grep -q "^prove-accept: .*$1" err || fail "no '$1'"
}

test_misuse() {
    machine
    expect 0 --help
    grep -q '^usage: scripts/prove-accept' out || fail 'no help'
    refused "unknown argument '--fast'" --fast
    refused '--runs needs a value' --runs
    for number in 0 -1 x 1000 1.5; do refused "'$number' is no number" --runs $number --out new; done
    refused "'5', at least 6 make a profile" --sittings 5 --out new
    refused "'none' is no program" --program none --out new
    refused "'none' cannot be read" --profile none --out new
    refused "'$folder' is there already" --out "$folder"
    [ ! -e new ] || fail 'a folder was made'
    # A machine that is not measured or not learned has no verdict.
    BAD=no-sweep refused 'sitting 1 was not measured' --out swept
    BAD=learn refused 'no profile was learned' --sittings 6 --out learned
    BAD=check refused 'a limit cannot fail' --sittings 6 --out checked
}

case $case in
verdicts | misuse) "test_$case" ;;
*) fail "no test '$case'" ;;
esac
