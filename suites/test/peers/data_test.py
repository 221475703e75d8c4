#!/usr/bin/env python3
"""data_test.py: PyTorch is given the numbers that lockstep sweep has, byte for byte.

77: no numpy here. usage: data_test.py DUMP_DATA LOCKSTEP"""
from __future__ import annotations

import os
import subprocess
import sys

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "peers", "pytorch")
sys.path.insert(0, PEERS)

CELLS = (("tutorial", 30), ("mlp:8,4", 10), ("mlp:6,1,7", 1), ("mlp:96,100,64,10", 300),
         ("cnn", 130), ("lstm", 5), ("resnet", 130), ("gpt:1,8,2,4,5", 4))
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


def main(program: str, lockstep: str) -> int:
    try:
        import numpy as np
    except ImportError:
        print("data_test.py: no numpy")
        return 77
    from lockstep_peers.data import SETS, Data
    from lockstep_peers.workloads import workload_of

    if not skip_is_walked_back():
        print("FAILED: a model that begins with a skip has other gradients")
        return 1
    compared = 0
    for workload, rows in CELLS:
        found = workload_of(lockstep, workload)
        for seed in SEEDS:
            for index in range(SETS):
                want = subprocess.run([program, workload, str(seed), str(index), str(rows)],
                                      stdout=subprocess.PIPE, check=True).stdout
                data = Data(found, seed, index, rows)
                parts = [*data.parameters(), data.inputs(), data.upstream()]
                got = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
                if got != want:
                    print(f"FAILED: {workload}, seed {seed}, set {index}: other numbers")
                    return 1
                compared += len(want)
    print(f"{compared} bytes are the same")
    return 0 if compared > 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
