"""near.py: arrays with a bound e on how far any float computation of them may be away.

u = 2^-24: one rounding adds u times its size, a sum of n products in any order
gamma_n = n u / (1 - n u) times the sum of |terms|, and what the operands carry is added exactly.
Products of several factors have the same bound in any order. sigmoid and tanh are taken to be
within 4 units in the last place (8 u). Of a model that rounds nothing, and of the twins of maths.py,
e is None, all along.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

U = 2.0**-24
FUNCTION = 8 * U


class Near(NamedTuple):
    v: np.ndarray
    e: np.ndarray | None


def gamma(n):
    """Of a number, or of an array of them."""
    if not np.max(n) * U < 0.125:
        raise ValueError(f"sums of {np.max(n):g} terms are too long for a bound on rounding")
    return n * U / (1 - n * U)


def exactly(v: np.ndarray) -> Near:
    return Near(v, np.zeros_like(v))


def each(function, x: Near) -> Near:
    """Of a function that only moves numbers to other places."""
    return Near(function(x.v), None if x.e is None else function(x.e))


def flat(x: Near) -> Near:
    """A row for each place."""
    return each(lambda v: v.reshape(-1, v.shape[-1]), x)


def of_values(function, x: Near) -> Near:
    """Of a function of the numbers whose bounds are no matter."""
    return Near(function(x.v), x.e)


def as_it_is(v: np.ndarray) -> np.ndarray:
    return v


def rounded(v: np.ndarray, e: np.ndarray) -> Near:
    return Near(v, e + U * (np.abs(v) + e))


def plus(a: Near, b: Near) -> Near:
    if a.e is None or b.e is None:
        return Near(a.v + b.v, None)
    return rounded(a.v + b.v, a.e + b.e)


def minus(a: Near, b: Near) -> Near:
    return plus(a, Near(-b.v, b.e))


def carried(a: Near, b: Near) -> np.ndarray:
    return np.abs(a.v) * b.e + np.abs(b.v) * a.e + a.e * b.e


def times(first: Near, *others: Near) -> Near:
    for other in others:
        if first.e is None:
            first = Near(first.v * other.v, None)
        else:
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


def product(a: Near, b: Near, terms: int) -> Near:
    """a b, of matrices with bounds; each number a sum of so many products, in any order."""
    if a.e is None:
        return Near(a.v @ b.v, None)
    sizes = np.abs(a.v), np.abs(b.v)
    moved = sizes[0] @ b.e + a.e @ (sizes[1] + b.e)
    return Near(a.v @ b.v, moved + gamma(terms) * (sizes[0] @ sizes[1] + moved))


def is_whole(x: Near, w: np.ndarray) -> bool:
    return not x.e.any() and all((part == np.round(part)).all() for part in (x.v, w))


def sum_of(products: list[tuple[Near, np.ndarray]], *exact: np.ndarray) -> Near:
    """One sum, in any order, of x w over the products, w [K, M] exact, and of exact terms. A weight
    of 0 rounds nothing, and sums of whole numbers do not while those of |terms| are below 2^24."""
    value = sum(x.v @ w for x, w in products) + sum(exact)
    if products[0][0].e is None:
        return Near(value, None)
    size, moved, terms, whole = 0.0, 0.0, len(exact), True
    for x, w in products:
        size, moved = size + np.abs(x.v) @ np.abs(w), moved + x.e @ np.abs(w)
        terms, whole = terms + (w != 0).sum(axis=0), whole and is_whole(x, w)
    size = size + sum(np.abs(term) for term in exact)
    if whole and all((term == np.round(term)).all() for term in exact) and np.max(size) < 2.0**24:
        return exactly(value)
    return Near(value, moved + gamma(terms + 1) * (size + moved))


class Sums:
    """A gradient: a sum over rows and places of products; `size` is that of |terms|, of which there
    are so many in each element."""

    def __init__(self, count: int):
        self.value, self.moved, self.size, self.terms = np.zeros(count), 0.0, 0.0, 0

    def add(self, a: Near, b: Near) -> None:
        """a^T b, of [rows, A] and [rows, B]."""
        self.value += (a.v.T @ b.v).ravel()
        self.terms += len(a.v)
        if a.e is None or b.e is None:
            return
        sizes = [np.abs(a.v), np.abs(b.v)]
        moved = (sizes[0].T @ b.e + a.e.T @ (sizes[1] + b.e)).ravel()
        self.moved = self.moved + moved
        self.size = self.size + (sizes[0].T @ sizes[1]).ravel() + moved

    def add_rows(self, a: Near, at: np.ndarray | None = None) -> None:
        """Of [rows, count] each row a term: of all of the gradient, or of its row `at`."""
        self.terms += len(a.v)
        parts = (a.v,) if a.e is None else (a.v, a.e, np.abs(a.v) + a.e)
        if at is None:
            sums = [part.sum(axis=0) for part in parts]
        else:
            sums = [np.zeros((self.value.size // a.v.shape[1], a.v.shape[1])) for _ in parts]
            for part, into in zip(parts, sums):
                np.add.at(into, at, part)
        self.value = self.value + sums[0].ravel()
        if a.e is not None:
            self.moved, self.size = self.moved + sums[1].ravel(), self.size + sums[2].ravel()

    def total(self, v: np.ndarray, e: np.ndarray) -> None:
        """What a layer has added up itself, and has rounded a few times."""
        self.value, self.terms = self.value + v, self.terms + 8
        self.moved = self.moved + e
        self.size = self.size + np.abs(v) + e
