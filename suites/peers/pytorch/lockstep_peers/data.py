"""data.py: the numbers of a workload, the same as those of suites/workloads/data.c and data_models.c.

Integers, so that sums are exact in float and every program must leave the same bits; in some rows
wide ones, so that a rounded result is another one. That they are the same numbers is tested:
suites/test/peers/data_test.py compares the bytes.
"""
from __future__ import annotations

import math

import numpy as np

from .maths import LIMITS
from .workloads import Workload

SETS = 2
PERIODS = (127, 113)
LEARNING_RATE = 2.0**-4
MAP, SIGN, BIAS, INPUT, UPSTREAM, SCALE, TOKEN = range(7)
WIDTH, CONTEXT, VOCABULARY = 1, 3, 4  # which sizes these are, of a model of tokens
MASK = (1 << 64) - 1
WIDE, LEAST_BITS = 8, 2  # wide rows of either kind; the fewest bits of one


def mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def growth_of(sizes: list[int]) -> tuple[float, float]:
    growth, most, twos = 1.0, 1.0, 0
    for into, out in zip(sizes[1:], sizes[2:]):
        terms = 2.0 * ((out + into - 1) // into)
        rest = min(terms, 4 * math.sqrt(terms))
        twos += terms == 2
        growth *= 1.25 if terms == 2 and twos > 4 else rest
        most = max(most, terms / rest)
    return growth, most


def widest(workload: Workload, rows: int, math: str = "f32") -> int:
    """Bits of the widest numbers of a batch, which the math leaves alone as operands; 0: there are none."""
    if workload.exact is None:
        return 0
    bits, *growths = workload.exact
    growth, terms = growth_of(workload.sizes) if workload.chain else growths
    while bits > 0 and not ((max(7.0, terms) * 2.0**bits + 256 + 16 * rows) * growth < 2.0**24
                            and (2.0**bits + 2) * growth <= LIMITS[math]):
        bits -= 1
    return bits if bits > LEAST_BITS + 1 else 0


def wide_numbers(drawn: np.ndarray, bits: int) -> np.ndarray:
    """Odd ones of so many bits."""
    top = np.uint64(1 << (bits - 1))
    size = (top | (drawn >> np.uint64(32) & (top - np.uint64(1))) | np.uint64(1)).astype(np.int64)
    return np.where(drawn >> np.uint64(16) & np.uint64(1), size, -size)


class Data:
    """One of the two sets of a seed, for a batch of so many rows."""

    def __init__(self, workload: Workload, seed: int, index: int, rows: int, math: str = "f32"):
        self.sizes, self.seed, self.index = workload.sizes, seed & MASK, index
        self.workload, self.rows, self.math = workload, rows, math
        self.wide = widest(workload, rows, math)
        self.stride = max(2, -(-rows // WIDE))

    def begin(self, stream: int) -> np.ndarray:
        x = mix(np.array([self.seed], dtype=np.uint64))
        for part in (self.index, stream):
            x = mix(x ^ np.uint64(part))
        return x

    def draw(self, stream: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return mix(mix(self.begin(stream) ^ a.astype(np.uint64)) ^ b.astype(np.uint64))

    def below(self, stream: int, a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
        return ((self.draw(stream, a, b) >> np.uint64(16)) % np.uint64(n)).astype(np.int64)

    def one(self, stream: int, a: int, b: int) -> int:
        return int(self.draw(stream, np.array([a]), np.array([b]))[0])

    def weight(self, layer: int) -> np.ndarray:
        """[out, in]: two entries of +-1 a row, their columns two affine maps of the row."""
        width, out = self.sizes[layer], self.sizes[layer + 1]
        values = np.zeros((out, width), dtype=np.float32)
        rows = np.arange(out)
        for entry in range(2):
            factor = 1 + self.one(MAP, layer, 2 * entry) % width
            offset = self.one(MAP, layer, 2 * entry + 1) % width
            while math.gcd(factor, width) != 1:
                factor = factor % width + 1
            sign = 1 - 2 * self.below(SIGN, np.array([layer]), 2 * rows + entry, 2)
            values[rows, (factor * rows + offset) % width] += sign
        return values

    def bias(self, layer: int) -> np.ndarray:
        rows = np.arange(self.sizes[layer + 1])
        return (self.below(BIAS, np.array([layer]), rows, 5) - 2).astype(np.float32)

    def drawn(self, p: int) -> np.ndarray:
        """Parameter p of a model, flat."""
        count, every, most, unit = self.workload.laws[p]
        places = np.arange(count, dtype=np.uint64)
        x = mix(self.begin(1000 + p) ^ places) >> np.uint64(16)
        there, x = x % np.uint64(every) == 0, x // np.uint64(every)
        size = (1 + x // np.uint64(2) % np.uint64(most)).astype(np.float64) * unit
        signed = np.where(x % np.uint64(2) == 0, size, -size)
        return np.where(there, signed, 0.0).astype(np.float32)

    def parameters(self) -> list[np.ndarray]:
        """weight, bias, weight, bias, ... of a chain; of a model in the order of its laws, flat."""
        if not self.workload.chain:
            return [self.drawn(p) for p in range(len(self.workload.laws))]
        layers = range(len(self.sizes) - 1)
        return [values for layer in layers for values in (self.weight(layer), self.bias(layer))]

    def pattern(self) -> np.ndarray:
        """Of each row: wide inputs first, then wide upstream, then the others'."""
        row = np.arange(self.rows)
        narrow = row % PERIODS[self.index]
        if self.wide == 0:
            return narrow
        kind, at = row // self.stride, row % self.stride
        return np.where(at == 0, kind,
                        np.where(at == self.stride // 2, WIDE + kind, 2 * WIDE + narrow))

    def patterns(self, stream: int, width: int, n: int, first: int, widest_bits: int) -> np.ndarray:
        """Integers of -n..-1, 1..n; in the wide patterns from `first` on odd ones of many bits."""
        kinds, of_row = np.unique(self.pattern(), return_inverse=True)
        drawn = self.draw(stream, kinds[:, None], np.arange(width)[None, :])
        values = ((drawn >> np.uint64(16)) % np.uint64(2 * n)).astype(np.int64) - n
        values += values >= 0
        for i, kind in enumerate(kinds):
            if self.wide > 0 and first <= kind < first + WIDE:
                values[i] = wide_numbers(drawn[i], max(widest_bits - int(kind - first), LEAST_BITS))
        return values[of_row].astype(np.float32)

    def tokens(self, first: int) -> np.ndarray:
        """[rows, context], from token `first` of each row's sequence on."""
        context, vocabulary = self.sizes[CONTEXT], self.sizes[VOCABULARY]
        period = self.workload.periods[self.index]
        patterns, places = np.arange(min(period, self.rows)), np.arange(first, first + context)
        drawn = self.below(TOKEN, patterns[:, None], places[None, :], vocabulary).astype(np.int32)
        return drawn[np.arange(self.rows) % period]

    def inputs(self) -> np.ndarray:
        if self.workload.periods:
            return self.tokens(0)
        return self.patterns(INPUT, self.sizes[0], 3, 0, self.wide)

    def upstream(self) -> np.ndarray:
        """What the loss compares outputs with: factors, or the tokens one place on."""
        if self.workload.periods:
            return self.tokens(1)
        scale = 1 + self.below(SCALE, np.arange(self.rows), np.array([0]), 3)
        if self.wide > 0:
            scale[self.pattern() < 2 * WIDE] = 1
        values = self.patterns(UPSTREAM, self.sizes[-1], 2, WIDE, self.wide - 2)
        return values * scale.astype(np.float32)[:, None]
