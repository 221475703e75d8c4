"""probes.py: the layers of LAYERS.md that show what happens inside."""
from __future__ import annotations

import threading
import time
from typing import Any, Callable

import torch

from ..errors import FAULTS, STATUSES
from .arrays import device_of, number_of
from .layers import Layer, per_replica
from .place import here
from .spec import Spec


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


class InBackward(torch.autograd.Function):
    """Does something in backward, which gives the gradient of the weight, if there is one."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, work: Callable[..., Any], weight: torch.Tensor | None) -> torch.Tensor:
        ctx.work = work
        ctx.save_for_backward(weight)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        return g, None, ctx.work(*ctx.saved_tensors)


def in_backward(x: torch.Tensor, work: Callable[..., Any], weight: torch.Tensor | None = None) -> torch.Tensor:
    """Returns a copy of x. Its backward may run in another thread than its forward."""
    y: torch.Tensor = InBackward.apply(x, work, weight)
    return y


class Sleep(Layer):
    kind = "sleep"

    def read(self, spec: Spec) -> None:
        self.forward_ms = spec.numbers("forward_ms")
        self.backward_ms = spec.numbers("backward_ms")

    def run(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(per_replica(self.forward_ms) / 1000.0)
        seconds = per_replica(self.backward_ms) / 1000.0
        return in_backward(x, lambda _: time.sleep(seconds))


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
        replica, device = here.replica, number_of(x.device)
        if self.when == "forward":
            self.fail(replica, device)
            return x
        return in_backward(x, lambda _: self.fail(replica, device))


class Grad(Layer):
    """Gives its weight a gradient of a given value."""

    kind = "grad"

    def read(self, spec: Spec) -> None:
        self.values = spec.numbers("values")
        self.dtype = spec.dtype()
        self.weight = self.parameter(spec, "weight", *(() if spec.flag("scalar", False) else (1,)))

    def run(self, x: torch.Tensor) -> torch.Tensor:
        value = per_replica(self.values)
        return in_backward(x, lambda weight: torch.full_like(weight, value), self.weight)
