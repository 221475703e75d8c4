"""__main__.py: PyTorch as an implementation under test (suites/impls/exec/PROTOCOL.md).

    PYTHONPATH=suites/python lockstep check --impl exec:'python3 -m lockstep.torch'

Without a GPU it offers what PyTorch does on a CPU: chunk, the bucket assignment, the sampler and
DistributedDataParallel over gloo. With GPUs also DataParallel and its primitives; that part
(gpu.py) has not been run yet. --impl-options: find_unused_parameters, divide_by_active, trace_buckets
(reductions go through a communication hook that notes them).

The layer under test is rank.DistributedDataParallel, and an answer to `open` has its name: docs/my-layer.md
says how to put another one there.

Only answers go to standard output: everything PyTorch or a library prints goes to standard error.
"""
from __future__ import annotations

import os
import sys
import traceback
from typing import Any, TextIO

OPERATIONS = ("open", "close", "reset", "split", "scatter", "gather", "broadcast", "reduce", "apply",
              "buckets", "sampler", "model_open", "model_close", "params", "param", "set", "get",
              "to", "zero_grad", "forward", "backward", "step")


def answers_only() -> TextIO:
    """Keeps standard output for the answers, also from C code and child processes. Python also
    writes no files next to the sources."""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers


def serve(answers: TextIO) -> None:
    """Reads one request line and writes one answer line."""
    import torch

    from .nursery import Nursery
    from .session import Session

    nursery = Nursery(answers.fileno())
    torch.set_num_threads(1)
    session = Session(nursery)
    try:
        answer_all(answers, session)
    finally:
        nursery.close()


def answer_all(answers: TextIO, session: Any) -> None:
    """Serves until the session is closed, or there are no more requests."""
    from ..errors import Refusal, report_of
    from ..protocol import Request, error_json, read_request, write_line

    for line in sys.stdin:
        number = None
        try:
            fields = read_request(line)
            number = fields.get("id")
            if fields["op"] not in OPERATIONS:
                raise Refusal("notsup", f"no operation '{fields['op'][:40]}'")
            answer = {"id": number, "ok": getattr(session, fields["op"])(Request(fields))}
        except Exception as error:
            answer = {"id": number, "error": error_json(report_of(error))}
            fields = {}
        write_line(answers, answer)
        if fields.get("op") == "close":
            return
    session.close(Request({}))


def main() -> int:
    """Runs the adapter; it never ends without a message on standard error."""
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__, end="")
        return 0
    answers = answers_only()
    try:
        serve(answers)
    except KeyboardInterrupt:
        return 130
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
