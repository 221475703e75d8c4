/* kernels_optim.cu: AdamW and clipping on a GPU, with the bits of cpu/kernels_ref_optim.c. */
#include "kernel.cuh"

static __global__ void adamw(dp_adamw_args g)
{
    const float keep = g.rates[0], size = g.rates[1], root = g.rates[2];
    for (size_t i = first_element(); i < g.n; i += stride()) {
        const float grad = g.grad[i], part = g.rest1 * grad, square = g.rest2 * grad * grad;
        const float m = g.first ? part : g.beta1 * g.m[i] + part;
        const float s = g.first ? square : g.beta2 * g.s[i] + square;
        g.m[i] = m;
        g.s[i] = s;
        g.value[i] = g.value[i] * keep - size * m / (sqrtf(s) / root + g.eps);
    }
}

static_assert(THREADS == DP_SQUARES_LANES, "a thread is a lane");

/* A block for each chunk. */
static __global__ void squares(dp_squares_args g)
{
    const size_t step = static_cast<size_t>(gridDim.x) * DP_SQUARES_CHUNK;
    size_t chunk = blockIdx.x;
    for (size_t first = chunk * DP_SQUARES_CHUNK; first < g.n; first += step, chunk += gridDim.x) {
        const size_t left = g.n - first, n = left < DP_SQUARES_CHUNK ? left : DP_SQUARES_CHUNK;
        double sum = 0.0;
        for (size_t i = threadIdx.x; i < n; i += THREADS)
            sum += static_cast<double>(g.x[first + i]) * static_cast<double>(g.x[first + i]);
        sum = block_sum(sum);
        if (threadIdx.x == 0)
            g.sums[chunk] = sum;
    }
}

/* One block. */
static __global__ void clip(dp_clip_args g)
{
    double sum = 0.0;
    for (size_t i = threadIdx.x; i < g.n; i += THREADS)
        sum += g.sums[i];
    const double norm = sqrt(block_sum(sum)), factor = g.most / (norm + 1e-6);
    if (threadIdx.x != 0)
        return;
    *g.norm = norm;
    *g.factor = factor > 1.0 ? 1.0f : static_cast<float>(factor);
}

static __global__ void scale(dp_scale_args g)
{
    const float factor = *g.factor;
    for (size_t i = first_element(); i < g.n && factor != 1.0f; i += stride())
        g.x[i] *= factor;
}

int dp_cuda_launch_adamw(const void *args, cudaStream_t stream)
{
    const struct dp_adamw_args *g = static_cast<const struct dp_adamw_args *>(args);
    return start(adamw, args, g->n, stream);
}

int dp_cuda_launch_squares(const void *args, cudaStream_t stream)
{
    const struct dp_squares_args *g = static_cast<const struct dp_squares_args *>(args);
    return start_blocks(squares, args, parts_of(g->n, DP_SQUARES_CHUNK), stream);
}

int dp_cuda_launch_clip(const void *args, cudaStream_t stream)
{
    return start_blocks(clip, args, 1, stream);
}

int dp_cuda_launch_scale(const void *args, cudaStream_t stream)
{
    const struct dp_scale_args *g = static_cast<const struct dp_scale_args *>(args);
    return start(scale, args, g->n, stream);
}
