#!/usr/bin/env python3
"""layers_test.py: a layer of suites/python/layers, by cases that it can run in a minute: which pass and which fail is
listed, and nothing else may. 77 where this Python does not have what the layer needs.

    layers_test.py LOCKSTEP LAYER
"""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile

from layers_known import FOLDER, ROOT, TABLE


def main(lockstep: str, name: str) -> int:
    """Runs the cases, and compares."""
    layer = TABLE[name]
    env = layer.environment(sys.executable)
    ready = subprocess.run([sys.executable, "-c", layer.needs], env=env, capture_output=True, text=True, check=False)
    if ready.returncode != 0:
        print(f"layers_test: {sys.executable} cannot {layer.needs}: {ready.stderr.strip().splitlines()[-1]}")
        return 77
    devices = ["--devices", "host"] if layer.name else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [lockstep, "check", "--impl", layer.impl(sys.executable, str(ROOT / FOLDER)), "--only", ",".join(layer.cases),
             *devices, "--format", "json"], env=env, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 1:
        print(f"layers_test: check ended with {done.returncode}, not 1:", done.stdout[-2000:], done.stderr[-2000:])
        return 1
    record = json.loads(done.stdout)
    print(record["impl"]["name"], record["impl"]["version"])
    wrong = 0
    for case in record["cases"]:
        want = "PASS" if case["id"] in layer.passed.split() else "FAIL" if case["id"] in layer.failed else "SKIP"
        words = layer.failed.get(case["id"], "not offered" if want == "SKIP" else "")
        if case["verdict"] != want or words not in (case["reason"] or ""):
            print(f"{case['id']}: {case['verdict']}, must be {want} {words!r}: {case['reason']}")
            wrong += 1
    print(f"{len(record['cases'])} cases, {wrong} otherwise than listed")
    return int(wrong > 0 or len(record["cases"]) != len(layer.cases))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
