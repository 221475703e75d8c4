# The experiment of scripts/prove about a step that is forecast from fewer ranks; scripts/prove
# reads this file after fits.sh.
#
# As there all is slept: a product by the rows of a rank, a transfer by itself and by its bytes. The
# forecast sees one rank and two, and is asked for four.
# shellcheck shell=bash disable=SC2154

forecast_delay=10 forecast_rate=4 # ms, and MB/s
forecast_devices="virt:4+${forecast_delay}000us+${forecast_rate}MB/s"
forecast_rows=32 forecast_product=5 # ms, of those rows, of a layer of 128 x 128

# forecast_truth SCALING WIDTH RANKS: ms. A model of one layer has two products in a step, and one
# bucket; on R ranks R transfers follow each other, and each byte is written once.
forecast_truth() {
    awk -v weak="$([ "$1" = weak ] && echo 1 || echo 0)" -v width="$2" -v ranks="$3" -v delay="$forecast_delay" \
        -v rate="$forecast_rate" -v product="$forecast_product" 'BEGIN {
            part = (width / 128) ^ 2 / (weak ? 1 : ranks)
            printf "%.6g", 2 * product * part + delay * ranks + 4 * (width * width + width) / (1000 * rate)
        }'
}

# forecast_seen SCALING WIDTH RANKS: prints the forecast in ms.
forecast_seen() {
    "$lockstep" forecast "forecast-$1.jsonl" --to 4 --format csv --allow-dirty 2>err | awk -F, -v model="mlp:$2" -v ranks="$3" '
        { gsub(/["\r]/, "") }
        NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        # The name of the workload has a comma, so it is two fields here.
        $1 == model && $(column["ranks"] + 1) == ranks { print 1e3 * $(column["forecast_seconds"] + 1) }'
}

prove_forecast() {
    local scaling width with
    take 6
    with=$(fits_product "$forecast_product" $((forecast_rows * 128 * 128)))
    : >forecasts
    for scaling in weak strong; do
        PROVE_PRODUCTS=$with fits_sweep "forecast-$scaling.jsonl" "$slowed" --devices "$forecast_devices" --counts 1,2 \
            --mode ddp --scaling "$scaling" --batch "$forecast_rows" --workload mlp:128,128 --workload mlp:192,192 ||
            return 0
        for width in 128 192; do
            echo "$scaling/$width $(forecast_truth "$scaling" "$width" 4) $(forecast_seen "$scaling" "$width" 4)" >>forecasts
        done
    done
    fits_judge 'step on 4 ranks, forecast from 1 and 2, ms (planted): within 10 %' forecasts 10
}
