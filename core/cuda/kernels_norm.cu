/* kernels_norm.cu: the kernels of batch normalisation on a GPU. A block has a channel: each thread
 * adds every so many of its values, then the block its threads' sums, all in double. */
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
