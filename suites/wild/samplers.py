"""The samplers of other projects: lockstep check --impl exec:'python samplers.py ignite' --only DDP-28.any"""
import importlib.metadata
import importlib.util
import sys
from typing import Any, Callable

from lockstep.adapter import Adapter, serve

Make = Callable[[range, int, int], Any]


def ignite() -> Make:
    from ignite.distributed.auto import DistributedProxySampler
    from torch.utils.data import SequentialSampler

    return lambda items, ranks, rank: DistributedProxySampler(SequentialSampler(items), ranks, rank)


def mmdet() -> Make:
    """The file alone: the package needs compiled parts."""
    found = importlib.metadata.distribution("mmdet").locate_file("mmdet/datasets/samplers/distributed_sampler.py")
    spec: Any = importlib.util.spec_from_file_location("distributed_sampler", str(found))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda items, ranks, rank: module.DistributedSampler(items, ranks, rank, shuffle=False)


PROJECTS = {"ignite": (ignite, "pytorch-ignite"), "mmdet": (mmdet, "mmdet")}


class Sampler(Adapter):
    def __init__(self, project: str) -> None:
        make, package = PROJECTS[project]
        self.name, self.version = f"{project}'s sampler", importlib.metadata.version(package)
        self.make = make()

    def sampler(self, items: int, ranks: int, rank: int, drop_last: bool) -> list[int]:
        """Without the rest, if that is dropped: these samplers cannot drop it."""
        used = range(items - items % ranks if drop_last else items)
        return [int(index) for index in self.make(used, ranks, rank)] if used else []


serve(Sampler(sys.argv[1]))
