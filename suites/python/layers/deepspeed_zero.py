"""DeepSpeed's ZeRO: lockstep check --impl torch:suites/python/layers/deepspeed_zero.py:Zero2"""
import contextlib
from typing import Any, Iterator, Sequence

import deepspeed
import torch

__version__ = deepspeed.__version__
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # it would be compiled first


class Zero2:
    stage = 2

    def __init__(self, model: torch.nn.Module, rank: int, world: int) -> None:
        config = {"train_batch_size": world, "gradient_clipping": 0.0,
                  "zero_allow_untested_optimizer": True, "zero_optimization": {"stage": self.stage}}
        self.engine, self.optimizer, *_ = deepspeed.initialize(
            model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), config=config)
        self.zero_grad = self.optimizer.zero_grad

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self.engine(*inputs, **named)

    def backward(self, outputs: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor]) -> None:
        self.engine.backward(sum((o * g).sum() for o, g in zip(outputs, gradients)))

    def grad(self, name: str, parameter: torch.Tensor) -> Any:
        return deepspeed.utils.safe_get_full_grad(parameter)

    def set_value(self, name: str, parameter: torch.Tensor, value: torch.Tensor) -> None:
        deepspeed.utils.safe_set_full_fp32_param(parameter, value)

    def step(self, lr: float, momentum: float) -> None:
        self.optimizer.param_groups[0].update(lr=lr, momentum=momentum)
        self.engine.step()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        self.engine.set_gradient_accumulation_boundary(False)
        try:
            yield
        finally:
            self.engine.set_gradient_accumulation_boundary(True)


class Zero1(Zero2):
    stage = 1


class Zero3(Zero2):
    stage = 3

    def value(self, name: str, parameter: torch.Tensor) -> Any:
        return deepspeed.utils.safe_get_full_fp32_param(parameter)
