"""devices.py: where PyTorch's programs run: the host, or GPUs. Nothing here is measured.

On GPUs float32 is float32, unless tf32 is asked for: TensorFloat-32 is switched off or on, never left as
it comes. The check of every step would not find it: the data of many are small integers, which it has exactly.
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
    """RuntimeError where it cannot be had. Of products and of cuDNN, which has a switch of its own."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32:
        raise RuntimeError("TF32 cannot be switched off")
    if torch.get_float32_matmul_precision() != "highest":
        raise RuntimeError("float32 products are not done in float32")


def use_tf32(torch: Any) -> None:
    """RuntimeError where it cannot be had. The precision that is named `high` is TF32."""
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    if not (torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32):
        raise RuntimeError("TF32 cannot be switched on")
    if torch.get_float32_matmul_precision() != "high":
        raise RuntimeError("float32 products are not done in TF32")


# What PyTorch's processes find in their environment on GPUs: 0 forbids TF32 to all libraries.
ENVIRONMENTS = {"f32": {"NVIDIA_TF32_OVERRIDE": "0"}, "tf32": {}}
IN_MATH = {"f32": exact_float32, "tf32": use_tf32}


def begin(torch: Any, kind: str, rank: int, math: str = "f32") -> None:
    """Of a process, before it makes anything. Its GPU is then the current one: NCCL, and what names no
    device, would take the first in all of them."""
    if kind == "cuda":
        IN_MATH[math](torch)
        torch.cuda.set_device(rank)
    else:
        torch.set_num_threads(1)


def device_of(torch: Any, kind: str, rank: int = 0) -> Any:
    """Of the model and its inputs: a rank's own GPU, and as in the tutorial the first one where one
    process has all."""
    return torch.device(f"cuda:{rank}" if kind == "cuda" else "cpu")


def gpus_of(job: dict) -> list[int]:
    """Those that a process uses: nothing of the others' is touched, where it would leave a context."""
    return [job["rank"]] if job["ranks"] > 1 else list(range(job["devices"]))


class Drain:
    """Waits until every GPU has done what it was given: a launched kernel is no work done. Called
    before the clock is started and before it is stopped."""

    def __init__(self, torch: Any, kind: str, gpus: list[int]):
        self.synchronize = torch.cuda.synchronize if kind == "cuda" else None
        self.devices = gpus

    def __call__(self) -> None:
        if self.synchronize is not None:
            for device in self.devices:
                self.synchronize(device)
