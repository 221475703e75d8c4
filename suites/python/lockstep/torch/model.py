"""model.py: one model in one process: its parameters, forward, backward and step.

A rank of DistributedDataParallel is such a model too, with another `runner` (rank.py).
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

import torch

from ..arrays import Array
from ..errors import Refusal
from .arrays import array_of, cut_as, device_of, number_of, tensor_of, word_of
from .description import read_model, values_of
from .place import Log, Visit


@dataclass
class Slot:
    """A parameter or buffer and its name."""

    name: str
    owner: torch.nn.Module
    key: str
    buffer: bool
    dims: list[int]
    dtype: torch.dtype  # as it was read

    @property
    def tensor(self) -> torch.Tensor:
        """The present tensor, which `to` may replace."""
        tensor: torch.Tensor = getattr(self.owner, self.key)
        return tensor

    def widened(self, values: torch.Tensor) -> torch.Tensor:
        """Returns a value or gradient as the suite gets it: a float16 in float32, which holds each of its numbers."""
        return values.float() if values.dtype == self.dtype == torch.half else values

    def array(self, values: torch.Tensor | None) -> Array | None:
        return None if values is None else array_of(self.widened(values))


@dataclass
class Step:
    """struct impl_step: the optimizer of PyTorch, and its options."""

    kind: type[torch.optim.Optimizer]
    options: dict[str, Any]
    max_norm: float


@dataclass
class Forward:
    """The part of struct impl_forward that one rank needs."""

    inputs: list[Array | None]
    arguments: list[Array]
    grad: bool
    train: bool
    active: bool | None = None
    any_active: bool = True
    no_sync: bool = False


@dataclass
class Result:
    """The result of a forward or backward: outputs, or gradients of the inputs."""

    arrays: list[Array | None] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    buckets: list[dict[str, int]] = field(default_factory=list)  # struct impl_bucket


def slots_of(module: torch.nn.Module) -> list[Slot]:
    """Lists parameters and buffers in pre-order of the tree, parameters before buffers, each
    once."""
    slots, seen = [], set()
    for prefix, part in module.named_modules():
        for table, buffer in ((part._parameters, False), (part._buffers, True)):
            for key, tensor in table.items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    slots.append(Slot(f"{prefix}.{key}".lstrip("."), part, key, buffer, list(tensor.shape), tensor.dtype))
    return slots


class Model:
    """impl_model of one process."""

    def __init__(self, description: str, devices: int, device: int | None = None):
        self.log = Log()
        self.block = read_model(description, devices, self.log, device)
        self.runner: Callable[..., tuple[torch.Tensor, ...]] = self.block
        self.slots = slots_of(self.block)
        self.pending: list[tuple[list[torch.Tensor], tuple[torch.Tensor, ...]]] = []
        self.optimizer: torch.optim.Optimizer | None = None

    def params(self) -> int:
        """Returns the number of parameters and buffers."""
        return len(self.slots)

    def slot(self, i: int) -> Slot:
        """Returns parameter or buffer i."""
        if not 0 <= i < len(self.slots):
            raise Refusal("inval", f"no parameter {i}, there are {len(self.slots)}")
        return self.slots[i]

    def param(self, i: int) -> dict[str, Any]:
        """Describes parameter or buffer i: struct impl_param."""
        slot = self.slot(i)
        tensor = slot.tensor
        return {"name": slot.name, "dtype": word_of(slot.widened(tensor)), "dims": slot.dims,
                "device": number_of(tensor.device),
                "buffer": slot.buffer, "frozen": not slot.buffer and not tensor.requires_grad}

    def set(self, what: str, i: int, array: Array | None) -> None:
        """Sets a value or a gradient."""
        slot = self.slot(i)
        tensor = slot.tensor
        if array is None:
            if what != "grad":
                raise Refusal("inval", "only a gradient can be none")
            tensor.grad = None
            return
        values = tensor_of(array).to(tensor.device)
        if slot.dtype == torch.half and values.dtype == torch.float:
            values = values.half()
        if list(values.shape) != slot.dims or values.dtype != tensor.dtype:
            raise Refusal("shape", f"{slot.name} is {slot.dims}, the array {list(values.shape)}")
        if what == "grad":
            tensor.grad = cut_as(tensor, values)
        else:
            self.set_value(slot, values)

    def set_value(self, slot: Slot, values: torch.Tensor) -> None:
        """Writes into a parameter or buffer."""
        with torch.no_grad():
            slot.tensor.copy_(cut_as(slot.tensor, values))

    def get(self, what: str, i: int) -> Array | None:
        """Returns a value or a gradient."""
        slot = self.slot(i)
        tensor = slot.tensor
        return slot.array(tensor.grad if what == "grad" else tensor.detach())

    def to(self, device: int) -> None:
        """Moves all parameters and buffers."""
        self.block.to(device_of(device))

    def zero_grad(self) -> None:
        """Sets all gradients to none."""
        self.module().zero_grad(set_to_none=True)

    def step(self, step: Step) -> None:
        """Clips, then steps the optimizer, which the first step made: its state lasts as long as
        the model."""
        tensors = [*self.module().parameters()]
        if not tensors:
            return
        if step.max_norm > 0:
            torch.nn.utils.clip_grad_norm_(tensors, step.max_norm)
        if self.optimizer is None:
            self.optimizer = step.kind(tensors, **step.options)
        if not isinstance(self.optimizer, step.kind):
            raise Refusal("notsup", "another optimizer than that of the first step")
        self.optimizer.param_groups[0].update(step.options)
        self.optimizer.step()

    def run(self, inputs: list[torch.Tensor], op: Forward) -> tuple[torch.Tensor, ...]:
        """Calls the module."""
        arguments = [tensor_of(array).tolist() for array in op.arguments]
        self.module().train(op.train)
        with torch.set_grad_enabled(op.grad):
            return self.block.called(self.runner, values_of(tuple(inputs), arguments))

    def module(self) -> torch.nn.Module:
        """Returns the module that a user has, whose train(), zero_grad() and parameters() are called."""
        return self.block

    def forward(self, op: Forward) -> Result:
        """Makes one forward; in grad mode it waits for its backward."""
        inputs = []
        for array in op.inputs:
            if array is None:
                raise Refusal("inval", "an input is none")
            inputs.append(tensor_of(array).requires_grad_(array.needs_grad))
        self.log.clear()
        outputs = self.run(inputs, op)
        if op.grad:
            self.pending.append((inputs, outputs))
        return Result([array_of(tensor) for tensor in outputs], self.log.in_order())

    def backward(self, gradients: list[Array | None]) -> Result:
        """Makes the backward of the last forward in grad mode that had none."""
        if not self.pending:
            raise Refusal("inval", "no forward in grad mode waits for a backward")
        inputs, outputs = self.pending.pop()
        if not gradients:
            if len(outputs) != 1:
                raise Refusal("inval", f"no gradient given for {len(outputs)} outputs")
            given: list[torch.Tensor | None] = [torch.ones_like(outputs[0])]
        elif len(gradients) != len(outputs):
            raise Refusal("shape", f"{len(gradients)} gradients for {len(outputs)} outputs")
        else:
            given = [None if array is None else tensor_of(array) for array in gradients]
        pairs = [(output, gradient.to(output.device)) for output, gradient in zip(outputs, given)
                 if gradient is not None and output.requires_grad]
        for output, gradient in pairs:
            if output.shape != gradient.shape:
                raise Refusal("shape", f"the gradient is {list(gradient.shape)}, the output {list(output.shape)}")
        if pairs:
            self.differentiate([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        return Result([array_of(tensor.grad) for tensor in inputs])

    def differentiate(self, outputs: list[torch.Tensor], gradients: list[torch.Tensor]) -> None:
        """Adds to the gradients of all parameters and inputs."""
        torch.autograd.backward(outputs, gradients)
