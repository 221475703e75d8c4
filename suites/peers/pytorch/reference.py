"""reference.py: what one training step must leave, by a float64 model without torch or autograd.

The data are integers whose sums are exact in float, so an arm must leave these numbers bit for
bit. One file per (workload, batch, seed); every PyTorch process reads it.
"""
from __future__ import annotations

import numpy as np

from data import LEARNING_RATE, SETS, Data
from workloads import shards_of


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


def whole_batch(data: Data, rows: int, devices: int) -> dict[str, np.ndarray]:
    """Everything of one set; `size` is the sum over the shards of |gradient|, for error bounds."""
    x, c = data.inputs(rows), data.upstream(rows)
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
        values = whole_batch(Data(workload, seed, index), rows, devices)
        found.update({f"set{index}.{name}": array for name, array in values.items()})
    with open(path, "wb") as file:
        np.savez(file, **found)
