#!/usr/bin/env python3
"""exact_test.py: exact data of lockstep.exact: any order and any number of ranks give the bits of one device, planted
bugs do not, and what rounds is refused. All but the comparison of bits needs PyTorch: 77 without it, when that passes.
"""
from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable

import numpy

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

from lockstep import exact

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch
    from torch import nn

    class Residual(nn.Module):
        """Functions between the layers, and a parameter of its own."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.inner, self.last = nn.Linear(16, 32), nn.Linear(32, 32), nn.Linear(32, 10)
            self.scale = nn.Parameter(torch.zeros(32))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = torch.relu(self.first(x))
            out: torch.Tensor = self.last(x + self.inner(x) * self.scale - x.flip(1))
            return out

    class Tied(nn.Module):
        """Its last layer has the weights of the first: their gradient is the sum of two."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.inner, self.last = nn.Embedding(20, 8), nn.Linear(8, 8), nn.Linear(8, 20, bias=False)
            self.last.weight = self.tokens.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.last(torch.relu(self.inner(self.tokens(x))))
            return out

    def convolutions() -> nn.Module:
        return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=2),
                             nn.ReLU(), nn.Flatten(), nn.Linear(32, 5))

    def deep() -> nn.Module:
        return nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(48, 48), nn.ReLU())))

    MODELS: tuple[tuple[Callable[[], nn.Module], dict[str, Any]], ...] = (
        (Residual, {}), (Tied, {}), (deep, {}), (convolutions, {"shape": (3, 8, 8)}))

    class Does(nn.Module):
        """A linear layer and a function."""

        def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
            super().__init__()
            self.linear, self.function = nn.Linear(4, 4), function

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.function(self.linear(x))

# Real ranks of DistributedDataParallel.
RANKS = '''
import sys
import torch
import torch.distributed as dist
from lockstep import exact
dist.init_process_group("gloo")
model = exact.model(torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)))
batch = exact.batch(model, rows=8)
want = exact.expect(model, batch, world=2)
ddp = torch.nn.parallel.DistributedDataParallel(model)
if sys.argv[1] == "sum":
    ddp.register_comm_hook(None, lambda state, bucket: dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(
        lambda done: done.value()[0]))
part = batch.part(dist.get_rank(), 2)
part.loss(ddp(part.inputs)).backward()
try:
    exact.assert_same_bits(exact.gradients(ddp), want.gradients)
finally:  # a rank whose peer has gone may abort
    dist.barrier()
    dist.destroy_process_group()
'''


class Bits(unittest.TestCase):
    """Needs numpy only."""

    def differs(self, found: Any, wanted: Any, words: str) -> None:
        with self.assertRaises(AssertionError) as caught:
            exact.assert_same_bits(found, wanted)
        self.assertIn(words, str(caught.exception))

    def test_same(self) -> None:
        for value in (numpy.arange(6.0).reshape(2, 3), numpy.float32(3), numpy.zeros((0, 3)), numpy.array([True, False]),
                      numpy.array([numpy.nan, -0.0], "f4"), numpy.arange(3), {"a": numpy.ones(2), "b": [numpy.zeros(1), None]}):
            exact.assert_same_bits(value, value)
        exact.assert_same_bits(numpy.arange(6).reshape(2, 3).T, numpy.arange(6).reshape(2, 3).T.copy())

    def test_element_values_and_bits(self) -> None:
        found = numpy.arange(12, dtype="f4").reshape(3, 4)
        wanted = found.copy()
        wanted[1, 2] = 6.5
        wanted[2, 3] = 0
        self.differs({"w": found}, {"w": wanted},
                     "w: element [1, 2] is 6.0 (0x40c00000), must be 6.5 (0x40d00000); 2 of 12 differ")

    def test_what_equality_does_not_see(self) -> None:
        self.differs(numpy.array([0.0], "f4"), numpy.array([-0.0], "f4"), "is 0.0 (0x00000000), must be -0.0 (0x80000000)")
        payloads = numpy.array([0x7fc00000, 0x7fc00001], "u4").view("f4")
        self.differs(payloads[:1], payloads[1:], "is nan (0x7fc00000), must be nan (0x7fc00001)")
        self.differs(numpy.ones(2, "f4"), numpy.ones(2, "f8"), "float32 [2], must be float64 [2]")
        self.differs(numpy.ones((2, 1)), numpy.ones(2), "float64 [2, 1], must be float64 [2]")
        self.differs(numpy.ones(2), numpy.ones((0,)), "must be float64 [0]")

    def test_names(self) -> None:
        one = numpy.ones(1)
        self.differs({"a": one}, {"a": one, "b": one}, "b: is missing")
        self.differs({"a": one, "b": one}, {"a": one}, "b: is there, and must not be")
        self.differs({"a": None}, {"a": one}, "a: is None, must be there")
        self.differs({"a": one}, {"a": None}, "a: is there, must be None")
        self.differs({"a": [one, {"x": one}]}, {"a": [one, {"x": one * 2}]}, "a[1]['x']: element [0] is 1.0")
        self.differs({}, {}, "nothing to compare with")


@unittest.skipUnless(HAS_TORCH, "no PyTorch")
class BitsOfTensors(Bits):
    def test_tensors(self) -> None:
        for kind in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.bool):
            value = torch.tensor([[0, 1], [1, 1]]).to(kind)
            exact.assert_same_bits(value, value.clone())
            other = value.clone()
            other[1, 0] = 0
            self.differs({"t": value}, {"t": other}, "t: element [1, 0] is")
        self.differs(torch.tensor(1.0, dtype=torch.bfloat16), torch.tensor(-1.0, dtype=torch.bfloat16),
                     "element [] is 1.0 (0x3f80), must be -1.0 (0xbf80)")
        exact.assert_same_bits(torch.ones(2, 3).t(), numpy.ones((3, 2), "f4"))
        exact.assert_same_bits(nn.Parameter(torch.ones(2)), torch.ones(2))


def ranked(model: nn.Module, batch: exact.Batch, world: int) -> list[dict[str, torch.Tensor]]:
    """The gradients of each rank before they are reduced."""
    found = []
    for rank in range(world):
        model.zero_grad()
        part = batch.part(rank, world)
        part.loss(model(part.inputs)).backward()  # type: ignore[no-untyped-call]
        found.append({name: gradient.clone() for name, gradient in exact.gradients(model).items()})
    return found


def reduced(parts: list[dict[str, torch.Tensor]], divisor: int) -> dict[str, torch.Tensor]:
    """As DistributedDataParallel does it: a part of the mean from each, then their sum."""
    return {name: torch.stack([part[name] / divisor for part in parts]).sum(0) for name in parts[0]}


@unittest.skipUnless(HAS_TORCH, "no PyTorch")
class Models(unittest.TestCase):
    def test_whole_and_unlike(self) -> None:
        for make, more in MODELS:
            model = exact.model(make(), seed=3)
            batch = exact.batch(model, 9, **more)
            for tensor in (*model.parameters(), batch.inputs, batch.weights):
                self.assertTrue(torch.equal(tensor, tensor.round()) and bool(tensor.any()))
                self.assertLessEqual(float(tensor.detach().abs().max()), 2.0 ** 24)
            if batch.inputs.is_floating_point():
                self.assertEqual(len({*batch.inputs.flatten().tolist()}), batch.inputs.numel())
            self.assertEqual(len(batch.weights), 9)

    def test_seeds(self) -> None:
        def all_of(seed: int) -> Any:
            model = exact.model(Residual(), seed)
            batch = exact.batch(model, 4, seed=seed)
            return [*model.parameters(), batch.inputs, batch.weights]

        exact.assert_same_bits(all_of(1), all_of(1))
        with self.assertRaises(AssertionError):
            exact.assert_same_bits(all_of(1), all_of(2))

    def test_any_number_of_ranks(self) -> None:
        for make, more in MODELS:
            model = exact.model(make())
            batch = exact.batch(model, 8, **more)
            for world in (1, 2, 4, 8):
                want = exact.expect(model, batch, world)
                exact.assert_same_bits(reduced(ranked(model, batch, world), world), want.gradients)
            exact.assert_same_bits(model(batch.inputs).detach(), want.output)
        batch = exact.batch(exact.model(model), 7, **more)  # ranks of 2, 2, 2 and 1 rows
        want = exact.expect(model, batch, 4)
        exact.assert_same_bits(reduced(ranked(model, batch, 4), 4), want.gradients)

    def test_any_order(self) -> None:
        for make, more in MODELS:
            model = exact.model(make())
            batch = exact.batch(model, 12, **more)
            want = exact.expect(model, batch).gradients
            for seed in range(5):
                order = torch.randperm(12, generator=torch.Generator().manual_seed(seed))
                mixed = exact.Batch(batch.inputs[order], batch.weights[order])
                exact.assert_same_bits(reduced(ranked(model, mixed, 5), 1), want)

    def test_the_module_is_not_changed(self) -> None:
        model = exact.model(Residual())
        batch = exact.batch(model, 4)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        exact.expect(model, batch)
        exact.assert_same_bits([*model.parameters()], before)
        self.assertEqual(exact.gradients(model), {})

    def test_parts(self) -> None:
        batch = exact.batch(exact.model(Residual()), 5)
        self.assertEqual([len(batch.part(rank, 3)) for rank in range(3)], [2, 2, 1])
        for rank, world in ((3, 3), (-1, 2), (0, 6)):
            with self.assertRaisesRegex(ValueError, "each rank needs a row"):
                batch.part(rank, world)
        with self.assertRaisesRegex(ValueError, "world 3"):
            exact.expect(exact.model(Residual()), batch, 3)
        with self.assertRaisesRegex(ValueError, "shape"):
            exact.batch(exact.model(convolutions()), 3)


@unittest.skipUnless(HAS_TORCH, "no PyTorch")
class Planted(unittest.TestCase):
    """Bugs of a reduction are seen."""

    def setUp(self) -> None:
        self.model = exact.model(Residual())
        self.batch = exact.batch(self.model, 8)
        self.want = exact.expect(self.model, self.batch, 2).gradients
        self.parts = ranked(self.model, self.batch, 2)

    def seen(self, found: dict[str, torch.Tensor], name: str) -> None:
        with self.assertRaisesRegex(AssertionError, f"(?m)^{name}: element "):
            exact.assert_same_bits(found, self.want)

    def test_none(self) -> None:
        exact.assert_same_bits(reduced(self.parts, 2), self.want)

    def test_sum_for_mean_and_mean_twice(self) -> None:
        for name in self.want:
            for factor in (2, 0.5):
                right = reduced(self.parts, 2)
                self.seen({**right, name: right[name] * factor}, name)

    def test_every_lost_row(self) -> None:
        for row in range(8):
            keep = [i for i in range(8) if i != row]
            lost = exact.Batch(self.batch.inputs[keep], self.batch.weights[keep])
            self.seen(reduced(ranked(self.model, lost, 1), 2), "last.weight")

    def test_stale_gradient(self) -> None:
        other = exact.batch(self.model, 8, seed=1)
        before = reduced(ranked(self.model, other, 2), 2)
        for name in self.want:
            self.seen({**reduced(self.parts, 2), name: before[name]}, name)
            self.seen({**reduced(self.parts, 2), name: before[name] + self.want[name]}, name)

    def test_one_rank_left_out(self) -> None:
        for part in self.parts:
            self.seen(part, "first.weight")

    def test_one_bit(self) -> None:
        for name in self.want:
            found = reduced(self.parts, 2)
            found[name].view(-1).view(torch.int32)[-1] ^= 1
            self.seen(found, name)


@unittest.skipUnless(HAS_TORCH, "no PyTorch")
class Refused(unittest.TestCase):
    def test_layers(self) -> None:
        for layer, words in ((nn.LayerNorm(4), r"layer '1' \(LayerNorm\) rounds"), (nn.BatchNorm1d(4), "BatchNorm1d"),
                             (nn.Softmax(1), "Softmax"), (nn.GELU(), "GELU"), (nn.LeakyReLU(), "LeakyReLU"),
                             (nn.Dropout(0.5), "Dropout.*eval"), (nn.AvgPool1d(2), "AvgPool1d"), (nn.LSTM(4, 4), "LSTM"),
                             (nn.Embedding(4, 4, max_norm=1), "max_norm"), (nn.Linear(4, 4).half(), "'1.weight' is float16"),
                             (nn.Linear(4, 4).bfloat16(), "bfloat16"), (nn.Linear(4, 4).double(), "float64"),
                             (nn.TransformerEncoderLayer(4, 1, dropout=0.0), r"layer '1.norm1' \(LayerNorm\)")):
            with self.subTest(words), self.assertRaisesRegex(exact.Inexact, words):
                exact.model(nn.Sequential(nn.Linear(4, 4), layer))
        exact.model(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).eval())
        exact.model(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0)))

    def test_functions(self) -> None:
        for function, words in ((lambda x: torch.softmax(x, 1), "_softmax"), (lambda x: x / 3, "div"),
                                (lambda x: x * 0.1, "the number 0.1"), (lambda x: x.mean(1), "mean"),
                                (torch.tanh, "tanh"), (lambda x: x + torch.full((4,), 0.5), "not whole"),
                                (lambda x: nn.functional.dropout(x, 0.5), "operation"),
                                (lambda x: nn.functional.layer_norm(x, (4,)), "layer_norm"),
                                (lambda x: (x.bfloat16() @ x.bfloat16().t()).float(), "bfloat16")):
            with self.subTest(words), self.assertRaisesRegex(exact.Inexact, fr"Does: .*{words}"):
                exact.batch(exact.model(Does(function)), 4, shape=(4,))

    def test_numbers_that_are_not_whole(self) -> None:
        model = Residual()
        batch = exact.batch(exact.model(model), 4)
        halves = exact.Batch(batch.inputs / 3, batch.weights)
        with self.assertRaisesRegex(exact.Inexact, "not whole"):
            exact.expect(model, halves)
        with torch.no_grad():
            model.first.bias[0] = 0.5
        with self.assertRaisesRegex(exact.Inexact, "not whole"):
            exact.expect(model, batch)

    def test_sums_that_may_round(self) -> None:
        """A sum may be right in one order, and in float64, and round in another order."""
        model = nn.Linear(3, 1, bias=False)
        with torch.no_grad():
            model.weight.fill_(1)
        large = 2.0 ** 23
        for inputs, right in (([large, 1, -large + 1], True), ([2 * large, -2 * large, 1], False)):
            batch = exact.Batch(torch.tensor([inputs]), torch.ones(1, 1))
            self.assertEqual(model(batch.inputs).item(), model.double()(batch.inputs.double()).item())
            model.float()
            if right:
                exact.expect(model, batch)
            else:
                with self.assertRaisesRegex(exact.Inexact, r"Linear: .*add up to 33554433, more than 2\^24"):
                    exact.expect(model, batch)

    def test_gradients_of_two_uses(self) -> None:
        """Their sum is small, and the sum of a rank's part of one and another's part of the other is not."""
        class Twice(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = nn.Parameter(torch.ones(1))

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.weight * x[:, :1] - self.weight * x[:, 1:]

        for large, right in ((2.0 ** 21, True), (2.0 ** 22 + 2, False)):
            rows = torch.tensor([[large, large - 2], [large, large - 4]])
            batch = exact.Batch(rows, torch.ones(2, 1))
            if right:
                exact.expect(Twice(), batch)
            else:
                with self.assertRaisesRegex(exact.Inexact, "add up to"):
                    exact.expect(Twice(), batch)

    def test_too_deep(self) -> None:
        model = exact.model(nn.Sequential(*(nn.Linear(32, 32) for _ in range(20))))
        with self.assertRaisesRegex(exact.Inexact, "add up to"):
            exact.batch(model, 4)

    def test_blind(self) -> None:
        """A gradient of zeros would hide every fault."""
        closed = nn.Linear(4, 4)
        model = exact.model(nn.Sequential(closed, nn.ReLU(), nn.Linear(4, 2)))
        with torch.no_grad():
            closed.bias.fill_(-10000)
        with self.assertRaisesRegex(exact.Inexact, "zero everywhere"):
            exact.batch(model, 4)
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        with self.assertRaises((exact.Inexact, RuntimeError)):
            exact.batch(model, 4)


@unittest.skipUnless(HAS_TORCH, "no PyTorch")
class RealRanks(unittest.TestCase):
    def run_ranks(self, folder: str, *command: str) -> list[tuple[int | None, str]]:
        """The command in two processes, as torchrun starts it: that of PyTorch 1.13 does not run on Python 3.11."""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        ranks = [subprocess.Popen([sys.executable, "-B", *command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env={**os.environ, "PYTHONPATH": str(PACKAGE), "GLOO_SOCKET_IFNAME": "lo", "RANK": str(rank),
                                       "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
                 for rank in range(2)]
        return [(rank.wait(), words) for rank, (words, _) in [(rank, rank.communicate(timeout=300)) for rank in ranks]]

    def test_distributed_data_parallel(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "ranks.py").write_text(RANKS, encoding="utf-8")
            for status, words in self.run_ranks(folder, "ranks.py", "mean"):
                self.assertEqual(status, 0, words)
            for status, words in self.run_ranks(folder, "ranks.py", "sum"):
                self.assertEqual(status, 1)
                self.assertIn("AssertionError: 0.weight: element [0, 0] is", words)

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "no pytest")
    def test_the_page(self) -> None:
        """docs/pytest.md: its test and its command, and the same with a sum in place of the mean."""
        page = (PACKAGE.parents[1] / "docs" / "pytest.md").read_text(encoding="utf-8")
        text = page.split("```python\n")[2].split("```")[0]
        (command,) = [line.split("run: torchrun --nproc_per_node=2 ")[1].split() for line in page.splitlines() if "run: torchrun " in line]
        for old, new, wanted in (("", "", 0), ("batch.part(rank, world)", "batch.part(rank, 2 * world)", 1)):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "test_exact.py").write_text(text.replace(old, new) if old else text, encoding="utf-8")
                for status, words in self.run_ranks(folder, *command):
                    self.assertEqual(status, wanted, words)
                    self.assertIn("weight: element [0, 0] is" if wanted else "1 passed", words)


if __name__ == "__main__":
    del sys.argv[1]  # the program, as the other tests here get it
    outcome = unittest.main(exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    if not HAS_TORCH:
        print("no PyTorch for", sys.executable)
    sys.exit(0 if HAS_TORCH else 77)
