"""tinygrad on four devices of the CPU: lockstep check --impl exec:'python tinygrad_layer.py'"""
from importlib.metadata import version

import numpy as np
from lockstep.adapter import Adapter, serve
from tinygrad import Device, Tensor


class Tinygrad(Adapter):
    name, version = "tinygrad", version("tinygrad")
    devices = [Device.canonicalize(f"CPU:{i}") for i in range(4)]
    dialects = {"replica_0": "alias", "mixed_ranks": "accept", "sums": "free"}

    def put(self, array, device):
        return Tensor(array, device=self.devices[device]).realize()

    def broadcast(self, tensors, ids):
        sources = [self.put(x, ids[0]) if isinstance(x, np.ndarray) else x for x in tensors]
        return [[x.to(self.devices[i]).realize() for x in sources] for i in ids]

    def reduce(self, lists, device):  # a sum over an axis that is cut is an all-reduce
        devices = tuple(own[0].device for own in lists)
        rows = [np.stack([tensor.numpy() for tensor in own]) for own in zip(*lists)]
        sums = [Tensor(own).shard(devices, 0).sum(0) for own in rows]
        return [own.to(self.devices[device]).realize() for own in sums]


serve(Tinygrad())
