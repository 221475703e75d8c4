"""reference.py: what one training step must leave, by a float64 model without torch or autograd.

The data of most workloads are integers whose sums are exact in float, so an arm must leave these
numbers bit for bit. Those of others cannot be: they come with a bound on the rounding of any float
step. One file per (workload, batch, seed); every PyTorch process reads it.
"""
from __future__ import annotations

import numpy as np

from . import classes
from .data import LEARNING_RATE, SETS, Data
from .layers import Model
from .maths import largest, operand_of, parts_of
from .near import Near, Sums, exactly, gamma
from .workloads import Workload, shards_of

ROWS = 128  # at a time, but of chains: a convolution's columns of them in float64 are 19 MB


def step(data: Data, x: np.ndarray, upstream: np.ndarray) -> tuple[Near, list[Sums]]:
    """Outputs, and gradients of sum(outputs * upstream), of some rows."""
    model = Model(data.workload, data.parameters(), operand_of(data.math, data.workload.exact is not None))
    begin = exactly if data.workload.exact is None else lambda v: Near(v, None)
    at_once = max(1, len(x)) if data.workload.chain or data.workload.shards else ROWS
    outputs = []
    for first in range(0, len(x), at_once):
        part = slice(first, first + at_once)
        outputs.append(model.forward(begin(x[part].astype(np.float64))))
        model.backward(begin(upstream[part].astype(np.float64)))
    if not outputs:
        outputs = [begin(np.zeros((0, data.sizes[-1])))]
    return Near(*(None if parts[0] is None else np.concatenate(parts) for parts in zip(*outputs))), model.sums


def exact(values: np.ndarray, what: str) -> np.ndarray:
    """As float32; ValueError where that loses something."""
    narrow = values.astype(np.float32)
    if not np.array_equal(narrow.astype(np.float64), values):
        raise ValueError(f"{what} of the reference is not exact in float: use a smaller batch")
    return narrow


def bounds_of(sums: list[Sums], devices: int) -> np.ndarray:
    """Of the sum over rows and places, then over the replicas, then one addition to what was there."""
    rounding = gamma(sum(one.terms for one in sums) + devices + 4)
    return sum(one.moved for one in sums) + rounding * sum(one.size for one in sums)


def whole_batch(data: Data, rows: int, devices: int) -> dict[str, np.ndarray]:
    """Everything of one set, with flat gradients; `size` is the sum over the shards of |gradient|, for
    error bounds. `row_size` is the sum of the |terms| of a row's loss. Of a model that rounds also
    how far a float step may be away: `bound` of each gradient, `output_bound`; of a row's loss
    `row_moved`, what its outputs carry."""
    x, c = data.inputs(), data.upstream()
    near = data.workload.exact is None
    parts, first = [], 0
    for count in shards_of(rows, devices):
        part = slice(first, first + count)
        first += count
        parts.append(step(data, x[part], c[part]))
    y = np.concatenate([part[0].v for part in parts])
    found = {"outputs": y if near else exact(y, "an output"), "row_loss": (y * c).sum(axis=1),
             "row_size": abs(y * c).sum(axis=1)}
    if near:
        found["output_bound"] = np.concatenate([part[0].e for part in parts])
        found["row_moved"] = (abs(c) * found["output_bound"]).sum(axis=1)
        found["row_size"] += found["row_moved"]
    for i, value in enumerate(data.parameters()):
        sums = [part[1][i] for part in parts]
        grad = sum(one.value for one in sums)
        updated = value.ravel() - LEARNING_RATE * grad
        found[f"grad{i}"] = grad if near else exact(grad, "a gradient")
        found[f"updated{i}"] = updated if near else exact(updated, "an update")
        if near:
            found[f"bound{i}"] = bounds_of(sums, devices)
        if near or devices & (devices - 1):
            found[f"size{i}"] = sum(abs(one.value) for one in sums)
    return found


def refuse_wide(workload: Workload, rows: int, found: dict[str, np.ndarray], math: str) -> None:
    """Within such bounds a whole number of a gradient could be another one."""
    for i, parts in enumerate(parts_of(workload, math)):
        if f"bound{i}" in found and (largest(found[f"bound{i}"], parts) > largest(found[f"grad{i}"], parts) / 8).any():
            raise ValueError(f"{workload.name} rounds, and over {rows} rows by more than an "
                             "eighth of its largest gradient: use a smaller batch")


def write(path: str, workload: Workload, rows: int, seed: int, devices: int, math: str = "f32",
          kind: str = "cpu") -> None:
    """Where rows depend on their shard, also what the plain program must leave."""
    found = {}
    splits = {"set": devices, "alone": 1} if workload.shards and devices > 1 else {"set": devices}
    for name, parts in splits.items():
        for index in range(SETS):
            data = Data(workload, seed, index, rows, math)
            values = classes.whole_batch(data, rows, parts, kind) if workload.end else whole_batch(data, rows, parts)
            refuse_wide(workload, rows, values, math)
            found.update({f"{name}{index}.{key}": array for key, array in values.items()})
    with open(path, "wb") as file:
        np.savez(file, **found)
