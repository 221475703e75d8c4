"""programs.py: the PyTorch programs that are measured, as their users would write them.

Model: of the modules that lockstep says the workload has; loss: sum(outputs * c); update: SGD without
momentum.
Before every step, outside the time: parameters of that step's set, no gradients (set to None).
"""
from __future__ import annotations

import datetime
import os
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from .data import LEARNING_RATE, SETS, Data
from .devices import device_of
from .workloads import Workload, build, parse, shards_of


class Wrong(Exception):
    """A step left something else than it must."""


class Absent(Exception):
    """What the arm needs is not here."""


class Lstm(nn.Module):
    """The last step's states."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lstm(x)[0][:, -1]


class Residual(nn.Module):
    """The input of some modules is added to their output."""

    def __init__(self, modules: list[nn.Module]) -> None:
        super().__init__()
        self.body = nn.Sequential(*modules)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


# By the kinds that `lockstep workload` prints. Looked up when called: faults_test.py replaces some.
KINDS = {
    "view": lambda *shape: nn.Unflatten(1, shape) if shape else nn.Flatten(),
    "linear": lambda into, out: nn.Linear(into, out),
    "relu": lambda: nn.ReLU(),
    "conv": lambda into, out, stride, padding, bias: nn.Conv2d(into, out, 3, stride, padding,
                                                               bias=bool(bias)),
    "norm": lambda channels: nn.BatchNorm2d(channels),
    "pool": lambda: nn.MaxPool2d(2),
    "lstm": lambda features, hidden: Lstm(features, hidden),
}


def model_of(workload: Workload) -> nn.Module:
    return nn.Sequential(*build(workload, KINDS, Residual))


def gamma(n: float) -> float:
    """Of a sum of n products in float: times the sum of |terms| it is above the rounding."""
    return n * 2.0**-24 / (1 - n * 2.0**-24)


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
AROUND = {"": lambda model, job: model, "ddp": in_ranks, "dp": on_gpus, "compile": compiled}


def compilations() -> int:
    """Of this process until now: pieces of Python that torch.compile took on."""
    from torch._dynamo.utils import counters

    return counters["frames"]["total"]


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().view(torch.int32)


class Expected:
    """What one set must give on the rows of this rank, on the device where it is compared."""

    def __init__(self, saved: Any, index: int, part: slice, job: dict, device: torch.device,
                 shapes: list[torch.Size]):
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
            self.loss_bound = float(get("row_moved")[part].sum()) + gamma(self.outputs.numel() + 1) * size
        self.grads, self.updated = of_parameters("grad"), of_parameters("updated")
        if job["ranks"] & (job["ranks"] - 1):
            self.sizes = of_parameters("size")


class Training:
    """One rank of DistributedDataParallel, DataParallel on GPUs, or the plain program."""

    def __init__(self, job: dict):
        rank, rows, ranks = job["rank"], job["rows"], job["ranks"]
        self.ranks = ranks
        # DistributedDataParallel averages, so the upstream is scaled where that is exact: then the
        # average over the ranks is the sum that lockstep has. Else the bound of near() is used.
        self.scale = ranks if ranks & (ranks - 1) == 0 else 1
        shards = shards_of(rows, ranks)
        part = slice(sum(shards[:rank]), sum(shards[:rank + 1]))
        saved = np.load(job["reference"])
        device = device_of(torch, job["kind"], rank)
        self.values_of, self.inputs, self.upstream, self.expected = [], [], [], []
        workload = parse(job["workload"])
        self.model: nn.Module = model_of(workload).to(device)
        shapes = [parameter.shape for parameter in self.model.parameters()]
        if not workload.chain and len(shapes) != len(workload.laws):
            raise Wrong(f"the model has {len(shapes)} parameters, must have {len(workload.laws)}")
        for index in range(SETS):
            data = Data(workload, job["seed"], index, rows)
            self.values_of.append([torch.from_numpy(v).view(shape).to(device)
                                   for v, shape in zip(data.parameters(), shapes)])
            self.inputs.append(torch.from_numpy(data.inputs()[part].copy()).to(device))
            self.upstream.append(torch.from_numpy(data.upstream()[part] * self.scale).to(device))
            self.expected.append(Expected(saved, index, part, job, device, shapes))
        self.parameters = list(self.model.parameters())
        self.optimiser = torch.optim.SGD(self.parameters, LEARNING_RATE, **job["sgd"])
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
        self.optimiser.zero_grad(set_to_none=True)

    def step(self, index: int) -> None:
        outputs = self.model(self.inputs[index])
        loss = (outputs * self.upstream[index]).sum()
        loss.backward()
        self.optimiser.step()
        self.outputs, self.loss = outputs, loss

    def check(self, index: int, step: int) -> None:
        """Every value of every step."""
        expected, found = self.expected[index], 0
        if expected.bounds is None:
            found += self.same("output", self.outputs, expected.outputs, step)
        else:
            found += self.within("an output", self.outputs, expected.outputs, expected.output_bound,
                                 step)
        loss = float(self.loss.detach())
        if not abs(loss - expected.loss * self.scale) <= expected.loss_bound * self.scale:
            raise Wrong(f"step {step}: loss is {loss!r}, must be {expected.loss * self.scale!r}")
        for i, parameter in enumerate(self.parameters):
            if expected.bounds is None and self.scale == self.ranks:
                found += self.same(f"gradient {i}", parameter.grad, expected.grads[i], step)
                found += self.same(f"parameter {i}", parameter, expected.updated[i], step)
            else:
                found += self.near(i, parameter, expected, self.values_of[index][i], step)
        self.steps += 1
        if self.compiles:
            self.compiled.append(compilations())
        if not self.seen[index]:
            self.seen[index] = True
            self.values += found + 1
        self.outputs = self.loss = None

    @staticmethod
    def same(what: str, got: torch.Tensor, want: torch.Tensor, step: int) -> int:
        """Bit for bit."""
        if got.shape != want.shape or not torch.equal(bits(got), bits(want)):
            raise Wrong(f"step {step}: {what} {first_difference(got, want)}")
        return want.numel()

    @staticmethod
    def within(what: str, got: torch.Tensor, want: torch.Tensor, bound: Any, step: int) -> int:
        if got.shape != want.shape or not bool(((got.detach().double() - want).abs() <= bound).all()):
            raise Wrong(f"step {step}: {what} is beyond its error bound")
        return want.numel()

    def near(self, i: int, parameter: torch.Tensor, expected: Expected, before: torch.Tensor,
             step: int) -> int:
        """The model's rounding, and 1 / ranks where it is not exact. u = 2^-24: each rank's gradient
        is multiplied by the rounded 1 / ranks (two roundings), ranks - 1 additions follow: an error
        of at most (ranks + 1) u (1 + small) times the sum of |gradient| / ranks. The update rounds
        twice."""
        unit, want = 2.0**-24, expected.grads[i].double()
        bound = expected.bounds[i] if expected.bounds else torch.zeros_like(want)
        if self.scale != self.ranks:
            want = want / self.ranks
            bound = bound + 1.01 * (self.ranks + 1) * unit * (expected.sizes[i] + bound)
            bound = bound / self.ranks
        after = before.double() - LEARNING_RATE * want
        room = LEARNING_RATE * bound + 1.01 * 2 * unit * (before.double().abs() + after.abs())
        found = self.within(f"gradient {i}", parameter.grad, want, bound, step)
        return found + self.within(f"parameter {i}", parameter, after, room, step)


def first_difference(got: torch.Tensor, want: torch.Tensor) -> str:
    if got.shape != want.shape:
        return f"has shape {list(got.shape)}, must have {list(want.shape)}"
    at = int((bits(got) != bits(want)).flatten().nonzero()[0])
    return f"[{at}] is {float(got.flatten()[at])!r}, must be {float(want.flatten()[at])!r}"


class Products:
    """The matrix products of a step on the rows of a device, forward and backward, into ready memory."""

    compiled: list[int] = []

    def __init__(self, job: dict):
        rows = shards_of(job["rows"], job["devices"])[job["rank"]]
        data = Data(parse(job["workload"]), job["seed"], 0, rows)
        self.device = device_of(torch, job["kind"])
        weights = [torch.from_numpy(data.weight(i)) for i in range(len(data.sizes) - 1)]
        chain, self.calls, self.want = [torch.from_numpy(data.inputs())], [], []
        for weight in weights:
            chain.append(self.add(chain[-1], weight.t()))
        grad = torch.from_numpy(data.upstream())
        for layer in reversed(range(len(weights))):
            self.add(grad.t(), chain[layer])
            if layer > 0:
                grad = self.add(grad, weights[layer])
        self.values = self.steps = 0

    def add(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """The product that the timed one must equal is made by numpy in float64."""
        exact = a.numpy().astype(np.float64) @ b.numpy().astype(np.float64)
        want = torch.from_numpy(exact.astype(np.float32))
        if not np.array_equal(want.numpy().astype(np.float64), exact):
            raise Wrong("the reference of a matrix product is not exact in float")
        ready = [tensor.to(self.device) for tensor in (a, b, want)]
        self.calls.append((ready[0], ready[1], torch.empty_like(ready[2])))
        self.want.append(ready[2])
        return want

    def prepare(self, index: int) -> None:
        for _, _, out in self.calls:
            out.fill_(float("nan"))

    def step(self, index: int) -> None:
        for a, b, out in self.calls:
            torch.mm(a, b, out=out)

    def check(self, index: int, step: int) -> None:
        found = sum(Training.same(f"product {i}", call[2], want, step)
                    for i, (call, want) in enumerate(zip(self.calls, self.want)))
        self.steps += 1
        self.values = self.values or found


def make(job: dict) -> Any:
    if job["ranks"] > 1:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return Products(job) if job["around"] == "products" else Training(job)
