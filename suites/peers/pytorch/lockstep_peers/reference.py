"""reference.py: what one training step must leave, by a float64 model without torch or autograd.

The data are integers whose sums are exact in float, so an arm must leave these numbers bit for
bit. Those of lstm cannot be: they come with a bound on the rounding of any float step. One file per
(workload, batch, seed); every PyTorch process reads it.
"""
from __future__ import annotations

import numpy as np

from . import reference_cnn, reference_lstm
from .data import LEARNING_RATE, SETS, Data
from .workloads import shards_of


def backward(data: Data, acts: list[np.ndarray], grad: np.ndarray) -> list[np.ndarray]:
    """Gradients of weight, bias, weight, bias, ... from that of the outputs."""
    found: list[np.ndarray] = []
    for layer in reversed(range(len(data.sizes) - 1)):
        found[:0] = [grad.T @ acts[layer], grad.sum(axis=0)]
        if layer > 0:
            grad = (grad @ data.weight(layer).astype(np.float64)) * (acts[layer] > 0)
    return found


def step(data: Data, x: np.ndarray, upstream: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Outputs, and gradients of sum(outputs * upstream), of some rows."""
    if data.workload == "cnn":
        return reference_cnn.step(data, x, upstream)
    acts = [x.astype(np.float64)]
    layers = len(data.sizes) - 1
    for layer in range(layers):
        y = acts[-1] @ data.weight(layer).astype(np.float64).T + data.bias(layer)
        acts.append(np.maximum(y, 0) if layer + 1 < layers else y)
    return acts[-1], backward(data, acts, upstream.astype(np.float64))


def exact(values: np.ndarray, what: str) -> np.ndarray:
    """As float32; ValueError where that loses something."""
    narrow = values.astype(np.float32)
    if not np.array_equal(narrow.astype(np.float64), values):
        raise ValueError(f"{what} of the reference is not exact in float: use a smaller batch")
    return narrow


def near_batch(data: Data, rows: int, devices: int) -> dict[str, np.ndarray]:
    """As whole_batch, and how far a float step may be away: `bound` of each gradient, `output_bound`;
    of a row's loss `row_moved`, what its outputs carry, and `row_size`, the sum of |terms|."""
    x, c = data.inputs(), data.upstream()
    parts, first = [], 0
    for count in shards_of(rows, devices):
        part = slice(first, first + count)
        first += count
        parts.append(reference_lstm.step(data, x[part], c[part]))
    y, e = (np.concatenate([part[0][k] for part in parts]) for k in range(2))
    moved = (abs(c) * e).sum(axis=1)
    found = {"outputs": y, "output_bound": e, "row_loss": (y * c).sum(axis=1), "row_moved": moved,
             "row_size": abs(y * c).sum(axis=1) + moved}
    # Over rows and steps, then over the replicas, then one addition to what was there.
    rounding = reference_lstm.gamma(rows * reference_lstm.STEPS + devices + 4)
    for i, value in enumerate(data.parameters()):
        sums = [part[1][i] for part in parts]
        found[f"grad{i}"] = sum(one.value for one in sums)
        found[f"bound{i}"] = (sum(one.moved for one in sums)
                              + rounding * sum(one.size for one in sums))
        found[f"updated{i}"] = value - LEARNING_RATE * found[f"grad{i}"]
        found[f"size{i}"] = sum(abs(one.value) for one in sums)
    return found


def whole_batch(data: Data, rows: int, devices: int) -> dict[str, np.ndarray]:
    """Everything of one set; `size` is the sum over the shards of |gradient|, for error bounds."""
    x, c = data.inputs(), data.upstream()
    outputs, losses, total, size = [], [], None, None
    first = 0
    for count in shards_of(rows, devices):
        part = slice(first, first + count)
        first += count
        y, grads = step(data, x[part], c[part])
        outputs.append(y)
        losses.append((y * c[part]).sum(axis=1))
        total = grads if total is None else [a + b for a, b in zip(total, grads)]
        size = ([abs(g) for g in grads] if size is None
                else [a + abs(b) for a, b in zip(size, grads)])
    found = {"outputs": exact(np.concatenate(outputs), "an output"),
             "row_loss": np.concatenate(losses)}
    for i, (value, grad) in enumerate(zip(data.parameters(), total)):
        found[f"grad{i}"] = exact(grad, "a gradient")
        found[f"updated{i}"] = exact(value - LEARNING_RATE * grad, "an update")
        if devices & (devices - 1):
            found[f"size{i}"] = size[i]
    return found


def write(path: str, workload: str, rows: int, seed: int, devices: int) -> None:
    found = {}
    for index in range(SETS):
        batch = near_batch if workload == "lstm" else whole_batch
        values = batch(Data(workload, seed, index, rows), rows, devices)
        found.update({f"set{index}.{name}": array for name, array in values.items()})
    with open(path, "wb") as file:
        np.savez(file, **found)
