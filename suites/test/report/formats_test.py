#!/usr/bin/env python3
"""formats_test.py: the numbers that `lockstep report --format` prints, read by parsers that are not
ours and compared with what follows from the records alone.

usage: formats_test.py LOCKSTEP MAKE_RECORDS FOLDER"""
from __future__ import annotations

import collections
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import xml.etree.ElementTree as xml

FORMATS = ("csv", "bmf", "github", "openmetrics", "annotations", "junit")
LEAST = 6  # launches that an interval takes
NS = {"csv": 1e9, "bmf": 1, "github": 1e6}


def check(holds: object, words: str) -> None:
    if not holds:
        raise SystemExit(f"FAILED: {words}")


def run(lockstep: str, status: int, *arguments: str) -> str:
    ended = subprocess.run([lockstep, "report", *arguments], capture_output=True, timeout=60)
    check(ended.returncode == status,
          f"{arguments}: status {ended.returncode}, not {status}: {ended.stderr.decode()}")
    return ended.stdout.decode()


def cells_of(path: str) -> tuple[dict, dict[tuple, list[dict]]]:
    """The header, and per cell its launches, the last line of a launch only."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    last = {}
    for line in lines[1:]:
        if "cell" in line:
            last[line["cell_id"]] = line
    cells = collections.defaultdict(list)
    for line in last.values():
        key = line["cell"]
        cells[key["workload"], key["mode"], key["devices"], key["global_batch"]].append(line)
    return lines[0], cells


def is_good(header: dict, launches: list[dict]) -> bool:
    return (len(launches) == header.get("launches", 1) and header["source"] == "measured"
            and all(one["status"] == "ok" and one["validated"] for one in launches))


def names(text: str) -> tuple:
    """Of "mlp:8,4/dp/virt:2/batch 64/..."."""
    part = text.split("/")
    return part[0], part[1], part[2], int(part[3].removeprefix("batch "))


def read_csv(text: str) -> dict[tuple, tuple]:
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    return {(row["workload"], row["mode"], row["devices"], int(row["batch"])):
            tuple(float(row["step_time_" + end]) if row["step_time_" + end] else None
                  for end in ("seconds", "lower", "upper")) for row in rows}


def read_bmf(text: str) -> dict[tuple, tuple]:
    return {names(name): tuple(measures["latency"].get(end)
                               for end in ("value", "lower_value", "upper_value"))
            for name, measures in json.loads(text).items()}


def read_github(text: str) -> dict[tuple, tuple]:
    found = {}
    for entry in json.loads(text):
        check(entry["unit"] == "ms" and isinstance(entry["value"], float), f"github: {entry}")
        ends = [float(end) for end in entry["range"].split(" to ")] if "range" in entry else [None] * 2
        found[names(entry["name"])] = (entry["value"], *ends)
    return found


READERS = {"csv": read_csv, "bmf": read_bmf, "github": read_github}


def check_openmetrics(text: str, good: set, bad: set) -> None:
    """By hand what a scrape relies on; by prometheus_client, where it is installed, all of it."""
    check(text.endswith("# EOF\n") and text.count("# EOF") == 1, "openmetrics: its end")
    verified = {}
    for labels, value in re.findall(r'^lockstep_verified\{(.*)\} (\S+)$', text, re.M):
        label = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
        verified[label["workload"], label["mode"], label["devices"], int(label["batch"])] = float(value)
    check({key for key in verified if verified[key] == 1} == good and
          {key for key in verified if verified[key] == 0} == bad, "openmetrics: what is verified")
    check(len(re.findall(r"^lockstep_step_time_seconds\{", text, re.M)) == len(good),
          "openmetrics: step times")
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("prometheus_client is not installed: OpenMetrics was read by hand only")
        return
    families = {family.name: family for family in text_string_to_metric_families(text)}
    check(len(families["lockstep_step_time_seconds"].samples) == len(good), "openmetrics: families")
    check(families["lockstep_throughput_samples_per_second"].unit == "samples_per_second",
          "openmetrics: units")


def check_certain(said: dict[str, str], cells: dict, good: set) -> set:
    """Each format says of each cell whether its numbers are certain, and all say the same."""
    rows = list(csv.DictReader(io.StringIO(said["csv"], newline=""), strict=True))
    doubts = {(row["workload"], row["mode"], row["devices"], int(row["batch"])): row["doubt"] for row in rows}
    check(list(rows[0])[-2:] == ["certain", "doubt"] if rows else not good, "csv: its last columns")
    check(all((row["certain"] == "1") == (row["doubt"] == "") for row in rows), "csv: certain, and why not")
    for row in rows:
        ratio, speed = (row[f"{name}_ratio"] for name in ("of_best_process", "speedup"))
        check(ratio == speed or float(ratio) < float(speed), f"csv: {ratio} of the best process, {speed} of one device")
    bmf = {names(name): measures["certain"]["value"] for name, measures in json.loads(said["bmf"]).items()}
    github = {names(entry["name"]): entry.get("extra", "") for entry in json.loads(said["github"])}
    junit = {names(case.get("name")): case.find("properties/property[@name='certain']")
             for case in xml.fromstring(said["junit"]).iter("testcase") if case.get("name") != "planned launches"}
    metrics = re.findall(r'^lockstep_certain\{workload="(.*?)",mode="(.*?)",devices="(.*?)",batch="(\d+)".* ([01])$',
                         said["openmetrics"], re.M)
    check(set(doubts) == good and len(metrics) == len(good), f"certain: {len(metrics)} of {len(good)} cells")
    for key in good:
        words = doubts[key]
        check(bmf[key] == (words == ""), f"bmf: {key}: {words}")
        check(github[key] == (f"not certain: {words}" if words else ""), f"github: {key}: {words}")
        check(junit[key].get("value") == (f"no: {words}" if words else "yes"), f"junit: {key}: {words}")
        check(words or len(cells[key]) >= LEAST, f"{key} is certain with {len(cells[key])} launches")
    check([value for *_, value in metrics].count("1") == sum(not words for words in doubts.values()), "openmetrics: certain")
    return {key for key in good if not doubts[key]}


def check_missing(lockstep: str, whole: str, path: str) -> None:
    """Without its last launch a cell has no number, and the file is short of a launch."""
    with open(whole, encoding="utf-8") as file:
        lines = file.readlines()
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines[:-2])
    lost = json.loads(lines[-2])["cell"]
    key = lost["workload"], lost["mode"], lost["devices"], lost["global_batch"]
    check(key in read_bmf(run(lockstep, 0, "--format", "bmf", whole)), f"{key} is not there")
    check(key not in read_bmf(run(lockstep, 1, "--format", "bmf", path)), f"{key} has 5 of 6 launches")
    row = [row for row in csv.DictReader(io.StringIO(run(lockstep, 1, "--format", "csv", path), newline=""))
           if (row["workload"], row["mode"], row["devices"], int(row["batch"])) == key]
    check([(one["launches"], one["certain"]) for one in row] == [("5", "0")] and float(row[0]["step_time_seconds"]) > 0 and
          row[0]["doubt"].startswith("1 of 6 planned launches is missing"), f"csv: {key} has 5 of 6 launches: {row}")
    root = xml.fromstring(run(lockstep, 1, "--format", "junit", path))
    check(len(list(root.iter("error"))) == 1 and len(list(root.iter("failure"))) == 1, "junit: missing")
    check("::error title=lockstep::1 of" in run(lockstep, 1, "--format", "annotations", path),
          "annotations: missing")


def check_markdown(text: str) -> None:
    """Nothing of a record is HTML, code, a link, a mention, or the end of a table's cell."""
    for words in re.findall(r"<(?!!-- -->).*|(?<!\\)[`$].*|https?://.*|(?<!\\)\]\(.*", text):
        check(words == "](batch.png)", f"md: {words[:60]}")
    columns = 0
    for line in text.splitlines():
        bars = len(re.findall(r"(?<!\\)\|", line))
        check(bars == 0 or (line.startswith("| ") and line.endswith(" |")), f"md: {line[:60]}")
        check(columns in (0, bars) or bars == 0, f"md: {bars} bars, not {columns}: {line[:60]}")
        columns = bars


def check_summary(lockstep: str, path: str, status: int, folder: str) -> None:
    """What is printed for a job is the summary of a report, without its figure, which needs gnuplot."""
    page = os.path.join(folder, "page")
    subprocess.run([lockstep, "report", path, "--out", page], capture_output=True, timeout=60)
    with open(os.path.join(page, "summary.md"), encoding="utf-8") as file:
        summary = re.sub(r"\n!\[Samples/s.*?(?=\n## )", "", file.read(), flags=re.S)
    summary = summary.replace(" are in index.html.\n", " are in the page of a report.\n")
    printed = run(lockstep, status, "--format", "md", path)
    check(printed == summary and printed.startswith("# Lockstep report\n\n**"), "md: another summary")
    check(("\nAll " in printed) == ("## Failed and skipped\n" not in printed), "md: what failed")
    check("## Cells\n" in printed and "index.html" not in printed and "batch.png" not in printed, "md: its links")
    check_markdown(printed)


def check_file(lockstep: str, path: str, status: int) -> tuple[set, set]:
    return check_said(path, {name: run(lockstep, status, "--format", name, path) for name in FORMATS})


def check_said(path: str, said: dict[str, str], missing: int = 0) -> tuple[set, set]:
    """missing: 1 if the file is short of launches, which is an error of its own."""
    header, cells = cells_of(path)
    good = {key for key in cells if is_good(header, cells[key])}
    bad = set(cells) - good
    for name, read in READERS.items():
        found = read(said[name])
        check(set(found) == good, f"{path}, {name}: {len(found)} cells, not {len(good)}")
        for key, (value, lower, upper) in found.items():
            wanted = statistics.median(one["median_ns"] for one in cells[key])
            check(abs(value * NS[name] / wanted - 1) < 1e-6, f"{name}: {key}: {value}, not {wanted}")
            has = len(cells[key]) >= LEAST
            check((lower is not None) == has and (not has or lower <= value <= upper),
                  f"{name}: {key}: {lower} to {upper} of {len(cells[key])} launches")
    check_openmetrics(said["openmetrics"], good, bad)
    check_certain(said, cells, good)
    root = xml.fromstring(said["junit"])
    failed = {names(case.get("name")) for case in root.iter("testcase") if case.find("failure") is not None}
    check(failed == bad, f"{path}, junit: {failed}, not {bad}")
    for element in (root, root.find("testsuite")):
        check(int(element.get("failures")) == len(bad) and int(element.get("errors")) == missing and
              int(element.get("tests")) == len(cells) + missing, f"junit: its counts: {element.attrib}")
    errors = [line for line in said["annotations"].splitlines() if line.startswith("::error ")]
    check(len(errors) == len(bad) + missing, f"annotations: {len(errors)} errors of {len(bad)} + {missing}")
    check(all(line.startswith("::") for line in said["annotations"].splitlines()),
          "annotations: a line is no command")
    return good, bad


def main(lockstep: str, make_records: str, folder: str) -> int:
    os.makedirs(folder, exist_ok=True)
    for kind, status in {"six": 0, "launches": 0, "flaky": 1, "hostile": 1, "simulated": 3,
                         "all-failing": 3}.items():
        path = os.path.join(folder, kind + ".jsonl")
        subprocess.run([make_records, kind, path], check=True)
        good, bad = check_file(lockstep, path, status)
        check_summary(lockstep, path, status, folder)
        said = {name: run(lockstep, status, "--format", name, path) for name in FORMATS}
        certain = check_certain(said, cells_of(path)[1], good)
        check(certain if kind == "six" else not certain or kind != "launches", f"{kind}: {len(certain)} cells are certain")
        check(bool(good) == (status < 3) and bool(bad) == (status > 0),
              f"{kind}: {len(good)} good cells, {len(bad)} others")
    again = path.replace("all-failing", "six")
    subprocess.run([make_records, "six", again], check=True)
    check_missing(lockstep, again, again + ".missing")
    few = path.replace("all-failing", "launches")
    for strict, of in ((0, again), (1, few)):
        run(lockstep, 0, "--format", "csv", of)
        run(lockstep, strict, "--format", "csv", "--strict", of)
        run(lockstep, strict, "--strict", "--out", os.path.join(folder, "strict"), of)
    run(lockstep, 2, "--format", "xml", again)
    run(lockstep, 2, "--format", "csv", "--out", folder, again)
    run(lockstep, 2, "--format", "csv")
    print("all formats say what the records say")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
