"""ratios.py: of a record of a comparison, the ratio of two arms' steps in each round, one a line:
nothing where a side is not there or was wrong, or where the record is of another math. For scripts/gpu-limits.

    start.py ratios FILE MATH WORKLOAD BATCH PROGRAM:MODE:DEVICES PROGRAM:MODE:DEVICES
"""
from __future__ import annotations

import json

from .figures import arm_of, by_round, step_of


def key(text: str) -> tuple[str, str, int]:
    program, mode, devices = text.split(":")
    return program, mode, int(devices)


def ratios(document: dict, workload: str, batch: int, above: tuple, under: tuple) -> list[float]:
    for cell in document["cells"]:
        if (cell["workload"], cell["batch"]) == (workload, batch):
            a, b = (by_round(arm_of(cell, *arm), step_of) for arm in (above, under))
            return [a[number] / b[number] for number in sorted(a) if number in b]
    return []


def main(arguments: list[str]) -> int:
    path, math, workload, batch, above, under = arguments
    with open(path, encoding="utf-8") as file:
        made = json.load(file)
    if made.get("math", "f32") != math:
        return 0
    for ratio in ratios(made, workload, int(batch), key(above), key(under)):
        print(repr(ratio))
    return 0
