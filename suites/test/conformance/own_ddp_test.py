#!/usr/bin/env python3
"""own_ddp_test.py: a small data-parallel wrapper as users write them passes the whole profile `ddp`, and with one of
the mistakes that users make in one it fails the cases that are about that mistake, and no others. 77 without PyTorch.

    own_ddp_test.py LOCKSTEP
"""
from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WRAPPERS = '''
import contextlib
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

    def __call__(self, *inputs):
        if self.missing:
            raise RuntimeError(f"parameters {self.missing} got no gradient")
        if self.sends:
            self.broadcast(self.buffers())
        self.sends = self.synchronises and torch.is_grad_enabled()
        return self.model(*inputs)

    def backward(self, outputs, gradients):
        torch.autograd.backward(outputs, gradients)
        if self.synchronises:
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
'''
CASES = "DDP-08.*,DDP-16.known,DDP-32.all,DDP-32.no_sync,SHAPE-05.*,SHAPE-07.*"
FAILS = {
    "NoFinally": {"DDP-32.no_sync"},
    "Swallows": {"DDP-32.no_sync"},
    "Counts": {"DDP-32.all"},
    "Copies": {"SHAPE-07.by_columns"},
    "FloatBuffers": {"DDP-08.batches", "SHAPE-05.sent"},
    "OneType": {"DDP-08.batches"},
    "StateDict": {"DDP-08.sent"},
    "Remembered": {"DDP-08.sent"},
}


class Wrappers(unittest.TestCase):
    def failed(self, name: str, *cases: str) -> set[str]:
        """The cases that fail; all others must pass, or not be offered."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "own_ddp.py").write_text(WRAPPERS, encoding="utf-8")
            done = subprocess.run([LOCKSTEP, "check", "--impl", f"torch@60:own_ddp.py:{name}", *cases, "--format", "json"],
                                  capture_output=True, text=True, check=False, cwd=folder,
                                  env={**os.environ, "LOCKSTEP_PYTHON": sys.executable})
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        found = json.loads(done.stdout)["cases"]
        self.assertGreater(sum(case["verdict"] == "PASS" for case in found), 6)
        for case in found:
            self.assertIn(case["verdict"], ("PASS", "FAIL", "SKIP"), case)
            if case["verdict"] == "SKIP":
                self.assertIn("not offered", case["reason"])
            if case["verdict"] == "FAIL":
                print(name, case["id"], case["reason"])
        return {case["id"] for case in found if case["verdict"] == "FAIL"}

    def test_the_right_one_passes_the_profile(self) -> None:
        self.assertEqual(self.failed("Right", "--profile", "ddp"), set())

    def test_each_mistake_is_caught(self) -> None:
        for name, cases in FAILS.items():
            with self.subTest(name):
                self.assertEqual(self.failed(name, "--only", CASES), cases)


if __name__ == "__main__":
    LOCKSTEP = sys.argv.pop(1)
    if not importlib.util.find_spec("torch"):
        print("no PyTorch for", sys.executable)
        sys.exit(77)
    unittest.main()
