"""A parameter without elements that the model uses, on 2 ranks: no_elements.py fsdp2|ddp"""
import sys

import ranks
import torch
import torch.distributed as dist

ranks.start(2)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.nothing = torch.nn.Parameter(torch.zeros(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.weight * x).sum() + self.nothing.sum()


dist.init_process_group("gloo")
model = Model()
if sys.argv[1] == "fsdp2":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    wrapped = fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
else:
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
try:
    wrapped(torch.arange(4.0) + 2 * dist.get_rank()).backward()
    grad = model.weight.grad
    found = (grad.full_tensor() if sys.argv[1] == "fsdp2" else grad).tolist()
except RuntimeError as error:
    found = str(error).splitlines()[0]
ranks.end("gradient", found, [1.0, 2.0, 3.0, 4.0])
