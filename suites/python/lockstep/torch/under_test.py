"""under_test.py: the layer under test: found by MODULE:NAME, built for a rank, and called by its class and its
package, never by the library that the adapter is for. A record that calls somebody's layer PyTorch is about
another layer. Does not import PyTorch."""
from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

from ..errors import Refusal, place_of
from ..layer import LONGEST, package_of, version_of

PYTORCH = "torch.nn.parallel:DistributedDataParallel"
METHODS = ("backward", "grad", "value", "set_value", "step", "zero_grad", "to", "no_sync", "join", "register_comm_hook")


@dataclass(frozen=True)
class Options:
    """--impl-options, and which layer is under test."""

    layer: str = PYTORCH
    backend: str = "late"  # late.py
    cuda: str | None = None  # CUDA_VISIBLE_DEVICES of the ranks, each of which has one of them
    find_unused_parameters: bool = False
    divide_by_active: bool = False
    trace_buckets: bool = False


def name_of(layer: Any) -> str:
    """Returns the module and the class or function; if the name is too long, its end."""
    return f"{layer.__module__}.{layer.__qualname__}"[-LONGEST:]


@dataclass(frozen=True)
class About:
    """What can be said of a layer before there is one."""

    name: str
    version: str
    package: str
    searches: bool
    methods: frozenset[str] | None


@dataclass(frozen=True)
class Layer:
    """The layer under test: a class that takes the place of DistributedDataParallel, or `wrap(model, rank, world)`,
    which returns an object with any of METHODS (__main__.py says what they are)."""

    make: Callable[..., Any]
    wrap: bool
    searches: bool

    def build(self, model: Any, rank: int, world: int, search: bool) -> Any:
        """Makes the layer of one rank."""
        arguments = (model, rank, world) if self.wrap else (model,)
        return self.make(*arguments, **({"find_unused_parameters": search} if self.searches else {}))

    def about(self) -> About:
        """Describes it, without building it. What a function returns is known if it says so."""
        made = self.make if inspect.isclass(self.make) else inspect.signature(self.make).return_annotation
        known = inspect.isclass(made) and made is not inspect.Signature.empty
        methods = frozenset(method for method in METHODS if hasattr(made, method)) if known else None
        return About(name_of(self.make), version_of(self.make), package_of(self.make), self.searches, methods)


def import_file(path: Path) -> ModuleType:
    """Imports a file under its name. Modules next to it are found after all others."""
    found = sys.modules.get(path.stem)
    if found is not None and getattr(found, "__file__", None) == str(path):
        return found
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise Refusal("inval", f"there is no file {path}")
    sys.path.append(str(path.parent))
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    return module


def import_module(name: str) -> ModuleType:
    """Imports a module, or a file."""
    try:
        return import_file(Path(name).resolve()) if name.endswith(".py") else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise Refusal("inval", f"there is no module '{error.name}'") from None
        raise Refusal("inval", f"{name} cannot be imported: there is no module '{error.name}'") from error
    except Refusal:
        raise
    except (Exception, SystemExit) as error:
        raise Refusal("inval", f"{name} cannot be imported: {type(error).__name__}: {error}{place_of(error)}") from error


def find(text: str) -> Layer:
    """Finds MODULE:NAME. What is wrong with it is the user's mistake, and said in one line."""
    module, colon, name = text.rpartition(":")
    if not colon or not module or not name:
        raise Refusal("inval", f"'{text}' is not MODULE:NAME, such as my_layer:MyDDP or my_layer.py:wrap")
    try:
        make: Any = functools.reduce(getattr, name.split("."), import_module(module))
    except AttributeError:
        raise Refusal("inval", f"{module} has no '{name}'") from None
    if not callable(make):
        raise Refusal("inval", f"{text} is no class and no function")
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):
        raise Refusal("inval", f"{text}: its parameters cannot be known") from None
    wrap = [*signature.parameters][1:3] == ["rank", "world"]
    searches: tuple[dict[str, bool], ...] = ({"find_unused_parameters": False}, {})
    for search in searches:
        try:
            signature.bind(*("model", 0, 1) if wrap else ("model",), **search)
        except TypeError:
            continue
        return Layer(make, wrap, bool(search))
    raise Refusal("inval", f"{text} is called with (model, find_unused_parameters=..) or (model, rank, world), and "
                           f"takes {signature}")
