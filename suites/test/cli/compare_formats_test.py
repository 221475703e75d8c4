#!/usr/bin/env python3
"""compare_formats_test.py: what `lockstep compare --format` prints for other programs, read by
parsers that are not ours and compared with its JSON, or with the record of its pairs.

usage: compare_formats_test.py files|baseline|pairs LOCKSTEP MAKE_RECORDS FOLDER"""
from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

from formats import check, openmetrics_families, read_annotations, run

FORMATS = ("csv", "bmf", "github", "openmetrics", "annotations", "junit")
# Each verdict has an outcome in JUnit, and a level in the log of a job.
TWO_FILES = {"NO EVIDENCE": ("skipped", None), "SUSPECT": ("skipped", "warning"),
             "INVALID": ("error", "error"), "UNMEASURED": ("error", "error")}
GATE = {"EQUIVALENT": (None, None), "IMPROVED": (None, None), "REGRESSED": ("failure", "error"),
        "INCONCLUSIVE": ("skipped", "warning"), "INVALID": ("error", "error")}
NO_GATE = {"EQUIVALENT": ("skipped", None), "IMPROVED": ("skipped", "warning"),
           "REGRESSED": ("skipped", "warning"), "INCONCLUSIVE": ("skipped", "warning"),
           "INVALID": ("error", "error")}
ITSELF = GATE | {"IMPROVED": ("error", "error"), "REGRESSED": ("error", "error")}


class Wanted:
    """verdicts: one for each cell; numbers: time with its ends and cost, for each cell that has them;
    others: verdicts that are not about cells."""

    def __init__(self, states: dict, words: str = "{}") -> None:
        self.states, self.words = states, words
        self.verdicts: dict[tuple, str] = {}
        self.numbers: dict[tuple, tuple] = {}
        self.others: list[tuple] = []

    def add(self, key: tuple, verdict: str, numbers: tuple) -> None:
        self.verdicts[key] = verdict
        if self.states[verdict][0] != "error":
            check(all(number is not None for number in numbers), f"{key}: {numbers}")
            self.numbers[key] = numbers

    def word(self, verdict: str) -> str:
        return verdict if verdict == "INVALID" else self.words.format(verdict)


def near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-5)


def key_of(cell: dict) -> tuple:
    return cell["workload"], cell["mode"], cell["devices"], cell["global_batch"]


def key_of_name(name: str) -> tuple:
    """The key in a name like "mlp:8,4/dp/virt:2/batch 64/..."."""
    part = name.split("/")
    return part[0], part[1], part[2], int(part[3].removeprefix("batch "))


def check_csv(text: str, wanted: Wanted) -> None:
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    found = {(row["workload"], row["mode"], row["devices"], int(row["batch"])): row for row in rows}
    check(len(rows) == len(found) and set(found) == set(wanted.numbers), f"csv: {set(found)}")
    for key, row in found.items():
        got = [float(row[name]) for name in ("time_ratio", "time_lower", "time_upper", "cost_ratio")]
        check(all(map(near, got, wanted.numbers[key])), f"csv: {key}: {got}")
        check(row["verdict"] == wanted.word(wanted.verdicts[key]), f"csv: {key}: {row['verdict']}")


def check_bmf(text: str, wanted: Wanted) -> None:
    found = {name: measures for name, measures in json.loads(text).items() if "/" in name}
    check({key_of_name(name) for name in found} == set(wanted.numbers), f"bmf: {set(found)}")
    for name, measures in found.items():
        time = measures["time-ratio"]
        got = (time["value"], time["lower_value"], time["upper_value"], measures["cost-ratio"]["value"])
        check(all(map(near, got, wanted.numbers[key_of_name(name)])), f"bmf: {name}: {got}")


def check_github(text: str, wanted: Wanted) -> None:
    found = [entry for entry in json.loads(text) if "/" in entry["name"]]
    check({key_of_name(entry["name"]) for entry in found} == set(wanted.numbers), "github: its names")
    for entry in found:
        got = (entry["value"], *(float(end) for end in entry["range"].split(" to ")))
        check(entry["unit"] == "ratio" and all(map(near, got, wanted.numbers[key_of_name(entry["name"])])),
              f"github: {entry}")


def labels_of(text: str) -> dict:
    return dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', text))


def check_openmetrics(text: str, wanted: Wanted) -> None:
    """By hand what a scrape relies on; by prometheus_client, where it is installed, all of it."""
    times, verdicts, judged = {}, {}, {}
    for name, labels, value in re.findall(r"^lockstep_compare_(\w+)\{(.*)\} (\S+)$", text, re.M):
        label = labels_of(labels)
        key = label["workload"], label["mode"], label["devices"], int(label["batch"])
        if name == "time_ratio":
            times[key] = float(value)
        if name == "judged":
            judged[key] = float(value) == 1
        if name == "verdict" and float(value) == 1:
            check(key not in verdicts, f"openmetrics: {key} has two verdicts")
            verdicts[key] = label["lockstep_compare_verdict"]
    check(verdicts == {key: wanted.word(verdict) for key, verdict in wanted.verdicts.items()},
          f"openmetrics: {verdicts}")
    check(judged == {key: key in wanted.numbers for key in wanted.verdicts}, f"openmetrics: {judged}")
    check(set(times) == set(wanted.numbers) and
          all(near(times[key], wanted.numbers[key][0]) for key in times), f"openmetrics: {times}")
    families = openmetrics_families(text)
    if families is None:
        return
    check(len(families["lockstep_compare_time_ratio"].samples) == len(times), "openmetrics: families")
    check(families["lockstep_compare_verdict"].type == "stateset", "openmetrics: its states")
    changed = [case for case in wanted.others if case[0] == "CHANGED"]
    check(families["lockstep_compare_changed"].samples[0].value == len(changed), "openmetrics: changed")


def check_annotations(text: str, wanted: Wanted) -> None:
    said = read_annotations(text)
    found = {key_of_name(title): (level, words) for level, title, words in said if title != "lockstep"}
    levels = {key: wanted.states[verdict][1] for key, verdict in wanted.verdicts.items()}
    check({key: level for key, (level, _) in found.items()} ==
          {key: level for key, level in levels.items() if level}, f"annotations: {found}")
    for key, (_, words) in found.items():
        check(wanted.verdicts[key] in words.split(": ")[0], f"annotations: {key}: {words}")
    for start, (element, level) in wanted.others:
        if level:
            check(any(one[:2] == (level, "lockstep") and one[2].startswith(start) for one in said),
                  f"annotations: no {level} of {start}")


def check_junit(text: str, wanted: Wanted) -> None:
    suite = xml.fromstring(text).find("testsuite")
    cases, others = {}, []
    for case in suite.iter("testcase"):
        check(len(case) <= 1, "junit: a case has one outcome")
        outcome = (case[0].tag, case[0].get("message")) if len(case) else (None, "")
        if "/" in case.get("name") and " of " not in case.get("name"):
            cases[key_of_name(case.get("name"))] = outcome
        else:
            others.append(outcome)
    check({key: outcome[0] for key, outcome in cases.items()} ==
          {key: wanted.states[verdict][0] for key, verdict in wanted.verdicts.items()}, f"junit: {cases}")
    for key, (element, words) in cases.items():
        check(not element or wanted.verdicts[key] in words.split(": ")[0], f"junit: {key}: {words}")
    check(len(others) == len(wanted.others), f"junit: {others}")
    for (element, words), (start, (expected, _)) in zip(others, wanted.others):
        check(element == expected and (not element or words.startswith(start)), f"junit: {element}, {words}")
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        check(int(suite.get(attribute)) == len(list(suite.iter(element))), f"junit: its {attribute}")
    check(int(suite.get("tests")) == len(cases) + len(others), "junit: its tests")


CHECKS = {"csv": check_csv, "bmf": check_bmf, "github": check_github, "openmetrics": check_openmetrics,
          "annotations": check_annotations, "junit": check_junit}


def changed(result: dict, exact: bool) -> list[tuple]:
    return [("CHANGED", ("failure", "error") if exact else ("skipped", "warning"))] * len(result["changes"])


def check_result(wanted_of, status: int, *arguments: str) -> Wanted:
    """Checks all formats of a comparison whose result is the same each time."""
    wanted = wanted_of(json.loads(run(status, *arguments, "--format", "json")))
    wanted.others += changed(json.loads(run(status, *arguments, "--format", "json")), "--exact" in arguments)
    for name in FORMATS:
        CHECKS[name](run(status, *arguments, "--format", name), wanted)
    return wanted


# ---- two files ----------------------------------------------------------------------------------


def of_files(result: dict) -> Wanted:
    wanted = Wanted(TWO_FILES)
    for cell in result["cells"]:
        floor = cell["floor"]
        wanted.add(key_of(cell["cell"]), cell["verdict"],
                   (floor["ratio"], floor["lo"], floor["hi"], cell["cost"]["ratio"]))
    return wanted


NUMBERS = itertools.count(11)


def records(make_records: str, kind: str, path: str, edit=lambda number, line: line) -> str:
    """Of a class of machine that is known; each call's are of other launches."""
    number = next(NUMBERS)
    subprocess.run([make_records, kind, path], check=True)
    text = pathlib.Path(path).read_text(encoding="utf-8").replace('"run_id":"feed', f'"run_id":"{number:04d}')
    lines = text.replace('"start_epoch_ns":"17', f'"start_epoch_ns":"{number}').splitlines()
    lines[0] = lines[0].replace('"machine_class":""', f'"machine_class":"{"7" * 64}"')
    lines[0] = lines[0].replace('"machine_instance":""', '"machine_instance":"%064d"' % 1)
    lines = [edit(number, line) for number, line in enumerate(lines)]
    pathlib.Path(path).write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")
    return path


def failed(line: str) -> str:
    for was, now in (('"status":"ok"', '"status":"failed"'), ('"validated":true', '"validated":false'),
                     ('"reason":""', '"reason":"planted <&> ]]> \\u001b %0A::error::"')):
        check(was in line, f"no {was} to replace")
        line = line.replace(was, now)
    return line


def bytes_edit(moved: str, odd: int):
    """Bytes per step: none on one device, `moved` in one launch."""
    def edit(number: int, line: str) -> str:
        value = "0.0" if '"n_devices":1,' in line else moved if number == odd else "4096.0"
        return line.replace('"bytes_per_step":null', f'"bytes_per_step":{value}')
    return edit


def test_files(lockstep: str, make_records: str) -> None:
    old = records(make_records, "old", "old.jsonl")
    slower = records(make_records, "slower", "slower.jsonl")
    wanted = check_result(of_files, 0, lockstep, "compare", old, slower)
    check(sorted(wanted.verdicts.values()) == ["NO EVIDENCE"] * 8 + ["SUSPECT"] * 4, "verdicts of two files")
    lines = pathlib.Path(slower).read_text(encoding="utf-8").splitlines()
    cell = {json.loads(line)["cell_id"]: n for n, line in enumerate(lines[1:], 1) if "cell_id" in line}
    first = min(cell.values())
    alike = [n for n, line in enumerate(lines) if '"cell"' in line and
             key_of(json.loads(line)["cell"]) == key_of(json.loads(lines[first])["cell"])]
    end = len(lines) - 1
    one = records(make_records, "slower", "one.jsonl",
                  lambda n, line: "" if n == end else failed(line) if n == first else line)
    whole, again = (records(make_records, "slower", path,
                            lambda n, line: "" if n == end else failed(line) if n in alike else line)
                    for path in ("whole.jsonl", "again.jsonl"))
    wanted = check_result(of_files, 3, lockstep, "compare", old, one)
    check(list(wanted.verdicts.values()).count("INVALID") == 1, "one cell is INVALID")
    wanted = check_result(of_files, 0, lockstep, "compare", whole, again)
    check(list(wanted.verdicts.values()).count("UNMEASURED") == 1, "one cell is UNMEASURED")
    wanted = check_result(of_files, 3, lockstep, "compare", old, records(make_records, "three", "three.jsonl"))
    check(not wanted.numbers, "too few launches")
    dp = next(n for n, line in enumerate(lines) if '"n_devices":2,' in line)
    moved = records(make_records, "old", "moved.jsonl", bytes_edit("4096.0", dp))
    more = records(make_records, "old", "more.jsonl", bytes_edit("4097.0", dp))
    for exact in ([], ["--exact"]):
        wanted = check_result(of_files, len(exact), lockstep, "compare", moved, more, *exact)
        check(len(wanted.others) == 1, "one number CHANGED")


# ---- a baseline ---------------------------------------------------------------------------------


def of_baseline(result: dict) -> Wanted:
    wanted = Wanted(GATE if result["gate"] else NO_GATE, "{}" if result["gate"] else "{}, not a gate")
    for cell in result["cells"]:
        wanted.add(key_of(cell["cell"]), cell["verdict"],
                   tuple(cell[name] for name in ("ratio", "lo", "hi", "cost")))
    return wanted


def test_baseline(lockstep: str, make_records: str) -> None:
    here = os.path.dirname(os.path.abspath(__file__))

    def plant(kind: str, path: str, number: int, factor: float) -> str:
        run(0, sys.executable, "-B", os.path.join(here, "baseline_plant.py"), make_records, kind, path,
            str(number), str(factor))
        return path

    factors = (1.0, 0.996, 1.004, 1.006, 0.995, 1.001, 0.993, 1.002, 1.007, 0.998)
    sittings = [plant("old", f"s{n}.jsonl", n + 1, factor) for n, factor in enumerate(factors)]
    same, slower = plant("new", "same.jsonl", 20, 1.001), plant("slower", "two.jsonl", 23, 1.001)
    compare = (lockstep, "compare", "--baseline", "main")
    for count, statuses in ((5, (3, 3)), (6, (0, 0)), (10, (0, 1))):
        run(0, lockstep, "compare", "baseline", "add", "main", *sittings[{5: 0, 6: 5, 10: 6}[count]:count])
        for path, status in zip((same, slower), statuses):
            wanted = check_result(of_baseline, status, *compare, path, "--no-strict")
            check(bool(wanted.numbers) == (count > 5), f"numbers with {count} sittings")
            check(path == same or count == 5 or list(wanted.verdicts.values()).count("REGRESSED") == 4,
                  f"{path}: {wanted.verdicts}")


# ---- pairs --------------------------------------------------------------------------------------


def of_pairs(path: str) -> Wanted:
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    same = lines[0]["same"]
    wanted = Wanted(ITSELF if same else GATE, "A/A {}" if same else "{}")
    names = [re.fullmatch(r"(\S+) (\S+) (\S+), (\d+) rows, .*", cell["new"]) for cell in lines[0]["cells"]]
    for line in lines:
        if line["type"] == "verdict" and line["cell"] is None:
            wanted.others.append((wanted.word(line["verdict"]), wanted.states[line["verdict"]]))
        elif line["type"] == "verdict":
            name = names[line["cell"]]
            wanted.add((name[1], name[2], name[3], int(name[4])), line["verdict"],
                       tuple(line[key] for key in ("ratio", "lo", "hi", "cost")))
    changes = [line for line in lines if line["type"] == "change"]
    wanted.others += changed({"changes": changes}, True)
    return wanted


# One cell on 2 devices is slower and moves one byte more; a plain program dies.
NEW = """#!/bin/sh
case $* in *--rows*) ;; *) exec '{0}' "$@" ;; esac
case $* in *'--mode plain '*) exit 1 ;; esac
id=$('{0}' "$@" | grep -o '"cell_id":"[0-9a-f]*"') || exit 1
for word; do shift; [ "$word" != virt:2 ] || word=virt:2+1000us; set -- "$@" "$word"; done
'{0}' "$@" | sed "s/virt:2+1000us/virt:2/g;s/\\"cell_id\\":\\"[0-9a-f]*\\"/$id/;s/\\"bytes_per_step\\":912[.]0/\\"bytes_per_step\\":913.0/"
"""


def test_pairs(lockstep: str, _: str) -> None:
    with open("new", "w", encoding="utf-8") as file:
        file.write(NEW.format(lockstep))
    os.chmod("new", 0o755)
    for name in FORMATS:
        said = run(1, lockstep, "compare", "--ab", lockstep, "./new", "--allow-dirty", "--allow-disturbed", "--bind", "none",
                   "--devices", "virt:2", "--mode", "plain,dp", "--counts", "2", "--workload", "mlp:8,6,4",
                   "--batch", "8", "--seconds", "0.001", "--steps", "10:10", "--pairs", "8", "--no-strict",
                   "--exact", "--format", name, "--out", name + ".record")
        wanted = of_pairs(name + ".record")
        check(sorted(wanted.verdicts.values()) == ["INVALID", "REGRESSED"] and len(wanted.others) == 2,
              f"{name}: {wanted.verdicts}")
        CHECKS[name](said, wanted)
    for name in ("junit", "csv"):
        itself = subprocess.run([lockstep, "compare", "--ab", lockstep, lockstep, "--allow-dirty", "--allow-disturbed", "--bind",
                                 "none", "--devices", "virt:1", "--mode", "dp", "--workload", "mlp:8,6,4",
                                 "--batch", "8", "--seconds", "0.001", "--pairs", "8", "--no-strict",
                                 "--format", name, "--out", name + ".itself"], capture_output=True, timeout=120)
        wanted = of_pairs(name + ".itself")
        alarms = {"REGRESSED", "IMPROVED"} & {*wanted.verdicts.values(), wanted.others[0][0].split()[-1]}
        check(itself.returncode == (3 if alarms else 0), f"with itself: {itself.returncode}, {wanted.verdicts}")
        CHECKS[name](itself.stdout.decode(), wanted)


def main(test: str, lockstep: str, make_records: str, folder: str) -> int:
    os.environ.pop("CI", None)
    lockstep, make_records = os.path.abspath(lockstep), os.path.abspath(make_records)
    subprocess.run(["rm", "-rf", folder], check=True)
    os.makedirs(folder)
    os.chdir(folder)
    {"files": test_files, "baseline": test_baseline, "pairs": test_pairs}[test](lockstep, make_records)
    print(f"{test}: all formats say what the comparison says")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
