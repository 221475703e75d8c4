"""formats.py: what the tests of --format share: running, and reading what several commands print alike."""
from __future__ import annotations

import re
import subprocess
import urllib.parse


def check(holds: object, words: str) -> None:
    if not holds:
        raise SystemExit(f"FAILED: {words}")


def run(status: int, *arguments: str) -> str:
    ended = subprocess.run(arguments, capture_output=True, timeout=120)
    check(ended.returncode == status,
          f"{arguments}: status {ended.returncode}, not {status}: {ended.stderr.decode()}")
    return ended.stdout.decode()


def read_annotations(text: str) -> list[tuple[str, str, str]]:
    """Level, title and words of each. The last one is the notice that sums up, and the only one."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) (?:file=[^:,]*,)?title=([^:,]*)::(.*)", line)
        check(match, f"annotations: {line}")
        found.append((match[1], urllib.parse.unquote(match[2]), urllib.parse.unquote(match[3])))
    check([level for level, _, _ in found].count("notice") == 1 and found[-1][:2] == ("notice", "lockstep"),
          f"annotations: the last line: {found[-1:]}")
    return found


def openmetrics_families(text: str) -> dict | None:
    """By prometheus_client; None where it is not installed. Its end is looked at in any case."""
    check(text.endswith("# EOF\n") and text.count("# EOF") == 1, "openmetrics: its end")
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("prometheus_client is not installed: OpenMetrics was read by hand only")
        return None
    return {family.name: family for family in text_string_to_metric_families(text)}
