"""transformer.py: float64 twins of the modules of a language model, as layers.py has others: arrays
[rows, places, width], with bounds.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .near import Near, U, carried, each, exactly, flat, gamma, of_values, plus, product, sum_of, times

if TYPE_CHECKING:
    from .layers import Parameters

# Of a softmax beside its sum: two exp, each within 20 units in the last place, as PyTorch's fastest
# is, a quotient, and what joins parts of it.
SOFTMAX = 106


# By kind of devices, what a sum over a row is rounded by, in terms: in any order; or on GPUs, where so many
# threads or more add up their parts, which are then joined in pairs, 7 times at most. To join two means takes
# 4 roundings, to move one with another number 4, of which 3 are divided by their count.
IN_PARTS = {"cpu": lambda numbers, threads: numbers,
            "cuda": lambda numbers, threads: np.minimum(numbers, numbers / threads + 28)}


def softmax(x: Near, there: np.ndarray, kind: str = "cpu",
            threads: int = 32) -> tuple[np.ndarray, np.ndarray | None]:
    """Over the last axis, where it is there; and how far each may be away, as a part of it. A share
    changes by at most exp(2 d) where no number changes by more than d. Numbers are taken from their
    largest, or from the logarithm of their sum, which is rounded, too."""
    value = np.where(there, x.v, -np.inf)
    power = np.exp(value - value.max(axis=-1, keepdims=True))
    if x.e is None:
        return power / power.sum(axis=-1, keepdims=True), None
    size = np.where(there, np.abs(x.v), 0).max(axis=-1, keepdims=True)
    moved = np.where(there, x.e, 0).max(axis=-1, keepdims=True)
    number = IN_PARTS[kind](there.sum(axis=-1, keepdims=True), threads)
    away = np.expm1(2 * moved + 2 * U * (2 * (size + moved) + 8) + gamma(number + SOFTMAX))
    return power / power.sum(axis=-1, keepdims=True), away


class Table:
    """Nobody wants the gradient of its input."""

    wanted = True

    def __init__(self, own: Parameters, rows: int, width: int):
        weight, self.of_weight = own.take()
        self.weight = weight.reshape(rows, width)

    def forward(self, x: Near) -> Near:
        self.tokens = x.v.astype(np.int64)
        rows = self.weight[self.tokens]
        return Near(rows, None) if x.e is None else exactly(rows)

    def backward(self, g: Near) -> None:
        self.of_weight.add_rows(flat(g), self.tokens.ravel())


class Tied:
    """The output, by a table: its rows times the input."""

    def __init__(self, own: Parameters, table: Table):
        self.table, self.operand, self.weight = table, own.operand, own.operand(table.weight)

    def forward(self, x: Near) -> Near:
        self.x = of_values(self.operand, x)
        return sum_of([(self.x, self.weight.T)])

    def backward(self, g: Near) -> Near:
        g = of_values(self.operand, g)
        self.table.of_weight.add(flat(g), flat(self.x))
        return sum_of([(g, self.weight)])


class Positions:
    def __init__(self, own: Parameters, context: int, width: int):
        weight, self.of_weight = own.take()
        self.weight = weight.reshape(context, width)

    def forward(self, x: Near) -> Near:
        return plus(x, exactly(self.weight[:x.v.shape[1]]))

    def backward(self, g: Near) -> Near:
        self.of_weight.add_rows(flat(g), np.tile(np.arange(g.v.shape[1]), len(g.v)))
        return g


class LayerNorm:
    """Means are sums of floats. On a CPU that of g times the normalised is made of x, from which its mean is
    not yet taken."""

    EPS, THREADS = 1e-5, 128

    def __init__(self, own: Parameters, width: int):
        (weight, self.of_weight), (bias, self.of_bias) = own.take(), own.take()
        self.weight, self.bias = exactly(weight), exactly(bias)
        self.kind, self.rounding = own.kind, gamma(IN_PARTS[own.kind](width, self.THREADS) + 16)

    def mean(self, x: Near, size: np.ndarray) -> Near:
        v, e = (part.mean(axis=-1, keepdims=True) for part in x)
        return Near(v, e + self.rounding * size.mean(axis=-1, keepdims=True))

    def forward(self, x: Near) -> Near:
        if x.e is None:
            return self.of_values(x)
        average = self.mean(x, np.abs(x.v) + x.e)
        square = ((x.v - average.v)**2).mean(axis=-1, keepdims=True)
        self.root = np.sqrt(square + self.EPS)
        # The length of a vector is away by no more than the length of what that is.
        self.root_away = np.sqrt((x.e**2).mean(axis=-1, keepdims=True)) + (
            self.rounding * np.sqrt(square + average.v**2 + self.EPS))
        self.least = self.root - self.root_away
        if not (self.least > 0).all():
            raise ValueError("a row whose deviation may be 0 has no bound")
        hat = (x.v - average.v) / self.root
        self.raw = (np.abs(x.v) + np.abs(average.v)) / self.root
        self.hat = Near(hat, (x.e + average.e + np.abs(hat) * self.root_away) / self.least + 4 * U * self.raw)
        return plus(times(self.hat, self.weight), self.bias)

    def of_values(self, x: Near) -> Near:
        apart = x.v - x.v.mean(axis=-1, keepdims=True)
        self.root = np.sqrt((apart**2).mean(axis=-1, keepdims=True) + self.EPS)
        self.hat = Near(apart / self.root, None)
        return plus(times(self.hat, self.weight), self.bias)

    def backward(self, g: Near) -> Near:
        self.of_weight.add_rows(flat(times(g, self.hat)))
        self.of_bias.add_rows(flat(g))
        g, hat = times(g, self.weight), self.hat
        if g.e is None:
            shift, slope = (part.mean(axis=-1, keepdims=True) for part in (g.v, g.v * hat.v))
            return Near((g.v - shift - hat.v * slope) / self.root, None)
        size = np.abs(g.v) + g.e
        shift = self.mean(g, size)
        factor = 2 * self.raw if self.kind == "cpu" else np.abs(hat.v) + hat.e
        slope = self.mean(Near(g.v * hat.v, carried(g, hat)), size * factor)
        v = (g.v - shift.v - hat.v * slope.v) / self.root
        moved = g.e + shift.e + carried(hat, slope)
        sizes = np.abs(g.v) + np.abs(shift.v) + self.raw * (np.abs(slope.v) + slope.e) + moved
        return Near(v, (moved + np.abs(v) * self.root_away + gamma(16) * sizes) / self.least)


class Attention:
    """Causal, of several heads; the input is q, k and v beside each other."""

    def __init__(self, own: Parameters, heads: int):
        self.heads, self.operand, self.kind = heads, own.operand, own.kind

    def apart(self, x: Near, parts: int) -> list[Near]:
        """Each [rows, heads, places, size of a head]."""
        rows, places, width = x.v.shape
        shape = rows, places, parts, self.heads, width // parts // self.heads
        both = each(lambda v: v.reshape(shape).transpose(2, 0, 3, 1, 4), x)
        return [each(lambda v, part=part: v[part], both) for part in range(parts)]

    @staticmethod
    def together(parts: list[Near]) -> Near:
        rows, heads, places, size = parts[0].v.shape
        return Near(*(None if arrays[0] is None else
                      np.stack(arrays).transpose(1, 3, 0, 2, 4).reshape(rows, places, -1)
                      for arrays in zip(*parts)))

    def forward(self, x: Near) -> Near:
        self.q, self.k, self.v = self.apart(of_values(self.operand, x), 3)
        places, size = self.q.v.shape[2:]
        self.scale = 1 / math.sqrt(size)
        # The scale is multiplied to both, or behind.
        score = product(self.q, each(turned, self.k), size + 6)
        there = np.tril(np.ones((places, places), dtype=bool))
        self.share, self.away = softmax(each(lambda part: self.scale * part, score), there, self.kind)
        self.p = Near(self.operand(self.share), None if self.away is None else self.share * self.away)
        # Of how many terms a sum is: what is masked is 0, and to add that rounds nothing. Bounds on a CPU are as
        # they were, with all places.
        if self.kind == "cpu":
            self.sees = self.seen = places
        else:
            self.sees, self.seen = np.arange(1, places + 1)[:, None], np.arange(places, 0, -1)[:, None]
        return self.together([product(self.p, self.v, self.sees + 4)])

    def backward(self, g: Near) -> Near:
        """Of the scores: p (d - mean of d), where the mean may be that of g times the output."""
        g, = self.apart(of_values(self.operand, g), 1)
        size = g.v.shape[3]
        p, away = self.share, self.away
        d = product(g, each(turned, self.v), size + 4)
        if away is None:
            scores = self.scale * p * (d.v - (p * d.v).sum(axis=-1, keepdims=True))
            return self.back(g, Near(self.operand(scores), None))
        terms = np.abs(g.v) @ turned(np.abs(self.v.v)) + d.e
        mean = (p * d.v).sum(axis=-1, keepdims=True)
        moved = (p * ((1 + away) * d.e + (away + gamma(self.sees + size + 8) * (1 + away)) * terms)).sum(
            axis=-1, keepdims=True)
        apart = self.scale * p * (d.v - mean)
        factor = (1 + away) * (d.e + moved + 8 * U * (terms + np.abs(mean) + moved))
        return self.back(g, Near(apart, np.abs(apart) * away + self.scale * p * factor))

    def back(self, g: Near, scores: Near) -> Near:
        back = each(turned, scores)
        return self.together([product(scores, self.k, self.sees + 4), product(back, self.q, self.seen + 4),
                              product(each(turned, self.p), g, self.seen + 4)])


def turned(v: np.ndarray) -> np.ndarray:
    return v.swapaxes(-1, -2)


class Gelu:
    """Its tanh form. The second derivative is below CURVE everywhere."""

    ROOT, CUBIC, CURVE = math.sqrt(2 / math.pi), 0.044715, 0.8

    def __init__(self, own: Parameters, form: str):
        if form != "tanh":
            raise ValueError(f"GELU in a form '{form}' has no twin")

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Its value; how steep it is, and the part of that behind 1 - tanh^2, whose rounding is
        multiplied by it."""
        t = np.tanh(self.ROOT * (x + self.CUBIC * x**3))
        steep = x / 2 * self.ROOT * (1 + 3 * self.CUBIC * x * x)
        return x / 2 * (1 + t), (1 + t) / 2 + (1 - t * t) * steep, steep

    def forward(self, x: Near) -> Near:
        self.x = x
        y, slope, _ = self.parts(x.v)
        if x.e is None:
            return Near(y, None)
        moved = (np.abs(slope) + self.CURVE * x.e) * x.e
        return Near(y, moved + 8 * U * (np.abs(x.v) + moved))

    def backward(self, g: Near) -> Near:
        _, slope, steep = self.parts(self.x.v)
        if g.e is None:
            return Near(g.v * slope, None)
        return times(g, Near(slope, self.CURVE * self.x.e + (12 + 8 * np.abs(steep)) * U))


KINDS = {"table": Table, "tied": Tied, "positions": Positions, "layer_norm": LayerNorm,
         "attention": Attention, "gelu": Gelu}
