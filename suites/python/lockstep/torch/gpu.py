"""gpu.py: the operations that PyTorch has only with GPUs.

NOT RUN YET: the machines this was written on have no GPU. Everything here is one call of PyTorch
with arrays copied in and out, so that there is little to be wrong.
"""
from __future__ import annotations

import inspect
from dataclasses import dataclass, field

import torch
from torch.nn import parallel
from torch.nn.parallel import comm

from ..arrays import Array
from ..errors import HOST
from .arrays import array_of, arrays_of, device_of, tensor_of
from .description import Block, read_model, values_of
from .place import Log, Visit

BUFFER: int = inspect.signature(comm.broadcast_coalesced).parameters["buffer_size"].default


def synchronize() -> None:
    """Waits until every call has ended."""
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def scatter(source: Array, devices: list[int], dim: int, sizes: list[int] | None,
            poke: bool) -> tuple[list[Array | None], Array | None]:
    """Calls comm.scatter; with poke, it also returns the source after the shards were changed."""
    tensor = tensor_of(source)
    shards = comm.scatter(tensor, devices, sizes, dim)
    result = arrays_of(shards)
    for shard in shards if poke else ():
        shard.add_(1)
    synchronize()
    return result, array_of(tensor) if poke else None


def gather(parts: list[Array], dim: int, device: int,
           poke: bool) -> tuple[Array | None, Array | None]:
    """Calls parallel.gather, which DataParallel uses; with poke, it also returns the result after
    the parts were changed."""
    tensors = [tensor_of(part) for part in parts]
    out = parallel.gather(tensors, "cpu" if device == HOST else device, dim)
    result = array_of(out)
    for tensor in tensors if poke else ():
        tensor.add_(1)
    synchronize()
    return result, array_of(out) if poke else None


def broadcast(sources: list[Array], devices: list[int], buffer_bytes: int,
              poke: int) -> tuple[list[Array | None], list[Array | None]]:
    """Calls comm.broadcast_coalesced. Returns the copies, device by device, and the sources
    afterwards."""
    tensors = [tensor_of(source) for source in sources]
    copies = comm.broadcast_coalesced(tensors, devices, buffer_bytes or BUFFER)
    for copy in copies if poke >= 0 else ():
        copy[poke].add_(1)
    synchronize()
    return [array for copy in copies for array in arrays_of(copy)], arrays_of(tensors)


def reduce(lists: list[list[Array]], device: int, buffer_bytes: int,
           poke: int) -> list[Array | None]:
    """Calls comm.reduce_add_coalesced."""
    tensors = [[tensor_of(array) for array in own] for own in lists]
    sums = comm.reduce_add_coalesced(tensors, device, buffer_bytes or BUFFER)
    if poke >= 0:
        sums[poke].zero_()
    synchronize()
    return arrays_of(sums)


@dataclass
class Call:
    """struct impl_call."""

    description: str
    device: int
    inputs: list[Array]


@dataclass
class Applied:
    """The outputs of each call, and the list of replicas that ran."""

    outputs: list[list[Array | None]] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)


def apply(calls: list[Call], devices: int, grad: bool, train: bool) -> Applied:
    """Calls parallel_apply."""
    log = Log()
    modules: list[Block] = []
    for number, call in enumerate(calls):
        module = read_model(call.description, devices, log, call.device)
        module.number = number
        modules.append(module.train(train))
    inputs = [values_of(tuple(tensor_of(array) for array in call.inputs), []) for call in calls]
    with torch.set_grad_enabled(grad):
        outputs = parallel.parallel_apply(modules, inputs,
                                          devices=[device_of(call.device) for call in calls])
    synchronize()
    return Applied([arrays_of(own) for own in outputs], log.in_order())
