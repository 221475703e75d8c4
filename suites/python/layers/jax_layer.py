"""JAX on four devices of the CPU: lockstep check --impl exec:'python jax_layer.py' --area COAL"""
from typing import Any

import jax
import numpy as np
from lockstep.adapter import Adapter, serve

jax.config.update("jax_num_cpu_devices", 4)
jax.config.update("jax_enable_x64", True)


class Jax(Adapter):
    name, version, devices = "JAX", jax.__version__, jax.devices()
    dialects = {"replica_0": "clone", "mixed_ranks": "accept", "sums": "free"}

    def put(self, array: Any, device: int) -> Any:
        return jax.device_put(array, self.devices[device])

    def spread(self, tensor: Any, ids: list[int], *axes: str) -> Any:
        mesh = jax.sharding.Mesh([self.devices[i] for i in ids], "d")
        return jax.device_put(tensor, jax.NamedSharding(mesh, jax.P(*axes)))

    def broadcast(self, tensors: list[Any], ids: list[int]) -> list[list[Any]]:
        copies = [self.spread(tensor, ids).addressable_shards for tensor in tensors]
        return [[shard.data for shard in own] for own in zip(*copies)]

    def reduce(self, lists: list[list[Any]], device: int) -> list[Any]:  # a sum over an axis that is cut is a psum
        cut = [self.spread(np.stack(own), [x.device.id for x in own], "d") for own in zip(*lists)]
        return [self.put(x.sum(0, dtype=x.dtype), device) for x in cut]


serve(Jax())
