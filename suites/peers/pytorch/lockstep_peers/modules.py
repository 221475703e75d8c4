"""modules.py: what PyTorch's models are made of beside its own modules, by the kinds that
`lockstep workload` prints."""
from __future__ import annotations

import contextlib
import math
from typing import Any

import torch
import torch.nn.functional as functional
from torch import nn


class Lstm(nn.Module):
    """The last step's states."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lstm(x)[0][:, -1]


class Residual(nn.Module):
    """The input of some modules is added to their output."""

    def __init__(self, modules: list[nn.Module]) -> None:
        super().__init__()
        self.body = nn.Sequential(*modules)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class Positions(nn.Module):
    def __init__(self, context: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(context, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight[:x.shape[1]]


class Attention(nn.Module):
    """Causal, of several heads; the input is q, k and v beside each other."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, places, width = x.shape
        shape = rows, places, self.heads, width // 3 // self.heads
        q, k, v = (part.view(shape).transpose(1, 2) for part in x.split(width // 3, dim=2))
        return attend(q, k, v).transpose(1, 2).reshape(rows, places, width // 3)


def attend_in_steps(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """[rows, heads, places, size]"""
    places = q.shape[2]
    later = torch.ones(places, places, dtype=torch.bool, device=q.device).triu(1)
    scores = (q @ k.transpose(2, 3)) * (1 / math.sqrt(q.shape[3]))
    return scores.masked_fill(later, -math.inf).softmax(dim=3) @ v


def attend_at_once(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def unfused() -> contextlib.AbstractContextManager:
    """Within it PyTorch's attention is products, a mask and a softmax, one after the other."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:  # before 2.3
        return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_math=True, enable_mem_efficient=False)
    return sdpa_kernel(SDPBackend.MATH)


class InSteps(nn.Module):
    """The model, without fused attention."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, *inputs: torch.Tensor) -> Any:
        with unfused():
            return self.model(*inputs)


FUSED = "ScaledDotProduct"  # how the names of PyTorch's fused kernels begin


def attention_of(shape: tuple[int, int, int], device: torch.device) -> str:
    """What makes attention of so many heads, places and numbers there: `in steps`, or the name of a fused
    kernel, by what its gradient is called."""
    part = torch.zeros(1, *shape, device=device, requires_grad=True)
    name = type(attend(part, part, part).grad_fn).__name__
    return name.partition("Backward")[0] if FUSED in name else "in steps"


# PyTorch 2.0 and later has it.
attend = attend_at_once if hasattr(functional, "scaled_dot_product_attention") else attend_in_steps


def tied(table: nn.Embedding) -> nn.Module:
    """The output, by a table."""
    head = nn.Linear(table.embedding_dim, table.num_embeddings, bias=False)
    head.weight = table.weight
    return head
