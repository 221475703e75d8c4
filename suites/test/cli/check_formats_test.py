#!/usr/bin/env python3
"""check_formats_test.py: what `lockstep check --format` prints for other programs, read by parsers that
are not ours and compared with its JSON of the same cases.

usage: check_formats_test.py LOCKSTEP FAKE.so FOLDER"""
from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as xml

from formats import check, openmetrics_families, read_annotations, run

ELEMENTS = {"PASS": None, "FAIL": "failure", "SKIP": "skipped", "BROKEN": "error"}
LEVELS = {"FAIL": "error", "BROKEN": "error"}
PARTS = ("area", "rule", "obligation", "evidence")


def parts_of(case: dict) -> tuple:
    return case["rule"].split("-")[0], case["rule"], case["obligation"], case["evidence"]


def check_csv(text: str, cases: dict, _: dict) -> None:
    check(text.count("\n") == text.count("\r\n") == len(cases) + 1, "csv: its lines")
    rows = {row["case"]: row for row in csv.DictReader(io.StringIO(text, newline=""), strict=True)}
    check(set(rows) == set(cases), f"csv: {set(rows) ^ set(cases)}")
    for name, row in rows.items():
        case = cases[name]
        passed = case["verdict"] == "PASS"
        check(tuple(row[part] for part in PARTS) == parts_of(case), f"csv: {row}")
        check(row["verdict"] == case["verdict"], f"csv: {row}")
        check(row["reason"].removeprefix("'") == case["reason"], f"csv: {row}")
        check(row["reason"][:1] not in ("=", "+", "-", "@"), f"csv: a formula: {row}")
        check(row["compared_values"] == (str(case["compared"]) if passed else ""), f"csv: {row}")
        check(bool(row["time_seconds"]) == passed, f"csv: {row}")
        check(not passed or 0 < float(row["time_seconds"]) < 600, f"csv: {row}")


def label_text(text: str) -> str:
    return re.sub(r'\\(.)', lambda match: {"n": "\n"}.get(match[1], match[1]), text)


def check_openmetrics(text: str, cases: dict, counts: dict) -> None:
    """By hand what a scrape relies on; by prometheus_client, where it is installed, all of it."""
    found: dict = {"passed": {}, "verdict": {}, "compared_values": {}, "time_seconds": {}}
    for family, labels, value in re.findall(r"^lockstep_check_(\w+)\{(.*)\} (\S+)$", text, re.M):
        label = {name: label_text(words)
                 for name, words in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)}
        check(tuple(label[part] for part in PARTS) == parts_of(cases[label["case"]]), f"openmetrics: {label}")
        if family != "verdict" or float(value) == 1:
            check(label["case"] not in found[family], f"openmetrics: {family} of {label['case']} twice")
            found[family][label["case"]] = label.get("lockstep_check_verdict", float(value))
    passed = {name: float(case["verdict"] == "PASS") for name, case in cases.items()}
    check(found["passed"] == passed, f"openmetrics: passed: {found['passed']}")
    check(found["verdict"] == {name: case["verdict"] for name, case in cases.items()}, "openmetrics: verdicts")
    check(found["compared_values"] == {name: case["compared"] for name, case in cases.items() if passed[name]},
          f"openmetrics: compared: {found['compared_values']}")
    check(set(found["time_seconds"]) == {name for name in passed if passed[name]}, "openmetrics: times")
    check(f"\nlockstep_check_failed_or_broken {counts['fail'] + counts['broken']}\n" in text, "openmetrics: its count")
    families = openmetrics_families(text)
    if families is None:
        return
    check(len(families["lockstep_check_passed"].samples) == len(cases), "openmetrics: families")
    check(families["lockstep_check_verdict"].type == "stateset", "openmetrics: its states")


def check_annotations(text: str, cases: dict, counts: dict) -> None:
    found = {title.partition(": ")[0]: (level, title, words) for level, title, words in read_annotations(text)}
    _, _, words = found.pop("lockstep")
    check(words.startswith(counts["verdict"] + ": "), f"annotations: {words}")
    named = set(found)
    for name, (level, title, text) in found.items():
        check(level == LEVELS[cases[name]["verdict"]], f"annotations: {name} is {level}")
        check(title == f"{name}: {cases[name]['sentence']}", f"annotations: {title}")
        lines = text.split("\n")
        alike = re.match(r"(\d+) in the same way: (.*)", lines[-1])
        if alike:
            ids = alike[2].split()
            check(len(ids) == int(alike[1]) > 1 and name in ids and not named & (set(ids) - {name}), f"annotations: {lines}")
            named |= set(ids)
        check_detail(lines[:-1] if alike else lines, cases[name])
    check(named == {name for name, case in cases.items() if case["verdict"] in LEVELS}, f"annotations: {found}")


def check_detail(lines: list[str], case: dict) -> None:
    """What was found, perhaps a hint and on what model, the rule in words, and the command that repeats it."""
    more = [f"{word}: {case[key]}" for word, key in (("Hint", "hint"), ("Model", "scenario")) if case[key]]
    check(len(lines) == 3 + len(more) and lines[0] == case["reason"] and lines[1:-2] == more, f"lines of {case}: {lines}")
    check(lines[-2].startswith(case["rule"] + " (") and lines[-2].endswith("): " + case["sentence"]), f"the rule: {lines}")
    check(" check " in lines[-1] and lines[-1].endswith(f" --only {case['id']}"), f"the command: {lines}")


def sums_of(element: xml.Element) -> list[int]:
    return [int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")]


def sums(cases: list[dict]) -> list[int]:
    verdicts = [case["verdict"] for case in cases]
    return [len(cases), *(verdicts.count(word) for word in ("FAIL", "BROKEN", "SKIP"))]


def check_junit(text: str, cases: dict, _: dict) -> None:
    root = xml.fromstring(text)
    check(root.get("name") == "lockstep check" and float(root.get("time")) > 0, "junit: its root")
    check(sums_of(root) == sums(list(cases.values())), f"junit: {root.attrib}")
    seen = []
    for suite in root:
        mine = [case for case in cases.values() if parts_of(case)[0] == suite.get("name")]
        check(sums_of(suite) == sums(mine) and mine, f"junit: {suite.attrib}")
        times = [float(test.get("time")) for test in suite]
        check(abs(sum(times) - float(suite.get("time"))) < 1e-5 * len(times), f"junit: {suite.attrib}")
        for test in suite:
            case = cases[test.get("name")]
            seen.append(test.get("name"))
            check(test.get("classname") == "lockstep." + suite.get("name") and case in mine, f"junit: {test.attrib}")
            check([child.tag for child in test] == [ELEMENTS[case["verdict"]]] * (case["verdict"] != "PASS"),
                  f"junit: {test.get('name')}")
            if case["verdict"] in LEVELS:
                check_failure(test[0], case)
            elif case["verdict"] == "SKIP":
                check(test[0].get("message") == case["reason"], f"junit: {test.get('name')}")
    check(sorted(seen) == sorted(cases), "junit: its cases")


def check_failure(element: xml.Element, case: dict) -> None:
    """What kind, of which rule, why, and the command that repeats it."""
    check(element.get("type") == case["verdict"] and element.get("message") == case["reason"], f"junit: {element.attrib}")
    check_detail((element.text or "").splitlines(), case)


def check_files(lockstep: str) -> None:
    """An annotation has the file of a layer that is here. No Python is needed: then all cases are broken."""
    os.makedirs("deep", exist_ok=True)
    for name in ("a,b.py", "deep/layer.py"):
        open(name, "w", encoding="utf-8").close()
    for layer, file in (("a,b.py:X", "a,b.py"), ("deep.layer:X", "deep/layer.py"), ("elsewhere:X", None), (None, None)):
        text = run(2, "env", "LOCKSTEP_PYTHON=/no/python", lockstep, "check", "--impl", "torch" + (f":{layer}" if layer else ""),
                   "--only", "DDP-01.known", "--format", "annotations")
        found = re.match("::error (?:file=([^,]*),)?title=DDP-01.known%3A ", text)
        check(found and (found[1] and urllib.parse.unquote(found[1])) == file, f"annotations: {layer}: {text}")


CHECKS = {"csv": check_csv, "openmetrics": check_openmetrics, "annotations": check_annotations,
          "junit": check_junit}


def check_run(lockstep: str, status: int, *arguments: str) -> list[str]:
    """The verdicts, which all formats have to say."""
    result = json.loads(run(status, lockstep, "check", *arguments, "--format", "json"))
    cases = {case["id"]: case for case in result["cases"]}
    for name, same in CHECKS.items():
        said = run(status, lockstep, "check", *arguments, "--format", name)
        same(said, cases, result["counts"])
    # One run writes all of them, and the text to the terminal.
    several = [word for name in CHECKS for word in ("--format", f"{name}:kept.{name}")]
    text = run(status, lockstep, "check", *arguments, *several, "--out", "kept.text")
    check("area    is about" in text or "could not be tested" in " ".join(text.split()), "no text next to the files")
    for name, same in CHECKS.items():
        with open("kept." + name, encoding="utf-8", newline="") as file:
            same(file.read(), cases, result["counts"])
    check(open("kept.text", encoding="utf-8").read() == text, "the text in a file is another")
    return sorted({case["verdict"] for case in result["cases"]})


def check_names(lockstep: str) -> None:
    """Failures that look alike stand together: each is named in every form that people read."""
    open("empty.txt", "w", encoding="utf-8").close()
    many = ("--impl", "mutant:M61-ddp-sum", "--area", "DDP,COUNT", "--profile", "ddp", "--known", "empty.txt", "--timeout", "30")
    forms = [word for name in ("json", "md", "annotations", "junit") for word in ("--format", f"{name}:many.{name}")]
    texts = {"text": run(1, lockstep, "check", *many, *forms)}
    kept = {name: open(f"many.{name}", encoding="utf-8", newline="").read() for name in ("json", "md", "annotations", "junit")}
    cases = json.loads(kept["json"])["cases"]
    failed = {case["id"] for case in cases if case["verdict"] in LEVELS}
    check(len(failed) > 20, f"names: {failed}")
    run(1, lockstep, "report", "--check", "many.json", "--out", "many")
    texts |= {"md": kept["md"], "page": open("many/conformance.html", encoding="utf-8").read().partition('id="failed"')[2]}
    for name, text in texts.items():
        words = set(re.findall(r"[\w.-]*\w", text.replace("\\_", "_")))
        check(failed <= words, f"names: {name} lacks {sorted(failed - words)}")
    # What the text says first is first in the log and in JUnit, too, and all have one command.
    blocks = re.findall(r"^FAIL    (\S+) \(", texts["text"], re.M)
    notes = [title.partition(": ")[0] for _, title, _ in read_annotations(kept["annotations"])]
    check(notes == [*blocks, "lockstep"] and f"begin with {blocks[0]}" in " ".join(texts["text"].split()), f"order: {notes}, not {blocks}")
    suites = [suite.get("name") for suite in xml.fromstring(kept["junit"])]
    check(suites == ["DDP", "COUNT"], f"order: {suites}")
    again = f" check --impl mutant:M61-ddp-sum --known empty.txt --timeout 30 --only {blocks[0]}"
    check(all(again in text.replace("\\", "") for text in texts.values()), f"names: not everywhere: {again}")
    # Each group has the command that repeats one of it; of many names most are folded up.
    for name, rows, found in (("md", r"^\| FAIL \|", r"^\| FAIL \|.* --only (\S+) \|$"),
                              ("page", r'data-name="verdict">FAIL<', r'"text command"[^>]*>lockstep check [^<]* --only ([^ <]+)<')):
        ids = re.findall(found, texts[name].replace("\\", ""), re.M)
        check(len(ids) == len(re.findall(rows, texts[name], re.M)) > 1 and set(ids) <= failed, f"names: {name}: {ids}")
        check(re.search(r"(\S+ ){3}<details><summary>and \d+ more</summary>", texts[name]), f"names: {name} folds nothing")


def check_known(lockstep: str) -> None:
    """A known failure is named, with what was found and why, in the page of a job and in that of a report."""
    with open("known.txt", "w", encoding="utf-8") as file:
        file.write("SPLIT-01.sizes 3 rows on 2 devices: 2 shards (1, 2) # <issue> 7\n")
    some = ("--impl", "mutant:M01-floor-split", "--only", "SPLIT-01.sizes,GRAD-01.ones,SPLIT-05.refused", "--known", "known.txt")
    cases = json.loads(run(0, lockstep, "check", *some, "--format", "json", "--out", "known.json") and
                       open("known.json", encoding="utf-8").read())["cases"]
    check([case["id"] for case in cases if case["known"]] == ["SPLIT-01.sizes"], f"known: {cases}")
    run(0, lockstep, "report", "--check", "known.json", "--out", "known")
    page = open("known/conformance.html", encoding="utf-8").read()
    text = run(0, lockstep, "check", *some, "--format", "md")
    more = re.search(r"; \d+ more were not selected", text)[0]
    check(f", 2 skipped, 1 of them known to fail{more}</p>" in page, "known: the headline of the page")
    check(" (1 known to fail)" in text, f"known: {text}")
    reason = next(case["reason"] for case in cases if case["id"] == "SPLIT-05.refused")
    for name, part in (("page", page.partition("<h2>Skipped</h2>")[2]), ("md", text.partition("#### Skipped\n")[2])):
        check(reason in part and "SPLIT-05.refused" in part, f"skipped: {name}: {part}")
    for name, part in (("page", page.partition("<h2>Known failures</h2>")[2].partition("</section>")[0]),
                       ("md", text.partition("#### Known failures\n")[2].partition("####")[0])):
        check("SPLIT-01.sizes" in part and "known failure (&lt;issue&gt; 7): 3 rows on 2 devices" in part.replace("\\", "") and
              "SPLIT-05" not in part, f"known: {name}: {part}")
    check("SPLIT-01.sizes" not in page.partition("<h2>Skipped</h2>")[2].partition("</table>")[0], "known: skipped twice")
    # An address is a link, up to the first character that means something else there.
    for why, link in (("https://a.org/b-c/7?d=1#e is open", "https://a.org/b-c/7?d=1#e"), ("https://a.org/<b>", "https://a.org/"),
                      ("javascript:x", None), ("see https://a.org/b", None)):
        with open("known.txt", "w", encoding="utf-8") as file:
            file.write(f"SPLIT-01.sizes 3 rows on 2 devices: 2 shards (1, 2) # {why}\n")
        text = run(0, lockstep, "check", *some, "--format", "md", "--format", "json:link.json")
        run(0, lockstep, "report", "--check", "link.json", "--out", "known")
        page = open("known/conformance.html", encoding="utf-8").read()
        check(re.findall(r"\(<(https[^>]*)>", text) == [link] * bool(link), f"link: {why}: {text}")
        check(re.findall(r'\(<a href="([^"]*)">(?=known|https)', page) == [link] * bool(link), f"link: {why}: {page}")
        check("<b>" not in text and "https://a.org/<b>" not in page, f"link: {why}")


def check_again(lockstep: str) -> None:
    """--only @FILE runs the cases that failed in FILE, and no others."""
    failed = {case["id"] for case in json.loads(open("many.json", encoding="utf-8").read())["cases"]
              if case["verdict"] in LEVELS}
    again = ("check", "--only", "@many.json", "--format", "json")
    for impl, status, verdict in (("mutant:M61-ddp-sum", 1, "FAIL"), ("mutant:none", 0, "PASS")):
        cases = json.loads(run(status, lockstep, *again, "--impl", impl))["cases"]
        check({case["id"] for case in cases} == failed and {case["verdict"] for case in cases} == {verdict}, f"again: {impl}")
    run(2, lockstep, *again, "--area", "SPLIT")
    run(2, lockstep, "check", "--only", "@few.json")
    run(2, lockstep, "check", "--only", "@none.json")


def check_few(lockstep: str) -> None:
    """What a run left out for want of devices is counted, in the answer and on the page, which have what they need."""
    text = run(0, lockstep, "check", "--devices", "virt:2", "--area", "COUNT", "--format", "json:few.json")
    cases = json.loads(open("few.json", encoding="utf-8").read())["cases"]
    needs = [case["needs_devices"] for case in cases if case["needs_devices"] > 0]
    check(needs and all(n > 2 for n in needs) and len(needs) < len(cases), f"few: {needs}")
    check(all(case["reason"].endswith(f"needs {case['needs_devices']} devices, there are 2")
              for case in cases if case["needs_devices"] > 0), "few: reasons")
    check(f"({len(needs)} because of too few devices: they need up to {max(needs)})" in " ".join(text.split()), f"few: {text}")
    run(0, lockstep, "report", "--check", "few.json", "--out", "few")
    page = open("few/conformance.html", encoding="utf-8").read()
    check(re.search(f", {len(needs)} of them because of too few devices; \\d+ more were not selected</p>", page), "few: the headline of the page")
    check(f"<b>Devices</b>: 2. Cases use 1, 2 devices (seed 0); more are needed for 3, 4, 5, 8, 9 and above. "
          f"Those that were skipped need up to {max(needs)}</li>" in page, "few: the page")


def check_list(lockstep: str) -> None:
    """--list as a document has the cases of its text, and each in the words that a run has."""
    lines = [line.split() for line in run(0, lockstep, "check", "--list", "--area", "SPLIT,DDP").splitlines()]
    found = json.loads(run(0, lockstep, "check", "--list", "--area", "SPLIT,DDP", "--format", "json"))
    check(found["schema"] == "lockstep/cases/1.0", f"list: {found['schema']}")
    check([line[0] for line in lines] == [case["id"] for case in found["cases"]] and len(lines) > 80, "list: its cases")
    for line, case in zip(lines, found["cases"]):
        needs = case["needs"] + [str(case["devices"])] * (case["devices"] > 0)
        check(case["rule"].split("-")[0] == case["area"] and case["area_words"] and case["sentence"], f"list: {case}")
        check(line[-1 - (case["devices"] > 0)] == ",".join(needs or ["nothing"]), f"list: {line}: {case}")
        check(set(case["profiles"]) <= {"primitives", "dataparallel", "ddp"} and case["profiles"], f"list: {case}")
    ran = json.loads(run(0, lockstep, "check", "--only", "SPLIT-01.sizes", "--format", "json"))["cases"][0]
    listed = next(case for case in found["cases"] if case["id"] == "SPLIT-01.sizes")
    for name in ("rule", "sentence", "obligation", "evidence"):
        check(ran[name] == listed[name], f"list: {name}: {listed[name]}")


def check_terminal(lockstep: str) -> None:
    """A failure is said as it happens: on a terminal in one line, elsewhere as a whole."""
    command = (lockstep, "check", "--impl", "mutant:M61-ddp-sum", "--only", "DDP-01.*")
    whole = subprocess.run(command, capture_output=True, text=True, check=False).stderr.splitlines()
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, check=False)
    os.close(theirs)
    text = b""
    try:
        while more := os.read(ours, 65536):
            text += more
    except OSError:  # the end
        pass
    os.close(ours)
    lines = [line for line in re.split(r"[\r\n]+|\x1b\[K", text.decode()) if line.startswith("FAIL ")]
    check(max(map(len, whole)) > 80 and len(lines) == len(whole), f"terminal: {whole}, {lines}")
    check(sorted(lines) == sorted(line[:80] for line in whole), f"terminal: {lines}")


def main(lockstep: str, fake: str, folder: str) -> int:
    lockstep, fake = os.path.abspath(lockstep), os.path.abspath(fake)
    subprocess.run(["rm", "-rf", folder], check=True)
    os.makedirs(folder)
    os.chdir(folder)
    two = ("--only", "SPLIT-01.sizes,SPLIT-01.known")
    of_fake = ("--impl", fake, "--impl-options")
    for found, wanted in (
            (check_run(lockstep, 0, *of_fake, "good", *two), ["PASS"]),
            (check_run(lockstep, 1, *of_fake, "crash", *two), ["FAIL"]),
            (check_run(lockstep, 2, *of_fake, "formula", *two), ["BROKEN"]),
            (check_run(lockstep, 1, *of_fake, "escape", "--profile", "primitives", "--area", "SPLIT"), ["FAIL"]),
            (check_run(lockstep, 77, "--impl", "mutant:none", "--only", "SPLIT-05.refused"), ["SKIP"]),
            (check_run(lockstep, 2, "--impl", "exec:@x,y::error::z; exit 3", *two), ["BROKEN"])):
        check(set(found) >= set(wanted), f"verdicts {found}, not {wanted}")
    check_names(lockstep)
    check_known(lockstep)
    check_few(lockstep)
    check_again(lockstep)
    check_list(lockstep)
    check_files(lockstep)
    check_terminal(lockstep)
    for name in ("bmf", "github", "xml"):
        run(2, lockstep, "check", *two, "--format", name)
    for name in CHECKS:
        run(2, lockstep, "check", "--mutants", *two, "--format", name)
    print("all formats say what the JSON says")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
