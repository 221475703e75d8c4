/* kernel.cuh: shared by the files with kernels. Each element is computed as in cpu/kernels_ref*.c.
 * They are compiled without fused multiply-add, so a product is rounded before it is added, too. No
 * sum depends on which thread comes first: there are no atomic additions. */
#ifndef DP_CUDA_KERNEL_CUH
#define DP_CUDA_KERNEL_CUH

#include "launch.h"

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

constexpr unsigned THREADS = 256, BLOCKS_MAX = 4096;
/* The blocks of a kernel that reads memory of other GPUs while layers compute. It waits for links,
 * and leaves the other multiprocessors to the layers. */
constexpr unsigned BLOCKS_BESIDE = 48;

/* Each thread works on every n-th element, so the grid need not cover all. */
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

/* Combines the values of each group of neighbours (a power of two) in a tree, for each of its
 * threads. All threads of the block take part. */
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
    /* Otherwise a faster thread would overwrite it with its next value. */
    __syncthreads();
    return result;
}

template <typename number> inline __device__ number block_sum(number value)
{
    return of_group<adds>(value, THREADS);
}

/* Computed in double: within an ulp of tanhf and expf of the C library, but not always with their
 * bits. */
inline __device__ float tanh_of(float x)
{
    return static_cast<float>(tanh(static_cast<double>(x)));
}

inline __device__ float exp_of(float x)
{
    return static_cast<float>(exp(static_cast<double>(x)));
}

/* Starts so many blocks, at most BLOCKS_MAX. An empty grid would be an error, but no work is none.
 */
template <typename arguments>
int start_blocks(void (*kernel)(arguments), const void *args, size_t blocks, cudaStream_t stream)
{
    if (blocks == 0)
        return 0;
    const unsigned grid = static_cast<unsigned>(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX);
    kernel<<<grid, THREADS, 0, stream>>>(*static_cast<const arguments *>(args));
    return cudaGetLastError();
}

/* The number of parts of that size that n elements make. */
inline size_t parts_of(size_t n, unsigned size)
{
    return n / size + (n % size != 0);
}

/* The same as start, for kernels that run at the same time as others. */
template <typename arguments>
int start_beside(void (*kernel)(arguments), const void *args, size_t n, cudaStream_t stream)
{
    const size_t blocks = parts_of(n, THREADS);
    return start_blocks(kernel, args, blocks < BLOCKS_BESIDE ? blocks : BLOCKS_BESIDE, stream);
}

/* Starts a thread for each of n elements. */
template <typename arguments>
int start(void (*kernel)(arguments), const void *args, size_t n, cudaStream_t stream)
{
    return start_blocks(kernel, args, parts_of(n, THREADS), stream);
}

#endif
