"""late.py: collectives whose results are there once they are waited for, and never before.

Gloo is fast: in most runs a layer that forgets to wait finds the right numbers. With this backend it never does.
Gloo works on copies, and whoever waits, or asks whether the work is done, moves the results.
"""
from __future__ import annotations

import collections
import functools
from typing import Any, Callable

import torch
import torch.distributed as dist

from ..adapter import takes

NAME = "late"
# Each of them has the tensors of its results, alone or in lists, as its first argument.
COLLECTIVES = ("allreduce", "allreduce_coalesced", "broadcast", "reduce", "allgather", "_allgather_base",
               "allgather_coalesced", "all_gather_single", "all_gather_single_coalesced", "gather", "gather_single",
               "scatter", "reduce_scatter", "_reduce_scatter_base", "reduce_scatter_single",
               "reduce_scatter_single_coalesced", "alltoall", "alltoall_base", "all_to_all_single", "recv",
               "recv_anysource")
WORK: Any = getattr(dist, "Work", None) or getattr(dist, "_Work")


def copied(results: Any, pairs: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    """Returns the results with a copy in place of each tensor, and notes the pairs."""
    if not isinstance(results, torch.Tensor):
        return [copied(result, pairs) for result in results]
    if not results.is_contiguous():  # gloo refuses it
        return results
    pairs.append((results, results.detach().clone()))
    return pairs[-1][1]


class LateWork(WORK):  # type: ignore[misc]
    """A collective that has begun."""

    def __init__(self, work: Any, pairs: list[tuple[torch.Tensor, torch.Tensor]]):
        super().__init__()
        self.work, self.pairs = work, pairs
        self.results = [result for result, _ in pairs]

    def arrive(self) -> None:
        for result, copy in self.pairs:
            result.data.copy_(copy)  # as gloo, it changes no version of the tensor
        self.pairs = []

    def wait(self, *timeout: Any, **named: Any) -> bool:
        done: bool = self.work.wait(*timeout, **named)
        self.arrive()
        return done

    def synchronize(self) -> None:
        self.wait()

    def is_completed(self) -> bool:
        if not self.work.is_completed():
            return False
        self.arrive()
        return True

    def is_success(self) -> bool:
        return self.is_completed() and self.work.is_success()

    def result(self) -> Any:
        self.wait()
        return self.results

    def get_future(self) -> Any:
        """A future has no place to wait in: it has its result when it is asked for."""
        future: Any = torch.futures.Future()
        future.set_result(self.result())
        return future

    def exception(self) -> Any:
        return self.work.exception()

    def source_rank(self) -> int:
        rank: int = self.work.source_rank()
        return rank

    _source_rank = source_rank


class LateGroup(dist.ProcessGroup):  # type: ignore[name-defined,misc]
    """Gloo, late."""

    def __init__(self, gloo: Any):
        super().__init__(gloo.rank(), gloo.size())
        self.gloo = gloo
        self.last: collections.deque[LateWork] = collections.deque(maxlen=1000)  # older PyTorch does not keep them
        if hasattr(self, "_register_backend"):  # PyTorch 2 looks there for what has no name here
            kind = dist.ProcessGroup.BackendType.GLOO
            self._register_backend(torch.device("cpu"), kind, gloo)
            self._set_default_backend(kind)

    def getBackendName(self) -> str:
        return NAME

    def send(self, *arguments: Any, **named: Any) -> Any:
        return self.gloo.send(*arguments, **named)

    def barrier(self, *arguments: Any, **named: Any) -> Any:
        return self.gloo.barrier(*arguments, **named)


def late(name: str) -> Callable[..., Any]:
    """Returns a collective of gloo, late."""
    def begin(self: LateGroup, results: Any, *arguments: Any, **named: Any) -> LateWork:
        pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
        copies = copied(results, pairs)
        self.last.append(LateWork(getattr(self.gloo, name)(copies, *arguments, **named), pairs))
        return self.last[-1]

    return begin


for collective in filter(functools.partial(hasattr, dist.ProcessGroupGloo), COLLECTIVES):
    setattr(LateGroup, collective, late(collective))


def make(store: Any, rank: int, size: int, timeout: Any) -> LateGroup:
    return LateGroup(dist.ProcessGroupGloo(store, rank, size, timeout))  # type: ignore[attr-defined]


def register() -> None:
    """Adds it to the backends of PyTorch, once."""
    add: Any = dist.Backend.register_backend
    if not hasattr(dist.Backend, NAME.upper()):
        add(NAME, make, **({"devices": ["cpu"]} if takes(add, "devices") else {}))
