#!/usr/bin/env python3
"""ddp_test.py: what the adapter's interface cannot ask DistributedDataParallel: ranks that are not
built alike, communication hooks, the buckets in use. suites/RULES.md marks it "run". Ends with 77
without PyTorch.
"""
from __future__ import annotations

import datetime
import importlib.util
import multiprocessing
import os
import sys
import tempfile
import unittest
from typing import Any, Callable

if importlib.util.find_spec("torch") is None:
    print("no PyTorch for", sys.executable)
    sys.exit(77)

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def one_rank(test: Callable[[int], Any], rank: int, ranks: int, store: str, answers) -> None:
    """A process: what the test returns, or the text of its error."""
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", store=dist.FileStore(store, ranks), rank=rank, world_size=ranks,
                            timeout=datetime.timedelta(seconds=5))
    try:
        answers.put((rank, test(rank)))
    except Exception as error:
        answers.put((rank, f"{type(error).__name__}: {error}"))
    answers.close()
    answers.join_thread()
    os._exit(0)


def on_ranks(test: Callable[[int], Any], ranks: int = 2) -> list[Any]:
    """By rank."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        processes = [context.Process(target=one_rank, args=(test, rank, ranks, folder + "/store",
                                                            answers)) for rank in range(ranks)]
        for process in processes:
            process.start()
        found = dict(answers.get(timeout=30) for _ in processes)
        for process in processes:
            process.join()
    return [found[rank] for rank in range(ranks)]


def linear(weight: float, features: int = 1) -> torch.nn.Linear:
    layer = torch.nn.Linear(features, 1, bias=False)
    torch.nn.init.constant_(layer.weight, weight)
    return layer


class Construction(unittest.TestCase):
    def test_ddp_07_broadcast_at_construction(self):
        def test(rank):
            model = DDP(linear(rank + 3.0))
            return model.module.weight.item()

        self.assertEqual(on_ranks(test, 4), [3.0] * 4)

    def test_ddp_25_other_number_of_parameters(self):
        def test(rank):
            DDP(torch.nn.Sequential(*[linear(1.0) for _ in range(3 + rank)]))

        for text in on_ranks(test):
            self.assertIn("Error", str(text))

    def test_ddp_25_other_shape(self):
        def test(rank):
            DDP(linear(1.0, 2 + rank))

        for text in on_ranks(test):
            self.assertIn("Error", str(text))

    def test_ddp_26_other_order(self):
        class Two(torch.nn.Module):
            def __init__(self, rank):
                super().__init__()
                a, b = linear(1.0), linear(1.0)
                self.first, self.second = (a, b) if rank == 0 else (b, a)
                self.both = [a, b]

            def forward(self, x):
                return self.both[0](x) + 10 * self.both[1](x)

        def test(rank):
            model = DDP(Two(rank))
            model(torch.ones(1, 1)).sum().backward()
            return [layer.weight.grad.item() for layer in model.module.both]

        self.assertEqual(on_ranks(test), [[5.5, 5.5]] * 2)


class Training(unittest.TestCase):
    def test_ddp_06_hook_owns_the_division(self):
        def total(_state, bucket):
            future = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
            return future.then(lambda done: done.value()[0])

        def test(rank):
            model = DDP(linear(1.0))
            model.register_comm_hook(None, total)
            model(torch.full((1, 1), 1.0 + 9 * rank)).sum().backward()
            return model.module.weight.grad.item()

        self.assertEqual(on_ranks(test), [11.0] * 2)

    def test_ddp_11_12_buckets(self):
        def test(_rank):
            torch.manual_seed(0)
            model = DDP(torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(3)]))
            found = []
            for _ in range(3):
                model(torch.ones(2, 512)).sum().backward()
                data = model._get_ddp_logging_data()
                found.append([data.get("bucket_sizes"), data.get("rebuilt_bucket_sizes")])
            return found

        for found in on_ranks(test):
            layer = (512 * 512 + 512) * 4  # the first to reach 1 MiB
            self.assertEqual(found[0], [str(3 * layer), None])
            self.assertEqual(found[2][1], f"{layer}, {2 * layer}")

    def test_ddp_09_two_forwards(self):
        class Scale(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.tensor([2.0]))
                self.register_buffer("scale", torch.tensor([3.0]))

            def forward(self, x):
                return self.weight * self.scale * x

        def test(_rank):
            model = DDP(Scale())
            first = model(torch.ones(1))
            second = model(torch.ones(1))
            (first + second).sum().backward()
            return model.module.weight.grad.item()

        # 1.13 raises; 2.15 gives both forwards' gradients. Anything else is silently wrong.
        for found in on_ranks(test):
            if found != 6.0:
                self.assertIn("modified by an inplace operation", str(found))

    def test_ddp_18_uneven_without_join(self):
        def test(rank):
            model = DDP(linear(1.0))
            for _ in range(1 + rank):
                model(torch.ones(1, 1)).sum().backward()
            return "ended"

        found = on_ranks(test)
        self.assertEqual(found[0], "ended")
        self.assertIn("Error", found[1])

    def test_ddp_16_flag_is_read_at_forward(self):
        def test(rank):
            model = DDP(linear(1.0))
            x = torch.full((1, 1), 1.0 + 9 * rank)
            loss = model(x).sum()
            with model.no_sync():
                loss.backward()
            outside = model.module.weight.grad.item()
            model.zero_grad()
            with model.no_sync():
                loss = model(x).sum()
            loss.backward()
            return outside, model.module.weight.grad.item()

        self.assertEqual(on_ranks(test), [(5.5, 1.0), (5.5, 10.0)])


if __name__ == "__main__":
    unittest.main()
