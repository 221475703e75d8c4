"""How tinygrad 0.9 divides rows: lockstep check --impl exec:'python tinygrad_shard.py' --only SPLIT-04.scatter"""
from importlib.metadata import version
from typing import Any

from lockstep.adapter import Adapter, serve
from lockstep.errors import Refusal
from tinygrad import Device, Tensor


class Tinygrad(Adapter):
    name, version = "tinygrad", version("tinygrad")
    devices = [Device.canonicalize(f"{Device.DEFAULT}:{i}") for i in range(4)]
    dialects = {"no_rows": "empty"}

    def put(self, array: Any, device: int) -> Any:
        return Tensor(array, device=self.devices[device]).realize()

    def scatter(self, tensor: Any, ids: list[int], dim: int) -> list[Any]:
        if not -tensor.ndim <= dim < tensor.ndim:
            raise Refusal("shape", f"dim {dim} of {tensor.ndim} dimensions")
        if len({*ids}) < len(ids):
            raise Refusal("device", f"devices {ids}: one is named twice")
        whole = tensor if isinstance(tensor, Tensor) else Tensor(tensor, device=self.devices[ids[0]])
        if len(ids) == 1:
            return [whole.to(self.devices[ids[0]]).realize()]
        parts = whole.shard(tuple(self.devices[i] for i in ids), axis=dim % whole.ndim).realize().lazydata
        return [Tensor(part, device=part.device) for part in parts.lbs if 0 not in part.shape]


serve(Tinygrad())
