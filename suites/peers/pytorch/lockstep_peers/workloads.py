"""workloads.py: what a workload is, and the split of a batch; needs nothing but Python.

`lockstep workload` says it, so a workload is in this comparison by its descriptor.
"""
from __future__ import annotations

import subprocess
from typing import NamedTuple


LARGE = ["gpt2"]  # compared on GPUs only, when it is named: elsewhere a step takes too long


class Law(NamedTuple):
    """How a parameter's numbers are drawn: 1 of `every` is not 0, and then +-1..most times unit."""

    count: int
    every: int
    most: int
    unit: float


class End(NamedTuple):
    """How a step goes on behind its outputs, where they are those of classes: cross entropy, gradients
    clipped to a norm, and AdamW. Of others: factors and SGD."""

    clip: float
    rate: float
    betas: tuple[float, float]
    eps: float
    decay: float


class Workload(NamedTuple):
    """As suites/workloads/descriptor.h has it."""

    text: str  # what parse() read
    name: str
    sizes: list[int]  # widths; of what is no chain the first and the last; of tokens see data.py
    chain: bool  # of linear layers
    shards: bool  # what a row gives depends on the other rows of its shard
    exact: tuple[int, float, float] | None  # bits of its widest numbers, and how its sums grow
    laws: list[Law]  # of each parameter of what is no chain
    # Kind and sizes, in order; "skip" n: the last n become one, whose input is added to its output.
    # A word among the sizes says which of several; "tied" n: by the table of module n.
    modules: list[tuple[str, list]]
    periods: tuple[int, ...] = ()  # of a model of tokens: after so many its rows repeat, in each set
    end: End | None = None


def parse(text: str) -> Workload:
    facts: dict[str, list[str]] = {}
    laws: list[Law] = []
    lines = iter(text.splitlines())
    for line in lines:
        key, *words = line.split()
        if key == "modules":
            break
        if key == "law":
            laws.append(Law(int(words[0]), int(words[1]), int(words[2]), float(words[3])))
        else:
            facts[key] = words
    exact, adamw = facts.get("exact"), [float(word) for word in facts.get("adamw", [])]
    return Workload(text, facts["workload"][0], [int(size) for size in facts["sizes"]],
                    facts["kind"] == ["chain"], "shards" in facts,
                    (int(exact[0]), float(exact[1]), float(exact[2])) if exact else None, laws,
                    [(kind, [int(size) if size.isdigit() else size for size in sizes])
                     for kind, *sizes in (line.split() for line in lines)],
                    tuple(int(period) for period in facts.get("tokens", [])),
                    End(float(facts["clip"][0]), adamw[0], (adamw[1], adamw[2]), *adamw[3:]) if adamw else None)


def build(workload: Workload, kinds: dict, residual) -> list:
    """Of each module what kinds makes of its sizes, and residual of a list of them."""
    made: list = []
    for kind, sizes in workload.modules:
        if kind == "skip":
            made[-sizes[0]:] = [residual(made[-sizes[0]:])]
        elif kind == "tied":
            made.append(kinds[kind](made[sizes[0]]))
        else:
            made.append(kinds[kind](*sizes))
    return made


def run(lockstep: str, *arguments: str) -> str:
    done = subprocess.run([lockstep, "workload", *arguments], capture_output=True, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"workload: exit status {done.returncode}"]
        raise ValueError(said[0].split(": ", 1)[-1])
    return done.stdout


def peers(lockstep: str) -> list[str]:
    """What can be compared, in the order of lockstep's list; NAME:SIZES stands for all such."""
    return run(lockstep).split()


def workload_of(lockstep: str, name: str, kind: str = "cpu") -> Workload:
    """ValueError, in one line: there is none, or it is not compared on devices of that kind."""
    known = peers(lockstep) + (LARGE if kind == "cuda" else [])
    found = parse(run(lockstep, "--workload", name))
    if found.name.partition(":")[0] not in {peer.partition(":")[0] for peer in known}:
        raise ValueError(f"'{name[:60]}' is not compared with PyTorch; {', '.join(known)} are")
    return found


def shards_of(rows: int, devices: int) -> list[int]:
    """Rows of each device: chunks of ceil(rows / devices), and none for those left over."""
    chunk = -(-rows // devices)
    return [max(0, min(chunk, rows - chunk * device)) for device in range(devices)]
