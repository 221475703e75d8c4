"""maths.py: what a math that rounds the operands of matrix products makes of a model that rounds anyway.

Over the layers of a transformer, bounds on every such rounding would add up to more than the numbers
themselves. So the float64 model has two twins, which are the same but for operands: every one that does
not fit the bits of the math is moved by the most that it may be. In the one all move towards 0, as
roundings that are alike do; in the other up or down at random, as those that are not. What a twin changes
at most in an array is what one such way to round makes of it. Three times both together are added to every
bound of the array, but to those of 0: of a sum without terms nothing is rounded. Weights of queries, keys
and values are arrays of their own: their gradients are of different sizes. lockstep's verifier has the same
rule, and the reason for three (harness/verify/maths.c).
"""
from __future__ import annotations

from functools import partial
from typing import Callable

import numpy as np

from .near import as_it_is
from .workloads import Workload

# Of a float: bits that TF32 drops, and the most that this moves a number from 1 to below 2. A GPU may
# cut them off.
DROPPED, MOST = 13, 2.0**-10
TIMES = 3  # what both twins change together
LIMITS = {"f32": 2.0**24, "tf32": 2.0**11}  # whole numbers up to it are operands as they are


def goes_up(bits: np.ndarray) -> np.ndarray:
    """By all the bits of a number: those alike move alike, as they do when they are rounded."""
    mixed = (bits ^ bits >> np.uint32(16)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return mixed >> np.uint64(63) != 0


def moved(v: np.ndarray, scatters: bool) -> np.ndarray:
    """As operands of a twin."""
    bits = v.astype(np.float32).view(np.uint32)
    step = np.ldexp(MOST, np.frexp(v)[1] - 1)  # the exponent of numbers from 1 to below 2 is 1
    up = goes_up(bits) if scatters else v < 0
    return np.where(bits & np.uint32((1 << DROPPED) - 1) == 0, v, np.where(up, v + step, v - step))


TWINS = tuple(partial(moved, scatters=scatters) for scatters in (False, True))


def fitting(v: np.ndarray) -> np.ndarray:
    """As operands of an exact model, which TF32 must leave alone."""
    if v.size and np.abs(v).max() > LIMITS["tf32"]:
        raise ValueError(f"operands reach {np.abs(v).max():g}, more than {LIMITS['tf32']:g}: TF32 would round them")
    return v


def operand_of(math: str, exact: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Of the model itself."""
    return fitting if exact and math != "f32" else as_it_is


def parts_of(workload: Workload, math: str) -> list[int]:
    """Of each gradient so many parts, of one size, are looked at one by one."""
    own = {"table": 1, "positions": 1, "layer_norm": 2, "linear": 2}
    kinds = [kind for kind, _ in workload.modules]
    if math == "f32" or "attention" not in kinds:
        return [1] * len(workload.laws)
    found: list[int] = []
    for kind, following in zip(kinds, [*kinds[1:], ""]):
        parts = [1] * own.get(kind, 0)
        if (kind, following) == ("linear", "attention"):
            parts[0] = 3
        found += parts
    return found


def largest(array: np.ndarray, parts: int = 1) -> np.ndarray:
    return np.abs(array).reshape(parts, -1).max(axis=1)


def widen(bound: np.ndarray, most: np.ndarray) -> np.ndarray:
    """By what a twin changes at most in each part."""
    added = np.repeat(TIMES * most, bound.size // most.size).reshape(bound.shape)
    return bound + np.where(bound > 0, added, 0.0)
