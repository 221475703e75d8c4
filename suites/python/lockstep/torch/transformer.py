"""transformer.py: the layers of a transformer, as PyTorch's users write them."""
from __future__ import annotations

import math

import torch
from torch.nn import functional

from ..errors import Refusal
from .layers import Embedding, Layer, Table
from .spec import Spec


class Positions(Table):
    kind = "positions"

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or x.shape[1] > self.weight.shape[0] or x.shape[2] != self.weight.shape[1]:
            raise Refusal("shape", f"positions of {list(self.weight.shape)}: the input is {list(x.shape)}")
        steps = torch.arange(x.shape[1], device=x.device)
        return x + functional.embedding(steps, self.weight)


class LayerNorm(Layer):
    kind = "layer_norm"

    def read(self, spec: Spec) -> None:
        self.features, self.eps = spec.size("features", 1), spec.number("eps", 1e-5)
        if not self.eps > 0:
            raise Refusal("inval", f"field 'eps' is {self.eps}, must be above 0")
        self.weight = self.parameter(spec, "weight", self.features)
        self.bias = self.parameter(spec, "bias", self.features)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, (self.features,), self.weight, self.bias, self.eps)


class Gelu(Layer):
    kind = "gelu"

    def read(self, spec: Spec) -> None:
        form = spec.text("form", "erf", ("erf", "tanh"))
        self.approximate = "tanh" if form == "tanh" else "none"

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return functional.gelu(x, approximate=self.approximate)


class Attention(Layer):
    """Calls PyTorch's function for attention, or computes it: PyTorch had none before version 2."""

    kind = "attention"

    def read(self, spec: Spec) -> None:
        self.heads = spec.size("heads", 1)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() != 3 or x.shape[2] % (3 * self.heads):
            raise Refusal("shape", f"attention of {self.heads} heads: the input is {list(x.shape)}")
        rows, steps, width = x.shape[0], x.shape[1], x.shape[2] // 3
        q, k, v = (part.view(rows, steps, self.heads, -1).transpose(1, 2)
                   for part in torch.split(x, width, dim=2))
        if hasattr(functional, "scaled_dot_product_attention"):
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            seen = torch.ones(steps, steps, dtype=torch.bool, device=x.device).tril()
            scores = q @ k.transpose(2, 3) / math.sqrt(width // self.heads)
            y = scores.masked_fill(~seen, -math.inf).softmax(dim=3) @ v
        return y.transpose(1, 2).reshape(rows, steps, width)


class Output(Layer):
    """Uses the weight of an embedding, the same object."""

    kind = "output"

    def read(self, spec: Spec) -> None:
        self.of = spec.text("of", "")

    def tie(self, table: torch.nn.Module | None) -> None:
        """Takes the weight of the embedding that the layer names."""
        if not isinstance(table, Embedding):
            raise Refusal("inval", "'of' of an 'output' layer must name an embedding before it")
        self.weight = table.weight

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self.weight)


class CrossEntropy(Layer):
    kind = "cross_entropy"
    inputs = 2

    def run(self, x: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(x.flatten(0, -2), classes.flatten().long(), reduction="sum")
