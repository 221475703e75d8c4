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
         ("cnn", 130), ("lstm", 5), ("resnet", 130))
SEEDS = (0, 1, 987654321987654321, 2**64 - 2)


def main(program: str, lockstep: str) -> int:
    try:
        import numpy as np
    except ImportError:
        print("data_test.py: no numpy")
        return 77
    from lockstep_peers.data import SETS, Data
    from lockstep_peers.workloads import workload_of

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
