#!/usr/bin/env python3
"""ranges_test.py: every field of the tables of records, with values that it cannot have. The file is sealed
again after each edit, and `lockstep report` must refuse it in one line that names the field.

usage: ranges_test.py LOCKSTEP DIFFER FOLDER

The fields come from the program: a new one without a range fails here. What is believed all the same is in
ANY and ZERO, with the reason; an entry there that is refused fails, too."""
from __future__ import annotations

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import typing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from baseline_plant import bare, chained  # noqa: E402

TEXT, HASH, OPTIONS, BOOL, INT, LONG, COUNT, U64, BIG, REAL, SERIES, NESTED = range(12)
HARDWARE, SOFTWARE = "words of hardware", "words of software"
# Fields that can have any value of their type.
ANY = {
    "run.gpu_facts": SOFTWARE, "run.gpu_software": SOFTWARE, "run.git_dirty": "both are read, and said",
    "run.environment": "what somebody set", "run.cflags": SOFTWARE, "run.build_type": SOFTWARE,
    "run.sanitizers": SOFTWARE, "run.compiler": SOFTWARE, "run.kernel": SOFTWARE, "run.libc": SOFTWARE,
    "run.blas": SOFTWARE, "run.cpu_model": HARDWARE, "run.governor": SOFTWARE, "slot.model": HARDWARE,
    "slot.near": "of the placing alone", "cell.oversubscribed": "more than is seen: a caution", "cell.mpi_library": SOFTWARE, "gpu.model": HARDWARE,
    "gpu.shown": "of the driver alone", "gpu.absent": SOFTWARE, "nic.name": HARDWARE, "nic.layer": HARDWARE,
    "nic.state": SOFTWARE,
}
# Numbers that are not 0 here, and can be.
UNKNOWN, COUNTED, MADE = "0: not known", "counted: there can be none", "no machine has to have any"
ZERO = {
    "run.packages": UNKNOWN, "run.cores": UNKNOWN, "run.mem_bytes": UNKNOWN, "run.l1d_bytes": UNKNOWN,
    "run.l2_bytes": UNKNOWN, "run.l3_bytes": UNKNOWN, "run.memlock_bytes": MADE, "run.shm_bytes": MADE,
    "run.timer_overhead_ns": "less than a tick", "cell.probe_ratio": "no difference at all",
    "cell.voluntary_switches": COUNTED, "cell.involuntary_switches": COUNTED, "cell.minor_faults": COUNTED,
    "cell.major_faults": COUNTED, "cell.foreign_frac": COUNTED, "cell.steal_frac": COUNTED,
    "cell.cpu_hz": UNKNOWN, "run.numa_balancing": "off", "end.writing": "less than a tick",
}
# The other name in a message, of what it contradicts.
CALLED = {
    "run.numa_nodes": "numa", "run.pus": "packages", "cell.warmup_steps": "warm-up", "cell.n_samples": "t_start_ns",
    "cell.n_ranks": "scatter", "cell.compute_alone_ns": "hidden_frac", "cell.comm_alone_ns": "hidden_frac",
    "cell.whole_ns": "hidden_frac", "cell.setup_ns": "probe_ns",
}
# Tables of which nothing has to be more than 0.
COUNTS = ("numa", "gpu", "reading", "nvlink", "nic", "watched", "during")


def value_of(kind: int, unit: str) -> object:
    """One that the field can have."""
    if kind in (TEXT, HASH):
        return {"PCI address": "0000:19:00.0", "16 hex digits or none": "0123456789abcdef"}.get(unit, "Example")
    return {BOOL: True, SERIES: [1.0, 1.0]}.get(kind, 1 if kind == INT else 1.0)


def values_wrong(kind: int, least: int, most: int, unit: str, was: object) -> list[object]:
    if kind in (TEXT, HASH, OPTIONS):
        return ["~ \u00e9 ~"]
    if kind == BOOL:
        return [not was]
    if kind == BIG:
        return ["-1", "18446744073709551616", "77" if unit == "integer" else "5000000000000000000"]
    if kind == SERIES:
        return [[-1e19, 1.0]]
    if kind == NESTED:
        return [5]
    if kind == LONG:
        return [least - 1, 99]
    values: list[object] = [-1e19, 1e300] if kind == REAL else [least - 1, most + 1]
    return values + ([0] if was not in (0, None) else [])


class Records:
    def __init__(self, lockstep: str, differ: str, folder: pathlib.Path) -> None:
        self.lockstep, self.folder, self.path = lockstep, folder, folder / "edited.jsonl"
        listed = subprocess.run([differ, "fields"], capture_output=True, text=True, check=True).stdout
        rows = [line.split("\t") for line in listed.splitlines()]
        self.fields = [(name, int(kind), int(least), int(most), unit) for name, kind, least, most, unit in rows]
        subprocess.run([lockstep, "sweep", "--devices", "virt:2", "--mode", "ddp,dp", "--counts", "2", "--batch", "7",
                        "--workload", "mlp:8,6,4", "--seed", "5", "--seconds", "0.001", "--steps", "12:12", "--bind",
                        "none", "--out", str(folder / "true.jsonl")], capture_output=True, check=True)
        lines = [json.loads(bare(line)) for line in (folder / "true.jsonl").read_text().splitlines()]
        reading = self.made("reading") | {"links": [self.made("nvlink")]}
        lines[0]["gpus"] = [self.made("gpu") | {"reading": reading}]
        lines[0]["nics"] = [self.made("nic")]
        watched = self.made("watched") | {"before": reading, "after": reading, "during": self.made("during")}
        self.cells = {line["cell"]["mode"]: i for i, line in enumerate(lines) if "cell" in line}
        for i in self.cells.values():
            lines[i]["gpus"] = [watched]
        self.lines = lines

    def made(self, name: str) -> dict[str, object]:
        return {field.split(".")[1]: value_of(kind, unit) for field, kind, _, _, unit in self.fields
                if field.startswith(name + ".") and kind != NESTED}

    def objects(self, name: str, mode: str, lines: list[typing.Any]) -> dict[str, typing.Any]:
        """Where the fields of that table are."""
        cell = lines[self.cells[mode]]
        found: dict[str, dict[str, typing.Any]] = {"run": lines[0], "slot": lines[0]["slots"][1], "key": cell["cell"], "cell": cell, "end": lines[-1],
                "numa": lines[0]["numa"][0], "gpu": lines[0]["gpus"][0], "reading": lines[0]["gpus"][0]["reading"],
                "nvlink": lines[0]["gpus"][0]["reading"]["links"][0], "nic": lines[0]["nics"][0],
                "watched": cell["gpus"][0], "during": cell["gpus"][0]["during"]}
        return found[name]

    def refused(self, lines: list[typing.Any]) -> str:
        """Why, or "": it is believed."""
        text = [json.dumps(line, separators=(",", ":")) for line in lines]
        done = chained(text, lambda line: '"lockstep/end/' in line)
        self.path.write_text("\n".join(done) + "\n", encoding="utf-8")
        ended = subprocess.run([self.lockstep, "report", str(self.path), "--format", "csv"], capture_output=True,
                               text=True, timeout=60)
        if ended.returncode not in (0, 1, 2) or (ended.returncode == 2) != (ended.stderr.count("\n") == 1):
            sys.exit(f"status {ended.returncode}: {ended.stderr}")
        return ended.stderr if ended.returncode == 2 else ""

    def edited(self, name: str, mode: str, value: object) -> str:
        lines = copy.deepcopy(self.lines)
        table, field = name.split(".")
        self.objects(table, mode, lines)[field] = value
        return self.refused(lines)


def main() -> int:
    lockstep, differ, path = sys.argv[1:]
    folder = pathlib.Path(path)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    records = Records(lockstep, differ, folder)
    why = records.refused(records.lines)
    faults, edits = [f"the true record is refused: {why}"] if why else [], 0
    believed = {name: 0 for name in (*ANY, *ZERO)}
    for name, kind, least, most, unit in records.fields:
        table, field = name.split(".")
        if field in ("chain", "seal"):
            continue  # of the file: made anew here, and tested by torture.file.changed
        mode = "ddp" if field in ("compute_alone_ns", "comm_alone_ns", "whole_ns", "hidden_frac") else "dp"
        names = [f'"{field}"', CALLED.get(name, '"cell_id"' if table == "key" else f'"{field}"')]
        was = records.objects(table, mode, records.lines).get(field)
        for value in values_wrong(kind, least, most, unit, 0 if table in COUNTS and kind != BOOL else was):
            why, edits = records.edited(name, mode, value), edits + 1
            known = ZERO if value == 0 and value is not False else ANY
            if not why and name in known:
                believed[name] += 1
            elif not why:
                faults.append(f"{name}: {value!r} is believed, instead of {was!r}")
            elif not any(called in why for called in names):
                faults.append(f"{name}: {value!r}: not named: {why.strip()}")
    # A value that is 0 or unknown here was not tried.
    faults += [f"{name} needs no exception" for name, n in believed.items() if n == 0 and name in ANY]
    print("\n".join(faults), file=sys.stderr)
    print(f"{len(records.fields)} fields, {edits} edits, {len(faults)} faults")
    return 1 if faults or len(records.fields) < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
