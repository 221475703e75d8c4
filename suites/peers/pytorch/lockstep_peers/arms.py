"""arms.py: what can be measured, a row each: a program in a mode. What differs between arms is here;
harness/report/peer_values.c has the rows of the report.
"""
from __future__ import annotations

from typing import Callable, NamedTuple

from .workloads import Workload

# Of PyTorch's arms, which do the same work in a group: ratios are to the fastest of them.
PARALLEL, PLAIN, PRODUCTS = "fastest parallel", "fastest plain", "fastest products"
FASTEST = "fastest"  # of those that make a whole step
GROUPS = {PARALLEL: (PARALLEL,), PLAIN: (PLAIN,), FASTEST: (PARALLEL, PLAIN)}


class Arm(NamedTuple):
    """Something that is measured: a program in a mode, on so many devices."""

    program: str
    mode: str
    devices: int
    torch: int = 0  # which PyTorch: 0, or from 1 those of --beside


class Asked(NamedTuple):
    """What the arms of a comparison follow from."""

    workload: Workload
    devices: int
    kind: str  # cpu, cuda
    processes: bool  # lockstep's, too
    llmc: bool  # a checkout of llm.c was given


def here_and_on_one(asked: Asked) -> list[int]:
    return sorted({asked.devices, 1}, reverse=True)


def on_one(asked: Asked) -> list[int]:
    return [1]


def where_the_mean_is_exact(asked: Asked) -> list[int]:
    exact = asked.devices > 1 and asked.devices & (asked.devices - 1) == 0
    return [asked.devices] if exact and asked.kind == "cpu" and asked.workload.name.startswith("mlp:") else []


def of_ranks(asked: Asked) -> list[int]:
    """On GPUs of every model: where it cannot be measured, its row says why."""
    return [asked.devices] if asked.kind == "cuda" else where_the_mean_is_exact(asked)


def of_processes(asked: Asked) -> list[int]:
    return where_the_mean_is_exact(asked) if asked.processes else []


def of_llmc(asked: Asked) -> list[int]:
    return [asked.devices] if asked.llmc and asked.kind == "cpu" and asked.workload.periods else []


def of_attention(asked: Asked) -> list[int]:
    return [1] if any(module == "attention" for module, _ in asked.workload.modules) else []


def on(kind: str, counts: Callable[[Asked], list[int]] = lambda asked: [asked.devices]
       ) -> Callable[[Asked], list[int]]:
    return lambda asked: counts(asked) if asked.kind == kind else []


def of_products(counts: Callable[[Asked], list[int]]) -> Callable[[Asked], list[int]]:
    """Of linear layers, and of a model of tokens, products.py knows which products a step has."""
    return lambda asked: counts(asked) if asked.workload.chain or asked.workload.periods else []


def several(kind: str, devices: int) -> str:
    """Ranks on GPUs: one of them has nobody to send its gradients to."""
    return "it takes 2 GPUs or more" if kind == "cuda" and devices < 2 else ""


def several_and_exact(kind: str, devices: int) -> str:
    """As lockstep checks its ranks: bit for bit, which a mean must allow."""
    inexact = kind == "cuda" and devices & (devices - 1) != 0
    return f"the mean over {devices} ranks is not exact" if inexact else several(kind, devices)


class Kind(NamedTuple):
    """A row."""

    program: str
    mode: str
    counts: Callable[[Asked], list[int]]  # the devices that it is measured on
    words: str  # on a terminal; of: " 2.15.0" where there are several
    group: str = ""
    around: str = ""  # what programs.py puts around the model, or in its place
    ranks: bool = False  # a process for each device
    settings: str = ""  # which of the plan's its DistributedDataParallel has
    communicator: str = ""  # lockstep's, where it is not the devices' own
    needs: str = ""  # what not every program has: where it lacks, the arm is absent, with the reason
    unless: Callable[[str, int], str] = lambda kind, devices: ""  # why not on so many of a kind, or nothing


KINDS = (
    Kind("lockstep", "dp", here_and_on_one, "lockstep DataParallel, {n} device{s}"),
    Kind("lockstep", "ddp", of_ranks, "lockstep DDP, {n} device{s}", unless=several_and_exact),
    Kind("lockstep", "ddp-nccl", on("cuda"), "lockstep DDP, NCCL, {n} GPU{s}", communicator="nccl",
         needs="NCCL", unless=several_and_exact),
    Kind("lockstep", "processes", of_processes, "lockstep DDP, MPI, {n} process{es}"),
    Kind("lockstep", "plain", on_one, "lockstep plain, 1 device"),
    Kind("pytorch", "ddp", on("cpu"), "PyTorch{of} DDP tuned, {n} process{es}", PARALLEL, "ddp", True,
         settings="ddp"),
    Kind("pytorch", "ddp-default", on("cpu"), "PyTorch{of} DDP as it comes, {n} process{es}", PARALLEL,
         "ddp", True),
    Kind("pytorch", "ddp-nccl", on("cuda"), "PyTorch{of} DDP tuned, NCCL, {n} GPU{s}", PARALLEL, "ddp", True,
         settings="ddp", needs="NCCL", unless=several),
    Kind("pytorch", "ddp-nccl-default", on("cuda"), "PyTorch{of} DDP as it comes, NCCL, {n} GPU{s}", PARALLEL,
         "ddp", True, needs="NCCL", unless=several),
    Kind("pytorch", "dp", on("cuda"), "PyTorch{of} DataParallel, {n} GPU{s}", PARALLEL, "dp"),
    Kind("pytorch", "plain", on_one, "PyTorch{of} plain, 1 process", PLAIN),
    # In no group: what it does at more cost is what the plain program does.
    Kind("pytorch", "plain-steps", on("cuda", of_attention), "PyTorch{of} plain, attention in steps", "", "steps",
         needs="fused attention"),
    Kind("pytorch", "compiled", on("cpu", on_one), "PyTorch{of} compiled, 1 process", PLAIN, "compile",
         needs="torch.compile"),
    # All devices multiply at once, each its own rows.
    Kind("pytorch", "products", of_products(on("cpu", here_and_on_one)), "  torch.mm{of} alone, {n} x {rows} rows",
         PRODUCTS, "products", True),
    # One of them alone; in old records of the host, too.
    Kind("pytorch", "matmul", of_products(on("cuda", here_and_on_one)), "  torch.mm{of} alone, {rows} rows", "",
         "products"),
    Kind("llmc", "step", of_llmc, "llm.c, {n} thread{s}"),
)
BY_MODE = {(kind.program, kind.mode): kind for kind in KINDS}


def kind_of(program: str, mode: str) -> Kind:
    return BY_MODE[program, mode]


def arms_of(workload: Workload, devices: int, kind: str = "cpu", processes: bool = False,
            torches: int = 1, llmc: bool = False) -> list[Arm]:
    """In the order of the rows; PyTorch's of each PyTorch."""
    asked = Asked(workload, devices, kind, processes, llmc)
    programs = ("lockstep", 1), ("pytorch", torches), ("llmc", 1)
    return [Arm(row.program, row.mode, count, torch) for program, versions in programs
            for torch in range(versions) for row in KINDS if row.program == program for count in row.counts(asked)]


def words_of(program: str, mode: str, devices: int, rows: int, of: str = "") -> str:
    """`rows` of a step, over all devices; `of` is a version to name."""
    many = devices != 1
    return kind_of(program, mode).words.format(
        n=devices, s="s" * many, es="es" * many, rows=-(-rows // devices), of=f" {of}" if of else "")
