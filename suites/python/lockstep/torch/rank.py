"""rank.py: one rank of DistributedDataParallel, a process of its own with one thread.

It does what ranks.py asks for, one operation at a time. Only a rank that has joined has a second
thread: PyTorch's join context shadows the collectives of the others there until all have joined.
"""
from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.nn.parallel import DistributedDataParallel

from ..errors import Refusal, report_of
from .model import Bucket, Forward, Model, Result, Step
from .place import here

COLLECTIVE_LIMIT = datetime.timedelta(seconds=60)


def launch(buckets, bucket):
    """A communication hook: notes the bucket, and reduces as DistributedDataParallel does. PyTorch
    reads its annotations, and does not accept them as text."""
    buffer = bucket.buffer()
    buckets.append(Bucket(buffer.numel() * buffer.element_size(), time.monotonic_ns()))
    return allreduce_hook(dist.group.WORLD, bucket)


class RankModel(Model):
    """A model whose forward goes through DistributedDataParallel."""

    def __init__(self, description: str, options: dict[str, bool]):
        super().__init__(description, 0)
        search = options["find_unused_parameters"] or self.block.find_unused
        self.ddp = DistributedDataParallel(self.block, find_unused_parameters=search)
        self.buckets: list[Bucket] = []
        if options["trace_buckets"]:
            self.ddp.register_comm_hook(self.buckets, launch)
        self.runner = self.ddp
        self.by_initial = not options["divide_by_active"]
        self.context: Any = None
        self.shadow: threading.Thread | None = None
        self.shadow_error: BaseException | None = None

    def forward(self, op: Forward) -> Result:
        """Runs inside `join` if the ranks say which of them are active; a joined rank has nothing
        to do."""
        if op.active is None or not op.any_active:
            self.end_join()
        if op.active is None:
            return super().forward(op)
        if op.any_active and self.context is None:
            self.context = self.ddp.join(divide_by_initial_world_size=self.by_initial)
            self.context.__enter__()
        if op.active and self.shadow is not None:
            raise Refusal("inval", "a rank that has joined cannot come back before all have")
        if op.active:
            return super().forward(op)
        if op.any_active and self.shadow is None:
            self.shadow = threading.Thread(target=self.leave, daemon=True)
            self.shadow.start()
        return Result(joined=True)

    def run(self, inputs: list[torch.Tensor], op: Forward) -> tuple[torch.Tensor, ...]:
        self.ddp.train(op.train)
        with self.ddp.no_sync() if op.no_sync else contextlib.nullcontext():
            return super().run(inputs, op)

    def backward(self, gradients):
        if self.shadow is not None:
            return Result(joined=True)
        self.buckets.clear()
        result = super().backward(gradients)
        result.buckets = list(self.buckets)
        return result

    def step(self, step: Step) -> None:
        """Makes a step, except in a joined rank, whose loop has ended."""
        if self.shadow is None:
            super().step(step)

    def leave(self) -> None:
        """Leaves the join context, and returns when all ranks have left it."""
        here.replica = dist.get_rank()
        try:
            self.context.__exit__(None, None, None)
        except BaseException as error:  # handed over to end_join
            self.shadow_error = error

    def end_join(self) -> None:
        """Ends the training loop for all ranks that are still in it."""
        if self.context is None:
            return
        if self.shadow is None:
            self.leave()
        else:
            self.shadow.join()
        self.context = self.shadow = None
        error, self.shadow_error = self.shadow_error, None
        if error is not None:
            raise error


class Rank:
    """The operations of one rank."""

    def __init__(self, options: dict[str, bool]):
        self.options = options
        self.models: dict[int, RankModel] = {}

    def model_open(self, number: int, description: str) -> list[str]:
        """Opens a model; all ranks must do so together."""
        self.models[number] = RankModel(description, self.options)
        return [slot.name for slot in self.models[number].slots]

    def model_close(self, number: int) -> None:
        """Closes a model; it is no error if this rank never opened it."""
        self.models.pop(number, None)

    def call(self, number: int, method: str, *arguments: Any) -> Any:
        """Calls a method of a model."""
        if number not in self.models:
            raise Refusal("inval", f"no model {number}")
        return getattr(self.models[number], method)(*arguments)


def die_with_parent(alive: Connection, store: str) -> None:
    """Ends this process when the other end of the pipe is closed, which happens however the adapter
    ends."""
    with contextlib.suppress(EOFError, OSError):
        alive.recv()
    shutil.rmtree(os.path.dirname(store), ignore_errors=True)
    os._exit(0)


def main(connection: Connection, alive: Connection, rank: int, ranks: int, store: str,
         options: dict[str, bool]) -> None:
    """Runs the process: it answers ("ok", value) or ("error", report)."""
    threading.Thread(target=die_with_parent, args=(alive, store), daemon=True).start()
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    here.replica, type(here).rank = rank, True
    worker = Rank(options)
    try:
        dist.init_process_group("gloo", store=dist.FileStore(store, ranks), rank=rank,
                                world_size=ranks, timeout=COLLECTIVE_LIMIT)
        connection.send(("ok", None))
    except Exception as error:
        connection.send(("error", report_of(error)))
        return
    with contextlib.suppress(EOFError):
        while True:
            method, arguments = connection.recv()
            try:
                answer = ("ok", getattr(worker, method)(*arguments))
            except Exception as error:
                answer = ("error", report_of(error))
            connection.send(answer)
    shutil.rmtree(os.path.dirname(store), ignore_errors=True)
    os._exit(0)
