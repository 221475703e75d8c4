"""description.py: a model's JSON text to a tree of modules.

`parallel` is torch.nn.DataParallel (or torch.nn.parallel.data_parallel) around a Block. Without a
GPU DataParallel is transparent; that is PyTorch's doing, not this file's.
"""
from __future__ import annotations

import json
from typing import Any, Iterable

import torch

from ..errors import HOST, Refusal
from . import layers, probes, transformer
from .arrays import number_of
from .layers import PLAIN, Affine, Borrow, Layer, Plain, Tensors
from .place import Log, here
from .spec import Spec
from .transformer import Output

KINDS: dict[str, type[Layer]] = {
    **{layer.kind: layer for module in (layers, probes, transformer) for layer in vars(module).values()
       if isinstance(layer, type) and issubclass(layer, Layer) and layer.kind}, **dict.fromkeys(PLAIN, Plain)}
MAX_LAYERS = 256
MAX_DEPTH = 16


class Sequence(torch.nn.Module):
    """Runs its layers in order; in the replicas `turned` in reverse order."""

    def __init__(self, layers: list[torch.nn.Module], turned: list[int] | None = None):
        super().__init__()
        for i, layer in enumerate(layers):
            self.add_module(str(i), layer)
        self.length = len(layers)
        self.turned = turned or []

    def forward(self, tensors: Tensors, arguments: list[list[float]]) -> Tensors:
        """Passes the outputs of each layer to the next one."""
        order = range(self.length)
        for i in reversed(order) if here.replica in self.turned else order:
            tensors = getattr(self, str(i))(tensors, arguments)
        return tensors


class First(Sequence):
    """Runs its layers on the first tensor; the others pass by them."""

    def forward(self, tensors: Tensors, arguments: list[list[float]]) -> Tensors:
        return (*super().forward(tensors[:1], arguments), *tensors[1:])


class Block(Sequence):
    """The module that PyTorch wraps. It is called like any module, with tensors and, if there are
    arguments, a list after them."""

    number: int | None = None
    ids: tuple[int, ...] = ()
    dim = 0
    recorded = True
    find_unused = inner_no_sync = no_sync_backward = False
    keywords = 0
    returns = ""  # a tuple, and the layer may return any sequence, or the only tensor

    def __init__(self, layers: list[torch.nn.Module], log: Log):
        super().__init__(layers)
        self.log = log

    def replica(self) -> int:
        """The number that Wrapper gave, or the current device's place in the list."""
        if self.number is not None:
            return self.number
        if len(self.ids) > 1:
            return self.ids.index(torch.cuda.current_device())
        return here.replica

    def forward(self, *values: Any, nothing: Any = 0, **named: Any) -> Any:
        if named and nothing is not None:
            raise Refusal("inval", "the layer was called with nothing=None, and the module was not")
        values = (*values, *(named[name] for name in sorted(named)))
        arguments = values[-1] if values and isinstance(values[-1], list) else []
        tensors = values[:-1] if arguments else values
        outer, here.replica = here.replica, self.replica()
        try:
            if self.recorded:
                self.log.add(self.device(tensors), self.rows(tensors), self.training)
            outputs = super().forward(tensors, arguments)
        finally:
            here.replica = outer
        if self.returns == "tensor" and len(outputs) == 1:
            return outputs[0]
        return names_of(outputs) if self.returns == "dict" else outputs

    def called(self, layer: Any, values: tuple[Any, ...]) -> Tensors:
        """Calls the layer around this block with these values, the last ones by name, in reverse order. Returns its
        outputs, which must come in what the block returned them in."""
        at = len(values) - self.keywords
        named = [*names_of(values).items()][at:]
        outputs = layer(*values[:at], **dict(reversed(named)), **({"nothing": None} if named else {}))
        if self.returns == "dict":
            if not isinstance(outputs, dict) or [*outputs] != [*names_of(outputs)]:
                raise Refusal("shape", f"the module returned a dict with the keys x0, x1, ..; the layer {kind_of(outputs)}")
            return tuple(outputs.values())
        if self.returns == "tensor" and not isinstance(outputs, torch.Tensor):
            raise Refusal("shape", f"the module returned a tensor; the layer {kind_of(outputs)}")
        if self.returns == "tuple" and not isinstance(outputs, tuple):
            raise Refusal("shape", f"the module returned a tuple; the layer {kind_of(outputs)}")
        return (outputs,) if isinstance(outputs, torch.Tensor) else tuple(outputs)

    def device(self, tensors: Tensors) -> int:
        """Where it runs: with its first input, or with the current device."""
        if tensors:
            return number_of(tensors[0].device)
        return torch.cuda.current_device() if torch.cuda.is_available() else HOST

    def rows(self, tensors: Tensors) -> int:
        """Of the first input."""
        first = tensors[0] if tensors else None
        if first is None or not -first.dim() <= self.dim < first.dim():
            return 0
        return first.shape[self.dim]


def names_of(values: Iterable[Any]) -> dict[str, Any]:
    """Gives each value the name by which a Block takes or returns it."""
    return {f"x{i}": value for i, value in enumerate(values)}


def kind_of(outputs: Any) -> str:
    """Says what a layer returned."""
    keys = f" with the keys {', '.join(map(str, outputs))}" if isinstance(outputs, dict) else ""
    return f"a {type(outputs).__name__}{keys}"[:200]


def values_of(tensors: Tensors, arguments: list[list[float]]) -> tuple[Any, ...]:
    """Returns the tensors and arguments with which a Block is called."""
    return (*tensors, arguments) if arguments else tuple(tensors)


class Parallel(torch.nn.DataParallel):  # type: ignore[type-arg]  # it takes none before PyTorch 2
    """DataParallel itself, called as a layer. It only adds that each replica knows its number."""

    def forward(self, tensors: Tensors, arguments: list[list[float]]) -> Any:
        return super().forward(*values_of(tensors, arguments))

    def replicate(self, module: Any, device_ids: Any) -> list[Any]:
        replicas = super().replicate(module, device_ids)
        for i, replica in enumerate(replicas):
            replica.number = i
        return replicas


class Functional(torch.nn.Module):
    """`parallel` with "functional": the function, which wraps no module."""

    def __init__(self, block: Block, ids: list[int] | None, output: int | None, dim: int):
        super().__init__()
        self.module = block
        block.ids = tuple(ids if ids is not None else range(torch.cuda.device_count()))
        self.options = (ids, output, dim)

    def forward(self, tensors: Tensors, arguments: list[list[float]]) -> Any:
        values = values_of(tensors, arguments)
        return torch.nn.parallel.data_parallel(self.module, values, *self.options)


class Reader:
    """Reads one description."""

    def __init__(self, devices: int, log: Log):
        self.devices = devices
        self.log = log
        self.named: dict[str, torch.nn.Module] = {}
        self.borrowers: list[Borrow] = []

    def model(self, text: str, device: int) -> Block:
        """The whole."""
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise Refusal("inval", f"not JSON: {error}") from None
        if not isinstance(fields, dict):
            raise Refusal("inval", "a model must be a JSON object with 'layers'")
        spec = Spec({**fields, "kind": "model"}, device, self.devices)
        block = Block(self.layers(spec, 0), self.log)
        block.find_unused = spec.flag("find_unused", False)
        block.inner_no_sync = spec.flag("inner_no_sync", False)
        block.no_sync_backward = spec.flag("no_sync_backward", False)
        block.keywords = spec.integer("keywords", 0, 0)
        block.returns = spec.text("returns", "", ("tuple", "tensor", "dict"))
        spec.finish()
        for borrower in self.borrowers:
            lender = self.named.get(borrower.of)
            if not isinstance(lender, Affine):
                raise Refusal("inval", "'of' of a 'borrow' layer must name an affine layer")
            borrower.lender.append(lender)
        return block

    def layers(self, spec: Spec, depth: int) -> list[torch.nn.Module]:
        """The list of a container."""
        spec.used.add("layers")
        found = spec.fields.get("layers")
        if not isinstance(found, list) or len(found) > MAX_LAYERS or depth > MAX_DEPTH:
            raise Refusal("inval", f"'layers' must be a list of at most {MAX_LAYERS} layers, not deeper than {MAX_DEPTH}")
        return [self.layer(fields, spec.device, depth + 1) for fields in found]

    def layer(self, fields: Any, device: int, depth: int) -> torch.nn.Module:
        """One layer of any kind."""
        spec = Spec(fields, device, self.devices)
        if spec.name in self.named:
            raise Refusal("inval", f"two layers have the name '{spec.name}'")
        if spec.kind == "again":
            module = self.named.get(spec.text("of", ""))
            if module is None:
                raise Refusal("inval", "'of' of an 'again' layer must name a layer before it")
        elif spec.kind == "sequence":
            module = Sequence(self.layers(spec, depth), spec.integers("reversed"))
        elif spec.kind == "first":
            module = First(self.layers(spec, depth))
        elif spec.kind == "parallel":
            module = self.parallel(spec, depth)
        elif spec.kind in KINDS:
            module = self.plain(KINDS[spec.kind], spec)
        else:
            raise Refusal("notsup", f"unknown kind of layer '{spec.kind[:40]}'")
        spec.finish()
        if spec.name:
            self.named[spec.name] = module
        return module

    def plain(self, kind: type[Layer], spec: Spec) -> Layer:
        """A layer that is no container."""
        layer = kind(spec)
        if isinstance(layer, Borrow):
            self.borrowers.append(layer)
        if isinstance(layer, Output):
            layer.tie(self.named.get(layer.of))
        return layer

    def parallel(self, spec: Spec, depth: int) -> torch.nn.Module:
        """DataParallel."""
        ids = spec.integers("device_ids") if "device_ids" in spec.fields else None
        output = spec.integer("output_device", 0) if "output_device" in spec.fields else None
        if self.devices:
            for device in ids or []:
                if not HOST <= device < self.devices:
                    raise Refusal("nodev", f"field 'device_ids': no device {device}, there are {self.devices}")
            if "device" not in spec.fields:
                spec.device = ids[0] if ids else 0
        kind = Functional if spec.flag("functional", False) else Parallel
        block = Block(self.layers(spec, depth), self.log)
        block.dim = spec.integer("dim", 0)
        return kind(block, ids, output, block.dim)


def of_ranks(text: str, ranks: int) -> list[str]:
    """Returns one description for each rank: an entry of a list, or the whole text if it is
    none."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list):
        return [text] * ranks
    if len(found) != ranks:
        raise Refusal("inval", f"{len(found)} descriptions for {ranks} ranks")
    return [json.dumps(own) for own in found]


def read_model(text: str, devices: int, log: Log, device: int | None = None) -> Block:
    """Reads a model. `device`: the device of layers that name none; by default the first one."""
    if device is None:
        device = 0 if devices else HOST
    block = Reader(devices, log).model(text, device)
    block.recorded = not any(isinstance(part, (Parallel, Functional)) for part in block.modules())
    return block
