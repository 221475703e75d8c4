"""paddle.DataParallel on 2 ranks: two forwards and their backwards, in turn or both backwards last, and the gradient."""
import os
import sys

import ranks

ranks.start(2)
rank, first = int(os.environ["RANK"]), int(os.environ["MASTER_PORT"])
ends = [f"127.0.0.1:{first + 1 + i}" for i in range(2)]
os.environ.update(PADDLE_TRAINER_ID=str(rank), PADDLE_TRAINERS_NUM="2", PADDLE_TRAINER_ENDPOINTS=",".join(ends),
                  PADDLE_CURRENT_ENDPOINT=ends[rank], PADDLE_DISTRI_BACKEND="gloo", PADDLE_MASTER=f"127.0.0.1:{first}",
                  FLAGS_START_PORT=str(first + 1))
import paddle  # noqa: E402

paddle.device.set_device("cpu")
paddle.distributed.init_parallel_env()
model = paddle.nn.Linear(1, 1, bias_attr=False)
model.weight.set_value(paddle.ones([1, 1]))
wrapped = paddle.DataParallel(model)
rows = [paddle.to_tensor([[float(1 + 10 * rank)]]), paddle.to_tensor([[float(2 + 20 * rank)]])]
if sys.argv[1] == "together":
    for output in [wrapped(row).sum() for row in rows]:
        output.backward()
else:
    for row in rows:
        wrapped(row).sum().backward()
ranks.end("gradient", model.weight.grad.item(), (1 + 11 + 2 + 22) / 2)
