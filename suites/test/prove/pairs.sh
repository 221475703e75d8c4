# The experiments of scripts/prove that measure real programs in pairs; it reads this file.
#
# Equal programs are the product itself. A slow arm is lockstep-slowed, and then so is the other one:
# both arms run the same file, so nothing differs but what was planted.
# shellcheck shell=bash disable=SC2154

# There are 12 cells; a launch takes about .12 s.
cells=(--devices virt:2 --counts 2 --mode 'plain,dp,ddp' --workload 'mlp:64,64,64'
    --workload 'mlp:128,128,128' --batch '32,128' --wait)
plain_cells=(--devices virt:2 --mode plain --workload 'mlp:64,64,64' --workload 'mlp:128,128,128'
    --batch '32,128' --wait)
# So many pairs bear a spoilt one: at most 169 of the 2^16 patterns of signs are as far from chance as one
# minus at the largest difference, which is below .04 / 12.
bearing=(--pairs 16)
launch=(--seconds 0.05 --warmup 5:0.02 --no-strict)
[ -z "$is_quick" ] || launch=(--seconds 0.01 --warmup 5:0.005 --no-strict)

# arm FILE [SETTING [WORDS..]]: makes a program. It is slowed as SETTING says, if its arguments have
# all of WORDS. Two arms run the same file, so nothing else differs.
arm() {
    local file=$1 setting=${2-} word
    shift $(($# < 2 ? $# : 2))
    {
        echo '#!/bin/sh'
        if [ -n "$setting" ]; then
            echo "set=' $setting '"
            for word; do echo "case \" \$* \" in *' $word '*) ;; *) set= ;; esac"; done
            # shellcheck disable=SC2016
            echo '[ -z "$set" ] || export $set'
        fi
        printf 'exec %q "$@"\n' "$slowed"
    } >"$file"
    chmod +x "$file"
}

# verdicts FILE: prints for each cell, and for all (null): cell, verdict, ratio, cost, smallest
# change that it finds.
verdicts() {
    sed -n 's/.*"type":"verdict","cell":\([^,]*\),"verdict":"\([A-Z]*\)",.*"ratio":\([^,]*\),.*"cost":\([^,]*\),"detectable":\([^,]*\),.*/\1 \2 \3 \4 \5/p' "$1"
}

# differences FILE: prints a line for each cell, with log(new / old) of the floors of its pairs.
differences() {
    sed -n "s/.*\"type\":\"pair\",\"cell\":\([0-9]*\),.*\"old\":{[^{]*\"floor_ns\":\([^,}]*\)[^{]*\"new\":{[^{]*\"floor_ns\":\([^,}]*\).*/\1 \2 \3/p" "$1" |
        awk '{ d[$1] = d[$1] ($2 > 0 && $3 > 0 ? sprintf(" %.9g", log($3 / $2)) : " nan") }
             END { for (c = 0; c in d; ++c) print d[c] }'
}

# comparison FILE OLD NEW SEED OPTION..: runs one; its record is FILE. A comparison without a result
# is a FAIL of this experiment, and 1 is returned.
comparison() {
    local file=$1 old=$2 new=$3 seed=$4 status=0
    shift 4
    rm -f "$file"
    "$lockstep" compare --ab "$old" "$new" "$@" "${launch[@]}" --allow-dirty --allow-disturbed --seed "$seed" --out "$file" >out 2>err </dev/null ||
        status=$?
    echo "prove: $name: $file after $((SECONDS - began)) s" >&2
    [ "$status" -gt 128 ] && exit 130
    [ "$status" -gt 1 ] || return 0
    # The caller counts comparisons that told equal programs apart.
    [ "$status" -eq 3 ] && grep -q '"type":"end"' "$file" && ! grep -q '"verdict":"INVALID"' "$file" && return
    row FAIL 'a comparison' "$file: status $status: $(head -n 1 err) $(grep -m 1 -A 1 INVALID out | tr '\n' ' ')"
    return 1
}

# range: prints the range of the third fields of some lines.
range() {
    awk '{ if (NR == 1 || $3 < a) a = $3; if (NR == 1 || $3 > b) b = $3 } END { printf "%.3f to %.3f", a, b }'
}

two_cores() {
    [ "$(nproc)" -ge 2 ] && return
    row 'NOT RUN' "${about[$name]}" "there is one core, and it takes two"
    return 1
}

# run_turns SEED OPTION..: compares equal programs, and a slow one, in turns.
run_turns() {
    local i seed=$1
    shift
    arm old
    arm slow PROVE_SLOW=1.05
    : >aa.verdicts && : >ab.verdicts && : >aa.intervals
    clean=0
    for ((i = 1; i <= n; ++i)); do
        comparison aa.jsonl "$lockstep" "$lockstep" $((seed + i)) "${cells[@]}" "$@" || return 1
        verdicts aa.jsonl >aa.one
        cat aa.one >>aa.verdicts
        grep -q 'REGRESSED\|IMPROVED\|INVALID' aa.one || clean=$((clean + 1))
        differences aa.jsonl | "$simulate" judge | sed '$d' >>aa.intervals
        comparison ab.jsonl ./old ./slow $((seed + 50 + i)) "${cells[@]}" "$@" || return 1
        verdicts ab.jsonl >>ab.verdicts
    done
    [ "$(wc -l <aa.verdicts)" -eq $((13 * n)) ] && [ "$(wc -l <ab.verdicts)" -eq $((13 * n)) ] &&
        [ "$(wc -l <aa.intervals)" -eq $((12 * n)) ] && return
    row FAIL 'a record of each comparison' "lines are missing"
    return 1
}

# Sets global, near and found from ab.verdicts.
count_found() {
    global=$(grep -c '^null REGRESSED' ab.verdicts || true)
    near=$(awk '$1 == "null" && $3 >= 1.04 && $3 <= 1.07' ab.verdicts | wc -l)
    found=$(grep -c '^[0-9]* REGRESSED' ab.verdicts || true)
}

prove_pairs() {
    local covered
    two_cores || return 0
    take 8
    run_turns 100 "${bearing[@]}" || return 0
    count_found
    covered=$(awk '$3 <= 1 && $4 >= 1' aa.intervals | wc -l)
    judged $((clean >= n - 1)) "$full comparisons of equal programs, 12 cells of 16 pairs: no alarm, of a cell or of all, in at least $((full - 1))" \
        "no alarm in $clean; NEW/OLD of all cells $(grep '^null' aa.verdicts | range)"
    judged $((global == n && near == n)) "+5 %: found in all cells together in $full of $full, estimated as 1.04 to 1.07" \
        "found in $global; estimate in 1.04 to 1.07 in $near: $(grep '^null' ab.verdicts | range)"
    judged $((100 * found >= 85 * 12 * n)) "+5 %: at least 85 % of $((12 * full)) cells REGRESSED" "$found of $((12 * n))"
    judged $((100 * covered >= 91 * 12 * n)) "equal programs: at least 91 % of $((12 * full)) intervals of 95 % have 1" \
        "$covered of $((12 * n))"
}

prove_neighbour() {
    local wrong i
    two_cores || return 0
    take 2
    for ((i = 0; i < 2; ++i)); do
        (while kill -0 $$ 2>/dev/null; do for ((k = 0; k < 100000; ++k)); do :; done; done) & # not longer than this script
        neighbours+=($!)
    done
    run_turns 300 && i=1 || i=0
    kill "${neighbours[@]}"
    wait "${neighbours[@]}" 2>/dev/null || true
    neighbours=()
    [ "$i" -eq 1 ] || return 0
    count_found
    wrong=$(awk '$1 != "null" && $2 != "REGRESSED" && !($2 == "INCONCLUSIVE" && $5 > 1.04)' ab.verdicts | wc -l)
    judged $((clean == n)) "$full comparisons of equal programs beside two busy ones: no alarm" "no alarm in $clean of $n"
    judged $((global == n)) "+5 %: found in all cells together in $full of $full" "$global; $(grep '^null' ab.verdicts | range)"
    judged $((wrong == 0)) "+5 %: each cell is REGRESSED, or INCONCLUSIVE and says that it finds more than 4 % only" \
        "REGRESSED $found of $((12 * n)), neither $wrong"
}

# Each comparison has a different cell.
prove_one-cell() {
    local i hits=0 others=0 words cell
    local which=('mlp:64,64,64|plain|32' 'mlp:128,128,128|dp|128' 'mlp:128,128,128|ddp|32' 'mlp:64,64,64|ddp|128'
        'mlp:128,128,128|plain|128')
    two_cores || return 0
    take 5
    arm old
    for ((i = 0; i < n; ++i)); do
        IFS='|' read -ra words <<<"${which[i]}"
        arm slow PROVE_SLOW=1.05 "--workload ${words[0]}" "--mode ${words[1]}" "--rows ${words[2]}"
        comparison one.jsonl ./old ./slow $((500 + i)) "${cells[@]}" "${bearing[@]}" || return 0
        cell=$(head -n 1 one.jsonl | grep -o "\"cell\":[0-9]*,\"old\":\"${words[0]} ${words[1]} virt:[12], ${words[2]} rows" |
            sed 's/[^0-9]*\([0-9]*\).*/\1/')
        verdicts one.jsonl >one.verdicts
        hits=$((hits + $(grep -c "^$cell REGRESSED" one.verdicts || true)))
        others=$((others + $(grep -v "^$cell " one.verdicts | grep -c 'REGRESSED\|IMPROVED' || true)))
    done
    judged $((hits >= n - 1 && others == 0)) \
        "$full times one cell of 12 is 5 % slower: it is REGRESSED in at least $((full - 1)), and no other" \
        "it in $hits of $n; others: $others"
}

prove_tail() {
    local i alike=0 shown=0 equal=0 costs='' verdict ratio
    take 3
    arm old
    arm slow PROVE_TAIL=50:3
    for ((i = 0; i < n; ++i)); do
        comparison tail.jsonl ./old ./slow $((600 + i)) "${plain_cells[@]}" || return 0
        verdicts tail.jsonl >tail.verdicts
        alike=$((alike + $(grep -c '^null EQUIVALENT' tail.verdicts || true)))
        equal=$((equal + $(grep -c '^[0-9]* EQUIVALENT' tail.verdicts || true)))
        verdict=$(sed -n 's/.*"type":"verdict","cell":null,.*"cost_verdict":"\([A-Z]*\)",.*/\1/p' tail.jsonl)
        ratio=$(awk '$1 == "null" { print $4 }' tail.verdicts)
        [ "$verdict" != REGRESSED ] && [ "$verdict" != INCONCLUSIVE ] || shown=$((shown + 1))
        costs="$costs, ${ratio:0:5} $verdict"
        [ "$(grep -c "; cost [0-9]" out)" -ge 4 ] || shown=-99 # next to the floor, or it is not seen
    done
    judged $((alike == n && shown == n)) \
        "$full times every 50th step is 3 times as long: floor EQUIVALENT in all cells together; cost beside it REGRESSED or INCONCLUSIVE" \
        "floor EQUIVALENT in $alike of $n, and in $equal of $((4 * n)) cells; cost ${costs:2}"
}
