"""gemm.py: the time of a square matrix product by the library and by PyTorch on the same device, same
shape, type (float32, no TF32) and layout (y = x W'), in turns, a fresh process each.

    scripts/compare-pytorch gemm --program lockstep-gemm-rate --out FILE [--device cuda|cpu]
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys

from . import figures
from .launch import START

WARMUP = 3
PASSED, FAILED, MISUSE, SKIPPED = 0, 1, 2, 77


def torch_times(kind: str, size: int, rounds: int) -> list[int]:
    import time

    import torch
    from .devices import Drain, begin, device_of

    begin(torch, kind, 0)
    device, drain = device_of(torch, kind), Drain(torch, kind, [0])
    i, k = torch.arange(size).reshape(-1, 1), torch.arange(size)
    x, weight = (((i * 7 + k * 3 + salt * i) % 5 - 2).to(torch.float32).to(device) for salt in (1, 2))
    out, found = torch.empty(size, size, device=device), []
    for number in range(WARMUP + rounds):
        drain()
        start = time.monotonic_ns()
        torch.mm(x, weight.t(), out=out)
        drain()
        found.append(time.monotonic_ns() - start)
    if not torch.equal(out.double(), torch.mm(x.double(), weight.double().t())):
        raise RuntimeError("PyTorch's product is not exact")
    return found[WARMUP:]


def launch(name: str, command: list[str]) -> tuple[str, float]:
    """Where it was measured, and the median."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600,
                          env={**os.environ, "NVIDIA_TF32_OVERRIDE": "0"})
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise RuntimeError(f"{name}: exit status {done.returncode}: {said[-1]}")
    source, *times = done.stdout.split() or [""]
    value = figures.median([float(time) for time in times])
    if not value > 0:
        raise RuntimeError(f"{name}: no times")
    return source, value


def run(options: argparse.Namespace) -> None:
    ours = [options.program, "cuda:0" if options.device == "cuda" else "virt:1", str(options.size),
            str(options.rounds)]
    theirs = [sys.executable, "-B", START, "gemm", "--worker", "--device", options.device,
              "--size", str(options.size), "--rounds", str(options.rounds)]
    with open(options.out, "x", encoding="utf-8") as file:
        print("source", "device", "size", "lockstep_ns", "pytorch_ns", sep="\t", file=file)
        for number in range(options.launches):
            order = [("lockstep", ours), ("PyTorch", theirs)]
            found = dict((name, launch(name, command))
                         for name, command in (order if number % 2 == 0 else reversed(order)))
            print(found["lockstep"][0], options.device, options.size, found["lockstep"][1],
                  found["PyTorch"][1], sep="\t", file=file, flush=True)
    print(options.out)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="compare-pytorch gemm", allow_abbrev=False)
    parser.add_argument("--program", help="lockstep-gemm-rate of a build")
    parser.add_argument("--out", help="a new file of tab-separated values")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--launches", type=int, default=6)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--options-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.worker and (options.program is None or options.out is None):
        parser.error("--program and --out are needed")
    if options.options_only:
        return PASSED
    try:
        if options.worker:
            print("measured", *torch_times(options.device, options.size, options.rounds), sep="\n")
        else:
            run(options)
        return PASSED
    except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"compare-pytorch gemm: {error}", file=sys.stderr)
        return MISUSE if isinstance(error, FileExistsError) else FAILED

