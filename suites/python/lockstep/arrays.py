"""arrays.py: arrays of the protocol."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Array:
    """struct impl_array. None stands for an array of dtype IMPL_NONE."""

    dtype: str
    dims: list[int]
    device: int
    needs_grad: bool
    data: bytes
