# The experiment of scripts/prove about times that were planted, and what a report says of them; it
# reads this file.
#
# All that is planted is slept: devices whose transfers take longer are the product's own, and a
# matrix product of lockstep-slowed takes longer by its rows. So the truth follows from how many
# operations there are, and hardly any of the time is the machine's own.
# shellcheck shell=bash disable=SC2154

# Each transfer takes this long, in ms, and each byte this long, in MB/s.
fits_delay=20 fits_rate=2
fits_devices="virt:4+${fits_delay}000us+${fits_rate}MB/s"

# A line each: collective, communicator, devices; how many transfers follow each other, and how often
# each byte is written in them.
# - threads: a slice is added, the other ones fetched; a broadcast is shared by all, and the first
#   device has a part of each of the others';
# - staged: all that is added goes to the host, and comes from there; then to all others by the host.
fits_truth() {
    cat <<'LIST'
allreduce threads 2 2 1
allreduce threads 4 4 1
broadcast threads 2 1 0.5
broadcast threads 4 3 0.75
allreduce staged 2 5 5
broadcast staged 2 2 2
LIST
}

# fits_sweep FILE PROGRAM OPTION..: writes records of $n launches; a sweep that ends badly is a
# FAIL.
fits_sweep() {
    local file=$1 program=$2 status=0
    shift 2
    "$program" sweep --bind none --launches "$n" --warmup 1:0 --seconds 0.001 --steps 3:3 "$@" --out "$file" \
        >out 2>err </dev/null || status=$?
    echo "prove: $name: $file after $((SECONDS - began)) s" >&2
    [ "$status" -gt 128 ] && exit 130
    [ "$status" -eq 0 ] && return
    row FAIL 'a sweep' "$file: status $status: $(tail -n 1 err)"
    return 1
}

# fits_judge ASKED FILE [PERCENT]: each line of the file has a name, the true number and the
# measured one.
fits_judge() {
    local seen good part=${3:-5}
    seen=$(awk '{ printf "%s%s %.4g (%.4g)", (NR > 1 ? ", " : ""), $1, $3, $2 }' "$2")
    good=$(awk -v part="$part" '{ wrong += !($3 ~ /^[0-9.e+-]+$/ && $3 >= (1 - part / 100) * $2 && $3 <= (1 + part / 100) * $2) } END { print (NR > 0 && !wrong) }' "$2")
    judged "$good" "$1" "${seen:-no number}"
}

# fits_lines FILE: prints from CSV: collective, communicator, devices, alpha in ms, 1/beta in MB/s.
fits_lines() {
    awk -F, '{ gsub(/["\r]/, "") }
        NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        { print $column["workload"], $column["communicator"], $column["n_devices"],
              $column["alpha_seconds"] == "" ? "-" : 1e3 * $column["alpha_seconds"],
              $column["inverse_beta_bytes_per_second"] == "" ? "-" : $column["inverse_beta_bytes_per_second"] / 1e6 }' "$1"
}

fits_of_collectives() {
    fits_sweep threads.jsonl "$lockstep" --collective allreduce,broadcast --devices "$fits_devices" --counts 2,4 \
        --sizes 20Ki:160Ki:x2 --communicator threads || return 1
    fits_sweep staged.jsonl "$lockstep" --collective allreduce,broadcast --devices "$fits_devices" --counts 2 \
        --sizes 4Ki:32Ki:x2 --communicator staged || return 1
    for which in threads staged; do
        "$lockstep" report "$which.jsonl" --format csv >"$which.csv" 2>err || true
        fits_lines "$which.csv"
    done | sort -u >lines
    : >alpha && : >beta
    fits_truth | while read -r collective over devices transfers times; do
        seen=$(sed -n "s/^$collective $over $devices //p" lines)
        echo "$collective/$over/$devices $((transfers * fits_delay)) ${seen% *}" >>alpha
        echo "$collective/$over/$devices $(awk "BEGIN { print $fits_rate / $times }") ${seen#* }" >>beta
    done
    fits_judge 'alpha of collectives, ms (planted): within 5 %' alpha
    fits_judge '1/beta of collectives, MB/s (planted): within 5 %' beta
}

# fits_product MS MULTIPLICATIONS: prints the setting that makes a product with that many take that
# long.
fits_product() {
    awk "BEGIN { printf \"%.9g\", 1e6 * $1 / $2 }"
}

# There is a bucket for each of 4 layers, whose reduction is two transfers. Backward has two
# products for a layer, and one for the first, whose bucket is not hidden. While a bucket takes less
# time than a product all others are hidden; while it takes longer than two, all of backward after
# the first bucket is hidden.
fits_of_overlap() {
    local delay product
    : >overlap
    for which in 12:30 20:10; do
        delay=${which%:*} product=${which#*:}
        with=$(fits_product "$product" $((32 * 128 * 128)))
        PROVE_PRODUCTS=$with fits_sweep "overlap$delay.jsonl" "$slowed" --devices "virt:2+${delay}000us" --counts 2 \
            --mode ddp --workload mlp:128,128,128,128,128 --batch 64 --bucket 66048 || return 1
        rm -rf page
        "$lockstep" report "overlap$delay.jsonl" --out page >out 2>err || true
        echo "$((2 * delay))ms-beside-${product}ms" \
            "$(awk "BEGIN { print $delay == 12 ? 3 / 4 : 5 * $product / (8 * $delay) }")" \
            "$(awk '!/^#/ && NF { print $6 }' page/overlap.tsv 2>/dev/null | head -n 1)" >>overlap
    done
    fits_judge 'hidden part of a reduction (planted), a bucket beside a product: within 5 %' overlap
}

# The largest shard has more rows than its part of the batch: 2 for 1.5, and 3 for 2.5.
fits_of_shards() {
    local devices rows shard modes mode seen
    with=$(fits_product 20 $((64 * 64)))
    : >shards
    for which in 2:3:2:dp,ddp 4:10:3:dp; do
        IFS=: read -r devices rows shard modes <<<"$which"
        PROVE_PRODUCTS=$with fits_sweep "shards$devices.jsonl" "$slowed" --devices "virt:$devices" --counts "$devices" \
            --mode "plain,$modes" --workload mlp:64,64 --batch "$shard,$rows" || return 1
        rm -rf page
        "$lockstep" report "shards$devices.jsonl" --out page >out 2>err || true
        # Its term is between the first two levels.
        awk '!/^#/ && $2 == 3 { print $4 - $3 }' page/waterfall.tsv >terms 2>/dev/null || true
        for mode in ${modes//,/ }; do
            seen=$(sed -n "$([ "$mode" = dp ] && echo 1 || echo 2)p" terms)
            echo "$rows-rows-on-$devices-$mode $(awk "BEGIN { print ($shard - $rows / $devices) / $shard }") $seen" >>shards
        done
    done
    fits_judge 'smaller shard, as a part of the step (planted): within 5 %' shards
}

prove_fits() {
    local which with
    take 6
    fits_of_collectives || return 0
    if ! command -v gnuplot >/dev/null; then
        row 'NOT RUN' 'hidden part of a reduction, and smaller shard' 'there is no gnuplot, and so no figure'
        return
    fi
    fits_of_overlap || return 0
    fits_of_shards || return 0
}
