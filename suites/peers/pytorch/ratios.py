"""ratios.py: of a record of a comparison, the ratio of two arms' steps in each round, one a line:
nothing where a side is not there or was wrong. For scripts/gpu-limits.

    ratios.py FILE WORKLOAD BATCH PROGRAM:MODE:DEVICES PROGRAM:MODE:DEVICES
"""
from __future__ import annotations

import json
import sys

from figures import arm_of, by_round, step_of


def key(text: str) -> tuple[str, str, int]:
    program, mode, devices = text.split(":")
    return program, mode, int(devices)


def ratios(document: dict, workload: str, batch: int, above: tuple, under: tuple) -> list[float]:
    for cell in document["cells"]:
        if (cell["workload"], cell["batch"]) == (workload, batch):
            a, b = (by_round(arm_of(cell, *arm), step_of) for arm in (above, under))
            return [a[number] / b[number] for number in sorted(a) if number in b]
    return []


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        made = json.load(file)
    for ratio in ratios(made, sys.argv[2], int(sys.argv[3]), key(sys.argv[4]), key(sys.argv[5])):
        print(repr(ratio))
