/* kernels_transformer.cu: the kernels of gelu and of the softmax of attention on a GPU, all in
 * double. */
#include "kernel.cuh"

constexpr double ROOT_2_PI = 0.79788456080286535588, ROOT_HALF = 0.70710678118654752440;
constexpr double CUBIC = 0.044715, DENSITY_0 = 0.39894228040143267794; /* 1 / sqrt(2 pi) */

static __device__ double tanh_at(double x)
{
    return tanh(ROOT_2_PI * (x + CUBIC * x * x * x));
}

static __global__ void gelu(dp_gelu_args g)
{
    for (size_t i = first_element(); i < g.n; i += stride()) {
        const double x = static_cast<double>(g.x[i]);
        const double f = g.tanh_form ? tanh_at(x) : erf(x * ROOT_HALF);
        g.y[i] = static_cast<float>(0.5 * x * (1.0 + f));
    }
}

static __device__ double slope_tanh(double x)
{
    const double t = tanh_at(x);
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * ROOT_2_PI * (1.0 + 3.0 * CUBIC * x * x);
}

static __device__ double slope_erf(double x)
{
    return 0.5 * (1.0 + erf(x * ROOT_HALF)) + x * DENSITY_0 * exp(-0.5 * x * x);
}

static __global__ void gelu_grad(dp_gelu_args g)
{
    for (size_t i = first_element(); i < g.n; i += stride()) {
        const double x = static_cast<double>(g.x[i]);
        const double slope = g.tanh_form ? slope_tanh(x) : slope_erf(x);
        g.y[i] = static_cast<float>(static_cast<double>(g.dy[i]) * slope);
    }
}

/* A row has WARP neighbouring threads of a block. The rows of a block begin and end together,
 * because all its threads synchronise in between, even if some have no row (they read nothing
 * then). */
constexpr unsigned WARP = 32, ROWS = THREADS / WARP;

static __device__ double scaled(const dp_causal_args &g, size_t r, size_t s)
{
    return g.scale * static_cast<double>(g.p[r * g.time + s]);
}

/* Lane l adds columns l, l + WARP, ... in order; then the lanes are added in a tree. */
static __global__ void causal(dp_causal_args g)
{
    const size_t rows = g.n * g.time, step = static_cast<size_t>(gridDim.x) * ROWS;
    const unsigned lane = threadIdx.x % WARP;
    for (size_t from = static_cast<size_t>(blockIdx.x) * ROWS; from < rows; from += step) {
        const size_t r = from + threadIdx.x / WARP, seen = r < rows ? r % g.time + 1 : 0;
        double largest = -static_cast<double>(INFINITY), sum = 0.0;
        for (size_t s = lane; s < seen; s += WARP)
            largest = takes_larger::of(largest, scaled(g, r, s));
        largest = of_group<takes_larger>(largest, WARP);
        for (size_t s = lane; s < seen; s += WARP)
            sum += exp(scaled(g, r, s) - largest);
        sum = of_group<adds>(sum, WARP);
        for (size_t s = lane; s < seen; s += WARP)
            g.p[r * g.time + s] = static_cast<float>(exp(scaled(g, r, s) - largest) / sum);
        for (size_t s = seen + lane; r < rows && s < g.time; s += WARP)
            g.p[r * g.time + s] = 0.0f;
    }
}

static __global__ void causal_grad(dp_causal_args g)
{
    const size_t rows = g.n * g.time, step = static_cast<size_t>(gridDim.x) * ROWS;
    const unsigned lane = threadIdx.x % WARP;
    for (size_t from = static_cast<size_t>(blockIdx.x) * ROWS; from < rows; from += step) {
        const size_t r = from + threadIdx.x / WARP, seen = r < rows ? r % g.time + 1 : 0;
        const float *p = g.p + r * g.time;
        float *d = g.d + r * g.time;
        double sum = 0.0;
        for (size_t s = lane; s < seen; s += WARP)
            sum += static_cast<double>(p[s]) * static_cast<double>(d[s]);
        sum = of_group<adds>(sum, WARP);
        for (size_t s = lane; s < seen; s += WARP)
            d[s] = static_cast<float>(g.scale * static_cast<double>(p[s]) *
                                      (static_cast<double>(d[s]) - sum));
        for (size_t s = seen + lane; r < rows && s < g.time; s += WARP)
            d[s] = 0.0f;
    }
}

int dp_cuda_launch_gelu(const void *args, cudaStream_t stream)
{
    const struct dp_gelu_args *g = static_cast<const struct dp_gelu_args *>(args);
    return start(gelu, args, g->n, stream);
}

int dp_cuda_launch_gelu_grad(const void *args, cudaStream_t stream)
{
    const struct dp_gelu_args *g = static_cast<const struct dp_gelu_args *>(args);
    return start(gelu_grad, args, g->n, stream);
}

int dp_cuda_launch_causal(const void *args, cudaStream_t stream)
{
    const struct dp_causal_args *g = static_cast<const struct dp_causal_args *>(args);
    return start_blocks(causal, args, parts_of(g->n * g->time, ROWS), stream);
}

int dp_cuda_launch_causal_grad(const void *args, cudaStream_t stream)
{
    const struct dp_causal_args *g = static_cast<const struct dp_causal_args *>(args);
    return start_blocks(causal_grad, args, parts_of(g->n * g->time, ROWS), stream);
}
