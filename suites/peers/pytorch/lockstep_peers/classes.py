"""classes.py: what one step of a model of classes must leave before its gradients are clipped: cross
entropy over all places, its gradients, and their norm, by a float64 model, with bounds. In tf32 the
twins of maths.py widen these.

Rows repeat: each is computed once, and counts as often as it is there.
"""
from __future__ import annotations

from typing import Callable

import numpy as np

from .data import Data
from .layers import Model
from .maths import TIMES, TWINS, largest, parts_of, widen
from .near import Near, U, exactly, gamma
from .transformer import softmax


def loss_of(y: Near, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row the sum over its places; above the sum of its |terms|; what outputs carry."""
    most = y.v.max(axis=-1)
    rest = np.log(np.exp(y.v - most[..., None]).sum(axis=-1))
    own = np.take_along_axis(y.v, targets[..., None], axis=-1)[..., 0]
    return ((most + rest - own).sum(axis=1), (np.abs(most) + rest + np.abs(own)).sum(axis=1),
            2 * y.e.max(axis=-1).sum(axis=1))


def gradient_of(y: Near, targets: np.ndarray, share: np.ndarray, kind: str = "cpu") -> Near:
    """Of the loss by outputs; `share` is each row's part of the mean."""
    p, away = softmax(y, np.ones_like(y.v, dtype=bool), kind, 32 if y.v.shape[-1] <= 1024 else 128)
    v = p - (np.arange(y.v.shape[-1]) == targets[..., None])
    if away is None:
        return Near(v * share[:, None, None], None)
    e = p * away + 8 * U * np.abs(v)
    return Near(v * share[:, None, None], e * share[:, None, None])


def norm_of(grads: list[np.ndarray], bounds: list[np.ndarray]) -> tuple[float, float]:
    """Of all gradients together. |g + e| is between |g| - g e / |g| and |g| + g e / |g| + e e / (2 |g|)."""
    squares, products, away = (sum(float((a * b).sum()) for a, b in pairs) for pairs in (
        zip(grads, grads), zip(map(np.abs, grads), bounds), zip(bounds, bounds)))
    norm = squares**0.5
    return norm, (products + away / 2) / norm


def change_of(twin: Callable, data: Data, y: np.ndarray, grads: list[np.ndarray], own: np.ndarray,
              share: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], float]:
    """What that twin changes at most in outputs and in the parts of each gradient; and the length of all
    that it changes in gradients."""
    model = Model(data.workload, data.parameters(), twin)
    other = model.forward(Near(data.inputs()[:len(own)].astype(np.float64), None))
    model.backward(gradient_of(other, own, share))
    apart = [sums.value - grad for sums, grad in zip(model.sums, grads)]
    parts = parts_of(data.workload, data.math)
    return (largest(other.v - y), [largest(one, n) for one, n in zip(apart, parts)],
            sum(float(one @ one) for one in apart)**0.5)


def whole_batch(data: Data, rows: int, devices: int, kind: str = "cpu") -> dict[str, np.ndarray]:
    """As reference.whole_batch. Gradients are those of the mean over all rows, not yet clipped; each of
    them is a sum over all rows and places, then over the ranks, with a factor of each."""
    targets = data.upstream()
    period = min(rows, data.workload.periods[data.index])
    kinds = np.arange(rows) % period
    times, own = np.bincount(kinds), targets[:period].astype(np.int64)
    share = times / targets.size
    model = Model(data.workload, data.parameters(), kind=kind)
    y = model.forward(exactly(data.inputs()[:period].astype(np.float64)))
    model.backward(gradient_of(y, own, share, kind))
    grads, bounds = [], []
    for sums in model.sums:
        rounding = gamma(sums.terms * int(times.max()) + 2 * devices + 8)
        grads.append(sums.value)
        bounds.append(sums.moved + rounding * sums.size)
    norm, away = norm_of(grads, bounds)
    del model  # before the twins, which are as large
    for twin in TWINS if data.math == "tf32" else ():
        in_outputs, in_grads, in_norm = change_of(twin, data, y.v, grads, own, share)
        y, away = Near(y.v, widen(y.e, in_outputs)), away + TIMES * in_norm
        bounds = [widen(bound, most) for bound, most in zip(bounds, in_grads)]
    loss, size, moved = (part / targets.size for part in loss_of(y, own))
    found = {"outputs": y.v[kinds], "output_bound": y.e[kinds], "row_loss": loss[kinds],
             "row_size": (size + moved)[kinds], "row_moved": moved[kinds]}
    for i, pair in enumerate(zip(grads, bounds)):
        found[f"grad{i}"], found[f"bound{i}"] = pair
    if not norm - away > data.workload.end.clip:
        raise ValueError(f"gradients have a norm of {norm:.3g}, not above {data.workload.end.clip:g}: "
                         "clipping would not show")
    return {**found, "norm": np.array([norm, away])}
