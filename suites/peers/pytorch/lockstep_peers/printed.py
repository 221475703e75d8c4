"""printed.py: a comparison as text for a terminal of 80 columns."""
from __future__ import annotations

import math
import textwrap

from .arms import FASTEST, GROUPS, PARALLEL, PLAIN, words_of
from .figures import (Figure, fastest_maker, fastest_of, is_wrong, makers_of, members_of, outside_figure,
                     parallel_of, ratio_rows, time_figure)

WIDE = 44  # the longest name of an arm
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
    if not math.isfinite(value) or value >= 9.9995:
        return digits(value)
    return f"{value:.{3 if value >= 0.09995 else 4}f}"


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


def arm_text(arm: dict, rows: int, several: bool = False) -> str:
    """With the version where there are several."""
    of = arm.get("torch", "").partition("+")[0] if several else ""
    return words_of(arm["program"], arm["mode"], arm["devices"], rows, of)


def several_versions(cell: dict) -> bool:
    return len({arm["torch"] for arm in cell["arms"] if "torch" in arm}) > 1


def note_of(arm: dict) -> str:
    if "absent" in arm:
        return f"absent: {arm['absent']}"
    if is_wrong(arm):
        return "WRONG NUMBERS: not reported"
    bad = sum(launch["status"] != "ok" for launch in arm["launches"])
    return f"{bad} of {len(arm['launches'])} FAILED" if bad else ""


def arm_lines(cell: dict) -> list[str]:
    rows, several = cell["batch"], several_versions(cell)
    arms = sorted(cell["arms"], key=lambda arm: arm["mode"] in ("matmul", "products"))
    figures = {id(arm): time_figure(arm) for arm in arms}
    lines = [f"  {'median step of a launch':{WIDE}}{'median':>10}   {spread_name(list(figures.values()))}"]
    for arm in arms:
        figure = figures[id(arm)]
        lines.append(f"  {arm_text(arm, rows, several):{WIDE}}{time_text(figure.value):>10}   "
                     f"{spread_text(figure, time_text)}".rstrip())
        lines += textwrap.wrap(note_of(arm), 78, initial_indent=" " * 6, subsequent_indent=" " * 6)
        if math.isfinite(outside := outside_figure(arm).value):
            lines.append(f"  {'  of it outside matrix products':{WIDE}}{100 * outside:8.1f} %")
    return lines


def ratio_lines(cell: dict, devices: int) -> list[str]:
    rows = ratio_rows(cell, devices)
    lines = [f"  {'ratio of steps, paired by round':{WIDE}}{'median':>10}   "
             f"{spread_name([figure for _, figure in rows])}"]
    for ratio, figure in rows:
        lines.append(f"  {ratio.name:{WIDE}}{ratio_text(figure.value):>10}   {spread_text(figure, ratio_text)}")
    return lines


def maker_text(cell: dict, devices: int) -> str:
    """Whose products others are held against in most rounds, and in how many; or nothing."""
    found = fastest_maker(cell, devices)
    if not found:
        return ""
    arm, rounds, of = found
    return (f"{'those of ' * (arm['program'] == 'lockstep')}"
            f"{arm_text(arm, cell['batch'], several_versions(cell)).strip()}, in {rounds} of {of}")


def fastest_lines(cell: dict, devices: int) -> list[str]:
    """Which arms PyTorch's were, where there was a choice."""
    parallel, lines = parallel_of(cell), []
    for name, group, count in (("PyTorch's fastest", FASTEST, devices), (f"fastest of PyTorch {parallel} {devices}", PARALLEL, devices),
                               ("fastest of PyTorch plain", PLAIN, 1)):
        choice = [arm for part in GROUPS[group] for arm in members_of(cell, part, count)]
        arm = fastest_of(cell, group, count)
        if len(choice) > 1 and arm:
            lines.append(f"  {name}: {arm_text(arm, cell['batch'], several_versions(cell)).strip()}")
    return lines + [f"  products alone {count}: {words}" for count in sorted({devices, 1}, reverse=True)
                    if len(makers_of(cell, count)) > 1 and (words := maker_text(cell, count))]


def reasons(cell: dict) -> list[str]:
    several = several_versions(cell)
    return [f"  {arm_text(arm, cell['batch'], several).strip()}, round {launch['round']}: {launch['reason']}"
            for arm in cell["arms"] for launch in arm["launches"] if launch["status"] != "ok"]


def cell_lines(cell: dict, devices: int) -> list[str]:
    lines = [f"{cell['workload'][:60]}, batch {cell['batch']}"]
    lines += arm_lines(cell) + [""] + ratio_lines(cell, devices) + fastest_lines(cell, devices)
    failed = reasons(cell)
    return lines + ([""] + failed if failed else [])
