"""DeepSpeed's ZeRO-2 with its optimizer on the CPU: two losses, one step. On 2 ranks, the gradient of the step."""
import logging
import os

import ranks

ranks.start(2)
os.environ["DS_ACCELERATOR"] = "cpu"
logging.disable(logging.WARNING)
import deepspeed  # noqa: E402
import torch  # noqa: E402

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # it would be compiled first
deepspeed.init_distributed("gloo", verbose=False)
SCALES = (1, 2, 1, 2)
model = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in SCALES))
with torch.no_grad():
    for layer, scale in zip(model, SCALES):
        layer.weight.copy_(torch.eye(4) * scale)
        layer.bias.zero_()
config = {"train_batch_size": 2, "gradient_clipping": 0.0, "zero_allow_untested_optimizer": True,
          "zero_force_ds_cpu_optimizer": False,
          "zero_optimization": {"stage": 2, "overlap_comm": False, "offload_optimizer": {"device": "cpu"}}}
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), config=config)
rank = torch.distributed.get_rank()
first, second = (engine((torch.arange(4.0) + rank + k).reshape(1, 4)).sum() for k in (0, 15))
engine.set_gradient_accumulation_boundary(False)
engine.backward(first)
engine.set_gradient_accumulation_boundary(True)
engine.backward(3 * second)
engine.step()
found = (torch.eye(4) - model[0].weight.detach())[0].tolist()
ranks.end("gradient", found, [4 * (x + 0.5) + 12 * (x + 15.5) for x in (0.0, 1.0, 2.0, 3.0)])
