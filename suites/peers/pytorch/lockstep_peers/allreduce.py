"""allreduce.py: how long PyTorch's all-reduce of float32 over gloo takes between processes of this
machine, each with one thread. Prints the median of rank 0, in milliseconds.

    scripts/compare-pytorch allreduce [--bytes 12582912] [--times 40] [--processes 2]
"""
from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
import time

from . import figures
from .launch import START

WARMUP = 5
PASSED, FAILED = 0, 1


def measure(options: argparse.Namespace) -> list[float]:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{options.store}", rank=options.rank,
                            world_size=options.processes, timeout=datetime.timedelta(seconds=60))
    numbers, found = torch.empty(options.bytes // 4), []
    for _ in range(WARMUP + options.times):
        numbers.fill_(options.rank + 1)
        dist.barrier()
        begin = time.monotonic_ns()
        dist.all_reduce(numbers)
        found.append((time.monotonic_ns() - begin) / 1e6)
    ranks = options.processes
    if not bool((numbers == ranks * (ranks + 1) / 2).all()):
        raise RuntimeError("the sum of gloo is not exact")
    dist.destroy_process_group()
    return found[WARMUP:]


def start(options: argparse.Namespace) -> str:
    """What rank 0 says, when all have ended well."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-B", START, "allreduce", "--bytes", str(options.bytes),
                   "--times", str(options.times), "--processes", str(options.processes),
                   "--store", os.path.join(folder, "store"), "--rank"]
        ranks = [subprocess.Popen(command + [str(rank)], text=True, stdout=subprocess.PIPE)
                 for rank in range(options.processes)]
        try:
            said = [rank.communicate(timeout=300)[0] for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
    for number, rank in enumerate(ranks):
        if rank.returncode != 0:
            raise RuntimeError(f"rank {number}: exit status {rank.returncode}")
    return said[0].strip()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="compare-pytorch allreduce", allow_abbrev=False)
    parser.add_argument("--bytes", type=int, default=12582912)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    parser.add_argument("--options-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.bytes < 4 or options.times < 1 or options.processes < 1:
        parser.error("--bytes is at least 4, --times and --processes at least 1")
    if options.options_only:
        return PASSED
    try:
        if options.rank is None:
            print(start(options))
        else:
            print(f"{figures.median(measure(options)):.3f}")
        return PASSED
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"compare-pytorch allreduce: {error}", file=sys.stderr)
        return FAILED
