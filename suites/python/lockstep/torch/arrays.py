"""arrays.py: arrays of the protocol to tensors and back, without a detour through numbers."""
from __future__ import annotations

import ctypes
from typing import Any

import torch

from ..arrays import Array
from ..errors import HOST, Refusal

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "i32": torch.int32,
    "i64": torch.int64,
}
WORDS = {dtype: word for word, dtype in DTYPES.items()}


def device_of(number: int) -> torch.device:
    """Converts a device number: the suite has the numbers of CUDA; -1 is the CPU."""
    return torch.device("cpu") if number == HOST else torch.device("cuda", number)


def number_of(device: torch.device) -> int:
    """Converts a device to its number."""
    return HOST if device.type == "cpu" else device.index


def tensor_of(array: Array) -> torch.Tensor:
    """Makes a new tensor on the device of the array."""
    dtype = DTYPES.get(array.dtype)
    if dtype is None:
        raise Refusal("inval", f"unknown type of array '{array.dtype}'")
    if array.data:
        tensor = torch.frombuffer(bytearray(array.data), dtype=dtype).reshape(array.dims)
    else:
        tensor = torch.empty(array.dims, dtype=dtype)
    return tensor.to(device_of(array.device))


def cut_as(tensor: Any, values: torch.Tensor) -> torch.Tensor:
    """Returns the part of the values that a rank has of a tensor, which is all of it unless it is a DTensor."""
    if not hasattr(tensor, "full_tensor"):
        return values
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(values, tensor.device_mesh, tensor.placements, src_data_rank=None)


def word_of(tensor: torch.Tensor) -> str:
    """Returns the word of the protocol for the type of its elements."""
    if tensor.dtype not in WORDS:
        raise Refusal("notsup", f"a result of type {tensor.dtype}")
    return WORDS[tensor.dtype]


def array_of(tensor: torch.Tensor | None) -> Array | None:
    """Returns the present values of a tensor, and its device."""
    if tensor is None:
        return None
    if hasattr(tensor, "full_tensor"):  # in parts: all ranks come here at once
        tensor = tensor.full_tensor()
    if tensor.is_sparse:
        tensor = tensor.to_dense()
    word = word_of(tensor)
    here = tensor.detach().to("cpu").contiguous()
    data = ctypes.string_at(here.data_ptr(), here.numel() * here.element_size())
    return Array(word, list(here.shape), number_of(tensor.device),
                 tensor.requires_grad, data if here.numel() else b"")
