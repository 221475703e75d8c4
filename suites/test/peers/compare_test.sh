#!/usr/bin/env bash
# scripts/compare-pytorch from outside: a quick run and its report, bad options, an interruption.
# 77 where there is no PyTorch.
# usage: compare_test.sh CASE COMPARE LOCKSTEP FOLDER [LAUNCH MPIRUN KIND]   (see mpi/launch.sh)
set -eu
export LC_ALL=C
# shellcheck source=/dev/null
. "$(dirname "$0")/../shell.sh"

name=$1
compare=$2
lockstep=$3
folder=$4
launch=("${@:5}")
enter "$folder"

expect() {
    local wanted=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    if [ "$status" -eq 77 ]; then
        cat err
        exit 77
    fi
    [ "$status" -eq "$wanted" ] || fail "status $status, wanted $wanted: $*"
}

# quick LAUNCHES OPTION...: that many launches are good.
quick() {
    local launches=$1
    shift
    expect 0 "$compare" --quick "$@" --lockstep "$lockstep" --seed 5 --out peer.json
    [ ! -s err ] || fail "words on stderr"
    cp out printed
    matches out '^mlp:64,64,64, batch 32$'
    for arm in 'lockstep DataParallel, 2 devices' 'lockstep DataParallel, 1 device ' \
        'lockstep DDP, 2 devices' 'lockstep plain, 1 device' 'PyTorch DDP tuned, 2 processes' \
        'PyTorch DDP as it comes, 2 processes' 'PyTorch plain, 1 process' 'torch.mm alone, 2 x 16 rows' \
        'torch.mm alone, 1 x 32 rows'; do
        matches out "^ +$arm +[0-9.]+ [mu]?s   one launch$"
    done
    for ratio in 'lockstep 2' 'lockstep DDP 2'; do
        matches out "^  $ratio / PyTorch DDP 2 +[0-9.]+   one launch$"
    done
    matches out "^  lockstep 2 / PyTorch's fastest +[0-9.]+   one launch$"
    matches out '^  lockstep 2 / products alone 2 +[0-9.]+   one launch$'
    matches out "^  PyTorch's fastest: PyTorch .*process(es)?$"
    # An arm that is not measured is listed with the reason: it is never left out.
    matches out '^  PyTorch compiled, 1 process +-$'
    matches out '^      absent: (PyTorch .* has no torch.compile|torch.compile was not asked for)$'
    matches peer.json '"mode":"compiled","devices":1,"torch":"[^"]+","absent":"[^"]+","launches":\[\]'
    if grep -nE '.{81}' out; then fail "a line is longer than 80 columns"; fi
    [ "$(tail -n 1 out)" = peer.json ] || fail "the last line is not the record's name"
    [ "$(grep -o '"status":"ok"' peer.json | wc -l)" -eq "$launches" ] || fail "not $launches good launches"
    expect 2 "$compare" --quick --lockstep "$lockstep" --out peer.json
    matches err 'is there already'
    # The report computes the same from it.
    status=0
    "$lockstep" report --peer peer.json --out page >out 2>err || status=$?
    if command -v gnuplot >/dev/null; then
        [ "$status" -eq 0 ] || fail "the report's status is $status"
        [ -s page/peer.svg ] || fail "no figure"
    fi
    matches page/summary.md 'lockstep 2 / PyTorch DDP 2 \| [0-9.]+ \| - \| 1 \| '
    matches page/summary.md 'lockstep DDP 2 / PyTorch DDP 2 \| [0-9.]+ \| - \| 1 \| PyTorch DDP over gloo, (tuned|as it comes), 2 processes \|$'
    matches page/summary.md 'lockstep DDP, 2 devices \|'
    matches page/summary.md 'PyTorch plain by torch.compile, 1 process \| - \| - \| - \| absent: '
    matches page/index.html 'Absent: PyTorch plain by torch.compile, 1 process: '
}

test_quick() {
    quick 9
}

# The output of quick, and processes in the same run.
test_processes() {
    { printf '#!/usr/bin/env bash\nexec bash' && printf ' %q' "${launch[@]}" && echo ' "$@"'; } >launcher
    chmod +x launcher
    export PATH=$PWD:$PATH
    quick 10 --processes 'launcher {n}'
    cp printed out
    matches out '^  lockstep DDP, MPI, 2 processes +[0-9.]+ [mu]?s   one launch$'
    matches out '^  lockstep MPI 2 / PyTorch DDP 2 +[0-9.]+   one launch$'
    matches out '^  lockstep MPI 2 / lockstep DDP 2 +[0-9.]+   one launch$'
    matches peer.json '"mode":"processes","devices":2'
    matches page/summary.md 'lockstep MPI 2 / PyTorch DDP 2 \| [0-9.]+ \| - \| 1 \| '
    # The fastest of several arms is one of PyTorch.
    matches page/summary.md 'lockstep MPI 2 / lockstep DDP 2 \| [0-9.]+ \| - \| 1 \| - \|'
    matches page/summary.md 'lockstep DDP over MPI, 2 processes \|'
    refused 'over processes does not run here: .*{n}' --quick --processes 'env'
    refused 'mlp on 2, 4, 8' --processes env --only cnn
    refused 'mlp on 2, 4, 8' --processes env --devices 3
    refused 'on --device cpu only|no GPU|no PyTorch' --processes env --device cuda --workload mlp:8,4
}

# Interrupted after some launches: they are in the file, which is complete and says so.
test_interrupted() {
    "$compare" --quick --devices 1 --launches 500 --lockstep "$lockstep" --seed 5 --out peer.json >out 2>err &
    pid=$!
    for _ in $(seq 1200); do
        if grep -q '"round":0' peer.json 2>/dev/null; then break; fi
        if ! kill -0 "$pid" 2>/dev/null; then
            status=0
            wait "$pid" || status=$?
            [ "$status" -ne 77 ] || exit 77
            fail "it ended early with status $status"
        fi
        sleep 0.1
    done
    # It is interrupted again while it ends, as timeout does: the measurements are written all the
    # same.
    kill -INT "$pid"
    for _ in $(seq 200); do
        kill -TERM "$pid" 2>/dev/null || break
        sleep 0.005
    done
    expect_end 130 "$pid"
    matches err 'interrupted after [0-9]+ launches'
    matches peer.json '"interrupted":true,"complete":false'
    matches out 'lockstep 1 / PyTorch DDP 1 +[0-9.]+'
    [ -z "$(find . -name '*.tmp')" ] || fail "a temporary file is left"
    status=0
    "$lockstep" report --peer peer.json --out page >out 2>err || status=$?
    [ "$status" -eq 1 ] || fail "the report's status is $status, not 1"
    matches page/index.html 'The comparison was not finished'
}

refused() {
    local words=$1
    shift
    expect 2 "$compare" --lockstep "$lockstep" --out never.json "$@"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $*"
    matches err "$words"
    [ ! -e never.json ] || fail "a file was made: $*"
}

# The Python that the script finds itself.
python_of_pytorch() {
    local python
    for python in $(type -ap python3) /usr/bin/python3; do
        if "$python" -c 'import torch, numpy' 2>/dev/null; then echo "$python" && return; fi
    done
}

test_misuse() {
    expect 0 "$compare" --help
    matches out '^usage: compare-pytorch'
    if grep -nE '.{81}' out; then fail "a line is longer than 80 columns"; fi
    refused "'0' is not a whole number of 1 to 64" --devices 0
    refused "'two' is not a whole number" --devices two
    refused "'nan' is not a number" --seconds nan
    refused "'-1' is not a number" --seconds=-1
    refused 'pytorch of /bin/false does not run here' --beside /bin/false --can-run
    refused 'which is measured already' --beside "$(python_of_pytorch)" --workload tutorial
    refused "unknown workload 'vgg'" --workload vgg
    refused "'rnn' is not one of tutorial, mlp, cnn, lstm, resnet, gpt-tiny, gpt-small" --only cnn,rnn
    refused "'rnn' is not compared with PyTorch; tutorial, mlp:SIZES, cnn, lstm, resnet, gpt-tiny, gpt-small, gpt:SIZES are" --workload rnn
    refused "'gpt2' is not compared with PyTorch" --workload gpt2
    refused 'of 7 is no multiple of 2|must be 8' --workload gpt:1,7,2,4,5
    refused 'python must be the first' --python python3
    refused 'latest must be the first' --quick --latest
    refused 'not both' --only cnn --workload lstm
    refused '2 to 16 sizes' --workload mlp:8
    refused "'30,30' has a number twice" --batch 30,30
    refused "'1.5' is not a whole number of 1 to 16777216$" --batch 1.5
    refused 'unrecognized arguments: --lim' --lim
    refused "'bucket_cap_mb=big' is not|'big' is not a whole number" --ddp bucket_cap_mb=big
    refused "'fast=True' is not one of" --ddp fast=True
    refused 'no limit is about these' --limits --workload mlp:8,4
    refused 'limits are about 2 devices, not 3' --limits --devices 3
    refused "invalid choice: 'bf16'" --math bf16
    refused 'math tf32: on --device cuda only$' --math tf32
    local gpu=(--device cuda --math tf32)
    refused 'math tf32: lstm is verified in f32 only$' "${gpu[@]}" --workload gpt-tiny --workload lstm
    refused 'math tf32: resnet is verified in f32 only$' "${gpu[@]}" --workload resnet
    NVIDIA_TF32_OVERRIDE=0 refused 'NVIDIA_TF32_OVERRIDE in the environment decides otherwise: unset it$' "${gpu[@]}"
    refused 'none is about --device cuda with --math f32$' --device cuda --limits --workload gpt2
    refused 'no limit is about these .*; there are: gpt2 8$' "${gpu[@]}" --limits --workload gpt2 --batch 4
    expect 2 "$compare" --quick --lockstep ./nothing --out never.json
    matches err "no program './nothing'"
    refused "no program './nothing'" --beside ./nothing --can-run
    local program
    for program in /bin/false /bin/true; do
        expect 2 "$compare" --quick --lockstep "$program" --out never.json
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line about a lockstep that is none"
        matches err "^compare-pytorch: '$program' is not lockstep"
    done
    # The error is about the PyTorch that was named, not about a missing one.
    for program in ./nothing /; do
        expect 2 "$compare" --python "$program" --quick --lockstep "$lockstep" --out never.json
        [ "$(cat err)" = "compare-pytorch: --python: no program '$program'" ] || fail "--python $program"
    done
}

# The newest PyTorch is installed anew, kept if there is no network, and refused in one line if
# neither works. Programs of this folder stand in for python3 and pip.
test_latest() {
    local python
    python=$(PATH=/usr/bin type -P python3 || true)
    [ -n "$python" ] && "$python" -c 'import torch, numpy' 2>/dev/null || exit 77
    export XDG_CACHE_HOME=$folder/cache
    local made=$XDG_CACHE_HOME/lockstep-pytorch
    mkdir -p programs
    program() { # FILE LINE
        mkdir -p "$(dirname "$1")"
        printf '#!/bin/sh\n%s\n' "$2" >"$1"
        chmod +x "$1"
    }
    local run=(env PATH="$folder/programs:$PATH" "$compare" --latest --can-run --lockstep "$lockstep")

    expect 0 "$compare" --latest --help
    [ ! -e "$made" ] || fail "an environment was made for words"

    program programs/python3 'echo "no module ensurepip" >&2; exit 1'
    expect 2 "${run[@]}"
    matches err "cannot make an environment in $made .*: no module ensurepip$"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line"

    program programs/python3 "[ \"\$1\" = -m ] || exec '$python' \"\$@\"
mkdir -p '$made/bin' && echo \"\$*\" >asked && cp pip '$made/bin' && cp python '$made/bin'"
    # Options are checked first: for bad ones nothing is installed.
    early() { # WORDS OPTION...
        expect 2 "${run[@]:0:4}" "${@:2}"
        matches err "$1"
        [ ! -e "$made" ] || fail "an environment was made: ${*:2}"
        if grep -q 'the newest' err; then fail "it was begun: ${*:2}"; fi
    }
    early 'unrecognized arguments: --bogus' --bogus
    early "no program './nothing'" --lockstep "$lockstep" --beside ./nothing
    early 'unrecognized arguments: --bogus' gemm --program x --out y --bogus
    early 'at least 1' allreduce --times 0

    program pip 'echo "$*" >>asked'
    program python "exec '$python' \"\$@\""
    expect 0 "${run[@]}"
    matches asked "^-m venv --clear $made$"
    matches asked '^install --quiet --upgrade torch numpy$'
    matches err "^compare-pytorch: the newest PyTorch, some gigabytes the first time, in $made$"

    program "$made/bin/pip" 'echo "no network" >&2; exit 1'
    rm asked
    expect 0 "${run[@]}"
    matches err 'the one that is there is taken$'
    [ ! -e asked ] || fail "the environment was made again"

    program "$made/bin/python" 'exit 1'
    expect 2 "${run[@]}"
    matches err '^compare-pytorch: --latest: pip: no network$'
}

# Without GPUs, or with a PyTorch that cannot use them, the status is 77 and one line says why.
test_cuda() {
    local status=0 words
    for words in --can-run --quick '--only cnn,lstm' '--workload resnet --batch 16'; do
        status=0
        # shellcheck disable=SC2086 # words
        CUDA_VISIBLE_DEVICES='' "$compare" --device cuda $words --lockstep "$lockstep" --out none.json \
            >out 2>err || status=$?
        [ "$status" -eq 77 ] || fail "status $status, not 77: $words"
        [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $words"
        matches err '^compare-pytorch: (no GPU for this comparison: .|no PyTorch for )'
        [ ! -e none.json ] || fail "a record was made: $words"
    done
    status=0
    "$compare" --python /bin/false --quick >out 2>err || status=$?
    [ "$status" -eq 77 ] || fail "status $status for a Python without PyTorch"
    matches err '^compare-pytorch: no PyTorch for /bin/false '
    status=0
    "$compare" --device gpu >out 2>err || status=$?
    [ "$status" -eq 2 ] || [ "$status" -eq 77 ] || fail "status $status for --device gpu"
    status=0
    "$compare" --device cuda --limits --lockstep "$lockstep" >out 2>err || status=$?
    [ "$status" -eq 2 ] || [ "$status" -eq 77 ] || fail "status $status for --limits"
}

"test_$name"
