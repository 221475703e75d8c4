"""reference_lstm.py: a float64 step of the model lstm, with a bound on the rounding of a float step.

Every number has a bound e on how far any float computation of it may be away. u = 2^-24: one
rounding adds u times its size, a sum of n products in any order gamma_n = n u / (1 - n u) times the
sum of |terms|, and what the operands carry is added exactly. Products of several factors have the
same bound in any order. sigmoid and tanh are taken to be within 4 units in the last place (8 u).
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .data import Data

STEPS, FEATURES, HIDDEN, CLASSES = 8, 8, 128, 10
U = 2.0**-24
FUNCTION = 8 * U


class Near(NamedTuple):
    v: np.ndarray
    e: np.ndarray


def gamma(n: float) -> float:
    if not n * U < 0.125:
        raise ValueError(f"sums of {n:g} terms are too long for a bound on rounding")
    return n * U / (1 - n * U)


def exactly(v: np.ndarray) -> Near:
    return Near(v, np.zeros_like(v))


def rounded(v: np.ndarray, e: np.ndarray) -> Near:
    return Near(v, e + U * (np.abs(v) + e))


def plus(a: Near, b: Near) -> Near:
    return rounded(a.v + b.v, a.e + b.e)


def carried(a: Near, b: Near) -> np.ndarray:
    return np.abs(a.v) * b.e + np.abs(b.v) * a.e + a.e * b.e


def times(first: Near, *others: Near) -> Near:
    for other in others:
        first = rounded(first.v * other.v, carried(first, other))
    return first


def one_minus(a: Near) -> Near:
    return rounded(1 - a.v, a.e)


def function(v: np.ndarray, slope: np.ndarray, curve: float, e: np.ndarray) -> Near:
    """slope: |f'| there; curve: above |f''| everywhere."""
    moved = (slope + curve * e) * e
    return Near(v, moved + FUNCTION * (np.abs(v) + moved))


def tanh(a: Near) -> Near:
    t = np.tanh(a.v)
    return function(t, 1 - t * t, 0.77, a.e)


def sigmoid(a: Near) -> Near:
    s = 1 / (1 + np.exp(-a.v))
    return function(s, s * (1 - s), 0.1, a.e)


def sum_of(products: list[tuple[Near, np.ndarray]], *exact: np.ndarray) -> Near:
    """One sum, in any order, of x w over the products, w [K, M] exact, and of exact terms."""
    value, size, moved, terms = 0.0, 0.0, 0.0, len(exact)
    for x, w in products:
        value, size = value + x.v @ w, size + np.abs(x.v) @ np.abs(w)
        moved, terms = moved + x.e @ np.abs(w), terms + len(w)
    for term in exact:
        value, size = value + term, size + np.abs(term)
    return Near(value, moved + gamma(terms + 1) * (size + moved))


class Sums:
    """A gradient: a sum over rows and steps of products; `size` is that of |terms|."""

    def __init__(self, shape: tuple[int, ...]):
        self.value, self.moved, self.size = (np.zeros(shape) for _ in range(3))

    def add(self, a: Near, b: Near) -> None:
        sizes = [np.abs(a.v), np.abs(b.v)]
        moved = sizes[0].T @ b.e + a.e.T @ sizes[1] + a.e.T @ b.e
        shape = self.value.shape
        self.value += (a.v.T @ b.v).reshape(shape)
        self.moved += moved.reshape(shape)
        self.size += (sizes[0].T @ sizes[1] + moved).reshape(shape)


class States(NamedTuple):
    """Of one time step."""

    gates: list[Near]  # i, f, g, o
    c: Near
    h: Near


def forward(p: list[np.ndarray], x: Near, before: States | None) -> States:
    products = [(x, p[0].T)] + ([(before.h, p[1].T)] if before else [])
    sums = sum_of(products, p[2], p[3])
    parts = [Near(*(array[:, k:k + HIDDEN] for array in sums)) for k in range(0, 4 * HIDDEN, HIDDEN)]
    i, f, g, o = (tanh(part) if k == 2 else sigmoid(part) for k, part in enumerate(parts))
    c = times(i, g)
    if before:
        c = plus(times(f, before.c), c)
    return States([i, f, g, o], c, times(o, tanh(c)))


def backward(now: States, before: States | None, dh: Near, dc: Near) -> tuple[Near, Near]:
    """Gradients of the gates' sums, and of the c before."""
    i, f, g, o = now.gates
    t = tanh(now.c)
    dc = plus(dc, times(dh, o, one_minus(times(t, t))))
    c = before.c if before else exactly(np.zeros_like(now.c.v))
    sums = [times(dc, g, i, one_minus(i)), times(dc, c, f, one_minus(f)),
            times(dc, i, one_minus(times(g, g))), times(dh, t, o, one_minus(o))]
    return Near(*(np.concatenate(parts, axis=1) for parts in zip(*sums))), times(dc, f)


def step(data: Data, x: np.ndarray, upstream: np.ndarray) -> tuple[Near, list[Sums]]:
    """Outputs, and gradients of sum(outputs * upstream), of some rows."""
    p = [values.astype(np.float64) for values in data.parameters()]
    steps = x.astype(np.float64).reshape(len(x), STEPS, FEATURES)
    inputs = [exactly(steps[:, t]) for t in range(STEPS)]
    states: list[States] = []
    for t in range(STEPS):
        states.append(forward(p, inputs[t], states[-1] if states else None))
    outputs = sum_of([(states[-1].h, p[4].T)], p[5])
    found, ones = [Sums(values.shape) for values in p], exactly(np.ones((len(x), 1)))
    g = exactly(upstream.astype(np.float64))
    found[4].add(g, states[-1].h)
    found[5].add(g, ones)
    dh, dc = sum_of([(g, p[4])]), exactly(np.zeros((len(x), HIDDEN)))
    for t in reversed(range(STEPS)):
        before = states[t - 1] if t > 0 else None
        da, dc = backward(states[t], before, dh, dc)
        found[0].add(da, inputs[t])
        if before:
            found[1].add(da, before.h)
        found[2].add(da, ones)
        found[3].add(da, ones)
        dh = sum_of([(da, p[1])])
    return outputs, found
