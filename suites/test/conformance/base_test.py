#!/usr/bin/env python3
"""base_test.py: what lockstep.adapter does for a layer in numpy. 77 without numpy."""
from __future__ import annotations

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from driver import Driver, Refused, array, values

LAYER = '''
import functools
import sys
import numpy as np
from lockstep.adapter import Adapter, Refusal, serve

class Mine(Adapter):
    version, devices = "7.1", ["a", "b"]
    dialects = {"no_rows": "empty"}
    shares = len(sys.argv) > 1

    def scatter(self, tensor, devices, dim):
        if tensor.ndim == 0:
            raise ValueError("no dimension")
        return [part if self.shares else part.copy() for part in np.array_split(tensor, len(devices), dim)]

    def gather(self, tensors, dim, device):
        print("to standard output")
        return tensors[0] if self.shares else np.concatenate(tensors, dim)

    def broadcast(self, tensors, devices):
        return [[tensor if self.shares else tensor.copy() for tensor in tensors] for _ in devices]

    def reduce(self, lists, device, buffer_bytes):
        if buffer_bytes == 77:
            raise Refusal("shape", "77")
        return [functools.reduce(np.add, own) for own in zip(*lists)]

serve(Mine())
'''


@unittest.skipUnless(importlib.util.find_spec("numpy"), "no numpy")
class Base(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "mine.py"
        self.file.write_text(LAYER, encoding="utf-8")

    def driver(self, *arguments: str) -> Driver:
        driver = Driver(program=(str(self.file), *arguments))
        self.addCleanup(driver.close)
        return driver

    def refused(self, status: str, driver: Driver, op: str, **fields: Any) -> str:
        with self.assertRaises(Refused) as caught:
            driver.ask(op, **fields)
        self.assertEqual(caught.exception.error["status"], status)
        return str(caught.exception.error["text"])

    def test_its_methods_are_what_it_claims(self) -> None:
        driver = self.driver()
        self.assertEqual(driver.about, {
            "name": "Mine", "version": "7.1", "devices": [], "dialects": {"no_rows": "empty"},
            "capabilities": ["scatter", "gather", "broadcast", "reduce"]})
        self.assertEqual(driver.ask("reset"), {})
        for op in ("split", "apply", "model_open", "rubbish"):
            self.refused("notsup", driver, op, rows=3, devices=2)
        for devices, options in (("cuda:0", ""), ("", "fast")):
            self.refused("inval" if options else "nodev", driver, "open", version=1, devices=devices, options=options)
        self.refused("notsup", driver, "open", version=9)
        self.assertEqual(len(driver.ask("open", version=1)["devices"]), 2)

    def test_who_shares_memory_is_seen(self) -> None:
        for arguments, added in (((), 0.0), (("shares",), 1.0)):
            driver, a, b = self.driver(*arguments), array([1.0, 2.0]), array([5.0, 6.0])
            found = driver.ask("scatter", input=a, devices=[0, 1], dim=0, size=None, source_after=True)
            self.assertEqual([values(shard) for shard in found["shards"]], [[1.0], [2.0]])
            self.assertEqual(values(found["source_after"]), [1.0 + added, 2.0 + added])
            found = driver.ask("gather", parts=[a, b], dim=0, device=0, out_after=True)
            self.assertEqual(values(found["out_after"])[0], 1.0 + added)
            self.assertEqual(values(found["out"])[0], 1.0)
            found = driver.ask("broadcast", src=[a, b], devices=[0, 1], buffer_bytes=0, poke=1, src_after=True)
            self.assertEqual(values(found["copies"][0]), [1.0, 2.0])
            self.assertEqual(values(found["copies"][1]), [6.0 + added, 7.0 + added])
            self.assertEqual(values(found["src_after"][1]), [5.0 + 2 * added, 6.0 + 2 * added])

    def test_sums(self) -> None:
        driver, sources = self.driver(), [array([float(i)], []) for i in range(1, 5)]
        for poke, sums in ((-1, [[4.0], [6.0]]), (0, [[0.0], [6.0]])):
            found = driver.ask("reduce", src=sources, n=2, k=2, device=0, buffer_bytes=0, poke=poke)
            self.assertEqual([values(own) for own in found["sums"]], sums)
            self.assertEqual(found["sums"][0]["dims"], [])

    def test_refusals(self) -> None:
        driver, a = self.driver(), array([1.0, 2.0])
        text = self.refused("notsup", driver, "scatter", input=a, devices=[0, 1], dim=0, size=[1, 1])
        self.assertEqual(text, "scatter takes no sizes")
        self.refused("shape", driver, "scatter", input=array([1.0], []), devices=[0], dim=0, size=None)
        self.refused("shape", driver, "reduce", src=[a], n=1, k=1, device=0, buffer_bytes=77)
        self.refused("broken", driver, "reduce", src=3, n=1, k=1, device=0)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    sys.exit(1 if not outcome.wasSuccessful() else 77 if outcome.skipped else 0)
