"""adapter.py: any layer under test, in Python with numpy: derive from Adapter, write the operations that your
layer has, and serve it (suites/impls/exec/PROTOCOL.md is what happens then).

    from lockstep.adapter import Adapter, serve

    class Mine(Adapter):
        name, version, devices = "my layer", "1.0", ["a", "b"]

        def split(self, rows, devices):
            return my_layer.sizes(rows, devices)

    if __name__ == "__main__":
        serve(Mine())

Each of these methods is the capability of its name; one that is not there is not claimed:

    split(rows, devices)                     the sizes
    scatter(tensor, devices, dim[, sizes])   the shards
    gather(tensors, dim, device)             the whole
    broadcast(tensors, devices[, buffer_bytes])   for each device a list of copies
    reduce(lists, device[, buffer_bytes])    for each tensor of a list the sum over the lists
    apply(calls, grad, train)                for each call a list of outputs; a call has
                                             description, device, tensors
    buckets(sizes, dtypes, limits)           the bucket of each tensor, the limit of each bucket
    sampler(items, ranks, rank, drop_last)   the indices

Tensors are what `put` returns. Without `put` and `get` they are arrays of numpy, on the host."""
from __future__ import annotations

import inspect
import os
import sys
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence, TextIO

import numpy as np

from .arrays import Array
from .errors import HOST, Refusal, report_of
from .layer import version_of
from .protocol import Request, array_json, error_json, read_request, write_line

VERSION = 1
DTYPES: dict[str, np.dtype[Any]] = {
    "f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "i32": np.dtype("<i4"), "i64": np.dtype("<i8")}
WORDS = {dtype: word for word, dtype in DTYPES.items()}
METHODS = ("split", "scatter", "gather", "broadcast", "reduce", "apply", "buckets", "sampler")
OPERATIONS = ("open", "close", "reset", *METHODS, "model_open", "model_close", "params", "param", "set", "get",
              "to", "zero_grad", "forward", "backward", "step")


@dataclass
class Call:
    """One call of apply."""

    description: str
    device: int
    tensors: list[Any]


class Adapter:
    """A layer under test, and how its tensors are made and read."""

    name = ""  # by default that of the class
    version = ""  # by default that of its module, its distribution or its file
    devices: Sequence[Any] = ()  # or their names
    buffer_bytes = 0  # that broadcast and reduce have if none is asked for
    dialects: Mapping[str, str] = {}

    def put(self, array: np.ndarray[Any, Any], device: int) -> Any:
        """Makes a tensor on a device. On the host it is the array."""
        return array

    def get(self, tensor: Any) -> np.ndarray[Any, Any]:
        """Returns the elements of a tensor."""
        return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)

    def device_of(self, tensor: Any) -> int:
        """Says on which device a tensor lies that is no array."""
        if tensor.device not in self.devices:
            raise Refusal("fault", f"a tensor of shape {tensor.shape} lies on {tensor.device}, no device of the layer")
        return list(self.devices).index(tensor.device)

    def finish(self) -> None:
        """Waits until all devices have done what they were asked to."""

    def reset(self) -> None:
        """Forgets everything, before each case."""

    def choose(self, devices: str, options: str) -> Sequence[Any]:
        """Reads --devices and --impl-options, and returns the devices to be used."""
        if options:
            raise Refusal("inval", f"options '{options[:40]}': there are none")
        if devices not in ("", "all", "host"):
            raise Refusal("nodev", f"devices '{devices[:40]}': there are 'all' and 'host'")
        return () if devices == "host" else self.devices

    def capabilities(self) -> list[str]:
        """Lists what is claimed: the methods that the class has."""
        return [method for method in METHODS if hasattr(self, method)]

    def tensor_of(self, array: Array) -> Any:
        """Makes a tensor of an array of the protocol."""
        if array.dtype not in DTYPES:
            raise Refusal("inval", f"unknown type of array '{array.dtype}'")
        elements = np.frombuffer(array.data, DTYPES[array.dtype]).reshape(array.dims).copy()
        return elements if array.device == HOST else self.put(elements, array.device)

    def array_of(self, tensor: Any) -> Array | None:
        """Reads a tensor. A tensor of no dimensions stays one."""
        on_host = type(tensor) is np.ndarray or isinstance(tensor, np.generic)
        elements = np.asarray(tensor if on_host else self.get(tensor), order="C")
        if elements.dtype not in WORDS:
            raise Refusal("notsup", f"a result of type {elements.dtype}")
        device = HOST if on_host else self.device_of(tensor)
        return Array(WORDS[elements.dtype], list(elements.shape), device, False, elements.tobytes())


def takes(method: Callable[..., Any], name: str) -> bool:
    """Whether a method has a parameter of that name."""
    return name in inspect.signature(method).parameters


class Session:
    """One impl_session: a method for each operation of the protocol. What is written to see who shares memory
    with whom is written here, with the operators of the tensors: `+=` makes a new tensor where none can be
    written to, and then nothing is shared."""

    def __init__(self, layer: Adapter) -> None:
        self.layer = layer

    def open(self, request: Request) -> dict[str, Any]:
        """Says what is under test, and what it can do."""
        self.check_version(request)
        devices = self.layer.choose(request.text("devices", ""), request.text("options", ""))
        return {"name": self.layer.name or type(self.layer).__name__, "version": self.layer.version or version_of(type(self.layer)),
                "devices": [] if request.flag("host_only") else [str(device) for device in devices],
                "capabilities": self.layer.capabilities(), "dialects": dict(self.layer.dialects)}

    def check_version(self, request: Request) -> None:
        """Refuses what another version of the suite asks for."""
        if request.integer("version") != VERSION:
            raise Refusal("notsup", f"version {request.integer('version')}, not {VERSION}")

    def reset(self, _request: Request) -> dict[str, Any]:
        """Forgets everything."""
        self.layer.reset()
        return {}

    def close(self, request: Request) -> dict[str, Any]:
        """Ends the session."""
        return self.reset(request)

    def json(self, tensor: Any) -> dict[str, Any] | None:
        """Reads a tensor."""
        return array_json(self.layer.array_of(tensor))

    def after(self, tensors: Sequence[Any], read: Any) -> dict[str, Any] | None:
        """Adds 1 to every element of the tensors, and reads another one then."""
        for tensor in tensors:
            tensor += 1
        self.layer.finish()
        return self.json(read)

    def tensors(self, request: Request, name: str) -> list[Any]:
        return [self.layer.tensor_of(array) for array in request.arrays(name)]

    def own(self, method: str) -> Any:
        """Returns a method of the layer, which need not have it."""
        if not hasattr(self.layer, method):
            raise Refusal("notsup", f"{self.layer.name or 'the layer'} has no {method}")
        return getattr(self.layer, method)

    def split(self, request: Request) -> dict[str, Any]:
        return {"size": [int(size) for size in self.own("split")(request.integer("rows"), request.integer("devices"))]}

    def buckets(self, request: Request) -> dict[str, Any]:
        bucket, limit_of = self.own("buckets")(request.integers("bytes"), request.words("dtype"),
                                               request.integers("limits"))
        return {"bucket": bucket, "limit_of": limit_of}

    def sampler(self, request: Request) -> dict[str, Any]:
        return {"index": self.own("sampler")(request.integer("items"), request.integer("ranks"),
                                             request.integer("rank"), request.flag("drop_last"))}

    def scatter(self, request: Request) -> dict[str, Any]:
        scatter, sizes = self.own("scatter"), {}
        if request.has("size"):
            sizes = {"sizes": request.integers("size")}
            if not takes(scatter, "sizes"):
                raise Refusal("notsup", "scatter takes no sizes")
        source = self.layer.tensor_of(request.array("input"))
        shards = scatter(source, request.integers("devices"), request.integer("dim"), **sizes)
        self.layer.finish()
        return {"shards": [self.json(shard) for shard in shards],
                "source_after": self.after(shards, source) if request.flag("source_after") else None}

    def gather(self, request: Request) -> dict[str, Any]:
        gather, parts = self.own("gather"), self.tensors(request, "parts")
        out = gather(parts, request.integer("dim"), request.integer("device"))
        self.layer.finish()
        return {"out": self.json(out),
                "out_after": self.after(parts, out) if request.flag("out_after") else None}

    def coalesced(self, request: Request, method: str, *arguments: Any) -> Any:
        """Calls broadcast or reduce."""
        own = self.own(method)
        room = {"buffer_bytes": request.integer("buffer_bytes", 0)} if takes(own, "buffer_bytes") else {}
        return [*own(*arguments, **room)]

    def broadcast(self, request: Request) -> dict[str, Any]:
        sources, poke = self.tensors(request, "src"), request.integer("poke", -1)
        copies = [[*own] for own in self.coalesced(request, "broadcast", sources, request.integers("devices"))]
        for own in copies if poke >= 0 else ():
            own[poke] += 1
        self.layer.finish()
        return {"copies": [self.json(copy) for own in copies for copy in own],
                "src_after": [self.json(source) for source in sources] if request.flag("src_after") else None,
                "default_bytes": self.layer.buffer_bytes}

    def reduce(self, request: Request) -> dict[str, Any]:
        tensors, n, poke = self.tensors(request, "src"), request.integer("n"), request.integer("poke", -1)
        lists = [tensors[i * n:(i + 1) * n] for i in range(request.integer("k"))]
        sums = self.coalesced(request, "reduce", lists, request.integer("device"))
        if poke >= 0:
            sums[poke] -= sums[poke]
        self.layer.finish()
        return {"sums": [self.json(own) for own in sums], "default_bytes": self.layer.buffer_bytes}

    def apply(self, request: Request) -> dict[str, Any]:
        outputs = self.own("apply")(self.calls(request), request.flag("grad"), request.flag("train"))
        self.layer.finish()
        return {"calls": self.outputs(outputs), "trace": None}

    def calls(self, request: Request) -> list[Call]:
        return [Call(call.text("description"), call.integer("device"), self.tensors(call, "in"))
                for call in request.requests("calls")]

    def outputs(self, calls: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        return [{"out": [self.json(tensor) for tensor in own]} for own in calls]


def answers_only() -> TextIO:
    """Keeps standard output for the answers, also from C code and child processes. Python also
    writes no files next to the sources."""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers


def answer_all(answers: TextIO, session: Any) -> None:
    """Reads one request line and writes one answer line, until the session is closed, or there are no
    more requests."""
    for line in sys.stdin:
        number = None
        try:
            fields = read_request(line)
            number = fields.get("id")
            if fields["op"] not in OPERATIONS or not hasattr(session, fields["op"]):
                raise Refusal("notsup", f"no operation '{fields['op'][:40]}'")
            answer = {"id": number, "ok": getattr(session, fields["op"])(Request(fields))}
        except Exception as error:
            answer = {"id": number, "error": error_json(report_of(error))}
            fields = {}
        write_line(answers, answer)
        if fields.get("op") == "close":
            return
    session.close(Request({}))


def run(work: Callable[[TextIO], None]) -> int:
    """Answers, by a function; never ends without a message on standard error."""
    answers = answers_only()
    try:
        work(answers)
    except KeyboardInterrupt:
        return 130
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve(layer: Adapter) -> None:
    """Answers for a layer until there are no more requests, and ends the process."""
    sys.exit(run(lambda answers: answer_all(answers, Session(layer))))
