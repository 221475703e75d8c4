#!/usr/bin/env python3
"""adapter_test.py: the adapter, asked by a small driver; where a name holds a rule's id, PyTorch itself is
what is tested, and suites/RULES.md says "run". Ends with 77 where there is no PyTorch.
"""
from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import unittest
from pathlib import Path

import warm
from driver import Driver, Refused

AFFINE = {"kind": "affine", "weight": [2], "bias": [1]}
WEIGHT = {"kind": "affine", "weight": [2], "with_bias": False}


class Shared(unittest.TestCase):
    """One adapter for all tests of a class; reset before each."""

    options = ""
    driver: Driver

    @classmethod
    def setUpClass(cls):
        cls.driver = Driver(cls.options, python=str(PYTHON))

    @classmethod
    def tearDownClass(cls):
        if cls.driver.close() != 0:
            raise AssertionError("the adapter did not end with 0")

    def setUp(self):
        self.driver.ask("reset")

    def refused(self, status: str, function, *arguments, **fields) -> str:
        """The text of the error that must come."""
        with self.assertRaises(Refused) as caught:
            function(*arguments, **fields)
        self.assertEqual(caught.exception.error["status"], status, caught.exception)
        return caught.exception.error["text"]


class Primitives(Shared):
    """What needs no model."""

    def test_split_01_02_04_05_06(self):
        for rows, devices, want in (
                (10, 2, [5, 5]), (10, 3, [4, 4, 2]), (10, 4, [3, 3, 3, 1]), (10, 8, [2] * 5),
                (5, 4, [2, 2, 1]), (30, 8, [4] * 7 + [2]), (9, 4, [3, 3, 3]), (36, 7, [6] * 6),
                (1, 8, [1]), (3, 8, [1] * 3), (0, 4, [0] * 4), (7, 3, [3, 3, 1]),
                (1000003, 8, [125001] * 7 + [124996])):
            self.assertEqual(self.driver.ask("split", rows=rows, devices=devices)["size"], want)
        self.refused("inval", self.driver.ask, "split", rows=10, devices=0)

    def test_split_01_all_small(self):
        for rows in range(1, 65):
            for devices in range(1, 17):
                most = -(-rows // devices)
                want = [min(most, rows - at) for at in range(0, rows, most)]
                self.assertEqual(self.driver.ask("split", rows=rows, devices=devices)["size"], want)

    def test_ddp_10(self):
        f, d, m = "f32", "f64", 1 << 20
        for sizes, dtype, limits, want, limit_of in (
                ([400, 800, 400, 200], [f] * 4, [400], [0, 1, 2, 3], [400] * 4),
                ([200] * 6, [f, d] * 3, [400], [0, 1, 0, 1, 2, 3], [400] * 4),
                ([40] * 4, [f] * 4, [40, 80], [0, 1, 1, 2], [40, 80, 80]),
                ([200] * 6, [f, d] * 3, [200, 400], [0, 1, 2, 3, 2, 3], [200, 200, 400, 400]),
                ([400, 800], [f] * 2, [600], [0, 0], [600]),
                ([m, 10 * m, 10 * m, 10 * m, 10 * m, 30 * m, m], [f] * 7, [m, 25 * m],
                 [0, 1, 1, 1, 2, 2, 3], [m, 25 * m, 25 * m, 25 * m])):
            answer = self.driver.ask("buckets", bytes=sizes, dtype=dtype, limits=limits)
            self.assertEqual((answer["bucket"], answer["limit_of"]), (want, limit_of))

    def test_ddp_28(self):
        def lists(items, ranks, drop_last):
            return [self.driver.ask("sampler", items=items, ranks=ranks, rank=rank,
                                    drop_last=drop_last)["index"] for rank in range(ranks)]

        self.assertEqual(lists(10, 4, False), [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]])
        self.assertEqual(lists(10, 4, True), [[0, 4], [1, 5], [2, 6], [3, 7]])
        self.assertEqual(lists(3, 8, False), [[0], [1], [2], [0], [1], [2], [0], [1]])
        self.refused("inval", self.driver.ask, "sampler", items=3, ranks=2, rank=2, drop_last=False)

    def test_what_needs_a_gpu(self):
        self.refused("notsup", self.driver.ask, "gather", parts=[], dim=0, device=0,
                     out_after=False)


class Protocol(Shared):
    """Bad requests are answered; the session goes on."""

    def test_bad_lines(self):
        for line in ("rubbish", "[]", "{}", '{"op":7}', '{"op":"split","id":1}',
                     '{"op":"split","id":1,"rows":"x","devices":2}'):
            self.refused("broken", self.driver.line, line)
        self.refused("notsup", self.driver.line, '{"op":"__init__","id":1}')
        self.assertEqual(self.driver.ask("split", rows=2, devices=2)["size"], [1, 1])

    def test_large_numbers_are_strings(self):
        self.assertEqual(self.driver.ask("split", rows="10", devices=4)["size"], [3, 3, 3, 1])

    def test_other_version(self):
        self.refused("notsup", self.driver.ask, "open", version=99, devices="", options="",
                     host_only=False, seed=0)

    def test_bad_descriptions(self):
        def refused(status, *layers):
            self.refused(status, self.driver.model, *layers)

        refused("notsup", {"kind": "conv"})
        refused("inval", {"kind": "affine", "wieght": [2]})
        refused("inval", {"kind": "affine", "weight": [2, 3]})
        refused("inval", {"kind": "linear", "in": 2})
        refused("inval", {"kind": "again", "of": "nobody"})
        text = self.refused("nodev", self.driver.model, {"kind": "affine", "device": 0})
        self.assertIn("there is the host only", text)
        refused("inval", {"kind": "affine", "name": "a"}, {"kind": "relu", "name": "a"})

    def test_closed_models_are_gone(self):
        model = self.driver.model(AFFINE)
        model.ask("model_close")
        self.refused("inval", model.forward, [1.0])


class Start(unittest.TestCase):
    def test_pytorch_is_imported_once(self):
        """Not again by each rank: that takes seconds each."""
        with tempfile.TemporaryFile() as words:
            driver = Driver(stderr=words, env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"})
            for ranks in (2, 3):
                driver.model(WEIGHT, ranks=ranks)
            self.assertEqual(driver.close(), 0)
            words.seek(0)
            imported = [line.rpartition(b"|")[2].strip() for line in words]
        for name in (b"torch", b"torch._dynamo"):
            self.assertLessEqual(imported.count(name), 1, name)
        self.assertIn(b"torch", imported)


class OneProcess(Shared):
    """Models of one rank, where DataParallel is transparent."""

    rows = [float(i) for i in range(1, 11)]

    def test_g1_cpu_01(self):
        model = self.driver.model({"kind": "parallel", "device_ids": [0, 1], "layers": [AFFINE]})
        self.assertEqual(model.forward(self.rows), [[2 * x + 1 for x in self.rows]])
        self.assertEqual(model.backward(), [[2.0] * 10])
        self.assertEqual((model.get("grad", 0), model.get("grad", 1)), ([55.0], [10.0]))
        self.assertEqual(model.ask("param", i=0)["name"], "0.module.0.weight")

    def test_cpu_02(self):
        model = self.driver.model({"kind": "parallel", "functional": True, "layers": [AFFINE]})
        with self.assertRaises(Refused):
            model.forward(self.rows)

    def test_g3(self):
        model = self.driver.model(AFFINE)
        for loss, w, b in ((72.5, 2.4296875, 1.048828125),
                           (13.455448150634766, 2.531024932861328, 1.0505447387695312)):
            (y,) = model.forward(self.rows)
            error = [a - (3 * x - 2) for a, x in zip(y, self.rows)]
            self.assertEqual(sum(e * e for e in error) / 2, loss)
            model.backward(error)
            model.step(1 / 512)
            self.assertEqual((model.get("value", 0), model.get("value", 1)), ([w], [b]))
            model.zero_grad()
            self.assertIsNone(model.get("grad", 0))

    def test_momentum(self):
        model = self.driver.model(WEIGHT)
        for want in (2.0 - 55.0, 2.0 - 55.0 - 82.5):
            model.forward(self.rows)
            model.backward()
            model.step(1.0, 0.5)
            model.zero_grad()
            self.assertEqual(model.get("value", 0), [want])

    def test_accumulates_and_two_forwards(self):
        model = self.driver.model(WEIGHT)
        model.set("grad", 0, [1000.0])
        model.forward(self.rows)
        model.forward(self.rows)
        model.backward()
        model.backward()
        self.assertEqual(model.get("grad", 0), [1110.0])
        self.refused("inval", model.backward)

    def test_tied_frozen_unused_branch(self):
        model = self.driver.model({"kind": "tied", "weight": [2]}, {"kind": "unused"},
                                  {"kind": "affine", "weight": [1], "frozen": ["weight"]},
                                  {"kind": "branch", "low": [1], "high": [1]})
        model.forward(self.rows)
        model.backward()
        self.assertEqual([model.get("grad", i) for i in range(6)],
                         [[220.0], None, None, [10.0], None, [220.0]])

    def test_batch_norm(self):
        model = self.driver.model({"kind": "batch_norm", "features": 1, "momentum": 0.5, "eps": 1e-24,
                                   "weight": [1], "running_var": [1]})
        out = self.driver.ask  # a column, which forward() does not make
        column = {"dtype": "f32", "dims": [3, 1], "device": -1, "needs_grad": False,
                  "data": "0000803f000000400000c040"}
        out("forward", model=model.number, n_in=1, args=[], grad=True, train=True, active=None,
            no_sync=False, trace=False, **{"in": [column]})
        self.assertEqual([model.get("value", i) for i in (2, 3, 4)], [[1.5], [4.0], [1.0]])

    def test_again_borrow_argument_trace(self):
        model = self.driver.model({**WEIGHT, "name": "a"}, {"kind": "again", "of": "a"},
                                  {"kind": "borrow", "of": "a"}, {"kind": "argument"},
                                  {"kind": "tag_mode"})
        argument = {"dtype": "f32", "dims": [2], "device": -1, "needs_grad": False,
                    "data": "0000004000004040"}
        self.assertEqual(model.ask("params")["n"], 1)
        self.assertEqual(model.forward([1.0], args=[argument]), [[8 * 2.0 + 2000 + 3000]])
        model.backward()
        self.assertEqual(model.get("grad", 0), [2 * 2 * 2 * 2.0])

    def test_fails_and_goes_on(self):
        model = self.driver.model(WEIGHT, {"kind": "fail", "replicas": [0], "status": "shape",
                                           "text": "wonderful", "at": 2})
        self.assertEqual(model.forward([1.0]), [[2.0]])
        self.assertIn("wonderful", self.refused("shape", model.forward, [1.0]))
        self.assertEqual(model.forward([1.0]), [[2.0]])


class Ranks(Shared):
    """DistributedDataParallel."""

    def ranks(self, ranks: int, *layers):
        return self.driver.model(*layers, ranks=ranks)

    def same(self, model, what: str, i: int, want: list[float]):
        """On every rank."""
        self.assertEqual(model.every(what, i), [want] * model.ranks)

    def test_ddp_01(self):
        model = self.ranks(4, WEIGHT)
        model.forward([0.0], [1.0], [2.0], [3.0])
        model.backward()
        self.same(model, "grad", 0, [1.5])
        model = self.ranks(2, WEIGHT)
        model.forward([1.0], [10.0])
        model.backward()
        self.same(model, "grad", 0, [5.5])

    def test_ddp_02_03_04_27(self):
        for last, gradients, want in (("mean", (), 6.0), ("sum", (), 8.0),
                                      ("mean", (1.5, 0.5), 4.0)):
            model = self.ranks(2, WEIGHT, {"kind": last})
            losses = model.forward([1.0, 2.0, 3.0], [10.0])
            self.assertNotEqual(losses[0], losses[1])
            model.backward(*gradients)
            self.same(model, "grad", 0, [want])

    def test_ddp_05(self):
        model = self.ranks(3, WEIGHT)
        model.forward([7.0], [7.0], [7.0])
        model.backward()
        (first, second, third) = model.every("grad", 0)
        self.assertEqual((first, first), (second, third))
        self.assertNotEqual(first, [7.0])
        self.assertAlmostEqual(first[0], 7.0, places=5)
        model = self.ranks(4, WEIGHT)
        model.forward([7.0], [7.0], [7.0], [7.0])
        model.backward()
        self.same(model, "grad", 0, [7.0])

    def test_ddp_07_parameters_are_not_sent_later_and_det_07(self):
        model = self.ranks(2, AFFINE)
        model.set("value", 0, [9.0], rank=1)
        self.assertEqual(model.forward([1.0], [1.0]), [[3.0], [10.0]])
        model.backward()
        self.assertEqual(model.every("value", 0), [[2.0], [9.0]])
        model.set("value", 0, [2.0], rank=1)
        for _ in range(10):
            model.zero_grad()
            model.forward([0.1, 0.7], [0.3])
            model.backward()
            model.step(0.01, 0.9)
        self.assertEqual(*model.every("value", 0))
        self.assertEqual(*model.every("grad", 0))

    def test_ddp_08(self):
        model = self.ranks(2, WEIGHT, {"kind": "counter", "count": [5]})
        model.set("value", 1, [100.0], rank=1)
        model.forward([1.0], [1.0])
        self.same(model, "value", 1, [6.0])
        model.backward()
        model.set("value", 1, [100.0], rank=1)
        model.forward([1.0], [1.0], no_sync=True)
        model.backward()
        self.same(model, "value", 1, [7.0])
        model.set("value", 1, [100.0], rank=1)
        model.forward([1.0], [1.0])  # the forward before was without sync: nothing is sent
        self.assertEqual(model.every("value", 1), [[8.0], [101.0]])

    def test_ddp_16(self):
        model = self.ranks(2, WEIGHT)
        model.forward([1.0], [10.0], no_sync=True)
        model.backward()
        self.assertEqual(model.every("grad", 0), [[1.0], [10.0]])
        model.forward([2.0], [20.0])
        model.backward()
        self.same(model, "grad", 0, [16.5])

    def test_ddp_17(self):
        model = self.ranks(2, WEIGHT)
        for first, second, want in ((1.0, 10.0, 5.5), (2.0, 20.0, 16.5)):
            model.forward([first], [second])
            model.backward()
            self.same(model, "grad", 0, [want])

    def join(self, model, iterations: tuple[int, int]) -> list[float]:
        """Gradients of rank 1, which has more batches; one step each."""
        found = []
        for i in range(max(iterations)):
            active = [i < n for n in iterations]
            model.forward(*[[50.0] if own else None for own in active], active=active)
            model.backward()
            found.append(model.get("grad", 0, 1)[0])
            model.step(1 / 16)
            model.zero_grad()
        model.forward(None, None, active=[False, False])
        return found

    def test_ddp_19_20(self):
        model = self.ranks(2, WEIGHT)
        self.assertEqual(self.join(model, (3, 5)), [50.0, 50.0, 50.0, 25.0, 25.0])
        self.same(model, "value", 0, [2.0 - 200.0 / 16])
        self.assertEqual(model.forward([1.0], [1.0]), [[-10.5]] * 2)
        model.backward()
        self.same(model, "grad", 0, [1.0])

    def test_ddp_23(self):
        model = self.ranks(2, WEIGHT, {"kind": "unused"})
        model.forward([1.0], [2.0])
        model.backward()
        text = self.refused("inval", model.forward, [1.0], [2.0])
        self.assertIn("finished reduction", text)

    def test_ddp_29(self):
        self.refused("inval", self.ranks, 2, {"kind": "relu"})
        self.refused("inval", self.ranks, 2, {"kind": "affine", "frozen": True})

    def test_err_a_rank_fails(self):
        fail = {"kind": "fail", "replicas": [1], "text": "wonderful"}
        for when in ("forward", "backward"):
            model = self.ranks(2, WEIGHT, {**fail, "when": when})
            with self.assertRaises(Refused) as caught:
                model.forward([1.0], [2.0])
                model.backward()
            self.assertEqual(caught.exception.error["replica"], 1)
            self.assertIn("wonderful", caught.exception.error["text"])
        model = self.ranks(2, WEIGHT)
        self.assertEqual(model.forward([1.0], [2.0]), [[2.0], [4.0]])


class RanksWithOptions(Ranks):
    """The same with the search for unused parameters and the other divisor of join."""

    options = "find_unused_parameters,divide_by_active"

    def test_ddp_19_20(self):
        model = self.ranks(2, WEIGHT)
        self.assertEqual(self.join(model, (3, 5)), [50.0] * 5)
        self.same(model, "value", 0, [2.0 - 250.0 / 16])

    def test_ddp_21(self):
        model = self.ranks(2, {"kind": "branch", "low": [1], "high": [1]})
        model.forward([8.0], [-3.0])
        model.backward()
        self.same(model, "grad", 0, [-1.5])
        self.same(model, "grad", 1, [4.0])

    def test_ddp_22_23(self):
        model = self.ranks(2, WEIGHT, {"kind": "unused"})
        model.set("grad", 1, [123.0], rank=0)
        for want in (1.5, 3.0):
            model.forward([1.0], [2.0])
            model.backward()
            self.same(model, "grad", 0, [want])
            self.assertEqual(model.every("grad", 1), [[123.0], None])

    test_ddp_23 = None


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print("no PyTorch for", sys.executable)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as made, warm.python(Path(made), 10) as PYTHON:
        unittest.main()
