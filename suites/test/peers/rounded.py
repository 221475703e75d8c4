"""rounded.py: on the host, PyTorch's modules with products as a GPU makes them in TF32: every operand,
forward and backward, keeps 11 bits; sums are in float32. For faults_test.py."""
from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional, grad

DROPPED = 13


def cut(x: torch.Tensor) -> torch.Tensor:
    return (x.contiguous().view(torch.int32) & -(1 << DROPPED)).view(torch.float32)


def to_nearest(x: torch.Tensor) -> torch.Tensor:
    """Of two as near, the even one."""
    bits = x.contiguous().view(torch.int32)
    half = (1 << DROPPED - 1) - 1 + (bits >> DROPPED & 1)
    return (bits + half & -(1 << DROPPED)).view(torch.float32)


def products(rounded):
    """Of matrices, and of a convolution's windows."""
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            a, b = rounded(a), rounded(b)
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        def backward(ctx, g):
            (a, b), g = ctx.saved_tensors, rounded(g)
            return g @ b.transpose(-1, -2), a.transpose(-1, -2) @ g

    class Windows(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, stride, padding):
            x, weight = rounded(x), rounded(weight)
            ctx.save_for_backward(x, weight)
            ctx.how = stride, padding
            return functional.conv2d(x, weight, None, stride, padding)

        @staticmethod
        def backward(ctx, g):
            (x, weight), g = ctx.saved_tensors, rounded(g)
            return (grad.conv2d_input(x.shape, weight, g, *ctx.how), grad.conv2d_weight(x, weight.shape, g, *ctx.how),
                    None, None)

    return Product.apply, Windows.apply


def install(programs, rounded, ahead: int = 0, scale=lambda size: size**-0.5) -> None:
    """In place of programs' own. ahead: so many later places are seen in attention."""
    product, windows = products(rounded)

    class Linear(nn.Linear):
        def forward(self, x):
            y = product(x.reshape(-1, x.shape[-1]), self.weight.t()).view(*x.shape[:-1], -1)
            return y if self.bias is None else y + self.bias

    class Conv(nn.Conv2d):
        def forward(self, x):
            y = windows(x, self.weight, self.stride, self.padding)
            return y if self.bias is None else y + self.bias.view(1, -1, 1, 1)

    def attend(q, k, v):
        places = q.shape[2]
        later = torch.ones(places, places, dtype=torch.bool).triu(1 + ahead)
        scores = product(q, k.transpose(2, 3)) * scale(q.shape[3])
        return product(scores.masked_fill(later, -torch.inf).softmax(dim=3), v)

    programs.nn.Linear, programs.nn.Conv2d, programs.modules.attend = Linear, Conv, attend
