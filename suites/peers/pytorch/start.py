"""start.py: runs a program of lockstep_peers. The only file that lies where Python looks for modules first.

    start.py compare|gemm|allreduce|ratios|worker ARGUMENT...
"""
import importlib
import sys

if __name__ == "__main__":
    sys.exit(importlib.import_module("lockstep_peers." + sys.argv[1]).main(sys.argv[2:]))
