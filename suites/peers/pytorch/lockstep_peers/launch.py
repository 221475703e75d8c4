"""launch.py: one launch of one arm: fresh processes, their answers put together, or why not.

A launch counts only if every step of it was checked and right: lockstep's by its own verifier (the
record says so), PyTorch's by programs.py.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from typing import Any, NamedTuple

from .arms import Arm, kind_of
from .devices import lockstep_devices
from .steady import warmup_of
from .workloads import Workload

START = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "start.py")
WORKER = [START, "worker"]
WARMUP_OR_BAD = 1 | 16  # flags of a sample in a record of lockstep sweep
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
              "GLOO_SOCKET_IFNAME": "lo"}


class Cell(NamedTuple):
    """What all arms of a comparison share."""

    workload: str
    batch: int


class Plan(NamedTuple):
    """What all launches of a run share."""

    lockstep: str
    python: str
    devices: int
    seconds: float
    steps: tuple[int, int]
    seed: int
    timeout: float
    cores: dict[int, list[list[int]]]  # by number of devices: of each device
    settings: dict[str, Any]
    environment: dict[str, str]
    workloads: dict[str, Workload]  # by name
    kind: str = "cpu"  # or cuda
    launcher: str = ""  # starts lockstep's processes; "": there is no such arm
    beside: tuple[str, ...] = ()  # other Pythons, each with a PyTorch of its own
    llmc: str = ""  # a checkout of llm.c; "": there is no such arm
    compiled: str = ""  # where torch.compile keeps what it made
    math: str = "f32"  # of matrix products, or tf32

    def warmup(self) -> tuple[int, float]:
        """Steps and seconds, the same for both programs."""
        return warmup_of(self.kind, self.seconds)

    def pythons(self) -> tuple[str, ...]:
        """By Arm.torch."""
        return self.python, *self.beside

    def oversubscribed(self) -> bool:
        """Ranks share cores; then spinning only keeps others from running. GPUs are never shared."""
        if self.kind == "cuda":
            return False
        return len({core for device in self.cores[self.devices] for core in device}) < self.devices


class Failed(Exception):
    """`status` is wrong: it ran and left wrong numbers; broken: it could not be run to its end; or
    absent: it needs what is not here."""

    def __init__(self, reason: str, status: str = "broken"):
        super().__init__(" ".join(reason.split())[:200])
        self.status = status


def run_together(commands: list[list[str]], timeout: float, folder: str,
                 environment: dict[str, str]) -> list[tuple[int, str, str]]:
    """Status, standard output and last words of each. They end with us, whatever happens, and with
    the first of them that fails: the others would wait for it."""
    processes: list[subprocess.Popen] = []
    deadline = time.monotonic() + timeout
    try:
        for number, command in enumerate(commands):
            with open(f"{folder}/{number}.out", "w") as out, open(f"{folder}/{number}.err", "w") as err:
                processes.append(subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                    start_new_session=True, env={**os.environ, **environment}))
        while any(process.poll() is None for process in processes):
            if any(process.poll() for process in processes):
                time.sleep(0.5)  # for the others to say the same
                break
            if time.monotonic() > deadline:
                raise Failed(f"it took more than {timeout:g} s")
            time.sleep(0.02)
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    answers = []
    for number, process in enumerate(processes):
        with open(f"{folder}/{number}.out", encoding="utf-8", errors="replace") as file:
            out = file.read()
        with open(f"{folder}/{number}.err", encoding="utf-8", errors="replace") as file:
            words = [line for line in file.read().strip().splitlines() if not line.startswith("Try '")]
        answers.append((process.returncode, out, words[-1] if words else ""))
    return answers


# ---- lockstep --------------------------------------------------------------------------------

def sweep_mode(arm: Arm) -> str:
    return {"processes": "ddp", "ddp-nccl": "ddp"}.get(arm.mode, arm.mode)


def launcher_of(plan: Plan, arm: Arm) -> list[str]:
    return ["--launcher", plan.launcher, "--per-process", "1"] if arm.mode == "processes" else []


def communicator_of(arm: Arm) -> list[str]:
    name = kind_of(arm.program, arm.mode).communicator
    return ["--communicator", name] if name else []


def lockstep_command(plan: Plan, cell: Cell, arm: Arm, out: str) -> list[str]:
    return [plan.lockstep, "sweep", "--devices", lockstep_devices(plan.kind, arm.devices), "--counts",
            str(arm.devices), "--batch", str(cell.batch), "--workload", cell.workload, "--seed",
            str(plan.seed), "--seconds", repr(plan.seconds), "--steps",
            f"{plan.steps[0]}:{plan.steps[1]}", "--warmup", "{}:{:g}".format(*plan.warmup()), "--bind", "cores", "--wait", "--timeout",
            repr(plan.timeout), "--mode", sweep_mode(arm), "--out", out, *launcher_of(plan, arm),
            *communicator_of(arm), *(["--math", plan.math] if plan.math != "f32" else [])]


def read_sweep(path: str) -> tuple[dict, dict]:
    """The header and the one cell."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    cells = [line for line in lines if line["schema"].startswith("lockstep/cell/")]
    if len(cells) != 1 or not lines[0]["schema"].startswith("lockstep/run/"):
        raise Failed(f"the sweep left {len(cells)} cells, not 1")
    return lines[0], cells[0]


def is_asked(key: dict, cell: Cell, arm: Arm, math: str = "f32") -> bool:
    """NCCL calls itself nccl+ and what moves the rest."""
    over = kind_of(arm.program, arm.mode).communicator
    return (key["workload"], key["global_batch"], key["n_devices"], key["mode"], key["per_process"], key["dtype"]) == (
        cell.workload, cell.batch, arm.devices, sweep_mode(arm), int(arm.mode == "processes"), math) and (
        over in ("", key["communicator"].partition("+")[0]))


def matmul_of(cell: dict, good: list[int]) -> list[int] | None:
    """Of each step: the time in matrix products, mean over the replicas with rows."""
    times = cell["raw"].get("matmul_ns")
    if times is None:
        return None
    busy = [times[rank] for rank, rows in enumerate(cell["shard_rows"]) if rows > 0]
    return [round(sum(rank[step] for rank in busy) / len(busy)) for step in good]


def launch_lockstep(plan: Plan, cell: Cell, arm: Arm, folder: str, reference: str) -> dict[str, Any]:
    """Which needs no reference of ours: it verifies itself."""
    out = f"{folder}/sweep.jsonl"
    status, _, words = run_together([lockstep_command(plan, cell, arm, out)], plan.timeout + 30,
                                    folder, {})[0]
    if not os.path.exists(out):
        raise Failed(f"lockstep sweep: exit status {status}: {words}")
    header, record = read_sweep(out)
    if record["status"] != "ok" or not record["validated"]:
        raise Failed(record["reason"] or record["status"],
                     "wrong" if record["status"] == "failed" else "broken")
    if header["source"] != "measured":
        raise Failed(f"the sweep's records are {header['source']}, not measured", "wrong")
    if not is_asked(record["cell"], cell, arm, plan.math):
        raise Failed("the sweep measured another cell than it was asked for")
    raw = record["raw"]
    good = [i for i, flags in enumerate(raw["flags"]) if not flags & WARMUP_OR_BAD]
    found = {"step_ns": [raw["t_step_ns"][i] for i in good], "warmup_steps": record["warmup_steps"],
             "values_checked": record["values_checked"],
             "steps_checked": record["steps_checked"], "header": header}
    matmul = matmul_of(record, good)
    if matmul is not None:
        found["matmul_ns"] = matmul
    if record.get("outside_frac") is not None:
        found["outside_frac"] = record["outside_frac"]
    return found


# ---- PyTorch ---------------------------------------------------------------------------------

def ranks_of(arm: Arm) -> int:
    return arm.devices if kind_of(arm.program, arm.mode).ranks else 1


def pytorch_command(plan: Plan, cell: Cell, arm: Arm, rank: int, folder: str,
                    reference: str) -> list[str]:
    ranks, row = ranks_of(arm), kind_of(arm.program, arm.mode)
    cores = plan.cores[ranks] if plan.kind == "cpu" else [[]] * ranks
    job = {"around": row.around, "workload": plan.workloads[cell.workload].text,
           "rows": cell.batch, "seed": plan.seed, "devices": arm.devices, "kind": plan.kind, "rank": rank,
           "ranks": ranks, "cores": cores[rank], "reference": reference,
           "meeting": f"{folder}/meeting", "store": f"{folder}/store", "seconds": plan.seconds,
           "steps": plan.steps, "warmup": plan.warmup(), "sgd": plan.settings["sgd"],
           "ddp": plan.settings[row.settings] if row.settings else {}, "spin": not plan.oversubscribed(),
           "math": plan.math}
    return [plan.pythons()[arm.torch], "-B", *WORKER, json.dumps(job)]


def answer_of(status: int, out: str, words: str) -> dict[str, Any]:
    try:
        answer = json.loads(out)
    except ValueError:
        raise Failed(f"a PyTorch process ended with status {status}: {words}") from None
    if "error" in answer:
        name, _, words = answer["error"].partition(": ")
        raise Failed(words if name == "Absent" else answer["error"],
                     {"Wrong": "wrong", "Absent": "absent"}.get(name, "broken"))
    return answer


def blame(ended: tuple[int, str, str]) -> int:
    """Who says what was wrong comes first; those that run_together ended say least."""
    status, out, _ = ended
    return 0 if '"error"' in out else 3 if out else 2 if status == -signal.SIGKILL else 1


def compilations_of(compiled: list[int], warmup: int) -> int:
    """All of a launch, of their number before each step was checked: none in those that are measured."""
    within = compiled[-1] - compiled[warmup - 1]
    if within > 0:
        raise Failed(f"torch.compile compiled {within} times within the measured steps")
    return compiled[-1]


def launch_pytorch(plan: Plan, cell: Cell, arm: Arm, folder: str, reference: str) -> dict[str, Any]:
    commands = [pytorch_command(plan, cell, arm, rank, folder, reference) for rank in range(ranks_of(arm))]
    # What is compiled is kept for the rounds that follow, and by no process beside the measured one.
    environment = {**(ONE_THREAD if plan.kind == "cpu" else {}), **plan.environment,
                   "TORCHINDUCTOR_CACHE_DIR": plan.compiled or folder, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    ended = run_together(commands, plan.timeout, folder, environment)
    ended.sort(key=blame)
    answers = [answer_of(*one) for one in ended]
    first = next(answer for answer in answers if "warmup" in answer)
    steps = len(first["starts"])
    if any(len(answer["starts"]) != steps or answer["steps_checked"] != steps or
           answer["values_checked"] <= 0 for answer in answers):
        raise Failed("not every rank ran and checked every step", "wrong")
    times = [max(a["ends"][i] for a in answers) - max(a["starts"][i] for a in answers)
             for i in range(steps)]
    found = {"step_ns": times[first["warmup"]:], "warmup_steps": first["warmup"],
             "steps_checked": steps, "about": first["about"],
             "values_checked": sum(answer["values_checked"] for answer in answers)}
    if "attention" in first:
        found["attention"] = first["attention"]
    if first["compiled"]:
        found["compilations"] = compilations_of(first["compiled"], first["warmup"])
    return found


# ---- llm.c -----------------------------------------------------------------------------------

def launch_llmc(plan: Plan, cell: Cell, arm: Arm, folder: str, reference: str) -> dict[str, Any]:
    from . import llmc  # it takes numpy
    from .data import Data

    place = llmc.Place(folder, arm.devices, sum(plan.cores[arm.devices], []))
    try:
        return llmc.launch(plan.llmc, place, Data(plan.workloads[cell.workload], plan.seed, 0, cell.batch),
                           plan.seconds, plan.timeout)
    except llmc.Unusable as error:
        raise Failed(str(error)) from None
    except llmc.Differs as error:
        raise Failed(str(error), "wrong") from None


LAUNCH = {"lockstep": launch_lockstep, "pytorch": launch_pytorch, "llmc": launch_llmc}  # by Arm.program


def launch(plan: Plan, cell: Cell, arm: Arm, reference: str) -> dict[str, Any]:
    """`status` is ok, or that of Failed; then what was measured, or the reason."""
    with tempfile.TemporaryDirectory(prefix="lockstep-peer-") as folder:
        try:
            found = LAUNCH[arm.program](plan, cell, arm, folder, reference)
            if not found["step_ns"] or min(found["step_ns"]) <= 0:
                raise Failed("a step without a time")
            return {"status": "ok", **found}
        except Failed as failure:
            return {"status": failure.status, "reason": str(failure)}
        except (OSError, ValueError, KeyError, StopIteration) as error:
            return {"status": "broken", "reason": f"{type(error).__name__}: {error}"[:200]}
