#!/usr/bin/env bash
# rate.sh MPIRUN KIND OURS MODULE ALONE: the rate of an allreduce of 12 MiB between two processes, as
# a part of the best that MPI_Allreduce gives alone, in turns. It needs two idle cores to mean
# anything.
set -euo pipefail
launch=(bash "$(dirname "$0")/launch.sh" "$1" "$2" 2)
size=(12582912 40)
ours=() own=() ring=()
for _ in 1 2 3 4 5; do
    ours+=("$("${launch[@]}" "$3" "$4" "${size[@]}")")
    own+=("$("${launch[@]}" "$5" "${size[@]}")")
    # Open MPI's ring is faster here than what it chooses by itself.
    ring+=("$(OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=4 \
        "${launch[@]}" "$5" "${size[@]}")")
done
median() { printf '%s\n' "$@" | sort -g | sed -n 3p; }
awk -v o="$(median "${ours[@]}")" -v a="$(median "${own[@]}")" -v r="$(median "${ring[@]}")" 'BEGIN {
    best = a < r ? a : r
    printf "allreduce of 12 MiB, two processes: %.2f ms; MPI_Allreduce %.2f ms, as a ring %.2f ms: " \
           "%.2f of its best rate\n", o, a, r, best / o }'
