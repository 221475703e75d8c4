"""spec.py: one layer's JSON object, read field by field. A field that is not known is an error."""
from __future__ import annotations

import math
from typing import Any

import torch

from ..errors import HOST, Refusal, there
from .arrays import device_of

COMMON = {"kind", "name", "device", "frozen"}


def bad(field: str, must: str) -> Refusal:
    """A field of the wrong form."""
    return Refusal("inval", f"field '{field}' must be {must}")


class Spec:
    """The fields of one layer. `devices` is how many the session has."""

    def __init__(self, fields: Any, device: int, devices: int):
        if not isinstance(fields, dict) or not isinstance(fields.get("kind"), str):
            raise Refusal("inval", "a layer must be an object with a 'kind'")
        self.fields = fields
        self.kind: str = fields["kind"]
        self.devices = devices
        self.used = set(COMMON)
        self.names: list[str] = []
        self.name = self.text("name", "")
        self.device = self.device_number("device", device) if self.kind != "to" else device

    def get(self, field: str) -> Any:
        """Returns the value; None if it is absent."""
        self.used.add(field)
        return self.fields.get(field)

    def integer(self, field: str, default: int, least: int = -1000000) -> int:
        """A whole number."""
        value = self.get(field)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 1000000:
            raise bad(field, f"an integer from {least} to a million")
        return value

    def size(self, field: str, default: int | None = None) -> int:
        """Returns a size; it is required if there is no default."""
        if default is None and field not in self.fields:
            raise Refusal("inval", f"a '{self.kind}' layer needs '{field}'")
        return self.integer(field, default or 1, 1)

    def number(self, field: str, default: float) -> float:
        """A real number."""
        value = self.get(field)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise bad(field, "a number")
        if not math.isfinite(value):
            raise bad(field, "a finite number")
        return float(value)

    def numbers(self, field: str) -> list[float]:
        """A list of numbers, empty if absent."""
        value = self.get(field)
        if value is None:
            return []
        if not isinstance(value, list) or not all(
                isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
            raise bad(field, "a list of numbers")
        return value

    def integers(self, field: str) -> list[int]:
        """A list of whole numbers, empty if absent."""
        values = self.numbers(field)
        if not all(math.isfinite(v) and v == int(v) for v in values):
            raise bad(field, "a list of integers")
        return [int(v) for v in values]

    def flag(self, field: str, default: bool) -> bool:
        """true or false."""
        value = self.get(field)
        if value is not None and not isinstance(value, bool):
            raise bad(field, "true or false")
        return default if value is None else value

    def text(self, field: str, default: str, choices: tuple[str, ...] = ()) -> str:
        """A string."""
        value = self.get(field)
        if value is None:
            return default
        if not isinstance(value, str) or len(value) > 127 or (choices and value not in choices):
            raise bad(field, "one of " + ", ".join(choices) if choices else "a short string")
        return value

    def device_number(self, field: str, default: int) -> int:
        """A device of the session, or the host."""
        value = self.integer(field, default)
        if field in self.fields and not HOST <= value < self.devices:
            raise Refusal("nodev", f"field '{field}': no device {value}, {there(self.devices)}")
        return value

    def dtype(self) -> torch.dtype:
        """The type of the parameters and buffers of a layer that can have others than float32."""
        half, double = self.flag("half", False), self.flag("double", False)
        if half and double:
            raise bad("half", "absent, or 'double'")
        return torch.half if half else torch.double if double else torch.float

    def values(self, name: str, dims: tuple[int, ...], dtype: torch.dtype = torch.float) -> torch.Tensor:
        """The initial values of a parameter or buffer."""
        values = self.numbers(name)
        self.names.append(name)
        if name not in self.fields:
            return torch.zeros(dims, device=device_of(self.device), dtype=dtype)
        if len(values) != math.prod(dims):
            raise bad(name, f"a list of {math.prod(dims)} numbers")
        tensor = torch.tensor(values, dtype=dtype).reshape(dims)
        return tensor.to(device_of(self.device))

    def frozen(self, name: str) -> bool:
        """Whether a parameter needs no gradient."""
        value = self.fields.get("frozen", False)
        if isinstance(value, bool):
            return value
        if not isinstance(value, list):
            raise bad("frozen", "true, false or a list of parameters")
        return name in value

    def finish(self) -> None:
        """Checks that every field has been read."""
        unknown = sorted(set(self.fields) - self.used)
        if unknown:
            raise Refusal("inval", f"a '{self.kind}' layer has no field '{unknown[0][:40]}'")
        frozen = self.fields.get("frozen")
        if isinstance(frozen, list) and not set(frozen) <= set(self.names):
            raise bad("frozen", "a list of the layer's parameters")
