"""nursery.py: the process that the ranks are forked from.

PyTorch takes seconds to import, and what its first DistributedDataParallel imports takes as long
again. So the adapter is copied once, before it has used PyTorch (neither CUDA nor autograd's
threads survive a fork), and the copy imports the layer under test and forks every rank.
multiprocessing's fork server is no help: it looks for the modules to preload without our sys.path,
and is silent when it finds none.
"""
from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import signal
import socket
import sys
from multiprocessing.connection import Connection
from typing import Any, Callable, NoReturn

from ..errors import Refusal, Report, Reported, report_of
from . import rank, under_test
from .under_test import About, Options

MESSAGE = 1 << 16
MOST_FDS = 65


class Nursery:
    """The adapter's side. `theirs_alone`: a descriptor that no other process may keep open."""

    def __init__(self, theirs_alone: int):
        self.socket, requests = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = os.fork()
        if self.process == 0:
            self.socket.close()
            os.close(theirs_alone)
            nurse(requests)
        requests.close()

    def ask(self, request: Any, ends: list[Connection]) -> Any:
        """Sends one request, and returns its answer."""
        try:
            socket.send_fds(self.socket, [pickle.dumps(request)], [end.fileno() for end in ends])
            answer = self.socket.recv(MESSAGE)
        except OSError:
            answer = b""
        if not answer:
            raise Refusal("broken", "the process that starts ranks has ended")
        return pickle.loads(answer)

    def about(self, options: Options) -> About:
        """Describes the layer under test, which is imported there."""
        found = self.ask(("about", options), [])
        if not isinstance(found, About):
            raise Reported(found)
        return found

    def start(self, ends: list[Connection], alive: Connection, store: str,
              options: Options) -> list[int]:
        """Starts a process for each end, and returns their numbers."""
        processes: list[int] = self.ask(("start", store, options), [*ends, alive])
        return processes

    def end(self, processes: list[int]) -> None:
        """Ends these processes, and returns when they are gone."""
        self.ask(("end", processes), [])

    def close(self) -> None:
        """Kills the process, after the ranks have ended, so that no process is left when the
        adapter ends. It may be in the middle of an import, which takes seconds."""
        self.socket.close()
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def about(options: Options) -> About | Report:
    try:
        found = under_test.find(options.layer).about()
        rank.check_backend(options.backend)
        return found
    except Exception as error:
        return report_of(error)


def become_rank(number: int, fds: list[int], store: str, options: Options) -> NoReturn:
    """Becomes a rank. `fds`: one end for each rank, and one that is closed when the adapter
    ends."""
    for fd in {*fds} - {fds[number], fds[-1]}:
        os.close(fd)
    try:
        rank.main(Connection(fds[number]), Connection(fds[-1]), number, len(fds) - 1, store, options)
    finally:
        os._exit(0)


def start(requests: socket.socket, fds: list[int], store: str, options: Options) -> list[int]:
    # The first DistributedDataParallel imports this module, if PyTorch has it (2.0 and later).
    with contextlib.suppress(ImportError):
        importlib.import_module("torch._dynamo")
    found = []
    for number in range(len(fds) - 1):
        process = os.fork()
        if process == 0:
            requests.close()
            become_rank(number, fds, store, options)
        found.append(process)
    for fd in fds:
        os.close(fd)
    return found


def end(processes: list[int]) -> None:
    for process in processes:
        os.kill(process, signal.SIGKILL)
    for process in processes:
        os.waitpid(process, 0)


ANSWERS: dict[str, Callable[..., Any]] = {"about": about, "end": end}


def nurse(requests: socket.socket) -> NoReturn:
    """Serves until the adapter ends, because then no request can come. Ranks notice that
    themselves."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        while True:
            message, fds, _, _ = socket.recv_fds(requests, MESSAGE, MOST_FDS)
            if not message:
                status = 0
                break
            word, *arguments = pickle.loads(message)
            answer = start(requests, fds, *arguments) if word == "start" else ANSWERS[word](*arguments)
            requests.send(pickle.dumps(answer))
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:
        print(f"the process that starts ranks: {error!r}", file=sys.stderr)
    finally:
        os._exit(status)
