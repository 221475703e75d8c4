"""llmc.py: the CPU program of a checkout of llm.c (train_gpt2.c) beside ours: the same shapes, parameters
and tokens, on the same cores. Its source is read where it lies; what is built from it lies elsewhere.

It says the loss of each step and nothing else. So its rate is set to next to nothing: then every step has
the parameters of the first, and every loss is held against the float64 model.
"""
from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import threading
import time
from typing import Iterator, NamedTuple

import numpy as np

from .classes import loss_of
from .data import CONTEXT, VOCABULARY, Data
from .layers import Model
from .near import exactly, gamma

SOURCE = "train_gpt2.c"
# What main() fixes, and what it becomes; each must be there once.
FIXED = ((r"\bint B = \d+;", "int B = {rows};"), (r"\bint T = \d+;", "int T = {context};"),
         (r"gpt2_update\(&model, [^,]+,", "gpt2_update(&model, 1e-30f,"))
# As its Makefile has them.
FLAGS = ["-Ofast", "-march=native", "-fopenmp", "-DOMP", "-w"]
MODEL, TOKENS = (20240326, 3), (20240520, 1)  # what its files begin with: a number of its own, a version
FIRST, LAST = 2, 19  # steps that are measured; behind them it makes text
LEAST = 3
STEP = re.compile(r"step (\d+): train loss (\S+) \(took (\S+) ms\)")
PRINTED = 1e-6


class Unusable(Exception):
    """It cannot be built, or does not run to its end."""


class Differs(Exception):
    """It says other numbers than it must."""


def build(checkout: str, folder: str, rows: int, context: int) -> str:
    """The program, in folder."""
    try:
        with open(os.path.join(checkout, SOURCE), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"no llm.c in '{checkout}': {error}") from None
    for pattern, wanted in FIXED:
        text, found = re.subn(pattern, wanted.format(rows=rows, context=context), text)
        if found != 1:
            raise Unusable(f"{SOURCE}: '{pattern}' is there {found} times, not once: another version than is known here")
    made = os.path.join(folder, "llmc")
    with open(f"{made}.c", "w", encoding="utf-8") as file:
        file.write(text)
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or not shutil.which("stdbuf"):
        raise Unusable("no C compiler, or no stdbuf")
    done = subprocess.run([compiler, *FLAGS, f"-I{os.path.abspath(checkout)}", f"{made}.c", "-o", made, "-lm"],
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise Unusable(f"{SOURCE} does not compile: {(done.stderr.strip().splitlines() or ['nothing'])[0]}")
    return made


def tokens_of(data: Data) -> np.ndarray:
    """The batch one row behind the other; the last token's next is that of the row that would follow."""
    rows, period = data.inputs(), data.workload.periods[data.index]
    return np.append(rows.ravel(), rows[len(rows) % period % len(rows), 0])


def write_header(file, *numbers: int) -> None:
    file.write(struct.pack("<256i", *numbers, *[0] * (256 - len(numbers))))


def write_files(folder: str, data: Data) -> None:
    """Parameters of all layers lie together, kind by kind."""
    layers, width, heads, context, vocabulary = data.sizes
    values = data.parameters()
    of_layers = [values[2 + kind + 12 * layer] for kind in range(12) for layer in range(layers)]
    with open(f"{folder}/gpt2_124M.bin", "wb") as file:
        write_header(file, *MODEL, context, vocabulary, layers, heads, width, vocabulary)
        for value in (*values[:2], *of_layers, *values[-2:]):
            file.write(np.ascontiguousarray(value, dtype="<f4").tobytes())
    os.makedirs(f"{folder}/dev/data/tinyshakespeare")
    tokens = tokens_of(data)
    for part in ("train", "val"):
        with open(f"{folder}/dev/data/tinyshakespeare/tiny_shakespeare_{part}.bin", "wb") as file:
            write_header(file, *TOKENS, tokens.size)
            file.write(tokens.astype("<u2").tobytes())


def loss_must_be(data: Data) -> tuple[float, float]:
    """And how far any float computation may be away. Rows repeat, and so does what is next to them."""
    context, period = data.sizes[CONTEXT], min(data.rows, data.workload.periods[data.index])
    tokens = tokens_of(data)
    inputs, targets = (part.reshape(-1, context)[:period].astype(np.int64) for part in (tokens[:-1], tokens[1:]))
    y = Model(data.workload, data.parameters()).forward(exactly(inputs.astype(np.float64)))
    part = np.bincount(np.arange(data.rows) % period) / (data.rows * context)
    loss, size, moved = (float((part * of).sum()) for of in loss_of(y, targets))
    return loss, moved + gamma(data.rows * context + data.sizes[VOCABULARY] + 128) * (size + moved) + PRINTED


class Place(NamedTuple):
    """Where it runs: so many threads on these cores, and in a folder that it reads its files from."""

    folder: str
    threads: int
    cores: list[int]


def lines_of(made: str, place: Place, timeout: float) -> Iterator[str]:
    """What it says, as it says it; it ends when nobody wants more."""
    folder, environment = place.folder, {**os.environ, "OMP_NUM_THREADS": str(place.threads)}
    with open(f"{folder}/err", "w", encoding="utf-8") as err, subprocess.Popen(
            ["stdbuf", "-oL", made], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
            text=True, errors="replace", start_new_session=True, env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, place.cores)) as process:
        late = threading.Timer(timeout, process.kill)
        late.start()
        try:
            yield from process.stdout
        finally:
            late.cancel()
            process.kill()


def measure(made: str, place: Place, seconds: float, timeout: float, want: tuple[float, float]) -> list[int]:
    """ns of each step. Every loss is compared."""
    times: list[int] = []
    begin, last = time.monotonic(), -1
    for line in lines_of(made, place, timeout):
        found = STEP.match(line)
        if not found:
            continue
        last, loss = int(found[1]), float(found[2])
        if not abs(loss - want[0]) <= want[1]:
            raise Differs(f"step {last}: loss is {loss!r}, must be {want[0]:.6f}")
        if last == FIRST - 1:
            begin = time.monotonic()
        if last >= FIRST:
            times.append(round(float(found[3]) * 1e6))
        if last == LAST or (len(times) >= LEAST and time.monotonic() - begin >= seconds):
            return times
    raise Unusable(f"it ended, or took more than {timeout:g} s, behind step {last}")


def launch(checkout: str, place: Place, data: Data, seconds: float, timeout: float) -> dict:
    made = build(checkout, place.folder, data.rows, data.sizes[CONTEXT])
    write_files(place.folder, data)
    times = measure(made, place, seconds, timeout, loss_must_be(data))
    checked = FIRST + len(times)
    return {"step_ns": times, "warmup_steps": FIRST, "steps_checked": checked, "values_checked": checked}
