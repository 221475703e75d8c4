"""programs.py: the PyTorch programs that are measured, as their users would write them.

Model: of the modules that lockstep says the workload has; loss: sum(outputs * c); update: SGD without
momentum. Of a model of classes: cross entropy, gradients clipped, AdamW (ends.py).
Before every step, outside the time: parameters of that step's set, no gradients (set to None).
"""
from __future__ import annotations

import contextlib
import datetime
import os
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from . import modules
from .checks import Wrong, gamma, same, within
from .data import CONTEXT, SETS, WIDTH, Data
from .devices import device_of
from .ends import end_of
from .modules import Residual
from .products import Products
from .workloads import Workload, build, parse, shards_of


class Absent(Exception):
    """What the arm needs is not here."""


# By the kinds that `lockstep workload` prints. Looked up when called: faults_test.py replaces some.
KINDS = {
    "view": lambda *shape: nn.Unflatten(1, shape) if shape else nn.Flatten(),
    "linear": lambda into, out: nn.Linear(into, out),
    "relu": lambda: nn.ReLU(),
    "conv": lambda into, out, stride, padding, bias: nn.Conv2d(into, out, 3, stride, padding,
                                                               bias=bool(bias)),
    "norm": lambda channels: nn.BatchNorm2d(channels),
    "pool": lambda: nn.MaxPool2d(2),
    "lstm": lambda features, hidden: modules.Lstm(features, hidden),
    "table": lambda rows, width: nn.Embedding(rows, width),
    "positions": lambda context, width: modules.Positions(context, width),
    "layer_norm": lambda width: nn.LayerNorm(width),
    "attention": lambda heads: modules.Attention(heads),
    "gelu": lambda form: nn.GELU(approximate=form),
    "tied": lambda table: modules.tied(table),
}


def model_of(workload: Workload) -> nn.Module:
    return nn.Sequential(*build(workload, KINDS, Residual))


BACKENDS = {"cpu": "gloo", "cuda": "nccl"}  # what carries gradients between ranks


def wrap(model: nn.Module, settings: dict[str, Any]) -> nn.Module:
    return DistributedDataParallel(model, **settings)


def in_ranks(model: nn.Module, job: dict) -> nn.Module:
    dist.init_process_group(BACKENDS[job["kind"]], init_method=f"file://{job['store']}", rank=job["rank"],
                            world_size=job["ranks"], timeout=datetime.timedelta(seconds=60))
    return wrap(model, job["ddp"])


def on_gpus(model: nn.Module, job: dict) -> nn.Module:
    return nn.DataParallel(model, device_ids=list(range(job["devices"])))


def compiled(model: nn.Module, job: dict) -> nn.Module:
    try:
        return torch.compile(model)
    except Exception as error:
        raise Absent(f"torch.compile: {reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """PyTorch wraps what went wrong in words of its own, and ends with advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no words'}"


# By arms.Kind.around.
AROUND = {"": lambda model, job: model, "ddp": in_ranks, "dp": on_gpus, "compile": compiled,
          "steps": lambda model, job: modules.InSteps(model)}


def attention_of(workload: Workload, job: dict, device: torch.device) -> str:
    """Which attention the steps have, asked where they are made; nothing where there is none."""
    heads = next((sizes[0] for kind, sizes in workload.modules if kind == "attention"), 0)
    if not heads:
        return ""
    shape = heads, workload.sizes[CONTEXT], workload.sizes[WIDTH] // heads
    with modules.unfused() if job["around"] == "steps" else contextlib.nullcontext():
        found = modules.attention_of(shape, device)
    if job["around"] == "steps" and found != "in steps":
        raise RuntimeError(f"fused attention cannot be switched off: it is {found}")
    return found


def compilations() -> int:
    """Of this process until now: pieces of Python that torch.compile took on."""
    from torch._dynamo.utils import counters

    return counters["frames"]["total"]


class Expected:
    """What one set must give on the rows of this rank, on the device where it is compared."""

    def __init__(self, saved: Any, index: int, part: slice, job: dict, device: torch.device,
                 end: Any, shapes: list[torch.Size]):
        alone = job["devices"] == 1 and f"alone{index}.outputs" in saved.files

        def get(name: str) -> np.ndarray:
            return saved[f"{'alone' if alone else 'set'}{index}.{name}"]

        def of_rows(name: str) -> torch.Tensor:
            return torch.from_numpy(get(name)[part].copy()).to(device)

        def of_parameters(name: str) -> list[torch.Tensor]:
            return [torch.from_numpy(get(f"{name}{i}")).view(shape).to(device) for i, shape in enumerate(shapes)]

        self.outputs = of_rows("outputs")
        self.loss, size = (float(get(name)[part].sum()) for name in ("row_loss", "row_size"))
        # Integers: a sum in float is exact as long as no part of it can leave 24 bits.
        self.loss_bound = 0.0 if size < 2.0**24 else gamma(self.outputs.numel() + 1) * size
        self.bounds = None
        if f"set{index}.bound0" in saved.files:
            self.bounds = of_parameters("bound")
            self.output_bound = of_rows("output_bound")
            # A sum of the row's products, in any order, of numbers that carry errors.
            self.loss_bound = float(get("row_moved")[part].sum()) + gamma(end.loss_terms(self.outputs)) * size
        self.grads = of_parameters("grad")
        if end.clips:
            self.norm = get("norm")
        else:
            self.updated = of_parameters("updated")
        if end.scale != job["ranks"]:
            self.sizes = of_parameters("size")


class Training:
    """One rank of DistributedDataParallel, DataParallel on GPUs, or the plain program."""

    def __init__(self, job: dict):
        rank, rows, ranks = job["rank"], job["rows"], job["ranks"]
        self.ranks = ranks
        shards = shards_of(rows, ranks)
        part = slice(sum(shards[:rank]), sum(shards[:rank + 1]))
        saved = np.load(job["reference"])
        device = device_of(torch, job["kind"], rank)
        self.values_of, self.inputs, self.upstream, self.expected = [], [], [], []
        workload = parse(job["workload"])
        model: nn.Module = model_of(workload).to(device)
        self.parameters = list(model.parameters())
        shapes = [parameter.shape for parameter in self.parameters]
        if not workload.chain and len(shapes) != len(workload.laws):
            raise Wrong(f"the model has {len(shapes)} parameters, must have {len(workload.laws)}")
        self.end = end_of(workload, self.parameters, job)
        self.scale = self.end.scale
        for index in range(SETS):
            data = Data(workload, job["seed"], index, rows, job["math"])
            self.values_of.append([torch.from_numpy(v).view(shape).to(device)
                                   for v, shape in zip(data.parameters(), shapes)])
            self.inputs.append(self.end.inputs(torch.from_numpy(data.inputs()[part].copy()).to(device)))
            self.upstream.append(self.end.upstream(torch.from_numpy(data.upstream()[part].copy()).to(device)))
            self.expected.append(Expected(saved, index, part, job, device, self.end, shapes))
        self.model = self.end.around(model)
        self.attention = attention_of(workload, job, device)
        self.compiled: list[int] = []  # how much was compiled until the check of each step
        self.compiles = job["around"] == "compile"
        if self.compiles:
            self.try_step()  # what fails here is no fault of torch.compile
        self.model = AROUND[job["around"]](self.model, job)
        self.values = self.steps = 0
        self.seen = [False] * SETS
        if self.compiles:
            self.compile()

    def try_step(self) -> None:
        """Of each set."""
        for index in range(SETS):
            self.prepare(index)
            self.step(index)

    def compile(self) -> None:
        """It compiles when a step first needs it: before all that has a time."""
        try:
            self.try_step()
        except Exception as error:
            raise Absent(f"torch.compile: {reason_of(error)}") from error
        if compilations() == 0:
            raise Absent("torch.compile compiled nothing")

    def prepare(self, index: int) -> None:
        with torch.no_grad():
            for parameter, value in zip(self.parameters, self.values_of[index]):
                parameter.copy_(value)
        self.end.restart()

    def step(self, index: int) -> None:
        outputs, loss = self.end.run(self.model, self.inputs[index], self.upstream[index])
        loss.backward()
        self.end.update()
        self.outputs, self.loss = outputs, loss

    def check(self, index: int, step: int) -> None:
        """Every value of every step."""
        expected, found = self.expected[index], 0
        if expected.bounds is None:
            found += same("output", self.outputs, expected.outputs, step)
        else:
            found += within("an output", self.outputs, expected.outputs, expected.output_bound, step)
        loss = float(self.loss.detach())
        if not abs(loss - expected.loss * self.scale) <= expected.loss_bound * self.scale:
            raise Wrong(f"step {step}: loss is {loss!r}, must be {expected.loss * self.scale!r}")
        if self.end.clips:
            found += self.end.check_norm(*map(float, expected.norm), step)
        for i, parameter in enumerate(self.parameters):
            if expected.bounds is None and self.scale == self.ranks:
                found += same(f"gradient {i}", parameter.grad, expected.grads[i], step)
                found += same(f"parameter {i}", parameter, expected.updated[i], step)
            else:
                found += self.near(i, parameter, expected, self.values_of[index][i], step)
        self.steps += 1
        if self.compiles:
            self.compiled.append(compilations())
        if not self.seen[index]:
            self.seen[index] = True
            self.values += found + 1
        self.outputs = self.loss = None

    def near(self, i: int, parameter: torch.Tensor, expected: Expected, before: torch.Tensor,
             step: int) -> int:
        """The model's rounding, and 1 / ranks where it is not exact. u = 2^-24: each rank's gradient
        is multiplied by the rounded 1 / ranks (two roundings), ranks - 1 additions follow: an error
        of at most (ranks + 1) u (1 + small) times the sum of |gradient| / ranks."""
        unit, want = 2.0**-24, expected.grads[i].double()
        bound = expected.bounds[i] if expected.bounds else torch.zeros_like(want)
        if self.scale != self.ranks:
            want = want / self.ranks
            bound = bound + 1.01 * (self.ranks + 1) * unit * (expected.sizes[i] + bound)
            bound = bound / self.ranks
        want, bound = self.end.gradient(want, bound)
        after, room = self.end.updated(before.double(), want, bound)
        found = within(f"gradient {i}", parameter.grad, want, bound, step)
        return found + within(f"parameter {i}", parameter, after, room, step)


def make(job: dict) -> Any:
    if job["ranks"] > 1:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return Products(job) if job["around"] == "products" else Training(job)
