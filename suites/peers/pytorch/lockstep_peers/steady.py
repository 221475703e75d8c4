"""steady.py: when a launch is warm, and when it has measured enough: the rules of lockstep sweep."""
from __future__ import annotations

from .meeting import now

WINDOW, SLOPE, SPREAD = 10, 0.005, 0.05
WARMUP_MIN, WARMUP_MAX, WARMUP_SECONDS = 10, 200, 10.0
WARMUP, MEASURE, END = 0, 1, 2


def is_steady(times: list[int]) -> bool:
    """The last WINDOW values: slope over the window, and each value, against their mean."""
    last = times[-WINDOW:]
    if len(last) < WINDOW:
        return False
    mean, middle = sum(last) / WINDOW, (WINDOW - 1) / 2
    below = sum((i - middle) ** 2 for i in range(WINDOW))
    slope = sum((i - middle) * (value - mean) for i, value in enumerate(last)) / below
    return (mean > 0 and abs(slope) * WINDOW < SLOPE * mean
            and all(abs(value - mean) <= SPREAD * mean for value in last))


class Pace:
    """What the next step is for. One rank decides for all."""

    def __init__(self, seconds: float, steps: tuple[int, int]):
        self.seconds, (self.least, self.most) = seconds, steps
        self.warmup_seconds = min(10 * seconds, WARMUP_SECONDS)
        self.times: list[int] = []
        self.warmup, self.steady = 0, False
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
        if len(self.times) < WARMUP_MIN:
            return False
        self.steady = is_steady(self.times)
        return (self.steady or len(self.times) >= WARMUP_MAX
                or now() - self.begin >= self.warmup_seconds * 1e9)
