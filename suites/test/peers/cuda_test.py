#!/usr/bin/env python3
"""cuda_test.py: the comparison on GPUs, as far as that needs neither one nor PyTorch: what PyTorch says of
them, that TF32 is off or refused, when the clock runs, what is measured and which arms there are.
usage: cuda_test.py FOLDER EXAMPLE REPORTER"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

from lockstep_peers import arms, compare, devices, figures, launch, limits, printed, worker
from lockstep_peers.steady import END
from lockstep_peers.workloads import Workload

FOLDER, EXAMPLE, REPORTER = (sys.argv + ["", "", ""])[1:4]

TUTORIAL = Workload("", "tutorial", [5, 2], True, False, None, [], [])
STUB = """class version:
    cuda = {cuda!r}
__version__ = "9.9"
class cuda:
    @staticmethod
    def init():
        {init}
    @staticmethod
    def device_count():
        return {count}
    @staticmethod
    def get_device_name(i):
        return "GPU | <b>" + str(i)
"""


def stub(cuda: str | None, count: int, init: str = "pass") -> dict:
    """What probe() says of such a PyTorch."""
    folder = os.path.join(FOLDER, "stub")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "torch.py"), "w", encoding="utf-8") as file:
        file.write(STUB.format(cuda=cuda, count=count, init=init))
    os.environ["PYTHONPATH"] = folder
    try:
        return devices.probe(sys.executable)
    finally:
        del os.environ["PYTHONPATH"]


class Gpus(unittest.TestCase):
    def test_what_pytorch_sees(self) -> None:
        found = stub("13.0", 2)
        self.assertEqual((found["count"], found["names"]), (2, ["GPU | <b>0", "GPU | <b>1"]))
        for arguments, words in (((None, 2), "without CUDA"), (("13.0", 0), "sees no GPU"),
                                 (("13.0", 1, "raise RuntimeError('driver\\n too old')"), "driver too old"),
                                 (("13.0", 1, "import os; os._exit(3)"), "does not start")):
            with self.assertRaisesRegex(devices.NoGpu, words):
                stub(*arguments)

    def test_lists(self) -> None:
        self.assertEqual([devices.lockstep_devices("cuda", n) for n in (1, 4)], ["cuda:0", "cuda:0-3"])
        self.assertEqual(devices.lockstep_devices("cpu", 2), "virt:2")

    def test_arms(self) -> None:
        for count in (1, 2, 8):
            found = arms.arms_of(TUTORIAL, count, "cuda")
            self.assertEqual(len(set(found)), len(found))
            self.assertIn(arms.Arm("pytorch", "dp", count), found)
            self.assertEqual({arm.mode for arm in found if arm.program == "pytorch"}, {"dp", "plain", "matmul"})
        plan = launch.Plan("l", "p", 8, 1.0, (2, 2), 7, 9.0, {1: [[0]], 8: [[0]] * 8}, {}, {}, {}, "cuda")
        self.assertFalse(plan.oversubscribed())
        command = launch.lockstep_command(plan, launch.Cell("tutorial", 30), found[0], "o")
        self.assertEqual(command[2:6], ["--devices", "cuda:0-7", "--counts", "8"])

    def test_what_is_measured(self) -> None:
        def cells(*words: str) -> list[tuple[str, int]]:
            options = compare.parse(["--device", "cuda", *words])
            names = compare.names_of(options, "no program")
            return [tuple(cell) for cell in compare.cells_of(options, {
                name: TUTORIAL._replace(name=name, chain=name not in ("cnn", "lstm")) for name in names})]
        models = [("cnn", 64), ("cnn", 512), ("lstm", 64), ("lstm", 512)]
        self.assertEqual(cells(), [("tutorial", 30), (limits.MLP, 256), (limits.MLP, 2048),
                                   ("mlp:4096,4096,4096,4096", 4096), *models])
        self.assertEqual(cells("--quick"), [("mlp:64,64,64", 32), ("cnn", 32), ("lstm", 32)])
        self.assertEqual(cells("--workload", "cnn", "--workload", "lstm"), models)

    def test_float32(self) -> None:
        class Stubborn:
            allow_tf32 = property(lambda self: True, lambda self, value: None)

        class Willing:
            allow_tf32 = True

        def torch(matmul, cudnn, precision="highest"):
            backends = type("b", (), {"cuda": type("c", (), {"matmul": matmul}), "cudnn": cudnn})
            return type("t", (), {"backends": backends,
                                  "get_float32_matmul_precision": staticmethod(lambda: precision)})

        good = torch(Willing(), Willing())
        devices.exact_float32(good)
        self.assertFalse(good.backends.cuda.matmul.allow_tf32 or good.backends.cudnn.allow_tf32)
        for bad in (torch(Stubborn(), Willing()), torch(Willing(), Stubborn()),
                    torch(Willing(), Willing(), "high")):
            with self.assertRaises(RuntimeError):
                devices.exact_float32(bad)

    def test_clock(self) -> None:
        """The GPUs are idle when it starts and when it stops, and it stops before the check."""
        seen: list[str] = []

        class Program:
            prepare = staticmethod(lambda index: seen.append("prepare"))
            step = staticmethod(lambda index: seen.append("step"))
            check = staticmethod(lambda index, step: seen.append("check"))

        class Pace:
            times: list[int] = []
            next = staticmethod(lambda: END if len(seen) > 4 else 0)

        from lockstep_peers import meeting
        now, meeting.now = meeting.now, lambda: seen.append("clock") or len(seen)
        try:
            worker.measure(Program, Pace, None, lambda: seen.append("drain"))
        finally:
            meeting.now = now
        self.assertEqual(seen, ["prepare", "drain", "clock", "step", "drain", "clock", "check"])

    def test_drain(self) -> None:
        seen: list[int] = []
        torch = type("t", (), {"cuda": type("c", (), {"synchronize": staticmethod(seen.append)})})
        devices.Drain(torch, "cuda", 3)()
        self.assertEqual(seen, [0, 1, 2])
        devices.Drain(torch, "cpu", 3)()
        self.assertEqual(seen, [0, 1, 2])

    def test_simulated_records_are_refused(self) -> None:
        """A lockstep on fake GPUs is no side of a comparison."""
        fake = os.path.join(FOLDER, "fake")
        os.makedirs(FOLDER, exist_ok=True)
        with open(fake, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nwhile [ \"$1\" != --out ]; do shift; done\n"
                       "echo '{\"schema\":\"lockstep/run/1.1\",\"source\":\"simulated\"}' >\"$2\"\n"
                       "echo '{\"schema\":\"lockstep/cell/1.1\",\"status\":\"ok\",\"validated\":true}' >>\"$2\"\n")
        os.chmod(fake, 0o755)
        plan = launch.Plan(fake, "p", 1, 1.0, (2, 2), 7, 9.0, {1: [[0]]}, {}, {}, {}, "cuda")
        found = launch.launch(plan, launch.Cell("tutorial", 30), arms.Arm("lockstep", "dp", 1), "")
        self.assertEqual((found["status"], found["reason"]),
                         ("wrong", "the sweep's records are simulated, not measured"))


class Words(unittest.TestCase):
    def record(self) -> dict:
        """The example, as if PyTorch's parallel program had been DataParallel."""
        with open(EXAMPLE, encoding="utf-8") as file:
            made = json.load(file)
        for arm in made["cells"][0]["arms"]:
            arm["mode"] = arm["mode"].replace("ddp", "dp")
        made["versions"]["gloo"] = ""
        return made

    def test_terminal(self) -> None:
        cell = self.record()["cells"][0]
        lines = printed.cell_lines(cell, 2)
        text = "\n".join(lines)
        self.assertRegex(text, r"PyTorch DataParallel, 2 GPUs +150 ms")
        self.assertRegex(text, r"lockstep 2 / PyTorch DP 2 +0\.31")
        self.assertNotIn("DDP", text)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(figures.parallel_of(cell), "DP")

    def test_report(self) -> None:
        """The page says the same, and nothing of DDP."""
        peer, page = os.path.join(FOLDER, "peer.json"), os.path.join(FOLDER, "page")
        os.makedirs(FOLDER, exist_ok=True)
        with open(peer, "w", encoding="utf-8") as file:
            json.dump(self.record(), file)
        done = subprocess.run([REPORTER, "report", "--peer", peer, "--out", page],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: no gnuplot here
        with open(os.path.join(page, "summary.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("DataParallel on GPUs", text)
        self.assertIn("| lockstep 2 / PyTorch DP 2 | 0.31 |", text)
        self.assertIn("| PyTorch DataParallel, 2 GPUs | 150", text)
        with open(os.path.join(page, "index.html"), encoding="utf-8") as file:
            html = file.read()
        self.assertNotIn("DDP", html)
        self.assertIn("0.31 [0.21, 0.42] of the time of PyTorch&#39;s fastest program", html)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
