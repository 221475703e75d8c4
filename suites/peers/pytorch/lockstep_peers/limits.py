"""limits.py: how fast the reference implementation must be beside PyTorch on the same machine."""
from __future__ import annotations

import math
from typing import NamedTuple

from .figures import Figure, arm_of, outside_figure, ratio_figure

MLP = "mlp:1024,1024,1024,1024"
DP2, DP1 = ("lockstep", "dp", 2), ("lockstep", "dp", 1)
DDP2, PLAIN = ("pytorch", "ddp", 2), ("pytorch", "plain", 1)
RANKS2, FASTER = ("lockstep", "ddp", 2), ("pytorch", "faster", 2)


class Limit(NamedTuple):
    workload: str
    batch: int
    what: str
    above: tuple[str, str, int]
    under: tuple[str, str, int] | None  # None: the part of `above` outside matrix products
    most: float | None
    least: float | None = None


LIMITS = (
    Limit(MLP, 256, "lockstep 2 / PyTorch DDP 2", DP2, DDP2, 0.60),
    Limit(MLP, 2048, "lockstep 2 / PyTorch DDP 2", DP2, DDP2, 0.85),
    Limit(MLP, 2048, "speed-up of 2 devices against 1", DP1, DP2, None, 1.8),
    Limit("tutorial", 30, "lockstep 2 / PyTorch DDP 2", DP2, DDP2, 0.05),
    Limit("tutorial", 30, "lockstep 2 / PyTorch plain", DP2, PLAIN, 0.5),
    Limit(MLP, 256, "lockstep DDP 2 / PyTorch DDP 2", RANKS2, DDP2, 0.55),
    Limit("cnn", 64, "lockstep 2 / PyTorch's faster", DP2, FASTER, 0.8),
    Limit("cnn", 512, "lockstep 2 / PyTorch's faster", DP2, FASTER, 0.8),
    Limit("lstm", 64, "lockstep 2 / PyTorch's faster", DP2, FASTER, 0.8),
    Limit("lstm", 512, "lockstep 2 / PyTorch's faster", DP2, FASTER, 0.9),
    Limit(MLP, 2048, "outside matrix products, 1 device", DP1, None, 0.05),
    Limit(MLP, 2048, "outside matrix products, 2 devices", DP2, None, 0.10),
)


def figure_of(limit: Limit, cell: dict) -> Figure:
    above = arm_of(cell, *limit.above)
    if limit.under is None:
        return outside_figure(above)
    return ratio_figure(above, arm_of(cell, *limit.under))


def is_met(limit: Limit, value: float) -> bool:
    """A number that is missing or not finite never meets a limit."""
    if not math.isfinite(value) or value < 0:
        return False
    if limit.most is not None:
        return value <= limit.most
    return limit.least is not None and value >= limit.least


def judge(cells: list[dict]) -> tuple[list[str], bool]:
    """A line per limit that is about one of these cells, and whether all are met."""
    lines, good = [], True
    for limit in LIMITS:
        for cell in cells:
            if (cell["workload"], cell["batch"]) != (limit.workload, limit.batch):
                continue
            value = figure_of(limit, cell).value
            met = is_met(limit, value)
            good = good and met
            number = f"{value:.3f}" if math.isfinite(value) else "nothing"
            room = f"<= {limit.most:g}" if limit.most is not None else f">= {limit.least:g}"
            name = f"mlp 4 x 1024, {limit.batch}" if limit.workload == MLP else (
                f"{limit.workload}, {limit.batch}")
            lines.append(f"{'met' if met else 'MISSED':6}  {number:>7} {room:7}  {name}: {limit.what}")
    return lines, good and bool(lines)
