"""tinygrad on four devices of the CPU: lockstep check --impl exec:'python tinygrad_layer.py'"""
from importlib.metadata import version
from typing import Any

import numpy as np
from lockstep.adapter import Adapter, serve
from tinygrad import Device, Tensor


class Tinygrad(Adapter):
    name, version = "tinygrad", version("tinygrad")
    devices = [Device.canonicalize(f"CPU:{i}") for i in range(4)]
    dialects = {"replica_0": "alias", "mixed_ranks": "accept", "sums": "free"}

    def put(self, array: Any, device: int) -> Any:
        return Tensor(array, device=self.devices[device]).realize()

    def broadcast(self, tensors: list[Any], ids: list[int]) -> list[list[Any]]:
        sources = [self.put(x, ids[0]) if isinstance(x, np.ndarray) else x for x in tensors]
        return [[x.to(self.devices[i]).realize() for x in sources] for i in ids]

    def reduce(self, lists: list[list[Any]], device: int) -> list[Any]:
        devices = tuple(own[0].device for own in lists)
        rows = [np.stack([tensor.numpy() for tensor in own]) for own in zip(*lists)]
        sums = [Tensor(own).shard(devices, 0).sum(0) for own in rows]  # over an axis that is cut: an all-reduce
        return [own.to(self.devices[device]).realize() for own in sums]


serve(Tinygrad())
