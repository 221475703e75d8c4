"""errors.py: what PyTorch raises, in the words of impl_status.

A Refusal is the adapter's own. Everything else is sorted by its type and text: first by the
patterns below, then by its class. The replica and the devices are read from the text, because
PyTorch puts them there ("Caught RuntimeError in replica 1 on device 1.").
"""
from __future__ import annotations

import os
import re
import traceback
from dataclasses import dataclass
from typing import Iterable

HOST = -1
LONGEST_TEXT = 250

STATUSES = ("inval", "shape", "device", "fault", "nodev", "notsup", "room", "broken", "lost")


def there(devices: int) -> str:
    """Which numbers of devices a session knows."""
    return f"there are {devices}" if devices else "there is the host only (-1)"


@dataclass
class Report:
    """An error as the protocol carries it."""

    status: str
    text: str
    replica: int | None = None
    device: int | None = None
    device_also: int | None = None


class Refusal(Exception):
    """An error of the adapter itself."""

    def __init__(self, status: str, text: str):
        super().__init__(text)
        self.report = Report(status, text)


class Reported(Exception):
    """An error that ranks have reported already; `partly`: other ranks had none."""

    def __init__(self, report: Report, partly: bool = False):
        super().__init__(report.text)
        self.report, self.partly = report, partly


class LayerFault(Exception):
    """The exception of a `fail` layer. Each status has a class, so that DataParallel, which makes a
    new exception of the same class from a text, keeps it."""

    status = "fault"


FAULTS: dict[str, type[LayerFault]] = {
    word: type(f"LayerFault_{word}", (LayerFault,), {"status": word}) for word in STATUSES
}

# The first pattern that matches the text gives the status.
PATTERNS = (
    ("notsup", r"not implemented for|not supported"),
    ("nodev", r"invalid device (id|ordinal)|no such device|No CUDA|CUDA driver|num_gpus"),
    ("device", r"same device|on device .* \(device_ids\[0\]\)|expects all inputs to be on GPUs"
               r"|for CPU tensors|destination to be on the same GPU|must be on the first"
               r"|first device|Expected all tensors"),
    ("shape", r"size of tensor|shape|sizes|dimension|invalid size|number of keys|chunk_sizes"
              r"|same number|must match|output of size"),
    ("inval", r"expected to have finished reduction|not needed when a module|has been marked as"
              r" ready twice|greater than 0|Invalid rank"),
)

# The classes give the status if no pattern matches.
CLASSES: tuple[tuple[type[BaseException], str], ...] = (
    (IndexError, "inval"),
    (KeyError, "shape"),
    (ValueError, "shape"),
    (AssertionError, "shape"),
    (TypeError, "inval"),
    (RuntimeError, "fault"),
)

REPLICA = re.compile(r"in replica (\d+) on device (-?\d+)")
DEVICES = re.compile(r"\b(?:cuda:(\d+)|(cpu))\b")
UNUSED = re.compile(r"Parameter indices which did not receive grad for rank \d+:[\d ]*")


def one_line(text: str) -> str:
    """Returns the first and the last line, because PyTorch puts a traceback between them. Of a long
    text it returns the sentence that names the parameter."""
    found = UNUSED.search(text)
    if found:
        return f"{text.split('.')[0]}. {found[0]}"[:LONGEST_TEXT].strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("Caught"):
        lines = [lines[0].rstrip("."), lines[-1]]
    return ": ".join(lines[:2])[:LONGEST_TEXT] if lines else "no text"


LINES_SHOWN = 3
LONGEST_PLACE = 150
# Files that are no layer under test: of Python, of PyTorch, and ours.
STANDARD, OURS = (os.path.dirname(file) + os.sep for file in (os.__file__, __file__))
INSTALLED = re.compile(r"/(site|dist)-packages/")
PYTORCH = re.compile(INSTALLED.pattern + "(torch|numpy)/")


def is_own(file: str) -> bool:
    """Whether the user wrote it, or installed it as a layer."""
    return not (file.startswith(("<", OURS)) or PYTORCH.search(file)
                or (file.startswith(STANDARD) and not INSTALLED.search(file)))


def in_words(lines: Iterable[tuple[str, int, str]]) -> str:
    """The user's own lines of a stack, the innermost first: "layers.py:7 in reduce, layers.py:30 in forward"; "": it
    has none."""
    own = [f"{os.path.basename(file)}:{line} in {function}" for file, line, function in lines if is_own(file)]
    return ", ".join(own[:LINES_SHOWN])


def place_of(error: BaseException) -> str:
    """Where it was raised, as " (..)"."""
    stack = [(frame.f_code.co_filename, line, frame.f_code.co_name)
             for frame, line in traceback.walk_tb(error.__traceback__)]
    words = in_words(reversed(stack))
    return f" ({words})"[:LONGEST_PLACE] if words else ""


def status_of(error: BaseException, text: str) -> str:
    """Returns the word of impl_status for an exception. "Not supported" is a refusal if the layer says it itself; from
    PyTorch it means that there is no such operation."""
    if isinstance(error, LayerFault):
        return error.status
    *_, innermost = (OURS, *(frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)))
    says_it = is_own(innermost) and "not implemented for" not in text
    for word, pattern in PATTERNS:
        if re.search(pattern, text, re.IGNORECASE) and not (word == "notsup" and says_it):
            return word
    for kind, word in CLASSES:
        if isinstance(error, kind):
            return word
    return "fault"


def report_of(error: BaseException) -> Report:
    """Converts an exception to the form of the protocol."""
    if isinstance(error, (Refusal, Reported)):
        return error.report
    text = str(error) or type(error).__name__
    named = isinstance(error, LayerFault) or text.startswith(("Caught ", type(error).__name__))
    report = Report(status_of(error, text), one_line(text if named else f"{type(error).__name__}: {text}"))
    place = "" if isinstance(error, LayerFault) else place_of(error)
    devices = [HOST if cpu else int(number) for number, cpu in DEVICES.findall(text)]
    found = REPLICA.search(text)
    if found:
        report.replica, report.device = int(found[1]), int(found[2])
    elif devices:
        report.device = devices[0]
        report.device_also = next((device for device in devices if device != devices[0]), None)
    if report.status == "fault" and not isinstance(error, (RuntimeError, LayerFault)):
        traceback.print_exception(type(error), error, error.__traceback__)
    report.text = report.text[:LONGEST_TEXT - len(place)] + place
    return report
