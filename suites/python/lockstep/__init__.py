"""Lockstep for Python: tests a data-parallel layer rule by rule.

    import lockstep
    results = lockstep.check("my_layer:MyDDP")      # or the class itself
    assert results.passed, results

Importing it is cheap: each part is imported when it is first used.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .running import Case, CheckError, Result, Results, cases, check

    __version__: str

__all__ = ["Case", "CheckError", "Result", "Results", "__version__", "cases", "check"]

RUNNING = ("Case", "CheckError", "Result", "Results", "cases", "check")
MODULES = ("adapter", "exact", "pytest_plugin", "torch")


def __getattr__(name: str) -> Any:
    """Imports the part that has this name."""
    if name in RUNNING:
        return getattr(importlib.import_module(".running", __name__), name)
    if name in MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name == "__version__":
        from importlib import metadata
        try:
            return metadata.version("lockstep-dp")
        except metadata.PackageNotFoundError:
            return "unknown"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
