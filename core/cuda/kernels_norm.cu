/* kernels_norm.cu: the kernels of batch and layer normalisation on a GPU. A block has a channel or
 * a row. Each thread adds every n-th value; then the block adds the sums of its threads, all in
 * double. */
#include "kernel.cuh"

/* Value number k of channel c. */
static __device__ size_t place(const dp_batch_norm_args &g, size_t c, size_t k)
{
    return (k / g.inner * g.channels + c) * g.inner + k % g.inner;
}

static __device__ void normalise(const dp_batch_norm_args &g, size_t c, double mean, double var)
{
    const double invstd = 1.0 / sqrt(var + g.eps);
    const double factor = invstd * static_cast<double>(g.weight[c]);
    const double bias = static_cast<double>(g.bias[c]);
    if (threadIdx.x == 0) {
        g.mean[c] = static_cast<float>(mean);
        g.invstd[c] = static_cast<float>(invstd);
    }
    for (size_t k = threadIdx.x; k < g.rows * g.inner; k += THREADS) {
        const size_t i = place(g, c, k);
        g.y[i] = static_cast<float>((static_cast<double>(g.x[i]) - mean) * factor + bias);
    }
}

static __device__ void move_to(float *running, double momentum, double value)
{
    *running =
        static_cast<float>((1.0 - momentum) * static_cast<double>(*running) + momentum * value);
}

static __global__ void batch_norm(dp_batch_norm_args g)
{
    const size_t n = g.rows * g.inner;
    for (size_t c = blockIdx.x; c < g.channels; c += gridDim.x) {
        double sum = 0.0, squares = 0.0;
        for (size_t k = threadIdx.x; k < n; k += THREADS)
            sum += static_cast<double>(g.x[place(g, c, k)]);
        const double mean = block_sum(sum) / static_cast<double>(n);
        for (size_t k = threadIdx.x; k < n; k += THREADS) {
            const double d = static_cast<double>(g.x[place(g, c, k)]) - mean;
            squares += d * d;
        }
        squares = block_sum(squares);
        normalise(g, c, mean, squares / static_cast<double>(n));
        if (threadIdx.x == 0) {
            move_to(&g.running_mean[c], g.momentum, mean);
            move_to(&g.running_var[c], g.momentum, squares / (static_cast<double>(n) - 1.0));
        }
    }
    if (first_element() == 0)
        *g.count += 1;
}

static __global__ void batch_norm_eval(dp_batch_norm_args g)
{
    for (size_t c = blockIdx.x; c < g.channels; c += gridDim.x)
        normalise(g, c, static_cast<double>(g.running_mean[c]),
                  static_cast<double>(g.running_var[c]));
}

static __device__ void add_to(float *grad, size_t c, double value, bool accumulate)
{
    if (grad)
        grad[c] = static_cast<float>(accumulate ? static_cast<double>(grad[c]) + value : value);
}

/* dx of a channel from the sums of dy and of dy xhat. */
static __device__ void input_grad(const dp_batch_norm_args &g, size_t c, double sum, double product)
{
    const size_t n = g.rows * g.inner;
    const double mean = static_cast<double>(g.mean[c]), invstd = static_cast<double>(g.invstd[c]);
    const double factor = static_cast<double>(g.weight[c]) * invstd;
    const double shift = g.training ? sum / static_cast<double>(n) : 0.0;
    const double slope = g.training ? product / static_cast<double>(n) : 0.0;
    for (size_t k = threadIdx.x; k < n; k += THREADS) {
        const size_t i = place(g, c, k);
        const double xhat = (static_cast<double>(g.x[i]) - mean) * invstd;
        g.y[i] = static_cast<float>(factor * (static_cast<double>(g.dy[i]) - shift - xhat * slope));
    }
}

static __global__ void batch_norm_grad(dp_batch_norm_args g)
{
    for (size_t c = blockIdx.x; c < g.channels; c += gridDim.x) {
        const double mean = static_cast<double>(g.mean[c]);
        const double invstd = static_cast<double>(g.invstd[c]);
        double sum = 0.0, product = 0.0;
        for (size_t k = threadIdx.x; k < g.rows * g.inner; k += THREADS) {
            const size_t i = place(g, c, k);
            const double dy = static_cast<double>(g.dy[i]);
            sum += dy;
            product += dy * (static_cast<double>(g.x[i]) - mean) * invstd;
        }
        sum = block_sum(sum);
        product = block_sum(product);
        if (threadIdx.x == 0) {
            add_to(g.dweight, c, product, g.accumulate_weight);
            add_to(g.dbias, c, sum, g.accumulate_bias);
        }
        if (g.y)
            input_grad(g, c, sum, product);
    }
}

static __global__ void layer_norm(dp_layer_norm_args g)
{
    const double n = static_cast<double>(g.width);
    for (size_t r = blockIdx.x; r < g.rows; r += gridDim.x) {
        const float *x = g.x + r * g.width;
        double sum = 0.0, squares = 0.0;
        for (size_t c = threadIdx.x; c < g.width; c += THREADS)
            sum += static_cast<double>(x[c]);
        const double mean = block_sum(sum) / n;
        for (size_t c = threadIdx.x; c < g.width; c += THREADS) {
            const double d = static_cast<double>(x[c]) - mean;
            squares += d * d;
        }
        const double invstd = 1.0 / sqrt(block_sum(squares) / n + g.eps);
        if (threadIdx.x == 0) {
            g.mean[r] = static_cast<float>(mean);
            g.invstd[r] = static_cast<float>(invstd);
        }
        for (size_t c = threadIdx.x; c < g.width; c += THREADS)
            g.y[r * g.width + c] = static_cast<float>((static_cast<double>(x[c]) - mean) * invstd *
                                                          static_cast<double>(g.weight[c]) +
                                                      static_cast<double>(g.bias[c]));
    }
}

static __device__ double row_xhat(const dp_layer_norm_args &g, size_t r, size_t c)
{
    return (static_cast<double>(g.x[r * g.width + c]) - static_cast<double>(g.mean[r])) *
           static_cast<double>(g.invstd[r]);
}

static __device__ double row_slope(const dp_layer_norm_args &g, size_t r, size_t c)
{
    return static_cast<double>(g.dy[r * g.width + c]) * static_cast<double>(g.weight[c]);
}

static __global__ void layer_norm_input(dp_layer_norm_args g)
{
    for (size_t r = blockIdx.x; r < g.rows; r += gridDim.x) {
        double sum = 0.0, product = 0.0;
        for (size_t c = threadIdx.x; c < g.width; c += THREADS) {
            const double d = row_slope(g, r, c);
            sum += d;
            product += d * row_xhat(g, r, c);
        }
        const double shift = block_sum(sum) / static_cast<double>(g.width);
        const double slope = block_sum(product) / static_cast<double>(g.width);
        for (size_t c = threadIdx.x; c < g.width; c += THREADS)
            g.y[r * g.width + c] =
                static_cast<float>(static_cast<double>(g.invstd[r]) *
                                   (row_slope(g, r, c) - shift - row_xhat(g, r, c) * slope));
    }
}

constexpr unsigned COLUMNS = 32, LANES = THREADS / COLUMNS;

/* A block has COLUMNS columns. Lane l adds rows l, l + LANES, ... of each in order; then the lanes
 * are added in a tree. */
static __global__ void layer_norm_params(dp_layer_norm_args g)
{
    __shared__ double sums[THREADS], products[THREADS];
    const size_t step = static_cast<size_t>(gridDim.x) * COLUMNS;
    const unsigned lane = threadIdx.x / COLUMNS;
    for (size_t from = static_cast<size_t>(blockIdx.x) * COLUMNS; from < g.width; from += step) {
        const size_t c = from + threadIdx.x % COLUMNS;
        double sum = 0.0, product = 0.0;
        for (size_t r = lane; c < g.width && r < g.rows; r += LANES) {
            const double dy = static_cast<double>(g.dy[r * g.width + c]);
            sum += dy;
            product += dy * row_xhat(g, r, c);
        }
        sums[threadIdx.x] = sum;
        products[threadIdx.x] = product;
        __syncthreads();
        for (unsigned half = THREADS / 2; half >= COLUMNS; half /= 2) {
            if (threadIdx.x < half) {
                sums[threadIdx.x] += sums[threadIdx.x + half];
                products[threadIdx.x] += products[threadIdx.x + half];
            }
            __syncthreads();
        }
        if (lane == 0 && c < g.width) {
            add_to(g.dweight, c, products[threadIdx.x], g.accumulate_weight);
            add_to(g.dbias, c, sums[threadIdx.x], g.accumulate_bias);
        }
        __syncthreads();
    }
}

int dp_cuda_launch_batch_norm(const void *args, cudaStream_t stream)
{
    const struct dp_batch_norm_args *g = static_cast<const struct dp_batch_norm_args *>(args);
    return start_blocks(batch_norm, args, g->channels, stream);
}

int dp_cuda_launch_batch_norm_eval(const void *args, cudaStream_t stream)
{
    const struct dp_batch_norm_args *g = static_cast<const struct dp_batch_norm_args *>(args);
    return start_blocks(batch_norm_eval, args, g->channels, stream);
}

int dp_cuda_launch_batch_norm_grad(const void *args, cudaStream_t stream)
{
    const struct dp_batch_norm_args *g = static_cast<const struct dp_batch_norm_args *>(args);
    return start_blocks(batch_norm_grad, args, g->channels, stream);
}

int dp_cuda_launch_layer_norm(const void *args, cudaStream_t stream)
{
    const struct dp_layer_norm_args *g = static_cast<const struct dp_layer_norm_args *>(args);
    return start_blocks(layer_norm, args, g->rows, stream);
}

int dp_cuda_launch_layer_norm_grad(const void *args, cudaStream_t stream)
{
    const struct dp_layer_norm_args *g = static_cast<const struct dp_layer_norm_args *>(args);
    const int error = g->y ? start_blocks(layer_norm_input, args, g->rows, stream) : 0;
    if (error || (!g->dweight && !g->dbias))
        return error;
    return start_blocks(layer_norm_params, args, parts_of(g->width, COLUMNS), stream);
}
