#!/usr/bin/env python3
"""cuda_programs_test.py: PyTorch's programs on GPUs, with the host in place of them: what they leave is
checked by the same code, faults are found, every process waits for its own GPUs and no others, and
whatever a step or its check reads was moved to the device. 77: no PyTorch here.
usage: cuda_programs_test.py FOLDER LOCKSTEP"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest
from types import SimpleNamespace

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

from faults_test import Forked
from lockstep_peers import compare, devices, launch
from lockstep_peers.arms import Arm
from lockstep_peers.workloads import workload_of

os.environ.update(launch.ONE_THREAD)  # before numpy and PyTorch, which read it when they are loaded
try:
    import torch
    from lockstep_peers import programs, reference
except ImportError:
    print("cuda_programs_test.py: no PyTorch")
    sys.exit(77)

FOLDER, LOCKSTEP = (sys.argv + ["", ""])[1:3]

# Done before worker.main: the host in place of GPUs, and gloo in place of NCCL. What is waited for, and
# which GPU a process has made its own, is looked at when it describes itself, after its last step.
ON_THE_HOST = """
import torch
import torch.distributed as dist
from lockstep_peers import devices, products, worker
own, drained = [], []
programs.device_of = products.device_of = lambda torch, kind, rank=0: torch.device("cpu")
torch.cuda.set_device = own.append
torch.cuda.synchronize = drained.append
init, describe = dist.init_process_group, worker.describe
def init_process_group(backend, rank, **rest):
    if (backend, own) != ("nccl", [rank]): raise RuntimeError(f"{backend} on {own}, not nccl on GPU {rank}")
    init("gloo", rank=rank, **rest)
def describe_checked(kind):
    gpus = set(own) if dist.is_initialized() else set(range(replicas))
    if set(drained) != gpus: raise RuntimeError("it was not its own GPUs that were waited for")
    for switch in torch.backends.cuda.matmul, torch.backends.cudnn:
        if switch.allow_tf32 != tf32: raise RuntimeError(f"TF32 is {switch.allow_tf32}, must be {tf32}")
    return describe(kind)
dist.init_process_group, worker.describe = init_process_group, describe_checked
"""
# As DataParallel cuts a batch on GPUs; on the host it has one replica.
SPLIT = """
class Split(programs.nn.DataParallel):
    def forward(self, x): return torch.cat([self.module(part) for part in x.chunk(2)])
programs.nn.DataParallel = Split
"""
# Workload, mode, what must be found, and what is wrong with it.
CHAIN, GPT = "mlp:12,8,4", "gpt:1,8,2,4,5"
FAULTS = {
    "none": (CHAIN, "dp", "ok", ""),
    "the products": (CHAIN, "matmul", "ok", ""),
    "a replica left out": (CHAIN, "dp", "wrong", "class Half(programs.nn.DataParallel):\n"
                           "    def forward(self, x):\n"
                           "        return super().forward(x) * (torch.arange(11) < 6)[:, None]\n"
                           "programs.nn.DataParallel = Half"),
    "not waited for": (CHAIN, "dp", "broken", "devices.Drain.__call__ = lambda self: None"),
    "cnn": ("cnn", "dp", "ok", ""),
    "lstm alone": ("lstm", "plain", "ok", ""),
    "resnet alone": ("resnet", "plain", "ok", ""),
    "resnet, statistics of each replica": ("resnet", "dp", "ok", SPLIT),
    "resnet, statistics of the whole batch": ("resnet", "dp", "wrong", ""),
    "gpt": (GPT, "dp", "ok", ""),
    "ranks": (CHAIN, "ddp-nccl", "ok", ""),
    "ranks of cnn, as it comes": ("cnn", "ddp-nccl-default", "ok", ""),
    "ranks of lstm": ("lstm", "ddp-nccl", "ok", ""),
    "ranks without an average": ("cnn", "ddp-nccl", "wrong", "programs.wrap = lambda model, settings: model"),
    "ranks over gloo": (CHAIN, "ddp-nccl", "broken", "programs.BACKENDS = {'cuda': 'gloo'}"),
    "ranks that share a GPU": (CHAIN, "ddp-nccl", "broken", "torch.cuda.set_device = lambda rank: own.append(0)"),
    "ranks that touch all GPUs": (CHAIN, "ddp-nccl", "broken", "devices.gpus_of = lambda job: [0, 1]"),
    "chain, tf32": (CHAIN, "dp", "ok", ""),
    "products, tf32": (CHAIN, "matmul", "ok", ""),
    "gpt, tf32": (GPT, "dp", "ok", ""),
    "tf32 that stays off": (GPT, "plain", "broken", "devices.IN_MATH['tf32'] = devices.exact_float32"),
    "f32 that is none": (GPT, "plain", "broken", "devices.IN_MATH['f32'] = devices.use_tf32"),
}
# Where PyTorch has fused attention, on the host, too.
FUSED = {
    "attention in steps": (GPT, "plain-steps", "ok", "in steps", ""),
    "attention in steps, tf32": (GPT, "plain-steps", "ok", "in steps", ""),
    "attention as it comes": (GPT, "plain", "ok", "ScaledDotProduct.*", ""),
    "attention that stays fused": (GPT, "plain-steps", "broken", "",
                                   "import contextlib\nprograms.modules.unfused = contextlib.nullcontext"),
}


class Programs(unittest.TestCase):
    @staticmethod
    def plan(name: str, count: int, math: str = "f32") -> tuple[launch.Plan, str]:
        """And the file of what must be found."""
        os.makedirs(FOLDER, exist_ok=True)
        workload = workload_of(LOCKSTEP, name)
        expected = os.path.join(FOLDER, f"{name.partition(':')[0]}-{count}-{math}.npz")
        reference.write(expected, workload, 11, 7, count, math, "cuda")
        return launch.Plan("", sys.executable, count, 0.01, (2, 6), 7, 120.0, {}, compare.SETTINGS, {},
                           {name: workload}, "cuda", math=math), expected

    def launched(self, name: str, workload: str, mode: str, fault: str) -> dict:
        math, count = "tf32" if "tf32" in name else "f32", 1 if mode.startswith("plain") else 2
        plan, expected = self.plan(workload, 2, math)
        Forked.fault = f"{ON_THE_HOST}\nreplicas, tf32 = {count}, {math == 'tf32'}\n{fault}"
        was, launch.subprocess = launch.subprocess, SimpleNamespace(Popen=Forked, DEVNULL=subprocess.DEVNULL)
        try:
            return launch.launch(plan, launch.Cell(workload, 11), Arm("pytorch", mode, count), expected)
        finally:
            launch.subprocess = was

    def test_on_the_host(self) -> None:
        for name, (workload, mode, want, fault) in FAULTS.items():
            found = self.launched(name, workload, mode, fault)
            self.assertEqual(found["status"], want, f"{name}: {found.get('reason')}")

    @unittest.skipUnless(hasattr(torch.nn.functional, "scaled_dot_product_attention"), "PyTorch before 2.0")
    def test_attention_is_what_is_asked_for(self) -> None:
        for name, (workload, mode, want, kind, fault) in FUSED.items():
            found = self.launched(name, workload, mode, fault)
            self.assertEqual(found["status"], want, f"{name}: {found.get('reason')}")
            self.assertRegex(found.get("attention", ""), f"^{kind}$", name)
        self.assertIn("fused attention cannot be switched off: it is ScaledDotProduct", found["reason"])

    def test_everything_is_on_the_device(self) -> None:
        """Of three ranks' rounding model, which has every kind of tensor: what a step reads, and its check."""
        plan, expected = self.plan("lstm", 3)
        command = launch.pytorch_command(plan, launch.Cell("lstm", 11), Arm("pytorch", "ddp-nccl", 3), 1, "", expected)
        was, programs.device_of = programs.device_of, lambda torch, kind, rank: torch.device("meta")
        try:
            made = programs.Training({**json.loads(command[-1]), "around": ""})
        finally:
            programs.device_of = was
        self.assertTrue(made.expected[0].sizes and made.expected[0].bounds)
        found = list(tensors_of(made))
        self.assertGreater(len(found), 60)
        self.assertEqual({tensor.device.type for tensor in found}, {"meta"})

    def test_a_rank_has_its_own_device(self) -> None:
        self.assertEqual([str(devices.device_of(torch, *where)) for where in (("cuda",), ("cuda", 3), ("cpu", 3))],
                         ["cuda:0", "cuda:3", "cpu"])


def tensors_of(thing):
    """All that it holds."""
    if isinstance(thing, torch.Tensor):
        yield thing
    elif isinstance(thing, torch.nn.Module):
        yield from (*thing.parameters(), *thing.buffers())
    elif isinstance(thing, (list, tuple)):
        for part in thing:
            yield from tensors_of(part)
    elif type(thing).__module__ == "lockstep_peers.programs":
        yield from tensors_of(list(vars(thing).values()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
