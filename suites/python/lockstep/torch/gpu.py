"""gpu.py: the functions that PyTorch has only with GPUs.

NOT RUN YET: the machines this was written on have no GPU. Everything here is one call of PyTorch,
so that there is little to be wrong.
"""
from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.nn import parallel
from torch.nn.parallel import comm as functions

from ..adapter import Call
from ..errors import HOST
from .arrays import device_of
from .description import Block, read_model, values_of
from .place import Log, Visit
from .primitives import Functions

comm: Any = functions  # they have no types


class GpuFunctions(Functions):
    """Those of DataParallel."""

    buffer_bytes: int = inspect.signature(comm.broadcast_coalesced).parameters["buffer_size"].default

    def finish(self) -> None:
        """Waits until every call has ended."""
        for device in range(torch.cuda.device_count()):
            torch.cuda.synchronize(device)

    def scatter(self, tensor: torch.Tensor, devices: list[int], dim: int,
                sizes: list[int] | None = None) -> Any:
        return comm.scatter(tensor, devices, sizes, dim)

    def gather(self, tensors: list[torch.Tensor], dim: int, device: int) -> Any:
        """Calls parallel.gather, which DataParallel uses."""
        place: Any = "cpu" if device == HOST else device  # a torch.device of the CPU is refused
        return parallel.gather(tensors, place, dim)

    def broadcast(self, tensors: list[torch.Tensor], devices: list[int], buffer_bytes: int) -> Any:
        return comm.broadcast_coalesced(tensors, devices, buffer_bytes or self.buffer_bytes)

    def reduce(self, lists: list[list[torch.Tensor]], device: int, buffer_bytes: int) -> Any:
        return comm.reduce_add_coalesced(lists, device, buffer_bytes or self.buffer_bytes)

    def apply(self, calls: list[Call], grad: bool, train: bool) -> tuple[list[Any], list[Visit]]:
        """Calls parallel_apply; the list of replicas that ran comes after the outputs."""
        log = Log()
        modules: list[Block] = []
        for number, call in enumerate(calls):
            module = read_model(call.description, torch.cuda.device_count(), log, call.device)
            module.number = number
            modules.append(module.train(train))
        inputs = [values_of(tuple(call.tensors), []) for call in calls]
        with torch.set_grad_enabled(grad):
            outputs = parallel.parallel_apply(modules, inputs, devices=[device_of(call.device) for call in calls])
        return outputs, log.in_order()
