# `lockstep forecast`: a planted step is forecast, and a wrong formula does not forecast it; records
# that no forecast can be made of are refused.
#   forecast.sh LOCKSTEP FOLDER MAKE_RECORDS BROKEN
. "$(dirname "$0")/common.sh"
make_records=$3
broken=$4
export OPENBLAS_NUM_THREADS=1
needs_release

# Each transfer takes 50 ms longer, and a byte 1 us: a step is hardly anything else. One rank has no
# transfer, and many steps, because other tests run on the same cores.
sweep() {
    expect_status 0 "$lockstep" sweep --bind none --devices virt:4+50000us+1MB/s --scaling weak --batch 4 \
        --launches 2 --warmup 1:0 --seconds 0.05 --steps 2:200 --workload mlp:64,64 --workload mlp:128,128 "$@"
}

# forecast_of: prints the step of workload $2 on $3 ranks, in ms, as program $1 forecasts it.
forecast_of() {
    "$1" forecast --allow-dirty two.jsonl --to 4 --format csv 2>err | awk -F, -v workload="$2" -v ranks="$3" '
        { gsub(/["\r]/, "") }
        NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
        # The name of the workload has a comma, so it is two fields here.
        $1 "," $2 == workload && $(column["ranks"] + 1) == ranks { print 1e3 * $(column["forecast_seconds"] + 1) }'
}

# is_near A B: they are within 25 %, because other tests run on the same cores; the wrong formula
# differs by 42 % and more. scripts/prove asks for 10 %, on an idle machine.
is_near() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a >= 0.75 * b && a <= 1.25 * b) }'
}

# wrong_of_planted: prints the errors of forecasts of a planted step; nothing if all are right. From
# 1 and 2 ranks to 4 there are 4 transfers, and each byte is moved once, for 4,160 and 16,512
# numbers. The real step is measured, too, with the error of the forecast without it.
wrong_of_planted() {
    rm -f two.jsonl four.jsonl
    sweep --mode ddp --counts 1,2 --out two.jsonl
    sweep --mode ddp --counts 4 --out four.jsonl
    for workload in mlp:64,64=216.6 mlp:128,128=266; do
        seen=$(forecast_of "$lockstep" "${workload%=*}" 4)
        is_near "$seen" "${workload#*=}" || echo "forecast of $workload ms: ${seen:-none}, $(cat err)"
        seen=$(forecast_of "$broken" "${workload%=*}" 4)
        [ -n "$seen" ] || echo "no forecast by a wrong formula: $(cat err)"
        ! is_near "$seen" "${workload#*=}" || echo "a wrong formula is as good: $workload, $seen ms"
    done
    "$lockstep" forecast --allow-dirty two.jsonl four.jsonl --to 16 >out 2>err || echo "status $?: $(cat err)"
    grep -q 'alpha [45][0-9][.0-9]* ms, 1/beta [0-9.]* [kM]B/s' out || echo "alpha and beta: $(cat out)"
}

# Two launches at the same time as other tests may be too noisy for a number: there are three
# attempts.
for attempt in 1 2 3; do
    why=$(wrong_of_planted) || fail "attempt $attempt: $why"
    [ -n "$why" ] || break
done
[ -z "$why" ] || fail "$why"
expect_status 0 "$lockstep" forecast --allow-dirty two.jsonl four.jsonl --to 16
tr '\n' ' ' <out | tr -s ' ' | sed 's/, ddp/\n&/g' >flat
expect_count 2 '^, ddp, weak scaling of 4 rows a rank, cpu/threads on virt+50000us+1MB/s, f32 ranks ' flat
expect_count 2 '^ *4 .* ms .*oversubscribed$\|^ *4 .* ms  *[0-9.]*$' out
expect_count 2 '^ *4 [^%]* %[^%]* %$' out
expect_count 2 '[*]extrapolated[*]$' out
expect_count 2 '^ *16 .*[*]extrapolated[*]$' out
for format in text json csv md; do
    expect_status 0 "$lockstep" forecast --allow-dirty two.jsonl four.jsonl --to 16 --format $format
    [ -s out ] && [ ! -s err ] || fail "$format"
done
grep -q '^| 16 | 4 | - | .* | \\\*extrapolated\\\* |$' out || fail "Markdown"

# Cells whose inputs start on the host are a separate series, and CSV says which.
expect_status 0 "$lockstep" sweep --bind none --devices virt:2 --mode ddp --counts 1,2 --batch 4 --host-inputs 0,1 \
    --warmup 1:0 --seconds 0.01 --steps 2:100 --workload mlp:64,64 --workload mlp:128,128 --out inputs.jsonl
"$lockstep" forecast --allow-dirty inputs.jsonl --to 4 --format csv >out 2>err || [ $? -eq 3 ] || fail "no CSV" # 3: noise
seen=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    $(column["ranks"] + 1) == 4 { print $1 "," $2, $(column["host_inputs"] + 1) }' out | sort | tr '\n' ';')
[ "$seen" = '"mlp:128,128" 0;"mlp:128,128" 1;"mlp:64,64" 0;"mlp:64,64" 1;' ] || fail "inputs: $seen"

# Inputs that no forecast is made of; those of cells are in unit/forecast.c.
refuse 'no record file: name at least one' "$lockstep" forecast --to 4
refuse '--to N is missing' "$lockstep" forecast --allow-dirty two.jsonl
for to in 0 -1 x 65537 1.5; do
    refuse '--to: ' "$lockstep" forecast --allow-dirty two.jsonl --to=$to
done
refuse 'unknown format "xml"' "$lockstep" forecast --allow-dirty two.jsonl --to 4 --format xml
refuse 'missing.jsonl' "$lockstep" forecast --allow-dirty missing.jsonl --to 4
"$make_records" six six.jsonl
refuse 'no cell of mode ddp' "$lockstep" forecast --allow-dirty six.jsonl --to 8
"$make_records" no-cells none.jsonl
refuse 'no cell' "$lockstep" forecast --allow-dirty none.jsonl --to 8
refuse 'the machines differ: two.jsonl is of node .*, six.jsonl of node ' "$lockstep" forecast --allow-dirty two.jsonl six.jsonl --to 8
sed 's/,"chain":"[^"]*"//;s/,"seal":"[^"]*"//' two.jsonl >plain.jsonl
# doubted OLD NEW WORDS
doubted() {
    sed "1s/$1/$2/" plain.jsonl >doubted.jsonl
    refuse "doubted.jsonl: it is of $3" "$lockstep" forecast ${4---allow-dirty} doubted.jsonl --to 8
}
doubted '"source":"measured"' '"source":"simulated"' 'times that are simulated, not measured'
doubted '"build_type":"[^"]*"' '"build_type":"Debug"' 'a Debug build, not of Release or RelWithDebInfo'
doubted '"sanitizers":"[^"]*"' '"sanitizers":"address"' 'a build with sanitizers: address'
doubted CLOCK_MONOTONIC_RAW CLOCK_MONOTONIC 'the clock CLOCK_MONOTONIC, not CLOCK_MONOTONIC_RAW'
doubted '"git_dirty":[a-z]*' '"git_dirty":true' 'a changed tree on commit .*; --allow-dirty takes it' ''
head -c 3000 two.jsonl >torn.jsonl
refuse 'torn.jsonl' "$lockstep" forecast --allow-dirty torn.jsonl --to 8
