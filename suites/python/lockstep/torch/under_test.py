"""under_test.py: what the layer under test is called: by its class and its package, never by the library that
the adapter is for. A record that calls somebody's layer PyTorch is about another layer. Does not import PyTorch."""
from __future__ import annotations

import importlib.metadata
import sys

LONGEST = 63  # of a name and of a version (impl.h)


def package_of(layer: type) -> str:
    """Returns the outermost package or module: "torch"."""
    return layer.__module__.partition(".")[0]


def name_of(layer: type) -> str:
    """Returns the module and the class; if the name is too long, its end."""
    return f"{layer.__module__}.{layer.__qualname__}"[-LONGEST:]


def version_of(layer: type) -> str:
    """Returns the version of the module that has the class, or else of the packages around it."""
    module = layer.__module__
    while module:
        version = getattr(sys.modules.get(module), "__version__", None)
        if version:
            return str(version)[:LONGEST]
        module = module.rpartition(".")[0]
    try:
        return importlib.metadata.version(package_of(layer))[:LONGEST]
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return "unknown"
