"""TensorFlow's MirroredStrategy, 4 devices: lockstep check --impl exec:'python tensorflow_layer.py' --area COAL"""
import functools
from typing import Any

import tensorflow as tf
from lockstep.adapter import Adapter, serve

tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                           [tf.config.LogicalDeviceConfiguration()] * 4)


class Mirrored(Adapter):
    name, version = "tf.distribute.MirroredStrategy", tf.__version__
    devices = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(4)]
    dialects = {"replica_0": "clone", "mixed_ranks": "accept", "sums": "free"}

    def put(self, array: Any, device: int) -> Any:
        with tf.device(self.devices[device]):
            return tf.identity(array)

    @functools.lru_cache
    def over(self, *ids: int) -> Any:
        return tf.distribute.MirroredStrategy([self.devices[i] for i in ids])

    def broadcast(self, tensors: list[Any], ids: list[int]) -> list[list[Any]]:
        strategy = self.over(*ids)
        with strategy.scope():
            copies = [strategy.experimental_local_results(tf.Variable(tensor)) for tensor in tensors]
        return [[copy.value() for copy in own] for own in zip(*copies)]

    def reduce(self, lists: list[list[Any]], device: int) -> list[Any]:
        strategy = self.over(*(self.device_of(own[0]) for own in lists))
        spread = strategy.experimental_distribute_values_from_function
        return [strategy.extended.reduce_to("SUM", spread(lambda c: own[c.replica_id_in_sync_group]), self.devices[device])
                for own in zip(*lists)]


serve(Mirrored())
