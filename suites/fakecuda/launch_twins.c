/* launch_twins.c: core/cuda/launch.h with the portable kernels in place of nvcc's. Each launch
 * names the memory that its kernel reads and writes, row for row as the kernel does. */
#include "../../core/cuda/launch.h"

#include "fake.h"

/* Of core/backend.h: the portable kernels. */
extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

static void floats(struct fake_work *work, const float **pointer, size_t n, unsigned use)
{
    if (*pointer)
        *pointer = fake_uses(work, *pointer, n * sizeof **pointer, use);
}

static void written(struct fake_work *work, float **pointer, size_t n, bool read_too)
{
    if (*pointer)
        *pointer =
            fake_uses(work, *pointer, n * sizeof **pointer, read_too ? FAKE_BOTH : FAKE_WRITE);
}

/* As if built for compute capability 8.0 and newer. */
int dp_cuda_kernels_there(void)
{
    struct fake_call call = {.name = "cudaFuncGetAttributes"};
    if (fake_enter(&call) && fake.config.capability < 80)
        fake_result(&call, cudaErrorNoKernelImageForDevice);
    return (int)fake_leave(&call);
}

static int end(struct fake_launch *launch, enum dp_kernel kernel, const void *args, size_t bytes)
{
    return fake_launch_end(launch, dp_kernels_ref[kernel], args, bytes);
}

int dp_cuda_launch_add_bias(const struct dp_add_bias *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_add_bias", stream);
    struct dp_add_bias a = *args;
    written(launch.work, &a.y, a.rows * a.cols, true);
    floats(launch.work, &a.bias, a.rows ? a.cols : 0, FAKE_READ);
    return end(&launch, DP_KERNEL_ADD_BIAS, &a, sizeof a);
}

int dp_cuda_launch_sum_rows(const struct dp_sum_rows *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_sum_rows", stream);
    struct dp_sum_rows a = *args;
    written(launch.work, &a.out, a.cols, a.accumulate);
    floats(launch.work, &a.x, a.rows * a.cols, FAKE_READ);
    return end(&launch, DP_KERNEL_SUM_ROWS, &a, sizeof a);
}

static int activation(const char *name, enum dp_kernel kernel, const struct dp_activation *args,
                      struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_activation a = *args;
    written(launch.work, &a.y, a.n, false);
    floats(launch.work, &a.x, a.n, FAKE_READ);
    return end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_relu(const struct dp_activation *args, struct CUstream_st *stream)
{
    return activation("dp_cuda_launch_relu", DP_KERNEL_RELU, args, stream);
}

int dp_cuda_launch_tanh(const struct dp_activation *args, struct CUstream_st *stream)
{
    return activation("dp_cuda_launch_tanh", DP_KERNEL_TANH, args, stream);
}

static int activation_grad(const char *name, enum dp_kernel kernel,
                           const struct dp_activation_grad *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_activation_grad a = *args;
    written(launch.work, &a.dx, a.n, false);
    floats(launch.work, &a.dy, a.n, FAKE_READ);
    floats(launch.work, &a.y, a.n, FAKE_READ);
    return end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_relu_grad(const struct dp_activation_grad *args, struct CUstream_st *stream)
{
    return activation_grad("dp_cuda_launch_relu_grad", DP_KERNEL_RELU_GRAD, args, stream);
}

int dp_cuda_launch_tanh_grad(const struct dp_activation_grad *args, struct CUstream_st *stream)
{
    return activation_grad("dp_cuda_launch_tanh_grad", DP_KERNEL_TANH_GRAD, args, stream);
}

static int loss(const char *name, enum dp_kernel kernel, const struct dp_loss_args *args,
                double *parts, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_loss_args a = *args;
    if (parts)
        fake_uses(launch.work, parts, DP_CUDA_LOSS_PARTS * sizeof *parts, FAKE_WRITE);
    const size_t n = a.rows * a.cols;
    const bool classes = a.kind == DP_LOSS_XENT, all = kernel == DP_KERNEL_LOSS_GRAD;
    /* The gradient of a sum is made without its values. */
    if (!all || a.kind != DP_LOSS_SUM)
        floats(launch.work, &a.y, n, FAKE_READ);
    if (a.target)
        a.target = fake_uses(launch.work, a.target,
                             classes ? a.rows * sizeof(int32_t) : n * sizeof(float), FAKE_READ);
    floats(launch.work, &a.upstream, all ? 1 : 0, FAKE_READ);
    written(launch.work, &a.out, all ? n : 1, false);
    return end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream)
{
    return loss("dp_cuda_launch_loss", DP_KERNEL_LOSS, args, parts, stream);
}

int dp_cuda_launch_loss_grad(const struct dp_loss_args *args, struct CUstream_st *stream)
{
    return loss("dp_cuda_launch_loss_grad", DP_KERNEL_LOSS_GRAD, args, NULL, stream);
}

int dp_cuda_launch_sgd(const struct dp_sgd_args *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_sgd", stream);
    struct dp_sgd_args a = *args;
    written(launch.work, &a.value, a.n, true);
    written(launch.work, &a.velocity, a.n, !a.first);
    floats(launch.work, &a.grad, a.n, FAKE_READ);
    floats(launch.work, &a.lr, 1, FAKE_READ);
    return end(&launch, DP_KERNEL_SGD, &a, sizeof a);
}

int dp_cuda_launch_fill(const struct dp_fill *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_fill", stream);
    struct dp_fill a = *args;
    written(launch.work, &a.dst, a.n, false);
    return end(&launch, DP_KERNEL_FILL, &a, sizeof a);
}

static size_t size_of(enum dp_dtype dtype)
{
    return dtype == DP_F64 || dtype == DP_I64 ? 8 : 4;
}

int dp_cuda_launch_reduce(const struct dp_reduce_args *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_reduce", stream);
    struct dp_reduce_args a = *args;
    const size_t bytes = a.n * size_of(a.dtype);
    a.dst = fake_uses(launch.work, a.dst, bytes, a.accumulate ? FAKE_BOTH : FAKE_WRITE);
    for (int i = 0; i < a.n_src; ++i)
        a.src[i] = fake_uses(launch.work, a.src[i], bytes, FAKE_READ);
    return end(&launch, DP_KERNEL_REDUCE, &a, sizeof a);
}

int dp_cuda_launch_mean(const struct dp_mean_args *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_mean", stream);
    struct dp_mean_args a = *args;
    written(launch.work, &a.dst, a.n, false);
    for (int i = 0; i < a.n_src; ++i)
        floats(launch.work, &a.src[i], a.n, FAKE_READ);
    return end(&launch, DP_KERNEL_MEAN, &a, sizeof a);
}

int dp_cuda_launch_round_bf16(const struct dp_round_bf16 *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_round_bf16", stream);
    struct dp_round_bf16 a = *args;
    if (a.dst)
        a.dst = fake_uses(launch.work, a.dst, a.n * sizeof *a.dst, FAKE_WRITE);
    floats(launch.work, &a.src, a.n, FAKE_READ);
    return end(&launch, DP_KERNEL_ROUND_BF16, &a, sizeof a);
}
