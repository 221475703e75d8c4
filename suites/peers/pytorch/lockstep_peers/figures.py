"""figures.py: medians, intervals and ratios of a comparison, from its launches.

The launch is what is repeated: steps of one launch depend on each other. Ratios are paired by
round, because the arms of a round ran one after the other. harness/report/peer_*.c does the same sums.
"""
from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

LEVEL = 0.95


class Figure(NamedTuple):
    """A median over launches, and what it varies in: an interval of order statistics from 6
    launches on, else the smallest and largest. NaN where there is nothing."""

    value: float
    low: float
    high: float
    n: int
    coverage: float  # 0: it is a range


NOTHING = Figure(math.nan, math.nan, math.nan, 0, 0.0)


def median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    if not ordered:
        return math.nan
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def interval_rank(n: int) -> tuple[int, float]:
    """The k-th smallest and k-th largest of n cover the median with that probability; k 0: none."""
    below, best = 0.0, (0, 0.0)
    for k in range(1, n // 2 + 1):
        below += math.comb(n, k - 1) / 2.0**n
        if 1 - 2 * below < LEVEL:
            break
        best = (k, 1 - 2 * below)
    return best


def figure_of(values: list[float]) -> Figure:
    if not values or not all(math.isfinite(value) for value in values):
        return NOTHING
    ordered, n = sorted(values), len(values)
    k, coverage = interval_rank(n)
    return Figure(median(ordered), ordered[max(k, 1) - 1], ordered[n - max(k, 1)], n, coverage)


def arm_of(cell: dict, program: str, mode: str, devices: int) -> dict | None:
    """In mode `faster` that of PyTorch's two programs whose step is shorter."""
    if mode == "faster":
        return faster_of(cell, devices)
    for arm in cell["arms"]:
        if (arm["program"], arm["mode"], arm["devices"]) == (program, mode, devices):
            return arm
    return None


def is_wrong(arm: dict) -> bool:
    return any(launch["status"] == "wrong" for launch in arm["launches"])


def by_round(arm: dict | None, value: Callable[[dict], float]) -> dict[int, float]:
    """Nothing at all of an arm that left wrong numbers in any launch."""
    if arm is None or is_wrong(arm):
        return {}
    return {launch["round"]: value(launch) for launch in arm["launches"] if launch["status"] == "ok"}


def step_of(launch: dict) -> float:
    return median(launch["step_ns"])


def outside_of(launch: dict) -> float:
    return launch.get("outside_frac", math.nan)


def time_figure(arm: dict | None) -> Figure:
    return figure_of(list(by_round(arm, step_of).values()))


def outside_figure(arm: dict | None) -> Figure:
    return figure_of(list(by_round(arm, outside_of).values()))


def faster_of(cell: dict, devices: int) -> dict | None:
    """Nothing where one of the two has no number: then nobody knows."""
    parallel, plain = (arm_of(cell, "pytorch", *key) for key in ((parallel_of(cell), devices), ("plain", 1)))
    steps = [time_figure(arm).value for arm in (parallel, plain)]
    if not all(math.isfinite(step) for step in steps):
        return None
    return parallel if steps[0] < steps[1] else plain


def ratio_figure(above: dict | None, under: dict | None) -> Figure:
    a, b = by_round(above, step_of), by_round(under, step_of)
    return figure_of([a[number] / b[number] for number in sorted(a) if number in b])


def parallel_of(cell: dict) -> str:
    """The mode of PyTorch's parallel program: dp on GPUs."""
    return "dp" if any((arm["program"], arm["mode"]) == ("pytorch", "dp") for arm in cell["arms"]) else "ddp"


def ratios_of(devices: int, parallel: str = "ddp") -> list[tuple[str, tuple[Any, ...], tuple[Any, ...]]]:
    """Name, what is above the line, what is under it. For the last two more is better."""
    ours, ddp = ("lockstep", "dp", devices), ("pytorch", parallel, devices)
    name = parallel.upper()
    one, plain, bare = ("lockstep", "dp", 1), ("pytorch", "plain", 1), ("lockstep", "plain", 1)
    faster = ("pytorch", "faster", devices)
    found = [(f"lockstep {devices} / PyTorch {name} {devices}", ours, ddp),
             (f"lockstep {devices} / PyTorch plain", ours, plain),
             (f"lockstep {devices} / PyTorch's faster", ours, faster),
             (f"lockstep DDP {devices} / PyTorch {name} {devices}", ("lockstep", "ddp", devices), ddp),
             (f"lockstep MPI {devices} / PyTorch {name} {devices}", ("lockstep", "processes", devices), ddp),
             (f"lockstep MPI {devices} / lockstep DDP {devices}", ("lockstep", "processes", devices),
              ("lockstep", "ddp", devices)),
             ("lockstep 1 / PyTorch plain", one, plain),
             ("lockstep plain / PyTorch plain", bare, plain),
             (f"speed-up: lockstep 1 / lockstep {devices}", one, ours),
             (f"speed-up: PyTorch plain / {name} {devices}", plain, ddp)]
    return [ratio for ratio in found if ratio[1] != ratio[2]
            and not (devices == 1 and ratio[0] == "lockstep 1 / PyTorch plain")]
