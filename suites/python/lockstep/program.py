"""program.py: finds the C program and runs it; main() is the console command `lockstep`."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Optional, Sequence

MISUSE = 2
END_S = 10  # the program ends its processes first
SHOWN = 4000

# The program ends with the process that asked for it, however that ends: Linux sends it a signal then. Python's
# preexec_fn must not be used where there are threads, so this is a program between the two, which then becomes ours.
TIED = """import ctypes, os, signal, sys
parent, path, *arguments = sys.argv[1:]
signal.signal(signal.SIGINT, signal.SIG_DFL)
ctypes.CDLL(None).prctl(1, int(signal.SIGTERM), 0, 0, 0)
if os.getppid() == int(parent):
    os.execv(path, arguments)
"""

TORCH = re.compile("(--impl=|-i)?torch([:@]|$)")
HAS_PACKAGE = "import importlib.util, sys; sys.exit(importlib.util.find_spec('lockstep.torch') is None)"


class ProgramMissing(Exception):
    """There is no C program to run."""


@dataclass(frozen=True)
class Ended:
    """A run of the program: its exit status, what it printed, and the end of what it complained."""

    status: int
    out: bytes
    complaints: str


def is_console(path: Path) -> bool:
    """Whether it is the console command, which would only call itself."""
    try:
        with path.open("rb") as file:
            return b"lockstep.program" in file.read(2000)
    except OSError:
        return False


def find() -> Path:
    """The program: in the package, as a wheel has it, else $LOCKSTEP, else on PATH."""
    own = Path(__file__).resolve().parent / "bin" / "lockstep"
    if own.exists():
        return own
    named = os.environ.get("LOCKSTEP", "")
    if named:
        found = shutil.which(named)
        if not found:
            raise ProgramMissing(f"LOCKSTEP={named}: there is no such program")
        return Path(found).absolute()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("lockstep", path=folder) if folder else None
        if found and not is_console(Path(found)):
            return Path(found).absolute()
    raise ProgramMissing(f"the program is missing: not {own}, not on PATH, and LOCKSTEP does not say where it is")


def command() -> list[str]:
    """The words that start it again in a shell, by this Python."""
    console = Path(sys.executable).parent / "lockstep"
    if not is_console(console):
        return [sys.executable, "-m", "lockstep"]
    found = shutil.which("lockstep")
    return ["lockstep" if found and os.path.samefile(found, console) else str(console)]


def environment(path: Path, arguments: Sequence[str]) -> dict[str, str]:
    """Layers under test run in this Python, unless the user named another one. That needs the package, too: a wheel's
    folder is no PYTHONPATH for it, because it has the numpy of this Python."""
    own = dict(os.environ)
    if sys.executable:
        own.setdefault("LOCKSTEP_PYTHON", sys.executable)
    python = own.get("LOCKSTEP_PYTHON", "")
    in_wheel = path.parent == Path(__file__).resolve().parent / "bin"
    if in_wheel and python not in ("", sys.executable) and any(map(TORCH.match, arguments)):
        try:
            lacks = subprocess.run([python, "-c", HAS_PACKAGE], stdin=subprocess.DEVNULL, capture_output=True,
                                   check=False).returncode
        except OSError:
            lacks = 0  # the program says that there is no such Python
        if lacks:
            raise ProgramMissing(f"LOCKSTEP_PYTHON={python}: that Python has no package lockstep: "
                                 "install lockstep-dp there by pip, too")
    return own


def become(arguments: Sequence[str]) -> int:
    """Replaces this process by the program. Returns an exit status if it cannot."""
    try:
        path = find()
        words = command()
        sys.stdout.flush()
        os.execve(path, [words[0] if len(words) == 1 else str(path), *arguments], environment(path, arguments))
    except ProgramMissing as missing:
        print(f"lockstep: {missing}", file=sys.stderr)
    except OSError as error:
        print(f"lockstep: cannot run {path}: {error.strerror}", file=sys.stderr)
    return MISUSE


def run(arguments: Sequence[str], more: Optional[dict[str, str]] = None) -> Ended:
    """Runs it to its end, with more variables. If that is interrupted, the program ends with all its processes."""
    found = find()
    path, own = str(found), environment(found, arguments)
    line = [sys.executable, "-I", "-S", "-c", TIED, str(os.getpid()), path, path, *arguments]
    # Files, not pipes: a process that a layer left running would keep a pipe open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env={**own, **(more or {})})
        try:
            process.wait()
        except BaseException:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - SHOWN))
        return Ended(process.returncode, out.read(), err.read().decode("utf-8", "replace").strip())


def main() -> NoReturn:
    """The console command."""
    sys.exit(become(sys.argv[1:]))
