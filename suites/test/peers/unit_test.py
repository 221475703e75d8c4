#!/usr/bin/env python3
"""unit_test.py: what the comparison with PyTorch computes, without PyTorch: statistics, limits, the
split, the rule of the warm-up, the barrier. usage: unit_test.py EXAMPLE"""
from __future__ import annotations

import copy
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

from lockstep_peers import compare, figures, limits, printed
from lockstep_peers.arms import KINDS, PARALLEL, PLAIN, PRODUCTS, Arm, arms_of
from lockstep_peers.here import absence
from lockstep_peers.launch import Cell, Failed, Plan, answer_of, blame, compilations_of, lockstep_command
from lockstep_peers.meeting import Meeting
from lockstep_peers.steady import END, MEASURE, WARMUP, Pace, rule_of, warmup_of
from lockstep_peers.workloads import End, Law, Workload, build, parse, shards_of


def example() -> dict:
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)["cells"][0]


class Figures(unittest.TestCase):
    def test_interval_ranks(self) -> None:
        # Exact binomial: P(the median is between the k-th smallest and largest).
        for n, k in {1: 0, 5: 0, 6: 1, 7: 1, 8: 1, 9: 2, 12: 3, 20: 6}.items():
            self.assertEqual(figures.interval_rank(n)[0], k, n)
        self.assertEqual(figures.interval_rank(6)[1], 1 - 2 / 64)
        self.assertGreaterEqual(figures.interval_rank(500)[1], 0.95)

    def test_the_scripts_have_the_same_ranks(self) -> None:
        scripts = os.path.join(PEERS, *[os.pardir] * 3, "scripts")
        with open(os.path.join(scripts, "interval.awk"), encoding="utf-8") as file:
            program = file.read() + "BEGIN { for (n = 1; n <= 300; n++) print interval_rank(n) }"
        printed_ranks = subprocess.run(["awk", program], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual([int(rank) for rank in printed_ranks.split()],
                         [max(1, figures.interval_rank(n)[0]) for n in range(1, 301)])

    def test_a_range_is_no_interval(self) -> None:
        few = figures.figure_of([3.0, 1.0, 2.0, 5.0, 4.0])
        self.assertEqual(few, (3.0, 1.0, 5.0, 5, 0.0))
        self.assertEqual(printed.spread_name([few]), "range, n 5")
        self.assertEqual(printed.spread_name([figures.figure_of([1.0] * 6)]), "interval, 96.9 %, n 6")

    def test_what_is_not_finite_is_nothing(self) -> None:
        for values in ([], [math.nan], [1.0, math.inf]):
            self.assertEqual(figures.figure_of(values).n, 0)
            self.assertTrue(math.isnan(figures.figure_of(values).value))

    def test_ratios_are_paired_by_round(self) -> None:
        cell = example()
        ours, ddp = (figures.arm_of(cell, *key) for key in (limits.DP2, limits.DDP2))
        self.assertAlmostEqual(figures.ratio_figure(ours, ddp).value, 0.3125)
        ddp["launches"].reverse()
        self.assertAlmostEqual(figures.ratio_figure(ours, ddp).value, 0.3125)
        ddp["launches"] = ddp["launches"][:2]
        self.assertEqual(figures.ratio_figure(ours, ddp).n, 2)

    def test_the_fastest_is_one_arm(self) -> None:
        """By its median over all launches; where one of them has no number there is none."""
        cell = example()
        ours, plain, ddp = (figures.arm_of(cell, *key) for key in (limits.DP2, limits.PLAIN1, limits.DDP2))
        self.assertLess(figures.time_figure(ddp).value, figures.time_figure(plain).value)
        self.assertIs(figures.arm_of(cell, *limits.ANY2), ddp)
        compiled = {**plain, "mode": "compiled", "launches": [
            {**launch, "step_ns": [ns // 4 for ns in launch["step_ns"]]} for launch in plain["launches"]]}
        cell["arms"].append(compiled)
        for key in (limits.ANY2, limits.PLAIN1):
            self.assertIs(figures.arm_of(cell, *key), compiled)
        self.assertIs(figures.arm_of(cell, *limits.DDP2), ddp)
        value = printed.ratio_text(figures.ratio_figure(ours, compiled).value)
        text = "\n".join(printed.cell_lines(cell, 2))
        self.assertRegex(text, f"lockstep 2 / PyTorch's fastest +{value} ")
        self.assertIn("PyTorch's fastest: PyTorch compiled, 1 process", text)
        compiled["launches"][0] = {"round": 0, "status": "wrong", "reason": "x"}
        for key in (limits.ANY2, limits.PLAIN1):
            self.assertIsNone(figures.arm_of(cell, *key))
        self.assertEqual(figures.ratio_figure(ours, figures.arm_of(cell, *limits.ANY2)).n, 0)

    def test_what_is_absent_is_said_and_is_not_the_fastest(self) -> None:
        cell = example()
        ddp = figures.arm_of(cell, *limits.DDP2)
        cell["arms"].append({"program": "pytorch", "mode": "compiled", "devices": 1, "launches": [],
                             "absent": "PyTorch 1.13.0 has no torch.compile"})
        self.assertIs(figures.arm_of(cell, *limits.ANY2), ddp)
        text = "\n".join(printed.cell_lines(cell, 2))
        self.assertRegex(text, "PyTorch compiled, 1 process +-\n +absent: PyTorch 1.13.0 has no torch.compile\n")
        cell["arms"] = [arm for arm in cell["arms"] if arm is not ddp]
        self.assertIsNone(figures.arm_of(cell, *limits.ANY2))  # without a parallel program nobody knows

    def test_versions_are_in_the_names_and_in_the_choice(self) -> None:
        cell = example()
        plain = figures.arm_of(cell, *limits.PLAIN1)
        for arm in cell["arms"]:
            if arm["program"] == "pytorch":
                arm["torch"] = "1.13.0"
        newer = {**plain, "torch": "2.15.0+cu132", "launches": [
            {**launch, "step_ns": [ns - 1 for ns in launch["step_ns"]]} for launch in plain["launches"]]}
        cell["arms"].append(newer)
        self.assertIs(figures.arm_of(cell, *limits.PLAIN1), newer)
        lines = printed.cell_lines(cell, 2)
        self.assertRegex("\n".join(lines), "  PyTorch 2.15.0 plain, 1 process +160 ms")
        self.assertIn("  fastest of PyTorch plain: PyTorch 2.15.0 plain, 1 process", lines)

    def test_a_ratio_of_ratios(self) -> None:
        def arm(*steps: int) -> dict:
            return {"launches": [{"round": at, "status": "ok", "step_ns": [ns]} for at, ns in enumerate(steps)]}
        figure = figures.ratio_figure(arm(20, 30), arm(10, 10), arm(40, 40), arm(20, 10))
        self.assertEqual((figure.low, figure.high), (0.75, 1.0))
        self.assertEqual(figures.ratio_figure(arm(20, 30), arm(10, 10), arm(40), arm(20, 10)).n, 1)
        self.assertEqual(figures.ratio_figure(arm(20, 30), arm(10, 10), None, arm(20, 10)).n, 0)

    def test_an_arm_that_was_wrong_has_no_number(self) -> None:
        cell = example()
        figures.arm_of(cell, *limits.DDP2)["launches"][4] = {"round": 4, "status": "wrong", "reason": "x"}
        ours, ddp = (figures.arm_of(cell, *key) for key in (limits.DP2, limits.DDP2))
        self.assertEqual(figures.time_figure(ddp).n, 0)
        self.assertEqual(figures.ratio_figure(ours, ddp).n, 0)
        self.assertIn("WRONG NUMBERS", "\n".join(printed.arm_lines(cell)))

    def test_lines_fit(self) -> None:
        cell = example()
        cell["workload"] = "mlp:" + "65536," * 15 + "65536"
        for line in printed.cell_lines(cell, 2):
            self.assertLessEqual(len(line), 80, line)


class Limits(unittest.TestCase):
    def cell(self, launches: int = 6, apart: float = 0.0, **steps: float) -> dict:
        """Of the tutorial: steps by arm; those of ours differ by so much, from launch to launch."""
        keys = {"dp2": limits.DP2, "ddp2": ("pytorch", "ddp", 2), "plain": ("pytorch", "plain", 1)}
        return {"workload": "tutorial", "batch": 30, "arms": [
            {"program": keys[name][0], "mode": keys[name][1], "devices": keys[name][2],
             "launches": [{"round": at, "status": "ok",
                           "step_ns": [value + (apart * (-1) ** at if name == "dp2" else 0)]}
                          for at in range(launches)]}
            for name, value in steps.items()]}

    def test_limits_of_processes_are_asked_with_them(self) -> None:
        """A cell without the arm misses them; without --processes nobody asks."""
        cell = {**self.cell(dp2=50, ddp2=100), "workload": limits.MLP, "batch": 2048}
        for processes, missed in ((False, 0), (True, 2)):
            lines, _ = limits.judge([cell], processes)
            self.assertEqual(sum("lockstep MPI 2" in line and line.startswith("MISSED") for line in lines), missed)
        cell["arms"].append({**cell["arms"][1], "mode": "processes", "program": "lockstep"})
        lines, _ = limits.judge([cell], True)
        self.assertTrue(any(line.startswith("MISSED    1.000 <= 0.55") for line in lines), lines)

    def words(self, **steps: float) -> tuple[list[str], str]:
        lines, word = limits.judge([self.cell(**steps)])
        return [line.split()[0] for line in lines[::2]], word

    def test_met_missed_and_open(self) -> None:
        """The interval decides, not the median: 0.005 and 0.03 are the limits."""
        self.assertEqual(self.words(dp2=5.0, ddp2=1000.0, plain=200.0), (["met", "met"], "met"))
        self.assertEqual(self.words(dp2=5.1, ddp2=1000.0, plain=200.0), (["MISSED", "met"], "MISSED"))
        self.assertEqual(self.words(dp2=4.9, apart=0.2, ddp2=1000.0, plain=200.0), (["OPEN", "met"], "OPEN"))
        self.assertEqual(self.words(dp2=5.1, apart=0.2, ddp2=1000.0, plain=180.0), (["OPEN", "met"], "OPEN"))
        self.assertEqual(self.words(dp2=5.2, apart=0.1, ddp2=1000.0, plain=100.0), (["MISSED", "MISSED"], "MISSED"))
        self.assertEqual(self.words(dp2=5.2, apart=0.1, ddp2=1000.0, plain=174.0), (["MISSED", "OPEN"], "MISSED"))
        lines, _ = limits.judge([self.cell(dp2=4.9, apart=0.2, ddp2=1000.0, plain=200.0)])
        self.assertEqual(lines[1].split(maxsplit=5), "interval, 96.9 %, n 6: 0.0047 .. 0.0051".split(maxsplit=5))

    def test_without_an_interval_every_limit_is_open(self) -> None:
        for launches in (1, 5):
            self.assertEqual(self.words(launches=launches, dp2=0.1, ddp2=100.0, plain=10.0),
                             (["OPEN", "OPEN"], "OPEN"))

    def test_a_missing_number_never_meets(self) -> None:
        for cell in (self.cell(dp2=5.0, plain=100.0), self.cell(ddp2=100.0, plain=100.0),
                     self.cell(dp2=math.nan, ddp2=100.0, plain=100.0),
                     {"workload": limits.MLP, "batch": 2048, "arms": []}):
            lines, word = limits.judge([cell])
            self.assertEqual(word, "MISSED")
            self.assertIn("MISSED", "\n".join(lines))
        for value in (math.nan, math.inf, -math.inf, -1.0):
            for limit in limits.LIMITS:
                self.assertEqual(limits.verdict(limit, figures.figure_of([value] * 6)), "MISSED")
        self.assertEqual(limits.judge([]), ([], "MISSED"))

    def test_speed_up_is_the_other_way_round(self) -> None:
        limit = next(limit for limit in limits.LIMITS if limit.least is not None)
        for values, word in (([0.97] * 6, "met"), ([0.96] * 6, "MISSED"), ([0.96, 0.98] * 3, "OPEN"),
                             ([0.98] * 5, "OPEN")):
            self.assertEqual(limits.verdict(limit, figures.figure_of(values)), word)

    def test_products_alone(self) -> None:
        """On as many cores, by whoever was fastest in each round; and two devices against what they scale by."""
        steps = {("lockstep", "dp", 1): 106, ("lockstep", "dp", 2): 54, ("pytorch", "products", 1): 100,
                 ("pytorch", "products", 2): 50}
        cell = {"workload": limits.MLP, "batch": 2048, "arms": [
            {"program": key[0], "mode": key[1], "devices": key[2],
             "launches": [{"round": at, "status": "ok", "step_ns": [ns]} for at in range(6)]}
            for key, ns in steps.items()]}
        text = "\n".join(limits.judge([cell])[0])
        self.assertRegex(text, "met +1.060 <= 1.06 .* lockstep 1 / products alone 1")
        self.assertRegex(text, "met +1.080 <= 1.08 .* lockstep 2 / products alone 2")
        self.assertRegex(text, "met +0.981 >= 0.97 .* speed-up over that of products")
        cell["arms"][3]["torch"] = "1"
        faster = copy.deepcopy(cell["arms"][3])
        faster["torch"], faster["launches"] = "2", [{**one, "step_ns": [48]} for one in faster["launches"]]
        cell["arms"].append(faster)
        text = "\n".join(limits.judge([cell])[0])
        self.assertRegex(text, "MISSED +1.125 <= 1.08 ")
        self.assertRegex(text, "MISSED +0.942 >= 0.97 ")
        self.assertIn(f"\n{'':16}fastest: torch.mm 2 alone, 2 x 1024 rows, in 6 of 6\n", text)

    def test_our_own_products_count(self) -> None:
        """The record that reader_test.sh gives the report: in five rounds 0.92 of a step is less than torch.mm."""
        with open(os.path.join(os.path.dirname(sys.argv[1]), "example_arms.json"), encoding="utf-8") as file:
            cell = json.load(file)["cells"][0]
        for launch in figures.arm_of(cell, *limits.DP2)["launches"]:
            launch["outside_frac"] = 0.08
        text = "\n".join(limits.judge([cell])[0])
        self.assertRegex(text, "MISSED +1.087 <= 1.08 .*\n.*: 1.087 .. 1.100\n"
                               " +fastest: those of lockstep DataParallel, 2 devices, in 5 of 6\n")
        self.assertIn("  products alone 2: those of lockstep DataParallel, 2 devices, in 5 of 6",
                      printed.cell_lines(cell, 2))
        for line in text.split("\n"):
            self.assertLessEqual(len(line), 80, line)
        mm = figures.members_of(cell, PRODUCTS, 2)
        mm[0]["launches"][2] = {"round": 2, "status": "broken", "reason": "x"}
        self.assertEqual(len(figures.arm_of(cell, *limits.PRODUCTS2)["launches"]), 5)
        mm[1]["launches"][3] = {"round": 3, "status": "wrong", "reason": "x"}
        self.assertIsNone(figures.arm_of(cell, *limits.PRODUCTS2))
        cell["arms"] = [arm for arm in cell["arms"] if arm["mode"] != "products"]
        self.assertIsNone(figures.arm_of(cell, *limits.PRODUCTS2))

    def test_what_products_leave(self) -> None:
        """Said of limits beside PyTorch that are not met, and of no others: 0.03 of plain is one."""
        for outside, said in ((0.9, "0.0040"), (0.2, "0.0320, above the limit")):
            cell = self.cell(dp2=8.0, ddp2=10000.0, plain=200.0)
            for launch in cell["arms"][0]["launches"]:
                launch["outside_frac"] = outside
            text = "\n".join(limits.judge([cell])[0])
            self.assertRegex(text, f"MISSED .*plain\n.*\n +its matrix products by themselves: {said}$")
            self.assertEqual(text.count("by themselves"), 1)
        self.assertNotIn("by themselves", "\n".join(limits.judge([self.cell(dp2=8, ddp2=99, plain=9)])[0]))

    def test_open_is_no_pass_and_no_failure(self) -> None:
        self.assertEqual([compare.status_of(True, word) for word in ("met", "OPEN", "MISSED")], [0, 3, 1])
        self.assertEqual([compare.status_of(False, word) for word in ("met", "OPEN", "MISSED")], [1, 1, 1])

    def test_outside_matrix_products(self) -> None:
        cell = {**example(), "workload": limits.MLP, "batch": 2048}
        lines, _ = limits.judge([cell])
        self.assertIn("met      0.0125 <= 0.05   mlp 4 x 1024, 2048: outside matrix products, 1 device",
                      lines)
        bad = copy.deepcopy(cell)
        for launch in figures.arm_of(bad, *limits.DP1)["launches"]:
            del launch["outside_frac"]
        self.assertEqual(sum("nothing" in line and "outside" in line for line in limits.judge([bad])[0]), 1)

    def test_lines_fit(self) -> None:
        for limit in limits.LIMITS:
            lines, _ = limits.judge([{"workload": limit.workload, "batch": limit.batch, "arms": []}])
            for line in lines:
                self.assertLessEqual(len(line), 80, line)

    def test_the_figure_has_the_same_limits(self) -> None:
        source = os.path.join(PEERS, *[os.pardir] * 3, "harness", "report", "peer_figure.c")
        with open(source, encoding="utf-8") as file:
            rows = re.findall(r'\{"([^"]+)", (\d+), "([^"]+)", ([0-9.]+), "(\w+)"\},', file.read())
        drawn = {(workload, int(batch), name, float(most), math) for workload, batch, name, most, math in rows}
        self.assertEqual(drawn, {
            (limit.workload, limit.batch, limit.what, limit.most, limit.math) for limit in limits.LIMITS
            if limit.under in (limits.ANY2, limits.DDP2, limits.PLAIN1, limits.LLMC2, limits.STEPS1)})
        # The figure takes a limit in tf32 for one on GPUs, and no other.
        self.assertTrue(all((limit.kind == "cuda") == (limit.math == "tf32") for limit in limits.LIMITS))


class Rules(unittest.TestCase):
    def test_shards(self) -> None:
        self.assertEqual(shards_of(10, 3), [4, 4, 2])
        self.assertEqual(shards_of(10, 8), [2, 2, 2, 2, 2, 0, 0, 0])
        for rows in range(1, 40):
            for devices in range(1, 12):
                self.assertEqual(sum(shards_of(rows, devices)), rows)

    def test_a_description(self) -> None:
        """As `lockstep workload` prints it."""
        found = parse("workload cnn\nsizes 64 10\nkind model\nexact 14 40 1\nlaw 288 3 1 0.5\n"
                      "modules\nview 1 8 8\nrelu\n")
        self.assertEqual(found._replace(text=""), Workload(
            "", "cnn", [64, 10], False, False, (14, 40.0, 1.0), [Law(288, 3, 1, 0.5)],
            [("view", [1, 8, 8]), ("relu", [])]))
        self.assertTrue(parse(found.text.replace("exact", "shards\nexact")).shards)
        chain = parse(f"workload {limits.MLP}\nsizes 1024 1024\nkind chain\nmodules\nlinear 1024 1024\n")
        self.assertTrue(chain.chain and chain.exact is None and chain.laws == [])

    def test_a_description_of_a_model_of_tokens(self) -> None:
        """A word among the sizes is no number, and what is tied gets the module, not its number."""
        found = parse("workload gpt-x\nsizes 1 8 2 4 5\nkind model\nlaw 40 2 4 0.5\ntokens 3 2\nclip 0.25\n"
                      "adamw 0.5 0.9 0.95 1e-4 0.125\nmodules\ntable 5 8\ngelu tanh\ntied 0\n")
        self.assertEqual((found.periods, found.end), ((3, 2), End(0.25, 0.5, (0.9, 0.95), 1e-4, 0.125)))
        kinds = {"table": lambda rows, width: (rows, width), "gelu": str, "tied": lambda table: ["tied", table]}
        self.assertEqual(build(found, kinds, list), [(5, 8), "tanh", ["tied", (5, 8)]])
        self.assertIn("products", {arm.mode for arm in arms_of(found, 2)})

    def test_a_skip_takes_what_is_before_it(self) -> None:
        found = parse("workload x\nsizes 1 1\nkind model\nmodules\nrelu\nconv 1\nconv 2\nskip 2\nskip 1\npool\n")
        kinds = {"relu": lambda: "r", "conv": lambda n: n, "pool": lambda: "p"}
        self.assertEqual(build(found, kinds, lambda made: made), ["r", [[1, 2]], "p"])

    def test_arms_of_models(self) -> None:
        """Bare products and lockstep's DDP are for chains of linear layers."""
        model, chain = (Workload("", name, [64, 10], name != "cnn", False, None, [], [])
                        for name in ("cnn", limits.MLP))
        self.assertEqual({arm.mode for arm in arms_of(model, 2)},
                         {"dp", "ddp", "ddp-default", "plain", "compiled"})
        self.assertNotIn(Arm(*limits.RANKS2), arms_of(model, 2))
        self.assertIn(Arm(*limits.RANKS2), arms_of(chain, 2))
        for devices in (1, 3):
            modes = [arm.mode for arm in arms_of(chain, devices) if arm.program == "lockstep"]
            self.assertNotIn("ddp", modes)

    def test_arms_of_processes(self) -> None:
        """Where lockstep's DDP is, and when asked for; launched, and the sweep's cell must say so."""
        chain, model = (Workload("", name, [64, 10], True, False, None, [], []) for name in (limits.MLP, "cnn"))
        processes = Arm(*limits.PROCESSES2)
        self.assertNotIn(processes, arms_of(chain, 2))
        self.assertIn(processes, arms_of(chain, 2, "cpu", True))
        self.assertNotIn(processes, arms_of(model, 2, "cpu", True))
        plan = Plan("lockstep", "python3", 2, 1.0, (2, 9), 1, 60.0, {}, {}, {}, {}, launcher="start {n}")
        for arm, words in ((processes, ["--launcher", "start {n}", "--per-process", "1"]),
                           (Arm("lockstep", "ddp", 2), [])):
            command = lockstep_command(plan, Cell(limits.MLP, 256), arm, "f")
            self.assertEqual(command[command.index("--mode") + 1], "ddp")
            self.assertEqual(command[command.index("--out") + 2:], words)

    def test_every_arm_once(self) -> None:
        tutorial = Workload("", "tutorial", [5, 2], True, False, None, [], [])
        for devices in (1, 2, 5):
            for torches in (1, 3):
                arms = arms_of(tutorial, devices, torches=torches)
                self.assertEqual(len(set(arms)), len(arms))
                ours = len([arm for arm in arms if arm.program == "lockstep"])
                self.assertEqual((ours, len(arms) - ours), (2, 5 * torches) if devices == 1 else (3, 6 * torches))
        self.assertEqual({arm.torch for arm in arms_of(tutorial, 2, torches=3)}, {0, 1, 2})

    def test_the_report_knows_every_arm(self) -> None:
        """And which of PyTorch's do the same."""
        source = os.path.join(PEERS, *[os.pardir] * 3, "harness", "report", "peer_record.c")
        with open(source, encoding="utf-8") as file:
            rows = re.findall(r'\[(PEER_[A-Z_]+)\] = \{"(lockstep|pytorch|llmc)", "([a-z-]+)",[^}]*?(PEER_[A-Z_]+)\}',
                              file.read())
        names = {"": "PEER_NO_GROUP", PARALLEL: "PEER_PARALLEL", PLAIN: "PEER_PLAIN", PRODUCTS: "PEER_PRODUCTS"}
        self.assertEqual(sorted((program, mode, group) for _, program, mode, group in rows),
                         sorted((kind.program, kind.mode, names[kind.group]) for kind in KINDS))

    def test_what_an_arm_needs(self) -> None:
        compiled, plain = Arm("pytorch", "compiled", 1, 1), Arm("pytorch", "plain", 1, 1)
        old, new = {"torch": "1.13.0", "lacks": ["torch.compile"]}, {"torch": "2.15.0", "lacks": []}
        for arm, abouts, without, why in (
                (compiled, [new, old], [], "PyTorch 1.13.0 has no torch.compile"),
                (compiled, [old, new], [], ""),
                (compiled, [old, new], ["torch.compile"], "torch.compile was not asked for"),
                (plain, [old, old], ["torch.compile"], ""), (Arm("lockstep", "ddp", 2), [old], [], "")):
            self.assertEqual(absence(arm, "cpu", abouts, without, {}), why)

    def test_what_a_process_says(self) -> None:
        """Absent is no failure, and never without its reason; the rest are."""
        for said, status, words in (("Absent: torch.compile: no g++", "absent", "torch.compile: no g++"),
                                    ("Wrong: step 3: x", "wrong", "Wrong: step 3: x"),
                                    ("KeyError: 'x'", "broken", "KeyError: 'x'")):
            with self.assertRaises(Failed) as caught:
                answer_of(1, json.dumps({"error": said}), "")
            self.assertEqual((caught.exception.status, str(caught.exception)), (status, words))

    def test_compiled_again_within_what_is_measured(self) -> None:
        self.assertEqual(compilations_of([2, 3, 3, 3], 2), 3)
        with self.assertRaisesRegex(Failed, "compiled 1 times within the measured steps"):
            compilations_of([2, 3, 3, 4], 3)

    def test_warmup(self) -> None:
        self.assertEqual(warmup_of("cpu", 0.5), (5, 0.05))
        self.assertEqual(warmup_of("cpu", 0.001), (5, 0.001))
        self.assertEqual(warmup_of("cuda", 5.0), (20, 2.0))
        self.assertEqual(rule_of((5, 0.05)), "at least 5 steps and 0.05 s, at most 1000 steps")

    def test_pace(self) -> None:
        """However long steps take, and whether they are alike, the warm-up is as long."""
        for times in ([1000] * 99, [1000 * i for i in range(99)]):
            pace = Pace(0.0, (3, 5), (7, 0.0))
            seen = []
            while (state := pace.next()) != END and len(seen) < 99:
                seen.append(state)
                pace.times.append(times[len(seen) - 1])
            self.assertEqual(seen, [WARMUP] * 7 + [MEASURE] * 3)

    def test_pace_by_the_clock(self) -> None:
        pace = Pace(0.0, (3, 5), (1, 60.0))
        for count in (1, 999):
            pace.times = [1000] * count
            self.assertEqual(pace.next(), WARMUP)
        pace.times = [1000] * 1000
        self.assertEqual(pace.next(), MEASURE)

    def test_blame(self) -> None:
        ended = [(0, '{"starts": []}', ""), (-9, "", ""), (1, '{"error": "x"}', ""), (-11, "", "")]
        self.assertEqual([one[0] for one in sorted(ended, key=blame)], [1, -11, -9, 0])


class Rounds(unittest.TestCase):
    def rounds(self, *said: str) -> dict:
        """The entry of an arm whose launches end like that, one a round."""
        run = compare.Run.__new__(compare.Run)
        entry: dict = {"launches": []}
        run.arms, run.cells, run.launches, run.done = [[Arm("pytorch", "compiled", 1)]], [Cell("cnn", 64)], 9, 0
        run.document, run.plan, run.order = {"cells": [{"arms": [entry]}]}, None, random.Random(1)
        answers = [{"status": status, "reason": "no g++"} for status in said]
        was, compare.launch = compare.launch, lambda *_: answers.pop(0)
        try:
            for number in range(len(said)):
                run.one_cell(number, 0, "")
        finally:
            compare.launch = was
        return {**entry, "left": len(answers)}

    def test_what_is_absent_is_asked_once(self) -> None:
        self.assertEqual(self.rounds("absent", "ok", "ok"), {"launches": [], "absent": "no g++", "left": 2})

    def test_what_was_there_is_not_absent(self) -> None:
        found = self.rounds("ok", "absent", "ok")
        self.assertEqual([launch["status"] for launch in found["launches"]], ["ok", "broken", "ok"])
        self.assertNotIn("absent", found)


class Together(unittest.TestCase):
    def test_nobody_goes_early(self) -> None:
        """Each of three processes appends its number in every round; rounds must not mix."""
        ranks, rounds = 3, 40
        with tempfile.TemporaryDirectory() as folder:
            path, log = os.path.join(folder, "meeting"), os.path.join(folder, "log")
            children = []
            for rank in range(ranks):
                child = os.fork()
                if child == 0:
                    meeting = Meeting(path, rank, ranks, spin=False)
                    for number in range(rounds):
                        word = meeting.meet(number % 3 if rank == 0 else 0)
                        with open(log, "a", encoding="utf-8") as file:
                            file.write(f"{number} {word}\n")
                    os._exit(0)
                children.append(child)
            for child in children:
                self.assertEqual(os.waitpid(child, 0)[1], 0)
            with open(log, encoding="utf-8") as file:
                lines = file.read().split("\n")[:-1]
        # All have written round n before anybody leaves the meeting of round n + 1.
        self.assertEqual(lines, [f"{i // ranks} {i // ranks % 3}" for i in range(ranks * rounds)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
