#!/usr/bin/env bash
# scripts/kernel-sets never tries a set that the CPU cannot run, and sees when OpenBLAS took another.
# usage: kernel_sets.sh KERNEL_SETS LOCKSTEP
set -eu

kernel_sets=$1 lockstep=$2
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# expect STATUS TEXT COMMAND...
expect() {
    local status=$1 text=$2 got=0
    shift 2
    "$@" >"$folder/output" 2>&1 || got=$?
    if [ "$got" -ne "$status" ] || ! grep -qF -- "$text" "$folder/output"; then
        echo "status $got, wanted $status and '$text': $*"
        cat "$folder/output"
        exit 1
    fi
}

printf 'flags\t\t: fpu pni ssse3 sse4_1 sse4_2 avx avx2 fma avx512f\n' >"$folder/haswell"
printf 'flags\t\t: fpu xavx2 fma2\n' >"$folder/old"
: >"$folder/arm"
for cpu in old arm; do
    export KERNEL_SETS_CPUINFO=$folder/$cpu
    expect 77 "SKIP kernel set Prescott: this CPU lacks pni" "$kernel_sets" "$lockstep" Prescott false
    expect 77 "lacks avx avx2 fma" "$kernel_sets" "$lockstep" Haswell false
    [ -z "$("$kernel_sets" --usable)" ] || { echo "a set is usable on $cpu" && exit 1; }
done
export KERNEL_SETS_CPUINFO=$folder/haswell
expect 77 "lacks avx512bw" "$kernel_sets" "$lockstep" SkylakeX false
expect 0 "Zen" "$kernel_sets" --usable
expect 2 "'.*' is not known" "$kernel_sets" "$lockstep" '.*' false
expect 2 "usage" "$kernel_sets" "$lockstep" Haswell

# A program whose BLAS goes its own way.
printf '#!/bin/sh\necho "  BLAS       OpenBLAS 0.3 DYNAMIC_ARCH (Nehalem)"\n' >"$folder/other"
chmod +x "$folder/other"
expect 2 "but OpenBLAS uses 'Nehalem'" "$kernel_sets" "$folder/other" Haswell true
expect 0 "kernel set Nehalem" "$kernel_sets" "$folder/other" Nehalem true
