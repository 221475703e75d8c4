#!/usr/bin/env python3
"""source_test.py: PyTorch's own Python code of DataParallel, run without a GPU.

The functions that walk containers, make replicas, start threads and group tensors are PyTorch's;
only what they call on a device is replaced: Scatter by chunk, Gather by cat, Broadcast by clones,
the device and stream guards by nothing. suites/RULES.md marks what is confirmed here "run on a
CPU": it confirms the code around the copies, never the copies. Ends with 77 where PyTorch
is not 1.13.
"""
from __future__ import annotations

import collections
import contextlib
import importlib.util
import sys
import threading
import time
import unittest
from unittest import mock

if importlib.util.find_spec("torch") is None:
    print("no PyTorch for", sys.executable)
    sys.exit(77)

import torch

if not torch.__version__.startswith("1.13."):
    print(f"PyTorch {torch.__version__}: this is about the source of 1.13, later ones call other functions")
    sys.exit(77)
from torch._utils import _take_tensors
from torch.nn.parallel import scatter_gather

apply_module = sys.modules["torch.nn.parallel.parallel_apply"]
replicate_module = sys.modules["torch.nn.parallel.replicate"]


class FakeScatter:
    """torch.chunk, with as many pieces as devices."""

    @staticmethod
    def apply(devices, sizes, dim, tensor):
        return torch.chunk(tensor, len(devices), dim) if sizes is None else tensor.split(sizes, dim)


class FakeGather:
    """torch.cat."""

    @staticmethod
    def apply(_device, dim, *tensors):
        return torch.cat(tensors, dim)


def rows(n: int, first: int = 0) -> torch.Tensor:
    return torch.arange(first, first + n, dtype=torch.float32)


class Containers(unittest.TestCase):
    """scatter, scatter_kwargs and gather."""

    def setUp(self):
        for name, fake in (("Scatter", FakeScatter), ("Gather", FakeGather)):
            patch = mock.patch.object(scatter_gather, name, fake)
            patch.start()
            self.addCleanup(patch.stop)

    def scatter(self, value, k=4, dim=0):
        return scatter_gather.scatter(value, list(range(k)), dim)

    def kwargs(self, inputs, kwargs, k):
        return scatter_gather.scatter_kwargs(inputs, kwargs, list(range(k)))

    def test_struct_01_walks_containers(self):
        pair = collections.namedtuple("pair", "a b")
        x = rows(10)
        for i, (t, inner, pairs, table) in enumerate(
                self.scatter([x, (x, [x]), pair(x, 7), {"a": x}])):
            want = torch.chunk(x, 4)[i]
            self.assertIs(type(inner), tuple)
            self.assertIs(type(pairs), pair)
            self.assertEqual(pairs.b, 7)
            for leaf in (t, inner[0], inner[1][0], pairs.a, table["a"]):
                self.assertTrue(torch.equal(leaf, want))

    def test_split_11(self):
        self.assertIs(type(self.scatter(rows(4))), tuple)
        self.assertIs(type(self.scatter([rows(4)])), list)

    def test_struct_02_03_empty_containers(self):
        inputs, kwargs = self.kwargs((), {"x": rows(10), "unused": []}, 4)
        self.assertEqual(inputs, ((),) * 4)
        self.assertEqual([len(own["x"]) for own in kwargs], [3, 3, 3, 1])
        self.assertEqual([own["unused"] for own in kwargs], [[]] * 4)

    def test_struct_04_05_06_the_shortest_counts(self):
        self.assertEqual(len(self.scatter((rows(10), 5))), 4)
        self.assertEqual([(len(a), len(b)) for a, b in self.scatter((rows(10), rows(1)), 2)],
                         [(5, 1)])
        self.assertEqual([(len(a), len(b)) for a, b in self.scatter((rows(10), rows(4)), 2)],
                         [(5, 2), (5, 2)])

    def test_struct_07_08_lists(self):
        images = [torch.zeros(3, 2, 2)] * 4
        shards = self.scatter(images)
        self.assertEqual([[len(image) for image in own] for own in shards], [[1] * 4] * 3)
        labels = list(range(10))
        self.assertEqual(self.scatter(labels), [labels] * 4)

    def test_struct_09_nont_01_02_shared_and_rebuilt(self):
        thing = collections.deque()
        whole = [thing, rows(8)]
        shards = self.scatter(whole)
        self.assertTrue(all(own[0] is thing for own in shards))
        self.assertTrue(all(own is not whole for own in shards))
        self.assertEqual(len({id(own) for own in shards}), 4)

    def test_comp_09_only_other_things(self):
        inputs, kwargs = self.kwargs((5,), {}, 4)
        self.assertEqual((inputs, kwargs), (((5,),) * 4, ({},) * 4))

    def test_comp_08_nothing_at_all(self):
        self.assertEqual(self.kwargs((), {}, 4), ((), ()))

    def test_nont_03_surplus_replicas_without_arguments(self):
        inputs, kwargs = self.kwargs((rows(1),), {"delta": 3}, 2)
        self.assertEqual([len(own) for own in inputs], [1, 0])
        self.assertEqual(kwargs, ({"delta": 3},) * 2)
        self.assertEqual(len(self.kwargs((rows(9),), {"delta": 3}, 4)[0][3]), 0)

    def test_nont_04_surplus_replicas_without_keyword(self):
        _, kwargs = self.kwargs((rows(8),), {"mask": rows(2)}, 4)
        self.assertEqual([set(own) for own in kwargs], [{"mask"}, {"mask"}, set(), set()])

    def test_dim_01_04_07(self):
        x = torch.zeros(2, 10)
        self.assertEqual([tuple(own.shape) for own in self.scatter(x, dim=1)],
                         [(2, 3), (2, 3), (2, 3), (2, 1)])
        with self.assertRaises(IndexError):
            self.scatter((x, rows(10)), dim=1)
        self.assertEqual([(a.shape[1], len(b)) for a, b in
                          self.scatter((torch.zeros(2, 4), rows(2)), 2, -1)], [(2, 1), (2, 1)])

    def gather(self, *outputs):
        return scatter_gather.gather(list(outputs), 0)

    def test_struct_10_11_12_13_gather(self):
        out = self.gather({"a": rows(2), "b": (rows(1), rows(3))},
                          {"a": rows(1), "b": (rows(1), rows(2))})
        self.assertEqual([len(out["a"]), len(out["b"][0]), len(out["b"][1])], [3, 2, 5])
        with self.assertRaises(ValueError):
            self.gather({"a": rows(1)}, {"a": rows(1), "b": rows(1)})
        with self.assertRaises(KeyError):
            self.gather({"a": rows(1)}, {"b": rows(1)})
        self.assertIsNone(self.gather(None, rows(2)))
        self.assertEqual(len(self.gather([rows(1), rows(1)], [rows(1)])), 1)

    def test_nont_05_numbers_and_strings(self):
        with self.assertRaises(TypeError):
            self.gather(1, 2)
        self.assertIs(type(self.gather("a", "b")), str)


class Apply(unittest.TestCase):
    """parallel_apply."""

    def setUp(self):
        nothing = mock.MagicMock(side_effect=lambda *_, **__: contextlib.nullcontext())
        for target, name, fake in ((torch.cuda, "device", nothing),
                                   (torch.cuda, "stream", nothing),
                                   (torch.cuda, "current_stream", mock.MagicMock()),
                                   (apply_module, "_get_device_index", lambda x, _: x)):
            patch = mock.patch.object(target, name, fake)
            patch.start()
            self.addCleanup(patch.stop)
        autocast = mock.patch.object(apply_module, "autocast", nothing)
        autocast.start()
        self.addCleanup(autocast.stop)
        self.threads: list[int] = []

    def run_all(self, modules, inputs=None, **options):
        devices = list(range(len(modules)))
        return apply_module.parallel_apply(modules, inputs or [(rows(2),)] * len(modules),
                                           devices=devices, **options)

    def module(self, number, seconds=0.0, error=None):
        def forward(x):
            self.threads.append(threading.current_thread())  # an ident is used again
            time.sleep(seconds)
            self.ended = time.monotonic()
            if error is not None:
                raise error
            return x + number

        return forward

    def test_apply_01_counts(self):
        with self.assertRaises(AssertionError):
            self.run_all([self.module(i) for i in range(3)], [(rows(1),)] * 2)
        self.assertEqual(self.threads, [])

    def test_apply_02_04_order_and_threads(self):
        out = self.run_all([self.module(i, 0.03 - 0.01 * i) for i in range(4)])
        self.assertEqual([own[0].item() for own in out], [0, 1, 2, 3])
        self.assertEqual(len(set(self.threads)), 4)
        self.assertNotIn(threading.current_thread(), self.threads)
        self.threads.clear()
        self.run_all([self.module(0)])
        self.assertEqual(self.threads, [threading.current_thread()])

    def test_apply_03_bare_inputs(self):
        (shape,) = self.run_all([lambda x: tuple(x.shape)], [torch.zeros(2, 10)])
        self.assertEqual(shape, (2, 10))

    def test_apply_05_grad_mode(self):
        with torch.no_grad():
            self.assertEqual(self.run_all([lambda _: torch.is_grad_enabled()] * 2), [False] * 2)
        self.assertEqual(self.run_all([lambda _: torch.is_grad_enabled()] * 2), [True] * 2)

    def test_apply_08_09_10_all_joined_lowest_reported(self):
        begun = time.monotonic()
        with self.assertRaises(KeyError) as caught:
            self.run_all([self.module(0), self.module(1, 0.02, KeyError("wonderful")),
                          self.module(2, 0.05), self.module(3, 0.0, ValueError("other"))])
        self.assertGreaterEqual(time.monotonic() - begun, 0.05)
        self.assertIn("in replica 1 on device 1", str(caught.exception))
        self.assertIn("wonderful", str(caught.exception))

    def test_err_09_other_exits(self):
        with mock.patch.object(threading, "excepthook", lambda _: None):
            with self.assertRaises(KeyError):
                self.run_all([self.module(0), self.module(1, 0.0, SystemExit())])


class Replicas(unittest.TestCase):
    """replicate."""

    def replicate(self, network, k=3, detach=False):
        def copies(tensors, devices, detach=False):
            return [[t.view_as(t) if i == 0 else t.clone() for t in tensors]
                    for i in range(len(devices))]

        with mock.patch.object(replicate_module, "_broadcast_coalesced_reshape", copies), \
                mock.patch.object(replicate_module, "_get_device_index", lambda x, _: x):
            return replicate_module.replicate(network, list(range(k)), detach)

    def test_repl_07_08_10_registry_is_empty(self):
        network = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Sequential(
            torch.nn.ReLU(), torch.nn.Linear(3, 1, bias=False)))
        replicas = self.replicate(network)
        for replica in replicas:
            self.assertEqual(list(replica.parameters()), [])
            self.assertTrue(torch.equal(replica[1][1].weight, network[1][1].weight))
            self.assertIsNone(replica[1][1].bias)
        self.assertEqual(len(list(network.parameters())), 3)

    def test_repl_09_tied(self):
        layer = torch.nn.Linear(2, 2)
        for replica in self.replicate(torch.nn.Sequential(layer, torch.nn.ReLU(), layer)):
            self.assertIs(replica[0], replica[2])

    def test_repl_11_12_lists(self):
        network = torch.nn.Module()
        network.listed = torch.nn.ParameterList([torch.nn.Parameter(rows(2, i)) for i in range(2)])
        network.cached = [network.listed[0]]
        for replica in self.replicate(network):
            self.assertEqual([own.tolist() for own in replica.listed], [[0, 1], [1, 2]])
            self.assertIs(replica.cached[0], network.listed[0])
            self.assertIsNot(replica.listed[0], network.listed[0])

    def test_repl_18_no_devices(self):
        self.assertEqual(self.replicate(torch.nn.Linear(1, 1), 0), [])
        self.assertEqual(len(self.replicate(torch.nn.ReLU())), 3)

    def test_buf_09_mode(self):
        network = torch.nn.Dropout()
        self.assertEqual([r.training for r in self.replicate(network.eval())], [False] * 3)


class Grouping(unittest.TestCase):
    """_take_tensors, by which reduce_add_coalesced groups."""

    def groups(self, sizes, limit):
        tensors = [torch.empty(size, dtype=torch.uint8) for size in sizes]
        return [[len(t) for t in group] for group in _take_tensors(tensors, limit)]

    def test_coal_04_06_07(self):
        self.assertEqual(self.groups([4] * 5, 10), [[4, 4], [4, 4], [4]])
        self.assertEqual(self.groups([9, 2, 9, 2], 10), [[9], [2], [9], [2]])
        self.assertEqual(self.groups([25, 1, 1], 10), [[25], [1, 1]])
        self.assertEqual(self.groups([0, 4, 0], 10), [[0, 4, 0]])

    def test_coal_01(self):
        import inspect

        from torch.nn.parallel import comm
        for function in (comm.broadcast_coalesced, comm.reduce_add_coalesced):
            default = inspect.signature(function).parameters["buffer_size"].default
            self.assertEqual(default, 10485760)

    def test_split_09_10(self):
        with self.assertRaises(RuntimeError):
            torch.chunk(torch.tensor(1.0), 2)
        x = torch.arange(16).reshape(4, 4)
        for a, b in zip(torch.chunk(x, 3, -2), torch.chunk(x, 3, 0)):
            self.assertTrue(torch.equal(a, b))


if __name__ == "__main__":
    unittest.main()
