"""PyTorch's FSDP2: lockstep check --impl torch:suites/python/layers/fsdp2.py:FSDP2"""
import contextlib
from typing import Any, Iterator

from torch import __version__, nn  # noqa: F401 (the version of the record)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class FSDP2:
    def __init__(self, model: nn.Module, rank: int, world: int) -> None:
        self.model: Any = fully_shard(model, mesh=init_device_mesh("cpu", (world,)))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        return self.model(*inputs, **named)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        self.model.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            self.model.set_requires_gradient_sync(True)
