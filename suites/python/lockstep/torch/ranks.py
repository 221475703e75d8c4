"""ranks.py: the ranks of DistributedDataParallel, seen from the adapter: started, asked, ended.

A pool of processes serves all models of one number of ranks. When a rank fails while others wait
for it in a collective, they get a moment to end; then the pool is ended, and its models with it:
PyTorch has no way on from there either.
"""
from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import re
import shutil
import signal
import tempfile
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from ..arrays import Array
from ..errors import Refusal, Report, Reported, in_words
from .model import Forward, Result
from .nursery import Nursery
from .under_test import Options

# The limit of one operation is torch@SECONDS. The suite ends this process after that, so the ranks get less.
CALL_LIMIT = 0.8 * float(os.environ.get("LOCKSTEP_LIMIT_S", "10"))
START_LIMIT = max(50.0, CALL_LIMIT)  # also to open a model
AFTER_AN_ERROR = 1.0
STACK_LIMIT = 0.5
STACK_LINE = re.compile(r'File "(.*)", line (\d+) in (.*)')  # of faulthandler


def ranks_of(numbers: list[int]) -> str:
    return f"rank{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


class Pool:
    """A pool of `ranks` processes."""

    def __init__(self, nursery: Nursery, ranks: int, options: Options):
        self.nursery, self.broken = nursery, False
        self.folder = tempfile.mkdtemp(prefix="lockstep-ddp-")
        pipes = [multiprocessing.Pipe() for _ in range(ranks + 1)]
        *self.connections, self.alive = [ours for ours, _ in pipes]
        *ends, alive = [theirs for _, theirs in pipes]
        self.store = os.path.join(self.folder, "store")
        self.processes = nursery.start(ends, alive, self.store, options)
        for end in (*ends, alive):
            end.close()
        self.collect(dict(enumerate(self.connections)), START_LIMIT)

    def call(self, method: str, arguments: list[tuple[Any, ...]], limit: float = CALL_LIMIT, first: int = 0) -> list[Any]:
        """Asks ranks at once, from the first on, one for each entry of the arguments."""
        if self.broken:
            raise Refusal("fault", "the ranks were ended after an earlier error")
        asked = dict(enumerate(self.connections[first:first + len(arguments)], first))
        for connection, own in zip(asked.values(), arguments):
            connection.send((method, own))
        return self.collect(asked, limit)

    def collect(self, waiting: dict[int, Connection], limit: float) -> list[Any]:
        """Collects one answer from each rank that is waited for; raises the error of the lowest rank, if there is one."""
        answers: dict[int, tuple[str, Any]] = {}
        deadline, died = time.monotonic() + limit, False
        while waiting and time.monotonic() < deadline:
            left = max(0.0, deadline - time.monotonic())
            ready = multiprocessing.connection.wait(list(waiting.values()), left)
            for number in [n for n, connection in waiting.items() if connection in ready]:
                try:
                    answers[number] = waiting.pop(number).recv()
                except (EOFError, OSError):
                    died = True
                    answers[number] = ("error", Report("lost", f"rank {number} died", number))
                if answers[number][0] == "error":
                    deadline = min(deadline, time.monotonic() + AFTER_AN_ERROR)
        late = self.late(sorted(waiting), sorted(answers), limit) if waiting else ""
        errors = [replace(answers[n][1], replica=n) for n in sorted(answers) if answers[n][0] == "error"]
        if waiting or died or any(report.status == "broken" for report in errors):
            self.end()
        if errors:
            raise Reported(errors[0], partly=len(errors) < len(answers))
        if waiting:
            raise Refusal("lost", late)
        return [answers[number][1] for number in sorted(answers)]

    def late(self, waiting: list[int], answered: list[int], limit: float) -> str:
        """Says which ranks hang and where, and which do not: in a collective, those did not call it."""
        stands = [f"rank {number} stands at {words}" for number in waiting if (words := self.stack(number))]
        others = f"{ranks_of(answered)} did" if answered else "no rank did"
        return "; ".join([f"{ranks_of(waiting)} did not answer in {limit:g} s (torch@SECONDS gives more), {others}", *stands])

    def stack(self, number: int) -> str:
        """Asks a rank where it stands (faulthandler)."""
        found: list[tuple[str, int, str]] = []
        deadline = time.monotonic() + STACK_LIMIT
        os.kill(self.processes[number], signal.SIGUSR1)
        while not found and time.monotonic() < deadline:
            time.sleep(0.02)
            with contextlib.suppress(OSError), open(f"{self.store}.{number}", encoding="utf-8", errors="replace") as file:
                found = [(path, int(line), function) for path, line, function in STACK_LINE.findall(file.read())]
        return in_words(found)

    def end(self) -> None:
        """Ends the processes, whatever they are doing."""
        self.broken = True
        try:
            self.nursery.end(self.processes)
        finally:
            for connection in (*self.connections, self.alive):
                connection.close()
            shutil.rmtree(self.folder, ignore_errors=True)


class DistributedModel:
    """impl_model of several ranks."""

    def __init__(self, pool: Pool, number: int, descriptions: list[str]):
        self.pool, self.number, self.ranks = pool, number, len(descriptions)
        self.collective = any(pool.call("model_open", [(number, own) for own in descriptions], START_LIMIT))

    def close(self) -> None:
        """Closes the model in all ranks."""
        if not self.pool.broken:
            self.pool.call("model_close", [(self.number,)] * self.ranks)

    def one(self, number: int, method: str, *arguments: Any) -> Any:
        """Calls a method of the model on one rank. What is in parts is put together by all ranks."""
        if not 0 <= number < self.ranks:
            raise Refusal("inval", f"no rank {number}, there are {self.ranks}")
        if method == "get" and self.collective:
            return self.all(method, [arguments] * self.ranks)[number]
        return self.pool.call("call", [(self.number, method, *arguments)], first=number)[0]

    def share(self, arrays: list[Any], what: str) -> list[list[Any]]:
        """Cuts a list, which is sorted by rank, into equal parts."""
        if len(arrays) % self.ranks:
            raise Refusal("shape", f"{len(arrays)} {what} for {self.ranks} ranks")
        each = len(arrays) // self.ranks
        return [arrays[i * each:(i + 1) * each] for i in range(self.ranks)]

    def forward(self, op: Forward, active: list[bool] | None) -> list[Result]:
        """Makes a forward of all ranks at once."""
        inputs = self.share(op.inputs, "inputs")
        if active is None:
            return self.all("forward", [(replace(op, inputs=own),) for own in inputs])
        if len(active) != self.ranks:
            raise Refusal("shape", f"'active' has {len(active)} entries, not {self.ranks}")
        return self.all("forward", [(replace(op, inputs=own, active=here, any_active=any(active)),)
                                    for own, here in zip(inputs, active)])

    def backward(self, gradients: list[Array | None]) -> list[Result]:
        """Makes a backward of all ranks at once."""
        return self.all("backward", [(own,) for own in self.share(gradients, "gradients")])

    def all(self, method: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Calls a method of the model on every rank. When it fails in some ranks only, they no longer agree on what
        comes next: the pool ends."""
        try:
            return self.pool.call("call", [(self.number, method, *own) for own in arguments])
        except Reported as error:
            if error.partly and not self.pool.broken:
                self.pool.end()
            raise
