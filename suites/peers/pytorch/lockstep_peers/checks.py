"""checks.py: whether tensors are what they must be, bit for bit or within bounds."""
from __future__ import annotations

from typing import Any

import torch


class Wrong(Exception):
    """A step left something else than it must."""


def gamma(n: float) -> float:
    """Of a sum of n products in float: times the sum of |terms| it is above the rounding."""
    return n * 2.0**-24 / (1 - n * 2.0**-24)


def bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().view(torch.int32)


def same(what: str, got: torch.Tensor, want: torch.Tensor, step: int) -> int:
    """Bit for bit."""
    if got.shape != want.shape or not torch.equal(bits(got), bits(want)):
        raise Wrong(f"step {step}: {what} {first_difference(got, want)}")
    return want.numel()


def within(what: str, got: torch.Tensor, want: torch.Tensor, bound: Any, step: int) -> int:
    if got.shape != want.shape or not bool(((got.detach().double() - want).abs() <= bound).all()):
        raise Wrong(f"step {step}: {what} is beyond its error bound")
    return want.numel()


def first_difference(got: torch.Tensor, want: torch.Tensor) -> str:
    if got.shape != want.shape:
        return f"has shape {list(got.shape)}, must have {list(want.shape)}"
    at = int((bits(got) != bits(want)).flatten().nonzero()[0])
    return f"[{at}] is {float(got.flatten()[at])!r}, must be {float(want.flatten()[at])!r}"
