#!/usr/bin/env python3
"""Whether `lockstep fleet` names those that it should, and nobody else.

    fleet_check.py named LOCKSTEP NAMES ARGUMENT...   NAMES: a file, one a line
    fleet_check.py cost LOCKSTEP MIB ARGUMENT...      prints time and memory, and fails above MIB
"""
import json
import resource
import subprocess
import sys
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


{"named": lambda: named(sys.argv[2], sys.argv[3], sys.argv[4:]),
 "cost": lambda: cost(sys.argv[2], int(sys.argv[3]), sys.argv[4:])}[sys.argv[1]]()
