"""probes.py: the layers of LAYERS.md that show what happens inside."""
from __future__ import annotations

import threading
import time

import torch

from ..errors import FAULTS, STATUSES
from .arrays import device_of, number_of
from .layers import Layer, per_replica
from .place import here
from .spec import Spec


class TagDevice(Layer):
    kind = "tag_device"

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1000.0 * (number_of(x.device) + 1)


class TagReplica(Layer):
    kind = "tag_replica"

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1000.0 * (here.replica + 1)


class TagDim(Layer):
    kind = "tag_dim"

    def read(self, spec: Spec) -> None:
        self.dim = spec.integer("dim", 0)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1000.0 * (x.dim() if self.dim == -1 else x.shape[self.dim])


class TagMode(Layer):
    kind = "tag_mode"

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1000.0 * torch.is_grad_enabled() + 2000.0 * self.training


class To(Layer):
    kind = "to"

    def read(self, spec: Spec) -> None:
        self.device = spec.device_number("device", -1)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(device_of(self.device), copy=True)


class SleepFunction(torch.autograd.Function):
    """Sleeps in backward."""

    @staticmethod
    def forward(ctx, x, milliseconds):
        ctx.milliseconds = milliseconds
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        time.sleep(ctx.milliseconds / 1000.0)
        return g, None


class Sleep(Layer):
    kind = "sleep"

    def read(self, spec: Spec) -> None:
        self.forward_ms = spec.numbers("forward_ms")
        self.backward_ms = spec.numbers("backward_ms")

    def run(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(per_replica(self.forward_ms) / 1000.0)
        return SleepFunction.apply(x, per_replica(self.backward_ms))


class FailFunction(torch.autograd.Function):
    """Fails in backward."""

    @staticmethod
    def forward(ctx, x, layer, replica, device):
        ctx.layer, ctx.replica, ctx.device = layer, replica, device
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        ctx.layer.fail(ctx.replica, ctx.device)
        return g, None, None, None


class Fail(Layer):
    """The counts are shared with the copies in the replicas, which are copies of references."""

    kind = "fail"

    def read(self, spec: Spec) -> None:
        self.replicas = spec.integers("replicas")
        self.when = spec.text("when", "forward", ("forward", "backward"))
        self.status = spec.text("status", "fault", STATUSES)
        self.text = spec.text("text", "")
        self.at = spec.integer("at", 0, 0)
        self.counts: dict[int, int] = {}
        self.lock = (threading.Lock(),)

    def fail(self, replica: int, device: int) -> None:
        """Fails, if it is this replica's turn."""
        with self.lock[0]:
            self.counts[replica] = self.counts.get(replica, 0) + 1
            count = self.counts[replica]
        if replica in self.replicas and self.at in (0, count):
            # The module of a rank does not know its rank; the process that started it adds it.
            where = "" if here.rank else f" in replica {replica} on device {device}"
            raise FAULTS[self.status](self.text + where)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        device = number_of(x.device)
        if self.when == "forward":
            self.fail(here.replica, device)
            return x
        return FailFunction.apply(x, self, here.replica, device)


class GradFunction(torch.autograd.Function):
    """Gives the weight a gradient of a given value."""

    @staticmethod
    def forward(ctx, x, weight, value):
        ctx.value = value
        ctx.save_for_backward(weight)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (weight,) = ctx.saved_tensors
        return g, torch.full_like(weight, ctx.value), None


class Grad(Layer):
    kind = "grad"

    def read(self, spec: Spec) -> None:
        self.values = spec.numbers("values")
        self.parameter(spec, "weight", 1)

    def run(self, x: torch.Tensor) -> torch.Tensor:
        return GradFunction.apply(x, self.weight, per_replica(self.values))


PROBES: tuple[type[Layer], ...] = (
    TagDevice, TagReplica, TagDim, TagMode, To, Sleep, Fail, Grad,
)
