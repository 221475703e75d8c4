#!/usr/bin/env python3
"""layers_page_test.py: docs/layers.md, the list of layers and their folder name the same layers, and the program
accepts each command of the page.

    layers_page_test.py LOCKSTEP
"""
from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import unittest

from layers_known import FOLDER, ROOT, TABLE, rows_of

ROWS = rows_of((ROOT / "docs/layers.md").read_text(encoding="utf-8"))


class Page(unittest.TestCase):
    def test_folder(self) -> None:
        found = set()
        for path in (ROOT / FOLDER).glob("*.py"):
            text = path.read_text(encoding="utf-8")
            classes = [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
            found |= {(path.name, name) for name in ([""] if "lockstep.adapter" in text else classes)}
        self.assertEqual(found, {(layer.file, layer.name) for layer in TABLE.values()})

    def test_rows(self) -> None:
        self.assertEqual([*ROWS], [*TABLE])
        for name, layer in TABLE.items():
            cells = [cell.strip() for cell in ROWS[name].strip("|").split("|")]
            self.assertEqual(ROWS[name], layer.row(*cells[:-1]))
            if cells[1] != "not run":
                self.assertEqual(re.findall(r"(\S+) [\d.]+", cells[1]), [*layer.packages])
                number, *failed = cells[3].replace(":", "").split()
                self.assertEqual(int(number), len(failed))
                self.assertGreater(int(cells[2]) + int(cells[4]), 0)

    def test_commands(self) -> None:
        for name, row in ROWS.items():
            words = shlex.split(row.split("`")[1])
            done = subprocess.run([sys.argv[1], "check", *words, "--list"], capture_output=True, text=True, check=False)
            self.assertEqual((name, done.returncode, done.stderr), (name, 0, ""))
            self.assertRegex(done.stdout, r"(?m)^(DDP|COAL)-\d+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
