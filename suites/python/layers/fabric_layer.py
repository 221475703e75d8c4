"""Lightning Fabric: lockstep check --impl torch:suites/python/layers/fabric_layer.py:FabricDDP"""
from typing import Any, Sequence

import torch
from lightning_fabric import Fabric, __version__  # noqa: F401 (the version of the record)
from lightning_fabric.strategies import DDPStrategy


class FabricDDP:
    def __init__(self, model: torch.nn.Module, rank: int, world: int, find_unused_parameters: bool = False) -> None:
        strategy = DDPStrategy(find_unused_parameters=find_unused_parameters)
        self.fabric = Fabric(accelerator="cpu", devices=world, strategy=strategy)
        self.fabric.launch()
        self.model, self.optimizer = self.fabric.setup(model, torch.optim.SGD(model.parameters(), lr=1.0))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self.model(*inputs, **named)

    def backward(self, outputs: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> None:
        self.fabric.backward(sum((o * g).sum() for o, g in zip(outputs, gradients)))

    def step(self, lr: float, momentum: float) -> None:
        self.optimizer.param_groups[0].update(lr=lr, momentum=momentum)
        self.optimizer.step()

    def no_sync(self) -> Any:
        return self.fabric.no_backward_sync(self.model)
