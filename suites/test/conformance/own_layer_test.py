#!/usr/bin/env python3
"""own_layer_test.py: somebody's layer in the place of DistributedDataParallel: the record has its name, and what
it raises is its fault, never the adapter's. The last test needs PyTorch: 77 without one, when the others pass.

    own_layer_test.py LOCKSTEP
"""
from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

import warm
from driver import Driver, Refused
from lockstep.errors import STATUSES, Refusal, report_of
from lockstep.torch import under_test

LAYER = '''
"""Layers that do what their names say, by the input; otherwise DistributedDataParallel."""
import contextlib
import os
import torch
import torch.distributed as dist
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
        if first == 79.0:
            self.waits()
        return super().forward(x)

    def waits(self):
        dist.barrier()

class Never(Own):
    def __init__(self, *arguments, **options):
        raise Stumbles("before it was built")

class Local(torch.nn.Module):
    """Reduces nothing, and has neither a search nor methods."""
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs)

class ByForward(Local):
    def forward(self, *inputs):
        return self.module.forward(*inputs)

class Hidden(Local):
    def __init__(self, module):
        torch.nn.Module.__init__(self)
        self.module = [module]

    def forward(self, *inputs):
        return self.module[0](*inputs)

class Every:
    """Has every method, and does each otherwise than PyTorch."""
    def __init__(self, model, rank, world):
        self.model, self.rank, self.world, self.quiet = model, rank, world, False

    def __call__(self, *inputs):
        return tuple(output + 1000 for output in self.model(*inputs))

    def backward(self, outputs, gradients):
        torch.autograd.backward(outputs, [(100 if self.quiet else 10) * gradient for gradient in gradients])

    def all(self, tensor):
        found = [torch.empty_like(tensor) for _ in range(self.world)]
        dist.all_gather(found, tensor.detach())
        return torch.stack(found).sum(0)

    def grad(self, name, parameter):
        return None if parameter.grad is None else self.all(parameter.grad)

    def value(self, name, parameter):
        assert name == "0.weight", name
        return self.all(parameter)

    def set_value(self, name, parameter, value):
        parameter.data.copy_(value + self.rank)

    def step(self, lr, momentum):
        for parameter in self.model.parameters():
            parameter.data += lr + momentum

    def zero_grad(self):
        for parameter in self.model.parameters():
            parameter.grad = torch.full_like(parameter, 7)

    def to(self, device):
        assert device == torch.device("cpu"), device
        for parameter in self.model.parameters():
            parameter.data.fill_(33)

    @contextlib.contextmanager
    def no_sync(self):
        self.quiet = True
        yield
        self.quiet = False

    @contextlib.contextmanager
    def join(self):
        yield

def function(model, rank, world):
    return Own(model)

def said(model, rank, world) -> Own:
    return Own(model)

def stumbles(model, rank, world):
    raise Stumbles("before it returned")

def strange(first, second, third, fourth):
    pass

number = 3
'''
# A process group of Python, which PyTorch 1.13 and the newest both know.
BACKEND = '''
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch._C._distributed_c10d import ProcessGroupGloo

def create(store, rank, world, timeout):
    print("created for", rank, "of", world, flush=True)
    return ProcessGroupGloo(store, rank, world, timeout)

dist.Backend.register_backend("home_made", create)

class Own(DistributedDataParallel):
    pass
'''

WEIGHT = {"kind": "affine", "weight": [2], "with_bias": False}


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

    def test_of_its_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "own_thing.py"
            file.write_bytes(b"x = 1\n")
            os.utime(file, (1796000000, 1796000000))
            layer = self.layer("own_thing", own_thing="")
            sys.modules["own_thing"].__file__ = str(file)
            self.assertEqual(under_test.version_of(layer), "file of 2026-11-30, sha256 9e26bf369911")

    def test_of_a_distribution_with_another_name(self) -> None:
        import importlib.metadata as metadata
        table = getattr(metadata, "packages_distributions", dict)()
        found = [(package, names[0]) for package, names in table.items()
                 if names[0] != package and package.isidentifier() and package not in sys.modules]
        for package, name in found[:1]:
            self.assertEqual(under_test.version_of(self.layer(package)), metadata.version(name)[:63])

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

    def test_say_their_class_and_count_by_it(self) -> None:
        for error, status in ((ValueError("no"), "shape"), (TypeError("no"), "inval"), (RuntimeError("no"), "fault")):
            report = report_of(error)
            self.assertEqual((report.status, report.text), (status, f"{type(error).__name__}: no"))

    def test_not_supported_is_a_refusal_of_the_layer(self) -> None:
        """From PyTorch it means that an operation is missing."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "their_layer.py").write_text("def no():\n    raise RuntimeError('this is not supported')\n")
            try:
                under_test.import_file(Path(folder, "their_layer.py")).no()
            except RuntimeError as error:
                self.assertEqual(report_of(error).status, "fault")
        self.assertEqual(report_of(RuntimeError("this is not supported")).status, "notsup")

    def test_of_the_adapter_are_not(self) -> None:
        self.assertEqual(report_of(Refusal("broken", "no such field")).status, "broken")


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.python = str(stack.enter_context(warm.python(Path(stack.enter_context(tempfile.TemporaryDirectory())), 10)))

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        (self.here / "own_layer.py").write_text(LAYER, encoding="utf-8")

    def driver(self, layer: str, options: str = "", **process: Any) -> Driver:
        """Of a layer of that module."""
        driver = Driver(options, ("-m", "lockstep.torch", layer), self.python, cwd=self.here, **process)
        self.addCleanup(driver.close)
        return driver

    def test_by_the_protocol(self) -> None:
        driver = self.driver("own_layer:Own", stderr=subprocess.DEVNULL)
        self.assertEqual((driver.about["name"], driver.about["version"]), ("own_layer.Own", "3.1.4"))
        self.assertEqual({"split", "buckets", "sampler", "parallel"} & {*driver.about["capabilities"]}, set())
        self.assertLessEqual({"ddp", "find_unused", "adamw", "join"}, {*driver.about["capabilities"]})
        self.assertEqual(driver.model(WEIGHT, ranks=2).forward([1.0], [2.0]), [[2.0], [4.0]])
        lines = LAYER.splitlines()
        stumbles, waits = (1 + next(i for i, line in enumerate(lines) if word in line)
                           for word in ("over its own feet", "dist.barrier()"))
        for first, words in ((77.0, f"Stumbles: over its own feet (own_layer.py:{stumbles} in forward)"),
                             (78.0, "rank 1 died"),
                             (79.0, f"rank 1 did not answer in 8 s (torch@SECONDS gives more), rank 0 did; rank 1 stands at own_layer.py:{waits} in waits, "
                                    "own_layer.py:")):
            model = driver.model(WEIGHT, ranks=2)
            with self.assertRaises(Refused) as caught:
                model.forward([1.0], [first])
            self.assertEqual(caught.exception.error["status"], "fault" if first == 77.0 else "lost")
            self.assertIn(words, caught.exception.error["text"])

    def test_pytorch_itself(self) -> None:
        driver = Driver(python=self.python)
        self.addCleanup(driver.close)
        self.assertEqual(driver.about["name"], "torch.nn.parallel.distributed.DistributedDataParallel")
        self.assertIn("sampler", driver.about["capabilities"])

    def test_what_it_lacks_is_not_claimed(self) -> None:
        driver = self.driver("own_layer:Local")
        self.assertEqual({"find_unused", "join"} & {*driver.about["capabilities"]}, set())
        self.assertIn("adamw", driver.about["capabilities"])
        model = driver.model(WEIGHT, ranks=2)
        self.assertEqual(model.forward([1.0], [3.0]), [[2.0], [6.0]])
        model.backward()
        self.assertEqual(model.every("grad", 0), [[1.0], [3.0]])
        for fields, word in (({"no_sync": True}, "no_sync()"), ({"active": [True, False]}, "join()")):
            with self.assertRaises(Refused) as caught:
                model.forward([1.0], None if "active" in fields else [3.0], **fields)
            self.assertEqual(caught.exception.error["status"], "notsup")
            self.assertIn(f"own_layer.Local has no {word}", caught.exception.error["text"])

    def test_a_module_is_what_its_user_sees(self) -> None:
        """Its hooks run, and the optimizer gets the parameters of the layer."""
        with self.assertRaises(Refused) as caught:
            self.driver("own_layer:ByForward").model(WEIGHT, ranks=2).forward([1.0], [3.0])
        self.assertIn("the hooks of the module did not run", caught.exception.error["text"])
        for name, after in (("Local", [[1.5], [0.5]]), ("Hidden", [[2.0], [2.0]])):
            model = self.driver(f"own_layer:{name}").model(WEIGHT, ranks=2)
            model.forward([1.0], [3.0])
            model.backward()
            model.step(0.5, 0.0)
            self.assertEqual(model.every("value", 0), after)

    def test_every_method_is_used(self) -> None:
        driver = self.driver(str(self.here / "own_layer.py:Every"))
        self.assertEqual(driver.about["name"], "own_layer.Every")
        self.assertNotIn("adamw", driver.about["capabilities"])
        self.assertIn("join", driver.about["capabilities"])
        model = driver.model(WEIGHT, ranks=2)
        self.assertEqual(model.every("value", 0), [[4.0], [4.0]])
        model.set("value", 0, [5.0], rank=1)
        self.assertEqual(model.every("value", 0), [[8.0], [8.0]])
        self.assertEqual(model.forward([1.0], [2.0]), [[1002.0], [1012.0]])
        model.backward()
        self.assertEqual(model.every("grad", 0), [[30.0], [30.0]])
        model.zero_grad()
        self.assertEqual(model.every("grad", 0), [[14.0], [14.0]])
        model.forward([1.0], [2.0], no_sync=True)
        model.backward()
        self.assertEqual(model.every("grad", 0), [[314.0], [314.0]])
        model.forward([1.0], [2.0])
        model.backward()
        self.assertEqual(model.every("grad", 0), [[344.0], [344.0]])
        model.step(0.5, 0.25)
        self.assertEqual(model.every("value", 0), [[9.5], [9.5]])
        model.ask("to", device=-1)
        self.assertEqual(model.every("value", 0), [[66.0], [66.0]])

    def test_functions(self) -> None:
        """What they return is known by two ranks that call them, or by what they say."""
        for name in ("function", "said"):
            driver = self.driver(f"own_layer:{name}")
            self.assertEqual(driver.about["name"], f"own_layer.{name}")
            self.assertEqual({"find_unused", "join"} & {*driver.about["capabilities"]}, {"join"})
            model = driver.model(WEIGHT, ranks=2)
            model.forward([1.0], [3.0])
            model.backward()
            self.assertEqual(model.every("grad", 0), [[2.0], [2.0]])

    def test_mistakes_are_one_line(self) -> None:
        """Those of names are looked for in this process; one of them, and all of options, by the protocol."""
        (self.here / "needs.py").write_text("import no_such\n", encoding="utf-8")
        (self.here / "ends.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
        (self.here / "broken_off.py").write_text("class Own(\n", encoding="utf-8")
        self.addCleanup(os.chdir, os.getcwd())
        self.addCleanup(sys.path.remove, str(self.here))
        self.addCleanup(sys.modules.pop, "own_layer", None)
        sys.path.insert(0, str(self.here))
        os.chdir(self.here)
        for layer, words in (
                ("own_layer", "'own_layer' is not MODULE:NAME"), ("own_layer:Nothing", "own_layer has no 'Nothing'"),
                ("own_layer:number", "own_layer:number is no class and no function"),
                ("no_such:Own", "there is no module 'no_such'"), ("no.such:Own", "there is no module 'no'"),
                ("no_such.py:Own", "there is no file "), ("needs:Own", "needs cannot be imported: there is no module 'no_such'"),
                ("broken_off.py:Own", "broken_off.py cannot be imported: SyntaxError"),
                ("ends:Own", "ends cannot be imported: SystemExit: 3"),
                ("own_layer:strange", "takes (first, second, third, fourth)")):
            with self.subTest(layer), self.assertRaises(Refusal) as found:
                under_test.find(layer)
            self.assertEqual(found.exception.report.status, "inval")
            self.assertIn(words, str(found.exception))
        with self.assertRaises(Refused) as caught:
            self.driver("no_such:Own")
        self.assertEqual(caught.exception.error["status"], "inval")
        self.assertEqual(caught.exception.error["text"], "there is no module 'no_such'")

    def test_backends(self) -> None:
        (self.here / "home.py").write_text(BACKEND, encoding="utf-8")
        with (self.here / "words").open("w+") as words:
            driver = self.driver("home:Own", "backend=home_made", stderr=words)
            model = driver.model(WEIGHT, ranks=2)
            model.forward([1.0], [3.0])
            model.backward()
            self.assertEqual(model.every("grad", 0), [[2.0], [2.0]])
            words.seek(0)
            self.assertIn("created for 1 of 2", words.read())
        for options, word in (("backend=home_made", "backend 'home_made': this PyTorch has gloo"), ("backend=", "unknown option"),
                              ("foo", "unknown option 'foo'; there are backend=NAME, find_unused_parameters")):
            with self.assertRaises(Refused) as caught:
                self.driver("own_layer:Own", options)
            self.assertIn(word, caught.exception.error["text"])

    def check(self, layer: str, *options: str) -> tuple[int, Any]:
        """The exit status and the record of a check, or its words if there is none."""
        done = subprocess.run([LOCKSTEP, "check", "--impl", f"torch:{layer}", "--only", "DDP-01*", "--format", "json", *options],
                              capture_output=True, text=True, timeout=300, check=False, cwd=self.here,
                              env={**os.environ, "LOCKSTEP_PYTHON": self.python})
        return done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr + done.stdout

    def test_by_the_suite(self) -> None:
        """FAIL and exit status 1, not BROKEN and 2."""
        for layer, text in (("Never", "before it was built"), ("stumbles", "before it returned")):
            status, record = self.check(f"own_layer:{layer}")
            self.assertEqual(status, 1, record)
            self.assertEqual((record["impl"]["name"], record["impl"]["version"]), (f"own_layer.{layer}", "3.1.4"))
            self.assertGreater(len(record["cases"]), 3)
            for case in record["cases"]:
                self.assertEqual(case["verdict"], "FAIL", case)
                self.assertIn(f"Stumbles: {text}", case["reason"])

    def test_a_layer_in_the_place_of_pytorchs_passes(self) -> None:
        status, record = self.check("own_layer.py:Own")
        self.assertEqual(status, 0, record)
        self.assertEqual((record["impl"]["spec"], record["impl"]["name"]), ("torch:own_layer.py:Own", "own_layer.Own"))
        self.assertGreater(record["counts"]["pass"], 3)

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "there are GPUs")
    def test_gpus_that_are_required(self) -> None:
        for options in ((), ("--impl-options", "backend=nccl")):
            status, record = self.check("own_layer.py:Own", "--devices", "cuda:all", "--require-devices", "2", *options)
            self.assertEqual(status, 1, record)
            self.assertRegex(record["cases"][0]["reason"],
                             r"^--require-devices 2: .* no (GPU|devices, only the host) \((Found no NVIDIA driver|Torch not compiled with CUDA)")

    def test_a_mistake_by_the_suite(self) -> None:
        status, record = self.check("own_layer:Nothing")
        self.assertEqual(status, 2, record)
        self.assertIn("own_layer has no 'Nothing'", json.dumps(record))


class Help(unittest.TestCase):
    def test_it_fits_on_a_screen(self) -> None:
        done = subprocess.run([sys.executable, "-m", "lockstep.torch", "--help"], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        lines = done.stdout.splitlines()
        self.assertLessEqual(len(lines), 32)
        self.assertLessEqual(max(map(len, lines)), 115)
        for method in (*under_test.METHODS, "__call__", "backend=NAME"):
            if method != "register_comm_hook":
                self.assertIn(method, done.stdout)


if __name__ == "__main__":
    LOCKSTEP = sys.argv.pop(1)
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.skipped else 0)
