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
    device, devices, metric, unit = None, None, "step_time", "ns"
    median, most = 1e6 * (1 + index) * (1 + 0.01 * noise.gauss(0, 1)), 1.5e6 * (1 + index)
    if index % 4 == 3:
        # Position 5 is in a warm place in every node.
        devices = [(1.06 if d == 5 else 1) * (1 + 0.004 * noise.gauss(0, 1))
                   for d in range(DEVICES)]
        median, most = max(devices), 1.2
        device, metric, unit = devices.index(median), "device_spread", "1"
        place += ", device %d" % device
        devices = [{"median": m, "lo": 0.999 * m, "hi": 1.001 * m} for m in devices]
    lo, hi = (0.999, 1.001) if devices else (0.99, 1.01)
    return {"metric": metric, "statistic": "floor", "limit": "at most", "min": None, "max": most,
            "expected": None, "unit": unit, "binding": True, "source": "made up",
            "date": "2026-11-23", "evidence": "measured", "verdict": "PASS", "place": place,
            "size": {"workload": "mlp:%d,256" % (64 << index // 4), "mode": "dp",
                     "devices": "virt:8", "n_devices": 8, "batch": 32 << index % 4,
                     "backend": "cpu", "communicator": "threads", "math": "f32"},
            "device": device, "device_name": None, "device_model": None, "launches": 8,
            "median": median, "lo": lo * median, "hi": hi * median, "level": 0.95,
            "shared_by": len(devices or [0]), "is": "as it is", "reason": "", "likely": "", "action": "",
            "by_device": devices}


def verdict(number, noise):
    limits = [limit(i, noise) for i in range(LIMITS)]
    return {"schema": "lockstep/verdict/1.0", "verdict": "ACCEPTED", "node": "node%04d" % number,
            "profile": "made-up", "profile_sha256": "3" * 64, "judged_by": {"version": "1.0.0", "commit": "c0ffee"},
            "machine_class": "7" * 64, "machine_instance": "%064x" % (1000 + number),
            "node_hash": "%016x" % number, "cpu_model": "Example CPU 3000 @ 2.50GHz", "cores": 64,
            "devices": [{"name": "virt:%d" % d, "kind": "virt", "model": "Example 100",
                         "bus": None} for d in range(DEVICES)],
            "software": {"kernel": "6.1.0", "libc": "2.36", "blas": "OpenBLAS 0.3.21",
                         "gpu_software": "driver 580.65", "governor": None, "backend": "cpu",
                         "communicator": "threads"},
            "run_id": "feedface%08x" % number,
            "samples_sha256": "%064x" % (5000 + number),
            "measured_utc": "2026-11-23T10:%02d:%02dZ" % (number // 60 % 60, number % 60),
            "measured_by": {"version": "1.0.0", "commit": "c0ffee"},
            "allow_dirty": False,
            "records": {"source": "measured", "clock": "CLOCK_MONOTONIC_RAW", "build_type": "Release",
                        "sanitizers": "", "git_sha": "c0ffee5d5b7e", "git_dirty": False},
            "binding": {"PASS": len(limits), "OPEN": 0, "UNMEASURED": 0, "INVALID": 0, "FAIL": 0},
            "conformance": {"required": "ddp", "verdict": "PASS", "reason": None, "cases": 76,
                            "passed": 66, "failed": 0, "skipped": 10},
            "limits": limits}


def reject(node):
    worst = node["limits"][5]
    worst.update(median=2 * worst["median"], verdict="FAIL", likely="other programs", action="end them")
    worst.update(lo=0.99 * worst["median"], hi=1.01 * worst["median"])
    node["verdict"] = "REJECTED"
    node["binding"].update(PASS=LIMITS - 1, FAIL=1)


def slow(node):
    worst = node["limits"][9]
    worst.update({name: 1.25 * worst[name] for name in ("median", "lo", "hi")})


def one_device(node):
    """As slow as position 5 is everywhere, and another one is never."""
    node["limits"][3]["by_device"][2].update(median=1.06, lo=1.059, hi=1.061)


def lame(node):
    worst = node["limits"][3]
    worst["by_device"][2].update(median=1.5, lo=1.499, hi=1.501)
    worst.update(median=1.5, lo=1.499, hi=1.501, device=2, verdict="FAIL",
                 place=worst["place"].rsplit(",", 1)[0] + ", device 2")
    node["verdict"] = "REJECTED"
    node["binding"].update(PASS=LIMITS - 1, FAIL=1)


def driver(node):
    node["software"]["gpu_software"] = "driver 570.12"


def model(node):
    node["devices"][3]["model"] = "Example 90"


def profile(node):
    node["limits"][0]["max"] *= 2


def same_name(node):
    """A profile of the same name and limits, at a smaller place."""
    node["profile_sha256"] = "4" * 64


def fewer_devices(node):
    del node["devices"][4:]


def few_cases(node):
    node["conformance"].update(passed=1, skipped=75)


def future(node):
    node["measured_utc"] = "2099-01-01T00:00:00Z"


def no_date(node):
    node["measured_utc"] = "<b>6-11-23T10:00:00Z"


def spared(node):
    del node["limits"][7]
    node["binding"].update(PASS=LIMITS - 1)


def not_shown(node):
    node["limits"][2].update(verdict="OPEN", reason="more launches can decide",
                             hi=1.01 * node["limits"][2]["max"])
    node["verdict"] = "NOT SHOWN"
    node["binding"].update(PASS=LIMITS - 1, OPEN=1)


def false(node):
    over = 2 * node["limits"][2]["max"]
    node["limits"][2].update(verdict="FAIL", median=over, lo=over, hi=over)


def no_median(node):
    node["limits"][4]["median"] = None


def outside(node):
    node["limits"][4]["median"] = 1.01 * node["limits"][4]["max"]


def within(node):
    node["limits"][4]["verdict"] = "FAIL"
    node["verdict"] = "REJECTED"


def nothing(node):
    node["limits"] = []


def other_version(node):
    node["schema"] = "lockstep/verdict/2.0"


def older(node):
    del node["records"], node["allow_dirty"]


def dirty(node):
    node["records"]["git_dirty"] = True


FAULTS = {"older": older, "dirty": dirty, "reject": reject, "slow": slow, "one_device": one_device, "lame": lame, "driver": driver, "model": model,
          "profile": profile, "same_name": same_name, "future": future, "no_date": no_date, "fewer_devices": fewer_devices, "few_cases": few_cases, "spared": spared, "not_shown": not_shown, "false": false,
          "nothing": nothing, "no_median": no_median, "outside": outside, "within": within,
          "other_version": other_version}


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
