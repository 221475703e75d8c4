#!/usr/bin/env python3
"""own_layer_test.py: somebody's layer in the place of DistributedDataParallel: the record has its name, and what
it raises is its fault, never the adapter's. The last test needs PyTorch: 77 without one, when the others pass.

    own_layer_test.py LOCKSTEP
"""
from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

from lockstep.driver import Driver, Refused
from lockstep.errors import STATUSES, Refusal, report_of
from lockstep.torch import under_test

LAYER = '''
"""A layer that does what its name says, by the input; otherwise DistributedDataParallel."""
import os
from torch.nn.parallel import DistributedDataParallel
__version__ = "3.1.4"

class Stumbles(Exception):
    """Of no class that Python knows."""

class Own(DistributedDataParallel):
    def forward(self, x):
        first = float(x.reshape(-1)[0])
        if first == 77.0:
            raise Stumbles("over its own feet")
        if first == 78.0:
            os._exit(3)
        return super().forward(x)

class Never(Own):
    def __init__(self, *arguments, **options):
        raise Stumbles("before it was built")
'''
ADAPTER = '''
import sys
sys.path.insert(0, {package!r})
sys.path.insert(0, {here!r})
from lockstep.torch import __main__, rank
import own_layer
rank.DistributedDataParallel = own_layer.{layer}
sys.exit(__main__.main())
'''


class Strange(Exception):
    """Of no class that the adapter knows."""


class Names(unittest.TestCase):
    def layer(self, module: str, **versions: str) -> type:
        """A class of that module; versions by module."""
        for name, version in versions.items():
            found = types.ModuleType(name)
            vars(found)["__version__"] = version
            sys.modules[name] = found
            self.addCleanup(sys.modules.pop, name)
        return type("Wrapper", (), {"__module__": module})

    def test_of_its_class_and_its_package(self) -> None:
        layer = self.layer("own_thing.inner.ddp", own_thing="0.7")
        self.assertEqual(under_test.name_of(layer), "own_thing.inner.ddp.Wrapper")
        self.assertEqual(under_test.version_of(layer), "0.7")
        self.assertEqual(under_test.package_of(layer), "own_thing")

    def test_never_of_another_package(self) -> None:
        layer = self.layer("own_thing", torch="2.15.0")
        self.assertEqual(under_test.version_of(layer), "unknown")

    def test_of_what_is_installed(self) -> None:
        import importlib.metadata as metadata
        name = next(d.metadata["Name"] for d in metadata.distributions()
                    if d.metadata["Name"].isidentifier() and d.metadata["Name"] not in sys.modules)
        self.assertEqual(under_test.version_of(self.layer(name)), metadata.version(name)[:63])

    def test_no_longer_than_a_record_takes(self) -> None:
        layer = self.layer("a." * 40 + "b", a="1" * 99)
        self.assertEqual(len(under_test.name_of(layer)), 63)
        self.assertTrue(under_test.name_of(layer).endswith("a.b.Wrapper"))
        self.assertEqual(under_test.version_of(layer), "1" * 63)


class Exceptions(unittest.TestCase):
    """Only what the adapter itself says is broken."""

    def test_of_the_layer_are_its_fault(self) -> None:
        for error in (Strange("no word that is known"), Strange(), KeyboardInterrupt(), MemoryError(), StopIteration(),
                      ZeroDivisionError("division by zero"), SystemExit(3), OSError(5, "Input/output error"),
                      UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), RecursionError("too deep"), ImportError("none"),
                      AttributeError("no such thing"), NotImplementedError("later"), BufferError("x"), Warning("w")):
            with self.subTest(repr(error)):
                report = report_of(error)
                self.assertIn(report.status, STATUSES)
                self.assertNotEqual(report.status, "broken")
                self.assertTrue(report.text)
        self.assertEqual(report_of(Strange("no word that is known")).status, "fault")
        self.assertEqual(report_of(Strange("no word that is known")).text, "Strange: no word that is known")

    def test_of_the_adapter_are_not(self) -> None:
        self.assertEqual(report_of(Refusal("broken", "no such field")).status, "broken")


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class Whole(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        (self.here / "own_layer.py").write_text(LAYER, encoding="utf-8")

    def script(self, layer: str) -> Path:
        path = self.here / f"{layer.lower()}_adapter.py"
        path.write_text(ADAPTER.format(package=str(PACKAGE), here=str(self.here), layer=layer), encoding="utf-8")
        return path

    def test_by_the_protocol(self) -> None:
        driver = Driver(program=(str(self.script("Own")),), stderr=subprocess.DEVNULL)
        self.assertEqual((driver.about["name"], driver.about["version"]), ("own_layer.Own", "3.1.4"))
        self.assertFalse({"split", "buckets", "sampler", "parallel"} & {*driver.about["capabilities"]})
        weight = {"kind": "affine", "weight": [2], "with_bias": False}
        self.assertEqual(driver.model(weight, ranks=2).forward([1.0], [2.0]), [[2.0], [4.0]])
        for first, words in ((77.0, "Stumbles: over its own feet"), (78.0, "rank 1 died")):
            model = driver.model(weight, ranks=2)
            with self.assertRaises(Refused) as caught:
                model.forward([1.0], [first])
            self.assertEqual(caught.exception.error["status"], "fault")
            self.assertIn(words, caught.exception.error["text"])
        self.assertEqual(driver.close(), 0)
        driver = Driver()
        self.assertEqual(driver.about["name"], "torch.nn.parallel.distributed.DistributedDataParallel")
        self.assertIn("sampler", driver.about["capabilities"])
        driver.close()

    def test_by_the_suite(self) -> None:
        """FAIL and exit status 1, not BROKEN and 2."""
        done = subprocess.run([LOCKSTEP, "check", "--impl", f"exec:'{sys.executable}' -B '{self.script('Never')}'",
                               "--only", "DDP-01*", "--format", "json"], capture_output=True, text=True, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, 1, done.stderr + done.stdout)
        record = json.loads(done.stdout)
        self.assertEqual((record["impl"]["name"], record["impl"]["version"]), ("own_layer.Never", "3.1.4"))
        self.assertGreater(len(record["cases"]), 3)
        for case in record["cases"]:
            self.assertEqual(case["verdict"], "FAIL", case)
            self.assertIn("Stumbles: before it was built", case["reason"])


if __name__ == "__main__":
    LOCKSTEP = sys.argv.pop(1)
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.skipped else 0)
