"""exact.py: exact data for tests of your own. Whole numbers that are small enough make every sum of a float32
exact, in any order: so any number of devices must give the bits that one device gives, and no file has to hold them.

    model = exact.model(MyNet())                        # gives it whole-number parameters
    batch = exact.batch(model, rows=8, shape=(16,))
    want = exact.expect(model, batch, world=2)          # on the CPU, by one device
    ...                                                 # in each of two ranks:
    part = batch.part(rank, 2)
    part.loss(ddp(part.inputs)).backward()
    exact.assert_same_bits(exact.gradients(model), want.gradients)

Layers that round are refused (LayerNorm, softmax, a dropout that is on, half precision), and so is a batch for which
the sum of the magnitudes of any sum's terms passes 2^24. On GPUs turn TF32 off: it rounds what is multiplied.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Optional, Sequence, Tuple, Union

import numpy

if TYPE_CHECKING:
    import torch

Named = Mapping[str, Any]


class Inexact(ValueError):
    """This model or batch would round, or test nothing: the text says where."""


@dataclass(frozen=True)
class Batch:
    """Rows of inputs, and the weights of their outputs in the loss."""

    inputs: torch.Tensor
    weights: torch.Tensor

    def __len__(self) -> int:
        return len(self.inputs)

    def part(self, rank: int, world: int) -> Batch:
        """The rows of a rank. Some have one more than others where `world` does not divide the rows."""
        if not 0 <= rank < world <= len(self):
            raise ValueError(f"rank {rank} of {world}, and {len(self)} rows: each rank needs a row")
        return Batch(self.inputs.tensor_split(world)[rank], self.weights.tensor_split(world)[rank])

    def to(self, device: Union[str, torch.device]) -> Batch:
        return Batch(self.inputs.to(device), self.weights.to(device))

    def loss(self, output: torch.Tensor) -> torch.Tensor:
        """A weighted sum: a mean would round. That of all rows is the sum of those of the parts."""
        return (output * self.weights).sum()


@dataclass(frozen=True)
class Expected:
    """The bits that one device gives: its output, the loss, and a gradient for each parameter that gets one."""

    output: torch.Tensor
    loss: torch.Tensor
    gradients: Dict[str, torch.Tensor]


def model(module: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Gives a module whole-number parameters, in place, and returns it. Raises Inexact, with the layer's name."""
    from . import whole
    whole.refuse_layers(module)
    whole.fill(module, seed)
    return module


def batch(module: torch.nn.Module, rows: int, shape: Optional[Sequence[int]] = None, tokens: int = 0,
          seed: int = 0) -> Batch:
    """Returns inputs of (rows, *shape), no two numbers alike if they can be that large, and the weights of the loss.

    tokens: inputs are whole numbers from 0 to tokens - 1, for an embedding. A model that begins with a Linear or an
    Embedding needs neither. Raises Inexact if the model rounds, or if its sums pass 2^24 on the smallest numbers.
    """
    from . import whole
    return whole.batch(module, rows, shape, tokens, seed)


def expect(module: torch.nn.Module, batch: Batch, world: int = 1) -> Expected:
    """Returns the bits that one device gives, with gradients as the mean over `world` ranks has them. Each operation
    was checked, and a float64 has the same numbers. The module is not changed. Raises Inexact."""
    from . import whole
    return whole.expect(module, batch, world)


def gradients(module: torch.nn.Module) -> Dict[str, torch.Tensor]:
    """The gradients by the names of the parameters, which a wrapper may have given the prefix `module.`."""
    return {name[len("module."):] if name.startswith("module.") else name: parameter.grad
            for name, parameter in module.named_parameters() if parameter.grad is not None}


# ---- bits -----------------------------------------------------------------------------------------------------------

def parts(name: str, value: Any) -> Iterator[Tuple[str, Any]]:
    """The tensors and arrays in dictionaries, lists and tuples."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from parts(f"{name}[{key!r}]" if name else str(key), one)
    elif isinstance(value, (list, tuple)):
        for key, one in enumerate(value):
            yield from parts(f"{name}[{key}]", one)
    else:
        yield name or "the tensor", value


def bytes_of(value: Any) -> Tuple[str, Tuple[int, ...], numpy.ndarray[Any, Any]]:
    """Type, shape, and a row of bytes for each element."""
    if hasattr(value, "detach"):  # a tensor: numpy knows not all of its types
        import torch
        flat = value.detach().cpu().contiguous().reshape(-1)
        rows = flat.view(torch.uint8).numpy().reshape(flat.numel(), flat.element_size())
        return str(flat.dtype).replace("torch.", ""), tuple(value.shape), rows
    array = numpy.ascontiguousarray(value)
    return str(array.dtype), numpy.shape(value), array.reshape(-1).view(numpy.uint8).reshape(array.size, array.itemsize)


def element(value: Any, at: Tuple[int, ...], row: numpy.ndarray[Any, Any]) -> str:
    """An element and its bits."""
    one = value[at]
    return f"{one.item() if hasattr(one, 'item') else one!r} (0x{row[::-1].tobytes().hex()})"


def difference(name: str, found: Any, wanted: Any) -> str:
    """The first difference in words; "": all bits are the same."""
    if found is None or wanted is None:
        return "" if found is wanted else f"{name}: is {found if found is None else 'there'}, must " + (
            "be None" if wanted is None else "be there")
    kind, shape, have = bytes_of(found)
    kind_wanted, shape_wanted, want = bytes_of(wanted)
    if (kind, shape) != (kind_wanted, shape_wanted):
        return f"{name}: {kind} {list(shape)}, must be {kind_wanted} {list(shape_wanted)}"
    wrong = numpy.flatnonzero((have != want).any(axis=1))
    if wrong.size == 0:
        return ""
    first = int(wrong[0])
    at = tuple(int(i) for i in numpy.unravel_index(first, shape)) if shape else ()
    return (f"{name}: element {list(at)} is {element(found, at, have[first])}, must be "
            f"{element(wanted, at, want[first])}; {wrong.size} of {len(have)} differ")


def assert_same_bits(found: Any, wanted: Any) -> None:
    """Compares tensors, arrays, or dictionaries and lists of them bit by bit: NaNs of other bits differ, and so do 0.0
    and -0.0. The error names the tensor, the first element that differs, both values and their bits."""
    have, want = dict(parts("", found)), dict(parts("", wanted))
    lines = [f"{name}: is missing" for name in want if name not in have]
    lines += [f"{name}: is there, and must not be" for name in have if name not in want]
    lines += filter(None, (difference(name, have[name], want[name]) for name in want if name in have))
    if not want:
        lines = ["there is nothing to compare with"]
    if lines:
        raise AssertionError("\n".join(lines))
