"""Puts a data-parallel layer for PyTorch under test: python -m lockstep.torch [MODULE:NAME]

MODULE is a module, or a file that ends in .py. Without MODULE:NAME PyTorch's DistributedDataParallel is tested.
This program reads requests and writes answers, so `lockstep check` runs it:

    lockstep check --impl torch:MODULE:NAME [--impl-options WORDS]

NAME is a class in the place of DistributedDataParallel, NAME(module, find_unused_parameters=..), or a class or
function NAME(model, rank, world). The result has any of these; what it lacks PyTorch does for the model:

    __call__(*inputs, **named)      the forward
    backward(outputs, gradients)    in the place of torch.autograd.backward
    grad(name, parameter)           the whole gradient, or None; all ranks ask at once
    value(name, parameter)          the whole value; all ranks ask at once
    set_value(name, parameter, v)   v was written into the parameter: for what is kept elsewhere
    step(lr, momentum)              a step of SGD; without it torch.optim's
    zero_grad(), to(device)         sets all gradients to None; moves
    no_sync()                       a context: gradients stay local. Of NAME(model, rank, world) the
                                    backward is in it, too
    join()                          a context for ranks with fewer batches

WORDS: backend=NAME (late, gloo, nccl, mpi, ucc, or one that MODULE registers), find_unused_parameters,
divide_by_active (join), trace_buckets (reductions go through a communication hook that notes them).
late is the default: gloo, but a result is there when it has been waited for, and never before."""
from __future__ import annotations

import importlib.util
import json
import sys
from typing import TextIO

from ..errors import Report
from ..protocol import error_json, write_line
from .under_test import PYTORCH

NEEDED = ("torch", "numpy")


def lacking() -> str:
    """Why this Python can test no layer; "": it can."""
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    return (f"{sys.executable} has no {' and no '.join(absent)}: install {'them' if absent[1:] else 'it'} there "
            f"(pip install {' '.join(absent)}), or name another Python in LOCKSTEP_PYTHON" if absent else "")


def work(answers: TextIO) -> None:
    """Starts the process that ranks are forked from, then answers."""
    import torch

    from ..adapter import answer_all
    from .nursery import Nursery
    from .session import Session

    nursery = Nursery(answers.fileno())
    torch.set_num_threads(1)
    try:
        answer_all(answers, Session(nursery, sys.argv[1] if len(sys.argv) > 1 else PYTORCH))
    finally:
        nursery.close()


def main() -> int:
    """Reads the command line."""
    if len(sys.argv) > 2 or any(word.startswith("-") for word in sys.argv[1:]):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    why = lacking()
    if why:  # is the answer to the first request
        number = json.loads(sys.stdin.readline() or "{}").get("id")
        write_line(sys.stdout, {"id": number, "error": error_json(Report("broken", why))})
        return 1
    from ..adapter import run

    return run(work)


if __name__ == "__main__":
    sys.exit(main())
