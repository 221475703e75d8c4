/* kernel.cuh: what the files with kernels share. Each element is computed as in cpu/kernels_ref*.c;
 * compiled without fused multiply-add, so that a product is rounded before it is added there, too.
 * No sum depends on which thread comes first: there are no atomic additions. */
#ifndef DP_CUDA_KERNEL_CUH
#define DP_CUDA_KERNEL_CUH

#include "launch.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

constexpr unsigned THREADS = 256, BLOCKS_MAX = 4096;
/* Of a kernel that reads other GPUs' memory beside the layers' kernels: it waits for links, and
 * leaves the other multiprocessors to them. */
constexpr unsigned BLOCKS_BESIDE = 48;

/* A thread works on every so many elements: the grid need not cover them all. */
inline __device__ size_t first_element()
{
    return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

inline __device__ size_t stride()
{
    return static_cast<size_t>(gridDim.x) * blockDim.x;
}

struct adds {
    template <typename number> static __device__ number of(number a, number b)
    {
        return a + b;
    }
};

struct takes_larger {
    template <typename number> static __device__ number of(number a, number b)
    {
        return b > a ? b : a;
    }
};

/* What an operation makes of the values of each group of so many neighbours (a power of two), in a
 * tree, for each of its threads. All threads of the block meet. */
template <typename operation, typename number>
inline __device__ number of_group(number value, unsigned size)
{
    __shared__ number part[THREADS];
    const unsigned at = threadIdx.x % size;
    part[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = size / 2; half > 0; half /= 2) {
        if (at < half)
            part[threadIdx.x] = operation::of(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    const number result = part[threadIdx.x - at];
    /* Or a thread that is ahead writes its next value over it. */
    __syncthreads();
    return result;
}

template <typename number> inline __device__ number block_sum(number value)
{
    return of_group<adds>(value, THREADS);
}

/* By way of double: within an ulp of the C library's tanhf and expf, not always their bits. */
inline __device__ float tanh_of(float x)
{
    return static_cast<float>(tanh(static_cast<double>(x)));
}

inline __device__ float exp_of(float x)
{
    return static_cast<float>(exp(static_cast<double>(x)));
}

/* On so many blocks, at most BLOCKS_MAX of them. An empty grid is an error, no work is none. */
template <typename arguments>
int start_blocks(void (*kernel)(arguments), const void *args, size_t blocks, cudaStream_t stream)
{
    if (blocks == 0)
        return 0;
    const unsigned grid = static_cast<unsigned>(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX);
    kernel<<<grid, THREADS, 0, stream>>>(*static_cast<const arguments *>(args));
    return cudaGetLastError();
}

/* Parts of so many that n make. */
inline size_t parts_of(size_t n, unsigned size)
{
    return n / size + (n % size != 0);
}

/* As start, for kernels that run beside others. */
template <typename arguments>
int start_beside(void (*kernel)(arguments), const void *args, size_t n, cudaStream_t stream)
{
    const size_t blocks = parts_of(n, THREADS);
    return start_blocks(kernel, args, blocks < BLOCKS_BESIDE ? blocks : BLOCKS_BESIDE, stream);
}

/* With a thread for each of n elements. */
template <typename arguments>
int start(void (*kernel)(arguments), const void *args, size_t n, cudaStream_t stream)
{
    return start_blocks(kernel, args, parts_of(n, THREADS), stream);
}

#endif
