"""warm.py: PyTorch is imported once for all adapters of a test: each is a copy of one process that has done so. The
import takes longer than most cases."""
from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import sys
import traceback
import warnings
from pathlib import Path
from typing import Iterator

from driver import PACKAGE

# In the place of Python: has a copy run the adapter, and ends as it does.
PYTHON = '''#!{python} -IS
import os, pickle, socket, sys
with socket.socket(socket.AF_UNIX) as own:
    own.connect("{address}")
    socket.send_fds(own, [pickle.dumps((os.getcwd(), sys.argv))], [0, 1, 2])
    status = own.recv(1)
sys.exit(status[0] if status else 1)
'''


def serve(waiting: socket.socket, limit_s: int) -> None:
    """Imports what each adapter needs, and starts a copy for each that asks."""
    os.environ["LOCKSTEP_LIMIT_S"] = str(limit_s)
    warnings.simplefilter("ignore", ResourceWarning)  # which unittest shows, and a new process does not
    sys.path.insert(0, str(PACKAGE))
    with contextlib.suppress(ImportError):  # PyTorch 1.13
        import torch._dynamo  # noqa: F401
    import lockstep.torch.session  # noqa: F401
    from lockstep.torch import __main__ as adapter

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        asked, _ = waiting.accept()
        message, streams, _, _ = socket.recv_fds(asked, 1 << 16, 3)
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            folder, (_, *arguments) = pickle.loads(message)
            os.chdir(folder)
            sys.path.insert(0, folder)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            waiting.close()
            sys.argv = arguments[1:]
            status = adapter.main()
            asked.send(bytes([status]))
            os._exit(status)
        asked.close()
        for stream in streams:
            os.close(stream)


@contextlib.contextmanager
def python(folder: Path, limit_s: int) -> Iterator[Path]:
    """What is to be called in the place of Python, with `-m lockstep.torch ...`; the limit is torch@SECONDS."""
    file, address = folder / "python", folder / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen()
        server = os.fork()
        if server == 0:
            try:
                serve(listening, limit_s)
            except BaseException:
                traceback.print_exc()
            os._exit(1)
    file.write_text(PYTHON.format(python=sys.executable, address=address), encoding="utf-8")
    file.chmod(0o755)
    try:
        yield file
    finally:
        os.kill(server, signal.SIGTERM)
