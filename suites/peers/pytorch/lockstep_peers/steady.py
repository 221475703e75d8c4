"""steady.py: when a launch is warm, and when it has measured enough: the rules of lockstep sweep."""
from __future__ import annotations

from .meeting import now

WARMUPS = {"cpu": (5, 0.05), "cuda": (20, 2.0)}  # steps and seconds, whichever ends later
WARMUP_MAX = 1000
WARMUP, MEASURE, END = 0, 1, 2


def warmup_of(kind: str, seconds: float) -> tuple[int, float]:
    """Of a launch that measures so long: as lockstep sweep has it, and is told."""
    steps, least = WARMUPS[kind]
    return steps, min(least, seconds)


def rule_of(warmup: tuple[int, float]) -> str:
    return f"at least {warmup[0]} steps and {warmup[1]:g} s, at most {WARMUP_MAX} steps"


class Pace:
    """What the next step is for. One rank decides for all. No time of a step is looked at."""

    def __init__(self, seconds: float, steps: tuple[int, int], warmup: tuple[int, float]):
        self.seconds, (self.least, self.most) = seconds, steps
        self.warmup_steps, self.warmup_seconds = warmup
        self.times: list[int] = []
        self.warmup = 0
        self.begin = now()
        self.state = WARMUP

    def next(self) -> int:
        if self.state == WARMUP and self.is_warm():
            self.state, self.warmup, self.begin = MEASURE, len(self.times), now()
        measured = len(self.times) - self.warmup
        if self.state == MEASURE and (measured >= self.most or (
                measured >= self.least and now() - self.begin >= self.seconds * 1e9)):
            self.state = END
        return self.state

    def is_warm(self) -> bool:
        steps = len(self.times)
        return steps >= WARMUP_MAX or (steps >= self.warmup_steps and
                                       now() - self.begin >= self.warmup_seconds * 1e9)
