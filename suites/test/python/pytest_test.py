#!/usr/bin/env python3
"""pytest_test.py: the pytest plugin has the verdicts of `lockstep check`, whatever pytest selects and however many
workers it has, and never a pass without one. Ends with 77 where there is no pytest.

    pytest_test.py LOCKSTEP
"""
from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

RULES = "from lockstep.pytest_plugin import rules\n"
# It notes each run that is no listing.
NOTED = '#!/bin/sh\ncase "$*" in *--list*) ;; *) echo "$*" >>"{log}" ;; esac\nexec "{program}" "$@"\n'
# It lists the cases, and dies in the run.
DIES = '#!/bin/sh\ncase "$*" in *--list*) exec "{program}" "$@" ;; esac\necho over its feet >&2\nkill -9 $$\n'
# It can split, and nothing else.
SPLITS = '''
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"], "ok": {}}
    if request["op"] == "open":
        answer["ok"] = {"name": "splitter", "version": "1", "devices": [], "capabilities": ["split"], "dialects": {}}
    elif request["op"] == "split":
        most = -(-request["rows"] // request["devices"])
        answer["ok"] = {"size": [min(most, request["rows"] - at) for at in range(0, request["rows"], most or 1)]}
    elif request["op"] != "reset":
        answer = {"id": request["id"], "error": {"status": "notsup", "text": "it only splits"}}
    print(json.dumps(answer), flush=True)
'''
SLEEPS = "import os, pathlib, time\npathlib.Path(f'pid.{os.getpid()}').touch()\ntime.sleep(600)\n"
BECOMES = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
FOUND = {"failure": "failed", "error": "error", "skipped": "skipped"}


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class Outcome:
    """A session of pytest: its exit status, its text, and what became of each test."""

    def __init__(self, status: int, text: str, file: Path):
        self.status, self.text = status, text
        self.tests: dict[str, str] = {}
        self.words: dict[str, str] = {}
        for case in ElementTree.parse(file).iter("testcase") if file.exists() else ():
            name = case.attrib["name"].partition("[")[2].rstrip("]") or case.attrib["name"]
            assert name not in self.tests, name
            child = next((part for part in case if part.tag in FOUND), None)
            known = child is not None and child.attrib.get("type") == "pytest.xfail"
            self.tests[name] = "passed" if child is None else "known" if known else FOUND[child.tag]
            self.words[name] = "" if child is None else f"{child.attrib.get('message')}\n{child.text}"

    def named(self, what: str) -> set[str]:
        return {name for name, found in self.tests.items() if found == what}


class Scene(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name).resolve()
        self.log = self.here / "log"
        self.program = self.script("noted", NOTED)

    def script(self, name: str, text: str) -> Path:
        path = self.here / name
        path.write_text(text.format(log=self.log, program=LOCKSTEP), encoding="utf-8")
        path.chmod(0o755)
        return path

    def line(self, *arguments: str, plugin: bool = True) -> list[str]:
        return [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", f"--junit-xml={self.here}/out.xml",
                f"--basetemp={self.here}/base", *(["-p", "lockstep.pytest_plugin"] if plugin else []), *arguments]

    def variables(self, **more: str) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        return {**own, "LOCKSTEP": str(self.program), "PYTHONPATH": str(PACKAGE), "COLUMNS": "300", **more}

    def pytest(self, body: str, *arguments: str, plugin: bool = True, **variables: str) -> Outcome:
        (self.here / "test_it.py").write_text(f"{RULES}{body}\n", encoding="utf-8")
        (self.here / "out.xml").unlink(missing_ok=True)
        self.log.unlink(missing_ok=True)
        done = subprocess.run(self.line(*arguments, plugin=plugin), cwd=self.here, env=self.variables(**variables),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        return Outcome(done.returncode, done.stdout, self.here / "out.xml")

    def runs(self) -> list[str]:
        """The command lines of the program."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def checked(self, *arguments: str) -> dict[str, str]:
        """What the program itself says of each case."""
        done = subprocess.run([LOCKSTEP, "check", *arguments, "--format", "json"], capture_output=True, text=True, check=False)
        return {case["id"]: case["verdict"] for case in json.loads(done.stdout)["cases"]}


class Verdicts(Scene):
    def test_are_those_of_the_program(self) -> None:
        for mutant, area in (("M01-floor-split", "SPLIT"), ("M10-average", "GRAD,LOSS"), ("M17-overwrite", "GRAD")):
            want = self.checked("--impl", f"mutant:{mutant}", "--area", area)
            found = self.pytest(f"test_it = rules('mutant:{mutant}', area='{area}')")
            self.assertEqual(found.status, 1)
            self.assertEqual(found.tests, {case: BECOMES[word] for case, word in want.items()})
            self.assertGreater(len(found.named("failed")), 0)
            self.assertEqual(len(self.runs()), 1)

    def test_pass(self) -> None:
        found = self.pytest("test_it = rules('mutant:none', only='DDP-0*')")
        self.assertEqual((found.status, {*found.tests.values()}), (0, {"passed"}))
        self.assertEqual(found.tests.keys(), self.checked("--only", "DDP-0*").keys())

    def test_report(self) -> None:
        found = self.pytest("test_it = rules('mutant:M01-floor-split', only='SPLIT-01.sizes')")
        for words in ("FAIL SPLIT-01.sizes: 3 rows on 2 devices: 2 shards (1, 2), must be 2 (2, 1)",
                      "SPLIT-01 (must): Shards are consecutive runs",
                      "-m lockstep check --impl mutant:M01-floor-split --only SPLIT-01.sizes"):
            self.assertIn(words, found.text)
        for words in ("traceback", "pytest_plugin.py", "def test("):
            self.assertNotIn(words, found.text.lower())

    def test_the_page(self) -> None:
        """docs/pytest.md, with another layer than the reader's."""
        lines = (PACKAGE.parents[1] / "docs" / "pytest.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
        found = self.pytest(lines, "--lockstep-impl=mutant:none", "-k", "DDP-01")
        self.assertEqual((found.status, found.tests.keys()), (0, self.checked("--only", "DDP-01").keys()))

    def test_skip(self) -> None:
        body = "test_it = rules('mutant:none', only='APPLY-04', options=['--devices', 'virt:1'])"
        want = self.checked("--impl", "mutant:none", "--only", "APPLY-04", "--devices", "virt:1")
        found = self.pytest(body)
        self.assertEqual(found.status, 0)
        self.assertEqual(found.named("skipped"), {case for case, verdict in want.items() if verdict == "SKIP"})
        self.assertIn("needs 2 devices, there are 1", found.words["APPLY-04.together"])

    def test_all_skipped_is_no_pass(self) -> None:
        body = "test_it = rules('mutant:none', only='APPLY-04.together', options=['--devices', 'virt:1'])\n"
        for more in ("", "def test_other(): pass\n"):
            for arguments in ([], ["-n", "2"]) if has("xdist") else ([],):
                found = self.pytest(body + more, *arguments)
                self.assertEqual(found.status, 5, found.text)
                self.assertIn("lockstep: nothing was tested: all 1 cases were skipped", found.text)

    def test_broken_fails(self) -> None:
        (self.here / "known.txt").write_text("SPLIT-01.sizes unknown mutant # issue 7\n", encoding="utf-8")
        found = self.pytest("test_it = rules('mutant:nix', only='SPLIT-01', known='known.txt')")
        self.assertEqual((found.status, {*found.tests.values()}), (1, {"failed"}))
        self.assertIn("BROKEN SPLIT-01.sizes: unknown mutant", found.words["SPLIT-01.sizes"])

    def test_profile(self) -> None:
        """What a profile requires and the layer lacks fails, although it belongs to no case."""
        (self.here / "splits.py").write_text(SPLITS, encoding="utf-8")
        impl = f"exec:exec {sys.executable} -B splits.py"
        body = f"test_it = rules({impl!r}, profile='primitives')"
        found = self.pytest(body, "-k", "SPLIT-01.sizes or PROFILE or SPLIT-01.known")
        self.assertEqual((found.status, found.tests), (0, dict.fromkeys(("PROFILE", "SPLIT-01.sizes", "SPLIT-01.known"), "passed")))
        found = self.pytest(body, "-k", "SPLIT-01.sizes or PROFILE or SPLIT-01.types_dim")
        self.assertEqual((found.status, found.tests),
                         (1, {"PROFILE": "failed", "SPLIT-01.sizes": "passed", "SPLIT-01.types_dim": "failed"}))
        self.assertIn("profile primitives requires 'scatter'", found.words["PROFILE"])
        found = self.pytest(body, "-k", "PROFILE")
        self.assertEqual((found.status, found.tests), (1, {"PROFILE": "failed"}))
        self.assertEqual(self.runs(), [f"check --impl {impl} --profile primitives --format json"])

    def test_default_is_about_ranks(self) -> None:
        found = self.pytest("test_it = rules('mutant:none')", "--collect-only", "-q")
        self.assertEqual({line.partition("[")[2].rstrip("]") for line in found.text.splitlines() if "::" in line},
                         {"PROFILE", *self.checked("--impl", "mutant:nix", "--profile", "ddp")})
        self.assertEqual(self.runs(), [])


class Known(Scene):
    def known(self, line: str, *arguments: str) -> Outcome:
        (self.here / "known.txt").write_text(f"# What fails.\n\n{line}\n", encoding="utf-8")
        return self.pytest("test_it = rules('mutant:M01-floor-split', only='SPLIT-01', known='known.txt')", *arguments)

    def test_fails_as_known(self) -> None:
        line = "SPLIT-01.sizes 3 rows on 2 devices: 2 shards (1, 2)   # https://a.b/#7"
        found = self.known(line)
        self.assertEqual((found.named("known"), found.status), ({"SPLIT-01.sizes"}, 1))
        self.assertIn("known failure (https://a.b/#7): 3 rows on 2 devices: 2 shards (1, 2)", found.words["SPLIT-01.sizes"])
        found = self.known(line, "-k", "SPLIT-01.sizes")
        self.assertEqual((found.tests, found.status), ({"SPLIT-01.sizes": "known"}, 0))

    def test_fails_otherwise(self) -> None:
        found = self.known("SPLIT-01.sizes 4 rows # issue 7", "-k", "SPLIT-01.sizes")
        self.assertEqual((found.tests, found.status), ({"SPLIT-01.sizes": "failed"}, 1))
        self.assertIn("must be 2 (2, 1) (not as known.txt:3 says: 4 rows)", found.words["SPLIT-01.sizes"])

    def test_words_end_within_a_word_or_are_few(self) -> None:
        for words in ("3 rows on 2 devices: 2 sh", "3"):
            found = self.known(f"SPLIT-01.sizes {words} # issue 7", "-k", "SPLIT-01.sizes")
            self.assertEqual((found.tests, found.status), ({"SPLIT-01.sizes": "failed"}, 1))
            self.assertIn("(known.txt:3 says too little, write: SPLIT-01.sizes 3 rows on 2 devices: 2 shards (1, 2) # issue 7)",
                          found.words["SPLIT-01.sizes"])

    def test_passes_although_known(self) -> None:
        found = self.known("SPLIT-01.changing element 0 # issue 7", "-k", "changing")
        self.assertEqual((found.tests, found.status), ({"SPLIT-01.changing": "failed"}, 1))
        self.assertIn("it no longer fails: remove known.txt:3 (issue 7)", found.words["SPLIT-01.changing"])

    def test_refused(self) -> None:
        for line, why in (("SPLIT-01.size 3 rows # issue 7", "there is no such case"),
                          ("SPLIT-01.sizes 3 rows #  ", "a line is CASE"), ("SPLIT-01.sizes # issue 7", "a line is CASE")):
            found = self.known(line)
            self.assertEqual((found.status, {*found.tests.values()}), (1, {"failed"}))
            self.assertIn(f"--known: known.txt:3: {why}", found.text)


class Selection(Scene):
    def test_the_rest_is_not_run(self) -> None:
        found = self.pytest("test_it = rules('mutant:none', profile='all')", "-k", "SPLIT-01 or GRAD-02 or DDP-01.known")
        self.assertEqual(found.status, 0)
        self.assertEqual(found.tests.keys(), self.checked("--only", "SPLIT-01,GRAD-02,DDP-01.known").keys())
        self.assertEqual(self.runs(), ["check --impl mutant:none --profile all --only SPLIT-01,GRAD-02,DDP-01.known --format json"])

    def test_one_test_by_its_name(self) -> None:
        found = self.pytest("test_it = rules('mutant:none')", "test_it.py::test_it[DDP-01.known]")
        self.assertEqual((found.status, found.tests), (0, {"DDP-01.known": "passed"}))

    def test_patterns(self) -> None:
        """For any selection they match these cases, no others, and fit into commands."""
        from lockstep import pytest_plugin, running
        with unittest.mock.patch.dict(os.environ, {"LOCKSTEP": LOCKSTEP}):
            universe = running.cases(profile="all")
            chance = random.Random(7)
            for share in (0.003, 0.1, 0.5, 0.9, 1.0):
                wanted = {case.id for case in universe if chance.random() < share} or {universe[0].id}
                lists = pytest_plugin.divided(pytest_plugin.shortest(wanted, universe))
                found = [case.id for only in lists for case in running.cases(profile="all", only=only)]
                self.assertEqual(sorted(found), sorted(wanted))
        self.assertLess(len(lists), 3)

    def test_too_many_names_for_one_run(self) -> None:
        found = self.pytest("test_it = rules('mutant:none', profile='all')", "-k", "not sizes and not known and not order and not ranks")
        self.assertEqual((found.status, found.named("failed")), (0, set()))
        self.assertGreater(len(found.named("passed")), 60)
        self.assertGreater(len(self.runs()), 1)

    def test_exitfirst(self) -> None:
        found = self.pytest("test_it = rules('mutant:M01-floor-split', only='SPLIT-01')", "-x")
        self.assertEqual((found.status, len(found.named("failed"))), (1, 1))

    def test_command_line(self) -> None:
        body = "test_it = rules('mutant:nix', only='SPLIT-01')"
        found = self.pytest(body, "--lockstep-impl=mutant:none", "--lockstep-only=DDP-01", "--lockstep-profile=ddp")
        self.assertEqual((found.status, found.tests.keys()), (0, {"PROFILE", *self.checked("--only", "DDP-01")}))
        self.assertEqual(self.pytest("test_it = rules()", "--lockstep-impl=mutant:none", "--lockstep-only=SPLIT-01").status, 0)

    def test_two_layers_and_other_tests(self) -> None:
        found = self.pytest("test_it = rules('mutant:none', only='SPLIT-02')\ntest_bad = rules('mutant:M04-drop-ragged', "
                            "only='SPLIT-01')\ndef test_other(): pass")
        self.assertEqual(len(self.runs()), 2)
        self.assertEqual((found.status, found.tests["other" if "other" in found.tests else "test_other"]), (1, "passed"))


class NoVerdict(Scene):
    """There is no pass, and no success, where there is no verdict."""

    def test_no_program(self) -> None:
        found = self.pytest("test_it = rules('mutant:none')", LOCKSTEP="/no/such")
        self.assertEqual((found.status, found.named("passed")), (2, set()))
        self.assertIn("lockstep: LOCKSTEP=/no/such: there is no such program", found.text)
        self.assertNotIn("Traceback", found.text)

    def test_nothing_selected(self) -> None:
        found = self.pytest("test_it = rules('mutant:none', only='NIX-*')")
        self.assertEqual(found.status, 2)
        self.assertIn("matches no case", found.text)

    def test_no_layer(self) -> None:
        found = self.pytest("test_it = rules()")
        self.assertEqual(found.status, 2)
        self.assertIn("no layer", found.text)
        found = self.pytest("test_it = rules('word', only='SPLIT-02')")
        self.assertEqual((found.status, {*found.tests.values()}), (1, {"failed"}))

    def test_the_program_dies(self) -> None:
        for arguments in ([], ["-n", "2"]) if has("xdist") else ([],):
            found = self.pytest("test_it = rules('mutant:none', only='SPLIT-0*')", *arguments,
                                LOCKSTEP=str(self.script("dies", DIES)))
            self.assertEqual((found.status, {*found.tests.values()}), (1, {"failed"}))
            self.assertIn("ended with status -9 and without a result: over its feet", found.words["SPLIT-01.sizes"])

    def test_the_plugin_is_not_loaded(self) -> None:
        found = self.pytest("test_it = rules('mutant:none')", plugin=False)
        self.assertEqual((found.status, found.named("passed")), (1, set()))


@unittest.skipUnless(has("xdist"), "no pytest-xdist")
class Workers(Scene):
    def test_the_same_outcomes(self) -> None:
        (self.here / "known.txt").write_text("SPLIT-01.sizes 3 rows # issue 7\n", encoding="utf-8")
        for body in ("test_it = rules('mutant:M01-floor-split', area='SPLIT,GRAD', known='known.txt')",
                     "test_it = rules('mutant:none', only='APPLY-04', options=['--devices', 'virt:1'])"):
            alone = self.pytest(body)
            for way in ("load", "loadscope"):
                found = self.pytest(body, "-n", "2", "--dist", way)
                self.assertEqual((found.status, found.tests), (alone.status, alone.tests))
                self.assertEqual(len(self.runs()), 1)
        self.assertGreater(len(alone.tests), 4)


class Interrupted(Scene):
    def left(self) -> list[int]:
        pids = [int(path.suffix[1:]) for path in self.here.glob("pid.*")]
        return [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists()]

    def until(self, holds: bool) -> None:
        end = time.monotonic() + 60
        while bool(self.left()) != holds:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_no_process_is_left(self) -> None:
        (self.here / "sleeps.py").write_text(SLEEPS, encoding="utf-8")
        (self.here / "test_it.py").write_text(f"{RULES}test_it = rules('exec:exec {sys.executable} sleeps.py')\n", encoding="utf-8")
        for arguments in ([], ["-n", "2"]) if has("xdist") else ([],):
            for number, group in ((signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGKILL, False)):
                with self.subTest(arguments=arguments, signal=number, group=group):
                    session = subprocess.Popen(self.line(*arguments), cwd=self.here, env=self.variables(),
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
                    self.addCleanup(session.kill)
                    self.until(True)
                    (os.killpg if group else os.kill)(session.pid, number)
                    self.assertNotEqual(session.wait(60), 0)
                    self.until(False)
                    for path in self.here.glob("pid.*"):
                        path.unlink()


if __name__ == "__main__":
    LOCKSTEP = str(Path(sys.argv.pop(1)).absolute())
    if not has("pytest"):
        print("no pytest for", sys.executable)
        sys.exit(77)
    unittest.main()
