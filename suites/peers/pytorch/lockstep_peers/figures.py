"""figures.py: medians, intervals and ratios of a comparison, from its launches.

The launch is what is repeated: steps of one launch depend on each other. Ratios are paired by
round, because the arms of a round ran one after the other. harness/report/peer_*.c does the same sums.
"""
from __future__ import annotations

import math
from typing import Callable, NamedTuple, Tuple

from .arms import FASTEST, GROUPS, PARALLEL, PLAIN, PRODUCTS, kind_of

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
    """The mode may be a group of PyTorch's arms: then its fastest. Of products whoever was the fastest."""
    if mode == PRODUCTS:
        return products_alone(cell, devices)
    if mode in GROUPS:
        return fastest_of(cell, mode, devices)
    for arm in cell["arms"]:
        if (arm["program"], arm["mode"], arm["devices"]) == (program, mode, devices):
            return arm
    return None


def members_of(cell: dict, group: str, devices: int) -> list[dict]:
    """Those of a group that are there; the plain programs have one device."""
    count = 1 if group == PLAIN else devices
    return [arm for arm in cell["arms"] if kind_of(arm["program"], arm["mode"]).group == group
            and arm["devices"] == count and not arm.get("absent")]


def fastest_of(cell: dict, group: str, devices: int) -> dict | None:
    """By the median step over all launches. Nothing where one of them has no number, or a part of the
    group has no arm: then nobody knows."""
    parts = [members_of(cell, part, devices) for part in GROUPS[group]]
    arms = [arm for part in parts for arm in part]
    if not all(parts) or not all(math.isfinite(time_figure(arm).value) for arm in arms):
        return None
    return min(arms, key=lambda arm: time_figure(arm).value)


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


def products_of(launch: dict) -> float:
    """Of a step of lockstep: its time in matrix products."""
    return step_of(launch) * (1 - outside_of(launch))


def makers_of(cell: dict, devices: int) -> list[dict]:
    """Who made the products of a step: torch.mm alone of each PyTorch, without which there is nobody, and
    lockstep in its steps."""
    theirs = members_of(cell, PRODUCTS, devices)
    return [arm for arm in cell["arms"] if theirs and arm["devices"] == devices and (
        any(arm is other for other in theirs) or arm["program"] == "lockstep"
        and any("outside_frac" in launch for launch in arm["launches"]))]


def products_alone(cell: dict, devices: int) -> dict | None:
    """As an arm that in each round took as long as the fastest of them, `by` that one. Rounds in which one of
    them has no number are left out; nothing where one has none at all: then nobody knows."""
    makers = makers_of(cell, devices)
    times = [{number: ns for number, ns in by_round(
        arm, products_of if arm["program"] == "lockstep" else step_of).items() if math.isfinite(ns)} for arm in makers]
    if not makers or not all(times):
        return None
    launches = []
    for number in sorted(set.intersection(*map(set, times))):
        ns, first = min((time[number], at) for at, time in enumerate(times))
        launches.append({"round": number, "status": "ok", "step_ns": [ns], "by": first})
    return {"launches": launches}


def fastest_maker(cell: dict, devices: int) -> tuple[dict, int, int] | None:
    """Who that was in most rounds, the number of these, and of all that count."""
    alone = products_alone(cell, devices)
    by = [launch["by"] for launch in alone["launches"]] if alone else []
    if not by:
        return None
    best = min(by, key=lambda at: (-by.count(at), at))
    return makers_of(cell, devices)[best], by.count(best), len(by)


def time_figure(arm: dict | None) -> Figure:
    return figure_of(list(by_round(arm, step_of).values()))


def outside_figure(arm: dict | None) -> Figure:
    return figure_of(list(by_round(arm, outside_of).values()))


def ratio_figure(above: dict | None, under: dict | None, *against: dict | None) -> Figure:
    """Paired by round; in units of the ratio of two others, if they are named."""
    sides = [by_round(arm, step_of) for arm in (above, under, *against)]
    rounds = [number for number in sorted(sides[0]) if all(number in side for side in sides)]
    quotients = [[a[number] / b[number] for number in rounds] for a, b in zip(sides[::2], sides[1::2])]
    return figure_of([math.prod([first, *(1 / other for other in others)]) for first, *others in zip(*quotients)])


def products_figure(above: dict | None, under: dict | None) -> Figure:
    """What is left of that ratio when nothing of `above` but its matrix products takes time."""
    products = by_round(above, products_of)
    steps = by_round(under, step_of)
    return figure_of([products[number] / steps[number] for number in sorted(products) if number in steps])


def parallel_of(cell: dict) -> str:
    """What PyTorch's parallel programs are: DP on GPUs, and DDP where it is there, too."""
    kinds = [kind_of(arm["program"], arm["mode"]) for arm in cell["arms"] if not arm.get("absent")]
    found = {kind.around.upper() for kind in kinds if kind.group == PARALLEL}
    return " or ".join(sorted(found, reverse=True)) or "DDP"


Key = Tuple[str, str, int]


class Ratio(NamedTuple):
    name: str
    above: Key
    under: Key
    against: tuple[Key, ...] = ()  # the two of the ratio that is the unit of this one


def speed_ups(devices: int, parallel: str) -> list[Ratio]:
    """More is better."""
    one, ours = ("lockstep", "dp", 1), ("lockstep", "dp", devices)
    alone = ("pytorch", PRODUCTS, 1), ("pytorch", PRODUCTS, devices)
    return [Ratio(f"speed-up: lockstep 1 / lockstep {devices}", one, ours),
            Ratio(f"speed-up: PyTorch plain / {parallel} {devices}", ("pytorch", PLAIN, 1),
                  ("pytorch", PARALLEL, devices)),
            Ratio("speed-up: products alone", *alone),
            Ratio("speed-up: lockstep's over products'", one, ours, alone)] if devices > 1 else []


def ratios_of(devices: int, parallel: str = "DDP") -> list[Ratio]:
    """Less is better, but for the speed-ups."""
    ours, one, bare = ("lockstep", "dp", devices), ("lockstep", "dp", 1), ("lockstep", "plain", 1)
    ranks, processes = ("lockstep", "ddp", devices), ("lockstep", "processes", devices)
    nccl, steps = ("lockstep", "ddp-nccl", devices), ("pytorch", "plain-steps", 1)
    ddp, plain = ("pytorch", PARALLEL, devices), ("pytorch", PLAIN, 1)
    name = f"{parallel} {devices}"
    found = [Ratio(f"lockstep {devices} / PyTorch's fastest", ours, ("pytorch", FASTEST, devices)),
             Ratio(f"lockstep {devices} / PyTorch {name}", ours, ddp),
             Ratio(f"lockstep {devices} / PyTorch plain", ours, plain),
             Ratio(f"lockstep DDP {devices} / PyTorch {name}", ranks, ddp),
             Ratio(f"lockstep MPI {devices} / PyTorch {name}", processes, ddp),
             Ratio(f"lockstep MPI {devices} / lockstep DDP {devices}", processes, ranks),
             Ratio(f"lockstep NCCL {devices} / PyTorch {name}", nccl, ddp),
             Ratio(f"lockstep NCCL {devices} / lockstep DDP {devices}", nccl, ranks),
             Ratio("lockstep 1 / PyTorch plain", one, plain),
             Ratio("lockstep plain / PyTorch plain", bare, plain),
             Ratio("lockstep 1 / PyTorch in steps", one, steps),
             Ratio("lockstep plain / PyTorch in steps", bare, steps),
             Ratio("PyTorch in steps / PyTorch plain", steps, plain),
             Ratio(f"lockstep {devices} / llm.c {devices}", ours, ("llmc", "step", devices)),
             Ratio(f"lockstep {devices} / products alone {devices}", ours, ("pytorch", PRODUCTS, devices)),
             Ratio("lockstep 1 / products alone 1", one, ("pytorch", PRODUCTS, 1))]
    first = {(ratio.above, ratio.under): ratio for ratio in reversed(found)}  # on one device some are the same
    return [ratio for ratio in found if first[ratio.above, ratio.under] is ratio] + speed_ups(devices, parallel)


def is_optional(key: Key) -> bool:
    """Not of every workload, not asked for, or not on these devices: no row says that it is missing."""
    return key[1] in ("ddp", "ddp-nccl", "processes", "step", "plain-steps", PRODUCTS)


def ratio_rows(cell: dict, devices: int) -> list[tuple[Ratio, Figure]]:
    """Of this cell."""
    modes = {(arm["program"], kind_of(arm["program"], arm["mode"]).group or arm["mode"])
             for arm in cell["arms"] if not arm.get("absent")}
    rows = []
    for ratio in ratios_of(devices, parallel_of(cell)):
        keys = (ratio.above, ratio.under, *ratio.against)
        if all(key[:2] in modes for key in keys if is_optional(key)):
            rows.append((ratio, ratio_figure(*(arm_of(cell, *key) for key in keys))))
    return rows
