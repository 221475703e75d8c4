"""PyTorch's DistributedDataParallel, and what can be added to it:
lockstep check --impl torch:suites/python/layers/pytorch_variants.py:Bf16Hook"""
from typing import Any

import torch
from torch import __version__  # noqa: F401 (the version of the record)
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


class DDP(DistributedDataParallel):
    """As it is, which is also what --impl torch tests."""


class Bf16Hook(DistributedDataParallel):
    """Gradients are sent with 8 significant bits."""

    def __init__(self, module: torch.nn.Module, find_unused_parameters: bool = False) -> None:
        super().__init__(module, find_unused_parameters=find_unused_parameters)
        self.register_comm_hook(None, bf16_compress_hook)


class ZeroOptimizer(DistributedDataParallel):
    """Each rank steps a part of the parameters, and sends it to the others."""

    def __init__(self, module: torch.nn.Module, find_unused_parameters: bool = False) -> None:
        super().__init__(module, find_unused_parameters=find_unused_parameters)
        self.optimizer = ZeroRedundancyOptimizer(module.parameters(), torch.optim.SGD, lr=1.0)

    def step(self, lr: float, momentum: float) -> None:
        self.optimizer.param_groups[0].update(lr=lr, momentum=momentum)
        self.optimizer.step()

    def join(self, divide_by_initial_world_size: bool = True) -> Any:  # type: ignore[override]
        return Join([self, self.optimizer], divide_by_initial_world_size=divide_by_initial_world_size)
