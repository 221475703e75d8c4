"""limits.py: how fast the reference implementation must be beside PyTorch on the same machine."""
from __future__ import annotations

import math
from typing import NamedTuple

from .arms import FASTEST, PARALLEL, PLAIN, PRODUCTS
from .figures import NOTHING, Figure, arm_of, outside_figure, products_figure, ratio_figure
from .printed import maker_text, ratio_text, spread_name, spread_text

MET, OPEN, MISSED = "met", "OPEN", "MISSED"
MLP = "mlp:1024,1024,1024,1024"
DP2, DP1 = ("lockstep", "dp", 2), ("lockstep", "dp", 1)
# Of PyTorch's: the fastest of those that do the same.
ANY2, DDP2, PLAIN1 = ("pytorch", FASTEST, 2), ("pytorch", PARALLEL, 2), ("pytorch", PLAIN, 1)
# Of all that made them, in each round: torch.mm, or lockstep in its steps.
PRODUCTS2, PRODUCTS1 = ("pytorch", PRODUCTS, 2), ("pytorch", PRODUCTS, 1)
LLMC2 = ("llmc", "step", 2)
STEPS1 = ("pytorch", "plain-steps", 1)
RANKS2, PROCESSES2 = ("lockstep", "ddp", 2), ("lockstep", "processes", 2)


class Limit(NamedTuple):
    workload: str
    batch: int
    what: str
    above: tuple[str, str, int]
    under: tuple[str, str, int] | None  # None: the part of `above` outside matrix products
    most: float | None
    least: float | None = None
    against: tuple[tuple[str, str, int], ...] = ()  # see figures.Ratio
    kind: str = "cpu"  # of devices
    math: str = "f32"


LIMITS = (
    Limit(MLP, 256, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.47),
    Limit(MLP, 2048, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.80),
    Limit("cnn", 64, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.30),
    Limit("cnn", 512, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.42),
    Limit("lstm", 64, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.40),
    Limit("lstm", 512, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.35),
    Limit("gpt-tiny", 8, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.35),
    Limit("gpt-small", 8, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.80),
    Limit("gpt-small", 32, "lockstep 2 / PyTorch's fastest", DP2, ANY2, 0.80),
    Limit("gpt-small", 8, "lockstep 2 / products alone 2", DP2, PRODUCTS2, 1.25),
    Limit("gpt-small", 32, "lockstep 2 / products alone 2", DP2, PRODUCTS2, 1.25),
    Limit("gpt-small", 8, "lockstep 2 / llm.c 2", DP2, LLMC2, 0.70),
    Limit("tutorial", 30, "lockstep 2 / PyTorch DDP 2", DP2, DDP2, 0.005),
    Limit("tutorial", 30, "lockstep 2 / PyTorch plain", DP2, PLAIN1, 0.03),
    Limit(MLP, 2048, "lockstep 1 / products alone 1", DP1, PRODUCTS1, 1.06),
    Limit(MLP, 2048, "lockstep 2 / products alone 2", DP2, PRODUCTS2, 1.08),
    Limit(MLP, 2048, "speed-up over that of products", DP1, DP2, None, 0.97, (PRODUCTS1, PRODUCTS2)),
    Limit(MLP, 256, "lockstep DDP 2 / PyTorch DDP 2", RANKS2, DDP2, 0.55),
    Limit(MLP, 256, "lockstep MPI 2 / lockstep DDP 2", PROCESSES2, RANKS2, 1.10),
    Limit(MLP, 2048, "lockstep MPI 2 / lockstep DDP 2", PROCESSES2, RANKS2, 1.03),
    Limit(MLP, 2048, "lockstep MPI 2 / PyTorch DDP 2", PROCESSES2, DDP2, 0.55),
    Limit(MLP, 2048, "outside matrix products, 1 device", DP1, None, 0.05),
    Limit(MLP, 2048, "outside matrix products, 2 devices", DP2, None, 0.10),
    Limit("gpt2", 8, "lockstep 1 / PyTorch in steps", DP1, STEPS1, 1.25, kind="cuda", math="tf32"),
)


def figure_of(limit: Limit, cell: dict) -> Figure:
    above = arm_of(cell, *limit.above)
    if limit.under is None:
        return outside_figure(above)
    return ratio_figure(above, *(arm_of(cell, *key) for key in (limit.under, *limit.against)))


def products_of(limit: Limit, cell: dict) -> Figure:
    """Of a limit beside PyTorch's steps: what its own products leave of it."""
    if limit.under is None or limit.under[0] != "pytorch" or limit.under[1] == PRODUCTS or limit.against:
        return NOTHING
    return products_figure(arm_of(cell, *limit.above), arm_of(cell, *limit.under))


def makers_of(limit: Limit, cell: dict) -> list[str]:
    """Of a limit against products alone: whose they were."""
    counts = [key[2] for key in (limit.under, *limit.against) if key in (PRODUCTS1, PRODUCTS2)]
    return [words for count in counts if (words := maker_text(cell, count))]


def verdict(limit: Limit, figure: Figure) -> str:
    """MET or MISSED where the whole interval is on one side of the limit, else OPEN: also where there
    are too few launches for an interval. A number that is missing or not finite is missed."""
    if not math.isfinite(figure.value) or figure.value < 0:
        return MISSED
    if figure.coverage == 0:
        return OPEN
    if limit.most is not None:
        return MET if figure.high <= limit.most else MISSED if figure.low > limit.most else OPEN
    return MET if figure.low >= limit.least else MISSED if figure.high < limit.least else OPEN


def lines_of(limit: Limit, figure: Figure, products: Figure = NOTHING, makers: list[str] = ()) -> list[str]:
    """The limit, the interval that decides, and whose products it is held against; where it is not met, what
    the CPU's products leave of it."""
    number = ratio_text(figure.value) if math.isfinite(figure.value) else "nothing"
    room = f"<= {limit.most:g}" if limit.most is not None else f">= {limit.least:g}"
    name = f"mlp 4 x 1024, {limit.batch}" if limit.workload == MLP else f"{limit.workload}, {limit.batch}"
    lines = [f"{verdict(limit, figure):6}  {number:>7} {room:8}  {name}: {limit.what}"]
    if figure.n == 1:
        lines.append(f"{'':16}one launch, no interval")
    elif figure.n > 1:
        lines.append(f"{'':16}{spread_name([figure])}: {spread_text(figure, ratio_text)}")
    lines += [f"{'':16}fastest: {words}" for words in makers]
    if verdict(limit, figure) != MET and math.isfinite(products.value):
        beyond = limit.most is not None and products.low > limit.most
        lines.append(f"{'':16}its matrix products by themselves: {ratio_text(products.value)}"
                     f"{', above the limit' if beyond else ''}")
    return lines


def is_asked(limit: Limit, processes: bool, llmc: bool) -> bool:
    sides = limit.above, limit.under
    return (processes or PROCESSES2 not in sides) and (llmc or LLMC2 not in sides)


def judge(cells: list[dict], processes: bool = False, llmc: bool = False, kind: str = "cpu",
          math_of: str = "f32") -> tuple[list[str], str]:
    """Lines for each limit of that kind of devices and that math that is about one of these cells, and what
    is the least of all: missed before open before met. No limit at all is missed. Those of processes and of
    llm.c are asked with them."""
    lines, words = [], set()
    about = [limit for limit in LIMITS if (limit.kind, limit.math) == (kind, math_of)]
    for limit in (limit for limit in about if is_asked(limit, processes, llmc)):
        for cell in cells:
            if (cell["workload"], cell["batch"]) != (limit.workload, limit.batch):
                continue
            figure = figure_of(limit, cell)
            words.add(verdict(limit, figure))
            lines += lines_of(limit, figure, products_of(limit, cell), makers_of(limit, cell))
    return lines, next((word for word in (MISSED, OPEN, MET) if word in words), MISSED)
