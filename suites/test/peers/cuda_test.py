#!/usr/bin/env python3
"""cuda_test.py: the comparison on GPUs, as far as that needs neither one nor PyTorch: what PyTorch says of
them, that TF32 is off or refused, when the clock runs, which arms there are, how they are started and why
some are absent; and lockstep's sweeps on fake GPUs. usage: cuda_test.py FOLDER EXAMPLE REPORTER [FAKE]
FAKE is lockstep for fake GPUs and the fake NCCL."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

from lockstep_peers import arms, compare, devices, document, figures, here, launch, limits, printed, worker
from lockstep_peers.arms import Arm
from lockstep_peers.steady import END
from lockstep_peers.workloads import Workload

FOLDER, EXAMPLE, REPORTER, FAKE = (sys.argv + [""] * 4)[1:5]

TUTORIAL = Workload("", "tutorial", [5, 2], True, False, None, [], [])
CNN = Workload("", "cnn", [64, 10], False, False, None, [], [])
NCCL = {"ddp-nccl", "ddp-nccl-default"}  # of PyTorch
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
    """Returns the result of probe() for such a PyTorch."""
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
        for count in (1, 2, 3, 8):
            for workload, products in ((TUTORIAL, {"matmul"}), (CNN, set())):
                found = arms.arms_of(workload, count, "cuda")
                self.assertEqual(len(set(found)), len(found))
                self.assertEqual({arm.mode for arm in found if arm.program == "pytorch"},
                                 {"dp", "plain", *NCCL, *products})
                self.assertEqual({arm.mode for arm in found if arm.program == "lockstep"},
                                 {"dp", "ddp", "ddp-nccl", "plain"})
                self.assertLessEqual({Arm("pytorch", mode, count) for mode in ("dp", *NCCL)}, set(found))
        plan = self.plan(8)
        self.assertFalse(plan.oversubscribed())

    def absent(self, count: int, torch_lacks: list[str], lacks: dict[str, str]) -> dict[tuple[str, str], str]:
        why = {arm[:2]: here.absence(arm, "cuda", [{"torch": "2.15.0", "lacks": torch_lacks}], [], lacks)
               for arm in arms.arms_of(CNN, count, "cuda")}
        return {arm: words for arm, words in why.items() if words}

    def test_what_is_absent(self) -> None:
        """One GPU has no ranks, three no exact mean, and NCCL may be there for one program only."""
        ours, theirs = {("lockstep", "ddp"), ("lockstep", "ddp-nccl")}, {("pytorch", mode) for mode in NCCL}
        self.assertEqual(self.absent(1, ["NCCL"], {"NCCL": "x"}),
                         {arm: "it takes 2 GPUs or more" for arm in ours | theirs})
        for count in (2, 4, 8):
            self.assertEqual(self.absent(count, [], {}), {})
        self.assertEqual(self.absent(3, [], {}), {arm: "the mean over 3 ranks is not exact" for arm in ours})
        self.assertEqual(self.absent(2, ["NCCL", "torch.compile"], {}),
                         {arm: "PyTorch 2.15.0 has no NCCL" for arm in theirs})
        self.assertEqual(self.absent(2, [], {"NCCL": "no such file"}),
                         {("lockstep", "ddp-nccl"): "lockstep has no NCCL: no such file"})

    def test_what_lockstep_says_of_nccl(self) -> None:
        """As `lockstep devices` prints it, in 80 columns."""
        self.assertEqual(here.no_nccl("  CUDA       2 GPUs\n  NCCL       2.28.9, for communicator nccl\n"), "")
        self.assertEqual(here.no_nccl("  NCCL       libnccl.so.2: cannot open; when\n"
                                      "             this was built: none\n  X          for communicator nccl\n"),
                         "libnccl.so.2: cannot open; when this was built: none")
        self.assertIn("does not say", here.no_nccl("Versions\n"))
        # These are the words of the program itself, which here may have no CUDA part.
        printed_words = here.ask([REPORTER, "devices", "--devices", "virt:2"])
        self.assertNotIn("does not say", here.no_nccl(printed_words))

    @staticmethod
    def plan(count: int) -> launch.Plan:
        return launch.Plan("l", "p", count, 1.0, (2, 2), 7, 9.0, {1: [[0]], count: [[0]] * count},
                           compare.SETTINGS, {}, {"cnn": CNN}, "cuda")

    def test_commands_of_lockstep(self) -> None:
        for mode, swept, rest in (("dp", "dp", []), ("ddp", "ddp", []),
                                  ("ddp-nccl", "ddp", ["--communicator", "nccl"])):
            command = launch.lockstep_command(self.plan(8), launch.Cell("cnn", 64), Arm("lockstep", mode, 8), "o")
            self.assertEqual(command[2:6], ["--devices", "cuda:0-7", "--counts", "8"])
            self.assertEqual(command[command.index("--mode"):], ["--mode", swept, "--out", "o", *rest])

    def jobs(self, mode: str, count: int) -> list[dict]:
        arm = Arm("pytorch", mode, count)
        return [json.loads(launch.pytorch_command(self.plan(8), launch.Cell("cnn", 64), arm, rank, "f", "r")[-1])
                for rank in range(launch.ranks_of(arm))]

    def test_commands_of_pytorch(self) -> None:
        """A process for each GPU, on any core, that meet in the same files; DataParallel is one for all."""
        for mode, settings in (("ddp-nccl", compare.SETTINGS["ddp"]), ("ddp-nccl-default", {})):
            jobs = self.jobs(mode, 8)
            self.assertEqual([job["rank"] for job in jobs], list(range(8)))
            self.assertEqual([devices.gpus_of(job) for job in jobs], [[rank] for rank in range(8)])
            self.assertEqual(len({(job["store"], job["meeting"]) for job in jobs}), 1)
            for job in jobs:
                self.assertEqual((job["ranks"], job["devices"], job["kind"], job["cores"]), (8, 8, "cuda", []))
                self.assertEqual((job["around"], job["ddp"]), ("ddp", settings))
        for mode, count, gpus in (("dp", 8, list(range(8))), ("plain", 1, [0])):
            [job] = self.jobs(mode, count)
            self.assertEqual((job["ranks"], devices.gpus_of(job)), (1, gpus))

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
        self.assertEqual(cells("--math", "tf32", "--quick"), [("mlp:64,64,64", 32), ("cnn", 32)])
        self.assertNotIn(("lstm", 64), cells("--math", "tf32"))

    def test_gpt2_has_time(self) -> None:
        """Its verification takes minutes; who names a time has that."""
        for words, want in (([], 300), (["--workload", "gpt2"], 3600), (["--workload", "gpt2", "--timeout", "9"], 9)):
            self.assertEqual(compare.parse(["--device", "cuda", *words]).timeout, want)

    def test_limits(self) -> None:
        """Only those of these devices and of this math."""
        cell = {"workload": "gpt2", "batch": 8, "arms": [
            {"program": key[0], "mode": key[1], "devices": 1, "launches": [
                {"round": at, "status": "ok", "step_ns": [ns]} for at in range(6)]}
            for key, ns in ((limits.DP1, 125), (limits.STEPS1, 100), (("pytorch", "plain", 1), 80))]}
        lines, word = limits.judge([cell], kind="cuda", math_of="tf32")
        self.assertEqual((lines[0], word), ("met       1.250 <= 1.25   gpt2, 8: lockstep 1 / PyTorch in steps", "met"))
        cell["arms"][0]["launches"][0]["step_ns"] = cell["arms"][0]["launches"][1]["step_ns"] = [126]
        self.assertEqual(limits.judge([cell], kind="cuda", math_of="tf32")[1], "OPEN")
        for others in ({}, {"kind": "cuda"}, {"math_of": "tf32"}):
            self.assertEqual(limits.judge([cell], **others), ([], "MISSED"))
        text = "\n".join(printed.cell_lines(cell, 1))
        self.assertRegex(text, r"PyTorch plain, attention in steps +100 ns")
        self.assertRegex(text, r"PyTorch in steps / PyTorch plain +1\.250")

    def test_attention_in_steps(self) -> None:
        """An arm of language models on GPUs, which is no choice of PyTorch's."""
        gpt = CNN._replace(name="gpt", modules=[("linear", [1, 1]), ("attention", [2])], periods=(3, 2))
        arm = Arm("pytorch", "plain-steps", 1)
        for count in (1, 2):
            self.assertIn(arm, arms.arms_of(gpt, count, "cuda"))
        self.assertNotIn(arm, arms.arms_of(gpt, 1, "cpu"))
        self.assertNotIn(arm, arms.arms_of(CNN, 1, "cuda"))
        old = {"torch": "1.13.0", "lacks": ["fused attention"]}
        self.assertEqual(here.absence(arm, "cuda", [old], [], {}), "PyTorch 1.13.0 has no fused attention")
        self.assertEqual(arms.kind_of(*arm[:2]).group, "")

    def test_a_process_begins(self) -> None:
        """With its own GPU, and float32 in products and in cuDNN."""
        seen: list = []
        switch = type("s", (), {"allow_tf32": True})
        torch = type("t", (), {
            "backends": type("b", (), {"cuda": type("c", (), {"matmul": switch}), "cudnn": type("d", (switch,), {})}),
            "get_float32_matmul_precision": staticmethod(lambda: "highest"),
            "cuda": type("c", (), {"set_device": staticmethod(lambda rank: seen.append(("GPU", rank)))}),
            "set_num_threads": staticmethod(lambda count: seen.append(("threads", count)))})
        devices.begin(torch, "cpu", 1)
        self.assertEqual((seen, switch.allow_tf32), ([("threads", 1)], True))
        devices.begin(torch, "cuda", 3)
        self.assertEqual(seen[1:], [("GPU", 3)])
        self.assertFalse(torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32)
        torch.get_float32_matmul_precision = staticmethod(lambda: seen[-1])
        torch.set_float32_matmul_precision = staticmethod(seen.append)
        torch.cuda.set_device = staticmethod(lambda rank: None)
        devices.begin(torch, "cuda", 3, "tf32")
        self.assertEqual(seen[-1], "high")
        self.assertTrue(torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32)

    def test_what_a_process_says_it_is(self) -> None:
        def torch(nccl: bool, **more):
            distributed = type("d", (), {"is_available": staticmethod(lambda: True),
                                         "is_nccl_available": staticmethod(lambda: nccl)})
            cuda = type("c", (), {"nccl": type("n", (), {"version": staticmethod(lambda: (2, 28, 9))})})
            return type("t", (), {"distributed": distributed, "cuda": cuda,
                                  "version": type("v", (), {"cuda": "13.2"}), **more})
        self.assertEqual(worker.products_library(torch(True), "cuda"), ("cuBLAS of CUDA 13.2", "NCCL 2.28.9"))
        self.assertEqual(worker.products_library(torch(False), "cuda"), ("cuBLAS of CUDA 13.2", ""))
        fused, plain = (type("n", (), {"functional": type("f", (), parts)})
                        for parts in ({"scaled_dot_product_attention": None}, {}))
        self.assertEqual(worker.lacks(torch(True, compile=None, nn=fused)), [])
        self.assertEqual(worker.lacks(torch(False, nn=plain)), ["torch.compile", "NCCL", "fused attention"])

    @staticmethod
    def switches(starts: bool, stays: bool):
        """Of products or cuDNN: how it is, and whether it stays so whatever is asked for."""
        class Stubborn:
            allow_tf32 = property(lambda self: starts, lambda self, value: None)

        class Willing:
            allow_tf32 = starts

        return Stubborn() if stays else Willing()

    @staticmethod
    def torch_of(matmul, cudnn, precision: str = "highest", follows: bool = True):
        """follows: the precision becomes what is asked for."""
        now = [precision]
        backends = type("b", (), {"cuda": type("c", (), {"matmul": matmul}), "cudnn": cudnn})
        return type("t", (), {
            "backends": backends, "get_float32_matmul_precision": staticmethod(lambda: now[0]),
            "set_float32_matmul_precision": staticmethod(lambda name: now.__setitem__(0, name if follows else now[0]))})

    def test_tf32(self) -> None:
        good = self.torch_of(self.switches(False, False), self.switches(False, False))
        devices.use_tf32(good)
        self.assertTrue(good.backends.cuda.matmul.allow_tf32 and good.backends.cudnn.allow_tf32)
        self.assertEqual(good.get_float32_matmul_precision(), "high")
        for stays in ((True, False), (False, True)):
            with self.assertRaisesRegex(RuntimeError, "TF32 cannot be switched on"):
                devices.use_tf32(self.torch_of(*(self.switches(False, one) for one in stays)))
        with self.assertRaisesRegex(RuntimeError, "not done in TF32"):
            devices.use_tf32(self.torch_of(*(self.switches(False, False) for _ in range(2)), follows=False))

    def test_both_programs_have_the_math(self) -> None:
        """lockstep by its option, PyTorch's processes by their job; and nothing in the environment forbids it."""
        for math, words, environment in (("f32", [], {"NVIDIA_TF32_OVERRIDE": "0"}), ("tf32", ["--math", "tf32"], {})):
            plan = self.plan(2)._replace(math=math)
            command = launch.lockstep_command(plan, launch.Cell("cnn", 64), Arm("lockstep", "dp", 2), "o")
            self.assertEqual(command[command.index("o") + 1:], words)
            job = launch.pytorch_command(plan, launch.Cell("cnn", 64), Arm("pytorch", "plain", 1), 0, "f", "r")[-1]
            self.assertEqual(json.loads(job)["math"], math)
            self.assertEqual(devices.ENVIRONMENTS[math], environment)
            self.assertEqual(document.ddp_words(plan).rpartition("; ")[2], f"TF32 {'off' if math == 'f32' else 'on'}")

    def test_float32(self) -> None:
        good = self.torch_of(self.switches(True, False), self.switches(True, False))
        devices.exact_float32(good)
        self.assertFalse(good.backends.cuda.matmul.allow_tf32 or good.backends.cudnn.allow_tf32)
        for stays, precision in (((True, False), "highest"), ((False, True), "highest"), ((False, False), "high")):
            with self.assertRaises(RuntimeError):
                devices.exact_float32(self.torch_of(*(self.switches(True, one) for one in stays), precision))

    def test_clock(self) -> None:
        """The GPUs are idle when it starts and when it stops, and it stops before the check. Nobody leaves
        the barrier before the GPUs of all are."""
        seen: list[str] = []

        class Program:
            prepare = staticmethod(lambda index: seen.append("prepare"))
            step = staticmethod(lambda index: seen.append("step"))
            check = staticmethod(lambda index, step: seen.append("check"))

        class Pace:
            times: list[int] = []
            next = staticmethod(lambda: END if "check" in seen else 0)

        class Barrier:
            meet = staticmethod(lambda word=0: seen.append("meet") or word)

        from lockstep_peers import meeting
        now, meeting.now = meeting.now, lambda: seen.append("clock") or len(seen)
        try:
            worker.measure(Program, Pace, None, lambda: seen.append("drain"))
            self.assertEqual(seen, ["prepare", "drain", "clock", "step", "drain", "clock", "check"])
            seen.clear()
            worker.measure(Program, Pace, Barrier, lambda: seen.append("drain"))
        finally:
            meeting.now = now
        self.assertEqual(seen, ["prepare", "drain", "meet", "clock", "step", "drain", "clock", "meet", "check", "meet"])

    def test_drain(self) -> None:
        seen: list[int] = []
        torch = type("t", (), {"cuda": type("c", (), {"synchronize": staticmethod(seen.append)})})
        devices.Drain(torch, "cuda", [0, 2])()
        self.assertEqual(seen, [0, 2])
        devices.Drain(torch, "cpu", [0, 2])()
        self.assertEqual(seen, [0, 2])

    def launched(self, mode: str, source: str, cell: dict) -> tuple[str, str]:
        """What is said of a sweep that leaves such a record."""
        fake = os.path.join(FOLDER, "fake")
        os.makedirs(FOLDER, exist_ok=True)
        with open(fake, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nwhile [ \"$1\" != --out ]; do shift; done\ncat >\"$2\" <<'END'\n")
            for line in ({"schema": "lockstep/run/1.1", "source": source},
                         {"schema": "lockstep/cell/1.1", "status": "ok", "validated": True, "cell": cell,
                          "raw": {"flags": [0], "t_step_ns": [9]}, "warmup_steps": 1, "values_checked": 1,
                          "steps_checked": 2}):
                file.write(json.dumps(line) + "\n")
            file.write("END\n")
        os.chmod(fake, 0o755)
        found = launch.launch(self.plan(2)._replace(lockstep=fake), launch.Cell("cnn", 64),
                              Arm("lockstep", mode, 2), "")
        return found["status"], found.get("reason", "")

    def test_what_a_sweep_measured(self) -> None:
        """Simulated GPUs are no side of a comparison, nor is another communicator than NCCL in its arm."""
        cell = {"workload": "cnn", "global_batch": 64, "n_devices": 2, "mode": "ddp", "per_process": 0, "dtype": "f32"}
        nccl, peer = ({**cell, "communicator": name} for name in ("nccl+peer-staged", "peer"))
        another = "broken", "the sweep measured another cell than it was asked for"
        for mode, source, one, said in (
                ("ddp-nccl", "measured", nccl, ("ok", "")), ("ddp", "measured", peer, ("ok", "")),
                ("ddp-nccl", "measured", peer, another), ("dp", "measured", peer, another),
                ("ddp", "measured", {**peer, "dtype": "tf32"}, another),
                ("ddp", "simulated", peer, ("wrong", "the sweep's records are simulated, not measured"))):
            self.assertEqual(self.launched(mode, source, one), said, (mode, source, one))


@unittest.skipUnless(FAKE, "no fake GPUs in this build")
class Sweeps(unittest.TestCase):
    def test_each_arm(self) -> None:
        """What is asked for is what is measured, by NCCL where that is the arm, and in tf32; and it is no side of a
        comparison."""
        os.environ["LOCKSTEP_FAKE_GPUS"] = "2"
        plan = launch.Plan(FAKE, "p", 2, 0.01, (2, 4), 7, 60.0, {1: [[0]], 2: [[0], [0]]}, compare.SETTINGS, {},
                           {}, "cuda")
        self.assertEqual(here.lacks_of(plan), {})
        cell, out = launch.Cell("cnn", 16), os.path.join(FOLDER, "sweep.jsonl")
        os.makedirs(FOLDER, exist_ok=True)
        ours = [arm for arm in arms.arms_of(CNN, 2, "cuda") if arm.program == "lockstep"]
        for arm, math in [*((arm, "f32") for arm in ours), (ours[0], "tf32")]:
            if os.path.exists(out):
                os.unlink(out)
            done = subprocess.run(launch.lockstep_command(plan._replace(math=math), cell, arm, out),
                                  capture_output=True, text=True, check=False, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)
            header, record = launch.read_sweep(out)
            self.assertEqual((header["source"], record["status"], record["validated"]), ("simulated", "ok", True))
            for other in ("f32", "tf32"):
                self.assertEqual(launch.is_asked(record["cell"], cell, arm, other), other == math, arm)
            self.assertEqual(record["cell"]["communicator"], "nccl+peer" if arm.mode == "ddp-nccl" else "peer")
        self.assertEqual(launch.launch(plan, cell, Arm("lockstep", "ddp-nccl", 2), "")["status"], "wrong")


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
        text = self.summary(self.record())
        self.assertIn("DataParallel on GPUs", text)
        self.assertIn("| lockstep 2 / PyTorch DP 2 | 0.31 |", text)
        self.assertIn("| PyTorch DataParallel, 2 GPUs | 150", text)
        with open(os.path.join(FOLDER, "page", "index.html"), encoding="utf-8") as file:
            html = file.read()
        self.assertNotIn("DDP", html)
        self.assertIn("0.31 [0.21, 0.42] of the time of PyTorch&#39;s fastest program", html)


    def gpus(self, absent: str = "") -> dict:
        """The same with DistributedDataParallel over NCCL, tuned the fastest of all, or why it is absent."""
        made = self.record()
        cell = made["cells"][0]
        for arm in [figures.arm_of(cell, "pytorch", "dp", 2), figures.arm_of(cell, "lockstep", "dp", 2)]:
            for mode in ("ddp-nccl", "ddp-nccl-default" if arm["program"] == "pytorch" else "ddp"):
                more = 10000000 if mode == "ddp-nccl-default" else 0
                launches = [{**one, "step_ns": [ns // 2 + more for ns in one["step_ns"]]} for one in arm["launches"]]
                cell["arms"].append({**arm, "mode": mode, "launches": launches,
                                     **({"absent": absent, "launches": []} if absent else {})})
        return made

    def test_ranks_on_a_terminal(self) -> None:
        cell = self.gpus()["cells"][0]
        lines = printed.cell_lines(cell, 2)
        text = "\n".join(lines)
        for words in (r"PyTorch DDP tuned, NCCL, 2 GPUs +75\.0 ms", r"PyTorch DDP as it comes, NCCL, 2 GPUs +85\.0 ms",
                      r"lockstep DDP, NCCL, 2 GPUs +21\.2 ms", r"lockstep NCCL 2 / lockstep DDP 2 +1\.000",
                      r"lockstep NCCL 2 / PyTorch DP or DDP 2 +0\.312", r"lockstep DDP 2 / PyTorch DP or DDP 2 +0\.312",
                      r"PyTorch's fastest: PyTorch DDP tuned, NCCL, 2 GPUs"):
            self.assertRegex(text, words)
        self.assertLessEqual(max(map(len, lines)), 80)
        lines = printed.cell_lines(self.gpus("it takes 2 GPUs or more")["cells"][0], 2)
        text = "\n".join(lines)
        self.assertEqual(text.count("absent: it takes 2 GPUs or more"), 4)
        self.assertRegex(text, r"lockstep 2 / PyTorch DP 2 +0\.312")
        self.assertNotRegex(text, "lockstep (NCCL|DDP) 2 /")

    def test_ranks_in_the_report(self) -> None:
        """The page says the same."""
        for absent, there, not_there in (
                ("", ["DataParallel, and DistributedDataParallel over NCCL, on GPUs",
                      "| lockstep 2 / PyTorch DP or DDP 2 | 0.62 | \\[0.43, 0.84\\] | 6 | "
                      "PyTorch DDP over NCCL, tuned, 2 GPUs |",
                      "| lockstep NCCL 2 / PyTorch DP or DDP 2 | 0.31 |",
                      "| lockstep NCCL 2 / lockstep DDP 2 | 1.00 | \\[1.00, 1.00\\] | 6 | - |",
                      "| PyTorch DDP over NCCL, tuned, 2 GPUs | 75.0",
                      "| lockstep DDP over NCCL, 2 GPUs | 21.2"], ["absent"]),
                ("no <NCCL>", ["DataParallel on GPUs", "| lockstep 2 / PyTorch DP 2 | 0.31 |",
                               "| lockstep DDP over NCCL, 2 GPUs | - | - | - | absent: no &lt;NCCL"],
                 ["lockstep NCCL 2 /", "lockstep DDP 2 /"])):
            text = self.summary(self.gpus(absent))
            for words in there:
                self.assertIn(words, text)
            for words in not_there:
                self.assertNotIn(words, text)

    def summary(self, made: dict) -> str:
        peer, page = os.path.join(FOLDER, "peer.json"), os.path.join(FOLDER, "page")
        os.makedirs(FOLDER, exist_ok=True)
        with open(peer, "w", encoding="utf-8") as file:
            json.dump(made, file)
        done = subprocess.run([REPORTER, "report", "--peer", peer, "--out", page],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: no gnuplot here
        with open(os.path.join(page, "summary.md"), encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
