#!/usr/bin/env python3
"""Makes up the verdicts of a fleet, as `lockstep validate --format json` prints them.

    fleet_make.py FOLDER NODES [SEED [FAULT...]]

Numbers follow a seed, not a clock. Each fault is planted in a node of its own, in the order of
names from the second node on; the names of these nodes are printed, a line each.
"""
import json
import os
import random
import sys

LIMITS = 40
DEVICES = 8


def limit(index, noise):
    place = "mlp:%d,256 dp virt:8, %d rows" % (64 << index // 4, 32 << index % 4)
    if index % 4 == 3:
        values = [1 + 0.004 * abs(noise.gauss(0, 1)) for _ in range(DEVICES)]
        median = max(values)
        device, metric, unit, most = values.index(median), "device_spread", "1", 1.2
        place += ", device %d" % device
    else:
        device, metric, unit = None, "step_time", "ns"
        expected = 1e6 * (1 + index)
        median, most = expected * (1 + 0.01 * noise.gauss(0, 1)), 1.5 * expected
    return {"metric": metric, "statistic": "floor", "min": None, "max": most, "binding": True,
            "unit": unit, "place": place, "device": device, "verdict": "PASS", "launches": 8,
            "median": median, "lo": 0.99 * median, "hi": 1.01 * median, "source": "made up",
            "reason": "", "likely": "", "date": "2026-11-23", "evidence": "measured"}


def verdict(number, noise):
    return {"schema": "lockstep/verdict/1.0", "verdict": "ACCEPTED", "profile": "made-up",
            "machine_class": "7" * 64, "machine_instance": "%064x" % (1000 + number),
            "node_hash": "%016x" % number, "node": "node%04d" % number,
            "cpu_model": "Example CPU 3000 @ 2.50GHz", "run_id": "feedface%08x" % number,
            "versions": {"lockstep": "1.0.0", "driver": "580.65"},
            "limits": [limit(i, noise) for i in range(LIMITS)]}


def reject(node):
    worst = node["limits"][5]
    worst.update(median=2 * worst["median"], verdict="FAIL", likely="other programs")
    worst.update(lo=0.99 * worst["median"], hi=1.01 * worst["median"])
    node["verdict"] = "REJECTED"


def slow(node):
    worst = node["limits"][9]
    worst.update(median=1.25 * worst["median"])


def one_device(node):
    node["limits"][3].update(median=1.15)


def driver(node):
    node["versions"]["driver"] = "570.12"


def profile(node):
    node["limits"][0]["max"] *= 10


def spared(node):
    del node["limits"][7]


def not_shown(node):
    node["limits"][2].update(verdict="OPEN", reason="more launches can decide")
    node["verdict"] = "NOT SHOWN"


def false(node):
    node["limits"][2].update(verdict="FAIL")


def nothing(node):
    node["limits"] = []


def other_version(node):
    node["schema"] = "lockstep/verdict/2.0"


FAULTS = {"reject": reject, "slow": slow, "one_device": one_device, "driver": driver,
          "profile": profile, "spared": spared, "not_shown": not_shown, "false": false,
          "nothing": nothing, "other_version": other_version}


def write(folder, node, fault):
    text = json.dumps(node)
    if fault == "missing":
        return
    if fault == "torn":
        text = text[: len(text) // 2]
    if fault == "doubled":
        with open(os.path.join(folder, "again.json"), "w") as file:
            file.write(text)
    if fault == "copied":
        with open(os.path.join(folder, node["node"] + "x.json"), "w") as file:
            file.write(json.dumps(dict(node, node=node["node"] + "x")))
    with open(os.path.join(folder, node["node"] + ".json"), "w") as file:
        file.write(text)


def main():
    folder, nodes = sys.argv[1], int(sys.argv[2])
    noise = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    faults = sys.argv[4:]
    step = nodes // (len(faults) + 1)
    planted = {1 + step * (i + 1): fault for i, fault in enumerate(faults)}
    os.makedirs(folder)
    for number in range(1, nodes + 1):
        node = verdict(number, noise)
        fault = planted.get(number)
        if fault in FAULTS:
            FAULTS[fault](node)
        write(folder, node, fault)
        if fault:
            print(node["node"])


if __name__ == "__main__":
    main()
