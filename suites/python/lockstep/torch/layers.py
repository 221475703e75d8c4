"""layers.py: the layers of LAYERS.md as modules: those with parameters and those without.

Every layer is called with a tuple of tensors and the list of arguments, and returns a tuple.
Backward is PyTorch's own; only probes (probes.py) and `borrow` have more to it.
"""
from __future__ import annotations

from typing import Callable, Sequence

import torch
from torch.nn import functional

from ..errors import Refusal
from .arrays import number_of
from .place import here
from .spec import Spec

Tensors = tuple[torch.Tensor, ...]


class Layer(torch.nn.Module):
    """Reads its fields in __init__; forward gets all tensors, `one` exactly one."""

    kind = ""
    inputs = 1
    dtype = torch.float
    run: Callable[..., torch.Tensor | Tensors]  # computes the outputs

    def __init__(self, spec: Spec):
        super().__init__()
        self.read(spec)

    def read(self, spec: Spec) -> None:
        """Reads the fields and parameters."""

    def parameter(self, spec: Spec, name: str, *dims: int) -> torch.nn.Parameter:
        """Makes a parameter of its initial values."""
        return torch.nn.Parameter(spec.values(name, dims, self.dtype), requires_grad=not spec.frozen(name))

    def forward(self, inputs: Tensors, arguments: list[list[float]]) -> Tensors:
        """Checks the number of inputs and calls `run`."""
        if len(inputs) != self.inputs:
            raise Refusal("shape", f"a '{self.kind}' layer takes {self.inputs} tensors, not {len(inputs)}")
        result = self.run(*inputs) if self.kind != "argument" else self.run(*inputs, arguments)
        return result if isinstance(result, tuple) else (result,)


def per_replica(numbers: Sequence[float]) -> float:
    """Returns the number for this replica; the last number holds for all further replicas."""
    return numbers[min(here.replica, len(numbers) - 1)] if numbers else 0


def matrix(x: torch.Tensor) -> torch.Tensor:
    """Returns x, which must have rows."""
    if x.dim() == 0:
        raise Refusal("shape", "an input without dimensions has no rows")
    return x


# ---- layers with parameters --------------------------------------------------------------------


class Affine(Layer):
    kind = "affine"

    def read(self, spec: Spec) -> None:
        self.weight = self.parameter(spec, "weight", 1)
        self.bias = self.parameter(spec, "bias", 1) if spec.flag("with_bias", True) else None

    def run(self, x: torch.Tensor) -> torch.Tensor:
        y = self.weight * x
        return y if self.bias is None else y + self.bias


class Linear(Layer):
    kind = "linear"

    def read(self, spec: Spec) -> None:
        columns, rows = spec.size("in"), spec.size("out")
        self.weight = self.parameter(spec, "weight", rows, columns)
        if spec.flag("by_columns", False):
            self.weight.data = self.weight.data.t().contiguous().t()
        self.bias = self.parameter(spec, "bias", rows) if spec.flag("with_bias", True) else None

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weight, self.bias)


class Tied(Layer):
    kind = "tied"

    def read(self, spec: Spec) -> None:
        self.weight = self.parameter(spec, "weight", 1)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * (self.weight * x)


class Unused(Layer):
    kind = "unused"

    def read(self, spec: Spec) -> None:
        self.weight = self.parameter(spec, "weight", spec.size("size", 1))

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Branch(Layer):
    kind = "branch"

    def read(self, spec: Spec) -> None:
        self.above = spec.number("above", 0.0)
        self.low = self.parameter(spec, "low", 1)
        self.high = self.parameter(spec, "high", 1)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if x.numel() and x.reshape(-1)[0].item() > self.above:
            return self.high * x
        return self.low * x


class Table(Layer):
    """A weight of rows and columns."""

    def read(self, spec: Spec) -> None:
        self.weight = self.parameter(spec, "weight", spec.size("rows"), spec.size("columns"))


class Constant(Table):
    kind = "constant"
    inputs = 0

    def run(self) -> torch.Tensor:
        return self.weight * 1.0


class Embedding(Table):
    kind = "embedding"

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return functional.embedding(x, self.weight)


class Counter(Layer):
    kind = "counter"
    count: torch.Tensor

    def read(self, spec: Spec) -> None:
        dims = () if spec.flag("scalar", False) else (1,)
        self.register_buffer("count", spec.values("count", dims, spec.dtype()), persistent=False)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if here.rank:
            self.count = self.count + 1  # a new tensor, as in models of users
        else:
            self.count.add_(1)
        return x


class Borrow(Layer):
    """Uses the weight of a layer that is not registered as a submodule, like code that caches a
    weight in a list: DataParallel neither moves nor refreshes it."""

    kind = "borrow"

    def read(self, spec: Spec) -> None:
        self.of = spec.text("of", "")
        self.lender: list[Affine] = []

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return self.lender[0].weight.detach() * x


class BatchNorm(Layer):
    kind = "batch_norm"
    running_mean: torch.Tensor
    running_var: torch.Tensor
    batches: torch.Tensor

    def read(self, spec: Spec) -> None:
        features = spec.size("features", 1)
        self.momentum, self.eps = spec.number("momentum", 0.1), spec.number("eps", 1e-5)
        self.weight = self.parameter(spec, "weight", features)
        self.bias = self.parameter(spec, "bias", features)
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, spec.values(name, (features,)))
        self.register_buffer("batches", spec.values("batches", (1,)).long())  # as in torch.nn.BatchNorm1d

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.batches.add_(1)
        return functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                                     self.training, self.momentum, self.eps)


# ---- layers without parameters ------------------------------------------------------------------

PLAIN: dict[str, Callable[[torch.Tensor], torch.Tensor | Tensors]] = {
    "relu": torch.relu,
    "identity": lambda x: x,
    "subtract_mean": lambda x: x - matrix(x).sum(0, keepdim=True) / x.shape[0],
    "double_rows": lambda x: matrix(x).repeat_interleave(2, dim=0),
    "fork": lambda x: (x * 1.0, matrix(x).repeat_interleave(2, dim=0)),
    "sum": torch.sum,
    "mean": lambda x: x.sum() / x.numel(),
    "sum_rows": lambda x: matrix(x).sum(0, keepdim=True),
    "tag_device": lambda x: x + 1000.0 * (number_of(x.device) + 1),
    "tag_replica": lambda x: x + 1000.0 * (here.replica + 1),
}


class Plain(Layer):
    """Has no fields. What it computes is a row of PLAIN."""

    def read(self, spec: Spec) -> None:
        self.kind = spec.kind

    def run(self, x: torch.Tensor) -> torch.Tensor | Tensors:
        return PLAIN[self.kind](x)


class Multiply(Layer):
    kind = "multiply"
    inputs = 2

    def read(self, spec: Spec) -> None:
        self.factor = spec.number("factor", 1.0)

    def run(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if a.shape != b.shape:
            raise Refusal("shape", f"multiply: shapes {list(a.shape)} and {list(b.shape)}")
        return self.factor * (a * b)


class Take(Layer):
    kind = "take"

    def read(self, spec: Spec) -> None:
        self.rows = spec.integers("rows")

    def run(self, x: torch.Tensor) -> torch.Tensor:
        rows = int(per_replica(self.rows))
        if not 0 <= rows <= matrix(x).shape[0]:
            raise Refusal("shape", f"take: {rows} of {x.shape[0]} rows")
        return x[:rows]


class Widen(Layer):
    kind = "widen"

    def read(self, spec: Spec) -> None:
        self.columns = spec.integers("columns")

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 2 or x.shape[1] != 1:
            raise Refusal("shape", f"widen: the input is {list(x.shape)}, not [n, 1]")
        return x.repeat(1, int(per_replica(self.columns)))


class ScalarAt(Layer):
    kind = "scalar_at"

    def read(self, spec: Spec) -> None:
        self.replicas = spec.integers("replicas")

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum() if here.replica in self.replicas else x


class Argument(Layer):
    kind = "argument"

    def read(self, spec: Spec) -> None:
        self.index = spec.integer("index", 0, 0)

    def run(self, x: torch.Tensor, arguments: list[list[float]]) -> torch.Tensor:
        if self.index >= len(arguments) or not arguments[self.index]:
            raise Refusal("inval", f"there is no argument {self.index}")
        values = arguments[self.index]
        return x * values[0] + 1000.0 * len(values)
