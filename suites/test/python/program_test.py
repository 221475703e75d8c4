#!/usr/bin/env python3
"""program_test.py: the package `lockstep` finds and runs the program, names layers, and believes no result that
contradicts itself. Needs nothing but Python.

    program_test.py LOCKSTEP
"""
from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

PACKAGE = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGE))

import lockstep
from lockstep import layer, program, running

LAYERS = '''
from torch.nn.parallel import DistributedDataParallel
raise RuntimeError("this file is read, not run")
def helper(model, world, rank): pass
class Module: pass
class _Hidden(DistributedDataParallel): pass
'''
ONE = {
    "of DDP": "class Mine(DistributedDataParallel): pass",
    "of a module's DDP": "class Mine(torch.nn.parallel.DistributedDataParallel): pass",
    "with its parameters": "class Mine:\n def __init__(self, module, more=1): pass\n def forward(self, x): pass",
    "called": "class Mine:\n def __init__(self, module): pass\n def __call__(self, x): pass",
    "a function": "def Mine(model, rank, world): pass",
    "a class with ranks": "class Mine:\n def __init__(self, model, rank, world): pass",
}
WRAP = {"a function": "def wrap(model, rank, world): pass", "a name": "wrap = Other", "imported": "from x import y as wrap"}


class Scene(unittest.TestCase):
    """A folder to be in, and an environment to change."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name).resolve()
        was = os.getcwd()
        self.addCleanup(os.chdir, was)
        os.chdir(self.here)
        variables = mock.patch.dict(os.environ, {"LOCKSTEP": LOCKSTEP, "PYTHONPATH": str(PACKAGE)})
        variables.start()
        self.addCleanup(variables.stop)

    def write(self, name: str, text: str) -> Path:
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def program(self, name: str, text: str) -> Path:
        path = self.write(name, text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def python(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-B", *arguments], capture_output=True, text=True, check=False,
                              env={**os.environ, **variables}, timeout=120)


class Find(Scene):
    def test_by_variable_then_path(self) -> None:
        named, on_path = self.program("named", "#!/bin/sh\n"), self.program("bin/lockstep", "#!/bin/sh\n")
        with mock.patch.dict(os.environ, {"LOCKSTEP": str(named), "PATH": str(on_path.parent)}):
            self.assertEqual(program.find(), named)
            del os.environ["LOCKSTEP"]
            self.assertEqual(program.find(), on_path)

    def test_in_the_package_first(self) -> None:
        own = self.program("lockstep/bin/lockstep", "#!/bin/sh\n")
        with mock.patch.object(program, "__file__", str(self.here / "lockstep" / "program.py")):
            self.assertEqual(program.find(), own)

    def test_another_python_needs_the_package(self) -> None:
        """A wheel's program is told so; the others bring the package."""
        own = self.program("lockstep/bin/lockstep", "#!/bin/sh\n")
        bare = self.program("bare/python", f"#!/bin/sh\nPYTHONPATH= exec {sys.executable} -I -S \"$@\"\n")
        torch = ["check", "--impl", "torch:my_layer:MyDDP"]
        with mock.patch.object(program, "__file__", str(self.here / "lockstep" / "program.py")), \
                mock.patch.dict(os.environ, {"LOCKSTEP_PYTHON": str(bare)}):
            with self.assertRaisesRegex(program.ProgramMissing, f"LOCKSTEP_PYTHON={bare}: that Python has no package"):
                program.environment(own, torch)
            self.assertEqual(program.environment(own, ["check"])["LOCKSTEP_PYTHON"], str(bare))
            self.assertEqual(program.environment(bare, torch)["LOCKSTEP_PYTHON"], str(bare))
            os.environ["LOCKSTEP_PYTHON"] = str(self.here / "none")
            program.environment(own, torch)
            os.environ["LOCKSTEP_PYTHON"] = str(self.program("has", f"#!/bin/sh\nexec {sys.executable} \"$@\"\n"))
            program.environment(own, torch)

    def test_never_the_console_command(self) -> None:
        """It would start itself for ever."""
        console = self.program("first/lockstep", "#!/usr/bin/python3\nfrom lockstep.program import main\nmain()\n")
        real = self.program("second/lockstep", "#!/bin/sh\n")
        with mock.patch.dict(os.environ, {"PATH": f"{console.parent}:{real.parent}"}):
            del os.environ["LOCKSTEP"]
            self.assertEqual(program.find(), real)
            os.environ["PATH"] = str(console.parent)
            with self.assertRaisesRegex(program.ProgramMissing, "the program is missing"):
                program.find()

    def test_missing_is_one_line(self) -> None:
        for more in ({"LOCKSTEP": "/no/such"}, {"LOCKSTEP": "", "PATH": str(self.here)}):
            done = self.python("-m", "lockstep", "check", **more)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Alockstep: [^\n]*(no such program|the program is missing)[^\n]*\n\Z")
            with mock.patch.dict(os.environ, more), self.assertRaises(lockstep.CheckError):
                lockstep.check("mutant:none", only="SPLIT-01.sizes")


class Command(Scene):
    """python -m lockstep: all arguments arrive, and `check FILE` is --impl."""

    def setUp(self) -> None:
        super().setUp()
        os.environ["LOCKSTEP"] = str(self.program("fake", '#!/bin/sh\nprintf "%s\\n" "$LOCKSTEP_PYTHON" "$@"\nexit 7\n'))
        os.environ.pop("LOCKSTEP_PYTHON", None)

    def given(self, *arguments: str) -> list[str]:
        done = self.python("-m", "lockstep", *arguments)
        self.assertEqual(done.returncode, 7, done.stderr)
        python, *rest = done.stdout.splitlines()
        self.assertEqual(python, sys.executable)
        return rest

    def test_passed_on(self) -> None:
        for arguments in (["--version"], ["sweep", "a b", "--x"], ["check"], ["check", "--impl", "mutant:none"],
                          ["train", "my.py"]):
            self.assertEqual(self.given(*arguments), arguments)

    def test_of_a_file(self) -> None:
        self.write("mine.py", "def wrap(model, rank, world): pass")
        self.assertEqual(self.given("check", "mine.py", "--profile", "ddp"),
                         ["check", "--impl", "torch:mine.py:wrap", "--profile", "ddp"])
        for more in (["-x"], ["-o", "DDP-01"], ["-aDDP"], ["--jobs", "2", "--profile=ddp"]):
            self.assertEqual(self.given("check", "a.b:C", *more), ["check", "--impl", "torch:a.b:C", *more])

    def test_what_names_nothing(self) -> None:
        self.write("two.py", "def a(m, rank, world): pass\ndef b(m, rank, world): pass\n")
        for argument, words in (("two.py", "two.py:NAME, where NAME is one of a, b"), ("none.py", "there is no file"),
                                ("word", "names no layer")):
            done = self.python("-m", "lockstep", "check", argument)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertIn(words, done.stderr)


class Names(Scene):
    def test_of_a_file(self) -> None:
        for words, text in ONE.items():
            path = self.write("one.py", f"{LAYERS}\n{text}\n")
            self.assertEqual(layer.named("one.py").impl, "torch:one.py:Mine", words)
            self.assertEqual(layer.only_layer_of(path), "Mine")
        for words, text in WRAP.items():
            self.write("one.py", f"{LAYERS}\nclass Mine(DistributedDataParallel): pass\n{text}\n")
            self.assertEqual(layer.named("one.py").impl, "torch:one.py:wrap", words)
        self.assertEqual(layer.named("one.py:Other").impl, "torch:one.py:Other")

    def test_refused(self) -> None:
        self.write("none.py", LAYERS)
        self.write("bad.py", "def (")
        self.write("a:b.py", "")
        for text, words in (("none.py", "defines no layer"), ("bad.py", "is not Python"), ("a:b.py", "colon"),
                            ("no.py", "no file"), ("a b:c", "not MODULE:NAME"), ("m:", "not MODULE:NAME"), ("x", "names no")):
            with self.assertRaisesRegex(layer.LayerError, words):
                layer.named(text)

    def test_what_impl_takes(self) -> None:
        for text in ("reference", "torch", "torch:m:N", "torch@60:m:N", "mutant:none", "exec:python3 a.py", "exec@60:exec x", "./it.so"):
            self.assertEqual(layer.named(text), layer.Named(text))

    def test_of_a_module_elsewhere(self) -> None:
        self.write("lib/pack/__init__.py", "")
        self.write("lib/pack/inner.py", "class Mine:\n    class Nested: pass\n")
        with mock.patch.object(sys, "path", [str(self.here / "lib"), *sys.path]):
            import pack.inner  # type: ignore[import-not-found]
            self.addCleanup(lambda: [sys.modules.pop(name) for name in ("pack", "pack.inner")])
            want = layer.Named("torch:pack.inner:Mine", str(self.here / "lib"))
            self.assertEqual(layer.named("pack.inner:Mine"), want)
            self.assertEqual(layer.named(pack.inner.Mine), want)
            with self.assertRaisesRegex(layer.LayerError, "cannot be imported by its name"):
                layer.named(pack.inner.Mine.Nested)
            os.chdir(self.here / "lib")  # there every Python finds it
            self.assertEqual(layer.named(pack.inner.Mine), layer.Named("torch:pack.inner:Mine"))

    def test_without_a_name(self) -> None:
        def inner() -> None:
            pass

        for thing in (inner, lambda model, rank, world: model, mock.Mock(spec=[])):
            with self.assertRaisesRegex(layer.LayerError, "cannot be imported by its name"):
                layer.named(thing)

    def test_of_the_main_script(self) -> None:
        script = self.write("main.py", "from lockstep import layer\ndef wrap(model, rank, world): pass\n"
                                       "print(layer.named(wrap).impl)\n")
        self.assertEqual(self.python(str(script)).stdout, f"torch:{script}:wrap\n")
        done = self.python("-c", script.read_text(encoding="utf-8"))
        self.assertIn("put it into a file", done.stderr)


class Check(Scene):
    """lockstep.check on the program itself."""

    def test_passes(self) -> None:
        results = lockstep.check("mutant:none", only="SPLIT-01.*")
        self.assertTrue(results and results.passed)
        self.assertEqual((results.failed, results.skipped), ([], []))
        self.assertGreater(len(results), 5)
        self.assertTrue(all(result.passed and result.compared for result in results))

    def test_fails_as_the_program_says(self) -> None:
        for mutant in ("M01-floor-split", "M10-average", "M17-overwrite"):
            done = subprocess.run([LOCKSTEP, "check", "--impl", f"mutant:{mutant}", "--area", "SPLIT,GRAD", "--format", "json"],
                                  capture_output=True, text=True, check=False)
            want = {case["id"]: (case["verdict"], case["reason"]) for case in json.loads(done.stdout)["cases"]}
            results = lockstep.check(f"mutant:{mutant}", area=("SPLIT", "GRAD"))
            self.assertEqual({result.case: (result.verdict, result.reason) for result in results}, want)
            self.assertFalse(results or results.passed)
            self.assertGreater(len(results.failed), 0)
            for result in results.failed:
                self.assertEqual(results[result.case], result)
                self.assertTrue(result.sentence and result.case in result.command and result.reason in str(results))

    def test_the_command_repeats_it(self) -> None:
        failed = lockstep.check("mutant:M01-floor-split", only="SPLIT-01.sizes").failed[0]
        done = subprocess.run(["/bin/sh", "-c", failed.command], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("2 shards (1, 2), must be 2 (2, 1)", done.stdout)

    def test_skipped_and_broken_are_not_passed(self) -> None:
        skipped = lockstep.check("mutant:none", only="APPLY-04.together", options=["--devices", "virt:1"])
        self.assertFalse(skipped or skipped.passed)
        self.assertEqual((skipped.status, len(skipped.skipped), skipped.failed), (77, len(skipped), []))
        broken = lockstep.check("mutant:none-such", only="SPLIT-01.sizes")
        self.assertFalse(broken or broken.passed)
        self.assertEqual([(result.verdict, result.passed, result.failed) for result in broken], [("BROKEN", False, True)])

    def test_no_result(self) -> None:
        for arguments, words in (({"only": "NONE-01"}, "matches no case"), ({"options": ["--nix"]}, "nix"),
                                 ({"profile": "nix"}, "nix")):
            with self.assertRaisesRegex(lockstep.CheckError, f"status 2 and without a result: .*{words}"):
                lockstep.check("mutant:none", **arguments)
        with self.assertRaisesRegex(lockstep.CheckError, "names no layer"):
            lockstep.check("word")

    def test_from_the_module_under_test(self) -> None:
        with mock.patch.dict(os.environ, {running.UNDER_TEST: "1"}):
            with self.assertRaisesRegex(lockstep.CheckError, "__main__"):
                lockstep.check("mutant:none")

    def test_import_is_cheap(self) -> None:
        done = self.python("-c", "import sys, lockstep; lockstep.check\n"
                                 "print({'numpy', 'torch', 'pytest'} & set(sys.modules))")
        self.assertEqual(done.stdout, "set()\n", done.stderr)


class Contradictions(Scene):
    """A program that says what it does not list is not believed."""

    def result(self, status: int, verdicts: list[str], counted: int | None = None, listed: int | None = None) -> Any:
        """That of a fake program: `listed` cases exist, and these verdicts are in its result."""
        def rows(n: int, **more: Any) -> list[dict[str, Any]]:
            return [{"id": f"X-01.{i}", "rule": "X-01", "sentence": "it holds", "obligation": "MUST", "area": "X",
                     "evidence": "observed", "reason": "", "hint": "", "compared": 1, "seconds": 0, **more}
                    for i in range(n)]

        cases = [{**row, "verdict": verdict} for row, verdict in zip(rows(len(verdicts)), verdicts)]
        self.write("list.json", json.dumps({"schema": "lockstep/cases/1.0",
                                            "cases": rows(len(cases) if listed is None else listed)}))
        self.write("check.json", json.dumps({
            "schema": "lockstep/check/1.0", "impl": {"name": "fake", "version": "1"}, "cases": cases,
            "counts": {"cases": len(cases) if counted is None else counted}}))
        fake = self.program("fake", f'#!/bin/sh\ncase "$*" in *--list*) cat list.json; exit 0 ;; esac\n'
                                    f"cat check.json; echo a complaint >&2; exit {status}\n")
        with mock.patch.dict(os.environ, {"LOCKSTEP": str(fake)}):
            return lockstep.check("mutant:any")

    def test_consistent(self) -> None:
        for status, verdicts in ((0, ["PASS"]), (0, ["PASS", "SKIP"]), (1, ["PASS", "FAIL"]), (77, ["SKIP"]),
                                 (2, ["BROKEN", "PASS", "FAIL"])):
            self.assertEqual(self.result(status, verdicts).passed, status == 0)

    def test_not_believed(self) -> None:
        for status, verdicts, more in (
                (0, ["PASS", "FAIL"], {}), (0, ["SKIP"], {}), (0, ["BROKEN"], {}), (1, ["PASS"], {}), (130, ["PASS"], {}),
                (0, ["PASS", "pass"], {}), (0, ["PASS"], {"counted": 2}), (0, ["PASS"], {"listed": 2}), (0, [], {"listed": 1})):
            with self.subTest(status=status, verdicts=verdicts):
                with self.assertRaisesRegex(lockstep.CheckError, "not complete: .*a complaint"):
                    self.result(status, verdicts, **more)
        with self.assertRaisesRegex(lockstep.CheckError, "no case is selected"):
            self.result(0, [])

    def test_rubbish(self) -> None:
        for out in ("", "rubbish", "[]", "{}", '{"schema": 7}', '{"schema": "lockstep/check/2.0"}'):
            fake = self.program("fake", f"#!/bin/sh\nprintf '%s' '{out}'; echo why >&2; exit 0\n")
            with mock.patch.dict(os.environ, {"LOCKSTEP": str(fake)}):
                with self.assertRaisesRegex(lockstep.CheckError, "status 0 and without a result: why"):
                    lockstep.check("mutant:any")


class Ends(Scene):
    """No process is left when the caller is interrupted, or is killed."""

    def test_with_its_caller(self) -> None:
        self.write("adapter.py", "import pathlib, os, time\npathlib.Path(f'pid.{os.getpid()}').touch()\ntime.sleep(600)\n")
        script = self.write("caller.py", f"import lockstep\nlockstep.check('exec:exec {sys.executable} adapter.py')\n")
        for signal in ("INT", "TERM", "KILL"):
            with self.subTest(signal):
                caller = subprocess.Popen([sys.executable, "-B", str(script)], stderr=subprocess.DEVNULL)
                self.addCleanup(caller.kill)
                self.until(lambda: list(self.here.glob("pid.*")))
                pids = [int(path.suffix[1:]) for path in self.here.glob("pid.*")]
                subprocess.run(["kill", f"-{signal}", str(caller.pid)], check=True)
                self.assertNotEqual(caller.wait(60), 0)
                self.until(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids))
                for path in self.here.glob("pid.*"):
                    path.unlink()

    def until(self, holds: Any) -> None:
        end = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


if __name__ == "__main__":
    LOCKSTEP = str(Path(sys.argv.pop(1)).absolute())
    unittest.main()
