#!/usr/bin/env python3
"""layers_test.py: a layer of suites/python/layers, by cases that it can run in a minute: which pass and which fail is
listed, and nothing else may. 77 where this Python does not have what the layer needs.

    layers_test.py LOCKSTEP LAYER
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python"
LAYERS = PACKAGE / "layers"

# FSDP and ZeRO keep no rank's own gradient until they reduce, and leave the buffers of each rank as they are: choices
# that their pages name.
PARTS = {
    "DDP-08.sent": "rank 1: value of parameter 2: element 0 is 101",
    "DDP-09.two_forwards": "first forward: output of rank 1: element 0 is 24",
    "SHAPE-05.buffers": "rank 1 of 2: value of parameter 2: element 0 is 1000",
}
RANKS_PASS = "DDP-01.known DDP-01.network DDP-02.equal DDP-02.unequal DDP-02.no_rows DDP-27.own SIZE-05.buckets"
# These rules are about PyTorch's broadcast between GPUs: others copy from any device.
FROM_ANYWHERE = {
    "REPL-15.refused": "a broadcast from a device that is not the first must be refused and was accepted",
    "REPL-17.several": "a broadcast of tensors on several devices must be refused and was accepted",
}
BROADCAST_PASS = ("REPL-07.bits REPL-07.again REPL-07.wide REPL-15.host REPL-18.broadcast COAL-02.extremes "
                  "COAL-03.order COAL-06.values COAL-07.empty COAL-09.independent COAL-10.each COAL-13.wide")


@dataclass
class Layer:
    """A layer: what its Python must be able to do, what is run, and the cases that pass, fail with these words, and
    are not offered."""

    needs: str
    command: str
    passed: str
    failed: dict[str, str]
    skipped: str = ""
    env: dict[str, str] = field(default_factory=dict)


TABLE = {
    # Seen with PyTorch 2.15.
    "fsdp2": Layer(
        "from torch.distributed.fsdp import fully_shard", f"-m lockstep.torch '{LAYERS}/fsdp2.py:FSDP2'",
        RANKS_PASS + " DDP-09.two_backwards DDP-17.each",
        {**PARTS, "DDP-16.known": "first: rank 0: gradient of parameter 0: there is none",
         "DDP-05.range": "element 0 is inf"},  # adds before it divides
        "DDP-19.many"),
    # Seen with DeepSpeed 0.19.8 and PyTorch 2.15. A backward after another one, in one step, replaces the gradient
    # unless the first is said not to be the last: documented with DeepSpeed #7665.
    "deepspeed": Layer(
        "import deepspeed", f"-m lockstep.torch '{LAYERS}/deepspeed_zero.py:Zero2'",
        RANKS_PASS + " DDP-05.range",
        {**PARTS, "DDP-16.known": "Gradients are only available immediately after backward and before engine step",
         "DDP-09.two_backwards": "element 0 is 5.5", "DDP-17.each": "element 0 is 11"},
        "DDP-19.many", {"DS_ACCELERATOR": "cpu"}),
    # Seen with JAX 0.10.2.
    "jax": Layer(
        "import jax", f"'{LAYERS}/jax_layer.py'",
        BROADCAST_PASS + " COAL-02.broadcast COAL-02.reduce COAL-08.neighbours DET-03.sums",
        {**FROM_ANYWHERE, "COAL-08.originals": "source 2 afterwards"},  # an array of JAX cannot be written to
        "COAL-04.broadcast COAL-06.one"),
    # Seen with tinygrad 0.14.0, in which a number without dimensions is a constant and lies nowhere.
    "tinygrad": Layer(
        "import tinygrad", f"'{LAYERS}/tinygrad_layer.py'", BROADCAST_PASS + " REPL-05.broadcast COAL-08.originals",
        {**FROM_ANYWHERE, "COAL-02.broadcast": "a tensor of shape () lies on None",
         "COAL-08.neighbours": "a tensor of shape () lies on None"},
        "COAL-04.broadcast COAL-06.one"),
}


def main(lockstep: str, name: str) -> int:
    """Runs the cases, and compares."""
    layer = TABLE[name]
    env = {**os.environ, **layer.env, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
    ready = subprocess.run([sys.executable, "-c", layer.needs], env=env, capture_output=True, text=True, check=False)
    if ready.returncode != 0:
        print(f"layers_test: {sys.executable} cannot {layer.needs}: {ready.stderr.strip().splitlines()[-1]}")
        return 77
    cases = ",".join([*layer.passed.split(), *layer.failed, *layer.skipped.split()])
    devices = ["--devices", "host"] if "lockstep.torch" in layer.command else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [lockstep, "check", "--impl", f"exec@60:exec '{sys.executable}' -B {layer.command}", "--only", cases, *devices,
             "--format", "json"], env=env, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 1:
        print(f"layers_test: check ended with {done.returncode}, not 1:", done.stdout[-2000:], done.stderr[-2000:])
        return 1
    record = json.loads(done.stdout)
    print(record["impl"]["name"], record["impl"]["version"])
    wrong = 0
    for case in record["cases"]:
        want = "PASS" if case["id"] in layer.passed.split() else "FAIL" if case["id"] in layer.failed else "SKIP"
        words = layer.failed.get(case["id"], "not offered" if want == "SKIP" else "")
        if case["verdict"] != want or words not in (case["reason"] or ""):
            print(f"{case['id']}: {case['verdict']}, must be {want} {words!r}: {case['reason']}")
            wrong += 1
    print(f"{len(record['cases'])} cases, {wrong} otherwise than listed")
    return int(wrong > 0 or len(record["cases"]) != len(cases.split(",")))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
