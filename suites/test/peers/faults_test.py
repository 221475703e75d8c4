#!/usr/bin/env python3
"""faults_test.py: a PyTorch arm that computes something else is found and not reported.

Each fault replaces one part of programs.py and is then launched as compare.py would, but in forked
processes. Without a fault a launch of 3 ranks is good, and one of each model; mlp is in
compare_test.sh, where processes start from nothing. 77: no PyTorch here.
usage: faults_test.py FOLDER LOCKSTEP"""
from __future__ import annotations

import os
import subprocess
import sys
import traceback
from types import SimpleNamespace
from typing import NoReturn

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

# Replacements for functions that only newer releases have, and for one that takes long.
COMPILED = "programs.torch.compile = lambda model: model\nprograms.compilations = lambda: 1\n"
ROUNDED = "import rounded\nrounded.install(programs"
# The fault that is planted before worker.main, and the arm that must notice it.
FAULTS = {
    "none, 3 ranks": ("ddp", ""),
    "no average": ("ddp", "programs.wrap = lambda model, settings: model"),
    "no average, 3 ranks": ("ddp", "programs.wrap = lambda model, settings: model"),
    "a stale gradient": ("plain", "programs.torch.optim.SGD.zero_grad = lambda self, set_to_none: None"),
    "no update": ("plain", "programs.torch.optim.SGD.step = lambda self: None"),
    "another rate": ("plain", "import lockstep_peers.ends as ends\nends.LEARNING_RATE = 2.0**-9"),
    "no activation": ("plain", "programs.nn.ReLU = programs.nn.Identity"),
    "half of the batch": ("plain", "programs.shards_of = lambda rows, devices: [rows // 2]"),
    "none, as it comes": ("ddp-default", ""),
    "none, products": ("products", ""),
    "a product left out": ("products", "was = programs.Products.step\ndef step(self, index):\n"
                           "    calls, self.calls = self.calls, self.calls[1:]\n"
                           "    was(self, index)\n    self.calls = calls\nprograms.Products.step = step"),
    "a rank that dies": ("ddp", "import os\nwas = programs.Training.step\ndef step(self, index):\n"
                         "    if self.steps == 3 and dist.get_rank() == 1: os._exit(3)\n"
                         "    was(self, index)\n"
                         "import torch.distributed as dist\nprograms.Training.step = step"),
    "none, compiled": ("compiled", COMPILED),
    "compiled to something else": ("compiled", COMPILED + "class Twice(programs.nn.Module):\n"
                                   "    def __init__(self, model):\n"
                                   "        super().__init__()\n        self.model = model\n"
                                   "    def forward(self, x): return 2 * self.model(x)\n"
                                   "programs.torch.compile = Twice"),
    "compiled again at the end": ("compiled", COMPILED + "def compilations():\n"
                                  "    count.append(1)\n    return len(count)\ncount = []\n"
                                  "programs.compilations = compilations"),
    "absent, no torch.compile": ("compiled", "if hasattr(programs.torch, 'compile'): del programs.torch.compile"),
    "absent, no compiler": ("compiled", COMPILED + "class NoCompiler(programs.nn.Module):\n"
                            "    def __init__(self, model): super().__init__()\n"
                            "    def forward(self, x):\n"
                            "        try: raise OSError('no g++\\nand advice')\n"
                            "        except OSError as error: raise RuntimeError('backend') from error\n"
                            "programs.torch.compile = NoCompiler"),
    "absent, nothing is compiled": ("compiled", COMPILED + "programs.compilations = lambda: 0"),
    "a step that dies before it is compiled": ("compiled", COMPILED + "def step(self, index): raise ValueError('x')\n"
                                               "programs.Training.step = step"),
    "none, cnn": ("ddp", ""),
    "cnn, padding of another kind": ("plain", "was = programs.nn.Conv2d\nprograms.nn.Conv2d = lambda *a, "
                                     "**b: was(*a, padding_mode='replicate', **b)"),
    "none, lstm, 3 ranks": ("ddp", ""),
    "lstm, a gradient 1e-3 away": ("plain", "was = programs.Training.step\ndef step(self, index):\n"
                                   "    was(self, index)\n    self.parameters[1].grad.mul_(1 + 1e-3)\n"
                                   "programs.Training.step = step"),
    "none, resnet": ("ddp", ""),
    "none, resnet alone": ("plain", ""),
    "none, resnet, 3 ranks": ("ddp", ""),
    "resnet, no skip": ("plain", "programs.Residual.forward = lambda self, x: self.body(x)"),
    "resnet, another eps": ("plain", "was = programs.nn.BatchNorm2d\nprograms.nn.BatchNorm2d = lambda c: "
                            "was(c, eps=2e-3)"),
    "resnet, statistics of two shards": ("plain", "was = programs.nn.BatchNorm2d.forward\n"
                                         "programs.nn.BatchNorm2d.forward = lambda self, x: "
                                         "programs.torch.cat([was(self, x[:6]), was(self, x[6:])])"),
    "none, gpt": ("ddp", ""),
    "none, gpt, 3 ranks": ("ddp", ""),
    "none, gpt, products": ("products", ""),
    "none, gpt, in steps": ("plain", "programs.modules.attend = programs.modules.attend_in_steps"),
    "gpt, erf": ("plain", "programs.KINDS['gelu'] = lambda form: programs.nn.GELU()"),
    "gpt, the table untied": ("plain", "def tied(table):\n"
                              "    head = programs.nn.Identity()\n"
                              "    head.forward = lambda x: x @ table.weight.detach().t()\n"
                              "    return head\n"
                              "programs.modules.tied = tied"),
    "gpt, clipped before the average": ("ddp", "import lockstep_peers.ends as ends\n"
                                        "programs.wrap = lambda model, settings: model\n"
                                        "def update(self):\n"
                                        "    clip = programs.torch.nn.utils.clip_grad_norm_\n"
                                        "    self.norm = clip(self.parameters, self.end.clip)\n"
                                        "    for p in self.parameters: programs.dist.all_reduce(p.grad.div_(2))\n"
                                        "    self.optimiser.step()\n"
                                        "ends.Classes.update = update"),
    "gpt, decay inside": ("plain", "programs.torch.optim.AdamW = programs.torch.optim.Adam"),
    "gpt, another eps": ("plain", "was = programs.torch.optim.AdamW\n"
                         "programs.torch.optim.AdamW = lambda p, eps, **rest: was(p, eps=eps / 2, **rest)"),
    "gpt, a second step": ("plain", "import lockstep_peers.ends as ends\n"
                           "ends.Classes.restart = lambda self: self.optimiser.zero_grad(set_to_none=True)"),
    # The operands of products are rounded: that is right in tf32, and in f32 it is found.
    "none, tf32, cut off": ("plain", f"{ROUNDED}, rounded.cut)"),
    "none, tf32, products": ("products", ""),
    "products in tf32's bits": ("plain", f"{ROUNDED}, rounded.cut)"),
    "none, cnn, tf32, cut off": ("plain", f"{ROUNDED}, rounded.cut)"),
    "cnn, products of 11 bits": ("plain", f"{ROUNDED}, rounded.to_nearest)"),
    **{f"none, {model}, tf32, {how}": ("plain", f"{ROUNDED}, rounded.{function})")
       for model in ("gpt", "gpt-tiny") for how, function in (("cut off", "cut"), ("to nearest", "to_nearest"))},
    "none, gpt, tf32, as floats": ("plain", ""),
    **{f"{model}, products of 11 bits": ("plain", f"{ROUNDED}, rounded.to_nearest)") for model in ("gpt", "gpt-tiny")},
    "gpt-tiny, products cut off": ("plain", f"{ROUNDED}, rounded.cut)"),
    **{f"{model}, tf32, {what}": ("plain", f"{ROUNDED}, rounded.to_nearest{more})") for model in ("gpt", "gpt-tiny")
       for what, more in (("a mask ahead by one", ", ahead=1"),
                          ("a scale without the root", ", scale=lambda size: 1 / size"),
                          ("a row missing", ")\nimport lockstep_peers.ends as ends\n"
                           "was = ends.WithLoss.forward\n"
                           "ends.WithLoss.forward = lambda self, x, y: (self.model(x), was(self, x[1:], y[1:])[1]"))},
}


# The final status, by words of the name; otherwise it is wrong.
STATUS = {"none": "ok", "absent": "absent", "dies": "broken", "again": "broken"}


class Forked:
    """What launch.py wants of subprocess.Popen: a worker with a fault, forked from here. Importing
    PyTorch takes longer than all that a worker does, and here it is done once for all of them."""

    fault = ""

    def __init__(self, command: list[str], stdin: int, stdout, stderr, start_new_session: bool,
                 env: dict[str, str]):
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.work(command, stdout.fileno(), stderr.fileno(), env)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)

    def work(self, command: list[str], out: int, err: int, env: dict[str, str]) -> NoReturn:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.environ.update(env)
        from lockstep_peers import programs, worker
        exec(self.fault, {"programs": programs})
        worker.main(command[-1:])

    def ended(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid != 0:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def poll(self) -> int | None:
        return self.ended(os.WNOHANG)

    def wait(self) -> int | None:
        return self.ended(0)


def main(folder: str, lockstep: str) -> int:
    from lockstep_peers import compare, launch
    from lockstep_peers.arms import PLAIN, Arm, kind_of
    from lockstep_peers.workloads import peers, workload_of

    # This comes before PyTorch and numpy, which read these when they are loaded.
    os.environ.update({**launch.ONE_THREAD, **compare.ENVIRONMENT})
    try:
        import numpy  # noqa: F401
        import torch  # noqa: F401
    except ImportError:
        print("faults_test.py: no PyTorch")
        return 77
    from lockstep_peers import programs, reference  # noqa: F401

    failed, references = 0, {}
    os.makedirs(folder, exist_ok=True)
    cores = sorted(os.sched_getaffinity(0))
    launch.subprocess = SimpleNamespace(Popen=Forked, DEVNULL=subprocess.DEVNULL)
    for name, (mode, fault) in FAULTS.items():
        model = next((model for model in peers(lockstep) if model in name),
                     "gpt:2,16,2,8,12" if "gpt" in name else "mlp:12,8,4")
        workload = workload_of(lockstep, model)
        cell, devices = launch.Cell(model, 11), 3 if "3 ranks" in name else 2
        math = "tf32" if " tf32," in name else "f32"
        key = model, devices, math
        if key not in references:
            references[key] = os.path.join(folder, f"{len(references)}.npz")
            reference.write(references[key], workload, cell.batch, 7, devices, math)
        Forked.fault = fault
        plan = launch.Plan("", sys.executable, devices, 0.01, (2, 6), 7, 120.0,
                           {1: [cores], devices: [cores] * devices}, compare.SETTINGS,
                           compare.ENVIRONMENT, {model: workload}, math=math)
        alone = kind_of("pytorch", mode).group == PLAIN
        found = launch.launch(plan, cell, Arm("pytorch", mode, 1 if alone else devices),
                              references[key])
        want = next((status for words, status in STATUS.items() if words in name), "wrong")
        print(f"{name:40} {mode:11} {found['status']:7} {found.get('reason', '')}", flush=True)
        failed += found["status"] != want
    print(f"{failed} of {len(FAULTS)} are not as they must be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
