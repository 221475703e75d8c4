# bench: the form of its output, the consistency of the numbers in a line, misuse. Speeds are never
# compared.
. "$(dirname "$0")/common.sh"

# check_lines DEVICES BYTES ROUNDS: checks every field of out, by the definitions in its head.
check_lines()
{
    awk -F '\t' -v devices="$1" -v bytes="$2" -v rounds="$3" '
        function bad(what) { print "line " NR ": " what ": " $0; wrong = 1 }
        function positive(x) { return x ~ /^[0-9.]+$/ && x + 0 > 0 }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; fields = NF; next }
        NF != fields { bad("number of fields") }
        $at["devices"] != "virt:" devices { bad("devices") }
        $at["model_bytes"] != bytes || $at["rounds"] != rounds { bad("what was asked for") }
        { name[NR] = $at["name"]; copied = 2 * bytes * (devices - 1) }
        $at["peer_work_bytes"] != copied { bad("bytes of the peer") }
        $at["name"] == "replicate" && $at["work_bytes"] != copied { bad("bytes") }
        $at["name"] == "reduce" && $at["work_bytes"] != bytes * (devices + 1) { bad("bytes") }
        # Three rounds of warm-up are compared, too: both replicas and copies twice, and the sums.
        $at["compared"] != bytes / 4 * (rounds + 3) * (4 * devices - 1) { bad("compared") }
        !positive($at["median_ns"]) || !positive($at["peer_median_ns"]) { bad("times") }
        !($at["min_ns"] <= $at["median_ns"] + 0) { bad("fastest and median") }
        !positive($at["ratio"]) { bad("ratio") }
        !($at["ratio_lo"] + 0 <= $at["ratio"] + 0 && $at["ratio"] + 0 <= $at["ratio_hi"] + 0) {
            bad("bounds")
        }
        $at["bounds"] != (rounds < 6 ? "range" : "interval") { bad("name of the bounds") }
        rounds >= 6 && !($at["coverage"] >= 0.95 && $at["coverage"] <= 1) { bad("coverage") }
        END {
            if (NR != 3 || name[2] != "replicate" || name[3] != "reduce")
                bad("not replicate and reduce")
            exit wrong
        }' out >problems || fail "$(cat problems)"
}

for devices in 2 3; do
    expect_status 0 "$lockstep" bench copies --devices "virt:$devices" --bytes 100004 --rounds 5 \
        --format tsv
    check_lines "$devices" 100004 5
    [ ! -s err ] || fail "something on stderr: $(cat err)"
done
# There is more than one parameter, and more than a thread copies alone.
expect_status 0 "$lockstep" bench copies --devices virt:2 --bytes 9Mi --rounds 6 --format tsv
check_lines 2 9437184 6
expect_status 0 "$lockstep" bench copies --devices virt:2 --bytes 4 --rounds 1 --backend cpu-ref \
    --format tsv
check_lines 2 4 1

# For people there are 80 columns, and an interval is only called so if it is one.
expect_status 0 "$lockstep" bench copies --devices virt:2 --bytes 64Ki --rounds 6
expect_count 0 '.\{81\}' out
expect_count 1 '^replicate ' out
expect_count 1 '^reduce ' out
expect_count 1 '95 % interval$' out
expect_status 0 "$lockstep" bench copies --devices virt:2 --bytes 64Ki --rounds 5
expect_count 0 'interval' out
expect_count 1 ' range$' out
expect_status 0 "$lockstep" bench --help
expect_count 1 'Exit status' out

# overlap: the numbers of a line are consistent; with noise the hidden part can be outside of 0 to
# 1.
expect_status 0 "$lockstep" bench overlap --devices virt:2+50us --bytes 64Ki --rounds 6 \
    --format tsv
awk -F '\t' '
    function bad(what) { print what ": " $0; wrong = 1 }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; fields = NF; next }
    NF != fields || $at["name"] != "overlap" || $at["devices"] != "virt:2+50us" { bad("fields") }
    # 15 layers of 32 x 32 and a bias each, on two ranks, both ways, with four rounds of warm-up.
    !($at["rows"] >= 256 && $at["rows"] <= 16384) { bad("rows") }
    $at["bucket_bytes"] != 4 * 32 * 33 || $at["model_bytes"] != 15 * 4 * 32 * 33 { bad("bytes") }
    # Before them the step of each of two sets is compared with the reference.
    $at["compared"] != 15 * 32 * 33 * (2 * 2 * 10 + 2) { bad("compared") }
    $at["processes"] != 1 || $at["hosts"] != 1 { bad("processes") }
    !($at["compute_ns"] > 0 && $at["comm_ns"] >= 15 * 2 * 50000 && $at["whole_ns"] > 0) { bad("times") }
    $at["ratio"] !~ /^-?[0-9.]+(e[-+][0-9]+)?$/ { bad("ratio") }
    !($at["ratio_lo"] + 0 <= $at["ratio"] + 0 && $at["ratio"] + 0 <= $at["ratio_hi"] + 0) {
        bad("bounds")
    }
    $at["bounds"] != "interval" { bad("name of the bounds") }
    END { if (NR != 2) bad("not one line"); exit wrong }' out >problems || fail "overlap: $(cat problems)"
expect_status 0 "$lockstep" bench overlap --devices virt:2+20us --bytes 16Ki --rounds 5
expect_count 0 '.\{81\}' out
expect_count 1 '^hidden .* %  [-0-9.]* .. [-0-9.]*$' out
expect_count 1 ' range$' out
refuse "staged.*after backward" "$lockstep" bench overlap --devices virt:2 --bytes 16Ki \
    --backend cpu-ref
refuse '4096 are too few for 15 layers, at least 4320' "$lockstep" bench overlap --bytes 4Ki
refuse "'virt:2+lag'.*late" "$lockstep" bench overlap --devices virt:2+lag
refuse "'virt:2+9us'.*slow transfers" "$lockstep" bench copies --devices virt:2+9us

# limits: a model whose kernels are known. Parts add up: products, other kernels, transfers and the
# rest are the step, and each is the sum of its lines.
expect_status 0 "$lockstep" bench limits --devices virt:2 --workload mlp:6,7,7 --batch 10 \
    --rounds 3 --format tsv
awk -F '\t' '
    function bad(what) { print "line " NR ": " what ": " $0; wrong = 1 }
    function near(a, b) { return a - b < 2 && b - a < 2 } # of nanoseconds that were rounded
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; fields = NF; next }
    NF != fields || $at["devices"] != "virt:2" || $at["rounds"] != 3 { bad("fields") }
    { section = $at["section"]; name = $at["name"]; lines[section]++ }
    section == "ceiling" {
        for (way = 0; way < 2; way++) {
            w = way ? "once" : "alone"
            if (!($at[w "_rate"] > 0 && $at[w "_lo"] <= $at[w "_rate"] && $at[w "_rate"] <= $at[w "_hi"]))
                bad("rate and range")
        }
        fma = name == "multiply-adds" ? $at["once_rate"] : fma
        next
    }
    $at["workload"] != "mlp:6,7,7" || $at["batch"] != 10 { bad("workload") }
    # Five rows on each device: both forwards, then two gradients of weights and one of an input.
    section == "product" {
        shapes = shapes " " $at["shape"] $at["transposes"] "*" $at["count"]
        split($at["shape"], size, "x")
        work = 2 * size[1] * size[2] * size[3] * $at["count"]
        if (!near($at["once_rate"] * $at["once_ns"], work)) bad("operations by time")
        part = $at["once_rate"] / fma
        if (part - $at["once_part"] > 0.001 || $at["once_part"] - part > 0.001) bad("part of the peak")
        sum["alone", "products"] += $at["alone_ns"]; sum["once", "products"] += $at["once_ns"]
    }
    section == "kernel" {
        sum["alone", "other kernels"] += $at["alone_ns"]; sum["once", "other kernels"] += $at["once_ns"]
    }
    section == "transfer" { sum["once", "transfers"] += $at["once_ns"] }
    section == "phase" {
        bytes[name] = $at["bytes"]
        if (!($at["once_ns"] > 0)) bad("time of a phase")
        if ($at["once_rate"] != "nan" && !($at["once_part"] > 0)) bad("share of its limit")
        counted[name] = $at["once_rate"] * $at["once_ns"]
        phases += $at["once_ns"]
    }
    section == "step" { step["alone", name] = $at["alone_ns"]; step["once", name] = $at["once_ns"] }
    END {
        if (shapes != " 5x7x6nt*1 5x7x7nt*1 7x7x5tn*1 5x7x7nn*1 7x6x5tn*1") bad("products" shapes)
        if (bytes["scatter"] != 5 * 6 * 4 || bytes["replicate"] != 4 * (7 * 6 + 7 * 7 + 14)) bad("bytes")
        # Products of 5 rows: two forward, three backward; three floats a parameter; a loss has none.
        if (bytes["forward"] != 4 * (107 + 119) || !near(counted["forward"], 910)) bad("forward")
        if (bytes["backward"] != 4 * (119 + 119 + 107) || !near(counted["backward"], 490 + 490 + 420)) bad("backward")
        if (bytes["update"] != 12 * (7 * 6 + 7 * 7 + 14) || bytes["loss"] != 0) bad("update and loss")
        if (lines["ceiling"] != 3 || lines["phase"] != 8 || lines["step"] != 5) bad("lines")
        for (way = 0; way < 2; way++) {
            w = way ? "once" : "alone"
            all = 0
            for (i = split("products,other kernels,transfers,none of them", share, ","); i > 0; i--) {
                all += step[w, share[i]]
                if (i < 4 && !near(sum[w, share[i]], step[w, share[i]])) bad(w " sum of " share[i])
            }
            if (!near(all, step[w, "step"])) bad(w " sum of the step")
            if (!(step[w, "none of them"] > 0 && step[w, "products"] > 0)) bad(w " parts")
        }
        if (phases > step["once", "step"] + 2) bad("phases are longer than the step")
        exit wrong
    }' out >problems || fail "limits: $(cat problems)"
expect_status 0 "$lockstep" bench limits --devices virt:2 --workload mlp:6,7 --workload cnn --batch 4 \
    --rounds 1
expect_count 0 '.\{81\}' out
expect_count 0 ' $' out
expect_count 1 '^2x7x6 nt  *1 .* [0-9.]*$' out
expect_count 2 '^Step ' out
expect_count 2 '^  step / products ' out
expect_count 1 'values compared, all right' out
expect_status 0 "$lockstep" bench limits --devices virt:2 --workload mlp:6,7 --batch 4 --rounds 1 --format json
expect_count 1 '^{"schema": "lockstep/limits/1.0", ' out
expect_count 1 '"shape": "2x7x6 nt", "phase": "forward", "count": 1, .*"flops": 168.0, "bytes": 272.0' out
refuse "json is for limits, not for copies" "$lockstep" bench copies --format json
refuse '"mlp".*mlp:SIZES\|mlp' "$lockstep" bench limits --workload mlpx
refuse "is for limits, not for copies" "$lockstep" bench copies --workload cnn
refuse "is for limits, not for overlap" "$lockstep" bench overlap --batch 8
refuse 'batch: gpt2, mode dp, 2 devices, 1000000 rows: .* fits by estimate$' \
    "$lockstep" bench limits --devices virt:2 --workload gpt2 --batch 1000000
refuse "bytes is not for limits" "$lockstep" bench limits --bytes 64Ki
refuse "'host' has no devices" "$lockstep" bench limits --devices host
refuse "'virt:2+lag'.*late" "$lockstep" bench limits --devices virt:2+lag
refuse "'virt:2+9us'.*slow transfers" "$lockstep" bench limits --devices virt:2+9us

refuse 'which benchmark' "$lockstep" bench
refuse '"copy".*copies' "$lockstep" bench copy
refuse "'again'" "$lockstep" bench copies again
refuse "'virt:1'.*2 devices" "$lockstep" bench copies --devices virt:1
refuse "'host'.*2 devices" "$lockstep" bench copies --devices host
refuse "'virt:2+lag'.*late" "$lockstep" bench copies --devices virt:2+lag
refuse '"-1"' "$lockstep" bench copies --devices virt:2 --bytes=-1
refuse '10 is not a multiple of 4' "$lockstep" bench copies --devices virt:2 --bytes 10
refuse '"0"' "$lockstep" bench copies --devices virt:2 --rounds 0
refuse 'twice' "$lockstep" bench copies --rounds 2 --rounds 3
refuse '"xml".*text' "$lockstep" bench copies --format xml
refuse 'gpu.*cpu' "$lockstep" bench copies --devices virt:2 --backend gpu

# scripts/bench runs a program that gives known numbers: met, open, missed, no number.
bench=$(cd "$OLDPWD" && cd "$(dirname "$0")/../../.." && pwd)/scripts/bench
cat >fake <<'FAKE'
#!/bin/sh
[ "$1" = bench ] && printf 'name\tratio\nreplicate\t%s\nreduce\t%s\noverlap\t%s\n' \
    "$REPLICATE" "$REDUCE" "$OVERLAP"
counts=1,2 modes=plain,dp
while [ $# -gt 1 ] && [ "$1" != --out ]; do
    [ "$1" != --counts ] || counts=$2
    [ "$1" != --mode ] || modes=$2
    shift
done
# A sweep has a cell for every count, and the model alone if its mode is asked for.
case $modes in *plain*) counts=1,$counts ;; esac
[ $# -lt 2 ] || for n in $(echo "$counts" | tr , ' '); do
    eval "step=\$STEP$n outside=\$OUTSIDE$n"
    printf '{"schema":"lockstep/cell/1.1","cell":{"n_devices":%s,"x":0},"status":"ok",' "$n"
    printf '"median_ns":%s,"outside_frac":%s,"phase_median_ns":{}}\n' "$step" "$outside"
done >"$2"
echo "  outside   $LAUNCH of a launch: process 1 ms" >&2
FAKE
chmod +x fake
export REPLICATE=0.71 REDUCE=0.69 OVERLAP=0.79 STEP1=180 STEP2=100 OUTSIDE1=0.05 OUTSIDE2=0.101 LAUNCH='0.31 s'
expect_status 1 "$bench" --program "$PWD/fake" --launches 6 copies outside scaling overlap launch
expect_count 1 'replicate.* 71 % (71 .. 71) at least 70 %: met$' out
expect_count 1 'reduce.* 69 % .*: missed$' out
expect_count 1 'hidden.* 79 % .*at least 80 %: missed$' out
expect_count 1 'medians of 6 launches (95 % interval)' out
expect_count 1 '1 device .* 5 % .*at most 5 %: met$' out
expect_count 1 '2 devices .* 10.1 % .*at most 10 %: missed$' out
expect_count 1 'two devices.* 1.8x .*: met$' out
expect_count 1 'a launch .* 310 ms .*at most 300 ms: missed$' out
expect_count 0 '.\{81\}' out
export REDUCE=0.7 OVERLAP=0.8 OUTSIDE2=0.1 LAUNCH='68 ms'
expect_status 0 "$bench" --program "$PWD/fake" --launches 6 copies outside scaling copies overlap launch
expect_count 9 ': met$' out
# A range meets nothing; a missed limit is reported before an open one.
expect_status 3 "$bench" --program "$PWD/fake" --launches 5 copies outside scaling copies overlap
expect_count 8 ': open$' out
expect_count 1 'medians of 5 launches (range)' out
export REPLICATE=nan OUTSIDE1=null STEP2=0
expect_status 1 "$bench" --program "$PWD/fake" --launches 2 copies outside scaling
expect_count 3 ' 0 of 2 numbers: missed$' out
expect_status 1 "$bench" --program /bin/false --launches 1 outside
expect_count 2 ' 0 of 1 numbers: missed$' out
expect_status 2 "$bench"
expect_status 2 "$bench" speed
expect_status 2 "$bench" --launches 0 copies
expect_status 2 "$bench" --program "$PWD/none" copies
