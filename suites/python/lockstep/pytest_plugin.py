"""pytest_plugin.py: a test for each case of `lockstep check`. A test file says which layer:

    from lockstep.pytest_plugin import rules
    test_my_ddp = rules("my_layer:MyDDP")

The selected cases run together, in one run of the program, when the first of them is asked for; with pytest-xdist
the first worker runs them for all. FAIL and BROKEN fail, SKIP is skipped, and so does a case without a result fail.
If every case is skipped, pytest ends with 5, as it does without tests.
"""
from __future__ import annotations

import fcntl
import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

import pytest

from . import running
from .layer import Layer
from .running import Case, CheckError, Names, Result

CASE = "lockstep_case"
RULES = "lockstep_rules"
VERDICT = "lockstep"
# The parameter of the test that the layer offers what the profile requires.
PROFILE = running.PROFILE
# The reason of a SKIP of `check --known`.
KNOWN = "known failure ("
# The program takes no longer --only.
MOST_NAMES, MOST_BYTES = 40, 900
OPTIONS = (("impl", "the layer, in place of that of the test file: MODULE:NAME, FILE.py, or as of `lockstep check`"),
           ("profile", "the profile, in place of that of the test file: ddp, dataparallel, primitives or all"),
           ("only", "only cases whose id or rule matches, in place of those of the test file: 'DDP-0*,SHAPE-01'"))


def shortest(selected: Iterable[str], universe: Sequence[Case]) -> List[str]:
    """Patterns that match the selected cases and no others: whole areas, whole rules, and the rest by their ids."""
    wanted = set(selected)
    patterns: Dict[str, None] = {}
    whole: Dict[str, bool] = {}
    for case in universe:
        for key in (f"{case.area}-*", case.rule):
            whole[key] = whole.get(key, True) and case.id in wanted
    for case in universe:
        if case.id in wanted:
            keys = (f"{case.area}-*", case.rule)
            patterns[next((key for key in keys if whole[key]), case.id)] = None
    return list(patterns)


def divided(patterns: Sequence[str]) -> List[List[str]]:
    """Lists that are short enough for the program."""
    lists: List[List[str]] = [[]]
    for pattern in patterns:
        if len(lists[-1]) == MOST_NAMES or len(",".join([*lists[-1], pattern])) > MOST_BYTES:
            lists.append([])
        lists[-1].append(pattern)
    return lists


# By case; or why there are none.
Found = Union[Mapping[str, Result], str]


class Rules:
    """The cases of one layer. Arguments that the command line gives again are the command line's."""

    def __init__(self, layer: Optional[Layer], profile: Names, only: Names, area: Names, options: Sequence[str]):
        self.layer, self.profile, self.only, self.area, self.options = layer, profile, only, area, options
        self.found: Dict[Any, Found] = {}

    def narrowed(self, config: pytest.Config) -> Dict[str, str]:
        """What chooses the cases."""
        return running.narrowed(config.getoption("lockstep_profile") or self.profile,
                                config.getoption("lockstep_only") or self.only, self.area)

    def parameters(self, config: pytest.Config) -> List[Any]:
        """A parameter for each case, and one for the profile."""
        if not (self.layer or config.getoption("lockstep_impl")):
            raise CheckError("no layer: give rules() one, or pytest --lockstep-impl")
        narrowed = self.narrowed(config)
        ids = [case.id for case in running.cases(**narrowed)]
        return [PROFILE, *ids] if narrowed["profile"] else ids

    def run(self, config: pytest.Config, selected: Sequence[str]) -> Found:
        """The results of these cases, and those about the profile."""
        try:
            return self.run_all(config.getoption("lockstep_impl") or self.layer or "", config, selected)
        except CheckError as error:
            return str(error)

    def run_all(self, layer: Layer, config: pytest.Config, selected: Sequence[str]) -> Dict[str, Result]:
        """Runs the program once, or more often if the names of the cases are too long for one command."""
        narrowed = self.narrowed(config)
        ids = [case.id for case in running.cases(**narrowed)]
        wanted = [case for case in selected if case != PROFILE]
        parts: List[Union[str, List[str]]] = [narrowed["only"]]
        if wanted and set(wanted) != set(ids):
            universe = running.cases(profile=narrowed["profile"] or "all", area=narrowed["area"])
            parts = [*divided(shortest(wanted, universe))]
        found: Dict[str, Result] = {}
        for only in parts:
            results = running.check(layer, options=self.options, profile=narrowed["profile"], only=only,
                                    area=narrowed["area"])
            found.update((result.case, result) for result in results)
        return found

    def shared(self, request: pytest.FixtureRequest, selected: Sequence[str]) -> Found:
        """As run(), for all workers of pytest-xdist together: a file holds what the first one found."""
        name = hashlib.sha256("\n".join([request.node.originalname, str(request.node.path), *selected]).encode())
        folder: Path = request.getfixturevalue("tmp_path_factory").getbasetemp().parent
        file = folder / f"lockstep-{request.config.workerinput['testrunuid']}-{name.hexdigest()}.json"  # type: ignore
        with open(f"{file}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the system drops it if the worker dies
            if not file.exists():
                found = self.run(request.config, selected)
                new = Path(f"{file}.new")
                new.write_text(json.dumps(found if isinstance(found, str) else [*map(asdict, found.values())]),
                               encoding="utf-8")
                new.replace(file)
        read = json.loads(file.read_text(encoding="utf-8"))
        return read if isinstance(read, str) else {row["case"]: Result(**row) for row in read}

    def results(self, request: pytest.FixtureRequest) -> Found:
        """The results of all cases of this test that pytest selected: of one run, whichever is asked for first."""
        function = request.node.originalname, request.node.path
        selected: List[str] = [getattr(item, "callspec").params[CASE] for item in request.session.items
                               if isinstance(item, pytest.Function) and (item.originalname, item.path) == function]
        key = (*function, *selected)
        if key not in self.found:
            together = hasattr(request.config, "workerinput")
            self.found[key] = self.shared(request, selected) if together else self.run(request.config, selected)
        return self.found[key]


def rules(layer: Optional[Layer] = None, *, profile: Names = None, only: Names = None, area: Names = None,
          known: Union[str, "os.PathLike[str]", None] = None, options: Sequence[str] = ()) -> Callable[..., None]:
    """Returns a test function with a parameter for each case. The arguments are those of lockstep.check; `known` is
    the file of `lockstep check --known`, whose cases are expected to fail in that way."""
    own = Rules(layer, profile, only, area, [*options, *(["--known", os.fspath(known)] if known else [])])

    def test(lockstep_case: str, request: pytest.FixtureRequest) -> None:
        found = own.results(request)
        if isinstance(found, str):
            pytest.fail(f"lockstep: {found}", pytrace=False)
        elif lockstep_case == PROFILE:
            judge_profile(found)
        elif lockstep_case in found:
            result = found[lockstep_case]
            request.node.user_properties.append((VERDICT, KNOWN if result.reason.startswith(KNOWN) else result.verdict))
            judge(result)
        else:
            pytest.fail(f"lockstep: no result for {lockstep_case}", pytrace=False)

    setattr(test, RULES, own)
    return test


# Failures have no traceback: it would show this file.

def judge(result: Result) -> None:
    """Passes, skips or fails the test of this case. Its first line is also in pytest's summary."""
    if result.verdict == running.SKIP:
        (pytest.xfail if result.reason.startswith(KNOWN) else pytest.skip)(result.reason)
    if not result.passed:
        pytest.fail(str(result), pytrace=False)


def judge_profile(found: Mapping[str, Result]) -> None:
    """Fails for what the profile requires and the layer lacks."""
    lacks = [str(result) for result in found.values() if result.rule == PROFILE]
    if lacks:
        pytest.fail("\n\n".join(lacks), pytrace=False)


# ---- hooks ----------------------------------------------------------------------------------------------------------

def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lockstep", "rules of data parallelism")
    for name, words in OPTIONS:
        group.addoption(f"--lockstep-{name}", default="", metavar=name.upper(), help=words)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """An error here is an error of the collection: there is no run without the cases."""
    own = getattr(metafunc.function, RULES, None)
    if own:
        try:
            metafunc.parametrize(CASE, own.parameters(metafunc.config))
        except CheckError as error:
            raise pytest.Collector.CollectError(f"lockstep: {error}") from None


class Tally:
    """Whether anything was tested: a run in which all cases are skipped must not look like a pass."""

    def __init__(self) -> None:
        self.verdicts: Dict[str, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for verdict in [value for key, value in report.user_properties if key == VERDICT]:
                self.verdicts[str(verdict)] = self.verdicts.get(str(verdict), 0) + 1

    def untested(self) -> int:
        """The number of cases, if all were skipped."""
        return self.verdicts.get(running.SKIP, 0) if self.verdicts.keys() == {running.SKIP} else 0

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.untested() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.untested():
            terminalreporter.write_line(f"lockstep: nothing was tested: all {self.untested()} cases were skipped",
                                        red=True)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Tally(), "lockstep_tally")
