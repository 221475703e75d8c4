"""ends.py: how a step goes on behind the outputs of a model: loss, and what is done with gradients; as
its users would write it, and what it must leave.
"""
from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional
from torch import nn

from .checks import Wrong, gamma
from .data import CONTEXT, LEARNING_RATE
from .workloads import Workload

UNIT = 2.0**-24


class Factors:
    """The loss is the sum of outputs times factors; SGD without momentum."""

    clips = False

    def __init__(self, parameters: list[nn.Parameter], job: dict):
        self.optimiser = torch.optim.SGD(parameters, LEARNING_RATE, **job["sgd"])
        # DistributedDataParallel averages, so the factors are scaled where that is exact: then the
        # average over the ranks is the sum that lockstep has. Else the bound of Training.near is used.
        self.scale = job["ranks"] if job["ranks"] & (job["ranks"] - 1) == 0 else 1

    @staticmethod
    def inputs(rows: torch.Tensor) -> torch.Tensor:
        return rows

    def upstream(self, rows: torch.Tensor) -> torch.Tensor:
        return rows * self.scale

    @staticmethod
    def loss_terms(outputs: torch.Tensor) -> int:
        return outputs.numel() + 1

    @staticmethod
    def around(model: nn.Module) -> nn.Module:
        return model

    @staticmethod
    def run(model: nn.Module, inputs: torch.Tensor, upstream: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = model(inputs)
        return outputs, (outputs * upstream).sum()

    def restart(self) -> None:
        self.optimiser.zero_grad(set_to_none=True)

    def update(self) -> None:
        self.optimiser.step()

    @staticmethod
    def gradient(want: torch.Tensor, bound: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return want, bound

    @staticmethod
    def updated(before: torch.Tensor, want: torch.Tensor, bound: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The update rounds twice."""
        after = before - LEARNING_RATE * want
        return after, LEARNING_RATE * bound + 1.01 * 2 * UNIT * (before.abs() + after.abs())


class WithLoss(nn.Module):
    """What is wrapped or compiled has the loss in it; `share` makes the mean over all ranks' places."""

    def __init__(self, model: nn.Module, share: float):
        super().__init__()
        self.model, self.share = model, share

    def forward(self, inputs: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs = self.model(inputs)
        loss = functional.cross_entropy(outputs.view(-1, outputs.shape[-1]), targets.view(-1), reduction="sum")
        return outputs, (loss * self.share).view(1)  # of each replica, where a process has several


def adamw(parameters: list[nn.Parameter], **settings: Any) -> torch.optim.Optimizer:
    """All of an update at once, where this version can on these devices."""
    try:
        return torch.optim.AdamW(parameters, fused=True, **settings)
    except (TypeError, RuntimeError):
        return torch.optim.AdamW(parameters, **settings)


class Classes:
    """Cross entropy, gradients clipped by their norm, and the first step of AdamW."""

    clips = True

    def __init__(self, workload: Workload, parameters: list[nn.Parameter], job: dict):
        self.end, self.parameters = workload.end, parameters
        self.scale = job["ranks"]  # the average over them is that over all places
        self.share = self.scale / (job["rows"] * workload.sizes[CONTEXT])
        self.optimiser = adamw(parameters, lr=self.end.rate, betas=self.end.betas, eps=self.end.eps,
                               weight_decay=self.end.decay)

    @staticmethod
    def inputs(rows: torch.Tensor) -> torch.Tensor:
        return rows.long()

    upstream = inputs

    @staticmethod
    def loss_terms(outputs: torch.Tensor) -> int:
        """Of the sum over places, and in each of them of the sum of exp, each within 20 units."""
        return outputs.shape[0] * outputs.shape[1] + outputs.shape[2] + 128

    def around(self, model: nn.Module) -> nn.Module:
        return WithLoss(model, self.share)

    @staticmethod
    def run(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        outputs, loss = model(inputs, targets)
        return outputs, loss.sum()

    def restart(self) -> None:
        """Every step is a first one, into memory that is there."""
        self.optimiser.zero_grad(set_to_none=True)
        for state in self.optimiser.state.values():
            for tensor in state.values():
                tensor.zero_()

    def update(self) -> None:
        self.norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.end.clip)
        self.optimiser.step()

    def check_norm(self, want: float, bound: float, step: int) -> int:
        """A sum of squares in float, in any order, over a parameter and then over all of them, and roots
        of both. What it rounded is then in all gradients alike, so they are held against this norm."""
        most = max(parameter.numel() for parameter in self.parameters)
        room = bound + want * gamma(most + len(self.parameters) + 8)
        if not abs(float(self.norm) - want) <= room:
            raise Wrong(f"step {step}: the norm of gradients is {float(self.norm)!r}, must be {want!r}")
        return 1

    def gradient(self, want: torch.Tensor, bound: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        factor = self.end.clip / (float(self.norm) + 1e-6)
        clipped, moved = factor * want, factor * bound
        return clipped, moved + 4 * UNIT * (clipped.abs() + moved)

    def move(self, gradient: torch.Tensor) -> torch.Tensor:
        """In a first step the means are the gradient and its size: it grows with the gradient."""
        return self.end.rate * gradient / (gradient.abs() + self.end.eps)

    def updated(self, before: torch.Tensor, want: torch.Tensor, bound: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """16: roundings of the move are parts of it."""
        move = self.move(want)
        moved = torch.maximum(self.move(want + bound) - move, move - self.move(want - bound))
        after = before * (1 - self.end.rate * self.end.decay) - move
        return after, moved + 16 * UNIT * (move.abs() + moved) + 3 * UNIT * (before.abs() + after.abs() + moved)


def end_of(workload: Workload, parameters: list[nn.Parameter], job: dict) -> Any:
    return Classes(workload, parameters, job) if workload.end else Factors(parameters, job)
