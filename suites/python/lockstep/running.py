"""running.py: lockstep.check: runs `lockstep check` and reads what it found.

Only PASS is a pass. A run whose parts contradict each other is an error, and so is a case without a result.
"""
from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass, fields
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Type, Union

from . import layer, program

PASS, FAIL, SKIP, BROKEN = "PASS", "FAIL", "SKIP", "BROKEN"
VERDICTS = (PASS, FAIL, SKIP, BROKEN)
PASSED, FAILED, MISUSE, SKIPPED = 0, 1, program.MISUSE, 77
Names = Union[str, Iterable[str], None]
RANKS = "ddp"  # the profile
PROFILE = "PROFILE"  # the rule of results that belong to no case: the profile requires what the layer lacks
UNDER_TEST = "LOCKSTEP_UNDER_TEST"


class CheckError(Exception):
    """There is no result: the text says why."""


@dataclass(frozen=True)
class Case:
    """A case that can be run."""

    id: str
    rule: str
    sentence: str
    obligation: str
    evidence: str
    area: str


@dataclass(frozen=True)
class Result:
    """A case that was run. The rule in words is its sentence; the command, of one that did not pass, repeats it."""

    case: str
    rule: str
    sentence: str
    obligation: str
    evidence: str
    verdict: str
    reason: str
    hint: str
    compared: int
    seconds: float
    command: str
    scenario: str = ""  # the model, its ranks and inputs; older programs have none

    @property
    def passed(self) -> bool:
        return self.verdict == PASS

    @property
    def failed(self) -> bool:
        """FAIL, or BROKEN: there was no verdict."""
        return self.verdict in (FAIL, BROKEN)

    def __str__(self) -> str:
        words = {"MUST": "must", "MUST_REFUSE": "must refuse", "MAY": "required if offered"}
        how = words.get(self.obligation, self.obligation) + ("; by its own report" if self.evidence == "reported" else "")
        rule = f"{self.rule} ({how}): {self.sentence}" if self.sentence else ""
        model = f"Model: {self.scenario}" if self.scenario else ""
        hint = f"Hint: {self.hint}" if self.hint else ""
        return "\n".join(filter(None, (f"{self.verdict} {self.case}: {self.reason}", hint, model, rule, self.command)))


@dataclass(frozen=True)
class Results:
    """All cases of a run, in its order. It is true if they passed: some may be skipped, but not all."""

    name: str
    version: str
    status: int
    all: Sequence[Result]

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    @property
    def failed(self) -> List[Result]:
        """FAIL and BROKEN."""
        return [result for result in self.all if result.failed]

    @property
    def skipped(self) -> List[Result]:
        return [result for result in self.all if result.verdict == SKIP]

    def __bool__(self) -> bool:
        return self.passed

    def __iter__(self) -> Iterator[Result]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, case: str) -> Result:
        for result in self.all:
            if result.case == case:
                return result
        raise KeyError(case)

    def __str__(self) -> str:
        counts = [(sum(result.verdict == verdict for result in self.all), words)
                  for verdict, words in zip(VERDICTS, ("passed", "failed", "skipped", "broken"))]
        line = ", ".join(f"{n} {words}" for n, words in counts)
        return "\n\n".join([*map(str, self.failed), f"{self.name} {self.version}: of {len(self.all)} cases {line}"])


def joined(names: Names) -> str:
    return names if isinstance(names, str) else ",".join(names or ())


def narrowed(profile: Names, only: Names, area: Names) -> Dict[str, str]:
    """The options that choose cases, by their names. Without any, they are those about ranks."""
    texts = {"profile": joined(profile), "only": joined(only), "area": joined(area)}
    return texts if any(texts.values()) else {**texts, "profile": RANKS}


def chosen(profile: Names, only: Names, area: Names) -> List[str]:
    return [word for name, text in narrowed(profile, only, area).items() if text for word in (f"--{name}", text)]


def document(ended: program.Ended, schema: str) -> Dict[str, Any]:
    """What the program printed, if it is of that schema."""
    try:
        read = json.loads(ended.out)
        if read["schema"].startswith(schema):
            return dict(read)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise CheckError(f"lockstep check ended with status {ended.status} and without a result: "
                     f"{ended.complaints or 'it gave no reason'}")


def started(arguments: Sequence[str], more: Optional[Dict[str, str]] = None) -> program.Ended:
    try:
        return program.run(["check", *arguments, "--format", "json"], more)
    except program.ProgramMissing as missing:
        raise CheckError(str(missing)) from None


def known(kind: Type[Any], row: Dict[str, Any]) -> Dict[str, Any]:
    """Its fields: a later program may say more."""
    return {field.name: row[field.name] for field in fields(kind) if field.name in row}


def result_of(row: Dict[str, Any], repeat: str) -> Result:
    repeats = row["verdict"] in (FAIL, BROKEN) and row["rule"] != PROFILE
    return Result(**{**known(Result, row), "case": row["id"],
                     "command": f"{repeat} {shlex.quote(row['id'])}" if repeats else ""})


def cases(*, profile: Names = None, only: Names = None, area: Names = None) -> List[Case]:
    """The cases that check() runs with the same arguments. Raises CheckError."""
    found = document(started(["--list", *chosen(profile, only, area)]), "lockstep/cases/1.")["cases"]
    if not found:
        raise CheckError("no case is selected")
    return [Case(**known(Case, row)) for row in found]


def contradiction(ended: program.Ended, all_of: Sequence[Result], counts: Dict[str, Any]) -> str:
    """Why the results cannot be believed; "": they can."""
    n = {verdict: sum(result.verdict == verdict for result in all_of) for verdict in VERDICTS}
    if sum(n.values()) != len(all_of) or len(all_of) != counts["cases"]:
        return f"it counts {counts['cases']} cases, and lists {sum(n.values())}"
    follows = (MISUSE if n[BROKEN] or not all_of else FAILED if n[FAIL] else PASSED if n[PASS] else SKIPPED)
    if ended.status != follows:
        return f"it ended with status {ended.status}, and its results say {follows}"
    return ""


def check(under_test: layer.Layer, *, profile: Names = None, only: Names = None, area: Names = None,
          options: Sequence[str] = ()) -> Results:
    """Runs `lockstep check` on a layer: a class that takes the place of DistributedDataParallel, a function
    wrap(model, rank, world), MODULE:NAME, FILE.py, or what --impl takes. The cases choose how many ranks they have.

    profile, only, area and options are those of the command; without the first three the profile is ddp.
    Raises CheckError if there is no result.
    """
    if os.environ.get(UNDER_TEST):
        raise CheckError("lockstep.check was called by the module under test while it was imported: "
                         "put the call under `if __name__ == \"__main__\":`")
    try:
        named = layer.named(under_test)
    except layer.LayerError as error:
        raise CheckError(str(error)) from None
    path = os.pathsep.join(filter(None, (named.folder, os.environ.get("PYTHONPATH"))))
    run = ["--impl", named.impl, *options]
    repeat = shlex.join([*([f"PYTHONPATH={named.folder}"] if named.folder else []),
                         *program.command(), "check", *run, "--only"])
    expected = cases(profile=profile, only=only, area=area)
    ended = started([*run, *chosen(profile, only, area)], {UNDER_TEST: "1", **({"PYTHONPATH": path} if path else {})})
    record = document(ended, "lockstep/check/1.")
    all_of = [result_of(row, repeat) for row in record["cases"]]
    results = Results(record["impl"]["name"], record["impl"]["version"], ended.status, all_of)
    missing = sorted({case.id for case in expected} - {result.case for result in all_of})
    wrong = f"no result for {', '.join(missing)}" if missing else contradiction(ended, all_of, record["counts"])
    if wrong:
        raise CheckError(f"the result of lockstep check is not complete: {wrong}. {ended.complaints}".strip())
    return results
