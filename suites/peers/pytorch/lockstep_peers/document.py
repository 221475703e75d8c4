"""document.py: the record of a comparison, lockstep/peer/1.3 (results/README.md has the fields).

Written anew after every cell of every round, under another name first: whatever happens, the file
is whole and has all that was measured until then.
"""
from __future__ import annotations

import datetime
import json
import os
import tempfile
from typing import Any

from .arms import Arm
from .launch import Cell, Plan
from .steady import rule_of

MACHINE = ("machine_class", "machine_instance", "node_hash", "cpu_model", "packages", "cores", "pus", "usable_pus", "mem_bytes",
           "kernel", "libc", "governor")
STEP_TIME = ("slowest rank's end minus the last rank's start; all start from one barrier in shared "
             "memory, and the closing barrier is not counted; lockstep: see its records")
GPU_STEP_TIME = ("from when all GPUs are idle, and all ranks have met, until all are idle again, by the host's "
                 "clock; lockstep: see its records")


def versions_of(about: dict) -> dict[str, str]:
    return {"python": about["python"], "torch": about["torch"], "torch_blas": about["blas"],
            "gloo": about["gloo"], "torch_build": about["build"]}


def arm_entry(arm: Arm, abouts: list[dict], absent: str) -> dict[str, Any]:
    found: dict[str, Any] = {"program": arm.program, "mode": arm.mode, "devices": arm.devices}
    if arm.program == "pytorch":
        found["torch"] = abouts[arm.torch]["torch"]
    if absent:
        found["absent"] = absent
    return {**found, "launches": []}


def new(plan: Plan, cells: list[Cell], arms: list[list[tuple[Arm, str]]], launches: int, header: dict,
        abouts: list[dict]) -> dict[str, Any]:
    """arms: of each cell, and why they are absent."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "schema": "lockstep/peer/1.3",
        "created_utc": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "git_sha": header["git_sha"], "git_dirty": header["git_dirty"],
        "seed": str(plan.seed),
        "devices": plan.devices,
        "launches": launches,
        "seconds": plan.seconds,
        "steps": list(plan.steps),
        "oversubscribed": plan.oversubscribed(),
        "interrupted": False,
        "complete": False,
        "machine": {**{name: header[name] for name in MACHINE}, "load_start": list(os.getloadavg()),
                    "load_end": None},
        "versions": {"lockstep": header["program_version"], "lockstep_blas": header["blas"],
                     "compiler": header["compiler"], "build_type": header["build_type"],
                     **versions_of(abouts[0]), "beside": [versions_of(about) for about in abouts[1:]]},
        "device": plan.kind,
        "math": plan.math,
        "settings": {"clock": "CLOCK_MONOTONIC_RAW", "step_time": STEP_TIME if plan.kind == "cpu" else GPU_STEP_TIME, "warmup_rule": rule_of(plan.warmup()),
                     "ddp": ddp_words(plan), "sgd": words(plan.settings["sgd"]), "launcher": plan.launcher,
                     "environment": words(plan.environment), "threads_per_process": 1 if plan.kind == "cpu" else 0,
                     "cores": [",".join(map(str, cores)) for cores in plan.cores[plan.devices]]},
        "cells": [{"workload": cell.workload, "batch": cell.batch,
                   "arms": [arm_entry(arm, abouts, absent) for arm, absent in arms[number]]}
                  for number, cell in enumerate(cells)],
    }


def ddp_words(plan: Plan) -> str:
    tuned = words(plan.settings["ddp"])
    return tuned if plan.kind == "cpu" else f"DataParallel; DDP tuned: {tuned}; TF32 {'off' if plan.math == 'f32' else 'on'}"


def words(settings: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save(path: str, document: dict[str, Any]) -> None:
    document["machine"]["load_end"] = list(os.getloadavg())
    folder, name = os.path.split(path)
    # A name that nobody can foresee, and so put a link there.
    number, temporary = tempfile.mkstemp(prefix=f"{name}.", suffix=".tmp", dir=folder or ".")
    try:
        with open(number, "w", encoding="utf-8") as file:
            os.fchmod(number, 0o666 & ~umask())
            json.dump(document, file, allow_nan=False, separators=(",", ":"))
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
