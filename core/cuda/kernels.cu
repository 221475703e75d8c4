/* kernels.cu: the kernels of plain layers, losses and updates, and sums of replicas, on a GPU. */
#include "kernel.cuh"

/* The GPU's clock of the time of day. */
static __device__ uint64_t clock_ns()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void delay(dp_delay_args g)
{
    const uint64_t begin = clock_ns();
    while (clock_ns() - begin < g.ns)
        ;
}

static __global__ void add_bias(dp_add_bias g)
{
    for (size_t i = first_element(); i < g.rows * g.cols; i += stride())
        g.y[i] += g.bias[i % g.cols];
}

constexpr unsigned TILE = 8, LANES = THREADS / TILE;

/* A block has TILE columns. Lane l adds rows l, l + LANES, ... of each in order; then the lanes are
 * added in a tree. */
static __global__ void sum_rows(dp_sum_rows g)
{
    __shared__ float part[THREADS];
    const size_t step = static_cast<size_t>(gridDim.x) * TILE;
    const unsigned lane = threadIdx.x / TILE;
    for (size_t from = static_cast<size_t>(blockIdx.x) * TILE; from < g.cols; from += step) {
        const size_t c = from + threadIdx.x % TILE;
        float sum = 0.0f;
        for (size_t r = lane; c < g.cols && r < g.rows; r += LANES)
            sum += g.x[r * g.cols + c];
        part[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned half = THREADS / 2; half >= TILE; half /= 2) {
            if (threadIdx.x < half)
                part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
        if (lane == 0 && c < g.cols)
            g.out[c] = g.accumulate ? g.out[c] + part[threadIdx.x] : part[threadIdx.x];
        __syncthreads();
    }
}

static __global__ void relu(dp_activation g)
{
    for (size_t i = first_element(); i < g.n; i += stride())
        g.y[i] = g.x[i] <= 0.0f ? 0.0f : g.x[i];
}

static __global__ void relu_grad(dp_activation_grad g)
{
    for (size_t i = first_element(); i < g.n; i += stride())
        g.dx[i] = g.y[i] <= 0.0f ? 0.0f : g.dy[i];
}

static __global__ void tanh_value(dp_activation g)
{
    for (size_t i = first_element(); i < g.n; i += stride())
        g.y[i] = tanh_of(g.x[i]);
}

static __global__ void tanh_grad(dp_activation_grad g)
{
    for (size_t i = first_element(); i < g.n; i += stride())
        g.dx[i] = g.dy[i] * (1.0f - g.y[i] * g.y[i]);
}

static __device__ bool is_class(int32_t value, size_t cols)
{
    return value >= 0 && static_cast<size_t>(value) < cols;
}

/* A row of classes has WARP neighbouring threads of a block. The rows of a block begin and end
 * together, because all its threads synchronise in between, even if some have no row (cols is 0
 * then). */
constexpr unsigned WARP = 32, ROWS = THREADS / WARP;

/* Lane l adds classes l, l + WARP, ... in order; then the lanes are added in a tree. */
static __device__ double log_sum_exp(const float *y, size_t cols)
{
    double largest = -static_cast<double>(INFINITY), sum = 0.0;
    for (size_t c = threadIdx.x % WARP; c < cols; c += WARP)
        largest = takes_larger::of(largest, static_cast<double>(y[c]));
    largest = of_group<takes_larger>(largest, WARP);
    for (size_t c = threadIdx.x % WARP; c < cols; c += WARP)
        sum += exp(static_cast<double>(y[c]) - largest);
    return largest + log(of_group<adds>(sum, WARP));
}

/* The contribution of element i to the loss. */
static __device__ double loss_term(const dp_loss_args &g, size_t i)
{
    const float *t = static_cast<const float *>(g.target);
    const double y = g.y[i];
    if (g.kind == DP_LOSS_MSE)
        return (y - static_cast<double>(t[i])) * (y - static_cast<double>(t[i]));
    return t ? y * static_cast<double>(t[i]) : y;
}

/* Each thread adds its elements in order; then the block adds the sums of its threads. */
static __global__ void loss_parts(dp_loss_args g, double *parts)
{
    double sum = 0.0;
    for (size_t i = first_element(); i < g.rows * g.cols; i += stride())
        sum += loss_term(g, i);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

/* The first thread of a row adds what its rows contribute to the loss. */
static __global__ void xent_parts(dp_loss_args g, double *parts)
{
    const int32_t *target = static_cast<const int32_t *>(g.target);
    const size_t step = static_cast<size_t>(gridDim.x) * ROWS;
    double sum = 0.0;
    for (size_t from = static_cast<size_t>(blockIdx.x) * ROWS; from < g.rows; from += step) {
        const size_t r = from + threadIdx.x / WARP;
        const float *y = g.y + r * g.cols;
        const double norm = log_sum_exp(y, r < g.rows ? g.cols : 0);
        if (r >= g.rows || threadIdx.x % WARP != 0)
            continue;
        sum += is_class(target[r], g.cols) ? norm - static_cast<double>(y[target[r]])
                                           : static_cast<double>(NAN);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

/* One block. */
static __global__ void loss(dp_loss_args g, const double *parts, unsigned n)
{
    double sum = 0.0;
    for (unsigned i = threadIdx.x; i < n; i += THREADS)
        sum += parts[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *g.out = static_cast<float>(g.scale * sum);
}

static __device__ double grad_scale(const dp_loss_args &g)
{
    return g.upstream ? g.scale * static_cast<double>(*g.upstream) : g.scale;
}

static __global__ void loss_grad(dp_loss_args g)
{
    const float *t = static_cast<const float *>(g.target);
    const double scale = grad_scale(g);
    for (size_t i = first_element(); i < g.rows * g.cols; i += stride()) {
        if (g.kind == DP_LOSS_MSE)
            g.out[i] = static_cast<float>(
                scale * 2.0 * (static_cast<double>(g.y[i]) - static_cast<double>(t[i])));
        else
            g.out[i] = static_cast<float>(t ? scale * static_cast<double>(t[i]) : scale);
    }
}

static __global__ void xent_grad(dp_loss_args g)
{
    const int32_t *target = static_cast<const int32_t *>(g.target);
    const double scale = grad_scale(g);
    const size_t step = static_cast<size_t>(gridDim.x) * ROWS;
    for (size_t from = static_cast<size_t>(blockIdx.x) * ROWS; from < g.rows; from += step) {
        const size_t r = from + threadIdx.x / WARP, cols = r < g.rows ? g.cols : 0;
        const float *y = g.y + r * g.cols;
        const double norm = log_sum_exp(y, cols);
        for (size_t c = threadIdx.x % WARP; c < cols; c += WARP) {
            const bool known = is_class(target[r], cols);
            const double p =
                known ? exp(static_cast<double>(y[c]) - norm) : static_cast<double>(NAN);
            const double hit = known && static_cast<size_t>(target[r]) == c ? 1.0 : 0.0;
            g.out[r * g.cols + c] = static_cast<float>(scale * (p - hit));
        }
    }
}

static __global__ void sgd(dp_sgd_args g)
{
    const float lr = *g.lr;
    for (size_t i = first_element(); i < g.n; i += stride()) {
        float step = g.grad[i] + g.decay * g.value[i];
        if (g.velocity) {
            step = g.first ? step : g.momentum * g.velocity[i] + step;
            g.velocity[i] = step;
        }
        g.value[i] -= lr * step;
    }
}

static __global__ void fill(dp_fill g)
{
    for (size_t i = first_element(); i < g.n; i += stride())
        g.dst[i] = g.value;
}

/* Memory that may be on another GPU is read and written in units of so many bytes. */
constexpr size_t WIDE = 16;

template <typename number> struct alignas(WIDE) wide {
    static constexpr size_t N = WIDE / sizeof(number);
    number at[N];
};

/* How n elements are cut: head single ones, then wide units, then single ones again. */
struct cuts {
    size_t head, wides;
};

/* All pointers must have the same offset from a wide unit as the first. */
template <typename number>
static __device__ cuts cut(const number *dst, const void *const src[], int n_src, size_t n)
{
    const size_t off = reinterpret_cast<uintptr_t>(dst) % WIDE;
    const size_t head = (WIDE - off) % WIDE / sizeof(number);
    bool alike = off % sizeof(number) == 0 && head <= n;
    for (int s = 0; s < n_src; ++s)
        alike = alike && reinterpret_cast<uintptr_t>(src[s]) % WIDE == off;
    if (!alike)
        return {0, 0};
    return {head, (n - head) / wide<number>::N};
}

/* The single elements before and after the wide units. */
template <typename operation>
static __device__ void do_singles(const cuts &c, size_t wide_n, size_t n, const operation &of)
{
    for (size_t i = first_element(); i < c.head; i += stride())
        of(i);
    for (size_t i = c.head + c.wides * wide_n + first_element(); i < n; i += stride())
        of(i);
}

template <typename number> static __device__ void reduce_element(const dp_reduce_args &g, size_t i)
{
    number *dst = static_cast<number *>(g.dst);
    number sum = static_cast<const number *>(g.src[0])[i];
    for (int s = 1; s < g.n_src; ++s)
        sum += static_cast<const number *>(g.src[s])[i];
    dst[i] = g.accumulate ? dst[i] + sum : sum;
}

template <typename number> static __device__ const wide<number> &wide_at(const void *from, size_t i)
{
    return *reinterpret_cast<const wide<number> *>(static_cast<const number *>(from) + i);
}

template <typename number> static __device__ void reduce_all(const dp_reduce_args &g)
{
    number *dst = static_cast<number *>(g.dst);
    const cuts c = cut(dst, g.src, g.n_src, g.n);
    for (size_t w = first_element(); w < c.wides; w += stride()) {
        const size_t i = c.head + w * wide<number>::N;
        wide<number> sum = wide_at<number>(g.src[0], i);
        for (int s = 1; s < g.n_src; ++s) {
            const wide<number> more = wide_at<number>(g.src[s], i);
            for (size_t k = 0; k < wide<number>::N; ++k)
                sum.at[k] += more.at[k];
        }
        wide<number> &to = *reinterpret_cast<wide<number> *>(dst + i);
        for (size_t k = 0; g.accumulate && k < wide<number>::N; ++k)
            sum.at[k] = to.at[k] + sum.at[k];
        to = sum;
    }
    do_singles(c, wide<number>::N, g.n, [&](size_t i) { reduce_element<number>(g, i); });
}

/* Integer sums wrap, so they are unsigned. */
static __global__ void reduce(dp_reduce_args g)
{
    if (g.dtype == DP_F32)
        reduce_all<float>(g);
    else if (g.dtype == DP_F64)
        reduce_all<double>(g);
    else if (g.dtype == DP_I32)
        reduce_all<uint32_t>(g);
    else
        reduce_all<uint64_t>(g);
}

static __global__ void mean(dp_mean_args g)
{
    const void *src[DP_MAX_SLOTS];
    for (int s = 0; s < g.n_src; ++s)
        src[s] = g.src[s];
    const cuts c = cut(g.dst, src, g.n_src, g.n);
    for (size_t w = first_element(); w < c.wides; w += stride()) {
        const size_t i = c.head + w * wide<float>::N;
        wide<float> sum = wide_at<float>(g.src[0], i);
        for (size_t k = 0; k < wide<float>::N; ++k)
            sum.at[k] *= g.scale;
        for (int s = 1; s < g.n_src; ++s) {
            const wide<float> more = wide_at<float>(g.src[s], i);
            for (size_t k = 0; k < wide<float>::N; ++k)
                sum.at[k] += g.scale * more.at[k];
        }
        *reinterpret_cast<wide<float> *>(g.dst + i) = sum;
    }
    do_singles(c, wide<float>::N, g.n, [&](size_t i) {
        float sum = g.scale * g.src[0][i];
        for (int s = 1; s < g.n_src; ++s)
            sum += g.scale * g.src[s][i];
        g.dst[i] = sum;
    });
}

static __global__ void round_bf16(dp_round_bf16 g)
{
    for (size_t i = first_element(); i < g.n; i += stride()) {
        const uint32_t bits = __float_as_uint(g.src[i]);
        const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        g.dst[i] = static_cast<uint16_t>(nan ? bits >> 16 | 0x40u : rounded);
    }
}

int dp_cuda_kernels_there(void)
{
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, fill);
}

int dp_cuda_launch_add_bias(const void *args, cudaStream_t stream)
{
    const struct dp_add_bias *g = static_cast<const struct dp_add_bias *>(args);
    return start(add_bias, args, g->rows * g->cols, stream);
}

int dp_cuda_launch_sum_rows(const void *args, cudaStream_t stream)
{
    const struct dp_sum_rows *g = static_cast<const struct dp_sum_rows *>(args);
    return start_blocks(sum_rows, args, parts_of(g->cols, TILE), stream);
}

int dp_cuda_launch_relu(const void *args, cudaStream_t stream)
{
    const struct dp_activation *g = static_cast<const struct dp_activation *>(args);
    return start(relu, args, g->n, stream);
}

int dp_cuda_launch_relu_grad(const void *args, cudaStream_t stream)
{
    const struct dp_activation_grad *g = static_cast<const struct dp_activation_grad *>(args);
    return start(relu_grad, args, g->n, stream);
}

int dp_cuda_launch_tanh(const void *args, cudaStream_t stream)
{
    const struct dp_activation *g = static_cast<const struct dp_activation *>(args);
    return start(tanh_value, args, g->n, stream);
}

int dp_cuda_launch_tanh_grad(const void *args, cudaStream_t stream)
{
    const struct dp_activation_grad *g = static_cast<const struct dp_activation_grad *>(args);
    return start(tanh_grad, args, g->n, stream);
}

constexpr unsigned PARTS = BLOCKS_MAX < DP_CUDA_LOSS_PARTS ? BLOCKS_MAX : DP_CUDA_LOSS_PARTS;

static unsigned at_most_parts(size_t blocks)
{
    return blocks == 0 ? 1 : static_cast<unsigned>(blocks < PARTS ? blocks : PARTS);
}

int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, cudaStream_t stream)
{
    const bool classes = args->kind == DP_LOSS_XENT;
    const unsigned used = at_most_parts(classes ? parts_of(args->rows, ROWS)
                                                : parts_of(args->rows * args->cols, THREADS));
    if (classes)
        xent_parts<<<used, THREADS, 0, stream>>>(*args, parts);
    else
        loss_parts<<<used, THREADS, 0, stream>>>(*args, parts);
    const cudaError_t error = cudaGetLastError();
    if (error)
        return error;
    loss<<<1, THREADS, 0, stream>>>(*args, parts, used);
    return cudaGetLastError();
}

int dp_cuda_launch_loss_grad(const void *args, cudaStream_t stream)
{
    const struct dp_loss_args *g = static_cast<const struct dp_loss_args *>(args);
    if (g->kind == DP_LOSS_XENT)
        return start_blocks(xent_grad, args, parts_of(g->rows, ROWS), stream);
    return start(loss_grad, args, g->rows * g->cols, stream);
}

int dp_cuda_launch_sgd(const void *args, cudaStream_t stream)
{
    const struct dp_sgd_args *g = static_cast<const struct dp_sgd_args *>(args);
    return start(sgd, args, g->n, stream);
}

int dp_cuda_launch_fill(const void *args, cudaStream_t stream)
{
    const struct dp_fill *g = static_cast<const struct dp_fill *>(args);
    return start(fill, args, g->n, stream);
}

int dp_cuda_launch_reduce(const void *args, cudaStream_t stream)
{
    const struct dp_reduce_args *g = static_cast<const struct dp_reduce_args *>(args);
    return start_beside(reduce, args, g->n, stream);
}

int dp_cuda_launch_mean(const void *args, cudaStream_t stream)
{
    const struct dp_mean_args *g = static_cast<const struct dp_mean_args *>(args);
    return start_beside(mean, args, g->n, stream);
}

int dp_cuda_launch_round_bf16(const void *args, cudaStream_t stream)
{
    const struct dp_round_bf16 *g = static_cast<const struct dp_round_bf16 *>(args);
    return start(round_bf16, args, g->n, stream);
}

int dp_cuda_launch_delay(const void *args, cudaStream_t stream)
{
    return start(delay, args, 1, stream);
}
