"""worker.py: one process of one launch of a PyTorch arm: a rank of DistributedDataParallel, the
plain program, or the bare matrix products.

    start.py worker '{"around": "ddp", "workload": ..., "rank": 0, ...}'    (launch.py has the fields)

Every step is checked, outside the time that is measured. One line of JSON on standard output.
"""
from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import traceback
from typing import Any, NoReturn


def prepare_process(cores: list[int]) -> None:
    """Ends with its parent; runs where lockstep's worker of that device would, or, beside GPUs,
    on any core."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if cores:
        os.sched_setaffinity(0, cores)


def measure(program, pace, meeting, drain) -> tuple[list[int], list[int]]:
    """Start and end of every step. The barriers are before the start and after the end; GPUs have
    done everything at both. Those of all ranks have before any of them starts."""
    from .meeting import now
    from .steady import END

    starts, ends = [], []
    while True:
        index = len(starts) % 2
        word = pace.next() if pace is not None else 0
        if word != END:
            program.prepare(index)
            drain()
        if meeting is not None:
            word = meeting.meet(word)
        if word == END:
            return starts, ends
        start = now()
        program.step(index)
        drain()
        end = now()
        if meeting is not None:
            meeting.meet()
        starts.append(start)
        ends.append(end)
        if pace is not None:
            pace.times.append(end - start)
        program.check(index, len(starts) - 1)


def libraries() -> dict[str, str]:
    """What is loaded into this process, after it has multiplied something; not numpy's own library of
    products, which its releases bring beside it."""
    found: dict[str, str] = {}
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            name = line.split()[-1]
            for kind in ("openblas", "mkl", "blis", "atlas", "armpl", "libblas", "gloo", "gomp", "iomp"):
                if kind in os.path.basename(name) and "/numpy.libs/" not in name:
                    found[kind] = name
    return found


def has_nccl(torch: Any) -> bool:
    return torch.distributed.is_available() and torch.distributed.is_nccl_available()


def products_library(torch: Any, kind: str) -> tuple[str, str]:
    """And that of what ranks send: gloo's, or on GPUs NCCL with its version."""
    if kind == "cuda":
        nccl = ".".join(map(str, torch.cuda.nccl.version())) if has_nccl(torch) else ""
        return f"cuBLAS of CUDA {torch.version.cuda}", f"NCCL {nccl}" if nccl else ""
    loaded = libraries()
    fast = [loaded[kind] for kind in ("openblas", "mkl", "blis", "atlas", "armpl") if kind in loaded]
    if not fast and torch.backends.mkl.is_available():
        fast = ["MKL inside libtorch"]
    return os.path.basename(fast[0]) if fast else "", os.path.basename(loaded.get("gloo", "inside libtorch"))


def lacks(torch: Any) -> list[str]:
    """What an arm may need, as arms.py calls it."""
    there = {"torch.compile": hasattr(torch, "compile"), "NCCL": has_nccl(torch),
             "fused attention": hasattr(torch.nn.functional, "scaled_dot_product_attention")}
    return [what for what, is_there in there.items() if not is_there]


def describe(kind: str) -> dict[str, object]:
    import torch

    blas, gloo = products_library(torch, kind)
    return {"torch": torch.__version__, "python": sys.version.split()[0], "blas": blas, "gloo": gloo,
            "build": " ".join(torch.__config__.show().split())[:1000],
            "lacks": lacks(torch)}


def run(job: dict) -> dict[str, object]:
    prepare_process(job["cores"])
    import torch

    from .devices import Drain, begin, gpus_of
    from .meeting import Meeting
    from .programs import make
    from .steady import Pace

    begin(torch, job["kind"], job["rank"], job["math"])
    program = make(job)
    meeting = None
    if job["ranks"] > 1:
        meeting = Meeting(job["meeting"], job["rank"], job["ranks"], job["spin"])
    pace = None
    if job["rank"] == 0:
        pace = Pace(job["seconds"], tuple(job["steps"]), tuple(job["warmup"]))
    gc.collect()
    gc.freeze()
    gc.disable()
    starts, ends = measure(program, pace, meeting, Drain(torch, job["kind"], gpus_of(job)))
    found = {"starts": starts, "ends": ends, "values_checked": program.values,
             "steps_checked": program.steps, "compiled": program.compiled,
             "about": describe(job["kind"])}
    if program.attention:
        found["attention"] = program.attention
    if pace is not None:
        found.update(warmup=pace.warmup)
    return found


def main(arguments: list[str]) -> NoReturn:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        answer = run(json.loads(arguments[0]))
    except Exception as error:
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    os._exit(0 if "error" not in answer else 1)  # the others may wait for us in a collective

