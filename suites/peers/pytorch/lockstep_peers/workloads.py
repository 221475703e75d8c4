"""workloads.py: names of workloads, and the split of a batch; needs nothing but Python."""
from __future__ import annotations

# What is no chain of linear layers: 8 x 8 numbers a row in, 10 out.
MODELS = ("cnn", "lstm")


def sizes_of(workload: str) -> list[int]:
    """The widths of a workload by name (of a model: first and last); ValueError: it is none."""
    if workload == "tutorial":
        return [5, 2]
    if workload in MODELS:
        return [64, 10]
    kind, _, widths = workload.partition(":")
    if kind != "mlp" or not all(w.isascii() and w.isdigit() for w in widths.split(",")):
        raise ValueError(f"unknown workload '{workload[:60]}'; known are tutorial, mlp:SIZES, cnn and "
                         "lstm")
    sizes = [int(width) for width in widths.split(",")]
    if not 2 <= len(sizes) <= 16 or not all(1 <= size <= 65536 for size in sizes):
        raise ValueError(f"{workload[:60]}: 2 to 16 sizes of 1 to 65536 are allowed")
    return sizes


def shards_of(rows: int, devices: int) -> list[int]:
    """Rows of each device: chunks of ceil(rows / devices), and none for those left over."""
    chunk = -(-rows // devices)
    return [max(0, min(chunk, rows - chunk * device)) for device in range(devices)]
