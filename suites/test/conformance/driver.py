"""driver.py: asks an adapter by the protocol, for the tests and for trying things out by hand."""
from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2] / "python"
ADAPTER = ("-m", "lockstep.torch")


class Refused(Exception):
    """The adapter's answer was an error."""

    def __init__(self, error: dict[str, Any]):
        super().__init__(f"{error['status']}: {error['text']}")
        self.error = error


def array(values: list[float], dims: list[int] | None = None, needs_grad: bool = False) -> dict[str, Any]:
    """An f32 array on the CPU."""
    return {"dtype": "f32", "dims": [len(values)] if dims is None else dims, "device": -1,
            "needs_grad": needs_grad, "data": struct.pack(f"<{len(values)}f", *values).hex()}


def values(answer: dict[str, Any] | None) -> list[float] | None:
    """Returns the numbers of an array."""
    if answer is None:
        return None
    data = bytes.fromhex(answer["data"])
    letter, size = {"f32": ("f", 4), "f64": ("d", 8), "i32": ("i", 4), "i64": ("q", 8)}[answer["dtype"]]
    return list(struct.unpack(f"<{len(data) // size}{letter}", data))


class Driver:
    """An adapter process with an open session."""

    def __init__(self, options: str = "", program: tuple[str, ...] = ADAPTER, python: str = sys.executable, **process: Any):
        process["env"] = {**process.get("env", os.environ), "PYTHONPATH": str(PACKAGE)}
        self.process = subprocess.Popen([python, *program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, **process)
        assert self.process.stdin and self.process.stdout
        self.requests, self.answers, self.number = self.process.stdin, self.process.stdout, 0
        try:
            self.about = self.ask("open", version=1, devices="host", options=options, host_only=False, seed=0)
        except Refused:
            self.close()
            raise

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Asks for one operation."""
        self.number += 1
        return self.line(json.dumps({"id": self.number, "op": op, **fields}))

    def line(self, text: str) -> dict[str, Any]:
        """Sends one line unchanged."""
        self.requests.write(text + "\n")
        self.requests.flush()
        answer: dict[str, dict[str, Any]] = json.loads(self.answers.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["ok"]

    def close(self) -> int:
        """Closes the input, and returns the exit status."""
        self.requests.close()
        status = self.process.wait(timeout=10)
        self.answers.close()
        return status

    def model(self, *layers: dict[str, Any], ranks: int = 1) -> Model:
        """Opens a model of these layers."""
        text = json.dumps({"layers": layers})
        return Model(self, self.ask("model_open", description=text, ranks=ranks)["model"], ranks)


class Model:
    """A model in the adapter."""

    def __init__(self, driver: Driver, number: int, ranks: int):
        self.driver, self.number, self.ranks = driver, number, ranks

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Asks for one operation on the model."""
        return self.driver.ask(op, model=self.number, **fields)

    def forward(self, *inputs: list[float] | None, needs_grad: bool = True,
                **options: Any) -> list[list[float] | None]:
        """Makes a forward with one input for each rank, and returns the flat outputs."""
        fields = {"args": [], "grad": True, "train": True, "active": None, "no_sync": False,
                  "trace": False, **options}
        arrays = [None if own is None else array(own, needs_grad=needs_grad) for own in inputs]
        answer = self.ask("forward", n_in=1, **{"in": arrays}, **fields)
        return [values(out) for out in answer["out"]]

    def backward(self, *gradients: float | list[float]) -> list[list[float] | None]:
        """Makes a backward. The default gradients are ones; a gradient for an output without
        dimensions is a number."""
        given = [array(own) if isinstance(own, list) else array([own], []) for own in gradients]
        answer = self.ask("backward", grad_out=given, n_grad_out=1 if given else 0,
                          n_in=self.ranks, trace=False)
        return [values(own) for own in answer["grad_in"]]

    def get(self, what: str, i: int, rank: int = 0) -> list[float] | None:
        """Returns a value or a gradient."""
        return values(self.ask("get", rank=rank, what=what, i=i)["array"])

    def every(self, what: str, i: int) -> list[list[float] | None]:
        """Returns a value or a gradient of all ranks."""
        return [self.get(what, i, rank) for rank in range(self.ranks)]

    def set(self, what: str, i: int, new: list[float] | None, rank: int = 0) -> None:
        """Sets a value or a gradient."""
        self.ask("set", rank=rank, what=what, i=i, array=None if new is None else array(new))

    def step(self, lr: float = 1.0, momentum: float = 0.0) -> None:
        """Makes a step of SGD."""
        self.ask("step", lr=lr, momentum=momentum)

    def zero_grad(self) -> None:
        """All gradients become none."""
        self.ask("zero_grad")
