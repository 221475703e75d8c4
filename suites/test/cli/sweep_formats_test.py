#!/usr/bin/env python3
"""sweep_formats_test.py: the numbers that `lockstep sweep --format` prints at its end, read by parsers
that are not ours, compared with what follows from its records, and with what `lockstep report` prints.

usage: sweep_formats_test.py LOCKSTEP FOLDER"""
from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
from formats_test import FORMATS, check, check_said  # noqa: E402

SMALL = ("--bind", "none", "--devices", "virt:2", "--counts", "2", "--workload", "mlp:8,6,4", "--seed", "3",
         "--seconds", "0.01", "--steps", "5:10")
GOOD = ("--mode", "plain,dp,ddp", "--batch", "8,16", "--launches", "6", *SMALL)
INTERRUPTED = ": the sweep was interrupted"


def run(status: int, *arguments: str) -> tuple[str, str]:
    ended = subprocess.run(arguments, capture_output=True, timeout=120)
    check(ended.returncode == status,
          f"{arguments}: status {ended.returncode}, not {status}: {ended.stderr.decode()}")
    return ended.stdout.decode(), ended.stderr.decode()


def check_all(lockstep: str, status: int, report: int, path: str, *options: str) -> tuple[set, set]:
    """One sweep, asked again: what is verified is not measured again, and what is not is. Each time what
    its report prints."""
    said: dict[str, str] = {}
    sweep = (lockstep, "sweep", *options, "--out", path)
    for name in (*FORMATS, "md"):
        said[name], summary = run(status, *sweep, "--format", name, *(["--resume"] if said else []))
        check(f"  records   {path}\n" in summary, f"{name}: the summary names no records")
        if name in ("annotations", "junit"):
            check(INTERRUPTED not in said[name], f"{name}: nothing was interrupted")
        check(said[name] == run(report, lockstep, "report", "--format", name, path)[0], f"{name}: another report")
    if report > 0:
        said = {name: run(report, lockstep, "report", "--format", name, path)[0] for name in FORMATS}
    return check_said(path, said)


def interrupt(lockstep: str, path: str, cells: int, *options: str) -> str:
    """What a sweep prints that is interrupted when so many cells are there, and not all."""
    with subprocess.Popen((lockstep, "sweep", *options, "--out", path), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as sweep:
        there = pathlib.Path(path)
        while sweep.poll() is None and (not there.exists() or
                                        there.read_bytes().count(b"\n") < 1 + cells):
            time.sleep(0.02)
        sweep.send_signal(signal.SIGINT)
        out, err = sweep.communicate(timeout=60)
    check(sweep.returncode == 130 and b"interrupted; to continue" in err, f"{path}: {sweep.returncode}, {err}")
    return out.decode()


def test_interrupted(lockstep: str) -> None:
    grid = ("--mode", "plain,dp", "--batch", "8:64:+1", *SMALL)
    for name in FORMATS:
        path = name + ".jsonl"
        text = interrupt(lockstep, path, 2, *grid, "--format", name)
        said = {other: run(1, lockstep, "report", "--format", other, path)[0] for other in FORMATS}
        check(text == said[name], f"{name}: another report")
        good, bad = check_said(path, said, missing=1)
        check(2 <= len(good) < 114 and not bad, f"{len(good)} cells before the interruption")
        check(f"{len(good)} of {len(good)} cells are measured and verified{INTERRUPTED}" in said["annotations"] and
              f"::error title=lockstep::{114 - len(good)} of 114 planned launches are missing{INTERRUPTED}"
              in said["annotations"], "annotations: interrupted")
        error = xml.fromstring(said["junit"]).find(".//error")
        check(error.get("message").endswith(INTERRUPTED), "junit: interrupted")
        check(f"\nlockstep_missing_launches {114 - len(good)}\n" in said["openmetrics"], "openmetrics: missing")
    long = ("--bind", "none", "--devices", "virt:1", "--workload", "mlp:512,512,10", "--mode", "plain", "--batch", "512",
            "--seconds", "100", "--steps", "2:100000", "--timeout", "300", "--format")
    suite = xml.fromstring(interrupt(lockstep, "nothing.jsonl", 0, *long, "junit")).find("testsuite")
    check((suite.get("tests"), suite.get("errors")) == ("1", "1"), f"nothing measured: {suite.attrib}")
    summary = interrupt(lockstep, "nothing2.jsonl", 0, *long, "md")
    check("Of 1 planned launches, 0 were measured and 0 verified; 1 not run." in summary, f"nothing: {summary}")


def test_hostile(lockstep: str) -> None:
    """A file that does not say when it began is refused, and nothing of it is in the summary of a job."""
    with open("good.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        line.pop("chain", None)
        line.pop("seal", None)
    lines[0]["created_utc"] = "<img src=x>|`id`$(id) [x](y)"
    with open("hostile.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    text, words = run(2, lockstep, "sweep", *GOOD, "--out", "hostile.jsonl", "--resume", "--format", "md")
    check(text == "" and "not ISO 8601" in words, f"hostile: {text}{words}")


def test_misuse(lockstep: str) -> None:
    """One line, and nothing measured."""
    sweep = (lockstep, "sweep", "--mode", "plain", "--batch", "8", *SMALL, "--out", "never.jsonl")
    for words, options in (("xml", ("--format", "xml")), ("format", ("--format", "")), ("text", ("--format", "text")),
                           ("twice", ("--format", "csv", "--format", "csv"))):
        out, err = run(2, *sweep, *options)
        lines = err.splitlines()
        check(not out and words in lines[0] and len(lines) == 2 and lines[1].startswith("Try 'lockstep sweep --help'"),
              f"{options}: {out}, {err}")
    for options in (("--a", "--format csv", "--b", "--mode dp"), ("--ab", lockstep, lockstep, "--forma", "csv")):
        _, err = run(2, lockstep, "compare", *options, *SMALL, "--batch", "8")
        check("--format is of a sweep here" in err.splitlines()[0], f"{options}: {err}")
    check(not os.path.exists("never.jsonl"), "a file was begun")


def main(lockstep: str, folder: str) -> int:
    os.environ.pop("CI", None)
    lockstep = os.path.abspath(lockstep)
    subprocess.run(["rm", "-rf", folder], check=True)
    os.makedirs(folder)
    os.chdir(folder)
    good, bad = check_all(lockstep, 0, 0, "good.jsonl", *GOOD)
    check(len(good) == 6 and not bad, f"cells of six launches: {good}, {bad}")
    few = (lockstep, "sweep", "--mode", "plain,dp", "--batch", "8", *SMALL, "--out", "few.jsonl")
    run(0, *few)
    check("--strict: the answer is not certain" in run(1, *few, "--resume", "--strict")[1], "one launch is certain")
    faulty = [option.replace("virt:2", "virt:2+fault:launch@3") for option in SMALL]
    good, bad = check_all(lockstep, 1, 3, "bad.jsonl", "--mode", "plain,dp", "--batch", "8", *faulty)
    check(not good and len(bad) == 2, f"cells that fail: {good}, {bad}")
    test_hostile(lockstep)
    test_interrupted(lockstep)
    test_misuse(lockstep)
    print("all formats say what the records say")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
