"""spec.py: one layer's JSON object, read field by field. A field that is not known is an error."""
from __future__ import annotations

import math
from typing import Any, Callable, TypeVar

import torch

from ..errors import HOST, Refusal, there
from .arrays import device_of

T = TypeVar("T")
COMMON = {"kind", "name", "device", "frozen"}


def bad(field: str, must: str) -> Refusal:
    """A field of the wrong form."""
    return Refusal("inval", f"field '{field}' must be {must}")


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


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

    def get(self, field: str, default: T, fits: Callable[[Any], bool], must: str) -> T:
        """Returns the value of a field, or the default if it is absent."""
        self.used.add(field)
        value: T | None = self.fields.get(field)
        if value is not None and not fits(value):
            raise bad(field, must)
        return default if value is None else value

    def integer(self, field: str, default: int, least: int = -1000000) -> int:
        """A whole number."""
        return self.get(field, default, lambda value: type(value) is int and least <= value <= 1000000,
                        f"an integer from {least} to a million")

    def size(self, field: str, default: int | None = None) -> int:
        """Returns a size; it is required if there is no default."""
        if default is None and field not in self.fields:
            raise Refusal("inval", f"a '{self.kind}' layer needs '{field}'")
        return self.integer(field, default or 1, 1)

    def number(self, field: str, default: float) -> float:
        """A real number."""
        return float(self.get(field, default, lambda value: is_number(value) and math.isfinite(value), "a finite number"))

    def numbers(self, field: str) -> list[float]:
        """A list of numbers, empty if absent."""
        return self.get(field, [], lambda value: isinstance(value, list) and all(map(is_number, value)), "a list of numbers")

    def integers(self, field: str) -> list[int]:
        """A list of whole numbers, empty if absent."""
        values = self.numbers(field)
        if not all(math.isfinite(v) and v == int(v) for v in values):
            raise bad(field, "a list of integers")
        return [int(v) for v in values]

    def flag(self, field: str, default: bool) -> bool:
        """true or false."""
        return self.get(field, default, lambda value: isinstance(value, bool), "true or false")

    def text(self, field: str, default: str, choices: tuple[str, ...] = ()) -> str:
        """A string."""
        return self.get(field, default,
                        lambda value: isinstance(value, str) and len(value) < 128 and (not choices or value in choices),
                        "one of " + ", ".join(choices) if choices else "a short string")

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
        return torch.tensor(values, dtype=dtype).reshape(dims).to(device_of(self.device))

    def frozen(self, name: str) -> bool:
        """Whether a parameter needs no gradient."""
        value: Any = self.get("frozen", False, lambda value: isinstance(value, (bool, list)), "true, false or a list of parameters")
        return name in value if isinstance(value, list) else value

    def finish(self) -> None:
        """Checks that every field has been read."""
        unknown = sorted(set(self.fields) - self.used)
        if unknown:
            raise Refusal("inval", f"a '{self.kind}' layer has no field '{unknown[0][:40]}'")
        frozen = self.fields.get("frozen")
        if isinstance(frozen, list) and not set(frozen) <= set(self.names):
            raise bad("frozen", "a list of the layer's parameters")
