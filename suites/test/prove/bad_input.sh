# The experiments of scripts/prove about what may never pass, and what is counted; it reads this
# file. They measure no times, or none that matter.
# shellcheck shell=bash disable=SC2154

# The arguments are FILE OPTION..: a short sweep runs with the program and its environment.
sitting() {
    local file=$1
    shift
    rm -f "$file"
    "$slowed" sweep --bind none --devices virt:2 --mode dp,ddp --workload tutorial --batch 30 \
        --seed 9 --seconds 0.001 "$@" --out "$file" >out 2>&1 </dev/null && return
    row FAIL 'a sweep' "it failed: $(tail -n 1 out)"
    return 1
}

prove_exact() {
    local status=0 same=0 seen
    sitting one.jsonl --counts 2 --launches 6 --steps 10:10 || return 0
    PROVE_BYTES=1 sitting more.jsonl --counts 2 --launches 6 --steps 10:10 || return 0
    sitting again.jsonl --counts 2 --launches 6 --steps 10:10 || return 0
    "$lockstep" compare one.jsonl again.jsonl --allow-dirty --exact >equal 2>&1 || same=$?
    "$lockstep" compare one.jsonl more.jsonl --allow-dirty --exact >out 2>&1 || status=$?
    seen=$(grep -c '^CHANGED' out || true)
    tr '\n' ' ' <out | tr -s ' ' | grep -oE 'bytes_per_step: [0-9]+ -> [0-9]+ bytes' | sed 's/[^0-9]*\([0-9]*\) -> \([0-9]*\).*/\1 \2/' >changes
    judged $((status == 1 && seen == 2 && same == 0 && $(awk '$2 == $1 + 1' changes | wc -l) == 2)) \
        'one more byte moved in each of 2 cells: CHANGED, exit 1; none without it' \
        "CHANGED $seen, exit $status; without it exit $same; $(head -n 1 changes | sed 's/ / -> /') bytes"
}

prove_sittings() {
    local other status=0 wrong=0 seen=''
    sitting one.jsonl --counts 1,2 --launches 6 --steps 100:100 || return 0
    sitting two.jsonl --counts 1,2 --launches 6 --steps 100:100 || return 0
    PROVE_SLOW=3 sitting three.jsonl --counts 1,2 --launches 6 --steps 100:100 || return 0
    for other in two three; do
        status=0
        "$lockstep" compare one.jsonl $other.jsonl --allow-dirty --format json >out 2>err || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || wrong=$((wrong + 1))
        grep -q '"class": "III"' out && grep -q '"gate": false' out || wrong=$((wrong + 1))
        grep -o '"verdict": "[^"]*"' out | sort | uniq -c | awk '{ n = $1; $1 = $2 = ""; print n, $0 }' | tr -d '"' >said
        ! grep -qvE ' (SUSPECT|NO EVIDENCE|INVALID)$' said || wrong=$((wrong + 1))
        [ -s said ] || wrong=$((wrong + 1))
        seen="$seen; $other: exit $status, $(tr -s ' ' <said | paste -sd ',' | sed 's/,/, /g')"
    done
    judged $((wrong == 0)) \
        'two sittings of one plan, and one with steps 3 times as long: SUSPECT, NO EVIDENCE or INVALID, never exit 1, never a gate' \
        "${seen:2}"
}

class() { printf '%s%063d' "$1" 0; }

# records FILE [SED]: makes up records of a known class of machine; SED edits the first line, and
# has to change it.
records() {
    "$make_records" new raw.jsonl
    sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$(class 7)\"/" raw.jsonl >good.jsonl
    sed "1${2:-s/a/a/}" good.jsonl >"$1"
    [ -z "${2-}" ] || ! cmp -s good.jsonl "$1" || row FAIL 'an input that is bad' "$2 changes nothing"
}

# closed STATUS WORDS PROGRAM..: the program must end with that status, and say why. With 2 it
# prints nothing else.
closed() {
    local must=$1 why=$2 status=0
    shift 2
    tried=$((tried + 1))
    "$@" >out 2>err </dev/null || status=$?
    tr '\n' ' ' <out | cat - err | tr -s ' ' >said
    if [ "$status" -ne "$must" ] || ! grep -qE -- "$why" said || { [ "$must" -eq 2 ] && [ -s out ]; }; then
        wrong="$wrong; status $status, not '$why'"
    fi
    grep -oE -- "$why" said | head -n 1 >>reasons || true
}

prove_fail-closed() {
    local tried=0 wrong='' distinct two=("$lockstep" compare other.jsonl bad.jsonl)
    : >reasons
    records a.jsonl
    sed 's/"run_id":"feedface/"run_id":"cafeface/; s/"start_epoch_ns":"17/"start_epoch_ns":"18/' a.jsonl >other.jsonl
    records bad.jsonl "s/\"machine_class\":\"$(class 7)\"/\"machine_class\":\"$(class 8)\"/"
    closed 3 'the class of machine: 7[0-9]* -> 8[0-9]*' "${two[@]}"
    records bad.jsonl 's/"machine_class":"7[0-9]*"/"machine_class":""/'
    closed 3 'the class of machine of B is unknown' "${two[@]}"
    records bad.jsonl 's/"build_type":"Release"/"build_type":"Debug"/'
    closed 3 'B is of a Debug build' "${two[@]}"
    records bad.jsonl 's/"sanitizers":""/"sanitizers":"address"/'
    closed 3 'B is of a build with sanitizers' "${two[@]}"
    records bad.jsonl 's/"source":"measured"/"source":"simulated"/'
    closed 3 'B is of times that are simulated' "${two[@]}"
    records bad.jsonl 's/"git_dirty":false/"git_dirty":true/'
    closed 3 'B is of a changed tree' "${two[@]}"
    records bad.jsonl 's/"clock":"CLOCK_MONOTONIC_RAW"/"clock":"CLOCK_MONOTONIC"/'
    closed 3 'B is of the clock CLOCK_MONOTONIC, not CLOCK_MONOTONIC_RAW' "${two[@]}"
    sed '/"mode":"dp"/{/"n_devices":2,/s/"oversubscribed":false/"oversubscribed":true/}' a.jsonl >bad.jsonl
    closed 3 'oversubscribed: more devices than cores' "${two[@]}"
    sed '2,$s/"status":"ok"/"status":"failed"/;2,$s/"validated":true/"validated":false/;2,$s/"reason":""/"reason":"planted"/;$d' \
        a.jsonl >bad.jsonl
    closed 3 'not verified: 0 of [0-9]* launches of A, [0-9]* of [0-9]* launches of B' "${two[@]}"
    "$make_records" three raw.jsonl
    sed "1s/\"machine_class\":\"\"/\"machine_class\":\"$(class 7)\"/" raw.jsonl >bad.jsonl
    closed 3 'it takes 4 to 60 of each' "${two[@]}"
    head -c 20000 a.jsonl >bad.jsonl
    closed 2 'the last line is torn' "${two[@]}"
    records bad.jsonl 's|lockstep/run/1.1|lockstep/run/2.0|'
    closed 2 'bad.jsonl:1: .*2' "${two[@]}"
    sed '3s/"mean_ns":[0-9.e+]*/"mean_ns":null/' a.jsonl >bad.jsonl
    closed 2 'bad.jsonl:3: .* does not follow from the samples' "${two[@]}"
    sed '4s/"t_step_ns":\[/"t_step_ns":[-/' a.jsonl >bad.jsonl
    closed 2 'bad.jsonl:4: .*' "${two[@]}"
    sed '5s/"t_step_ns":\[[0-9]*/"t_step_ns":[0/' a.jsonl >bad.jsonl
    closed 2 'bad.jsonl:5: .*' "${two[@]}"
    : >bad.jsonl
    closed 2 'bad.jsonl:1: the file is empty' "${two[@]}"
    "$make_records" no-cells bad.jsonl
    closed 2 'nothing to compare' "${two[@]}"
    closed 2 'missing.jsonl: No such file' "$lockstep" compare a.jsonl missing.jsonl
    closed_programs
    distinct=$(sort -u reasons | wc -l)
    judged $((tried >= 12 && distinct == tried && ${#wrong} == 0)) \
        "at least 12 bad inputs: each its own reason, exit 2 or 3" "$tried inputs, $distinct reasons$wrong"
}

# writes NAME SCRIPT: makes a program that writes the first line of its records with that change.
writes() {
    cat >"$1" <<PROGRAM
#!/bin/sh
$(printf '%q' "$lockstep") "\$@" || exit
[ "\$1" = sweep ] || exit 0
for out; do :; done
sed '1{$2};s/,"chain":"[^"]*"//;s/,"seal":"[^"]*"//' "\${out#--out=}" >$1.records
cat $1.records >"\${out#--out=}"
PROGRAM
    chmod +x "$1"
}

# Programs that are no build, or another version, or whose times must not be compared.
closed_programs() {
    local tiny=(--allow-dirty --bind none --devices virt:1 --workload 'mlp:8,6,4' --batch 8 --mode dp --seconds 0.01 --steps 10:10 --pairs 8)
    printf '#!/bin/sh\necho %s\n' "'lockstep 9.9 (x, Release)'" >says
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncase $* in *--rows*) exit 1 ;; esac\nexec %q "$@"\n' "$lockstep" >dies
    chmod +x says dies
    writes debug 's/"build_type":"[^"]*"/"build_type":"Debug"/'
    writes changed 's/"git_dirty":false/"git_dirty":true/'
    closed 2 'another version of lockstep: its .cell. does not know' "$lockstep" compare --ab "$lockstep" ./says "${tiny[@]}"
    closed 2 'sh: no build of lockstep' "$lockstep" compare --ab "$lockstep" /bin/sh "${tiny[@]}"
    closed 3 'is of a Debug build' "$lockstep" compare --ab "$lockstep" ./debug "${tiny[@]}"
    closed 3 'is of a changed tree' "$lockstep" compare --ab ./changed ./changed "${tiny[@]:1}"
    closed 3 'not verified: 8 of 8 pairs; NEW: crashed' "$lockstep" compare --ab "$lockstep" ./dies "${tiny[@]}"
}
