"""layers.py: float64 twins of the modules that workloads are made of, without torch or autograd.

forward(x) gives a layer's output, backward(g) the gradient of its input (None where nobody wants it),
and adds to its sums those of its parameters, which are flat. Numbers have bounds, or are exact all
along (near.py). What a product of matrices takes is an operand first: a math may keep fewer bits of it (maths.py).
"""
from __future__ import annotations

from functools import partial
from typing import Callable, Iterator

import numpy as np

from . import transformer
from .near import (FUNCTION, Near, Sums, U, as_it_is, carried, each, exactly, flat, function, gamma, minus, of_values,
                   one_minus, plus, sigmoid, sum_of, tanh, times)
from .workloads import Workload, build

TAPS = [(kh, kw) for kh in range(3) for kw in range(3)]


class Parameters:
    """Takes a layer's own from those of the model, in order, with a sum for the gradient of each."""

    def __init__(self, values: list[np.ndarray], operand: Callable[[np.ndarray], np.ndarray], kind: str):
        self.left: Iterator[np.ndarray] = iter(values)
        self.operand, self.kind = operand, kind
        self.sums: list[Sums] = []

    def take(self) -> tuple[np.ndarray, Sums]:
        value = next(self.left).astype(np.float64)
        self.sums.append(Sums(value.size))
        return value, self.sums[-1]


def ones(rows: int, like: Near) -> Near:
    one = np.ones((rows, 1))
    return Near(one, None) if like.e is None else exactly(one)


class View:
    def __init__(self, own: Parameters, *shape: int):
        self.shape = shape or (-1,)

    def forward(self, x: Near) -> Near:
        self.before = x.v.shape
        return each(lambda v: v.reshape(len(v), *self.shape), x)

    def backward(self, g: Near) -> Near:
        return each(lambda v: v.reshape(self.before), g)


class Relu:
    def __init__(self, own: Parameters):
        pass

    def forward(self, x: Near) -> Near:
        self.x = x
        return Near(np.maximum(x.v, 0), x.e)

    def backward(self, g: Near) -> Near:
        """Where it is not known on which side of 0 a number is, the gradient may pass or not."""
        passes = self.x.v > 0
        if g.e is None:
            return Near(g.v * passes, None)
        unknown = (self.x.e > 0) & (np.abs(self.x.v) <= self.x.e)
        return Near(g.v * passes, np.where(unknown, np.abs(g.v) + g.e, g.e * passes))


class Linear:
    wanted = True  # the gradient of its input

    def __init__(self, own: Parameters, into: int, out: int):
        (weight, self.of_weight), (self.bias, self.of_bias) = own.take(), own.take()
        self.operand, self.weight = own.operand, own.operand(weight.reshape(out, into))

    def forward(self, x: Near) -> Near:
        self.x = of_values(self.operand, flat(x))
        y = sum_of([(self.x, self.weight.T)], self.bias)
        return each(lambda v: v.reshape(*x.v.shape[:-1], -1), y)

    def backward(self, g: Near) -> Near:
        places = flat(g)
        self.of_bias.add(places, ones(len(places.v), g))
        places = of_values(self.operand, places)
        self.of_weight.add(places, self.x)
        if not self.wanted:
            return None
        return each(lambda v: v.reshape(*g.v.shape[:-1], -1), sum_of([(places, self.weight)]))


class Conv:
    """Windows of 3 x 3, each a row of what it sees."""

    wanted = True

    def __init__(self, own: Parameters, into: int, out: int, stride: int, padding: int, bias: int):
        weight, self.of_weight = own.take()
        self.bias, self.of_bias = own.take() if bias else (None, None)
        self.operand, self.weight = own.operand, own.operand(weight.reshape(out, into * 9))
        self.stride, self.padding = stride, padding

    def columns(self, x: np.ndarray) -> np.ndarray:
        """[N, C, H, W] to [N places, C 9]."""
        p, s = self.padding, self.stride
        padded = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
        seen = np.stack([padded[:, :, kh:kh + s * (self.side - 1) + 1:s, kw:kw + s * (self.side - 1) + 1:s]
                         for kh, kw in TAPS], axis=2)
        return seen.transpose(0, 3, 4, 1, 2).reshape(len(x) * self.side**2, -1)

    def images(self, columned: np.ndarray) -> np.ndarray:
        """The sums that columns() would take apart."""
        rows, channels, high, wide = self.shape
        p, s = self.padding, self.stride
        parts = columned.reshape(rows, self.side, self.side, channels, 9).transpose(0, 3, 4, 1, 2)
        padded = np.zeros((rows, channels, high + 2 * p, wide + 2 * p))
        for tap, (kh, kw) in enumerate(TAPS):
            padded[:, :, kh:kh + s * (self.side - 1) + 1:s,
                   kw:kw + s * (self.side - 1) + 1:s] += parts[:, :, tap]
        return padded[:, :, p:p + high, p:p + wide]

    def forward(self, x: Near) -> Near:
        self.shape = x.v.shape
        self.side = (x.v.shape[2] + 2 * self.padding - 3) // self.stride + 1
        self.x = of_values(self.operand, each(self.columns, x))
        y = sum_of([(self.x, self.weight.T)], *([] if self.bias is None else [self.bias]))
        return each(lambda v: v.reshape(len(x.v), self.side, self.side, -1).transpose(0, 3, 1, 2), y)

    def backward(self, g: Near) -> Near:
        g = each(lambda v: v.transpose(0, 2, 3, 1).reshape(-1, v.shape[1]), g)
        if self.of_bias:
            self.of_bias.add(g, ones(len(g.v), g))
        g = of_values(self.operand, g)
        self.of_weight.add(g, self.x)
        if not self.wanted:
            return None
        if g.e is None:
            return Near(self.images(g.v @ self.weight), None)
        # The bound of one sum of all that meets in a place, not of sums of sums.
        size, moved = (self.images(part @ np.abs(self.weight)) for part in (np.abs(g.v), g.e))
        terms = (self.weight != 0).reshape(len(self.weight), -1, 9).sum(axis=(0, 2))
        rounding = gamma(terms + 1).reshape(-1, 1, 1)
        return Near(self.images(g.v @ self.weight), moved + rounding * (size + moved))


class Norm:
    """Batch norm of [N, C, H, W]. PyTorch adds a channel up in double (acc_type of its CPU kernels), so
    means of rows move by the mean of what the rows move; all else is a few roundings to float."""

    wanted = True
    EPS = 1e-5

    def __init__(self, own: Parameters, channels: int):
        (weight, self.of_weight), (bias, self.of_bias) = own.take(), own.take()
        self.weight, self.bias = (exactly(value.reshape(1, -1, 1, 1)) for value in (weight, bias))

    def mean(self, x: Near) -> Near:
        """Over a channel, as a float."""
        v, e = (part.mean(axis=(0, 2, 3), keepdims=True) for part in x)
        slack = 2.0**-52 * x.v[:, 0].size * (np.abs(x.v) + x.e).mean(axis=(0, 2, 3), keepdims=True)
        return Near(v, e + slack + U * (np.abs(v) + e))

    def forward(self, x: Near) -> Near:
        self.average = self.mean(x)
        self.apart = minus(x, self.average)
        square = self.mean(Near(self.apart.v**2, (2 * np.abs(self.apart.v) + self.apart.e) * self.apart.e))
        least = square.v + self.EPS - square.e
        if not (least > 0).all():
            raise ValueError("a channel whose deviation may be 0 has no bound")
        v = 1 / np.sqrt(square.v + self.EPS)
        self.invstd = function(v, 0.5 / least**1.5, 0.0, square.e)
        self.factor = times(self.invstd, self.weight)
        y = self.apart.v * self.factor.v + self.bias.v
        moved = carried(Near(self.apart.v, x.e + self.average.e), self.factor)
        size = (np.abs(x.v) + np.abs(self.average.v)) * np.abs(self.factor.v) + np.abs(self.bias.v)
        return Near(y, moved + gamma(6) * (size + moved))  # x factor + (bias - mean factor)

    def backward(self, g: Near) -> Near:
        hat = times(self.apart, self.invstd)
        product = Near(g.v * hat.v, carried(g, hat))
        n = g.v[:, 0].size
        shift, slope = self.mean(g), self.mean(product)
        for sums, mean in ((self.of_weight, slope), (self.of_bias, shift)):
            sums.total(n * mean.v.ravel(), n * mean.e.ravel())
        share = times(hat, slope)
        share = Near(share.v, share.e + FUNCTION * (np.abs(share.v) + share.e))
        return times(self.factor, minus(minus(g, shift), share))


class Residual:
    """The input of some layers is added to their output."""

    wanted = True

    def __init__(self, layers: list):
        self.layers = layers

    def forward(self, x: Near) -> Near:
        y = x
        for layer in self.layers:
            y = layer.forward(y)
        return plus(x, y)

    def backward(self, g: Near) -> Near:
        below = g
        for layer in reversed(self.layers):
            below = layer.backward(below)
        return plus(g, below) if self.wanted else None


class Pool:
    """The largest of 2 x 2, the first of equals."""

    def __init__(self, own: Parameters):
        pass

    def forward(self, x: Near) -> Near:
        if x.e is not None:
            raise ValueError("the largest of numbers that round has no bound here")
        rows, channels, high, wide = self.shape = x.v.shape
        windows = x.v.reshape(rows, channels, high // 2, 2, wide // 2, 2).transpose(0, 1, 2, 4, 3, 5)
        self.windows = windows.reshape(rows, channels, high // 2, wide // 2, 4)
        self.best = self.windows.argmax(axis=-1)[..., None]
        return Near(np.take_along_axis(self.windows, self.best, axis=-1)[..., 0], None)

    def backward(self, g: Near) -> Near:
        rows, channels, high, wide = self.shape
        back = np.zeros_like(self.windows)
        np.put_along_axis(back, self.best, g.v[..., None], axis=-1)
        back = back.reshape(rows, channels, high // 2, wide // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5)
        return Near(back.reshape(self.shape), None)


class Lstm:
    """The last step's states."""

    wanted = True

    def __init__(self, own: Parameters, features: int, hidden: int):
        (first, self.of_input), (again, self.of_state) = own.take(), own.take()
        self.biases = [own.take(), own.take()]
        self.input, self.state = first.reshape(-1, features), again.reshape(-1, hidden)
        self.hidden = hidden

    def step(self, x: Near, before: tuple[list[Near], Near, Near] | None) -> tuple[list[Near], Near, Near]:
        products = [(x, self.input.T)] + ([(before[2], self.state.T)] if before else [])
        sums, hidden = sum_of(products, *(bias for bias, _ in self.biases)), self.hidden
        parts = [Near(*(array[:, k:k + hidden] for array in sums)) for k in range(0, 4 * hidden, hidden)]
        i, f, g, o = (tanh(part) if k == 2 else sigmoid(part) for k, part in enumerate(parts))
        c = times(i, g)
        if before:
            c = plus(times(f, before[1]), c)
        return [i, f, g, o], c, times(o, tanh(c))

    def forward(self, x: Near) -> Near:
        self.x = [each(lambda v, t=t: v[:, t], x) for t in range(x.v.shape[1])]
        self.states: list[tuple[list[Near], Near, Near]] = []
        for one in self.x:
            self.states.append(self.step(one, self.states[-1] if self.states else None))
        return self.states[-1][2]

    def backward(self, g: Near) -> None:
        if self.wanted:
            raise ValueError("an lstm must come first: the gradient of its input is not made")
        dh, dc = g, exactly(np.zeros_like(g.v))
        for t in reversed(range(len(self.x))):
            before = self.states[t - 1] if t > 0 else None
            da, dc = self.back(self.states[t], before, dh, dc)
            self.of_input.add(da, self.x[t])
            if before:
                self.of_state.add(da, before[2])
            for _, sums in self.biases:
                sums.add(da, ones(len(da.v), da))
            dh = sum_of([(da, self.state)])

    @staticmethod
    def back(now, before, dh: Near, dc: Near) -> tuple[Near, Near]:
        """Gradients of the gates' sums, and of the c before."""
        i, f, g, o = now[0]
        t = tanh(now[1])
        dc = plus(dc, times(dh, o, one_minus(times(t, t))))
        c = before[1] if before else exactly(np.zeros_like(now[1].v))
        sums = [times(dc, g, i, one_minus(i)), times(dc, c, f, one_minus(f)),
                times(dc, i, one_minus(times(g, g))), times(dh, t, o, one_minus(o))]
        return Near(*(np.concatenate(parts, axis=1) for parts in zip(*sums))), times(dc, f)


KINDS = {"view": View, "relu": Relu, "linear": Linear, "conv": Conv, "pool": Pool, "lstm": Lstm,
         "norm": Norm, **transformer.KINDS}


class Model:
    """A sequence. Nobody wants the gradient of its input. `kind`: of the devices whose steps it bounds."""

    def __init__(self, workload: Workload, values: list[np.ndarray],
                 operand: Callable[[np.ndarray], np.ndarray] = as_it_is, kind: str = "cpu"):
        own = Parameters(values, operand, kind)
        self.layers = build(workload, {kind: partial(of, own) for kind, of in KINDS.items()}, Residual)
        self.sums = own.sums
        self.first = next(i for i, layer in enumerate(self.layers) if hasattr(layer, "wanted"))
        self.layers[self.first].wanted = False

    def forward(self, x: Near) -> Near:
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, g: Near) -> None:
        for layer in reversed(self.layers[self.first:]):
            g = layer.backward(g)
