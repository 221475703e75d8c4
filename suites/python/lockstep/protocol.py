"""protocol.py: JSON lines. Requests are read with their types checked; arrays travel as bytes."""
from __future__ import annotations

import json
import math
from typing import Any, TextIO, TypeVar

from .arrays import Array
from .errors import LONGEST_TEXT, Refusal, Report

T = TypeVar("T")
ELEMENT = {"f32": 4, "f64": 8, "i32": 4, "i64": 8}


def wrong(name: str, must: str) -> Refusal:
    """A field of the wrong type: the request is wrong."""
    return Refusal("broken", f"the request's '{name}' is not {must}")


def read_array(value: Any, name: str) -> Array | None:
    """An array, or None for null."""
    if value is None:
        return None
    try:
        dims = [int(dim) for dim in value["dims"]]
        array = Array(value["dtype"], dims, int(value["device"]),
                      bool(value.get("needs_grad", False)), bytes.fromhex(value["data"]))
        right = len(array.data) == math.prod(dims) * ELEMENT[array.dtype]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise wrong(name, "an array") from None
    if not right:
        raise wrong(name, "an array with as many bytes as its dimensions say")
    return array


def array_json(array: Array | None) -> dict[str, Any] | None:
    """Converts an array, or None, to JSON."""
    if array is None:
        return None
    return {"dtype": array.dtype, "dims": array.dims, "device": array.device,
            "needs_grad": array.needs_grad, "data": array.data.hex()}


class Request:
    """The fields of one request, or of an object in it."""

    def __init__(self, fields: dict[str, Any]):
        self.fields = fields

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.fields.get(name) is not None

    def value(self, name: str, kind: type[T] | tuple[type[T], ...], must: str, default: Any = None) -> T:
        """Returns a field, which must be of that kind."""
        value = self.fields.get(name, default)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise wrong(name, must)
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """Returns an integer; large ones are written as strings."""
        value = self.fields.get(name)
        if isinstance(value, str) and value.isdecimal():
            return int(value)
        return self.value(name, int, "an integer", default)

    def number(self, name: str, default: float | None = None) -> float:
        return float(self.value(name, (int, float), "a number", default))

    def text(self, name: str, default: str | None = None) -> str:
        return self.value(name, str, "a string", default)

    def flag(self, name: str) -> bool:
        """Returns a flag; false if it is absent."""
        return self.value(name, bool, "true or false", False)

    def object(self, name: str) -> Request:
        """Returns the fields of an object."""
        fields: Any = self.value(name, dict, "an object")
        return Request(fields)

    def array_or_none(self, name: str) -> Array | None:
        return read_array(self.fields.get(name), name)

    def array(self, name: str) -> Array:
        array = self.array_or_none(name)
        if array is None:
            raise wrong(name, "an array")
        return array

    def entries(self, name: str) -> list[Request]:
        """Returns a list, each of its entries as a field of that name; it is empty if the field is absent or null."""
        values: list[Any] = self.value(name, list, "a list") if self.has(name) else []
        return [Request({name: value}) for value in values]

    def integers(self, name: str) -> list[int]:
        return [entry.integer(name) for entry in self.entries(name)]

    def words(self, name: str) -> list[str]:
        return [entry.text(name) for entry in self.entries(name)]

    def flags(self, name: str) -> list[bool]:
        return [entry.flag(name) for entry in self.entries(name)]

    def requests(self, name: str) -> list[Request]:
        return [entry.object(name) for entry in self.entries(name)]

    def arrays_or_none(self, name: str) -> list[Array | None]:
        return [entry.array_or_none(name) for entry in self.entries(name)]

    def arrays(self, name: str) -> list[Array]:
        return [entry.array(name) for entry in self.entries(name)]


def read_request(line: str) -> dict[str, Any]:
    """Reads one line."""
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise Refusal("broken", f"not JSON: {error}") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("op"), str):
        raise Refusal("broken", "a request is an object with an 'op'")
    return fields


def error_json(report: Report) -> dict[str, Any]:
    """Converts an error to JSON, with one line of plain text."""
    text = "".join(c if c.isprintable() else " " for c in report.text)[:LONGEST_TEXT]
    return {"status": report.status, "text": text or "no text",
            "replica": report.replica, "device": report.device, "device_also": report.device_also}


def write_line(out: TextIO, fields: dict[str, Any]) -> None:
    """Writes one answer."""
    out.write(json.dumps(fields, allow_nan=False, separators=(",", ":")) + "\n")
    out.flush()
