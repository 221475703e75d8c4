#!/usr/bin/env bash
# PyTorch itself, tested by the suite: what it does without a GPU (chunk, buckets, sampler,
# DistributedDataParallel over gloo); and, noted by a communication hook, what it reduces when. 77 where there is no PyTorch.
# usage: pytorch.sh LOCKSTEP PYTHON ADAPTER
set -eu

lockstep=$1
python=$2
adapter=$3
cases='SPLIT-01.sizes,SPLIT-01.large,SPLIT-01.known,SPLIT-02.fewer,SPLIT-03.count,SPLIT-04.sizes'
cases=$cases',SPLIT-05.sizes,SPLIT-06.ceil,DDP-*'

if ! "$python" -c 'import torch' 2>/dev/null; then
    echo "pytorch.sh: no PyTorch for $python"
    exit 77
fi
"$lockstep" check --impl "exec:'$python' '$adapter'" --only "$cases"
exec "$lockstep" check --impl "exec:'$python' '$adapter'" --impl-options trace_buckets \
    --only 'DDP-11*,DDP-12*,DDP-15*'
