"""place.py: which replica the current thread runs, and the list of who ran what."""
from __future__ import annotations

import threading
from dataclasses import dataclass

import torch


class Here(threading.local):
    """0 outside DataParallel; a rank of DistributedDataParallel sets its own number, and for all
    threads of its process that it is one."""

    replica = 0
    rank = False


here = Here()


@dataclass
class Visit:
    """struct impl_replica, as reported by the replica itself."""

    device: int
    calls: int
    rows: int
    thread: int
    grad: bool
    train: bool
    bytes_to: int = 0
    bytes_from: int = 0


class Log:
    """The visits of one call."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.visits: dict[int, Visit] = {}

    def clear(self) -> None:
        """Begins a new call."""
        self.visits = {}

    def add(self, device: int, rows: int, train: bool) -> None:
        """Notes that the current thread runs a replica."""
        with self.lock:
            visit = self.visits.get(here.replica)
            if visit is None:
                self.visits[here.replica] = Visit(device, 1, rows, threading.get_ident(), torch.is_grad_enabled(), train)
            else:
                visit.calls += 1

    def in_order(self) -> list[Visit]:
        """Returns the visits, sorted by replica."""
        return [self.visits[replica] for replica in sorted(self.visits)]
