#!/bin/sh
# Edits of true records, one field or relation each: every one must be refused, in one line that
# names the line and the relation. The records are unsealed first, so that only what they say counts.
#   contradictions.sh LOCKSTEP WORK_DIRECTORY
# Prints how many were refused. Exits 0 when all were, 1 when not.
set -eu
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"
lockstep=$1 work=$2
rm -rf "$work"
mkdir -p "$work/bin"
cd "$work" || exit 1

"$lockstep" sweep --devices virt:2 --mode plain,dp,ddp --counts 1,2 --batch 7,16 --launches 2 --seed 5 \
    --workload mlp:8,6,4 --workload tutorial --seconds 0.001 --steps 12:12 --bind none \
    --out sealed.jsonl >/dev/null 2>sweep.txt || { cat sweep.txt >&2; fail 'no records'; }
sed 's/,"chain":"[^"]*"//; s/,"seal":"[^"]*"//' sealed.jsonl >true.jsonl

# Lines by kind: the first cell of that mode, with 7 rows, on 2 devices (plain: 1).
line_of() {
    awk -v mode="\"mode\":\"$1\"" -v count="\"n_devices\":$2," '
        index($0, mode) && index($0, count) && /"global_batch":7,/ && /"workload":"mlp/ { print NR; exit }' true.jsonl
}
run=1 plain=$(line_of plain 1) one=$(line_of ddp 1) dp=$(line_of dp 2) ddp=$(line_of ddp 2)
last=$(wc -l <true.jsonl)
next=$((dp + 1))

# Without gnuplot: a record that is believed is no reason to draw it.
believes() {
    PATH=$work/bin "$program" report "$1" --out page >out.txt 2>err.txt && status=0 || status=$?
    [ "$status" -lt 2 ]
}
program=$(command -v "$lockstep")
believes true.jsonl || fail "a true record is refused: $(cat err.txt)"
believes sealed.jsonl || fail "a sealed record is refused: $(cat err.txt)"

edits=0 refused=0
# judge LINE WORDS: of the edited file.
judge() {
    edits=$((edits + 1))
    ! cmp -s true.jsonl edited.jsonl || fail "$what changes nothing"
    if believes edited.jsonl; then
        echo "believed: $what" >&2
    elif [ "$status" -ne 2 ] || [ "$(wc -l <err.txt)" -ne 1 ] ||
        ! grep -q -e "edited.jsonl:$1: .*$2" err.txt; then
        echo "$what: status $status, not line $1 and '$2': $(cat err.txt)" >&2
    else
        refused=$((refused + 1))
    fi
}

# edit LINE SCRIPT WORDS [LINE OF THE MESSAGE]
edit() {
    what="line $1: $2"
    sed "$1$2" true.jsonl >edited.jsonl
    judge "${4-$1}" "$3"
}

# foreign WORDS OPTION...: a true cell of a sweep with other options takes the place of one.
foreign() {
    words=$1 what="cell of $*"
    shift
    rm -f other.jsonl
    "$lockstep" sweep --seed 5 --seconds 0.001 --steps 12:12 --bind none --out other.jsonl "$@" \
        >/dev/null 2>sweep.txt || { cat sweep.txt >&2; fail 'no other records'; }
    id=$(sed -n '1s/.*"run_id":"\([0-9a-f]*\)".*/\1/p' true.jsonl)
    sed '$d' other.jsonl | tail -n 1 |
        sed "s/,\"chain\":\"[^\"]*\"//; s/\"run_id\":\"[0-9a-f]*\"/\"run_id\":\"$id\"/" >cell
    sed "${dp}r cell
        ${dp}d" true.jsonl >edited.jsonl
    judge "$dp" "$words"
}

# The header and its command.
edit "$run" 's/"seed":"5"/"seed":"6"/' '"seed" is 6, but with this "command" it is 5'
edit "$run" 's/--seed 5/--seed 6/' '"seed" is 5, but'
edit "$run" 's/"planned":40/"planned":39/' '"planned" is 39, but with this "command" it is 40'
edit "$run" 's/"scaling":"strong"/"scaling":"weak"/' '"scaling" is "weak", but'
edit "$run" 's/--scaling strong/--scaling weak/' '"scaling" is "strong", but'
edit "$run" 's/"launches":2/"launches":1/' '"launches" is 1, but'
edit "$run" 's/--launches 2/--launches 6/' 'with this "command" it is'
edit "$run" 's/"devices":"virt:2"/"devices":"virt:3"/' '"devices" is "virt:3", but'
edit "$run" 's/--devices virt:2/--devices virt:3/' '"devices" is "virt:2", but'
edit "$run" 's/"backend":"cpu"/"backend":"cpu-ref"/' '"backend" is "cpu-ref", but'
edit "$run" 's/"communicator":"threads"/"communicator":"staged"/' '"communicator" is "staged", but'
edit "$run" 's/--mode plain,dp,ddp/--mode dp/' '"planned" is 40, but'
edit "$run" 's/--counts 1,2/--counts 1/' '"planned" is 40, but'
edit "$run" 's/--counts 1,2/--counts 1,3/' 'counts has 3'
edit "$run" 's/--batch 7,16/--batch 8,16/' '"command" plans no cell .* 7 rows' "\([2-9]\|1[0-9]\)"
edit "$run" 's/--workload tutorial/--workload cnn/' 'plans no cell tutorial' "\([2-9]\|1[0-9]\)"
edit "$run" 's/--bind none/--bind cores/' '"bound" of slot 0 is false, but "command" has --bind cores'
edit "$run" 's/"bound":false/"bound":true/' '"bound" of slot 0 is true, but'
edit "$run" 's/"kind":"virt"/"kind":"cuda"/' '"kind" of slot 0, .*, is "cuda", but'
edit "$run" 's/,{"name":"virt:1".*}\]/]/' 'but --devices virt:2 has only 1 device'
edit "$run" 's/--steps 12:12/--steps 13:20/' '"n_samples" is [0-9]*, outside' 2
edit "$run" 's/--seed/--zeal 9 --seed/' 'does not know its "--zeal"'
edit "$run" 's/"command":"[^"]*"/"command":""/' '"command" is that of no sweep'
edit "$run" 's/"source":"measured"/"source":"guessed"/' '"source" is "guessed"'

# A cell and the plan.
edit "$dp" 's/"workload":"mlp:8,6,4"/"workload":"mlp:8,6,5"/' '"cell_id" is'
edit "$dp" 's/"launch":./"launch":9/' '"cell_id" is'
edit "$dp" 's/"run_id":"[0-9a-f]*"/"run_id":"0123456789abcdef"/' 'belongs to run 0123456789abcdef'
edit "$dp" 's/"model_params":[0-9]*/"model_params":1/' '"model_params" is 1, outside 82 to 82'
edit "$dp" 's/"flops_per_step":[0-9.]*/"flops_per_step":1e9/' '"flops_per_step" is 1000000000, outside'
edit "$dp" 's/"tokens_per_row":0/"tokens_per_row":8/' '"flops_per_token" is nan'
edit "$dp" 's/"flops_per_token":null/"flops_per_token":6/' '"flops_per_token" is 6, outside'
edit "$dp" 's/"values_checked":[0-9]*/"values_checked":1/' '"values_checked" is 1, outside 392 to'
edit "$dp" 's/"order_index":[0-9]*/"order_index":40/' '"order_index" is 40, but launch'
edit "$next" 's/"order_index":[0-9]*/"order_index":'$((dp - 2))/ 'which another cell has'
edit "$dp" 's/"sitting":0/"sitting":1/' '"sitting" is 0, but 1 in an earlier line' "$next"
edit "$plain" 's/"oversubscribed":false/"oversubscribed":true/' '"oversubscribed" is true, but 1 device'
foreign 'plans no cell .* bf16' --devices virt:2 --mode dp --counts 2 --batch 7 --workload mlp:8,6,4 --math bf16
foreign 'plans no cell .* cpu-ref' --devices virt:2 --mode dp --counts 2 --batch 7 --workload mlp:8,6,4 --backend cpu-ref
foreign 'plans no cell mlp:8,6,5' --devices virt:2 --mode dp --counts 2 --batch 7 --workload mlp:8,6,5
foreign 'plans no cell .* 9 rows' --devices virt:2 --mode dp --counts 2 --batch 9 --workload mlp:8,6,4
foreign 'plans no cell .* virt:2+lag' --devices virt:2+lag --mode dp --counts 2 --batch 7 --workload mlp:8,6,4
foreign 'plans no cell .* launch [2-9]' --devices virt:2 --mode dp --counts 2 --batch 7 --workload mlp:8,6,4 --launches 4
foreign 'plans no cell .* mode ddp' --devices virt:2 --mode ddp --counts 2 --batch 7 --workload mlp:8,6,4 --bucket 64
what='a verified cell again'
sed "${dp}p" true.jsonl >edited.jsonl
judge "$next" 'verified in an earlier line'

# A cell by itself.
edit "$dp" 's/"shard_rows":\[4,3\]/"shard_rows":[4,4]/' '"shard_rows" is 8, outside 7 to 7'
edit "$dp" 's/"shard_rows":\[4,3\]/"shard_rows":[3,4]/' 'not how mode dp splits 7 rows on 2 devices'
edit "$ddp" 's/"shard_rows":\[4,3\]/"shard_rows":[7]/' 'not how mode ddp splits'
edit "$dp" 's/"shard_rows":\[4,3\]/"shard_rows":[5,2]/' 'not how mode dp splits'
edit "$dp" 's/"status":"ok"/"status":"failed"/' '"validated" is true'
edit "$dp" 's/"validated":true/"validated":false/' '"validated" is 0'
edit "$dp" 's/"reason":""/"reason":"it was late"/' '"status" is ok, but "reason" is not empty'
edit "$dp" 's/"status":"ok"/"status":"timeout"/;'"$dp"'s/"validated":true/"validated":false/' 'but "reason" is empty'
edit "$dp" 's/"status":"ok","/"status":"timeout","/;'"$dp"'s/"reason":"","validated":true/"reason":"x","validated":false/' \
    '"n_samples" is [0-9]*, outside 0 to 0'
edit "$dp" 's/"steps_checked":[0-9]*/"steps_checked":1/' '"steps_checked" is 1, outside'
edit "$dp" 's/"first_bad_step":-1/"first_bad_step":3/' '"first_bad_step" is 3, outside'
edit "$dp" 's/"probe_values":[0-9]*/"probe_values":0/' '"probe_values" is 0, outside'
edit "$dp" 's/"probe_bound":[^,]*/"probe_bound":null/' '"probe_bound" is nan'
edit "$dp" 's/"probe_ratio":[^,]*/"probe_ratio":1.5/' '"probe_ratio" is 1.5, outside 0 to 1'
edit "$dp" 's/"probe_ratio":[^,]*/"probe_ratio":null/' '"probe_ratio" is nan'
edit "$dp" 's/"probe_ns":[^,}]*/"probe_ns":999999999999/' '"probe_ns" is 999999999999, outside'
edit "$dp" 's/"n_ranks":2/"n_ranks":1/' 'has 2 elements, expected 1'
edit "$dp" 's/"n_samples":\([0-9]*\)/"n_samples":1\1/' 'elements, expected 1'
edit "$dp" 's/"warmup_steps":\([0-9]*\)/"warmup_steps":0/' 'left out as warm-up'
edit "$dp" 's/"steady_state":true/"steady_state":false/' '"steady_state" false, but "warmup_rule" is'
edit "$dp" 's/at least 5 steps/at least 999 steps/' '"warmup_steps" is .*, but "warmup_rule" is'
edit "$dp" 's/at most 1000 steps/at most 4 steps/' '"warmup_steps" is .*, but "warmup_rule" is'
edit "$dp" 's/ and 0.001 s, at most/ and 60 s, at most/' '"warmup_steps" is .*, but "warmup_rule" is'
edit "$dp" 's/at least 5 steps/at least 4 steps/' '"warmup_rule" is "at least 4 .*, but by "command" it is "at least 5'
edit "$last" 's/"seconds":[0-9.e+-]*/"seconds":0.0001/' '"seconds" is 0.0001, but "wall_ns" of its launches are'
edit "$last" 's/"seconds":[0-9.e+-]*/"seconds":-1/' '"seconds" is -1, outside'
edit "$dp" 's/"wall_ns":[0-9]*/"wall_ns":0/' 'in "wall_ns" is [0-9]*, outside 0 to 0'
edit "$dp" 's/"setup_ns":[0-9]*/"setup_ns":999999999999/' '"setup_ns".* in "wall_ns" is'
edit "$dp" 's/"devices_ns":[0-9]*/"devices_ns":999999999999/' '"devices_ns", "probe_ns" and "reference_ns" is .*, outside'
edit "$dp" 's/"reference_ns":[0-9]*/"reference_ns":999999999999/' '"reference_ns" is .*, outside'
edit "$dp" 's/"verify_ns":[0-9]*/"verify_ns":999999999999/' '"verify_ns", in "wall_ns" is .*, outside'
edit "$dp" 's/"launch_ns":[0-9]*/"launch_ns":1/' 'in "launch_ns" is [0-9.]*, outside 0 to 1$'
edit "$last" 's/"writing":[0-9.e+-]*/"writing":99999/' '"writing" is 99999 of "seconds"'
edit "$last" 's/"writing":[0-9.e+-]*/"writing":-1/' '"writing" is -1, outside'
edit "$dp" 's/"start_epoch_ns":"[0-9]*"/"start_epoch_ns":"0"/' '"start_epoch_ns" is 0, outside'
edit "$dp" 's/"t_start_ns":\[0,/"t_start_ns":[1,/' '"t_start_ns" of step 0 is 1'
edit "$dp" 's/"t_start_ns":\[0,[0-9]*/"t_start_ns":[0,1/' '"t_start_ns" of step 1 is 1, but the one before ends at'
edit "$dp" 's/"t_step_ns":\[[0-9]*/"t_step_ns":[99999999999/' 'steps do not overlap'
edit "$dp" 's/"flags":\[1,/"flags":[3,/' '"flags" of step 0 is 3, which has an unknown bit'
edit "$dp" 's/"flags":\[1,/"flags":[0,/' 'does not follow from the samples'
edit "$dp" 's/"flags":\[1,/"flags":[17,/' 'step 0 has bad values'
for phase in scatter replicate forward gather loss backward reduce update; do
    edit "$dp" "s/\"$phase\":\[\[[0-9]*/\"$phase\":[[99999999999/" \
        "step 0 took [0-9]* ns, but $phase of replica 0 in it 99999999999"
done
edit "$dp" 's/"matmul_ns":\[\[[0-9]*/"matmul_ns":[[99999999999/' 'but matrix products of replica 0'
edit "$plain" 's/"scatter":null,"replicate":null,"forward":\(\[\[[0-9,]*\]\]\)/"scatter":\1,"replicate":null,"forward":\1/' \
    'mode plain on 1 device has no "scatter"\|"scatter" does not follow'
edit "$dp" 's/"backward":\[\[.*"reduce"/"backward":null,"reduce"/' 'no time for backward'
edit "$dp" 's/"compute_alone_ns":null/"compute_alone_ns":5.0/' 'mode dp on 2 devices has no "compute_alone_ns"'
edit "$dp" 's/"comm_alone_ns":null/"comm_alone_ns":5.0/' 'mode dp on 2 devices has no "comm_alone_ns"'
edit "$dp" 's/"whole_ns":null/"whole_ns":5.0/' 'mode dp on 2 devices has no "whole_ns"'
edit "$ddp" 's/"hidden_frac":[^,]*/"hidden_frac":0.999/' '"hidden_frac" is 0.999'
edit "$ddp" 's/"comm_alone_ns":[^,]*/"comm_alone_ns":1.5/;'"$ddp"'s/"hidden_frac":[^,]*/"hidden_frac":null/' \
    '"comm_alone_ns" is 1.5, outside'
edit "$ddp" 's/"rounds_ns":{"compute":\[[0-9]*,/"rounds_ns":{"compute":[/' '"comm" is not an array of 1 to 11 times'
edit "$ddp" 's/"rounds_ns":{"compute":\[/&1,2,3,4,5,6,7,8,/' '"compute" is missing or no array of at most 11'
edit "$plain" 's/"alone_ns":null/"alone_ns":[5,5,5,5,5]/' 'mode plain on 1 device has no "alone_ns"'
edit "$one" 's/"bytes_per_step":0.0/"bytes_per_step":4096.0/' 'mode ddp on 1 device has no "bytes_per_step"'
edit "$dp" 's/"peak_bytes":\[\([0-9]*\),[0-9]*\]/"peak_bytes":[\1]/' '"peak_bytes" is 1, outside 2 to 2'
for field in foreign_frac steal_frac; do
    edit "$dp" "s/\"$field\":[^,]*/\"$field\":1.5/" "\"$field\" is 1.5, outside 0 to 1"
done
for field in voluntary_switches involuntary_switches minor_faults major_faults cpu_hz; do
    edit "$dp" "s/\"$field\":[^,]*/\"$field\":-0.5/" "\"$field\" is -0.5, outside 0 to"
done
for field in median_ns mean_ns min_ns max_ns p05_ns p25_ns p75_ns p95_ns ci_lo_ns ci_hi_ns ci_coverage cv rho1 n_eff \
    throughput_samples_per_s outside_frac; do
    edit "$dp" "s/\"$field\":[^,]*/\"$field\":0.125/" 'does not follow from the samples'
done
for ratio in 0.95 1.05 -1; do
    edit "$dp" "s/\"clock_ratio\":[^,]*/\"clock_ratio\":$ratio/" "\"clock_ratio\" is $ratio, outside"
done
# A new record is none of before, which said neither.
for old in 's/"clock_ratio":[^,]*/"clock_ratio":null/' 's/"clock_ratio":[^,]*,//'; do
    edit "$dp" "$old" '"clock_ratio" is nan, outside'
done
for old in 's/"peak_bytes":\[[^]]*\]/"peak_bytes":[]/' 's/"peak_bytes":\[[^]]*\],//'; do
    edit "$dp" "$old" '"peak_bytes" is 0, outside 2 to'
done
edit "$dp" 's/"n_valid":12/"n_valid":11/' 'does not follow from the samples'
edit "$dp" 's/"has_ci":true/"has_ci":false/' 'does not follow from the samples'

# The end line.
edit "$last" 's/"planned":40/"planned":39/' '"planned" is 39, outside 40 to 40'
edit "$last" 's/"ok":40/"ok":39/' '"ok" is 39, outside 40 to 40'
edit "$last" 's/"not_ok":0/"not_ok":1/' '"not_ok" is 1, outside 0 to 0'
edit "$last" 's/"interrupted":false/"interrupted":true/' '"interrupted" is 1, outside 0 to 0'
what='a launch taken out'
grep -v '"launch":1}' true.jsonl >edited.jsonl
judge 22 '"ok" is 40, outside 20 to 20'
what='a cell taken out'
sed "${dp}d" true.jsonl >edited.jsonl
judge "$((last - 1))" '"ok" is 40, outside 39 to 39'

echo "$refused of $edits edits are refused"
[ "$refused" -eq "$edits" ]
