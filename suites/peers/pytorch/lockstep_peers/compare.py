"""compare.py: lockstep's training step and PyTorch's on this machine, interleaved.

The entry point of scripts/compare-pytorch, which finds the Python that has PyTorch.
"""
from __future__ import annotations

import argparse
import datetime
import os
import random
import signal
import subprocess
import sys
import tempfile
from typing import Any, NoReturn

from . import devices, document, limits, printed
from .arms import arms_of
from .here import ROOT, Misuse, absence, cores_of, find_lockstep, lacks_of, look_around, look_for_gpus, look_for_pythons
from .launch import Cell, Plan, launch
from .workloads import Workload, peers, workload_of

PASSED, MISSED, MISUSE, OPEN, SKIPPED, INTERRUPTED = 0, 1, 2, 3, 77, 130
DEFAULT_BATCHES = {"tutorial": [30], "mlp:4096,4096,4096,4096": [4096], "gpt-small": [8, 32]}
CHAIN_BATCHES, MODEL_BATCHES, TOKENS_BATCHES = [256, 2048], [64, 512], [8]
SIZES = {"mlp:SIZES": limits.MLP}
QUICK_WORKLOAD = "mlp:64,64,64"
# Models whose kernels are not those of linear layers: cuDNN's. In tf32 those that round have no check.
GPU_MODELS = {"f32": ["cnn", "lstm"], "tf32": ["cnn"]}
TIMEOUTS = {"gpt2": 3600.0}  # of launches that take longer than others: lockstep verifies for minutes
# What PyTorch's documentation recommends for a model like this. The environment is of CPUs: it makes
# glibc keep freed memory, as the allocators that it recommends do: without it every step maps anew.
SETTINGS = {"ddp": {"gradient_as_bucket_view": True, "static_graph": True}, "sgd": {}}
ENVIRONMENT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "17179869184"}


# Of DistributedDataParallel, for --ddp: who knows better can try.
DDP_SETTINGS = {"gradient_as_bucket_view": bool, "static_graph": bool, "bucket_cap_mb": int,
                "broadcast_buffers": bool, "find_unused_parameters": bool}
BUSY = 0.5  # processes that run besides us


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Misuse(message)


def number(low: float, high: float, kind: type = int):
    def parse(text: str):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            bounds = f"{low} to {high}" if kind is int else f"{low:g} to {high:g}"
            raise argparse.ArgumentTypeError(
                f"'{text[:40]}' is not a{' whole' if kind is int else ''} number of {bounds}")
        return value
    return parse


def numbers(text: str) -> list[int]:
    found = [number(1, 1 << 24)(part) for part in text.split(",")]
    if len(set(found)) != len(found):
        raise argparse.ArgumentTypeError(f"'{text[:40]}' has a number twice")
    return found


def ddp_setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    kind = DDP_SETTINGS.get(name)
    if kind is bool and value in ("True", "False"):
        return name, value == "True"
    if kind is int:
        return name, number(1, 1 << 20)(value)
    raise argparse.ArgumentTypeError(f"'{text[:40]}' is not one of " + ", ".join(
        f"{known}={'N' if of is int else 'True|False'}" for known, of in DDP_SETTINGS.items()))


def help_of_80_columns(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=24, width=80)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="compare-pytorch", allow_abbrev=False, formatter_class=help_of_80_columns,
        description="Measures lockstep's training step and PyTorch's (DistributedDataParallel over "
                    "gloo, tuned and as it comes, and the plain program, compiled and as it comes; on "
                    "GPUs see --device) on this machine, interleaved, every step checked, and prints "
                    "ratios to the fastest.",
        epilog="exit status: 0 all was measured and checked, and limits are met; 1 an arm failed "
               "or a limit is missed; 2 misuse; 3 no limit is missed, but some are open: their "
               "intervals do not tell; 77 there is no PyTorch; 130 interrupted, what was measured is "
               "in the file")
    add = parser.add_argument
    add("--workload", metavar="W", action="append",
        help="a workload of `lockstep sweep`, can be repeated (default: each that "
             "PyTorch has, too, mlp with the sizes 1024,1024,1024,1024; with cuda tutorial, mlp "
             "with these and with 4096,4096,4096,4096, cnn and in f32 lstm). With cuda also gpt2")
    add("--only", metavar="LIST", help="of those usual ones these, such as tutorial,mlp")
    add("--batch", metavar="LIST", type=numbers,
        help="global batches (default: tutorial 30; mlp 256,2048, of 4 x 4096 4096; gpt 8, gpt-small "
             "8,32; others 64,512)")
    add("--device", choices=("cpu", "cuda"), default="cpu",
        help="cuda: on GPUs, beside torch.nn.DataParallel, DistributedDataParallel over NCCL (2 GPUs "
             "or more) and the plain program; of gpt also the plain program with its fused attention off")
    add("--math", choices=tuple(devices.IN_MATH), default="f32",
        help="of matrix products and convolutions, on both sides: f32, TF32 off; or with cuda tf32, TF32 on "
             "(gpt, and workloads whose numbers are exact)")
    add("--devices", metavar="K", type=number(1, 64),
        help="devices, processes (default 2; with cuda all GPUs)")
    add("--processes", metavar="COMMAND", nargs="?", const="mpirun", default="",
        help="also lockstep's DistributedDataParallel with a process for each rank, "
             "started as `lockstep sweep --launcher COMMAND` does (default: mpirun)")
    add("--llmc", metavar="DIR", default="",
        help="a checkout of llm.c, whose CPU program is built elsewhere and measured "
             "with as many threads, beside gpt")
    add("--launches", metavar="L", type=number(1, 1000), help="rounds (default 6: fewer give no interval)")
    add("--seconds", metavar="S", type=number(0.001, 3600, float), help="measured, per launch (default 1)")
    add("--seed", metavar="S", type=number(0, 2**64 - 2), help="of the order and of the data")
    add("--timeout", metavar="S", type=number(1, 86400, float),
        help="a launch that takes longer is ended (default 300, or 60 and ten times --seconds; with gpt2 3600)")
    add("--ddp", metavar="NAME=V", type=ddp_setting, action="append", default=[],
        help="a setting of the tuned DistributedDataParallel, can be repeated "
             "(default: gradient_as_bucket_view=True static_graph=True)")
    add("--out", metavar="FILE", help="the record (default: results/local/peer-UTC.json)")
    add("--python", metavar="P", help="the Python whose PyTorch is meant; comes first (default: the "
                                    "first python3 that has one)")
    add("--latest", action="store_true", help="the newest release of PyTorch, in an environment that "
                                                   "pip makes and keeps below ~/.cache; comes first")
    add("--beside", metavar="P", action="append", default=[],
        help="another Python, whose PyTorch of another version is measured in the "
             "same rounds, can be repeated")
    add("--lockstep", metavar="PATH", help="the program (default: build/release/harness/lockstep)")
    add("--limits", action="store_true",
        help="lines for each limit of the speed promised: met, OPEN or MISSED, by its interval, which "
             "takes 6 rounds")
    add("--can-run", action="store_true", help="measure nothing: 0 if this could run here, else 77 and why")
    add("--options-only", action="store_true", help=argparse.SUPPRESS)  # without PyTorch: are they right?
    add("--quick", action="store_true",
        help=f"does it run: {QUICK_WORKLOAD} (with cuda {' and '.join(GPU_MODELS['f32'])}, too), batch 32, one round, "
             "0.05 s, and without torch.compile, which takes many seconds")
    options = parser.parse_args(arguments)
    if options.python or options.latest:
        raise Misuse(f"{'--python' if options.python else '--latest'} must be the first option")
    quick = options.quick
    if options.only and options.workload:
        raise Misuse("--only chooses among the usual workloads, --workload names others: not both")
    options.batch = options.batch or ([32] if quick else None)
    options.launches = options.launches or (1 if quick else 6)
    options.seconds = options.seconds or (0.05 if quick else 1.0)
    options.steps = (2, 20) if quick else (10, 2000)
    options.without = ["torch.compile"] if quick else []
    options.timeout = options.timeout or max(300.0, 60 + 10 * options.seconds, *(
        TIMEOUTS.get(name, 0.0) for name in options.workload or []))
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**9)
    return options


def usual(lockstep: str) -> dict[str, str]:
    """By name for --only; of those whose sizes follow the ones that have a name, or are in limits."""
    return {name.partition(":")[0]: SIZES.get(name, name) for name in peers(lockstep)
            if name in SIZES or ":" not in name}


def names_of(options: argparse.Namespace, lockstep: str) -> list[str]:
    if options.workload:
        return options.workload
    if options.only:
        known = usual(lockstep)
        unknown = [name for name in options.only.split(",") if name not in known]
        if unknown:
            raise Misuse(f"--only: '{unknown[0][:40]}' is not one of {', '.join(known)}")
        return [known[name] for name in options.only.split(",")]
    on_gpus = options.device == "cuda"
    if options.quick:
        return [QUICK_WORKLOAD, *GPU_MODELS[options.math]] if on_gpus else [QUICK_WORKLOAD]
    if on_gpus:
        return ["tutorial", limits.MLP, "mlp:4096,4096,4096,4096", *GPU_MODELS[options.math]]
    return list(usual(lockstep).values())


def workloads_of(options: argparse.Namespace, lockstep: str) -> dict[str, Workload]:
    """By their names, in order."""
    try:
        found = [workload_of(lockstep, name, options.device) for name in names_of(options, lockstep)]
    except ValueError as error:
        raise Misuse(f"--workload: {error}") from None
    for workload in found:
        if options.math != "f32" and workload.exact is None and not workload.periods:
            raise Misuse(f"--math {options.math}: {workload.name} is verified in f32 only")
    return {workload.name: workload for workload in found}


def batches_of(workload: Workload) -> list[int]:
    others = CHAIN_BATCHES if workload.chain else TOKENS_BATCHES if workload.periods else MODEL_BATCHES
    return DEFAULT_BATCHES.get(workload.name, others)


def cells_of(options: argparse.Namespace, workloads: dict[str, Workload]) -> list[Cell]:
    cells = [Cell(name, batch) for name, workload in workloads.items()
             for batch in options.batch or batches_of(workload)]
    if options.processes and options.device == "cuda":
        raise Misuse("--processes: compared on --device cpu only")
    if options.limits:
        check_limits(options, cells)
    return cells


def check_limits(options: argparse.Namespace, cells: list[Cell]) -> None:
    """Those of this kind of devices and of this math: is one about what is measured."""
    if options.device == "cpu" and options.devices != 2:
        raise Misuse(f"--limits are about 2 devices, not {options.devices}")
    known = {(limit.workload, limit.batch) for limit in limits.LIMITS
             if (limit.kind, limit.math) == (options.device, options.math)}
    if not known:
        raise Misuse(f"--limits: none is about --device {options.device} with --math {options.math}")
    if not known & set(cells):
        raise Misuse("--limits: no limit is about these workloads and batches; there are: "
                     + "; ".join(f"{name} {batch}" for name, batch in sorted(known)))


def check_math(options: argparse.Namespace) -> None:
    if options.math == "f32":
        return
    if options.device != "cuda":
        raise Misuse(f"--math {options.math}: on --device cuda only")
    if "NVIDIA_TF32_OVERRIDE" in os.environ:
        raise Misuse(f"--math {options.math}: NVIDIA_TF32_OVERRIDE in the environment decides otherwise: unset it")


def look_for_others(options: argparse.Namespace, workloads: dict[str, Workload]) -> None:
    """What else is asked for: has it anything to measure, and is it there."""
    devices = options.devices or 2
    if options.processes and not any(arm.mode == "processes" for workload in workloads.values()
                                     for arm in arms_of(workload, devices, "cpu", True)):
        raise Misuse("--processes: for mlp on 2, 4, 8 .. devices only, whose mean is exact")
    if options.llmc and not any(arm.program == "llmc" for workload in workloads.values()
                                for arm in arms_of(workload, devices, options.device, llmc=True)):
        raise Misuse("--llmc: for gpt on --device cpu only")
    if options.llmc and not os.path.isfile(os.path.join(options.llmc, "train_gpt2.c")):
        raise Misuse(f"--llmc: no train_gpt2.c in '{options.llmc}'")
    look_for_pythons(options.beside)


def out_of(options: argparse.Namespace) -> str:
    name = datetime.datetime.now(datetime.timezone.utc).strftime("peer-%Y%m%dT%H%M%SZ.json")
    out = options.out or os.path.join(ROOT, "results/local", name)
    if os.path.exists(out):
        raise Misuse(f"--out: '{out}' is there already")
    return out


def make_plan(options: argparse.Namespace, lockstep: str, workloads: dict[str, Workload]) -> Plan:
    if options.device == "cuda":
        look_for_gpus(options, lockstep)
    options.devices = options.devices or 2
    cores = {count: cores_of(lockstep, options.device, count) for count in {1, options.devices}}
    return Plan(lockstep, sys.executable, options.devices, options.seconds, options.steps,
                options.seed, options.timeout, cores,
                {**SETTINGS, "ddp": {**SETTINGS["ddp"], **dict(options.ddp)}},
                ENVIRONMENT if options.device == "cpu" else devices.ENVIRONMENTS[options.math],
                workloads, options.device, options.processes, tuple(options.beside), options.llmc, math=options.math)



# ---- the rounds ------------------------------------------------------------------------------

class Run:
    """The rounds, and the record of them."""

    def __init__(self, plan: Plan, cells: list[Cell], launches: int, without: list[str], out: str):
        self.plan, self.cells, self.launches, self.out = plan, cells, launches, out
        self.arms = [arms_of(plan.workloads[cell.workload], plan.devices, plan.kind, bool(plan.launcher),
                             len(plan.pythons()), bool(plan.llmc)) for cell in cells]
        header, abouts = look_around(plan)
        lacks = lacks_of(plan)
        self.document = document.new(
            plan, cells, [[(arm, absence(arm, plan.kind, abouts, without, lacks)) for arm in arms]
                          for arms in self.arms], launches, header, abouts)
        self.order = random.Random(plan.seed)
        self.done = 0
        document.save(out, self.document)

    def all_rounds(self, folder: str) -> None:
        from . import reference  # numpy is not needed to say what is wrong with an option

        self.plan = self.plan._replace(compiled=f"{folder}/compiled")
        references = []
        for number, cell in enumerate(self.cells):
            references.append(f"{folder}/{number}.npz")
            progress(f"reference of {cell.workload[:40]}, batch {cell.batch}")
            reference.write(references[-1], self.plan.workloads[cell.workload], cell.batch, self.plan.seed,
                            self.plan.devices, self.plan.math, self.plan.kind)
        for number in range(self.launches):
            for cell in self.order.sample(range(len(self.cells)), len(self.cells)):
                self.one_cell(number, cell, references[cell])
                document.save(self.out, self.document)
        self.document["complete"] = True
        document.save(self.out, self.document)

    def one_cell(self, number: int, cell: int, expected: str) -> None:
        """Every arm once, one after the other: what is compared is close in time."""
        arms, of = self.arms[cell], self.cells[cell]
        all_of_them = self.launches * sum(map(len, self.arms))
        for at in self.order.sample(range(len(arms)), len(arms)):
            arm, entry = arms[at], self.document["cells"][cell]["arms"][at]
            if "absent" in entry:
                continue
            progress(f"{self.done + 1}/{all_of_them}  round {number + 1}/{self.launches}  "
                     f"{of.workload[:24]} {of.batch}  {arm.program} {arm.mode} {arm.devices}")
            found = launch(self.plan, of, arm, expected)
            found.pop("header", None)
            found.pop("about", None)
            if found["status"] == "absent" and not entry["launches"]:
                entry["absent"] = found["reason"]
                continue
            if found["status"] == "absent":  # it was here
                found["status"] = "broken"
            entry["launches"].append({"round": number, "order": self.done, **found})
            self.done += 1


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:78]}", end="", file=sys.stderr, flush=True)


def complain(text: str) -> None:
    print(f"compare-pytorch: {text}", file=sys.stderr)


def status_of(good: bool, word: str) -> int:
    """Of launches that are all good or not, and the least verdict of the limits."""
    if not good or word == limits.MISSED:
        return MISSED
    return OPEN if word == limits.OPEN else PASSED


def print_all(run: Run, with_limits: bool) -> int:
    made, good = run.document, True
    torches = [one["torch"] for one in (made["versions"], *made["versions"]["beside"])]
    print(f"lockstep {made['versions']['lockstep']} and PyTorch {' and '.join(torches)}")
    print(f"{made['devices']} devices, {made['launches']} round{'s' * (made['launches'] > 1)}, seed {made['seed']}"
          + (", TF32 on on both sides" if made["math"] == "tf32" else ""))
    print(f"{made['machine']['cpu_model'].strip()[:40]}, load {made['machine']['load_start'][0]:.1f} "
          f"at the start, {made['machine']['load_end'][0]:.1f} at the end")
    if made["machine"]["load_start"][0] > BUSY:
        print("The machine was busy at the start: these times say little. PyTorch's processes,\n"
              "which sleep in collectives, suffer more from it than lockstep's threads.")
    print("More devices than cores: no evidence of scaling.\n" if made["oversubscribed"] else "")
    for cell in made["cells"]:
        print("\n".join(printed.cell_lines(cell, made["devices"])) + "\n")
        good = good and all(launch["status"] == "ok" for arm in cell["arms"]
                            for launch in arm["launches"])
    word = limits.MET
    if with_limits:
        lines, word = limits.judge(made["cells"], bool(run.plan.launcher), bool(run.plan.llmc), made["device"],
                                   made["math"])
        print("\n".join(lines) + "\n")
    print(run.out)
    return status_of(good, word)


SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def stop(number: int, frame: Any) -> NoReturn:
    """Once: another one would cut off the record of what was measured."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    for number in SIGNALS:
        signal.signal(number, stop)
    try:
        options = parse(arguments)
        if options.limits and options.device == "cpu":
            options.devices = options.devices or 2
        check_math(options)
        lockstep = find_lockstep(options.lockstep)
        workloads = workloads_of(options, lockstep)
        cells = cells_of(options, workloads)
        look_for_others(options, workloads)
        out = out_of(options)
        if options.options_only:
            return PASSED
        plan = make_plan(options, lockstep, workloads)
        if options.can_run:
            return PASSED
        os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
        run = Run(plan, cells, options.launches, options.without, out)
    except devices.NoGpu as error:
        complain(f"no GPU for this comparison: {error}")
        return SKIPPED
    except (Misuse, OSError, subprocess.TimeoutExpired) as error:
        complain(str(error))
        return MISUSE
    except KeyboardInterrupt:
        return INTERRUPTED
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="lockstep-peer-") as folder:
        try:
            run.all_rounds(folder)
        except KeyboardInterrupt:
            interrupted = run.document["interrupted"] = True
            document.save(out, run.document)
        except (ValueError, OSError) as error:
            progress("")
            complain(str(error))
            return MISUSE
    progress("")
    status = print_all(run, options.limits)
    if interrupted:
        complain(f"interrupted after {run.done} launches; they are in {out}")
    return INTERRUPTED if interrupted else status

