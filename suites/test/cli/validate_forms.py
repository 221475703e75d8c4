"""Reads the verdicts that validate_forms.sh made, as other programs would."""
import csv
import io
import json
import re
import urllib.parse
import xml.etree.ElementTree as ElementTree

WANTED = ["FAIL", "PASS", "FAIL", "OPEN", "UNMEASURED", "UNMEASURED"]
NAMES = ["rejected", "spread", "accepted", "unbound", "hostile", "devices", "records"]


def read(name):
    with open(name + ".json", encoding="utf-8") as file:
        verdict = json.load(file)
    root = ElementTree.parse(name + ".junit").getroot()
    with open(name + ".md", encoding="utf-8") as file:
        return verdict, root, file.read()


def check_counts(root):
    """What JUnit says of its cases is what its cases are."""
    suites = list(root)
    assert root.tag == "testsuites" and len(suites) == 1, suites
    cases = suites[0].findall("testcase")
    for node in (root, suites[0]):
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            number = sum(case.find(tag) is not None for case in cases)
            assert int(node.get(name)) == number, (name, node.attrib, number)
        assert int(node.get("tests")) == len(cases), node.attrib
    names = [case.get("name") for case in cases]
    assert len(set(names)) == len(names), names
    return cases


def kind_of(case):
    children = list(case)
    assert len(children) <= 1
    return children[0].tag if children else "passed"


def check_all(name):
    """What holds of any verdict: its forms say the same."""
    verdict, root, page = read(name)
    cases = check_counts(root)
    assert verdict["schema"] == "lockstep/verdict/1.0"
    kinds = [kind_of(case) for case in cases]
    for limit, kind in zip(verdict["limits"], kinds):
        passed = limit["verdict"] == "PASS"
        assert kind == ("passed" if passed else "skipped" if not limit["binding"] else
                        "failure" if limit["verdict"] == "FAIL" else "error"), (limit, kind)
        assert (limit["action"] == "") == passed and limit["level"] == 0.95, limit
        assert (limit["likely"] != "") == (limit["verdict"] == "FAIL"), limit
        assert limit["place"] and limit["limit"] and limit["date"], limit
        assert limit["unit"] in ("ns", "samples/s", "B", "1") and limit["source"], limit
        if limit["lo"] is not None:
            assert limit["lo"] <= limit["median"] <= limit["hi"] and limit["is"], limit
    assert len(kinds) == len(verdict["limits"]) + 1
    assert kinds[-1] == {"ACCEPTED": "passed", "REJECTED": "failure",
                         "NOT SHOWN": "error"}[verdict["verdict"]]
    types = [case[0].get("type") for case in cases if kind_of(case) in ("failure", "error")]
    words = [limit["verdict"] for limit, kind in zip(verdict["limits"], kinds) if kind in ("failure", "error")]
    assert types == words + [verdict["verdict"]] * (kinds[-1] != "passed"), types
    rows = [line for line in page.split("\n") if line.startswith("| ")]
    assert len(rows) == 1 + len(verdict["limits"]), page
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows), page
    for word in ("\x1b", "\x01", "\x07", "\u202e", "\ufffe", "<b>", "<i>", "</error>", "`x`"):
        assert word not in page, (word, page)
    for text in (json.dumps(verdict, ensure_ascii=False), ElementTree.tostring(root, "unicode")):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text), text
    assert not re.search("\u202e", ElementTree.tostring(root, "unicode"))
    return verdict, cases, page


def named(text):
    """As an attribute of XML has it, which shows what cannot be seen."""
    return re.sub(r"<U\+([0-9A-F]+)>", lambda match: chr(int(match[1], 16)), text)


def check_csv(name, verdict, cases):
    """A line for each limit; RFC 4180."""
    with open(name + ".csv", encoding="utf-8", newline="") as file:
        text = file.read()
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert text.count("\r\n") == text.count("\n") == len(rows) + 1 == len(verdict["limits"]) + 1, text
    for row, limit, case in zip(rows, verdict["limits"], cases):
        assert case.get("name").startswith(f"line {int(row['line'])}: {row['metric']} of "), (row, case.attrib)
        assert row["metric"] == limit["metric"] and row["verdict"] == limit["verdict"], row
        assert row["limit"] == limit["limit"] and row["place"], row
        assert row["kind"] == ("binding" if limit["binding"] else "advisory"), row
        assert row["reason"].removeprefix("advisory: ").split(":")[0] == limit["verdict"], row


def check_openmetrics(name, verdict):
    """What a scrape relies on; the rest by prometheus_client, where it is installed."""
    with open(name + ".openmetrics", encoding="utf-8") as file:
        text = file.read()
    assert text.endswith("# EOF\n") and text.count("# EOF") == 1, text
    assert f"\nlockstep_validate_accepted {int(verdict['verdict'] == 'ACCEPTED')}\n" in text, text
    passed, verdicts = [], []
    for family, labels, value in re.findall(r"^lockstep_validate_(\w+)\{(.*)\} ([01])$", text, re.M):
        label = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
        if family == "passed":
            passed.append((label["metric"], label["kind"] == "binding", value == "1"))
        elif value == "1":
            verdicts.append(label["lockstep_validate_verdict"])
    limits = verdict["limits"]
    assert passed == [(one["metric"], one["binding"], one["verdict"] == "PASS") for one in limits], passed
    assert verdicts == [one["verdict"] for one in limits], verdicts
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        return
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert len(families["lockstep_validate_passed"].samples) == len(limits), families


def check_annotations(name, verdict, cases):
    """An error for what is red, a warning for what is advisory, and a notice at the end."""
    with open(name + ".annotations", encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    found = [re.fullmatch(r"::(error|warning|notice) title=([^:,]*)::(.*)", line) for line in lines]
    assert all(found), lines
    found = [(one[1], urllib.parse.unquote(one[2]), urllib.parse.unquote(one[3])) for one in found]
    assert found[-1][0] == "notice" and found[-1][2].startswith(verdict["verdict"] + " by profile "), found[-1]
    levels = [level for level, _, _ in found[:-1]]
    wanted = {"failure": "error", "error": "error", "skipped": "warning"}
    assert levels == [wanted[kind_of(case)] for case in cases if kind_of(case) in wanted], levels
    titles = [title for _, title, _ in found[:-1] if title != "lockstep"]
    assert titles == [named(case.get("name")) for case in cases[:-1] if kind_of(case) in wanted], titles
    assert all(not re.search("[\x00-\x1f\x7f-\x9f]", one) for _, title, words in found for one in (title, words)), found


def check_shared(name):
    """The forms that other commands have, too."""
    verdict, root, _ = read(name)
    cases = check_counts(root)
    check_csv(name, verdict, cases)
    check_openmetrics(name, verdict)
    check_annotations(name, verdict, cases)


found = {name: check_all(name) for name in NAMES}
for one in NAMES:
    check_shared(one)

verdict, cases, page = found["rejected"]
assert [limit["verdict"] for limit in verdict["limits"]] == WANTED, verdict["limits"]
assert verdict["verdict"] == "REJECTED" and verdict["node"] == "node-7.example.org"
assert verdict["binding"] == {"PASS": 1, "OPEN": 0, "UNMEASURED": 2, "INVALID": 0, "FAIL": 1}
assert page.startswith("### Machine node-7.example.org: REJECTED\n")
first, *_, last = verdict["limits"]
assert first["limit"] == "at most 5.7 us" and first["max"] == 5700 and first["min"] is None
assert first["expected"] == 5400 and first["device"] is None and first["launches"] == 8
assert first["size"] == {"workload": "tutorial", "mode": "dp", "devices": "virt:2", "n_devices": 2,
                         "batch": 30, "chain": None, "host_inputs": None, "bytes": None, "backend": "cpu", "communicator": "threads",
                         "math": "f32"}
assert last["size"]["batch"] == 12345 and last["size"]["workload"] is None
assert last["is"] is None and last["median"] is None and last["reason"]
assert verdict["measured_by"] == {"version": "0.1.0", "commit": "3f2a9c1d5b7e"}
assert set(verdict["judged_by"]) == {"version", "commit"} and verdict["judged_by"]["version"]
assert [device["name"] for device in verdict["devices"]] == [f"virt:{i}" for i in range(8)]
assert verdict["software"]["blas"] == "OpenBLAS 0.3.21" and verdict["cores"] == 4
assert verdict["software"]["gpu_software"] is None
assert "source: made up, 2026-11-23, measured" in cases[0].find("failure").text
assert page.index("| FAIL | step") < page.index("| FAIL (advisory)") < page.index("| OPEN")

(limit,) = found["spread"][0]["limits"]
assert limit["device"] == 1 and limit["device_name"] == "virt:1" and limit["device_model"] is None
assert "swap it" in limit["action"], limit
assert found["spread"][0]["node"] is None
assert [d["lo"] <= d["median"] <= d["hi"] for d in limit["by_device"]] == [True] * 3
assert limit["by_device"][1] == {key: limit[key] for key in ("median", "lo", "hi")}
assert all(0.9 < limit["by_device"][d]["median"] <= 1 for d in (0, 2)), limit["by_device"]
assert all(one["by_device"] is None for one in found["accepted"][0]["limits"])
(limit,) = found["devices"][0]["limits"]
assert limit["device_name"] == "virt:1", limit
assert found["devices"][0]["devices"][0]["model"] == "?<&>]]>"
assert found["accepted"][0]["verdict"] == "ACCEPTED"
assert found["unbound"][0]["verdict"] == "NOT SHOWN"
