"""pages.py: the command lines of the documents, page by page, as documents_test.py runs them."""
from __future__ import annotations

from dataclasses import dataclass, field

# Options that make a cell small, and a training.
CELL = " --seconds 0.001 --steps 5:10 --warmup 1:0 --bind none"
CHAIN = CELL.replace("1:0", "2:0")
TINY = " --workload mlp:8,8 --batch 8,16" + CELL

GPU = "it needs GPUs"
SLURM = "it needs Slurm, and several nodes"
NETWORK = "it loads packages from the network"
PYTORCH = "it measures PyTorch, for half an hour"
# The launcher of the page, with a layer that is PyTorch's in all but its name; `python3` has imported PyTorch already.
LAYER = """mkdir -p bin && ln -sf "$PYTORCH" bin/python3 &&
    printf 'from torch.nn.parallel import DistributedDataParallel\\n\\n\\nclass MyDDP(DistributedDataParallel):\\n    pass\\n' >my_layer.py"""
WITH_PYTORCH = ("lockstep check", "PATH=$PWD/bin:$PATH lockstep check")
PAGE = r"^my-report/index\.html$"


@dataclass(frozen=True)
class Row:
    command: str  # as it stands there, without its comment
    swap: tuple[tuple[str, str], ...] = ()  # what is in it, and what is run instead
    more: str = ""  # options after it
    before: tuple[str, ...] = ()  # what makes the files that it reads
    status: tuple[int, ...] = (0,)
    prints: tuple[str, ...] = ()
    leaves: dict[str, str] = field(default_factory=dict)  # files, and what is in them
    checks: tuple[str, ...] = ()  # commands that have to end with 0 then
    not_run: str = ""  # why it is not run; its options are read
    needs: str = ""  # a word of HAVE
    slow: bool = False  # only in `slow`


# Records of six made-up sessions, as many as a profile is learned from.
SITTINGS = """"$MAKE_RECORDS" old old.jsonl && for n in 1 2 3 4 5 6; do
    sed "s/feedface00000001/feedface0000010$n/; 1s/\\"machine_class\\":\\"\\"/\\"machine_class\\":\\"$(printf '7%063d' 0)\\"/
        s/\\"start_epoch_ns\\":\\"1795/\\"start_epoch_ns\\":\\"179$n/; 1s/2026-11-21/2026-11-1$n/" old.jsonl >day$n.jsonl
done && sed s/feedface00000103/feedface00000107/ day3.jsonl >today.jsonl"""
# A limit that this machine keeps.
PROFILE = """cat >%s <<YAML
schema: lockstep/profile/1.0
name: any
match: {cores: $(lockstep devices --devices virt:1 --format json | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["machine"]["cores"])')}
requires: {launches: 6}
limits:
  - metric: peak_memory
    max: 140 KiB
    at: {workload: "mlp:8,8", mode: dp, devices: 1, batch: 8}
    kind: binding
    source: made up
    date: 2026-11-23
    evidence: measured
YAML"""
# Ten sessions of a machine, and one more.
BASELINE = """for n in 1 2 3 4 5 6 7 8 9 10; do
    "$PYTHON" -B "$TESTS/cli/baseline_plant.py" "$MAKE_RECORDS" old s$n.jsonl $n 1.00$((n * 7 % 10)) || exit
done && lockstep compare baseline add main s[1-9].jsonl &&
"$PYTHON" -B "$TESTS/cli/baseline_plant.py" "$MAKE_RECORDS" old monday.jsonl 20 1.003 &&
"$PYTHON" -B "$TESTS/cli/baseline_plant.py" "$MAKE_RECORDS" new new.jsonl 21 1.05"""
# A fleet takes no verdict on records of a changed tree: what these say of it is edited.
CLEAN = "sed -i 's/\"git_dirty\": true/\"git_dirty\": false/' verdicts/*.json"
SMALL_RECORDS = "lockstep sweep --devices virt:2 --out my.jsonl" + TINY
# As all_reduce_perf of nccl-tests writes it.
NCCL = """cat >nccl.txt <<TEXT
# nccl-tests version 2.19.6 nccl-headers=22900 nccl-library=22900
# Collective test starting: all_reduce_perf
#  Rank  0 Group  0 Pid   4242 on       node device  0 [0000:19:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   4242 on       node device  1 [0000:3b:00] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
       65536         16384     float     sum      -1    12.34    5.31    5.31       0    12.00    5.46    5.46       0
# Out of bounds values : 0 OK
# Collective test concluded: all_reduce_perf
TEXT"""
XML = '"$PYTHON" -c "import sys, xml.etree.ElementTree as x; sys.exit(x.parse(sys.argv[1]).getroot().tag != \'testsuites\')" '
# Records in which a number is counted, and one more of it.
CHANGED = ''' sed 's/"bytes_per_step":null/"bytes_per_step":4096.0/; /"n_devices":1,/s/4096.0/0.0/' old.jsonl >bytes.jsonl &&
    sed '/"n_devices":2,/s/"bytes_per_step":4096.0/"bytes_per_step":4097.0/; s/feedface/deadbeef/g; s/"start_epoch_ns":"1/"start_epoch_ns":"2/' bytes.jsonl >more.jsonl && '''
JSON = '"$PYTHON" -c "import json, sys; json.load(open(sys.argv[1]))" '
CC = "cc -std=c11 -shared -fPIC -I PREFIX/include -o it.so adapter.c"
EXAMPLE = ('mkdir -p include/lockstep && cp "$SOURCE/suites/impl.h" include/lockstep && '
           'cp "$SOURCE/suites/impls/example/example.c" adapter.c')
MY_LAYER = EXAMPLE + " && " + CC.replace("PREFIX/", "")
PYTHON_ADAPTER = "sed -n '/^```python/,/^```/p' \"$SOURCE/suites/impls/exec/PROTOCOL.md\" | grep -v '^```' >adapter.py"

# The first lines of pages that begin with nothing.
BOOTSTRAP = Row("scripts/bootstrap", swap=(("scripts/bootstrap", '"$SOURCE/scripts/bootstrap" --list'),), status=(0, 1),
                prints=(r"\bcmake\b",))
BUILD = Row("cmake --preset release && cmake --build --preset release --target lockstep",
            swap=(("cmake --preset release && cmake --build --preset release --target lockstep",
                   'cd "$SOURCE" && cmake --list-presets && cmake --build --list-presets && cmake --build "$BUILD" --target help'),),
            prints=(r'^  "release"', r"^lockstep: phony|\blockstep\b"))
ON_PATH = Row("PATH=$PWD/build/release/harness:$PATH", swap=(("$PWD/build/release", "$BUILD"),), more="; command -v lockstep",
              prints=("/harness/lockstep$",))
WORKFLOW = ".github/workflows/data-parallel.yml"

PAGES: dict[str, tuple[Row, ...]] = {
    "README.md": (
        BOOTSTRAP,
        Row("pip install '.[pytest,torch]'", not_run=NETWORK),
        Row("lockstep check --impl torch:my_layer:MyDDP", needs="torch", before=(LAYER,), swap=(WITH_PYTORCH,),
            more=" --only DDP-05.range", prints=(r"^PASS +my_layer\.MyDDP",)),
        Row("lockstep check --impl torch --only DDP-09.two_backwards", needs="torch", swap=(WITH_PYTORCH,), status=(1,),
            prints=("element 0 is 3 .* must be 7.5 ",)),
        Row("scripts/demo", not_run="it builds, and takes minutes: cli.demo runs it"),
        Row("scripts/test", not_run="it runs this test: scripts.environment runs it"),
        BUILD, ON_PATH,
        Row("lockstep check", more=" --area SPLIT", prints=(r"^PASS ",)),
        Row("lockstep sweep --devices virt:2 --batch 32,512 --seconds 0.2 --launches 6 --out my.jsonl",
            swap=((" --seconds 0.2 --launches 6", " --launches 2" + CELL),), more=" --workload mlp:8,8",
            leaves={"my.jsonl": '"schema":"lockstep/end/1.1"'}, checks=('grep -q \'"global_batch":512.*"status":"ok"\' my.jsonl',)),
        Row("lockstep report my.jsonl --out my-report", prints=(PAGE,), leaves={"my-report/index.html": "verified"}),
    ),
    "docs/accept.md": (
        Row("scripts/rehearse rehearsal", swap=(("scripts/rehearse", '"$SOURCE/scripts/rehearse"'),), prints=("^node03  OUTLYING ",), leaves={"rehearsal/expected.txt": r"^node\[01-32\]$"}),
        Row("lockstep fleet rehearsal --expect rehearsal/expected.txt --out rehearsal", status=(1,),
            prints=("32 nodes: .*; 2 outlying",), leaves={"rehearsal/failing_nodes.txt": "^node03$", "rehearsal/index.html": "node03"}),
        Row("lockstep validate --profile rehearsal/small.yaml --run --bind none --devices virt:2+fault:slow@1/1/300 --node mine --format json >rehearsal/mine.json",
            status=(1,), leaves={"rehearsal/mine.json": '"verdict": "REJECTED"'},
            swap=(("slow@1/1/300", "row@1/0 --allow-dirty"), ("--run", "--minutes 0.5")),  # cli.fleet measures the slow one
            checks=("lockstep fleet rehearsal | tr -s '\\n ' ' ' | grep -q 'mine (REJECTED: wrong numbers'",)),
        Row("lockstep sweep --devices cuda:all --counts 1,8 --mode ddp --workload mlp:4096,4096,4096,4096 --batch 32768 --chain 32 --parts 1 --launches 8 --out day1.jsonl",
            swap=(("cuda:all", "virt:2"), ("1,8", "1,2"), ("mlp:4096,4096,4096,4096", "mlp:8,8"), ("32768", "8"),
                  ("--chain 32 --parts 1 --launches 8", "--chain 4 --parts 0.02 --launches 2")), more=CHAIN,
            leaves={"day1.jsonl": '"parts":.*"chain":4,|"chain":4,.*"parts":'}),
        Row("lockstep validate learn --name my-node --out my-node.yaml day1.jsonl day2.jsonl day3.jsonl day4.jsonl day5.jsonl day6.jsonl",
            before=(SITTINGS,), leaves={"my-node.yaml": '^name: "my-node"$'}, checks=("grep -q 'metric: step_time' my-node.yaml",)),
        Row("lockstep validate check my-node.yaml day1.jsonl", prints=("step_time at most .*: (OK|WIDE): would fail if ",)),
        Row("bash docs/accept/validate.sbatch my-node.yaml today 15",
            not_run="it takes an hour: scripts.accept.sbatch runs the file with stand-ins"),
        Row("sbatch --nodes=32 docs/accept/validate.sbatch my-node.yaml today 15",
            not_run="it needs Slurm: scripts.accept.sbatch runs the file with stand-ins"),
        Row("sbatch --exclude=./today/failing_nodes.txt job.sh", not_run=SLURM),
    ),
    "docs/check.md": (
        Row("lockstep check", more=" --area SPLIT", prints=("with 8 devices: [0-9]+",)),
        Row("lockstep check --impl ./libvendor_dp.so", before=(MY_LAYER + " && mv it.so libvendor_dp.so",),
            more=" --only SPLIT-01.sizes", prints=("^PASS +splitter|^PASS ",)),
        Row("lockstep check --impl exec:'python3 adapter.py'", more=" --only SPLIT-01.sizes", prints=("^PASS +splitter 1",),
            before=(PYTHON_ADAPTER,)),
        Row("lockstep check --impl torch:my_layer:MyDDP", needs="torch", before=(LAYER,), swap=(WITH_PYTORCH,),
            more=" --only DDP-05.range", prints=(r"^PASS +my_layer\.MyDDP",)),
        Row("lockstep check --profile ddp", more=" --area SIZE", prints=("^PASS ",)),
        Row("lockstep check --profile ddp --launcher mpirun", needs="mpi", more=" --only DDP-01.known", prints=("^PASS ",)),
        Row("lockstep check --area SPLIT,GRAD", prints=("^PASS ",)),
        Row("lockstep check --only SPLIT-01.sizes", prints=("1 of 1 cases passed|of 1 cases",)),
        Row("lockstep check --format junit:check.xml --format md:check.md", more=" --area SPLIT",
            leaves={"check.xml": "<testcase", "check.md": "PASS"}, checks=(XML + "check.xml",)),
        Row("lockstep check --mutants --until-caught", not_run="it takes minutes: check.mutants runs it"),
        Row("lockstep tutorial --devices virt:3", prints=(
            r"^Let's use 3 virtual devices!\n(\tIn Model: input size \[10, 5\] output size \[10, 2\]\n){3}"
            r"Outside: input size \[30, 5\] output_size \[30, 2\]\n",
            r"(\tIn Model: input size \[4, 5\] output size \[4, 2\]\n){2}\tIn Model: input size \[2, 5\] output size \[2, 2\]\n"
            r"Outside: input size \[10, 5\] output_size \[10, 2\]\n\Z")),
    ),
    "docs/ci.md": (
        BOOTSTRAP, BUILD, ON_PATH,
        Row("lockstep check", more=" --area SPLIT", prints=(r"^PASS ",)),
        Row("lockstep check --impl mutant:M10-average --area GRAD", status=(1,), prints=(r"^FAIL +GRAD-01\.ones",)),
        Row("scripts/wheel --here wheels", not_run="it builds: install.wheel runs the steps"),
        Row("python3 -m venv venv && . venv/bin/activate", not_run=NETWORK),
        Row("pip install torch==2.15.0 --index-url https://download.pytorch.org/whl/cpu", not_run=NETWORK),
        Row("pip install wheels/*.whl", not_run=NETWORK),
        Row("mkdir -p .github/workflows && cp LOCKSTEP/docs/accept/own-github.yml .github/workflows/data-parallel.yml",
            swap=(("LOCKSTEP/", '"$SOURCE"/'),), leaves={WORKFLOW: "runs-on: ubuntu-"}),
        Row("sed -i '/# On GPUs/,$d' .github/workflows/data-parallel.yml", leaves={WORKFLOW: "name: rules"},
            checks=(f"! grep -q self-hosted {WORKFLOW}", f"! grep -q nccl {WORKFLOW}")),
        Row("cp LOCKSTEP/docs/accept/known-failures.txt .", swap=(("LOCKSTEP/", '"$SOURCE"/'),),
            checks=("lockstep check --only SPLIT-01.sizes --known known-failures.txt",)),
        Row("lockstep check --impl torch:my_layer:MyDDP --known known-failures.txt", needs="torch", swap=(WITH_PYTORCH,),
            before=(LAYER + " && " + PYTHON_ADAPTER.replace("suites/impls/exec/PROTOCOL.md", "docs/ci.md")
                    .replace("adapter", "my_layer").replace(">", "| head -n 3 >"),),
            more=" --only DDP-05.range", prints=(r"^PASS +my_layer\.MyDDP",)),
        Row("lockstep check --impl torch:my_layer:MyDDP --only DDP-01.known", needs="torch", swap=(WITH_PYTORCH,), status=(1,),
            before=(PYTHON_ADAPTER.replace("suites/impls/exec/PROTOCOL.md", "docs/ci.md")
                    .replace("adapter", "my_layer").replace(">", "| tail -n +4 >"),),
            more=" --format md --out summary.md",
            checks=("sed -n 's/^> //p' \"$SOURCE/docs/ci.md\" >quoted && [ -s quoted ]",
                    "while read -r line; do grep -qF \"$line\" summary.md || exit; done <quoted")),
        Row("lockstep check --devices cuda:all || [ $? = 77 ]", swap=(("check", "check --area SPLIT"),)),
    ),
    "docs/collectives.md": (
        Row("lockstep sweep --collective allreduce --devices virt:4 --counts 2,4 --sizes 8:16Mi:x4 --launches 6 --out coll.jsonl",
            swap=(("16Mi", "2Ki"), ("--launches 6", "--launches 2")), more=CELL, prints=(r"(?i)^ *allreduce.*\b8\b",),
            leaves={"coll.jsonl": '"lockstep/end/1.1"'}),
        Row("lockstep report coll.jsonl --out coll", prints=(r"^coll/index\.html$",), leaves={"coll/index.html": "allreduce"}),
        Row("lockstep sweep --nccl-tests 'all_reduce_perf -b 8 -e 128M -f 4 -g 2 -n 50' --devices virt:2 --launches 6 --out coll.jsonl",
            before=("rm coll.jsonl",), swap=(("128M", "2K"), ("-n 50", "-n 5"), ("--launches 6", "--launches 1")),
            more=" --seconds 0.001 --bind none",
            leaves={"coll.jsonl": "--collective allreduce .*--sizes 8,32,128,512,2048|--sizes"}),
    ),
    "docs/compare.md": (
        # A program next to itself: equal, but one time in ten chance misleads.
        Row("lockstep compare --ab build/old/lockstep build/new/lockstep",
            before=('mkdir -p build/old build/new && for n in old new; do printf \'#!/bin/sh\\n# %s\\nexec lockstep "$@"\\n\' $n >build/$n/lockstep; done && chmod +x build/*/lockstep',),
            more=" --pairs 8 --devices virt:1 --counts 1 --allow-dirty --mode plain" + TINY.replace("8,16", "8"), status=(0, 1, 3, 4),
            prints=("REGRESSED|IMPROVED|EQUIVALENT|INCONCLUSIVE",)),
        Row("lockstep compare --aa build/new/lockstep", more=" --pairs 8 --devices virt:1 --counts 1 --allow-dirty --mode plain"
            + TINY.replace("8,16", "8"), status=(0, 3, 4), prints=("A/A",)),
        Row("lockstep compare baseline add main monday.jsonl", before=(BASELINE,), prints=("1 added: now 10 sessions",)),
        Row("lockstep compare --baseline main new.jsonl", status=(1,), prints=("^REGRESSED in [0-9]+ of 12 cells, most in ",)),
        Row("lockstep compare old.jsonl new.jsonl", before=('"$MAKE_RECORDS" old old.jsonl && "$MAKE_RECORDS" new new.jsonl && '
            "sed -i '1s/\"machine_class\":\"\"/\"machine_class\":\"'$(printf '7%063d' 0)'\"/' old.jsonl new.jsonl",),
            prints=("0 SUSPECT, 12 NO EVIDENCE, 0 INVALID",)),
        Row("lockstep compare old.jsonl new.jsonl --exact",
            prints=("Exact numbers that changed: 0",), checks=(CHANGED + "lockstep compare bytes.jsonl more.jsonl --exact; [ $? -eq 1 ]",)),
        Row("lockstep compare old.jsonl new.jsonl --format md", prints=(r"^### NO EVIDENCE of a difference in 12 of 12 cells",)),
        Row("lockstep sweep --launches 8 --out monday.jsonl", before=("mkdir sweep && mv monday.jsonl sweep",),
            swap=(("--launches 8", "--launches 2"),), more=" --devices virt:1" + TINY, leaves={"monday.jsonl": '"lockstep/end/1.1"'},
            checks=("mv sweep/monday.jsonl .",)),
        Row("lockstep compare baseline show main", prints=("10 sessions", "5 %")),
    ),
    "docs/fleet.md": (
        Row("sbatch --wait --nodes=32 docs/accept/validate.sbatch p.yaml verdicts 5 || true", not_run=SLURM),
        Row("lockstep fleet verdicts --expect verdicts/expected.txt --out lists || true",
            before=("mkdir -p verdicts && printf 'check 0\\nsoak 0\\n' >verdicts/node001.steps", PROFILE % "p.yaml",
                    "lockstep validate --profile p.yaml --run --devices virt:1 --bind none --allow-dirty --node node001 --format json >verdicts/node001.json",
                    "printf 'node001\\nnode002\\n' >verdicts/expected.txt", CLEAN),
            prints=("MISSING +node002",), leaves={"lists/failing_nodes.txt": "^node002$", "lists/passing_nodes.txt": "^node001$"}),
        Row("sbatch --exclude=./lists/failing_nodes.txt job.sh", not_run=SLURM),
    ),
    "docs/forecast.md": (
        Row("lockstep sweep --mode ddp --devices virt:4 --counts 1,2,4 --workload mlp:256,256 --workload mlp:512,512 --launches 6 --out my.jsonl",
            swap=(("mlp:256,256", "mlp:32,32"), ("mlp:512,512", "mlp:64,64"), ("--launches 6", "--launches 2")),
            more=" --batch 64" + CELL, leaves={"my.jsonl": '"lockstep/end/1.1"'}),
        Row("lockstep forecast my.jsonl --to 64", more=" --allow-dirty", status=(0, 3), prints=(r"^ +64 ", "A transfer: alpha")),
        Row("lockstep forecast threads.jsonl more.jsonl --to 64 --format csv", more=" --allow-dirty", status=(0, 3), prints=(r"^[^,]+(,[^,]*){8}",),
            before=("cp my.jsonl threads.jsonl && lockstep sweep --mode ddp --devices virt:2 --workload mlp:16,16 --batch 64 --launches 2 --seed 9 --out more.jsonl" + CELL,)),
        Row("lockstep sweep --mode ddp --devices virt:4+5000us+20MB/s --counts 1,2,4 --workload mlp:256,256 --workload mlp:448,448 --batch 256 --launches 6 --seconds 0.2 --out slow.jsonl",
            swap=(("--launches 6 --seconds 0.2", "--launches 1" + CELL), ("448,448", "64,64"), ("256,256", "32,32"), ("5000us", "500us"))),
        Row("lockstep forecast slow.jsonl --to 16", more=" --allow-dirty", status=(0, 3), prints=(r"^ +16 ", "extrapolated", r"strong scaling of 256 rows")),
        Row("lockstep sweep --launcher mpirun --counts 1,2,4 --scaling weak --batch 64 --workload mlp:256,256 --workload mlp:1024,1024 --launches 6 --out mine.jsonl",
            needs="mpi", swap=(("mlp:256,256", "mlp:16,16"), ("mlp:1024,1024", "mlp:32,32"), ("--counts 1,2,4", "--counts 1,2"),
                               ("--launches 6", "--launches 1")), more=CELL, leaves={"mine.jsonl": '"launcher":"mpirun|mpirun'}),
        Row("lockstep forecast mine.jsonl --to 1024 --simulate fitted", more=" --allow-dirty", needs="smpi", swap=(("1024", "2"),), status=(0, 3),
            prints=("Simulated by SimGrid .* on the platform fitted",)),
        Row("lockstep forecast mine.jsonl --to 1024 --simulate h100-400g", more=" --allow-dirty", needs="smpi", swap=(("1024", "2"),), status=(0, 3),
            prints=("simulated: \\*extrapolated\\*",)),
        Row("lockstep forecast mine.jsonl --to 64 --simulate my-cluster.xml --format csv", more=" --allow-dirty", needs="smpi", swap=(("64", "2"),),
            before=('cp "$SOURCE/platforms/ethernet-10g.xml" my-cluster.xml',), status=(0, 3), prints=("simulated",)),
    ),
    "docs/gpus.md": (
        *(Row(f"scripts/test -L '^{label}$'", swap=(("scripts/test", 'ctest --test-dir "$BUILD" -N'),), needs="cuda",
              prints=(r"^Total Tests: [1-9]",)) for label in ("gpu", "multigpu", "fakegpu")),
        Row("lockstep check --copies 32768", not_run=GPU),
        Row("lockstep check --copies 16 --devices virt:3+fault:copy-zero@40/1/2", status=(1,), prints=(
            r"^  1 virt:1       PASS PASS FAIL$", r"^FAIL  virt:1 to virt:2: 1 of 120 copies is wrong, 0 of them under load, 1 while$",
            r"^      all devices copied\. What arrived: zeros\. The first: 5438 of 5460 bytes,$", r"^      from byte 0 on, xor 0xff$")),
        Row("lockstep devices --ctest-resources >gpus.json", not_run=GPU),
        Row("scripts/test -L '^gpu$' --parallel 8 --resource-spec-file $PWD/gpus.json", needs="cuda",
            before=("echo '{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [{\"id\": \"0\", \"slots\": 1}]}]}' >gpus.json",),
            swap=(("scripts/test", 'ctest --test-dir "$BUILD" -N'),), prints=(r"^Total Tests: [1-9]",)),
        Row("scripts/gpu-check", not_run=GPU), Row("scripts/gpu-check --quick", not_run=GPU),
        Row("scripts/gpu-check --minutes 30", not_run=GPU), Row("scripts/gpu-check --require 8", not_run=GPU),
        Row("scripts/compare-pytorch --latest --device cuda --devices 1 --math tf32 --workload gpt2 --limits --out peer-gpt2.json",
            not_run=GPU),
        Row("lockstep report --peer peer-gpt2.json --out my-report", before=('cp "$SOURCE/results/reference/peer.json" peer-gpt2.json',),
            prints=(PAGE,), leaves={"my-report/index.html": "Lockstep next to PyTorch"}),
        Row("scripts/bundle /media/stick/bundle", not_run=NETWORK),
        Row("scripts/bootstrap --offline /media/stick/bundle", not_run="it needs a bundle: scripts.offline.good makes one"),
        Row(". build/offline/env", not_run="scripts.offline.good reads it"),
    ),
    "docs/library.md": (
        Row("cmake --build --preset release && cmake --install build/release --prefix ~/.local", not_run="it builds: install.tree installs"),
        Row("cd build/release && cpack && apt install ./lockstep_*.deb", not_run="it needs root: install.package makes the package"),
    ),
    "docs/my-layer.md": (
        Row("lockstep check --impl torch:my_layer:MyDDP", needs="torch", before=(LAYER,), swap=(WITH_PYTORCH,),
            more=" --only DDP-05.range", prints=(r"^PASS +my_layer\.MyDDP", r"1\s+of 1 cases passed")),
        Row(CC, before=(EXAMPLE,), swap=(("PREFIX/include", "include"),), checks=("[ -s it.so ]",)),
        Row("lockstep check --impl ./it.so --only 'SPLIT-01.sizes,DDP-28.*'", prints=("^PASS ", "of 3 cases passed")),
        Row("lockstep check --impl torch:my_layer:MyDDP --format junit:check.xml", needs="torch", slow=True,
            swap=(WITH_PYTORCH,), more=" --profile ddp --area SIZE", leaves={"check.xml": "<testcase"}, checks=(XML + "check.xml",)),
    ),
    "docs/pytest.md": (
        Row("pip install '.[pytest,torch]'", not_run=NETWORK),
    ),
    "docs/wild.md": (
        Row("scripts/build release", not_run="it builds"),
        Row("scripts/wild --only tinygrad-few-rows", not_run=NETWORK),
        Row("scripts/wild", not_run=NETWORK),
    ),
    "docs/processes.md": (
        Row("lockstep devices --launcher 'mpirun -n {n} start'", needs="mpi",
            before=("mkdir bin; printf '#!/bin/sh\\n[ \"$OMPI_COMM_WORLD_RANK\" != 1 ] || export OPENBLAS_CORETYPE=Haswell\\nexec \"$@\"\\n' >start && chmod +x start",),
            swap=(("start", "./start"),), status=(0, 1), prints=("^Processes$", r"^ +1 +\S+ +\d+", "^Differences between processes$",
                                                            "OPENBLAS_CORETYPE=Haswell")),
        Row("lockstep sweep --launcher mpirun --counts 1,2,4 --out mine.jsonl", needs="mpi", swap=(("1,2,4", "1,2"),), more=TINY,
            leaves={"mine.jsonl": '"lockstep/end/1.1"'}),
        Row("lockstep sweep --launcher 'mpirun -H n1:4,n2:4 -n {n}' --devices virt:8 --counts 2,4,8 --per-process 0,1,2 --out mine.jsonl",
            needs="mpi", before=("rm mine.jsonl",), swap=(("n1:4,n2:4", "localhost:4"), ("2,4,8", "2"), ("0,1,2", "0,1"), ("virt:8", "virt:2")),
            more=TINY, leaves={"mine.jsonl": '"per_process":1'}),
        Row("lockstep sweep --launcher mpirun --counts 2,4 --collective allreduce,alltoall --sizes 8:64Mi:x8 --per-process 0,1 --out mine.jsonl",
            needs="mpi", before=("rm mine.jsonl",), swap=(("64Mi", "64"), ("2,4", "2")), more=CELL, leaves={"mine.jsonl": "alltoall"}),
        Row("lockstep check --profile ddp --launcher mpirun", needs="mpi", more=" --only DDP-01.known", prints=("^PASS ",)),
        Row("lockstep check --profile ddp --launcher 'mpirun -H n1:2,n2:2 -n {n}' --processes 4", needs="mpi",
            swap=(("n1:2,n2:2", "localhost:4"),), more=" --only DDP-01.known", prints=("^PASS ",)),
        Row("lockstep check --profile ddp --launcher mpirun --per-process 1 --only 'DDP-05*'", needs="mpi",
            swap=(("'DDP-05*'", "DDP-05.exact"),), prints=("^PASS ",)),
        Row("lockstep train --launcher mpirun --devices virt:4 --epochs 30 --save mine.weights", needs="mpi",
            swap=(("virt:4", "virt:2"), ("30", "1")), checks=("[ -s mine.weights ]",), prints=("test accuracy",)),
        Row("lockstep train --launcher 'mpirun -H n1:2,n2:2 -n {n}' --devices virt:8 --per-process 4 --data mine.csv --out mine.jsonl",
            needs="mpi", before=('seq 40 | awk \'{ print $1 % 7 "," $1 % 5 "," $1 % 2 }\' >mine.csv && rm mine.jsonl',),
            swap=(("n1:2,n2:2", "localhost:2"), ("virt:8", "virt:2"), ("--per-process 4", "--per-process 1")), more=" --epochs 1 --batch 8",
            leaves={"mine.jsonl": '"epoch"'}),
        Row("lockstep sweep --launcher 'mpirun -n {n}' --devices virt:2+500us --counts 2 --workload mlp:131,131,131,131,131,131,131,131 --bucket 69168 --batch 4096 --launches 6 --out overlap.jsonl",
            needs="mpi", slow=True, swap=(("4096", "512"), ("--launches 6", "--launches 1")), more=CELL,
            leaves={"overlap.jsonl": '"hidden_frac":'}),
        Row("scripts/hosts 2 --rate 1gbit -- lockstep sweep --launcher mpirun --counts 1,2 --workload mlp:256,256,256,10 --batch 256,2048 --out mine.jsonl",
            not_run="it makes network namespaces: mpi.hosts runs it"),
        Row("lockstep sweep --launcher mpirun --counts 2 --workload mlp:7,5,3 --batch 11 --seconds 5 --steps 10:90000 --timeout 8 --out down.jsonl &",
            not_run="on several hosts: mpi.hosts does that"),
        Row("sleep 2 && $LOCKSTEP_ON h1 ip link set eth0 down && sleep 5 && $LOCKSTEP_ON h1 ip link set eth0 up",
            not_run="on several hosts: mpi.hosts does that"),
        Row("wait $!", not_run="on several hosts: mpi.hosts does that"),
        Row("scripts/hosts 2 -- bash down.sh", not_run="it makes network namespaces: mpi.hosts runs it"),
        Row("sbatch --nodes=4 --ntasks-per-node=2 --cpus-per-task=16 docs/clusters/sweep.sbatch mine.jsonl --workload cnn", not_run=SLURM),
    ),
    "docs/report.md": (
        Row("lockstep report my.jsonl --out my-report", before=(SMALL_RECORDS,), prints=(PAGE,),
            leaves={"my-report/index.html": "Lockstep report", "my-report/summary.md": r"^\|", "my-report/scaling.svg": "<svg"}),
        Row("lockstep report my.jsonl --slide --out my-report", prints=(PAGE,),
            leaves={"my-report/slide.png": "PNG", "my-report/slide.svg": "<svg"}),
        Row("lockstep report my.jsonl --peer peer.json --out my-report", before=('cp "$SOURCE/results/reference/peer.json" .',),
            prints=(PAGE,), leaves={"my-report/index.html": "<h3>Ratios next to PyTorch"}),
        Row("lockstep report my.jsonl --limits limits.json --out my-report",
            before=("lockstep sweep limits --devices virt:2 --workload mlp:8,8 --batch 64 --format json > limits.json",),
            prints=(PAGE,), leaves={"my-report/index.html": 'id="limits"|limit'}),
        Row("lockstep report gpt.jsonl --peak 494.5TFLOP/s --out my-report",
            before=("lockstep sweep --devices virt:1 --workload gpt-tiny --mode plain --batch 1 --out gpt.jsonl" + CELL,), prints=(PAGE,), leaves={"my-report/index.html": r"494\.5|495"}),
        Row("lockstep report my.jsonl --check check.json --out my-report",
            before=("lockstep check --only SPLIT-01.sizes --format json --out check.json",), prints=(PAGE,),
            leaves={"my-report/conformance.html": "1 of 1 cases passed"}),
        Row("lockstep report coll.jsonl --beside nccl.txt --out my-report",
            before=("lockstep sweep --collective allreduce --devices virt:2 --counts 2 --sizes 65536 --launches 1 --out coll.jsonl" + CELL,
                    NCCL),
            prints=(PAGE,), leaves={"my-report/index.html": "nccl-tests"}),
        Row("lockstep report parts.jsonl --beside nvb.json --out my-report",
            before=("lockstep sweep --devices virt:2 --counts 2 --mode dp --workload tutorial --parts 0.01 --launches 1 --batch 8 --out parts.jsonl" + CELL,
                    "sed -n '/<<.JSON.$/,/^JSON$/p' \"$TESTS/cli/copies.sh\" | sed '1d;/^JSON$/,$d' >nvb.json"),
            prints=(PAGE,), leaves={"my-report/index.html": "nvbandwidth, read"}),
        Row("lockstep report my.jsonl --format bmf > results.json", checks=(JSON + "results.json",), leaves={"results.json": '"value"'}),
        Row("lockstep sweep limits --devices virt:2 --format json > limits.json", slow=True, leaves={"limits.json": "lockstep/limits/1.0"}),
        Row("lockstep report my.jsonl --limits limits.json --out my-report", prints=(PAGE,)),
        Row("nvbandwidth -j > nvb.json", not_run=GPU),
        Row("lockstep sweep --devices cuda:0-7 --counts 8 --mode dp --workload tutorial --parts 0.5 --launches 5 --out parts.jsonl",
            before=("rm parts.jsonl",), swap=(("cuda:0-7", "virt:2"), ("--counts 8", "--counts 2"), ("0.5", "0.01"), ("--launches 5", "--launches 1")),
            more=" --batch 8" + CELL, leaves={"parts.jsonl": '"parts"'}),
        Row("lockstep report parts.jsonl --beside nvb.json --out my-report", prints=(PAGE,), leaves={"my-report/index.html": "nvbandwidth, read"}),
        Row("scripts/compare-pytorch --limits --out peer.json", not_run=PYTORCH),
        Row("scripts/compare-pytorch --latest --limits --out peer.json", not_run=PYTORCH),
        Row("scripts/compare-pytorch --latest --beside /usr/bin/python3 --limits --out peer.json", not_run=PYTORCH),
        Row("lockstep report --peer results/reference/peer.json --out DIR", swap=(("results/", '"$SOURCE"/results/'),),
            leaves={"DIR/index.html": "Lockstep next to PyTorch"}),
    ),
    "docs/scaling.md": (
        BOOTSTRAP, BUILD, ON_PATH,
        Row("lockstep sweep --workload mlp:1024,1024,1024,1024 --workload cnn --batch 256,1024 --mode plain,plain-mt,dp,ddp --seconds 0.3 --launches 6 --out my.jsonl",
            swap=(("mlp:1024,1024,1024,1024 --workload cnn --batch 256,1024", "mlp:8,8 --workload mlp:9,9 --batch 8,16"),
                  (" --seconds 0.3 --launches 6", " --launches 6" + CELL)),
            leaves={"my.jsonl": '"schema":"lockstep/end/1.1"'}),
        Row("lockstep report my.jsonl --slide --out my-report", prints=(PAGE,),
            leaves={"my-report/index.html": "verified", "my-report/slide.png": "PNG", "my-report/slide.svg": "<svg"}),
    ),
    "docs/soak.md": (
        Row("lockstep soak --minutes 20", swap=(("--minutes 20", "--iterations 3"),), more=" --workload mlp:8,8 --batch 8",
            prints=("^compared: [1-9][0-9]* values with their known answers$", "^nothing found in 3 iterations; speed not judged: "),
            checks=("lockstep soak --iterations 9 --devices virt:2+fault:flip@3/1 --workload mlp:8,8 --batch 8; [ $? -eq 1 ]",)),
        Row("lockstep soak --minutes 60 --devices cuda:all", swap=(("--minutes 60", "--iterations 3"), ("cuda:all", "virt:3")),
            more=" --workload mlp:8,8 --batch 8", prints=("on each of 3 devices", "^nothing found in 3 iterations; speed not judged: ")),
        Row("lockstep soak --iterations 1000 --workload mlp:1024,1024,256 --batch 2048 --format json",
            swap=(("1000", "2"), ("1024,1024,256", "16,16"), ("2048", "8")),
            prints=('^ "schema": "lockstep/soak/1.0",$', '^ "found": 0,$')),
        Row("lockstep soak --minutes 5 --mode overlap", swap=(("--minutes 5", "--iterations 30"),), more=" --workload mlp:64,64,64,64 --batch 64",
            prints=("^overlap: [1-9][0-9]* of [0-9]+ buckets were launched while backward went on$",)),
        Row("lockstep soak --minutes 5 --mode dp", swap=(("--minutes 5", "--iterations 3"),), more=" --workload mlp:8,8 --batch 8",
            prints=("^nothing found in 3 iterations; speed not judged: ",)),
    ),
    "docs/sweep.md": (
        Row("lockstep sweep --devices virt:4 --counts 1,2,4 --batch 32:4096:x2 --launches 6 --out my.jsonl",
            swap=(("4096", "64"), ("--launches 6", "--launches 2")), more=" --workload mlp:8,8" + CELL, leaves={"my.jsonl": '"global_batch":64'}),
        Row("lockstep sweep --devices virt:4 --counts 1,2,4 --batch 32:4096:x2 --launches 6 --out my.jsonl --resume",
            before=("head -n 9 my.jsonl >short.jsonl && mv short.jsonl my.jsonl",), swap=(("4096", "64"), ("--launches 6", "--launches 2")), more=" --workload mlp:8,8" + CELL,
            prints=(r"^\[ 9/16\] ", "^  verified     16$"), checks=(
                '[ "$(grep -c \'"lockstep/cell/\' my.jsonl)" -eq 16 ] && [ "$(grep -o \'"cell_id":"[^"]*"\' my.jsonl | sort | uniq -d | wc -l)" -eq 0 ]',)),
        Row("lockstep sweep --workload gpt2 --devices virt:1 --counts 1 --mode plain --batch 1 --steps 1:1 --seconds 0.01 --warmup 1:0 --timeout 3000",
            not_run="it takes minutes, and 17 GB: slow.gpt2 runs it"),
        Row("lockstep sweep --workload cnn --devices virt:2 --batch 64 --mode plain,dp,ddp --out my.jsonl --trace my.trace.json",
            before=("rm my.jsonl",), swap=(("--batch 64", "--batch 4"),), more=CELL, leaves={"my.trace.json": '"all-reduce"'},
            checks=(JSON + "my.trace.json",)),
        Row("lockstep sweep --devices virt:2 --launches 6 --out my.jsonl --format junit > sweep.xml", before=("rm my.jsonl",),
            swap=(("--launches 6", "--launches 1"), (" > ", TINY + " > ")), leaves={"sweep.xml": "<testcase"}, checks=(XML + "sweep.xml",)),
        Row("lockstep sweep limits --devices virt:2 --workload cnn --batch 512", swap=(("--batch 512", "--batch 4"),),
            prints=("^Of a core +alone", "^multiply-adds GFLOP/s", r"^\d+x\d+x\d+ conv ", "^Step ", "^  step / products")),
    ),
    "docs/train.md": (
        Row("lockstep train --devices virt:3 --figure my-figure", more=" --epochs 1", prints=("test accuracy",), leaves={"my-figure/train.svg": "<svg"}),
        Row("lockstep train --devices virt:3 --data my.csv --header", more=" --epochs 1 --batch 9",
            before=('(echo a,b,kind; seq 60 | awk \'{ print $1 % 7 "," $1 % 5 "," $1 % 2 }\') >my.csv',), prints=("test accuracy",),
            checks=("! lockstep train --devices virt:3 --data my.csv --epochs 1 --batch 9",)),
        Row("lockstep train --devices virt:3 --seeds 5 --require 96.5", swap=(("--seeds 5", "--seeds 2"), ("96.5", "50")), more=" --epochs 1",
            prints=("(?i)median",), checks=("lockstep train --devices virt:3 --seeds 2 --require 99.9 --epochs 1; [ $? -eq 1 ]",)),
        Row("lockstep train --devices virt:3 --against virt:1", more=" --epochs 1", prints=("^virt:3 against virt:1: holds$",)),
        Row("lockstep train --devices virt:2 --workload gpt-small --batch 8 --data text:my.txt", swap=(("gpt-small", "gpt-tiny"),), more=" --epochs 1",
            before=('head -c 8000 "$SOURCE/README.md" >my.txt',), prints=("test loss",)),
        Row("lockstep train --devices virt:3 --against virt:1 --epochs 2", prints=(
            "^exact steps: 8 on whole numbers, all bits equal$", "^ +8 of them equal those of a float64 model$", "^virt:3 against virt:1: holds$")),
    ),
    "docs/validate.md": (
        Row("cells='--counts 1,2 --workload mlp:256,256,256 --batch 256 --chain 32'"),
        Row("lockstep sweep --devices virt:2 $cells --launches 8 --out day1.jsonl", swap=(("--launches 8", "--launches 1"),),
            more=CHAIN.replace("5:10", "2:2"), leaves={"day1.jsonl": '"chain":32'}),
        Row("lockstep validate learn --name my-box day?.jsonl >my-box.yaml", before=(SITTINGS,), leaves={"my-box.yaml": '^name: "my-box"$'}),
        Row("lockstep validate check my-box.yaml day1.jsonl", prints=("step_time at most .*: (OK|WIDE): would fail if ",)),
        Row("lockstep validate --profile my-box.yaml today.jsonl", prints=("ACCEPTED",)),
        Row("lockstep validate --profile my-box.yaml --minutes 2", before=(PROFILE % "my-box.yaml",),
            swap=(("--minutes 2", "--minutes 0.2 --devices virt:1 --bind none --allow-dirty"),), prints=("ACCEPTED",)),
        Row("lockstep check --profile ddp --devices virt:2 --format json --out today.check", leaves={"today.check": "lockstep/check/1.0"}),
        Row("lockstep validate --profile my-box.yaml today.jsonl --conformance today.check",
            before=("sed -i 's/launches: 6/&, conformance: ddp/; s/devices: 1/devices: 2/' my-box.yaml && rm today.jsonl",
                    "lockstep sweep --devices virt:2 --counts 2 --mode dp --workload mlp:8,8 --batch 8 --launches 6 --out today.jsonl" + CELL),
            more=" --allow-dirty", prints=("^PASS +conformance of ddp", "^ACCEPTED "),
            checks=("lockstep validate --profile my-box.yaml today.jsonl --allow-dirty; [ $? -eq 3 ]",)),
    ),
    "suites/ADAPTERS.md": (
        Row(CC, before=(EXAMPLE,), swap=(("PREFIX/include", "include"),), checks=("[ -s it.so ]",)),
        Row("lockstep check --impl ./it.so --only 'SPLIT-01.sizes,DDP-28.*'", prints=("^PASS ",)),
        Row("lockstep check --impl ./it.so --only GRAD-01", status=(77,), prints=("(?i)not offered",)),
    ),
    "results/reference/README.md": (
        Row("lockstep sweep --devices virt:2 --counts 1,2 --mode plain,dp,ddp --batch 16:1024:x2 --workload mlp:1024,1024,1024,1024 --workload cnn --workload lstm --launches 12 --seconds 0.3 --steps 10:20 --out records.jsonl",
            swap=(("1024:x2", "32:x2"), ("mlp:1024,1024,1024,1024 --workload cnn --workload lstm", "mlp:8,8"),
                  ("--launches 12 --seconds 0.3 --steps 10:20", "--launches 2" + CELL)), leaves={"records.jsonl": '"lockstep/end/1.1"'}),
        Row("scripts/compare-pytorch --only mlp,cnn,lstm --limits --out peer.json", not_run=PYTORCH),
        Row("lockstep report records.jsonl --peer peer.json --out .", before=('cp "$SOURCE/results/reference/peer.json" .',),
            leaves={"index.html": "<h3>Ratios next to PyTorch", "scaling.png": "PNG", "summary.md": r"^\|"}),
    ),
}
