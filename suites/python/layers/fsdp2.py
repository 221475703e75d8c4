"""PyTorch's FSDP2: lockstep check --impl torch:suites/python/layers/fsdp2.py:FSDP2"""
import contextlib

from torch import __version__  # noqa: F401 (the version of the record)
from torch.distributed import init_device_mesh
from torch.distributed.fsdp import fully_shard


class FSDP2:
    def __init__(self, model, rank, world):
        self.model = fully_shard(model, mesh=init_device_mesh("cpu", (world,)))

    def __call__(self, *inputs):
        return self.model(*inputs)

    @contextlib.contextmanager
    def no_sync(self):
        self.model.set_requires_gradient_sync(False)
        yield
        self.model.set_requires_gradient_sync(True)
