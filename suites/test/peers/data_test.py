#!/usr/bin/env python3
"""data_test.py: PyTorch is given the numbers that lockstep sweep has, byte for byte; and llm.c is held
to the loss that follows from them.

77: no numpy here. usage: data_test.py DUMP_DATA LOCKSTEP"""
from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

CELLS = (("tutorial", 30), ("mlp:8,4", 10), ("mlp:6,1,7", 1), ("mlp:96,100,64,10", 300),
         ("cnn", 130), ("lstm", 5), ("resnet", 130), ("gpt:1,8,2,4,5", 4))
MATHS = ("f32", "tf32")
SEEDS = (0, 1, 987654321987654321, 2**64 - 2)


BEGINS_WITH_A_SKIP = """workload none
sizes 3 2
kind model
exact 2 1 1
modules
linear 3 3
relu
skip 2
linear 3 2
"""


def skip_is_walked_back() -> bool:
    """What comes first may be a skip, whose parameters have gradients, too."""
    import numpy as np
    from lockstep_peers.layers import Model
    from lockstep_peers.near import Near
    from lockstep_peers.workloads import parse

    rng = np.random.default_rng(1)
    w, b, v, c, x, g = (rng.integers(-3, 4, shape).astype(np.float64)
                        for shape in ((3, 3), 3, (2, 3), 2, (5, 3), (5, 2)))
    model = Model(parse(BEGINS_WITH_A_SKIP), [w.ravel(), b, v.ravel(), c])
    z = x @ w.T + b
    y = model.forward(Near(x, None)).v
    model.backward(Near(g, None))
    dz = (g @ v) * (z > 0)
    want = [dz.T @ x, dz.sum(axis=0), g.T @ (x + np.maximum(z, 0)), g.sum(axis=0)]
    got = [sums.value.reshape(one.shape) for sums, one in zip(model.sums, want)]
    return np.array_equal(y, (x + np.maximum(z, 0)) @ v.T + c) and dz.any() and \
        all(np.array_equal(one, other) for one, other in zip(got, want))


def a_gpu_sums_in_parts(lockstep: str) -> bool:
    """No bound of a language model is wider for GPUs, and most are narrower."""
    from lockstep_peers import classes
    from lockstep_peers.data import Data
    from lockstep_peers.workloads import workload_of

    data = Data(workload_of(lockstep, "gpt:1,256,2,4,300"), 7, 0, 5)
    cpu, cuda = (classes.whole_batch(data, 5, 1, kind) for kind in ("cpu", "cuda"))
    bounds = [(cpu[name], cuda[name]) for name in cpu if "bound" in name]
    return all((of_gpu <= of_cpu).all() for of_cpu, of_gpu in bounds) and \
        all((of_gpu < of_cpu / 2).any() for of_cpu, of_gpu in bounds)


# In place of llm.c: it says the loss that stands for LOSS, and reads the files that it is given.
LLMC = """#include <stdio.h>
int main(void) {
    int B = 4; int T = 64;
    int model[256] = {0}, tokens[256] = {0};
    FILE *file = fopen("gpt2_124M.bin", "rb"), *other = fopen("dev/data/tinyshakespeare/tiny_shakespeare_train.bin", "rb");
    if (!file || !other || fread(model, 4, 256, file) != 256 || fread(tokens, 4, 256, other) != 256) return 1;
    fseek(file, 0, SEEK_END);
    if (model[2] != T || tokens[2] != B * T + 1 || ftell(file) != 1024 + 4 * COUNT) return 1;
    /* gpt2_update(&model, 1e-4f, 0.9f */
    for (int i = 0; i < 41; ++i) printf("step %d: train loss %f (took %f ms)\\n", i, LOSS, 1.0 + i);
}
"""


def llmc_is_held_to_the_model(lockstep: str) -> bool:
    """Its loss, its steps, and what its source must have."""
    from lockstep_peers import llmc
    from lockstep_peers.data import Data
    from lockstep_peers.workloads import workload_of

    data = Data(workload_of(lockstep, "gpt:1,8,2,4,5"), 7, 0, 5)
    loss, bound = llmc.loss_must_be(data)
    count = sum(value.size for value in data.parameters())

    def launch(source: str, said: float) -> dict | Exception:
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/{llmc.SOURCE}", "w", encoding="utf-8") as file:
                file.write(source.replace("LOSS", f"{said!r}").replace("COUNT", str(count)))
            try:
                return llmc.launch(folder, llmc.Place(folder, 1, sorted(os.sched_getaffinity(0))), data, 0.0, 60.0)
            except (llmc.Unusable, llmc.Differs) as error:
                return error

    if "0 times, not once" not in str(launch(LLMC.replace("int T", "long T"), loss)):
        return False
    if not shutil.which("cc") or not shutil.which("stdbuf"):
        return True
    return isinstance(launch(LLMC, loss + 2 * bound), llmc.Differs) and launch(LLMC, loss) == {
        "step_ns": [3000000, 4000000, 5000000], "warmup_steps": 2, "steps_checked": 5, "values_checked": 5}


def main(program: str, lockstep: str) -> int:
    try:
        import numpy as np
    except ImportError:
        print("data_test.py: no numpy")
        return 77
    from lockstep_peers.data import SETS, Data, widest
    from lockstep_peers.workloads import workload_of

    if not skip_is_walked_back():
        print("FAILED: a model that begins with a skip has other gradients")
        return 1
    if not a_gpu_sums_in_parts(lockstep):
        print("FAILED: bounds for GPUs are not those of sums in parts")
        return 1
    if not llmc_is_held_to_the_model(lockstep):
        print("FAILED: what llm.c says is not held against the model")
        return 1
    compared, narrower = 0, 0
    for (workload, rows), math in itertools.product(CELLS, MATHS):
        found = workload_of(lockstep, workload)
        narrower += math != "f32" and 0 < widest(found, rows, math) < widest(found, rows)
        for seed in SEEDS:
            for index in range(SETS):
                want = subprocess.run([program, workload, math, str(seed), str(index), str(rows)],
                                      stdout=subprocess.PIPE, check=True).stdout
                data = Data(found, seed, index, rows, math)
                parts = [*data.parameters(), data.inputs(), data.upstream()]
                got = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
                if got != want:
                    print(f"FAILED: {workload}, {math}, seed {seed}, set {index}: other numbers")
                    return 1
                compared += len(want)
    print(f"{compared} bytes are the same; of {narrower} workloads fewer bits in tf32")
    return 0 if compared > 0 and narrower > 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
