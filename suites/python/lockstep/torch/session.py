"""session.py: the operations of the protocol. Requests and answers are plain JSON values whose
fields have the names of impl.h; arrays are read and written by protocol.py."""
from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

import torch

from .. import adapter
from ..errors import HOST, Refusal, Reported, there
from ..protocol import Request, array_json
from .description import of_ranks
from .model import Forward, Model, Result, Step
from .nursery import Nursery
from .place import Visit
from .primitives import Functions
from .ranks import DistributedModel, Pool
from .under_test import About, Options

MAX_DEVICES = 64
CLAIMED = ("ddp", "batch_norm", "trace", "arguments", "unlike_ranks", "transformer", "strides", "double", "half", "scalars",
           "calls")  # of every layer
WITH_HOOK = ("launches", "overlap")  # a communication hook tells; not without being asked for
ON_CUDA = ("parallel", "functional")

# The choices of PyTorch's Python code, if the rules leave one (suites/RULES.md).
DIALECTS = {
    "replica_0": "alias",
    "unused": "zero",
    "unequal_rows": "truncate",
    "single_output": "ignore",
    "failing": "lowest",
    "no_rows": "empty",
    "zero_size": "accept",
    "duplicates": "accept",
    "nested": "refuse",
    "shard_0": "view",
    "functional_host": "refuse",
    "empty_ids": "refuse",
    "borrowed": "refuse",
    "mixed_ranks": "accept",
    "arguments_only": "all",
    "sums": "listed",
}
FLAGS = ("find_unused_parameters", "divide_by_active", "trace_buckets")


def choose_devices(words: str, host_only: bool) -> int:
    """Reads --devices: "" or "cuda:all", "cuda:0,2", "host". CUDA reads the environment once,
    before its first use, so that the suite's device i is the i-th of those that are named."""
    if host_only or words == "host":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        return 0
    numbers = words.removeprefix("cuda:")
    if words in ("", "cuda:all"):
        return min(torch.cuda.device_count(), MAX_DEVICES)
    if not words.startswith("cuda:") or not numbers.replace(",", "").isdigit():
        raise Refusal("nodev", f"devices '{words[:40]}': PyTorch has 'cuda:all', 'cuda:0,1' and "
                               "'host'")
    os.environ["CUDA_VISIBLE_DEVICES"] = numbers
    found, wanted = torch.cuda.device_count(), len(numbers.split(","))
    if found != wanted:
        raise Refusal("nodev", f"devices '{words[:40]}': {found} of {wanted} are there")
    return found


def why_none() -> str:
    """Why there is no GPU, in PyTorch's words."""
    init: Any = torch.cuda.init  # it has no types
    try:
        init()
    except (AssertionError, RuntimeError) as error:
        return str(error).split(". ")[0][:90]
    return "PyTorch sees none"


def choose_options(words: str, layer: str) -> Options:
    """Reads --impl-options: names of FLAGS, and backend=NAME, separated by commas or blanks."""
    chosen: dict[str, Any] = {"layer": layer}
    for word in words.replace(",", " ").split():
        name, _, value = word.partition("=")
        if word in FLAGS:
            chosen[word] = True
        elif name == "backend" and value:
            chosen["backend"] = value
        else:
            raise Refusal("inval", f"unknown option '{word[:40]}'; there are backend=NAME, " + ", ".join(FLAGS))
    return Options(**chosen)


class Session(adapter.Session):
    """One impl_session."""

    def __init__(self, nursery: Nursery, layer: str) -> None:
        super().__init__(Functions())
        self.nursery = nursery
        self.devices = 0
        self.options = Options(layer)
        self.models: dict[int, Model | DistributedModel] = {}
        self.opened = 0
        self.pools: dict[int, Pool] = {}

    # ---- sessions

    def open(self, request: Request) -> dict[str, Any]:
        """Says what is under test, and what it can do on this machine."""
        self.check_version(request)
        self.devices = choose_devices(request.text("devices", ""), request.flag("host_only"))
        self.options = choose_options(request.text("options", ""), self.options.layer)
        if self.options.backend == "nccl":
            if not self.devices:
                raise Refusal("nodev", f"found no GPU ({why_none()}); backend 'nccl' needs one for each rank")
            self.options = replace(self.options, cuda=os.environ.get("CUDA_VISIBLE_DEVICES", ""))
        about = self.nursery.about(self.options)
        torch.manual_seed(request.integer("seed", 0))
        by_nccl = self.devices > 1 and hasattr(torch._C, "_nccl_reduce")  # it chooses the order in reduce_add
        if self.devices:
            from .gpu import GpuFunctions

            self.layer = GpuFunctions()
        return {
            "name": about.name,
            "version": about.version,
            "devices": [torch.cuda.get_device_name(i)[:47] for i in range(self.devices)],
            "capabilities": self.capabilities(about, request.flag("host_only")),
            "dialects": {**DIALECTS, **({"sums": "free"} if by_nccl else {})},
            "blas": f"PyTorch {torch.__version__}",
            **({} if self.devices else {"gpu_software": why_none()}),
        }

    def capabilities(self, about: About, host_only: bool) -> list[str]:
        """Lists what every layer claims, and what this one has the methods for. The functions are PyTorch's: no
        other layer has them from here."""
        has = about.methods
        if has is None:
            has = frozenset() if host_only else self.returned()
        if self.options.trace_buckets and "register_comm_hook" not in has:
            raise Refusal("inval", f"trace_buckets: {about.name} has no register_comm_hook()")
        found = [*CLAIMED, *(("find_unused",) if about.searches else ()), *(() if "step" in has else ("adamw",)),
                 *(("join",) if "join" in has else ()), *(WITH_HOOK if self.options.trace_buckets else ())]
        if about.package == "torch":
            found += [*self.layer.capabilities(), *(ON_CUDA if self.devices else ())]
        return found

    def returned(self) -> frozenset[str]:
        """Returns the methods of what a function returns, which two ranks call to see. If that fails, all cases
        will say so."""
        try:
            return frozenset(self.pool(2).call("methods", [(), ()])[0])
        except Reported:
            return frozenset(["join"])

    def reset(self, _request: Request) -> dict[str, Any]:
        """Closes all models. Pools whose ranks were ended are started again when they are
        needed."""
        for number in list(self.models):
            self.forget(number)
        return {}

    def close(self, request: Request) -> dict[str, Any]:
        """Ends the session, and the ranks."""
        try:
            self.reset(request)
        finally:
            for pool in self.pools.values():
                if not pool.broken:
                    pool.end()
            self.pools.clear()
        return {}

    def apply(self, request: Request) -> dict[str, Any]:
        outputs, visits = self.own("apply")(self.calls(request), request.flag("grad"), request.flag("train"))
        self.layer.finish()
        return {"calls": self.outputs(outputs), "trace": trace_json(visits)}

    # ---- models

    def model_open(self, request: Request) -> dict[str, Any]:
        description, ranks = request.text("description"), request.integer("ranks", 1)
        if not 1 <= ranks <= MAX_DEVICES:
            raise Refusal("inval", f"{ranks} ranks")
        number = self.opened + 1
        if ranks == 1:
            model: Model | DistributedModel = Model(description, self.devices)
        else:
            descriptions = of_ranks(description, ranks)
            if self.options.cuda is not None and ranks > self.devices:
                raise Refusal("nodev", f"{ranks} ranks for {there(self.devices)}")
            for own in set(descriptions):
                Model(own, 0)  # refuses here what the rank would refuse
            model = DistributedModel(self.pool(ranks), number, descriptions)
        self.opened, self.models[number] = number, model
        return {"model": number}

    def pool(self, ranks: int) -> Pool:
        """Returns the processes for so many ranks; the first model that needs them starts them."""
        pool = self.pools.get(ranks)
        if pool is None or pool.broken:
            pool = self.pools[ranks] = Pool(self.nursery, ranks, self.options)
        return pool

    def model_close(self, request: Request) -> dict[str, Any]:
        self.forget(request.integer("model"))
        return {}

    def forget(self, number: int) -> None:
        """Closes a model, if there is one."""
        model = self.models.pop(number, None)
        if isinstance(model, DistributedModel):
            model.close()

    def model(self, request: Request) -> Model | DistributedModel:
        """Returns the model that the request names."""
        model = self.models.get(request.integer("model"))
        if model is None:
            raise Refusal("inval", f"no model {request.integer('model')}")
        return model

    def of_rank(self, request: Request, method: str, *arguments: Any) -> Any:
        """Calls a method of the model in one rank: 0, unless the request names another."""
        model, rank = self.model(request), request.integer("rank", 0)
        if isinstance(model, DistributedModel):
            return model.one(rank, method, *arguments)
        if rank != 0:
            raise Refusal("inval", f"no rank {rank}, there is one")
        return getattr(model, method)(*arguments)

    def every(self, request: Request, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method of the model in each of its ranks."""
        model = self.model(request)
        if isinstance(model, DistributedModel):
            model.all(method, [arguments] * model.ranks)
        else:
            getattr(model, method)(*arguments)
        return {}

    def params(self, request: Request) -> dict[str, Any]:
        return {"n": self.of_rank(request, "params")}

    def param(self, request: Request) -> dict[str, Any]:
        return {**self.of_rank(request, "param", request.integer("i"))}

    def set(self, request: Request) -> dict[str, Any]:
        self.of_rank(request, "set", request.text("what"), request.integer("i"), request.array_or_none("array"))
        return {}

    def get(self, request: Request) -> dict[str, Any]:
        array = self.of_rank(request, "get", request.text("what"), request.integer("i"))
        return {"array": array_json(array)}

    def to(self, request: Request) -> dict[str, Any]:
        device = request.integer("device")
        devices = 0 if isinstance(self.model(request), DistributedModel) else self.devices  # ranks stay where they are
        if not HOST <= device < devices:
            raise Refusal("nodev", f"no device {device}, {there(devices)}")
        return self.every(request, "to", device)

    def zero_grad(self, request: Request) -> dict[str, Any]:
        return self.every(request, "zero_grad")

    def step(self, request: Request) -> dict[str, Any]:
        kind: type[torch.optim.Optimizer] = torch.optim.SGD
        options: dict[str, Any] = {"lr": request.number("lr"), "momentum": request.number("momentum", 0.0)}
        if request.has("adamw"):
            own, kind = request.object("adamw"), torch.optim.AdamW
            options = {"lr": options["lr"], "betas": (own.number("beta1"), own.number("beta2")), "eps": own.number("eps"),
                       "weight_decay": own.number("decay")}
        return self.every(request, "step", Step(kind, options, request.number("max_norm", 0.0)))

    def forward(self, request: Request) -> dict[str, Any]:
        model = self.model(request)
        op = Forward(request.arrays_or_none("in"), request.arrays("args"), request.flag("grad"), request.flag("train"),
                     no_sync=request.flag("no_sync"))
        if isinstance(model, DistributedModel):
            results = model.forward(op, request.flags("active") if request.has("active") else None)
        else:
            results = [model.forward(op)]
        n = max(len(result.arrays) for result in results)
        return {"out": padded(results, n), "n_out": n,
                "trace": trace_json([visit for result in results for visit in result.visits])}

    def backward(self, request: Request) -> dict[str, Any]:
        model, gradients = self.model(request), request.arrays_or_none("grad_out")
        results = model.backward(gradients) if isinstance(model, DistributedModel) else [model.backward(gradients)]
        n = request.integer("n_in") // len(results)
        return {"grad_in": padded(results, n), "trace": trace_json([], results[0].buckets)}


def padded(results: list[Result], n: int) -> list[dict[str, Any] | None]:
    """Lists n results for each rank; a rank that has joined has none."""
    return [array_json(array) for result in results for array in (*result.arrays, *[None] * (n - len(result.arrays)))]


def trace_json(visits: list[Visit], buckets: list[dict[str, int]] | None = None) -> dict[str, Any]:
    """struct impl_trace. The main thread makes all calls."""
    return {"caller": threading.get_ident(), "live_bytes": 0,
            "replicas": [vars(visit) for visit in visits], "buckets": buckets or []}
