"""devices.py: where PyTorch's programs run: the host, or GPUs. Nothing here is measured.

On GPUs float32 is float32: TensorFloat-32 is switched off. The check of every step would not find it:
the data are small integers, which it has exactly.
"""
from __future__ import annotations

import json
import subprocess
from typing import Any

PROBE = """import json, sys
import torch
found = {"torch": torch.__version__, "cuda": torch.version.cuda, "count": 0, "names": [], "why": ""}
if torch.version.cuda is None:
    found["why"] = "PyTorch " + torch.__version__ + " is without CUDA"
else:
    try:
        torch.cuda.init()
        found["count"] = torch.cuda.device_count()
        found["names"] = [torch.cuda.get_device_name(i) for i in range(found["count"])]
    except Exception as error:
        found["why"] = "PyTorch " + torch.__version__ + ": " + str(error)
    if found["count"] == 0 and not found["why"]:
        found["why"] = "PyTorch " + torch.__version__ + " sees no GPU"
print(json.dumps(found))
"""


class NoGpu(Exception):
    """There is none, or one of the programs cannot use it: a reason to skip."""


def probe(python: str) -> dict[str, Any]:
    """What PyTorch sees, asked in a process of its own: here nothing of CUDA must be started."""
    done = subprocess.run([python, "-B", "-c", PROBE], capture_output=True, text=True, check=False,
                          timeout=300)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise NoGpu(f"PyTorch does not start: {said[-1][:160]}") from None
    if found["why"] or found["count"] < 1:
        raise NoGpu(" ".join((found["why"] or "PyTorch sees no GPU").split())[:200])
    return found


def lockstep_devices(kind: str, count: int) -> str:
    """As `lockstep --devices` has it."""
    if kind == "cpu":
        return f"virt:{count}"
    return "cuda:0" if count == 1 else f"cuda:0-{count - 1}"


def exact_float32(torch: Any) -> None:
    """RuntimeError where it cannot be had."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32:
        raise RuntimeError("TF32 cannot be switched off")
    if torch.get_float32_matmul_precision() != "highest":
        raise RuntimeError("float32 products are not done in float32")


def device_of(torch: Any, kind: str) -> Any:
    """Of the model and its inputs: as in the tutorial, the first GPU."""
    return torch.device("cuda:0" if kind == "cuda" else "cpu")


class Drain:
    """Waits until every GPU has done what it was given: a launched kernel is no work done. Called
    before the clock is started and before it is stopped."""

    def __init__(self, torch: Any, kind: str, count: int):
        self.synchronize = torch.cuda.synchronize if kind == "cuda" else None
        self.devices = range(count)

    def __call__(self) -> None:
        if self.synchronize is not None:
            for device in self.devices:
                self.synchronize(device)
