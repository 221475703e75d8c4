"""printed.py: a comparison as text for a terminal of 80 columns."""
from __future__ import annotations

import math

from .figures import (Figure, arm_of, is_wrong, outside_figure, parallel_of, ratio_figure, ratios_of,
                     time_figure)

UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


def digits(value: float) -> str:
    """Three of them."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def time_text(ns: float) -> str:
    if not math.isfinite(ns):
        return "-"
    size, unit = next(((s, u) for s, u in UNITS if ns >= 0.9995 * s), UNITS[-1])
    return f"{digits(ns / size)} {unit}"


def ratio_text(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) and value < 9.9995 else digits(value)


def spread_text(figure: Figure, text) -> str:
    if figure.n < 2:
        return "one launch" if figure.n == 1 else ""
    return f"{text(figure.low)} .. {text(figure.high)}"


def spread_name(figures: list[Figure]) -> str:
    """Never called an interval when it is none."""
    known = [figure for figure in figures if figure.n > 0]
    if not known:
        return ""
    least = min(known, key=lambda figure: figure.n)
    if least.n < 2:
        return ""
    if least.coverage > 0:
        return f"interval, {100 * least.coverage:.1f} %, n {least.n}"
    return f"range, n {least.n}"


def arm_text(arm: dict, rows: int) -> str:
    n = arm["devices"]
    many = f"{n} device{'s' if n > 1 else ''}"
    words = {("lockstep", "dp"): f"lockstep DataParallel, {many}",
             ("lockstep", "ddp"): f"lockstep DDP, {many}",
             ("lockstep", "processes"): f"lockstep DDP, MPI, {n} process{'es' if n > 1 else ''}",
             ("lockstep", "plain"): "lockstep plain, 1 device",
             ("pytorch", "ddp"): f"PyTorch DDP, gloo, {n} process{'es' if n > 1 else ''}",
             ("pytorch", "dp"): f"PyTorch DataParallel, {n} GPU{'s' if n > 1 else ''}",
             ("pytorch", "plain"): "PyTorch plain, 1 process",
             ("pytorch", "matmul"): f"  torch.mm alone, {-(-rows // n)} rows"}
    return words[arm["program"], arm["mode"]]


def arm_lines(cell: dict) -> list[str]:
    arms = sorted(cell["arms"], key=lambda arm: (arm["mode"] == "matmul", arm["program"],
                                                 arm["mode"] == "plain", -arm["devices"]))
    figures = {id(arm): time_figure(arm) for arm in arms}
    lines = [f"  {'median step of a launch':34}{'median':>10}   {spread_name(list(figures.values()))}"]
    for arm in arms:
        figure = figures[id(arm)]
        bad = sum(launch["status"] != "ok" for launch in arm["launches"])
        note = f"  {bad} of {len(arm['launches'])} FAILED" if bad else ""
        if is_wrong(arm):
            note = "  WRONG NUMBERS: not reported"
        lines.append(f"  {arm_text(arm, cell['batch']):34}{time_text(figure.value):>10}   "
                     f"{spread_text(figure, time_text)}{note}")
        if math.isfinite(outside := outside_figure(arm).value):
            lines.append(f"  {'  of it outside matrix products':34}{100 * outside:8.1f} %")
    return lines


def ratio_lines(cell: dict, devices: int) -> list[str]:
    rows = [(name, ratio_figure(arm_of(cell, *above), arm_of(cell, *under)))
            for name, above, under in ratios_of(devices, parallel_of(cell))
            if above[1] not in ("ddp", "processes") or arm_of(cell, *above)]
    lines = [f"  {'ratio of steps, paired by round':34}{'median':>10}   "
             f"{spread_name([figure for _, figure in rows])}"]
    for name, figure in rows:
        lines.append(f"  {name:34}{ratio_text(figure.value):>10}   {spread_text(figure, ratio_text)}")
    return lines


def reasons(cell: dict) -> list[str]:
    return [f"  {arm_text(arm, cell['batch']).strip()}, round {launch['round']}: {launch['reason']}"
            for arm in cell["arms"] for launch in arm["launches"] if launch["status"] != "ok"]


def cell_lines(cell: dict, devices: int) -> list[str]:
    lines = [f"{cell['workload'][:60]}, batch {cell['batch']}"]
    lines += arm_lines(cell) + [""] + ratio_lines(cell, devices)
    failed = reasons(cell)
    return lines + ([""] + failed if failed else [])
