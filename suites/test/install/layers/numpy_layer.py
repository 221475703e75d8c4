"""numpy_layer.py: a layer under test, as a user of the wheel writes it: it can divide rows, and nothing else."""
from __future__ import annotations

from lockstep.adapter import Adapter, serve


class Divider(Adapter):
    """Gives each device the same number of rows, and the last one what is left."""

    devices = ["a", "b", "c", "d", "e", "f", "g", "h"]
    dialects = {"no_rows": "empty"}

    def split(self, rows: int, devices: int) -> list[int]:
        if rows == 0:
            return [0] * devices
        most = -(-rows // devices)
        return [min(most, rows - at) for at in range(0, rows, most)]


if __name__ == "__main__":
    serve(Divider())
