#!/usr/bin/env python3
"""documents_test.py: every command line of the documents is run, and what the page says of it is looked at.

    documents_test.py all|slow LOCKSTEP MAKE_RECORDS SOURCE BUILD FOLDER [HAVE...]

A line of a page is a row of its table (pages.py): with what is put in its place to make it small, and what it
has to leave. A row that cannot be run here says why, and its options are read all the same: by `lockstep ...
--help`, which refuses an unknown one, or in the help of the script. A line without a row fails, and so does a row
without a line. HAVE: what this build and this machine have of what rows need; this Python may have PyTorch, too
(`torch`). Prints how many rows were run.
Exits 0 when all is well, 1 when not.
"""
from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pages import PAGES, Row

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
import warm

LIMIT, LONG = 240.0, 4.0  # seconds of a command: not more, and not without a word


def pages(source: Path) -> list[Path]:
    """All that tell a user what to type."""
    return [source / "README.md", *sorted((source / "docs").rglob("*.md")), source / "suites" / "ADAPTERS.md",
            source / "results" / "reference" / "README.md"]


def commands(text: str) -> list[str]:
    """The command lines of a page: in blocks of sh all, in others those with a prompt and those of lockstep.
    Continued lines and quoted ones are one; comments and blanks do not count."""
    found, block, pending = [], None, ""
    for line in text.splitlines():
        fence = re.match(r"\s*```(\w*)", line)
        if fence:
            block, pending = (fence[1] or "plain") if block is None else None, ""
            continue
        if block == "plain":
            prompt = line.startswith("$ ")
            line = line[2:] if prompt else line
            if not prompt and not pending and not re.match(r"(lockstep|scripts/)\S* ", line):
                continue
        elif block != "sh":
            continue
        pending += line
        if pending.endswith("\\"):
            pending = pending[:-1]
        elif pending.count("'") % 2:
            pending += "\n"
        else:
            found.append(" ".join(re.sub(r"(^|\s)#\s.*$", "", pending).split()))
            pending = ""
    return [command for command in found if command]


def spoken(text: str) -> list[str]:
    """Calls with options between the lines."""
    outside = re.sub(r"```.*?```", "", text, flags=re.S)
    return [" ".join(call.split()) for call in re.findall(r"`((?:scripts/|lockstep )[^`]*--[^`]*)`", outside)]


class Failed(Exception):
    """What is wrong with a row, in words."""


class Documents:
    def __init__(self, lockstep: Path, make_records: Path, source: Path, build: Path, folder: Path, have: set[str]):
        self.lockstep, self.source, self.folder, self.have = lockstep, source, folder, have
        self.words = {"SOURCE": str(source), "BUILD": str(build), "MAKE_RECORDS": str(make_records),
                      "PYTHON": sys.executable, "TESTS": str(source / "suites" / "test")}
        # Open MPI starts nothing as root, and no more processes than cores, unless it is told to.
        self.environment = {
            **os.environ, **self.words, "PATH": f"{lockstep.parent}:{os.environ['PATH']}",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
        self.help: dict[str, str] = {}
        self.tests = self.sh('ctest --test-dir "$BUILD" -N -C slow', self.folder)[1]

    def sh(self, command: str, where: Path) -> tuple[int, str]:
        """Its exit status, and all that it printed."""
        done = subprocess.run(["bash", "-c", command], cwd=where, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    # ---- options

    def parsed(self, command: str) -> None:
        """Its options are those of the program, with values that it takes."""
        status, printed = self.sh(f"{command} --help", self.folder)
        if status != 0 or "Usage: lockstep" not in printed:
            raise Failed(f"`{command} --help` ends with {status}: {printed[-300:]}")

    def script(self, name: str, options: list[str]) -> None:
        """The script's help has them."""
        if name not in self.help:
            status, self.help[name] = self.sh(f"{self.source}/{name} --help", self.folder)
            if status != 0:
                raise Failed(f"{name} --help ends with {status}")
        for option in options:
            if not re.search(re.escape(option) + r"(?![\w-])", self.help[name]):
                raise Failed(f"{name} has no option {option}")

    def options(self, command: str) -> int:
        """Of all programs of this project in a line that is not run; how many."""
        found = 0
        for call in re.findall(r"(?<!/)\blockstep [a-z]+(?:[^;|&>']|'[^']*')*", command):
            self.parsed(re.sub(r'"[^"]*\$[^"]*"|\$\w+', "word", call).strip())
            found += 1
        for name, rest in re.findall(r"(scripts/[a-z-]+)((?:[^;|&>']|'[^']*')*)", command):
            if name != "scripts/test":  # whose options are ctest's
                self.script(name, re.findall(r"(?<=\s)--?[a-z][\w-]*", rest.split(" -- ")[0]))
            found += 1
        return found

    # ---- rows

    def run(self, row: Row, where: Path, before: str) -> None:
        """Runs it as it is made small, and looks at what it left."""
        command = row.command
        for old, new in row.swap:
            if old not in command:
                raise Failed(f"'{old}' is not in it")
            command = command.replace(old, new)
        command += row.more
        for setup in row.before:
            status, printed = self.sh(setup, where)
            if status != 0:
                raise Failed(f"before it, `{setup}` ends with {status}: {printed[-600:]}")
        status, printed = self.sh(before + command, where)
        if status not in row.status:
            raise Failed(f"`{command}` ends with {status}: {printed[-800:]}")
        for pattern in row.prints:
            if not re.search(pattern, printed, re.M):
                raise Failed(f"`{command}` does not print '{pattern}': {printed[-800:]}")
        for name, pattern in row.leaves.items():
            if not (where / name).is_file():
                raise Failed(f"`{command}` leaves no {name}")
            left = (where / name).read_text(encoding="utf-8", errors="replace")
            if not re.search(pattern, left, re.M):
                raise Failed(f"`{command}` leaves {name} without '{pattern}': {left[:600]}")
        for check in row.checks:
            status, printed = self.sh(check, where)
            if status != 0:
                raise Failed(f"after `{command}`, `{check}` ends with {status}: {printed[-600:]}")

    def page(self, name: str, text: str, slow: bool) -> tuple[int, int, list[str]]:
        """Rows that were run, rows that were read, and what is wrong."""
        rows, there, wrong, ran, read = PAGES.get(name, ()), commands(text), [], 0, 0
        wrong += [f"{name}: no row for `{command}`" for command in there if command not in {r.command for r in rows}]
        wrong += [f"{name}: no line for the row `{row.command}`" for row in rows if row.command not in there]
        where = self.folder / name.replace("/", "-").removesuffix(".md")
        where.mkdir()
        before = ""
        for row in rows:
            try:
                for test in re.findall(r"\b(?:cli|check|mpi|install|scripts|slow)\.[a-z0-9.-]+", row.not_run):
                    if f": {test}" not in self.tests:
                        raise Failed(f"there is no test {test}")
                if row.not_run or (row.needs and row.needs not in self.have) or row.slow and not slow:
                    read += self.options(row.command)
                    continue
                begun = time.monotonic()
                self.run(row, where, before)
                ran += 1
                if time.monotonic() - begun > LONG:
                    print(f"{time.monotonic() - begun:.1f} s: {row.command}")
            except Failed as failed:
                wrong.append(f"{name}: {row.command}: {failed}")
            except subprocess.TimeoutExpired:
                wrong.append(f"{name}: {row.command}: takes more than {LIMIT:.0f} s")
            if re.match(r"\w+=", row.command):  # a variable of the lines after it
                before += row.command + "\n"
        for call in spoken(text):
            try:
                if call.startswith("scripts/"):
                    self.options(call)
            except Failed as failed:
                wrong.append(f"{name}: {call}: {failed}")
        return ran, read, wrong

    def can_fail(self) -> list[str]:
        """A command without a row, an unknown option, and a command that does not do what is said are found."""
        wrong = []
        if len(self.page("none.md", "```sh\nlockstep check --rules\n```\n", False)[2]) != 1:
            wrong.append("a line without a row is not found")
        for command in ("lockstep sweep --no-such 1", "lockstep sweep --counts x", "scripts/gpu-check --no-such"):
            try:
                self.options(command)
                wrong.append(f"{command} is let through")
            except Failed:
                pass
        for row in (Row("true", status=(1,)), Row("echo a", prints=("^b$",)), Row("true", leaves={"none": ""}),
                    Row("true", checks=("false",))):
            try:
                self.run(row, self.folder, "")
                wrong.append(f"{row} passes")
            except Failed:
                pass
        return wrong


def main() -> int:
    which, lockstep, make_records, source, build, folder, *have = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    Path(folder).mkdir(parents=True)
    documents = Documents(Path(lockstep).resolve(), Path(make_records), Path(source).resolve(), Path(build),
                          Path(folder).resolve(), {*have})
    with contextlib.ExitStack() as stack:
        if importlib.util.find_spec("torch"):
            documents.have.add("torch")
            made = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            documents.environment["PYTORCH"] = str(stack.enter_context(warm.python(made, 10)))
        return all_pages(documents, which == "slow")


def all_pages(documents: Documents, slow: bool) -> int:
    """The exit status."""
    found = pages(documents.source)
    names = [str(path.relative_to(documents.source)) for path in found]
    wrong = documents.can_fail() + [f"no page {name}" for name in PAGES if name not in names]
    total = [0, 0]
    for path, name in zip(found, names):
        ran, read, complaints = documents.page(name, path.read_text(encoding="utf-8"), slow)
        total, wrong = [total[0] + ran, total[1] + read], wrong + complaints
    print("\n".join(wrong), f"{total[0]} command lines were run, the options of {total[1]} others were read", sep="\n")
    return 1 if wrong or total[0] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
