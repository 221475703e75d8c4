#!/bin/sh
# Every exact workload is verified with one set of OpenBLAS's kernels, and the record names the set.
# usage: kernel_sweep.sh LOCKSTEP SET FILE
set -eu

rm -f "$3"
"$1" sweep --workload tutorial --workload mlp:67,33,130 --workload blocks --workload mixed \
    --backend cpu-cblas --devices virt:3 --batch 30,500 --steps 2:4 --seconds 0.02 --bind none --out "$3"
grep -qi "\"blas\":\"[^\"]*($2)\"" "$3" || { echo "$3 does not name the kernel set $2" && exit 1; }
