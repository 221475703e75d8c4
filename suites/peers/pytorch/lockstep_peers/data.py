"""data.py: the numbers of a workload, the same as those of suites/workloads/data.c and data_models.c.

Small integers, so that sums are exact in float and every program must leave the same bits. That
they are the same numbers is tested: suites/peers/data_test.sh compares the bytes.
"""
from __future__ import annotations

import math

import numpy as np

from .workloads import MODELS, sizes_of

SETS = 2
PERIODS = (127, 113)
LEARNING_RATE = 2.0**-10
MAP, SIGN, BIAS, INPUT, UPSTREAM, SCALE = range(6)
MASK = (1 << 64) - 1
# Of each parameter of a model: its shape, and how its numbers are drawn: 1 of so many is not 0, and
# then +-1..most times a unit.
LAWS = {
    "cnn": (((32, 1, 3, 3), 3, 1, 1.0), ((32,), 1, 2, 1.0), ((64, 32, 3, 3), 64, 1, 1.0),
            ((64,), 1, 2, 1.0), ((10, 1024), 4, 1, 1.0), ((10,), 1, 2, 1.0)),
    "lstm": (((512, 8), 1, 4, 2.0**-4), ((512, 128), 1, 8, 2.0**-9), ((512,), 1, 4, 2.0**-3),
             ((512,), 1, 4, 2.0**-3), ((10, 128), 1, 4, 2.0**-3), ((10,), 1, 2, 1.0)),
}


def mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class Data:
    """One of the two sets of a seed."""

    def __init__(self, workload: str, seed: int, index: int):
        self.sizes, self.seed, self.index = sizes_of(workload), seed & MASK, index
        self.workload = workload

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
        """Parameter p of a model."""
        shape, every, most, unit = LAWS[self.workload][p]
        places = np.arange(math.prod(shape), dtype=np.uint64)
        x = mix(self.begin(1000 + p) ^ places) >> np.uint64(16)
        there, x = x % np.uint64(every) == 0, x // np.uint64(every)
        size = (1 + x // np.uint64(2) % np.uint64(most)).astype(np.float64) * unit
        signed = np.where(x % np.uint64(2) == 0, size, -size)
        return np.where(there, signed, 0.0).astype(np.float32).reshape(shape)

    def parameters(self) -> list[np.ndarray]:
        """weight, bias, weight, bias, ...; of lstm the two weights, then the two biases first."""
        if self.workload in MODELS:
            return [self.drawn(p) for p in range(len(LAWS[self.workload]))]
        layers = range(len(self.sizes) - 1)
        return [values for layer in layers for values in (self.weight(layer), self.bias(layer))]

    def patterns(self, stream: int, rows: int, width: int, n: int) -> np.ndarray:
        """Integers of -n..-1, 1..n; row r is pattern r mod period."""
        period = np.arange(min(PERIODS[self.index], rows))[:, None]
        values = self.below(stream, period, np.arange(width)[None, :], 2 * n) - n
        values += values >= 0
        return values[np.arange(rows) % PERIODS[self.index]].astype(np.float32)

    def inputs(self, rows: int) -> np.ndarray:
        return self.patterns(INPUT, rows, self.sizes[0], 3)

    def upstream(self, rows: int) -> np.ndarray:
        scale = 1 + self.below(SCALE, np.arange(rows), np.array([0]), 3)
        return self.patterns(UPSTREAM, rows, self.sizes[-1], 2) * scale.astype(np.float32)[:, None]
