#!/usr/bin/env python3
"""own_ddp_test.py: a small data-parallel wrapper as users write them passes all that `lockstep check` asks it, and with
one of the mistakes that users make in one it fails the cases that are about that mistake, and no others; by pytest, too.
77 without PyTorch.

    own_ddp_test.py LOCKSTEP
"""
from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import warm
from driver import PACKAGE

PYTEST = importlib.util.find_spec("pytest")
WRAPPERS = '''
import contextlib
import os
import torch
import torch.distributed as dist

class Right:
    def __init__(self, model, rank, world):
        self.model, self.world, self.synchronises, self.sends, self.missing = model, world, True, True, []
        self.trained = [p for p in model.parameters() if p.requires_grad]
        shapes = [None] * world
        dist.all_gather_object(shapes, [tuple(p.shape) for p in model.parameters()])
        if not self.trained or any(own != shapes[0] for own in shapes):
            raise ValueError(f"nothing to train, or shapes that differ: {shapes}")
        self.broadcast([*model.parameters(), *model.buffers()])

    def buffers(self):
        return list(self.model.buffers())

    def broadcast(self, tensors):
        for tensor in tensors:
            dist.broadcast(tensor.detach(), 0)

    def __call__(self, *inputs, **named):
        if self.missing:
            raise RuntimeError(f"parameters {self.missing} got no gradient")
        if self.sends:
            self.broadcast(self.buffers())
        self.sends = self.synchronises and torch.is_grad_enabled()
        if torch.is_grad_enabled():
            self.reduces = self.synchronises
        return self.model(*inputs, **named)

    def backward(self, outputs, gradients):
        torch.autograd.backward(outputs, gradients)
        if self.reduces:
            self.missing = [i for i, p in enumerate(self.trained) if p.grad is None]
            if not self.missing:
                self.reduce()

    def reduce(self):
        flat = torch.cat([p.grad.reshape(-1) / self.world for p in self.trained])
        dist.all_reduce(flat)
        for p, part in zip(self.trained, flat.split([p.numel() for p in self.trained])):
            p.grad.copy_(part.view_as(p))

    @contextlib.contextmanager
    def no_sync(self):
        before, self.synchronises = self.synchronises, False
        try:
            yield
        finally:
            self.synchronises = before

class NoFinally(Right):
    @contextlib.contextmanager
    def no_sync(self):
        self.synchronises = False
        yield
        self.synchronises = True

class Counts(Right):
    """Reduces when the last gradient has come; an error in a backward leaves the count as it is."""
    def __init__(self, model, rank, world):
        super().__init__(model, rank, world)
        self.left = len(self.trained)
        self.nodes = [p.expand_as(p).grad_fn.next_functions[0][0] for p in self.trained]
        for node in self.nodes:
            node.register_hook(self.came)

    def came(self, *_):
        self.left -= self.synchronises
        if self.left == 0:
            self.left = len(self.trained)
            self.reduce()

    def backward(self, outputs, gradients):
        torch.autograd.backward(outputs, gradients)

class Swallows(Right):
    @contextlib.contextmanager
    def no_sync(self):
        with super().no_sync(), contextlib.suppress(Exception):
            yield

class Copies(Right):
    def reduce(self):
        for p in self.trained:
            dist.all_reduce(p.grad.reshape(-1).div_(self.world))

class Views(Right):
    """Puts the gradients where they were sent, row by row."""
    def reduce(self):
        flat = torch.cat([p.grad.reshape(-1) / self.world for p in self.trained])
        dist.all_reduce(flat)
        for p, part in zip(self.trained, flat.split([p.numel() for p in self.trained])):
            p.grad = part.view(p.shape)

class FloatBuffers(Right):
    def broadcast(self, tensors):
        super().broadcast([tensor for tensor in tensors if tensor.is_floating_point()])

class OneType(Right):
    def broadcast(self, tensors):
        flat = torch.cat([torch.zeros(0), *(tensor.detach().reshape(-1) for tensor in tensors)])
        dist.broadcast(flat, 0)
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
            tensor.detach().copy_(part.view_as(tensor))

class StateDict(Right):
    def buffers(self):
        names = dict(self.model.named_parameters())
        return [tensor for name, tensor in self.model.state_dict().items() if name not in names]

class Remembered(Right):
    def buffers(self):
        self.kept = getattr(self, "kept", None) or super().buffers()
        return self.kept

class Singles(Right):
    def reduce(self):
        for p in self.trained:
            wire = p.grad.float() / self.world
            dist.all_reduce(wire)
            p.grad.copy_(wire)

class FirstType(Right):
    def reduce(self):
        flat = torch.empty(sum(p.numel() for p in self.trained), dtype=self.trained[0].dtype)
        parts = flat.split([p.numel() for p in self.trained])
        for p, part in zip(self.trained, parts):
            part.copy_(p.grad.reshape(-1) / self.world)
        dist.all_reduce(flat)
        for p, part in zip(self.trained, parts):
            p.grad.copy_(part.view_as(p))

class AddsFirst(Right):
    def reduce(self):
        for p in self.trained:
            wire = p.grad.contiguous()
            dist.all_reduce(wire)
            p.grad.copy_(wire / self.world)

class OnlySingles(Right):
    def __init__(self, model, rank, world):
        super().__init__(model, rank, world)
        self.trained = [p for p in self.trained if p.dtype == torch.float32]

class ShapedBuffers(Right):
    def buffers(self):
        return [tensor for tensor in super().buffers() if tensor.shape]

class OnlyShaped(Right):
    def reduce(self):
        self.trained = [p for p in self.trained if p.shape]
        super().reduce()

class InputsSingle(Right):
    def __call__(self, *inputs, **named):
        return super().__call__(*(x.float() if torch.is_tensor(x) and x.is_floating_point() else x for x in inputs), **named)

class NamesLost(Right):
    def __call__(self, *inputs, **named):
        return super().__call__(*inputs)

class NamesTurned(Right):
    def __call__(self, *inputs, **named):
        return super().__call__(*inputs, *named.values())

class NamesDetached(Right):
    def __call__(self, *inputs, **named):
        return super().__call__(*inputs, **{n: x.detach() if torch.is_tensor(x) else x for n, x in named.items()})

class Tuples(Right):
    def __call__(self, *inputs, **named):
        return tuple(super().__call__(*inputs, **named))

class Lists(Right):
    def __call__(self, *inputs, **named):
        outputs = super().__call__(*inputs, **named)
        return list(outputs) if isinstance(outputs, tuple) else outputs

class Unpacks(Right):
    def __call__(self, *inputs, **named):
        outputs = super().__call__(*inputs, **named)
        return outputs[0] if isinstance(outputs, tuple) and len(outputs) == 1 else outputs

class Enables(Right):
    def __call__(self, *inputs, **named):
        with torch.enable_grad():
            return super().__call__(*inputs, **named)

class Untrained(torch.nn.Module):
    def __init__(self, model, rank, world):
        super().__init__()
        self.model, self.inside = model, Right(model, rank, world)
        self.backward, self.no_sync = self.inside.backward, self.inside.no_sync

    def forward(self, *inputs, **named):
        return self.inside(*inputs, **named)

    def train(self, mode=True):
        self.training = mode
        return self

class NonesLost(Right):
    def __call__(self, *inputs, **named):
        return super().__call__(*inputs, **{name: value for name, value in named.items() if value is not None})

class InnerEnds(Right):
    @contextlib.contextmanager
    def no_sync(self):
        self.synchronises = False
        try:
            yield
        finally:
            self.synchronises = True

class ModeAtBackward(Right):
    def backward(self, outputs, gradients):
        self.reduces = self.synchronises
        super().backward(outputs, gradients)

class ModeAtEither(Right):
    def backward(self, outputs, gradients):
        self.reduces = self.reduces or self.synchronises
        super().backward(outputs, gradients)

class ParametersToo(Right):
    def __call__(self, *inputs, **named):
        if self.sends and self.buffers():
            self.broadcast(self.model.parameters())
        return super().__call__(*inputs, **named)

class SharedMode(Right):
    @property
    def synchronises(self):
        return SharedMode.mode

    @synchronises.setter
    def synchronises(self, mode):
        SharedMode.mode = mode

class SharedSends(Right):
    @property
    def sends(self):
        return SharedSends.sent

    @sends.setter
    def sends(self, sent):
        SharedSends.sent = sent

class Sums(Right):
    def reduce(self):
        self.world = 1
        super().reduce()

class Unsent(Right):
    def broadcast(self, tensors):
        super().broadcast(tensors if hasattr(self, "built") else [])
        self.built = True

class LastLost(Right):
    """Cuts the gradients into buckets, and forgets the last one unless it is full."""
    def reduce(self):
        every = self.trained
        for first in range(0, max(1, len(every) // 4 * 4), 4):
            self.trained = every[first:first + 4]
            super().reduce()
        self.trained = every

class Stale(Right):
    """Reduces only what the last backward added: gradients that no_sync left are lost."""
    def backward(self, outputs, gradients):
        for p in self.trained if self.reduces else ():
            p.grad = None
        super().backward(outputs, gradients)

class LastWaited(Right):
    """Waits for the last of several collectives only."""
    def reduce(self):
        for p in self.trained:
            p.grad = p.grad.contiguous().div_(self.world)
            work = dist.all_reduce(p.grad, async_op=True)
        work.wait()

class FirstWaited(LastWaited):
    def broadcast(self, tensors):
        works = [dist.broadcast(tensor.detach(), 0, async_op=True) for tensor in tensors]
        for work in works[:1]:
            work.wait()

    def reduce(self):
        Right.reduce(self)

class Unbuffered(Right):
    def buffers(self):
        return []

class Ignores(Right):
    @contextlib.contextmanager
    def no_sync(self):
        yield

class Ends(Right):
    """Ends the process where it should raise."""
    def __init__(self, model, rank, world):
        try:
            super().__init__(model, rank, world)
        except ValueError:
            os._exit(3)

class Waits(Right):
    def backward(self, outputs, gradients):
        if dist.get_rank() == 1:
            dist.all_reduce(torch.zeros(1))
        super().backward(outputs, gradients)

class Waiting(Right):
    """Counts forwards, and reduces in the backward of the last one that waits."""
    waits = 0
    def __call__(self, *inputs, **named):
        self.waits += torch.is_grad_enabled()
        return super().__call__(*inputs, **named)

    def backward(self, outputs, gradients):
        self.waits -= 1
        super().backward(outputs, gradients)

    def reduce(self):
        if self.waits == 0:
            super().reduce()
'''
ENDED = "DDP-01.known,DDP-09.dropped,DDP-16.known,DDP-32.all,DDP-32.no_sync,DDP-34.*,DDP-35.*"
SENT = "DDP-01.known,DDP-09.dropped,DDP-08.*,DDP-16.known,SHAPE-05.*,SHAPE-07.*"
CALLED = "DDP-09.dropped,DDP-16.backward,DDP-25.*,DDP-29.*,DDP-33.*,DDP-34.*,DDP-35.*,DDP-36.*"
PLANTED = "DDP-01.known,DDP-07.*,DDP-08.sent,DDP-16.known,DDP-29.*,SIZE-05.buckets"
FAILS_PLANTED: dict[str, set[str]] = {
    "Sums": {"DDP-01.known", "DDP-07.not_sent", "DDP-16.known", "DDP-29.nothing", "SIZE-05.buckets"},
    "Unsent": {"DDP-07.sent"},
    "ParametersToo": {"DDP-07.not_sent"},
    "LastLost": {"SIZE-05.buckets"},
    "Stale": {"DDP-16.known"},
    "Unbuffered": {"DDP-08.sent"},
    "LastWaited": {"DDP-01.known", "DDP-07.not_sent", "DDP-07.same", "DDP-16.known", "SIZE-05.buckets"},
    "FirstWaited": {"DDP-07.sent"},
    "Ignores": {"DDP-08.sent", "DDP-16.known"},
}
# In the hint of every case that fails.
HINTS = {
    "Unsent": "rank 0 has the right one: was it not broadcast",
    "LastLost": "has another gradient: not reduced over the ranks",
    "Unbuffered": "rank 0 has the right one: was it not broadcast",
    "Ignores": "was no_sync() ignored?",
}
FAILS_ENDED = {
    "NoFinally": {"DDP-32.no_sync", "DDP-35.inner"},
    "Swallows": {"DDP-32.no_sync"},
    "Counts": {"DDP-32.all"},
}
FAILS_SENT = {
    "Copies": {"SHAPE-07.by_columns"},
    "Views": {"SHAPE-07.by_columns"},
    "FloatBuffers": {"DDP-08.batches", "SHAPE-05.sent"},
    "OneType": {"DDP-08.batches"},
    "StateDict": {"DDP-08.sent"},
    "Remembered": {"DDP-08.sent"},
}
FAILS_CALLED = {
    "Singles": {"DDP-33.double"},
    "FirstType": {"DDP-33.double", "DDP-33.half"},
    "AddsFirst": {"DDP-33.half"},
    "OnlySingles": {"DDP-33.double", "DDP-33.half"},
    "OnlyShaped": {"DDP-33.scalars"},
    "ShapedBuffers": {"DDP-33.scalars"},
    "InputsSingle": {"DDP-33.double"},
    "NamesLost": {"DDP-34.keywords"},
    "NamesTurned": {"DDP-34.keywords"},
    "NamesDetached": {"DDP-34.keywords"},
    "Tuples": {"DDP-34.returned"},
    "Lists": {"DDP-34.returned"},
    "Unpacks": {"DDP-34.returned"},
    "Enables": {"DDP-34.modes"},
    "Untrained": {"DDP-34.modes"},
    "NonesLost": {"DDP-34.keywords"},
    "InnerEnds": {"DDP-35.inner"},
    "ModeAtBackward": {"DDP-16.backward"},
    "ModeAtEither": {"DDP-16.backward"},
    "SharedMode": {"DDP-36.two"},
    "SharedSends": {"DDP-36.two"},
    "Waiting": {"DDP-09.dropped"},
    "Ends": {"DDP-25.shapes", "DDP-29.nothing"},
}


class Wrappers(unittest.TestCase):
    def cases(self, name: str, *options: str, seconds: int = 60) -> list[dict[str, str]]:
        """Other limits than 60 seconds need another Python: that of the copies is fixed."""
        python = str(PYTHON) if seconds == 60 else sys.executable
        done = subprocess.run([LOCKSTEP, "check", "--impl", f"torch@{seconds}:own_ddp.py:{name}", *options, "--format", "json"],
                              capture_output=True, text=True, check=False, cwd=HERE,
                              env={**os.environ, "LOCKSTEP_PYTHON": python})
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        found: list[dict[str, str]] = json.loads(done.stdout)["cases"]
        return found

    def test_a_wait_has_a_hint(self) -> None:
        case, = self.cases("Waits", "--only", "DDP-01.known", seconds=5)
        self.assertIn("did not answer in", case["reason"])
        self.assertIn("do all call the same collectives", case["hint"])

    def failed(self, name: str, *cases: str) -> set[str]:
        """The cases that fail; all others must pass, or not be offered."""
        found = self.cases(name, *cases)
        self.assertGreater(sum(case["verdict"] == "PASS" for case in found), 2)
        for case in found:
            self.assertIn(case["verdict"], ("PASS", "FAIL", "SKIP"), case)
            if case["verdict"] == "SKIP":
                self.assertIn("not offered", case["reason"])
            if case["verdict"] == "FAIL":
                print(name, case["id"], case["reason"])
                self.assertIn(HINTS.get(name, ""), case["hint"], case)
        return {case["id"] for case in found if case["verdict"] == "FAIL"}

    def test_the_right_one_passes_the_profile(self) -> None:
        self.assertEqual(self.failed("Right"), set())

    def test_each_mistake_is_caught(self) -> None:
        for only, fails in ((PLANTED, {} if PYTEST else FAILS_PLANTED), (ENDED, FAILS_ENDED), (SENT, FAILS_SENT),
                            (CALLED, FAILS_CALLED)):
            for name, cases in fails.items():
                with self.subTest(name):
                    self.assertEqual(self.failed(name, "--only", only), cases)

    @unittest.skipUnless(PYTEST, "no pytest")
    def test_and_by_pytest(self) -> None:
        tests = [f"test_{name} = rules('torch@60:own_ddp.py:{name}', only='{PLANTED}')\n" for name in FAILS_PLANTED]
        (HERE / "test_rules.py").write_text("from lockstep.pytest_plugin import rules\n" + "".join(tests), encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "lockstep.pytest_plugin",
                               "--junit-xml=rules.xml"], capture_output=True, text=True, check=False, cwd=HERE,
                              env={**os.environ, "LOCKSTEP_PYTHON": str(PYTHON), "LOCKSTEP": LOCKSTEP, "PYTHONPATH": str(PACKAGE)})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        passed, failed = dict.fromkeys(FAILS_PLANTED, 0), {name: set[str]() for name in FAILS_PLANTED}
        for test in ElementTree.parse(HERE / "rules.xml").iter("testcase"):
            name, case = re.fullmatch(r"test_(\w+)\[(\S+)\]", test.attrib["name"]).groups()
            failure, skipped = test.find("failure"), test.find("skipped")
            if failure is not None:
                failed[name].add(case)
                self.assertRegex(failure.text, rf"(?m)^FAIL {re.escape(case)}: ")
                self.assertIn(HINTS.get(name, ""), " ".join(failure.text.split()))
            elif skipped is not None:
                self.assertIn("not offered", skipped.attrib["message"])
            else:
                self.assertIsNone(test.find("error"))
                passed[name] += 1
        self.assertEqual(failed, FAILS_PLANTED)
        self.assertGreater(min(passed.values()), 2)


if __name__ == "__main__":
    LOCKSTEP = sys.argv.pop(1)
    if not importlib.util.find_spec("torch"):
        print("no PyTorch for", sys.executable)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as made, warm.python(Path(made), 60) as PYTHON:
        HERE = Path(made)
        (HERE / "own_ddp.py").write_text(WRAPPERS, encoding="utf-8")
        unittest.main()
