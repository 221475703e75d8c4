# A lockstep whose comparisons take no time: their records follow the file settings in $FOLDER, a line
# NAME=VALUE. All else is done by $real.
#   slow=R      what a slowed step comes out as (1.05)      cost=R     what a tail costs (1.04)
#   alike=V     the verdict of what is slowed               alarm=V    the verdict of a cell that is not
#   apart=X     how far equal programs are apart (0)        status=N   the exit status
# shellcheck shell=sh disable=SC2154
case "$1 $2" in
'compare --ab') ;;
*) exec "$real" "$@" ;;
esac
new=$4
case $* in *' --counts '*) modes='plain dp ddp' ;; *) modes=plain ;; esac
while [ "$1" != --out ]; do shift; done
status=$(sed -n 's/^status=//p' "$FOLDER/settings" 2>/dev/null || true)
if [ -n "$status" ]; then
    : >"$2"
    echo "lockstep compare: planted" >&2
    exit "$status"
fi
{
    sed 's/^/setting /' "$FOLDER/settings" 2>/dev/null || true
    [ "${new#./}" = "$new" ] || cat "$new"
} | awk -v modes="$modes" '
function launch(ns, cost) {
    return sprintf("{\"status\":\"ok\",\"reason\":\"\",\"steps\":88,\"floor_ns\":%.3f,\"cost_ns\":%.3f}", ns, cost)
}
function verdict(cell, word, ratio, cost) {
    printf "{\"type\":\"verdict\",\"cell\":%s,\"verdict\":\"%s\",\"reason\":\"\",\"ratio\":%.6f,\"lo\":0.9,\"hi\":1.1,\"level\":0.99,\"cost\":%.6f,\"detectable\":1.02,\"cost_verdict\":\"%s\",\"chain\":\"x\"}\n", cell, word, ratio, cost, \
        (cost >= 1.02 ? "REGRESSED" : "EQUIVALENT")
}
BEGIN { value["slow"] = 1.05; value["cost"] = 1.04; value["apart"] = 0; slowed = "REGRESSED" }
$1 == "setting" { split($2, part, "="); value[part[1]] = part[2]; next }
/PROVE_SLOW/ { slow = 1 }
/PROVE_TAIL/ { tail = 1 }
/^case/ { match($0, /\* .*\*/); word = $0; sub(/.*\*\047 /, "", word); sub(/ \047\*.*/, "", word); wants[++n] = word }
END {
    if ("alike" in value)
        slowed = value["alike"]
    cells = 0
    split("mlp:64,64,64 mlp:128,128,128", model, " ")
    modes_n = split(modes, mode, " ")
    printf "{\"type\":\"begin\",\"cells\":["
    for (m = 1; m <= 2; ++m)
        for (k = 1; k <= modes_n; ++k)
            for (rows = 32; rows <= 128; rows += 96) {
                is = slow
                text = "--workload " model[m] " --mode " mode[k] " --rows " rows
                for (i = 1; i <= n; ++i)
                    is = is && index(text " ", wants[i] " ") > 0
                printf "%s{\"cell\":%d,\"old\":\"%s %s virt:%d, %d rows\"}", cells ? "," : "", cells, model[m], mode[k],
                    mode[k] == "plain" ? 1 : 2, rows
                planted[cells++] = is
            }
    print "]}"
    for (pair = 0; pair < 12; ++pair)
        for (c = 0; c < cells; ++c) {
            ratio = (planted[c] ? value["slow"] : 1 + value["apart"]) * (1 + (pair % 2 ? 1 : -1) * (0.001 + pair / 1e5))
            printf "{\"type\":\"pair\",\"cell\":%d,\"pair\":%d,\"first\":\"old\",\"old\":%s,\"new\":%s,\"chain\":\"x\"}\n", c, pair,
                launch(1e5, 1e5), launch(1e5 * ratio, 1e5 * ratio * (tail ? value["cost"] : 1))
        }
    for (c = 0; c < cells; ++c)
        verdict(c, planted[c] ? slowed : c == 3 && ("alarm" in value) && !tail && (n || !slow) ? value["alarm"] : "EQUIVALENT",
                planted[c] ? value["slow"] : 1, tail ? value["cost"] : 1)
    verdict("null", n ? "EQUIVALENT" : slow || (tail && "alike" in value) ? slowed : "EQUIVALENT", slow && !n ? value["slow"] : 1, tail ? value["cost"] : 1)
}' >"$2"
printf '  NEW/OLD 1.000; cost 1.040\n%.0s' 0 1 2 3
