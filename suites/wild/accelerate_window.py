"""Accelerate's last window of accumulated steps, complete or not: on 2 ranks, the gradient that its step uses."""
import sys

import accelerate
import ranks
import torch

ranks.start(2)
ROWS = {"complete": 16, "incomplete": 12}[sys.argv[1]]  # 4 batches of 2 rows for each rank, or 3
own = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(1, 1, bias=False)
torch.nn.init.ones_(model.weight)
rows = torch.utils.data.TensorDataset(torch.arange(1.0, ROWS + 1).reshape(-1, 1))
model, optimizer, loader = own.prepare(model, torch.optim.SGD(model.parameters(), lr=1.0),
                                       torch.utils.data.DataLoader(rows, batch_size=2))
found = []
for (batch,) in loader:
    with own.accumulate(model):
        own.backward(model(batch).sum())
        if own.sync_gradients:
            found.append(model.module.weight.grad.item())
        optimizer.step()
        optimizer.zero_grad()
# Each rank has batches b, b + 2, ..: the mean over two ranks, and over the batches of the window.
sums = [4 * b + 3 for b in range(ROWS // 2)]
windows = [sums[i:i + 4] for i in range(0, len(sums), 4)]
ranks.end("gradient", found[-1], sum(windows[-1]) / len(windows[-1]))
