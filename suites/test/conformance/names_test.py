#!/usr/bin/env python3
"""names_test.py: no Python file of an adapter or peer has the name of a module that others import.

Python looks beside the script that was started first of all: a `cuda.py` there was what PyTorch got
when it asked for NVIDIA's package. Taken are the names of the standard library, of what lies beside
the newest PyTorch of PyPI (beside_torch.txt), and of what lies beside the PyTorch of this Python.
Does not import PyTorch.
"""
from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUITES = HERE.parents[1]
TREES = (SUITES / "python", SUITES / "peers", SUITES / "test")


def names_in(folder: Path) -> set[str]:
    """Of the modules and packages that `import` finds there, packages without __init__.py too."""
    return {entry.name.split(".")[0] for entry in folder.iterdir()
            if entry.suffix in (".py", ".so") or entry.is_dir() and entry.name.isidentifier()}


def newest() -> set[str]:
    lines = (HERE / "beside_torch.txt").read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def installed() -> set[str]:
    spec = importlib.util.find_spec("torch")
    return names_in(Path(os.path.dirname(os.path.dirname(spec.origin)))) if spec else set()


def collisions(trees: tuple[Path, ...], taken: set[str]) -> list[str]:
    """Modules and packages by path, wherever in the trees they lie. What is inside a package has the
    package's name in its own (lockstep.torch), and hides nothing."""
    return sorted(str(path) for tree in trees for path in tree.rglob("*")
                  if (path.suffix == ".py" or (path / "__init__.py").exists()) and path.stem in taken
                  and not (path.parent / "__init__.py").exists())


class Names(unittest.TestCase):
    def test_no_file_hides_a_module(self):
        taken = set(sys.stdlib_module_names) | {"test"} | newest() | installed()
        files = [path for tree in TREES for path in tree.rglob("*.py")]
        self.assertGreater(len(files), 40)
        self.assertEqual(collisions(TREES, taken), [])

    def test_what_is_taken(self):
        """A list that has lost its content would let everything pass."""
        self.assertLessEqual({"torch", "numpy", "cuda", "nvidia", "typing_extensions"}, newest())
        self.assertIn("copy", sys.stdlib_module_names)
        self.assertEqual("torch" in installed(), importlib.util.find_spec("torch") is not None)

    def test_can_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            (tree / "deep" / "numpy").mkdir(parents=True)
            for file in ("cuda.py", "fine.py", "deep/copy.py", "deep/numpy/__init__.py", "deep/numpy/torch.py"):
                (tree / file).touch()
            found = collisions((tree,), set(sys.stdlib_module_names) | newest())
            self.assertEqual(found, [str(tree / name) for name in
                                     ("cuda.py", "deep/copy.py", "deep/numpy")])


if __name__ == "__main__":
    unittest.main()
