#!/usr/bin/env bash
# The files of docs/accept, as far as they can be tried without containers, Slurm and a cluster.
# Stand-ins take the place of srun and scontrol, and of the measurement of `lockstep validate`;
# `lockstep fleet` is real.
# usage: accept_test.sh steps|prolog|sbatch|yaml SOURCE FOLDER LOCKSTEP YAML_LINES
set -euo pipefail
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

case=$1 source=$2 accept=$2/docs/accept folder=$3 lockstep=$4 yaml_lines=$5
rm -rf "$folder"
mkdir -p "$folder/bin"
cd "$folder"
folder=$(pwd -P)

# program NAME: standard input becomes that program, before all others on the PATH.
program() {
    { echo '#!/bin/bash' && cat; } >"$folder/bin/$1"
    chmod +x "$folder/bin/$1"
}

# expect STATUS COMMAND...: the output goes to the files out and err.
expect() {
    local status=0
    "${@:2}" >out 2>err </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "status $status, not $1: ${*:2}"
}

# ---- steps: images are built by commands that scripts/bare runs in a bare system ---------------

containerfile_steps() {
    sed -n 's/^RUN //p' "$1"
}

# Prints the steps without lines that only say where something is.
definition_steps() {
    awk '/^[^ ]/ { inside = /^%post/; next } inside && NF && !/^ *(cd|export|mkdir|mv) [^&|;]*$/' "$1" | sed 's/^ *//'
}

# all_known FILE: each line is one of the steps, and they are in their order.
all_known() {
    local at=0 line found
    while IFS= read -r line; do
        found=$(grep -nxF -e "$line" steps | head -n 1 | cut -d : -f 1)
        [ "${found:-0}" -gt "$at" ] || return 1
        at=$found
    done <"$1"
}

test_steps() {
    "$source/scripts/bare" --list | cut -d '|' -f 2- >steps
    containerfile_steps "$accept/Containerfile" >container
    definition_steps "$accept/lockstep.def" >definition
    [ "$(wc -l <container)" -eq 5 ] || fail "not five RUN lines: $(cat container)"
    cmp container definition || fail "Containerfile and lockstep.def run different commands"
    all_known container || fail "a RUN line that scripts/bare does not run, or in another order"
    sed 's/--preset release$/--preset debug/' container >changed
    if all_known changed; then fail "another preset goes unnoticed"; fi
    sort -r container >changed
    if all_known changed; then fail "another order goes unnoticed"; fi
    # No registry is named, and the root of the container is not used.
    if grep -nE '^(FROM|From:|ARG .*=) *[^ ]*\.[a-z]+/' "$accept/Containerfile" "$accept/lockstep.def"; then
        fail "names a registry"
    fi
    sed -n '/^FROM \${RUN}/,$p' "$accept/Containerfile" | grep -qx 'USER [1-9][0-9]*:[1-9][0-9]*' || fail "runs as root"
}

# ---- prolog ----------------------------------------------------------------------------------------

# prolog STATUS NAME=VALUE...: runs it as slurmd starts it: no PATH, and hardly an environment.
prolog() {
    expect "$1" env -i SLURMD_NODENAME=n1 LOCKSTEP="$folder/bin/lockstep" LOCKSTEP_VERDICTS="$folder/verdicts" \
        LOCKSTEP_PROFILE=node.yaml "${@:2}" /bin/bash "$accept/prolog"
}

# says STATUS: lockstep prints a verdict and ends with that status.
says() {
    printf 'echo "$@" >%q\necho verdict %s\nexit %s\n' "$folder/called" "$1" "$1" | program lockstep
}

test_prolog() {
    says 0 && prolog 0
    [ "$(cat called)" = "validate --profile node.yaml --minutes 1 --node n1 --format json --out $folder/verdicts/n1.jsonl" ] || fail "$(cat called)"
    [ "$(cat verdicts/n1.json)" = 'verdict 0' ] || fail "no verdict is kept"
    [ ! -s err ] || fail "words about a node that is accepted"
    says 1 && prolog 1
    [ "$(cat verdicts/n1.json)" = 'verdict 1' ] || fail "not the verdict of today"
    grep -q 'n1: REJECTED, the node is drained' err || fail "no reason"
    says 3 && prolog 0
    grep -q 'n1: NOT SHOWN, the job runs' err || fail "what is not shown goes in silently"
    says 3 && prolog 1 LOCKSTEP_NOT_SHOWN=drain
    says 3 && prolog 1 LOCKSTEP_NOT_SHOWN=anything
    grep -q 'n1: NOT SHOWN, the node is drained' err || fail "no reason"
    for status in 77 130 139; do says "$status" && prolog 1; done
    echo 'exit 2' | program lockstep
    prolog 1
    grep -q 'no verdict (exit status 2)' err || fail "no reason"
    [ ! -e verdicts/n1.json ] || fail "the verdict of another day is still there"
    for status in 0 3; do echo "exit $status" | program lockstep && prolog 1; done
    grep -q 'no verdict (exit status 3, and nothing was printed)' err || fail "no reason"
    rm bin/lockstep
    prolog 1
    says 0 && expect 1 env -i LOCKSTEP="$folder/bin/lockstep" /bin/bash "$accept/prolog"
}

# ---- sbatch ----------------------------------------------------------------------------------------

# Three nodes run one after another. The folders that a container would mount are in their place.
slurm() {
    program scontrol <<'SH'
[ "$*" = 'show hostnames n[1-3]' ] || exit 9
printf 'n%d\n' 1 2 3
SH
    program srun <<'SH'
nodes='n1 n2 n3' worst=0
while [ "${1#--}" != "$1" ]; do
    [ "$1" != --ntasks=1 ] || nodes=n1
    echo "$1" >>srun.options
    shift
done
for node in $nodes; do
    status=0
    SLURMD_NODENAME=$node "$@" || status=$?
    [ "$status" -le "$worst" ] || worst=$status
done
exit "$worst"
SH
    # The verdict of n2 is $SECOND, and n3 has none if $THIRD is dead. A command that begins with
    # $BROKEN fails on n2. devices, selftest, check and soak ran before each verdict of a script.
    program lockstep <<'SH'
if [ "$1" = fleet ]; then exec "$REAL" "$@"; fi
if [ "$1 $2" = 'validate check' ]; then echo "$3: devices needed: 8" && exit "${CHECKED-0}"; fi
if [ "$1" != validate ]; then
    words=$*
    echo "$words" | tee -a "ran.$SLURMD_NODENAME"
    [ -z "${ONE-}" ] || [ "$words" != 'devices --devices cuda:all --format json' ] || echo '"near": false'
    if [ "$SLURMD_NODENAME" = n2 ] && [ -n "${BROKEN-}" ] && [ "${words#"$BROKEN"}" != "$words" ]; then
        printf 'FAIL  it 0.1 with 2 devices: %s\n      goes on (1 s)\nreplay of iteration 1: %s\n' "$words" "$words"
        exit "$FAILS"
    fi
    exit 0
fi
if [ "$4" = --devices ]; then
    echo "validate --devices $5" >>"ran.${9}"
    set -- "${@:1:3}" "${@:6}"
fi
[ "$1 $2 $4 $5 $6 $8 $9" = 'validate --profile --minutes 7 --node --format json' ] || exit 2
[ "${3##*/} ${10} ${11##*/} ${12}" = "node.yaml --out $7.jsonl --wait" ] || exit 2
kind=accepted
[ "$7" != n2 ] || kind=${SECOND:-accepted}
[ "$7" != n3 ] || [ "${THIRD-}" != dead ] || kill -9 $PPID $$
sed 's/"node":[^,]*/"node":"'"$7"'"/; s/\("run_id":"\|"machine_instance":"\)[^"]*/\1feedface0000000'"${7#n}"'/g
    s/"limits":/"allow_dirty":false,"records":{"source":"measured","clock":"CLOCK_MONOTONIC_RAW","build_type":"Release","sanitizers":"","git_sha":"3f2a9c1d5b7e","git_dirty":false},&/' "$CORPUS/$kind"
case $kind in accepted) ;; rejected) exit 1 ;; *) exit 3 ;; esac
SH
    touch node.yaml lockstep.sqsh
}

# job STATUS SCRIPT ARGUMENT...: runs the script on three nodes, with an empty folder before it.
job() {
    rm -rf verdicts srun.options ran.*
    expect "$1" env SLURM_JOB_NODELIST='n[1-3]' PATH="$folder/bin:$PATH" REAL="$lockstep" \
        CORPUS="$source/suites/test/fuzz/corpus/verdict" ${SECOND:+SECOND="$SECOND"} ${THIRD:+THIRD="$THIRD"} \
        ${BROKEN:+BROKEN="$BROKEN"} ${FAILS:+FAILS="$FAILS"} ${CHECKED:+CHECKED="$CHECKED"} ${ONE:+ONE="$ONE"} "$accept/$2" "${@:3}"
}

lists() {
    [ "$(tr '\n' ' ' <verdicts/passing_nodes.txt)" = "$1" ] || fail "pass: $(cat verdicts/passing_nodes.txt)"
    [ "$(tr '\n' ' ' <verdicts/failing_nodes.txt)" = "$2" ] || fail "fail: $(cat verdicts/failing_nodes.txt)"
}

# first NODE: the first sentence takes it out, and why, and no other.
first() {
    tr -s '\n ' ' ' <out | grep -qF "Take out 1 of 3: $1" || fail "not '$1' in the first sentence: $(head -3 out)"
}

# ran NODE COMMAND...: these ran there, in this order, and no others.
ran() {
    printf '%s\n' "${@:2}" | cmp - "ran.$1" || fail "$1 ran: $(cat "ran.$1")"
}

# Prints the commands of docs/fleet.md, as they are written there.
page() {
    rm -rf verdicts lists
    awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source/docs/fleet.md" |
        sed "s,p\.yaml verdicts 5,node.yaml verdicts 7,; s,docs/accept,$accept," >commands
    expect 0 env SLURM_JOB_NODELIST='n[1-3]' PATH="$folder/bin:$PATH" REAL="$lockstep" \
        CORPUS="$source/suites/test/fuzz/corpus/verdict" ${SECOND:+SECOND="$SECOND"} ${THIRD:+THIRD="$THIRD"} \
        bash -e commands
}

test_sbatch() {
    local script arguments wanted shown step
    slurm
    # shellcheck disable=SC2016 # for the stand-in
    printf '%s\n' '[ "$1" != --wait ] || exec bash "${@:3}"' 'cp "${1#--exclude=}" submitted' | program sbatch
    page
    [ "$(tr '\n' ' ' <lists/passing_nodes.txt)" = 'n1 n2 n3 ' ] || fail "docs/fleet.md: $(cat lists/passing_nodes.txt)"
    THIRD=dead page
    [ "$(tr '\n' ' ' <submitted)" = 'n3 ' ] || fail "docs/fleet.md: $(cat submitted)"
    for script in validate.sbatch validate-pyxis.sbatch; do
        arguments=(node.yaml verdicts 7)
        [ "$script" = validate.sbatch ] || arguments=(lockstep.sqsh "${arguments[@]}")
        job 0 "$script" "${arguments[@]}"
        lists 'n1 n2 n3 ' ''
        SECOND=rejected job 1 "$script" "${arguments[@]}"
        lists 'n1 n3 ' 'n2 '
        first 'n2 (REJECTED: step_time '
        SECOND=not-shown job 3 "$script" "${arguments[@]}"
        lists 'n1 n3 ' 'n2 '
        THIRD=dead job 1 "$script" "${arguments[@]}"
        grep -q '^MISSING *n3' out || fail "n3 is dead, and not missing"
        grep -qx 'validate ' verdicts/n3.steps || fail "the steps of n3: $(cat verdicts/n3.steps)"
        grep -q '(no verdict: validate did not end)' out || fail "no step is named: $(cat out)"
        lists 'n1 n2 ' 'n3 '
        # A node on which a step fails, or is skipped, has no verdict; its steps and its output say why.
        job 0 "$script" "${arguments[@]}"
        printf '%s 0\n' devices selftest check copies soak validate | cmp - verdicts/n1.steps || fail "the steps of n1: $(cat verdicts/n1.steps)"
        tr -s '\n ' ' ' <out | grep -qF '. Steps of most nodes: devices, selftest, check, copies, soak, validate. ' || fail "no steps: $(cat out)"
        ran n1 'devices --devices cuda:all --require-devices 8' 'soak selftest --quick' 'check --devices cuda:all --profile all' \
            'devices --devices cuda:all --format json' 'check --copies 32768 --devices cuda:all' \
            'soak --devices cuda:all --workload mlp:4096,4096,4096,4096 --minutes 7' 'validate --devices cuda:all'
        for BROKEN in devices 'soak selftest' 'check --devices' 'check --copies' 'soak --devices'; do
            for FAILS in 1 77; do
                job 1 "$script" "${arguments[@]}"
                [ "$FAILS" -eq 1 ] && wanted=REJECTED shown=FAILED || wanted=MISSING shown=skipped
                grep -q "^$wanted *n2: .*" out || fail "n2 fails $BROKEN, and is not $wanted"
                step=${BROKEN% --devices} step=${step#* } step=${step#--}
                grep -q "^$step $FAILS: $BROKEN.* goes on (1 s)$" verdicts/n2.steps || fail "no last sentence of $step: $(cat verdicts/n2.steps)"
                tr -s '\n ' ' ' <out | grep -q "$step $shown ($FAILS): $BROKEN" || fail "no step $step: $(cat out)"
                [ "$FAILS" -ne 1 ] || first "n2 (REJECTED: $step FAILED (1))"
                lists 'n1 n3 ' 'n2 '
                tail -n 1 verdicts/n2.log | grep -q "^replay of iteration 1: $BROKEN" || fail "the log of n2: $(cat verdicts/n2.log)"
                [ ! -e verdicts/n2.json ] || fail "n2 has a verdict, though $BROKEN failed"
                if grep -q validate ran.n2; then fail "n2 went on after $BROKEN"; fi
            done
        done
        BROKEN='' FAILS=''
        # A profile that is wrong, or has a limit that cannot fail, stops all before the first step.
        for CHECKED in 1 2 3; do
            job 2 "$script" "${arguments[@]}"
            [ ! -e ran.n1 ] || fail "a step ran by a wrong profile"
        done
        CHECKED=''
        # One device copies to no other.
        ONE=1 job 0 "$script" "${arguments[@]}"
        ! grep -q copies ran.n1 verdicts/n1.steps || fail "copies of one device"
        job 0 "$script" "${arguments[@]}" virt:2
        ran n3 'devices --devices virt:2 --require-devices 8' 'soak selftest --quick' 'check --devices virt:2 --profile all' \
            'devices --devices virt:2 --format json' 'check --copies 32768 --devices virt:2' 'soak --devices virt:2 --minutes 7' 'validate --devices virt:2'
        # An existing folder may have verdicts of another day.
        job 0 "$script" "${arguments[@]}"
        cp -r verdicts kept
        expect 1 env SLURM_JOB_NODELIST='n[1-3]' PATH="$folder/bin:$PATH" "$accept/$script" "${arguments[@]}"
        diff -r verdicts kept || fail "old verdicts are changed"
        rm -r kept
    done
    # Without Slurm it is this machine.
    rm -rf verdicts ran.*
    expect 0 env SLURMD_NODENAME=n1 PATH="$folder/bin:$PATH" REAL="$lockstep" CORPUS="$source/suites/test/fuzz/corpus/verdict" \
        bash "$accept/validate.sbatch" node.yaml verdicts 7 virt:2
    lists 'n1 ' ''
    grep -qx -e "--container-image=$folder/lockstep.sqsh" srun.options || fail "not this image"
    grep -qx -e "--container-mounts=$folder/verdicts:$folder/verdicts,$folder/node.yaml:$folder/node.yaml:ro" \
        srun.options || fail "not these mounts"
}

# ---- yaml ------------------------------------------------------------------------------------------

# has FILE.yaml KEY VALUE: the value is a pattern, and so is the key.
has() {
    grep -qP "^$2\t$3\$" "$1.lines" || fail "$1 has no $2 that is $3"
}

test_yaml() {
    local file n=0
    for file in "$accept"/*.yml "$accept"/*.yaml; do
        "$yaml_lines" "$file" >"${file##*/}.lines" 2>err || fail "$file"
        # A shell can read the scripts that are given to it there.
        while IFS= read -r line; do
            printf '%b\n' "$line" | bash -n || fail "$file: $line"
            n=$((n + 1))
        done < <(grep -P '\.(run|script\.\d+|command\.2)\t.* ' "${file##*/}.lines" | cut -f 2)
    done
    [ "$n" -ge 20 ] || fail "only $n commands"
    has kubernetes.yaml 0.kind Job
    has kubernetes.yaml 0.spec.backoffLimit 0
    has kubernetes.yaml 0.spec.template.spec.restartPolicy Never
    has kubernetes.yaml 0.spec.template.spec.securityContext.runAsNonRoot true
    has kubernetes.yaml 1.kind Pod
    has kubernetes.yaml 1.spec.restartPolicy Never
    has kubernetes.yaml 1.spec.initContainers.0.command.1 validate
    for job in without-gpu with-gpu nightly; do
        has github.yml "0.jobs.$job.runs-on.*" .+
        has github.yml "0.jobs.$job.steps.0.uses" 'actions/checkout@.*'
        has github.yml "0.jobs.$job.steps.1.run" scripts/bootstrap
    done
    has github.yml 0.jobs.without-gpu.runs-on 'ubuntu-.*'
    for job in without-gpu with-gpu; do
        has gitlab.yml "0.$job.script.0" scripts/bootstrap
        has gitlab.yml "0.$job.artifacts.when" always
    done
    # install.wheel runs the steps of own-*.yml that need no GPU: the others have options that there are.
    while IFS= read -r line; do
        # shellcheck disable=SC2086 # words
        expect 0 "$lockstep" check $line --help
    done < <(sed -nE 's/.* --devices cuda:all/--devices cuda:all/p' own-git{hub,lab}.yml.lines | sed 's/ --format.*//')
    [ "$(grep -c -- '--require-devices 2 --impl-options backend=nccl' own-*.lines | tr '\n' ' ')" = \
        'own-github.yml.lines:1 own-gitlab.yml.lines:1 ' ] || fail "not the GPU jobs of own-*.yml"
    has own-github.yml 0.jobs.gpus.runs-on.0 self-hosted
    has own-github.yml 0.jobs.gpus.if 'github.event_name != .pull_request. .. github.event.pull_request.head.repo.full_name == github.repository'
    has own-github.yml 0.jobs.rules.steps.0.uses 'actions/checkout@.*'
    printf 'a: 1\na: 2\n' >twice.yml
    expect 1 "$yaml_lines" twice.yml
    printf 'a: [1\n' >torn.yml
    expect 1 "$yaml_lines" torn.yml
    : >empty.yml
    expect 1 "$yaml_lines" empty.yml
}

case $case in
steps | prolog | sbatch | yaml) "test_$case" ;;
*) fail "no test '$case'" ;;
esac
