"""Hugging Face's Accelerate: lockstep check --impl torch:suites/python/layers/accelerate_layer.py:Accelerate"""
from typing import Any, Sequence

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs, __version__  # noqa: F401 (the version of the record)


class Accelerate:
    def __init__(self, model: torch.nn.Module, rank: int, world: int, find_unused_parameters: bool = False) -> None:
        search = DistributedDataParallelKwargs(find_unused_parameters=find_unused_parameters)
        self.accelerator = Accelerator(cpu=True, kwargs_handlers=[search])
        self.model, self.optimizer = self.accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1.0))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self.model(*inputs, **named)

    def backward(self, outputs: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> None:
        self.accelerator.backward(sum((o * g).sum() for o, g in zip(outputs, gradients)))

    def step(self, lr: float, momentum: float) -> None:
        self.optimizer.param_groups[0].update(lr=lr, momentum=momentum)
        self.optimizer.step()

    def no_sync(self) -> Any:
        return self.accelerator.no_sync(self.model)
