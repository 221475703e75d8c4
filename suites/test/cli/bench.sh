# `lockstep sweep limits`: the numbers of its lines belong together, and misuse. Then scripts/bench. Speeds
# are never compared.
. "$(dirname "$0")/common.sh"

# A model whose kernels are known. Parts add up: products, other kernels, transfers and the
# rest are the step, and each is the sum of its lines.
expect_status 0 "$lockstep" sweep limits --devices virt:2 --workload mlp:6,7,7 --batch 10 \
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
expect_status 0 "$lockstep" sweep limits --devices virt:2 --workload mlp:6,7 --workload cnn --batch 4 \
    --rounds 1
expect_count 0 '.\{81\}' out
expect_count 0 ' $' out
expect_count 1 '^2x7x6 nt  *1 .* [0-9.]*$' out
expect_count 2 '^Step ' out
expect_count 2 '^  step / products ' out
expect_count 1 'values compared, all right' out
expect_status 0 "$lockstep" sweep limits --devices virt:2 --workload mlp:6,7 --batch 4 --rounds 1 --format json
expect_count 1 '^{"schema": "lockstep/limits/1.0", ' out
expect_count 1 '"shape": "2x7x6 nt", "phase": "forward", "count": 1, .*"flops": 168.0, "bytes": 272.0' out
refuse '"mlp".*mlp:SIZES\|mlp' "$lockstep" sweep limits --workload mlpx
refuse 'batch: gpt2, mode dp, 2 devices, 1000000 rows: .* fits by estimate$' \
    "$lockstep" sweep limits --devices virt:2 --workload gpt2 --batch 1000000
for list in cuda:all cuda:0; do # whether there are GPUs or not
    refuse "'$list': limits are those of CPUs; allowed is virt:N\$" "$lockstep" sweep limits --devices $list
done
expect_status 0 "$lockstep" sweep limits --help
expect_count 1 'Exit status' out
expect_count 0 'cuda\|GPU\|peer\|nccl\|77' out
refuse "'host' has no devices" "$lockstep" sweep limits --devices host
refuse "'virt:2+lag'.*late" "$lockstep" sweep limits --devices virt:2+lag
refuse "'virt:2+9us'.*slow transfers" "$lockstep" sweep limits --devices virt:2+9us
refuse "'again'" "$lockstep" sweep limits again
refuse '"0"' "$lockstep" sweep limits --devices virt:2 --rounds 0
refuse 'twice' "$lockstep" sweep limits --rounds 2 --rounds 3
refuse '"xml".*text' "$lockstep" sweep limits --format xml
refuse 'gpu.*cpu' "$lockstep" sweep limits --devices virt:2 --backend gpu

# scripts/bench runs a program that gives known numbers: met, open, missed, no number.
bench=$(cd "$OLDPWD" && cd "$(dirname "$0")/../../.." && pwd)/scripts/bench
cat >fake <<'FAKE'
#!/bin/sh
[ "$1 $2" != 'sweep limits' ] || printf 'section\tname\tonce_part\nphase\treplicate\t%s\nphase\treduce\t%s\n' \
    "$REPLICATE" "$REDUCE"
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
    printf '"median_ns":%s,"hidden_frac":%s,"outside_frac":%s,"phase_median_ns":{}}\n' "$step" "$OVERLAP" "$outside"
done >"$2"
echo "  outside   $LAUNCH of a launch: process 1 ms" >&2
FAKE
chmod +x fake
export REPLICATE=0.71 REDUCE=0.46 OVERLAP=0.79 STEP1=180 STEP2=100 OUTSIDE1=0.05 OUTSIDE2=0.101 LAUNCH='0.31 s'
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
export REDUCE=0.467 OVERLAP=0.8 OUTSIDE2=0.1 LAUNCH='68 ms'
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
