"""ranks.py: starts a program once for each rank, on the CPU, and says how all of them ended."""
from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import NoReturn


def port() -> str:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return str(own.getsockname()[1])


def start(ranks: int) -> None:
    """Returns in each rank; the process that called it first ends here, with the status of the ranks."""
    if "RANK" in os.environ:
        return
    common = {"WORLD_SIZE": str(ranks), "LOCAL_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port(),
              "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    each = [subprocess.Popen([sys.executable, "-W", "ignore", *sys.argv],
                             env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)})
            for rank in range(ranks)]
    sys.exit(max((process.wait() for process in each), key=abs))


def end(what: str, found: object, expected: object) -> NoReturn:
    """Says on rank 0 what was found, in one line, and ends the rank: with 1 if it is not what was expected."""
    right = found == expected
    if os.environ.get("RANK", "0") == "0":
        print(f"{what} {found}{'' if right else f', must be {expected}'}", flush=True)
    sys.stdout.flush()
    os._exit(0 if right else 1)  # some libraries hang when they end
