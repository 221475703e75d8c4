#!/usr/bin/env python3
"""Whether `lockstep fleet` names those that it should, and nobody else.

    fleet_check.py named LOCKSTEP NAMES ARGUMENT...   NAMES: a file, one a line
    fleet_check.py edited LOCKSTEP FOLDER             a node of it, with one edit each, is BROKEN
    fleet_check.py copied LOCKSTEP FOLDER             so is one run under ten names
    fleet_check.py cost LOCKSTEP MIB ARGUMENT...      prints time and memory, and fails above MIB
"""
import copy
import json
import os
import resource
import subprocess
import sys
import tempfile
import time


def named(program, names, arguments):
    begin = time.monotonic()
    done = subprocess.run([program, "fleet", "--format", "json", *arguments], capture_output=True)
    seconds = time.monotonic() - begin
    assert not done.stderr, done.stderr
    fleet = json.loads(done.stdout)
    with open(names) as file:
        wanted = set(file.read().split())
    found = {node["node"] for node in fleet["nodes"] if not node["passes"]}
    found |= {one["node"] for one in fleet["drift"]}
    found |= {one["node"] for one in fleet["outliers"]}
    print("%d nodes, %.2f s: %s" % (len(fleet["nodes"]), seconds, " ".join(sorted(found))))
    assert found == wanted, "missed: %s; false: %s" % (wanted - found, found - wanted)
    assert seconds < 10, "%.1f s" % seconds
    assert done.returncode == fleet["exit"]
    counts = fleet["counts"]
    assert sum(counts[status] for status in
               ("ACCEPTED", "REJECTED", "NOT SHOWN", "BROKEN", "MISSING")) == len(fleet["nodes"])


def cost(program, most, arguments):
    begin = time.monotonic()
    done = subprocess.run([program, "fleet", *arguments], stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("%.2f s, %.0f MiB" % (seconds, mib))
    assert done.returncode == 0, done.returncode
    assert mib < most, "more than %d MiB" % most


LIMIT, DEVICES = ("limits", 0), ("limits", 3)  # the second one has numbers of devices
# The members that are edited, and their new values. None also stands for a member that has to
# exist. `...` deletes it.
EDITS = [
    *[((*LIMIT, name), value) for name, values in (
        ("hi", (1e30, None, ..., "1", True, -1)), ("lo", (None, ..., 1e30, "1", -1)),
        ("min", (1e30, "1", -1, ...)), ("max", (None, 0, "1", -1, ...)),
        ("median", (None, 1e30, 0, "1", ...)), ("launches", (0, 4, -1, None, 8.5, "8", ...)),
        ("shared_by", (0, 1000, None, ...)), ("level", (0.5, 0.95 + 1e-6, None, ...)),
        ("binding", (None, 0, 1, "true", False, ...)), ("unit", ("s", "", None, ...)),
        ("metric", ("step_tim", "", None, ...)), ("statistic", (1, ...)), ("size", (None, [], ...)),
        ("device", (0, 64, -1, "0", ...)), ("by_device", ([], {}, [{}], "x")),
        ("expected", (1e30, 1.0, "1", ...)), ("peak", (1.0, "1")), ("date", (1, ...)),
        ("verdict", ("FAIL", "OPEN", "INVALID", "UNMEASURED", "pass", None, ...)))
      for value in values],
    *[((*DEVICES, name), value) for name, values in (
        ("by_device", (None, [], ...)), ("device", (None, 8, 2)), ("shared_by", (1, 7)),
        ("launches", (7,)), ("median", (1.0,))) for value in values],
    *[((*DEVICES, "by_device", d, name), value) for d in (2, 5)
      for name, values in (("median", (1e30, None, "1", ...)), ("lo", (1e30, None, "1", ...)),
                           ("hi", (1e30, None, "1", ...))) for value in values],
    *[((*LIMIT, "size", name), value) for name, value in (
        ("n_devices", "8"), ("batch", 0), ("math", 1), ("backend", ...))],
    *[(("binding",), value) for value in (
        {"PASS": 1, "FAIL": 18}, 1, "true", None, ..., {},
        {"PASS": 39, "OPEN": 0, "UNMEASURED": 0, "INVALID": 0, "FAIL": 0},
        {"PASS": 40, "OPEN": 0, "UNMEASURED": 0, "INVALID": 0, "FAIL": 1},
        {"PASS": 40.0, "OPEN": 0, "UNMEASURED": 0, "INVALID": 0, "FAIL": 0})],
    *[(("conformance",), dict({"required": "ddp", "verdict": "PASS", "reason": None, "cases": 76,
                               "passed": 66, "failed": 0, "skipped": 10}, **edit)) for edit in (
        {"failed": 5}, {"passed": 0, "skipped": 76}, {"passed": 61, "failed": 5}, {"cases": 0},
        {"cases": 77}, {"passed": "66"}, {"passed": 66.0}, {"verdict": "FAIL"}, {"verdict": None},
        {"verdict": "UNMEASURED"}, {"required": None}, {"skipped": -1, "passed": 77},
        {"cases": 0, "passed": 0, "skipped": 0})],
    (("conformance",), []), (("conformance",), "PASS"), (("conformance",), {}),
    (("records",), None), (("records",), {}), (("records",), []), (("records", "git_dirty"), 0),
    (("records", "clock"), ...), (("allow_dirty",), "no"),
    (("limits",), {}), (("limits",), []), (("limits",), [1]), (("limits",), None),
    (("verdict",), "NOT SHOWN"), (("verdict",), "REJECTED"), (("verdict",), None),
    (("run_id",), None), (("run_id",), ""), (("run_id",), ...), (("run_id",), 7),
    (("machine_instance",), None), (("machine_instance",), ""), (("machine_instance",), ...),
    (("samples_sha256",), "0"), (("samples_sha256",), 1), (("devices",), {}), (("devices", 0), 1),
    (("cores",), "4"), (("cores",), 0), (("software",), None), (("software", "libc"), 2),
    (("measured_by",), ...), (("judged_by", "commit"), 1), (("profile",), None), (("profile_sha256",), "3"), (("measured_utc",), "2026-11-23"), (("node",), 7)]


def own(node, number):
    """The same node, measured by another machine."""
    return dict(copy.deepcopy(node), node="edit%d" % number, run_id="id%d" % number,
                machine_instance="machine%d" % number, samples_sha256="%064d" % number)


def statuses(program, nodes):
    with tempfile.TemporaryDirectory() as folder:
        for number, node in enumerate(nodes):
            with open(os.path.join(folder, "edit%d.json" % number), "w") as file:
                json.dump(node, file)
        done = subprocess.run([program, "fleet", "--format", "json", folder], capture_output=True)
    fleet = json.loads(done.stdout)
    return done.returncode, {node["file"]: node["status"] for node in fleet["nodes"] if node["file"]}


def first_of(folder):
    with open(os.path.join(folder, "node0001.json")) as file:
        return json.load(file)


def edited(program, folder):
    nodes = [own(first_of(folder), number) for number in range(len(EDITS) + 1)]
    for node, (path, value) in zip(nodes, EDITS):
        at = node
        for member in path[:-1]:
            at = at[member]
        if value is ...:
            del at[path[-1]]
        else:
            at[path[-1]] = value
    code, found = statuses(program, nodes)
    assert code == 1 and found.pop("edit%d.json" % len(EDITS)) == "ACCEPTED", (code, found)
    believed = [EDITS[int(name[4:-5])] for name, status in found.items() if status != "BROKEN"]
    assert len(found) == len(EDITS) and not believed, believed


def copied(program, folder):
    node = first_of(folder)
    for name in ("machine_instance", "samples_sha256", "run_id"):
        code, found = statuses(program, [dict(own(node, i), **{name: node[name]}) for i in range(10)])
        assert code == 1 and set(found.values()) == {"BROKEN"}, (name, code, found)
    # The nodes form a chain: the first and the second share a run, the second and the third a
    # machine.
    nodes = [own(node, number) for number in range(4)]
    nodes[1]["run_id"] = nodes[0]["run_id"]
    nodes[2]["machine_instance"] = nodes[1]["machine_instance"]
    code, found = statuses(program, nodes)
    assert code == 1 and sorted(found.values()) == ["ACCEPTED"] + 3 * ["BROKEN"], found


{"named": lambda: named(sys.argv[2], sys.argv[3], sys.argv[4:]),
 "edited": lambda: edited(sys.argv[2], sys.argv[3]),
 "copied": lambda: copied(sys.argv[2], sys.argv[3]),
 "cost": lambda: cost(sys.argv[2], int(sys.argv[3]), sys.argv[4:])}[sys.argv[1]]()
