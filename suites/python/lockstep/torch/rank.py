"""rank.py: one rank of the layer under test, a process of its own with one thread.

It does what ranks.py asks for, one operation at a time. Only a rank that has joined has a second
thread: PyTorch's join context shadows the collectives of the others there until all have joined.
"""
from __future__ import annotations

import contextlib
import datetime
import faulthandler
import os
import shutil
import signal
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

from ..adapter import takes
from ..arrays import Array
from ..errors import HOST, Refusal, report_of
from . import late, under_test
from .arrays import device_of
from .model import Forward, Model, Result, Slot, Step
from .place import here
from .under_test import Layer, Options

BACKENDS = ("gloo", "nccl", "mpi", "ucc")
COLLECTIVE_LIMIT = datetime.timedelta(seconds=max(60, float(os.environ.get("LOCKSTEP_LIMIT_S", "10"))))


def check_backend(name: str) -> None:
    """Refuses what this PyTorch does not have. Importing the layer under test may have added some."""
    late.register()
    own = [word for word in BACKENDS if getattr(dist, f"is_{word}_available", bool)()]
    if name not in own and (name in BACKENDS or not hasattr(dist.Backend, name.upper())):
        raise Refusal("inval", f"backend '{name[:40]}': this PyTorch has " + ", ".join(own))


def launch(buckets: list[dict[str, int]], bucket: Any) -> Any:
    """A communication hook: notes the bucket, and reduces as DistributedDataParallel does."""
    buffer = bucket.buffer()
    buckets.append({"bytes": buffer.numel() * buffer.element_size(), "launch_ns": time.monotonic_ns()})
    world: Any = dist.group.WORLD
    return allreduce_hook(world, bucket)


class RankModel(Model):
    """A model whose forward goes through the layer under test."""

    def __init__(self, description: str, layer: Layer, options: Options):
        devices = 0 if options.cuda is None else torch.cuda.device_count()
        super().__init__(description, devices, dist.get_rank() if devices else None)
        self.place = device_of(dist.get_rank() if devices else HOST)
        search = options.find_unused_parameters or self.block.find_unused
        self.layer = layer
        self.entered: list[bool] = []  # a function, and no method: a layer may copy the module
        self.block.register_forward_pre_hook(lambda *_, entered=self.entered: entered.append(True))
        self.runner = self.wrapped = layer.build(self.block, dist.get_rank(), dist.get_world_size(), search)
        self.buckets: list[dict[str, int]] = []
        if options.trace_buckets:
            # PyTorch reads a hook's annotations, and does not accept them as text.
            self.wrapped.register_comm_hook(self.buckets, lambda buckets, bucket: launch(buckets, bucket))
        self.by_initial = not options.divide_by_active
        self.quiet = contextlib.ExitStack()
        self.context: Any = None
        self.shadow: threading.Thread | None = None
        self.shadow_error: BaseException | None = None

    def own(self, method: str) -> Any:
        """Returns a method of the layer. What it has from torch.nn.Module is none."""
        found = getattr(self.wrapped, method, None)
        inherited = getattr(type(self.wrapped), method, found) is getattr(torch.nn.Module, method, None)
        return found if callable(found) and not inherited else None

    def needed(self, method: str) -> Any:
        """Returns a method that the layer must have for what is asked."""
        found = self.own(method)
        if found is None:
            raise Refusal("notsup", f"{under_test.name_of(self.layer.make)} has no {method}()")
        return found

    def collective(self) -> bool:
        """Whether the ranks put a value or a gradient together."""
        return any(map(self.own, ("grad", "value"))) or any(hasattr(slot.tensor, "full_tensor") for slot in self.slots)

    def forward(self, op: Forward) -> Result:
        """Runs inside `join` if the ranks say which of them are active; a joined rank has nothing
        to do."""
        if op.active is None or not op.any_active:
            self.end_join()
        if op.active is None:
            return super().forward(op)
        if op.any_active and self.context is None:
            join = self.needed("join")
            how = {"divide_by_initial_world_size": self.by_initial}
            self.context = join(**how if takes(join, *how) else {})
            self.context.__enter__()
        if op.active and self.shadow is not None:
            raise Refusal("inval", "a rank that has joined cannot come back before all have")
        if op.active:
            return super().forward(op)
        if op.any_active and self.shadow is None:
            self.shadow = threading.Thread(target=self.leave, daemon=True)
            self.shadow.start()
        return Result()

    def run(self, inputs: list[torch.Tensor], op: Forward) -> tuple[torch.Tensor, ...]:
        self.quiet.close()
        with contextlib.ExitStack() as quiet:  # no_sync() sees what is raised in it, as in a `with` of a user
            if op.no_sync:
                quiet.enter_context(self.needed("no_sync")())
            if op.no_sync and self.block.inner_no_sync:
                with self.needed("no_sync")():
                    pass  # the outer one goes on
            self.entered.clear()
            found = super().run([tensor.to(self.place) for tensor in inputs], op)
            if not self.entered:
                raise Refusal("fault", "the hooks of the module did not run: call the module, not its forward()")
            outputs = tuple(tensor.to("cpu") for tensor in found)
            turned = self.block.no_sync_backward
            if turned and op.grad and not op.no_sync:
                quiet.enter_context(self.needed("no_sync")())
            if op.grad and (self.layer.wrap != turned or not op.no_sync):
                self.quiet = quiet.pop_all()
            return outputs
        raise self.swallowed()

    def backward(self, gradients: list[Array | None]) -> Result:
        if self.shadow is not None:
            return Result()
        self.buckets.clear()
        with self.quiet:
            result = super().backward(gradients)
            result.buckets = list(self.buckets)
            return result
        raise self.swallowed()

    def module(self) -> torch.nn.Module:
        return self.wrapped if isinstance(self.wrapped, torch.nn.Module) else self.block

    def swallowed(self) -> Refusal:
        """An exception that the user of the layer would never see."""
        return Refusal("fault", f"no_sync() of {under_test.name_of(self.layer.make)} swallows what is raised in it")

    def differentiate(self, outputs: list[torch.Tensor], gradients: list[torch.Tensor]) -> None:
        own = self.own("backward") or super().differentiate
        own(outputs, gradients)

    def get(self, what: str, i: int) -> Array | None:
        slot, own = self.slot(i), self.own(what)
        if own is None or slot.buffer:
            tensor, grad = slot.tensor, slot.tensor.grad
            if what == "grad" and grad is not None and not tensor.is_contiguous() and grad.stride() != tensor.stride():
                raise Refusal("fault", f"{slot.name} has the strides {tensor.stride()}, and its gradient {grad.stride()}")
            return super().get(what, i)
        return slot.array(own(slot.name, slot.tensor))

    def set_value(self, slot: Slot, values: torch.Tensor) -> None:
        own = self.own("set_value")
        if own is None or slot.tensor.shape == values.shape:
            super().set_value(slot, values)
        if own is not None and not slot.buffer:
            own(slot.name, slot.tensor, values)

    def to(self, device: int) -> None:
        own = self.own("to")
        if own is None:
            super().to(device)
        else:
            own(device_of(device))

    def zero_grad(self) -> None:
        own = self.own("zero_grad") or super().zero_grad
        own()

    def step(self, step: Step) -> None:
        """Makes a step, except in a joined rank, whose loop has ended."""
        own = self.own("step")
        if self.shadow is not None:
            return
        if own is None:
            super().step(step)
        elif step.kind is not torch.optim.SGD or step.max_norm > 0:
            raise Refusal("notsup", "a layer with a step() has no other step than that")
        else:
            own(step.options["lr"], step.options["momentum"])

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

    def __init__(self, layer: Layer, options: Options):
        self.layer, self.options = layer, options
        self.models: dict[int, RankModel] = {}

    def model_open(self, number: int, description: str) -> bool:
        """Opens a model; all ranks must do so together."""
        self.models[number] = RankModel(description, self.layer, self.options)
        return self.models[number].collective()

    def methods(self) -> list[str]:
        """Returns which methods the layer has, by making one."""
        model = RankModel('{"layers":[{"kind":"affine","weight":[1]}]}', self.layer, self.options)
        return [method for method in under_test.METHODS if model.own(method)]

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
         options: Options) -> None:
    """Runs the process: it answers ("ok", value) or ("error", report)."""
    threading.Thread(target=die_with_parent, args=(alive, store), daemon=True).start()
    stack = open(f"{store}.{rank}", "w")  # it stays open: of a rank that hangs, the signal writes where it stands
    faulthandler.register(signal.SIGUSR1, file=stack, all_threads=False)
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks))
    here.replica, type(here).rank = rank, True
    if options.cuda is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = options.cuda
        torch.cuda.set_device(rank)
    try:
        worker = Rank(under_test.find(options.layer), options)
        file = dist.FileStore(store, ranks)  # type: ignore[attr-defined]  # not exported
        dist.init_process_group(options.backend, store=file, rank=rank, world_size=ranks, timeout=COLLECTIVE_LIMIT)
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
