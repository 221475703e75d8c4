# A lockstep for scripts/prove-accept: its verdicts are made up, as $FOLDER/settings says
# (healthy=STATUS, slow=STATUS, device=NUMBER that a verdict names, learned=WORDS of the profile).
# shellcheck shell=sh disable=SC2154,SC1091
healthy=0 slow=1 device=1 learned='  - metric: product_spread'
. "$FOLDER/settings"
case $* in
'validate learn '*)
    [ -n "$learned" ] || exit 1
    echo "$learned" && exit 0
    ;;
'validate check '*) exit 0 ;;
sweep*)
    while [ "$1" != --out ]; do shift; done
    echo "$*" >"$2"
    exit 0
    ;;
*' --devices virt:1 '*) echo "lockstep: --devices virt:1 has only 1" && exit 2 ;;
*fault:slow*)
    [ "$slow" -eq 1 ] && echo "FAIL product_spread of mlp, device $device: at most 1.02"
    exit "$slow"
    ;;
*' --minutes '*)
    [ "$healthy" -eq 0 ] && echo 'ACCEPTED by this-machine'
    echo 'limits: 0 FAIL, 1 OPEN, 0 UNMEASURED, 0 INVALID'
    exit "$healthy"
    ;;
*) echo 'UNMEASURED product_spread' && exit 3 ;;
esac
