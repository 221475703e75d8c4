"""products.py: the matrix products of a step alone, forward and backward, into ready memory."""
from __future__ import annotations

import numpy as np
import torch

from .checks import Wrong, same
from .data import Data
from .devices import device_of
from .workloads import Workload, parse, shards_of


def shapes_of(workload: Workload, rows: int) -> list[tuple[int, int, int, int]]:
    """Of a model of tokens: so many products of [m, k] and [k, n] each. Every layer has two backward; in
    attention every place meets every other one."""
    _, width, _, context, vocabulary = workload.sizes
    found = []
    for kind, sizes in workload.modules:
        if kind == "linear" or kind == "tied":
            into, out = sizes if kind == "linear" else (width, vocabulary)
            places = rows * context
            found += [(1, places, into, out), (1, out, places, into), (1, places, out, into)]
        elif kind == "attention":
            heads, size = rows * sizes[0], width // sizes[0]
            inner, outer = (heads, context, context, size), (heads, context, size, context)
            found += [outer, inner, outer, inner, inner, inner]
    return found


def shapes_of_chain(workload: Workload, rows: int) -> list[tuple[int, int, int, int]]:
    """As shapes_of. The first layer, which makes no gradient of its input, comes last."""
    found = []
    for into, out in [*zip(workload.sizes[1:], workload.sizes[2:]), tuple(workload.sizes[:2])]:
        found += [(1, rows, into, out), (1, out, rows, into), (1, rows, out, into)]
    return found[:-1]


class Products:
    """On the rows of a device. The operands of a chain are those of its step; of a model of tokens, and in
    another math, which a chain without its ReLUs would leave, small integers of the same shapes."""

    compiled: list[int] = []
    attention = ""

    def __init__(self, job: dict):
        rows = shards_of(job["rows"], job["devices"])[job["rank"]]
        workload = parse(job["workload"])
        self.device = device_of(torch, job["kind"])
        self.calls, self.want = [], []
        if workload.chain and job["math"] == "f32":
            self.add_chain(Data(workload, job["seed"], 0, rows))
        else:
            shapes = shapes_of_chain(workload, rows) if workload.chain else shapes_of(workload, rows)
            self.add_shapes(shapes, job["seed"])
        self.values = self.steps = 0

    def add_chain(self, data: Data) -> None:
        weights = [torch.from_numpy(data.weight(i)) for i in range(len(data.sizes) - 1)]
        chain = [torch.from_numpy(data.inputs())]
        for weight in weights:
            chain.append(self.add(chain[-1], weight.t()))
        grad = torch.from_numpy(data.upstream())
        for layer in reversed(range(len(weights))):
            self.add(grad.t(), chain[layer])
            if layer > 0:
                grad = self.add(grad, weights[layer])

    def add_shapes(self, shapes: list[tuple[int, int, int, int]], seed: int) -> None:
        """Operands lie as they do in a step: a weight is [out, in], and a gradient is turned."""
        rng = np.random.default_rng(seed)

        def drawn(*shape: int) -> torch.Tensor:
            return torch.from_numpy(rng.integers(-2, 3, shape).astype(np.float32))

        for number, (count, m, k, n) in enumerate(shapes):
            if count > 1:
                self.add(drawn(count, m, k), drawn(count, n, k).transpose(1, 2))
            elif number % 3 == 0:
                self.add(drawn(m, k), drawn(n, k).t())
            else:
                self.add(drawn(k, m).t() if number % 3 == 1 else drawn(m, k), drawn(k, n))

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
            (torch.bmm if a.dim() == 3 else torch.mm)(a, b, out=out)

    def check(self, index: int, step: int) -> None:
        found = sum(same(f"product {i}", call[2], want, step)
                    for i, (call, want) in enumerate(zip(self.calls, self.want)))
        self.steps += 1
        self.values = self.values or found
