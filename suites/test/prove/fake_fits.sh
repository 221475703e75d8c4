# A lockstep, and a lockstep-slowed, whose sweeps take no time: what a report says of them follows
# from their options and the file settings in $FOLDER, a line NAME=VALUE. All else is done by $real.
#   alpha, beta, hidden, shard, forecast=F   so many times what is true (1), or none
#   status=N                       the exit status of sweeps
# shellcheck shell=sh disable=SC2154
set -eu
setting() {
    sed -n "s/^$1=//p" "$FOLDER/settings" 2>/dev/null || true
}

# option NAME: prints the option of the sweep in $line.
option() {
    echo "$line" | sed -n "s/.* --$1 \([^ ]*\) .*/\1/p"
}

# factored NAME EXPRESSION
factored() {
    factor=$(setting "$1")
    [ "$factor" = none ] || awk "BEGIN { print ${factor:-1} * ($2) }"
}

fake_sweep() {
    line=" $* "
    echo "$line products ${PROVE_PRODUCTS:-0} " >"$(option out)"
    status=$(setting status)
    exit "${status:-0}"
}

# fake_line COLLECTIVE DEVICES TRANSFERS SHARE: a transfer takes 20 ms, and there are 2 MB/s.
fake_line() {
    echo "\"$1\",\"collective\",\"virt:$2\",$2,\"$(option communicator)\",1,$(factored alpha "0.02 * $3"),,,$(factored beta "2e6 / ($4)"),,"
}

fake_csv() {
    echo "workload,mode,devices,n_devices,communicator,launches,alpha_seconds,alpha_lower,alpha_upper,inverse_beta_bytes_per_second,inverse_beta_lower,inverse_beta_upper"
    case $(option devices),$(option communicator) in
    virt:4+20000us+2MB/s,threads)
        fake_line allreduce 2 2 1
        fake_line allreduce 4 4 1
        fake_line broadcast 2 1 1/2
        fake_line broadcast 4 3 3/4
        ;;
    virt:4+20000us+2MB/s,staged)
        fake_line allreduce 2 5 5
        fake_line broadcast 2 2 2
        ;;
    esac
}

# The time of the products of this sweep is in its line, so a sweep that plants nothing shows
# nothing.
fake_page() {
    mkdir -p page
    : >page/overlap.tsv
    : >page/waterfall.tsv
    case $(option devices),$line in
    virt:2+12000us,*' products 57.220459 '*) echo "1 .3 .1 .1 .1 $(factored hidden 3/4)" >page/overlap.tsv ;;
    virt:2+20000us,*' products 19.0734863 '*) echo "1 .3 .1 .1 .1 $(factored hidden 5/16)" >page/overlap.tsv ;;
    virt:2,*' products 4882.8125 '*) terms='1/4 1/4' ;;
    virt:4,*' products 4882.8125 '*) terms='1/6' ;;
    esac
    for term in ${terms-}; do
        part=$(factored shard "$term")
        [ -z "$part" ] || awk "BEGIN { print 1, 1, 0, .5, .5, .5, 0, 1; print 2, 3, .5, .5 + $part, .5, .5, 0, 1 }" >>page/waterfall.tsv
    done
}

# For 4 ranks: the products of a rank, 4 transfers of 10 ms, and its bytes at 4 MB/s.
fake_forecast() {
    echo "workload,scaling,ranks,forecast_seconds"
    case $(option devices),$(option counts),$line in
    virt:4+10000us+4MB/s,1,2,*' products 9.53674316 '*) ;;
    *) return ;;
    esac
    for width in 128 192; do
        rows=$([ "$(option scaling)" = weak ] && echo 1 || echo 1/4)
        seconds=$(factored forecast ".01 * $rows * ($width / 128) ^ 2 + .04 + $width * ($width + 1) / 1e6")
        printf '"mlp:%s,%s","weak",%s\r\n' $width $width 2,1 $width $width "4,$seconds"
    done
}

case $1 in
sweep) fake_sweep "$@" ;;
forecast)
    line=$(cat "$2")
    fake_forecast
    ;;
report)
    line=$(cat "$2")
    if [ "$3" = --format ]; then fake_csv; else fake_page; fi
    ;;
*) exec "$real" "$@" ;;
esac
