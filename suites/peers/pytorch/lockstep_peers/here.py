"""here.py: what a comparison finds on this machine: the programs, their versions, cores and GPUs, and
which arms cannot be measured.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys

from . import devices
from .arms import Arm, kind_of
from .launch import Cell, Plan, launch
from .workloads import workload_of

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))


class Misuse(Exception):
    pass


def find_lockstep(path: str | None) -> str:
    found = path or os.path.join(ROOT, "build/release/harness/lockstep")
    if not (os.path.isfile(found) and os.access(found, os.X_OK)):
        found = shutil.which(found if path else "lockstep") or ""
    if not found:
        raise Misuse(f"--lockstep: no program '{path}'" if path else
                     "no lockstep: build it (scripts/build release), or name it with --lockstep")
    done = subprocess.run([found, "--version"], capture_output=True, text=True, check=False, timeout=60,
                          errors="replace")
    if done.returncode != 0 or not done.stdout.startswith("lockstep "):
        raise Misuse(f"'{found}' is not lockstep: with --version it says '{' '.join(done.stdout.split())[:40]}', "
                     f"exit status {done.returncode}")
    return found


def look_for_pythons(beside: list[str]) -> None:
    """Those of --beside: is there a program, and has it what a PyTorch needs."""
    for python in beside:
        if not shutil.which(python):
            raise Misuse(f"--beside: no program '{python}'")
        found = subprocess.run([python, "-c", "import sys\nfrom importlib.util import find_spec as found\n"
                                "sys.exit(not (found('torch') and found('numpy')))"], capture_output=True, check=False, timeout=60)
        if found.returncode != 0:
            raise Misuse(f"pytorch of {python} does not run here: it has no torch and numpy")


def ask(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise Misuse(f"{' '.join(command[1:4])}: exit status {done.returncode}: {said[-1]}")
    return done.stdout


def cores_of(lockstep: str, kind: str, count: int) -> list[list[int]]:
    """The processing units that lockstep binds each device's worker to."""
    answer = json.loads(ask([lockstep, "devices", "--devices", devices.lockstep_devices(kind, count),
                             "--format", "json"]))
    found = []
    for slot in answer["slots"]:
        cores: list[int] = []
        for part in filter(None, slot["cores"].split(",")):
            first, _, last = part.partition("-")
            cores += range(int(first), int(last or first) + 1)
        found.append(cores)
    return found


def look_for_gpus(options: argparse.Namespace, lockstep: str) -> None:
    """Both programs must see them. What was asked for and is not there is an error; none at all is
    a reason to skip."""
    count = devices.probe(sys.executable)["count"]
    try:
        ask([lockstep, "devices", "--devices", "cuda:all"])
    except Misuse as error:
        raise devices.NoGpu(str(error)) from None
    if options.devices is not None and options.devices > count:
        raise Misuse(f"--devices {options.devices}: PyTorch sees {count} GPU{'s' * (count > 1)}")
    options.devices = options.devices or count


def look_around(plan: Plan) -> tuple[dict, list[dict]]:
    """A small launch of each program: do they run at all, and what are they."""
    small = workload_of(plan.lockstep, "tutorial")
    short = plan._replace(seconds=0.001, steps=(2, 2), workloads={small.name: small})

    def try_arm(arm: Arm, words: str) -> dict:
        found = launch(short, Cell(small.name, 2), arm, "")
        if found["status"] != "ok":
            raise Misuse(f"{words} does not run here: {found['reason']}")
        return found

    header = try_arm(Arm("lockstep", "dp", plan.devices), "lockstep")["header"]
    if plan.launcher:
        try_arm(Arm("lockstep", "processes", plan.devices), "lockstep over processes")
    abouts: list[dict] = []
    for number, python in enumerate(plan.pythons()):
        words = f"pytorch of {python}" if number else "pytorch"
        about = try_arm(Arm("pytorch", "matmul", 1, number), words)["about"]
        if about["blas"] == "":
            raise Misuse("PyTorch would multiply with the reference BLAS, which is no comparison: "
                         "install libopenblas0-pthread")
        if about["torch"] in [other["torch"] for other in abouts]:
            raise Misuse(f"--beside {python}: its PyTorch is {about['torch']}, which is measured already")
        abouts.append(about)
    return header, abouts


def no_nccl(printed: str) -> str:
    """Why lockstep has none, by what `lockstep devices` prints, where long words go on below; or nothing."""
    found = re.search(r"^  NCCL +(.*(?:\n {13}.*)*)", printed, re.MULTILINE)
    words = " ".join(found.group(1).split()) if found else "`lockstep devices` does not say"
    return "" if words.endswith("for communicator nccl") else words[:150]


def lacks_of(plan: Plan) -> dict[str, str]:
    """What lockstep lacks of what an arm may need, and why."""
    if plan.kind == "cpu":
        return {}
    why = no_nccl(ask([plan.lockstep, "devices", "--devices", devices.lockstep_devices(plan.kind, plan.devices)]))
    return {"NCCL": why} if why else {}


def absence(arm: Arm, kind: str, abouts: list[dict], without: list[str], lacks: dict[str, str]) -> str:
    """Why an arm cannot be measured on devices of that kind, as far as that is known before; or nothing.
    `abouts` of each PyTorch, `lacks` of lockstep."""
    row = kind_of(arm.program, arm.mode)
    if row.unless(kind, arm.devices):
        return row.unless(kind, arm.devices)
    if not row.needs:
        return ""
    if arm.program == "lockstep":
        return f"lockstep has no {row.needs}: {lacks[row.needs]}" if row.needs in lacks else ""
    if row.needs in abouts[arm.torch]["lacks"]:
        return f"PyTorch {abouts[arm.torch]['torch']} has no {row.needs}"
    return f"{row.needs} was not asked for" if row.needs in without else ""
