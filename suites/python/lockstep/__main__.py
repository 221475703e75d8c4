"""python -m lockstep ARGUMENTS: `check my_layer.py ...` tests the layer of that file; all else is the program's."""
from __future__ import annotations

import sys

from . import layer, program


def main() -> int:
    """`check LAYER OPTIONS` is `check --impl IMPL OPTIONS`: the program has no argument without a dash there."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["check"] and len(arguments) > 1 and not arguments[1].startswith("-"):
        try:
            found = layer.named(arguments[1])
        except layer.LayerError as error:
            print(f"lockstep check: {error}", file=sys.stderr)
            return program.MISUSE
        arguments[1:2] = ["--impl", found.impl]
    return program.become(arguments)


if __name__ == "__main__":
    sys.exit(main())
