"""layer.py: the layer under test, as text, function or class, in the words of `lockstep check --impl`."""
from __future__ import annotations

import ast
import datetime
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, Union

Layer = Union[str, Callable[..., Any]]
IMPL = re.compile(r"(reference|torch)$|(torch|mutant|exec|(torch|exec)@[^:]*):.")
DDP = ("DistributedDataParallel", "DDP")


class LayerError(Exception):
    """What was given names no layer that another process could import."""


@dataclass(frozen=True)
class Named:
    """--impl, and the folder where its module lies if Python does not look there without being told."""

    impl: str
    folder: Optional[str] = None


# ---- a file ---------------------------------------------------------------------------------------------------------

def parameters(function: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def is_layer(node: ast.stmt) -> bool:
    """A function or class with the parameters `rank` and `world` in the second and third place, or a class that
    takes a module and is called as DistributedDataParallel is."""
    if isinstance(node, ast.FunctionDef):
        return parameters(node)[1:3] == ["rank", "world"]
    if not isinstance(node, ast.ClassDef):
        return False
    methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    bases = {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases}
    first = parameters(methods["__init__"])[1:] if "__init__" in methods else []
    return (not bases.isdisjoint(DDP) or first[1:3] == ["rank", "world"]
            or (first[:1] == ["module"] and not methods.keys().isdisjoint(("forward", "__call__"))))


def names_wrap(node: ast.stmt) -> bool:
    """Whether it gives the name `wrap` to something."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name == "wrap"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name) == "wrap" for alias in node.names)
    return isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "wrap" for target in node.targets)


def only_layer_of(path: Path) -> str:
    """The name of `wrap`, or of the only layer that the file defines. The file is read, not run."""
    try:
        body = ast.parse(path.read_bytes(), str(path)).body
    except OSError as error:
        raise LayerError(f"cannot read '{path}': {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise LayerError(f"'{path}' is not Python: {error}") from None
    if any(names_wrap(node) for node in body):
        return "wrap"
    found = [node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
             and not node.name.startswith("_") and is_layer(node)]
    if len(found) == 1:
        return found[0]
    if found:
        raise LayerError(f"'{path}' defines several layers: say {path}:NAME, where NAME is one of {', '.join(found)}")
    raise LayerError(f"'{path}' defines no layer: neither wrap(model, rank, world), nor a class that takes the place of "
                     "DistributedDataParallel")


# ---- a module -------------------------------------------------------------------------------------------------------

def folder_of(module: str) -> Optional[str]:
    """The folder where this process finds it; None: every Python that runs here finds it, or none does."""
    top = module.split(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if not spec or not (spec.submodule_search_locations or spec.has_location):
        return None
    at = Path(next(iter(spec.submodule_search_locations or ()), spec.origin or "")).absolute().parent
    usual = {Path(path) for path in sysconfig.get_paths().values()} | {Path.cwd()}
    return None if at in usual else str(at)


def module_named(module: str, name: str) -> Named:
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise LayerError(f"'{module}:{name}' is not MODULE:NAME")
    return Named(f"torch:{module}:{name}", folder_of(module))


def file_named(path: Path, name: str) -> Named:
    if ":" in str(path):
        raise LayerError(f"'{path}': the name of a file with a layer must not have a colon")
    if not path.exists():
        raise LayerError(f"there is no file '{path}'")
    return Named(f"torch:{path}:{name or only_layer_of(path)}")


# ---- its version ----------------------------------------------------------------------------------------------------

LONGEST = 63  # of a name and of a version (impl.h)


def package_of(layer: Any) -> str:
    """Returns the outermost package or module: "torch"."""
    return str(layer.__module__).partition(".")[0]


def said_by(module: str) -> str:
    """The `__version__` of the module, or else of the packages around it."""
    version = getattr(sys.modules.get(module), "__version__", None)
    return str(version) if version else said_by(module.rpartition(".")[0]) if module else ""


def installed_as(package: str) -> str:
    """The version of the distribution that has the package. Python 3.9 knows only those of the same name."""
    known: dict[str, list[str]] = getattr(importlib.metadata, "packages_distributions", dict)()
    try:
        return importlib.metadata.version(known.get(package, [package])[0])
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return ""


def file_of(module: str) -> str:
    """Which file it is: its date, and the beginning of its digest."""
    try:
        path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
        day = datetime.date.fromtimestamp(path.stat().st_mtime)
        return f"file of {day}, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    except OSError:
        return ""


def version_of(layer: Any) -> str:
    """What can be said of it."""
    module = layer.__module__
    return (said_by(module) or installed_as(package_of(layer)) or file_of(module) or "unknown")[:LONGEST]


# ---- anything -------------------------------------------------------------------------------------------------------

def text_named(text: str) -> Named:
    if IMPL.match(text):
        return Named(text)
    before, colon, name = text.rpartition(":")
    if text.endswith(".py"):
        return file_named(Path(text), "")
    if before.endswith(".py"):
        return file_named(Path(before), name)
    if colon:
        return module_named(before, name)
    if os.sep in text:
        return Named(text)
    raise LayerError(f"'{text}' names no layer: allowed are MODULE:NAME, FILE.py, FILE.py:NAME, a function or class, "
                     "and all that `lockstep check --impl` takes")


def object_named(layer: Callable[..., Any]) -> Named:
    """Another process has to import it, so it needs a name in a module or file."""
    module, name = getattr(layer, "__module__", None), getattr(layer, "__qualname__", "")
    if not module or not name.isidentifier():
        raise LayerError(f"{layer!r} cannot be imported by its name: define it as a function or class of a module")
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if module != "__main__":
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):
            spec = None
        if spec and spec.origin == file:
            return module_named(module, name)
    if not file:
        raise LayerError(f"{module}.{name} cannot be imported by another process: put it into a file")
    return file_named(Path(file).absolute(), name)


def named(layer: Layer) -> Named:
    """Raises LayerError with one line."""
    return text_named(layer) if isinstance(layer, str) else object_named(layer)
