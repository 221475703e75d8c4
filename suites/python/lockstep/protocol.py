"""protocol.py: JSON lines. Requests are read with their types checked; arrays travel as bytes."""
from __future__ import annotations

import json
import math
from typing import Any, TextIO

from .arrays import Array
from .errors import LONGEST_TEXT, NO_REPLICA, NOWHERE, Refusal, Report

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
        array = Array(value["dtype"], dims, int(value.get("device", NOWHERE)),
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

    def integer(self, name: str, default: int | None = None) -> int:
        """Returns an integer; large ones are written as strings."""
        value = self.fields.get(name, default)
        if isinstance(value, str) and value.isdecimal():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong(name, "an integer")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self.fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise wrong(name, "a number")
        return float(value)

    def text(self, name: str, default: str | None = None) -> str:
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            raise wrong(name, "a string")
        return value

    def flag(self, name: str) -> bool:
        """Returns a flag; false if it is absent."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise wrong(name, "true or false")
        return value

    def entries(self, name: str) -> list[Any]:
        """Returns a list; it is empty if the field is absent or null."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, list):
            raise wrong(name, "a list")
        return value or []

    def integers(self, name: str) -> list[int]:
        return [Request({name: value}).integer(name) for value in self.entries(name)]

    def words(self, name: str) -> list[str]:
        values = self.entries(name)
        if not all(isinstance(v, str) for v in values):
            raise wrong(name, "a list of strings")
        return values

    def flags(self, name: str) -> list[bool]:
        values = self.entries(name)
        if not all(isinstance(v, bool) for v in values):
            raise wrong(name, "a list of true and false")
        return values

    def object(self, name: str) -> Request:
        """Returns the fields of an object."""
        value = self.fields.get(name)
        if not isinstance(value, dict):
            raise wrong(name, "an object")
        return Request(value)

    def requests(self, name: str) -> list[Request]:
        """Returns a list of objects."""
        values = self.entries(name)
        if not all(isinstance(v, dict) for v in values):
            raise wrong(name, "a list of objects")
        return [Request(value) for value in values]

    def array_or_none(self, name: str) -> Array | None:
        return read_array(self.fields.get(name), name)

    def array(self, name: str) -> Array:
        array = self.array_or_none(name)
        if array is None:
            raise wrong(name, "an array")
        return array

    def arrays_or_none(self, name: str) -> list[Array | None]:
        return [read_array(value, name) for value in self.entries(name)]

    def arrays(self, name: str) -> list[Array]:
        arrays = self.arrays_or_none(name)
        if any(array is None for array in arrays):
            raise wrong(name, "a list of arrays")
        return [array for array in arrays if array is not None]


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
            "replica": None if report.replica == NO_REPLICA else report.replica,
            "device": None if report.device == NOWHERE else report.device,
            "device_also": None if report.device_also == NOWHERE else report.device_also}


def write_line(out: TextIO, fields: dict[str, Any]) -> None:
    """Writes one answer."""
    out.write(json.dumps(fields, allow_nan=False, separators=(",", ":")) + "\n")
    out.flush()
