"""primitives.py: the functions that PyTorch has, without a GPU and, in gpu.py, with GPUs."""
from __future__ import annotations

from typing import Any

import torch
import torch.distributed
from torch.utils.data import DistributedSampler

from ..adapter import Adapter
from ..arrays import Array
from ..errors import Refusal
from . import arrays


class Functions(Adapter):
    """Those that need no GPU."""

    def tensor_of(self, array: Array) -> torch.Tensor:
        return arrays.tensor_of(array)

    def array_of(self, tensor: torch.Tensor | None) -> Array | None:
        return arrays.array_of(tensor)

    def split(self, rows: int, devices: int) -> list[int]:
        """Calls torch.chunk, which DataParallel's scatter uses. The rows have no elements."""
        if rows < 0:
            raise Refusal("inval", f"{rows} rows")
        return [chunk.shape[0] for chunk in torch.chunk(torch.empty((rows, 0)), devices)]

    def buckets(self, sizes: list[int], dtypes: list[str], limits: list[int]) -> tuple[list[int], list[int]]:
        """Returns DistributedDataParallel's assignment: the bucket of each tensor, and the limit of
        each bucket."""
        tensors = []
        if len(sizes) != len(dtypes):
            raise Refusal("inval", f"{len(sizes)} sizes, {len(dtypes)} types")
        for size, word in zip(sizes, dtypes):
            if word not in arrays.DTYPES:
                raise Refusal("inval", f"unknown type '{word}'")
            element = torch.empty((), dtype=arrays.DTYPES[word]).element_size()
            if size % element:
                raise Refusal("inval", f"{size} bytes are no whole number of '{word}'")
            tensors.append(torch.empty(size // element, dtype=arrays.DTYPES[word], device="meta"))
        if not limits:
            raise Refusal("inval", "no limits")
        assign = torch.distributed._compute_bucket_assignment_by_size  # type: ignore[attr-defined]  # in no stub
        found, limit_of = assign(tensors, limits)
        bucket_of = [-1] * len(sizes)
        for bucket, indices in enumerate(found):
            for index in indices:
                bucket_of[index] = bucket
        return bucket_of, limit_of

    def sampler(self, items: int, ranks: int, rank: int, drop_last: bool) -> list[int]:
        """DistributedSampler without shuffling."""
        if ranks < 1:
            raise Refusal("inval", f"{ranks} ranks")
        data: Any = range(items)  # only its length is read
        return list(DistributedSampler(data, num_replicas=ranks, rank=rank, shuffle=False, drop_last=drop_last))
