"""layers_known.py: the layers of suites/python/layers, for layers_test.py and scripts/layers."""
from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "suites/python/layers"

# FSDP and ZeRO keep no rank's own gradient until they reduce, and leave the buffers of each rank as they are: choices
# that their pages name.
PARTS = {
    "DDP-08.sent": "rank 1: value 2, the buffer '1.count': element 0 is 101",
    "DDP-09.two_forwards": "first forward: output of rank 1: element 0 is 24",
    "SHAPE-05.buffers": "rank 1 of 2: value 2, the buffer '0.running_mean': element 0 is 1000",
}
RANKS_PASS = "DDP-01.known DDP-01.network DDP-02.equal DDP-02.unequal DDP-02.no_rows DDP-27.own SIZE-05.buckets"
# PyTorch's #47260, in all that DistributedDataParallel carries.
TWO_BACKWARDS = {"DDP-09.two_backwards": "element 0 is 3 "}
WRAPPED_PASS = (RANKS_PASS + " DDP-05.range DDP-08.sent DDP-09.two_forwards DDP-16.known DDP-17.each"
                " SHAPE-05.buffers")
# These rules are about PyTorch's broadcast between GPUs: others copy from any device.
FROM_ANYWHERE = {
    "REPL-15.refused": "a broadcast from a device that is not the first must be refused and was accepted",
    "REPL-17.several": "a broadcast of tensors on several devices must be refused and was accepted",
}
BROADCAST_PASS = ("REPL-07.bits REPL-07.again REPL-07.wide REPL-15.host REPL-18.broadcast COAL-02.extremes "
                  "COAL-03.order COAL-06.values COAL-07.empty COAL-09.independent COAL-10.each COAL-13.wide")
RANKS = "--profile ddp --devices host"
COPIES = "--area COAL,DET,REPL"

HEAD = """| layer | versions | passed | failed | not offered | `lockstep check` with |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Layer:
    """A layer: its file, and the class if that is PyTorch's kind of layer; the packages of its version; what its
    Python must be able to import; and, of the cases that take a minute, those that pass, fail with these words, and
    are not offered."""

    file: str
    name: str
    packages: tuple[str, ...]
    needs: str
    passed: str
    failed: dict[str, str]
    skipped: str = ""
    env: dict[str, str] = field(default_factory=dict)

    @property
    def cases(self) -> list[str]:
        return [*self.passed.split(), *self.failed, *self.skipped.split()]

    @property
    def selection(self) -> str:
        """All that it is about, in words of `lockstep check`."""
        return RANKS if self.name else COPIES

    def impl(self, python: str = "python3", folder: str = FOLDER) -> str:
        """Returns --impl, as a user in this folder writes it."""
        path = f"{folder}/{self.file}"
        return f"torch@60:{path}:{self.name}" if self.name else f"exec@60:exec {shlex.quote(python)} {path}"

    def row(self, name: str, *cells: str) -> str:
        """Returns the row of docs/layers.md."""
        return f"| {' | '.join([name, *cells])} | `--impl '{self.impl()}' {self.selection}` |"

    def environment(self, python: str) -> dict[str, str]:
        return {**os.environ, **self.env, "LOCKSTEP_PYTHON": python, "PYTHONPATH": str(ROOT / "suites/python"),
                "PYTHONDONTWRITEBYTECODE": "1"}


ZERO = Layer(
    "deepspeed_zero.py", "Zero2", ("deepspeed", "torch"), "import deepspeed", RANKS_PASS + " DDP-05.range",
    {**PARTS, "DDP-16.known": "Gradients are only available immediately after backward and before engine step",
     "DDP-09.two_backwards": "element 0 is 5.5", "DDP-17.each": "element 0 is 11"},
    "DDP-19.many", {"DS_ACCELERATOR": "cpu"})


def rows_of(page: str) -> dict[str, str]:
    """Returns the rows of the page, by layer."""
    after = page.partition(HEAD)[2].splitlines()
    return {row.split("|")[1].strip(): row for row in takewhile(lambda line: line.startswith("|"), after)}


TABLE = {
    # Seen with PyTorch 2.15.
    "DDP": Layer("pytorch_variants.py", "DDP", ("torch",), "import torch.distributed.optim", WRAPPED_PASS, TWO_BACKWARDS),
    # Seen with PyTorch 2.15. A gradient of more than 8 significant bits is rounded: that of DDP-05.range is a power of
    # two. Old releases of the hook need NCCL.
    "Bf16Hook": Layer(
        "pytorch_variants.py", "Bf16Hook", ("torch",), "from torch.distributed.fsdp import fully_shard",
        "DDP-02.equal DDP-02.unequal DDP-02.no_rows DDP-05.range DDP-08.sent DDP-27.own SHAPE-05.buffers",
        {**TWO_BACKWARDS, "DDP-01.known": "element 0 is 76 (0x42980000), must be 75.75",
         "DDP-16.known": "element 0 is 836 (0x44510000), must be 833.25",
         "SIZE-05.buckets": "element 0 is -17536 (0xc6890000), must be -17526"}),
    # Seen with PyTorch 2.15. A step sends each parameter from the rank that has it. In a join each iteration must have
    # a step, and a rank without a batch steps with the gradient of before.
    "ZeroOptimizer": Layer(
        "pytorch_variants.py", "ZeroOptimizer", ("torch",), "import torch.distributed.optim", WRAPPED_PASS,
        {**TWO_BACKWARDS, "DDP-07.not_sent": "rank 1: value of parameter 0: element 0 is 0.25",
         "DDP-20.last": "element 0 is -7.375"}),
    # Seen with PyTorch 2.15.
    "FSDP2": Layer(
        "fsdp2.py", "FSDP2", ("torch",), "from torch.distributed.fsdp import fully_shard",
        RANKS_PASS + " DDP-09.two_backwards DDP-17.each",
        {**PARTS, "DDP-16.known": "first: rank 0: gradient of parameter 0: there is none",
         "DDP-05.range": "element 0 is inf"},  # adds before it divides
        "DDP-19.many"),
    # Seen with DeepSpeed 0.19.8 and PyTorch 2.15. A backward after another one, in one step, replaces the gradient
    # unless the first is said not to be the last: documented with DeepSpeed #7665.
    "Zero2": ZERO,
    "Zero1": replace(
        ZERO, name="Zero1", passed=ZERO.passed + " DDP-16.known",
        failed={**PARTS, "DDP-09.two_backwards": "element 0 is 5.5", "DDP-17.each": "element 0 is 11"}),
    # Its safe_set_full_fp32_param() fails in the last rank if the elements cannot be divided by the ranks.
    "Zero3": replace(
        ZERO, name="Zero3",
        passed="DDP-01.known DDP-01.network DDP-02.equal DDP-02.unequal DDP-02.no_rows DDP-05.range DDP-17.each",
        failed={**PARTS, "DDP-09.two_backwards": "element 0 is 5.5", "DDP-27.own": "exceeds dimension size (1)",
                "DDP-16.known": "first: rank 0: gradient of parameter 0: element 0 is 5.5",
                "SIZE-05.buckets": "exceeds dimension size (100003)"}),
    # Seen with Accelerate 1.15.0 and PyTorch 2.15. On CPUs it has no join.
    "Accelerate": Layer(
        "accelerate_layer.py", "Accelerate", ("accelerate", "torch"), "import accelerate", WRAPPED_PASS, TWO_BACKWARDS,
        "DDP-19.many"),
    # Seen with Lightning Fabric 2.6.6 and PyTorch 2.15.
    "Fabric": Layer(
        "fabric_layer.py", "FabricDDP", ("lightning-fabric", "torch"), "import lightning_fabric", WRAPPED_PASS,
        TWO_BACKWARDS, "DDP-19.many"),
    # Seen with JAX 0.10.2.
    "JAX": Layer(
        "jax_layer.py", "", ("jax",), "import jax",
        BROADCAST_PASS + " COAL-02.broadcast COAL-02.reduce COAL-08.neighbours DET-03.sums",
        {**FROM_ANYWHERE, "COAL-08.originals": "source 2 afterwards"},  # an array of JAX cannot be written to
        "COAL-04.broadcast COAL-06.one"),
    # Seen with tinygrad 0.14.0, in which a number without dimensions is a constant and lies nowhere.
    "tinygrad": Layer(
        "tinygrad_layer.py", "", ("tinygrad",), "import tinygrad",
        BROADCAST_PASS + " REPL-05.broadcast COAL-08.originals",
        {**FROM_ANYWHERE, "COAL-02.broadcast": "a tensor of shape () lies on None",
         "COAL-08.neighbours": "a tensor of shape () lies on None"},
        "COAL-04.broadcast COAL-06.one"),
    # Seen with TensorFlow 2.21.0: a tensor cannot be written to.
    "TensorFlow": Layer(
        "tensorflow_layer.py", "", ("tensorflow-cpu",), "import tensorflow",
        BROADCAST_PASS + " COAL-02.broadcast COAL-02.reduce COAL-08.neighbours DET-03.sums",
        {**FROM_ANYWHERE, "COAL-08.originals": "source 2 afterwards"}, "COAL-04.broadcast COAL-06.one",
        {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}),
}
