/* cuda_runtime.h: what the files of core/cuda with kernels take from CUDA, for g++ and the host.
 * CMake has put "emulate(GRID, THREADS, stream, [&] { KERNEL(ARGUMENTS); })" in place of their
 * launches. */
#ifndef LOCKSTEP_EMULATED_CUDA_RUNTIME_H
#define LOCKSTEP_EMULATED_CUDA_RUNTIME_H

#include "grid.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

#define __global__
#define __device__
#define __shared__ static

typedef struct CUstream_st *cudaStream_t;
typedef int cudaError_t;
struct cudaFuncAttributes {
};

inline cudaError_t cudaGetLastError()
{
    return 0;
}

template <typename kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, kernel)
{
    return 0;
}

inline uint64_t emulated_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

inline uint32_t __float_as_uint(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <typename body>
void emulate(unsigned blocks, unsigned threads, cudaStream_t, const body &run)
{
    grid_run(
        blocks, threads, [](void *what) { (*static_cast<const body *>(what))(); },
        const_cast<body *>(&run));
}

#endif
