"""whole.py: a model of whole numbers, and the proof that none of its operations rounds. For exact.py; needs PyTorch.

A float32 holds every whole number up to 2^24. So a sum of products of whole numbers is exact, in any order and in any
parts, if the magnitudes of its terms add up to at most 2^24. Each operation of a forward and its backward is looked
at: by a table it moves numbers, picks some, or adds products, and of the last the magnitudes are added up in float64.
An operation that is not in the table rounds, for all we know.
"""
from __future__ import annotations

import copy
import math
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .exact import Batch, Expected, Inexact

LIMIT = float(1 << 24)
TERMS = 4  # products of each sum, if that reaches all inputs
SHRINK = 4.0

# ---- layers ---------------------------------------------------------------------------------------------------------

# Layers of torch.nn without others inside. What is not here is refused by its name, before anything runs.
EXACT_LAYERS = frozenset("""Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding
    ReLU ReLU6 Identity Flatten Unflatten MaxPool1d MaxPool2d MaxPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d
    ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d PixelShuffle PixelUnshuffle
    Sequential ModuleList ModuleDict ParameterList ParameterDict NonDynamicallyQuantizableLinear""".split())
DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")


def named(name: str, module: torch.nn.Module) -> str:
    return f"layer '{name}' ({type(module).__name__})" if name else type(module).__name__


def why_inexact(module: torch.nn.Module) -> str:
    """Why this layer rounds; "": it does not, or it is the user's, whose operations are looked at when it runs."""
    kind = type(module).__name__
    if not type(module).__module__.startswith("torch.nn.") or list(module.children()):
        return ""
    if kind in DROPOUTS:
        return "scales what it keeps: call eval()" if module.training and getattr(module, "p") > 0 else ""
    if getattr(module, "max_norm", None) is not None:
        return "scales by a norm (max_norm)"
    if getattr(module, "scale_grad_by_freq", False):
        return "divides gradients (scale_grad_by_freq)"
    return "" if kind in EXACT_LAYERS else "rounds"


def refuse_layers(module: torch.nn.Module) -> None:
    for name, one in module.named_modules():
        why = why_inexact(one)
        if why:
            raise Inexact(f"{named(name, one)} {why}")
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        if tensor.is_floating_point() and tensor.dtype != torch.float32:
            raise Inexact(f"'{name}' is {str(tensor.dtype).replace('torch.', '')}: exact data are float32")


# ---- numbers --------------------------------------------------------------------------------------------------------

def drawn(values: Sequence[int], n: int, chance: torch.Generator) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32)[torch.randint(len(values), (n,), generator=chance)]


def weight(rows: int, columns: int, chance: torch.Generator) -> torch.Tensor:
    """A few small numbers in each row, so that many layers stay below the limit, and one at least in each column, so
    that a gradient reaches all inputs."""
    terms = min(columns, max(TERMS, -(-columns // max(rows, 1))))
    place = (torch.arange(rows).reshape(-1, 1) * terms + torch.arange(terms)) % max(columns, 1)
    values = drawn((1, -1, 2, -2), rows * terms, chance).reshape(rows, terms)
    return torch.zeros(rows, columns).scatter_(1, place, values)


def fill(module: torch.nn.Module, seed: int) -> None:
    """Gives every parameter whole numbers. Biases are mostly positive: they keep ReLUs open."""
    chance = torch.Generator().manual_seed(seed)
    dense = {id(one.weight) for one in module.modules() if isinstance(one, torch.nn.Embedding)}
    with torch.no_grad():
        for parameter in module.parameters():
            shape = parameter.shape
            if parameter.dim() < 2:
                values = drawn((1, 2, 3, -1), parameter.numel(), chance)
            elif id(parameter) in dense:
                values = drawn((1, -1, 2, -2, 3, -3, 4, -4), parameter.numel(), chance)
            else:
                values = weight(shape[0], parameter[0].numel() if shape[0] else 0, chance)
            parameter.copy_(values.reshape(shape))


# ---- each operation -------------------------------------------------------------------------------------------------

# They make numbers, which are looked at where they are added up.
MAKES = frozenset("""arange empty empty_like empty_strided fill full full_like new_empty new_empty_strided new_full new_ones
    new_zeros ones ones_like zero zeros zeros_like""".split())
# They move numbers.
MOVES = frozenset("""_reshape_alias _to_copy _unsafe_view alias as_strided cat clone constant_pad_nd copy detach diagonal
    diagonal_backward embedding expand flip gather index index_select lift_fresh masked_fill narrow permute pixel_shuffle
    pixel_unshuffle repeat reshape resize roll select select_backward slice slice_backward slice_scatter split
    split_with_sizes squeeze stack t transpose tril triu unbind unfold unsqueeze view where""".split())
# They pick numbers, change a sign, or answer a question.
PICKS = frozenset("""_local_scalar_dense abs adaptive_max_pool2d amax amin argmax argmin clamp clamp_max clamp_min
    eq equal ge gt hardtanh hardtanh_backward le logical_and logical_not logical_or lt max max_pool2d_with_indices
    max_pool3d_with_indices maximum min minimum ne neg relu sgn sign threshold_backward""".split())
# They add numbers, which may themselves be sums over rows that devices divide: a parameter that is used twice.
ADDS = frozenset("add sub rsub sum cumsum index_add index_put scatter_add".split())
# They add products.
PRODUCTS = frozenset("""adaptive_max_pool2d_backward addbmm addmm addmv baddbmm bmm convolution convolution_backward dot
    embedding_dense_backward max_pool2d_with_indices_backward max_pool3d_with_indices_backward mm mul mv
    unfold_backward""".split())
WITH_NUMBER = ("add", "sub", "rsub", "mul")  # the second argument may be a number


class TooLarge(Inexact):
    """Smaller inputs may help."""


class Blind(Inexact):
    """Other inputs may help: with these no fault of a parameter's gradient would be seen."""


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from flat(one)
    else:
        yield value


def floats(value: Any) -> Iterator[torch.Tensor]:
    return (one for one in flat(value) if isinstance(one, torch.Tensor) and one.is_floating_point())


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Looks at each operation. `sums`: the magnitudes of the terms of what was added up, by the id of the tensor."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.layers: List[str] = []  # that run, the innermost last
        self.sums: Dict[int, torch.Tensor] = {}
        self.kept: List[torch.Tensor] = []  # or another tensor could get the id

    def where(self) -> str:
        return self.layers[-1] if self.layers else "the loss, or a backward pass"

    def check_whole(self, operation: str, values: Any) -> None:
        """Raises Inexact unless all are whole numbers that a float32 holds."""
        for tensor in floats(values):
            own = tensor.detach().double()
            if tensor.dtype != torch.float32 or not bool(((own == own.round()) & (own.abs() <= LIMIT)).all()):
                raise Inexact(f"{self.where()}: {operation} has {str(tensor.dtype).replace('torch.', '')} numbers that are "
                              "not whole, or are more than 2^24")
        for value in flat(values):
            if isinstance(value, float) and value != round(value):
                raise Inexact(f"{self.where()}: {operation} has the number {value}, which is not whole")

    def magnitudes(self, value: Any, of_terms: bool) -> Any:
        """Those of the numbers, or of the terms of which they are the sums."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.magnitudes(one, of_terms) for one in value)
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        known = self.sums.get(id(value)) if of_terms else None
        return value.detach().double().abs() if known is None else known.clone()

    def terms(self, func: Any, operation: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        """The magnitudes of the terms of a sum: the same operation does it, on magnitudes."""
        own = [self.magnitudes(value, operation not in PRODUCTS) for value in args]
        if operation in WITH_NUMBER:
            own = [abs(value) if isinstance(value, (int, float)) else value for value in own]
        factors = {key: abs(value) for key, value in kwargs.items() if key in ("alpha", "beta")}
        if operation == "sub":
            return own[0] + own[1] * factors.get("alpha", 1)
        if operation == "rsub":
            return own[1] + own[0] * factors.get("alpha", 1)
        return func(*own, **{**self.others(kwargs), **factors})

    def others(self, kwargs: Dict[str, Any]) -> Dict[str, Any]:
        return {key: self.magnitudes(value, True) for key, value in kwargs.items() if key != "dtype"}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.split("::")[-1]
        operation = name[:-1] if name.endswith("_") else name  # in place
        kwargs = kwargs or {}
        if not any(operation in table for table in (MAKES, MOVES, PICKS, ADDS, PRODUCTS)):
            raise Inexact(f"{self.where()}: the operation {name} rounds, or is not known to be exact")
        terms = None
        if operation in ADDS or operation in PRODUCTS:
            self.check_whole(name, [*args, *kwargs.values()])
            terms = self.terms(func, operation, args, kwargs)
        elif operation in MOVES and any(id(value) in self.sums for value in flat(args)):
            terms = self.terms(func, operation, args, kwargs)
        result = func(*args, **kwargs)
        for one, of_one in zip(floats(result), floats(terms)):
            most = float(of_one.abs().max()) if of_one.numel() else 0.0
            if not most <= LIMIT:
                raise TooLarge(f"{self.where()}: the terms of a sum of {name} add up to {most:.0f}, more than 2^24")
            self.sums[id(one)] = of_one
            self.kept.append(one)
        return result


@contextmanager
def layers_of(module: torch.nn.Module, running: List[str]) -> Iterator[None]:
    """Keeps the names of the layers that run in this list."""
    def begins(name: str) -> Callable[..., None]:
        return lambda one, *ignored: running.append(named(name, one))

    def ends(one: torch.nn.Module, *ignored: Any) -> None:
        running.pop()

    handles = []
    for name, one in module.named_modules():
        handles += [one.register_forward_pre_hook(begins(name)), one.register_forward_hook(ends)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


# ---- runs -----------------------------------------------------------------------------------------------------------

def copied(module: torch.nn.Module) -> torch.nn.Module:
    """On the CPU and without gradients."""
    own = copy.deepcopy(module).cpu()
    for parameter in own.parameters():
        parameter.grad = None
    return own


def step(module: torch.nn.Module, batch: Batch) -> Expected:
    """A forward and its backward."""
    output = module(batch.inputs)
    loss = batch.loss(output)
    loss.backward()  # type: ignore[no-untyped-call]
    return Expected(output.detach(), loss.detach(), {name: parameter.grad for name, parameter in module.named_parameters()
                                                     if parameter.grad is not None})


def all_of(expected: Expected) -> List[Tuple[str, torch.Tensor]]:
    return [("the output", expected.output), ("the loss", expected.loss), *expected.gradients.items()]


def proven(module: torch.nn.Module, batch: Batch) -> Expected:
    """A step of which no operation rounds: each was looked at, and a float64 has the same numbers."""
    refuse_layers(module)
    own, watch = copied(module), Watch()
    watch.check_whole("the model or batch", [*own.parameters(), batch.inputs, batch.weights])
    with layers_of(own, watch.layers), watch:
        found = step(own, batch)
    inputs = batch.inputs.double() if batch.inputs.is_floating_point() else batch.inputs
    again = step(copied(module).double(), Batch(inputs, batch.weights.double()))
    for (name, one), (_, other) in zip(all_of(found), all_of(again)):
        watch.check_whole(name, one)
        if not torch.equal(one.double(), other):
            raise Inexact(f"{name}: a float32 has other numbers than a float64")
    if not found.gradients:
        raise Inexact("no parameter gets a gradient")
    for name, gradient in found.gradients.items():
        if not bool(gradient.any()):
            raise Blind(f"the gradient of '{name}' is zero everywhere: no fault in it would be seen. Another seed may help")
    return found


def expect(module: torch.nn.Module, batch: Batch, world: int) -> Expected:
    if world < 1 or world & (world - 1):
        raise ValueError(f"world {world}: a mean over so many ranks rounds; allowed are 1, 2, 4, 8, ...")
    found = proven(module, Batch(batch.inputs.cpu(), batch.weights.cpu()))
    return Expected(found.output, found.loss, {name: gradient / world for name, gradient in found.gradients.items()})


def begins_with(module: torch.nn.Module) -> Tuple[Optional[Sequence[int]], int]:
    """The shape of a row, and the number of tokens, by the first layer that has weights."""
    for one in module.modules():
        if isinstance(one, torch.nn.Embedding):
            return (8,), one.num_embeddings
        if isinstance(one, torch.nn.Linear):
            return (one.in_features,), 0
        if not list(one.children()) and list(one.parameters()):
            break
    return None, 0


def batch(module: torch.nn.Module, rows: int, shape: Optional[Sequence[int]], tokens: int, seed: int) -> Batch:
    refuse_layers(module)
    usual, usual_tokens = begins_with(module)
    if shape is None and usual is None:
        raise ValueError("shape: the model does not say which inputs it takes: give the shape of a row")
    shape = tuple(usual or () if shape is None else shape)
    tokens = tokens or usual_tokens
    chance = torch.Generator().manual_seed(seed)
    n = rows * math.prod(shape)
    if rows < 1 or not 1 <= n <= LIMIT:
        raise ValueError(f"{rows} rows of shape {list(shape)}: allowed are 1 to 2^24 numbers")
    span, last = float(n), Inexact("")
    while span >= 1:
        numbers = torch.randperm(n, generator=chance)
        inputs = numbers % tokens if tokens else (numbers % max(2, int(span)) - int(span) // 2).float()
        inputs = inputs.reshape(rows, *shape)
        with torch.no_grad():
            output = copied(module)(inputs)
        if not isinstance(output, torch.Tensor) or output.shape[:1] != (rows,):
            raise Inexact(f"the output is not a tensor with {rows} rows")
        weights = drawn((1, -1, 2, -2, 3, -3), output.numel(), chance).reshape(output.shape)
        try:
            proven(module, Batch(inputs, weights))
            return Batch(inputs, weights)
        except (TooLarge, Blind) as error:
            last = error
            span /= SHRINK
    raise last
