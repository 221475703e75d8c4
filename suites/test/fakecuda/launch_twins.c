/* launch_twins.c: the launches of core/cuda/kernels.cu, with the portable kernels in place of
 * nvcc's. */
#include "launch_twins.h"

/* As if built for compute capability 7.5 and newer. */
int dp_cuda_kernels_there(void)
{
    struct fake_call call = {.name = "cudaFuncGetAttributes"};
    if (fake_enter(&call) && fake.config.capability < 75)
        fake_result(&call, cudaErrorNoKernelImageForDevice);
    return (int)fake_leave(&call);
}

int dp_cuda_launch_add_bias(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_add_bias", stream);
    struct dp_add_bias a = *(const struct dp_add_bias *)args;
    twin_writes(launch.work, &a.y, a.rows * a.cols, true);
    twin_reads(launch.work, &a.bias, a.rows ? a.cols : 0);
    return twin_end(&launch, DP_KERNEL_ADD_BIAS, &a, sizeof a);
}

int dp_cuda_launch_sum_rows(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_sum_rows", stream);
    struct dp_sum_rows a = *(const struct dp_sum_rows *)args;
    twin_writes(launch.work, &a.out, a.cols, a.accumulate);
    twin_reads(launch.work, &a.x, a.rows * a.cols);
    return twin_end(&launch, DP_KERNEL_SUM_ROWS, &a, sizeof a);
}

static int activation(const char *name, enum dp_kernel kernel, const struct dp_activation *args,
                      struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_activation a = *args;
    twin_writes(launch.work, &a.y, a.n, false);
    twin_reads(launch.work, &a.x, a.n);
    return twin_end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_relu(const void *args, struct CUstream_st *stream)
{
    return activation("dp_cuda_launch_relu", DP_KERNEL_RELU, args, stream);
}

int dp_cuda_launch_tanh(const void *args, struct CUstream_st *stream)
{
    return activation("dp_cuda_launch_tanh", DP_KERNEL_TANH, args, stream);
}

static int activation_grad(const char *name, enum dp_kernel kernel,
                           const struct dp_activation_grad *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_activation_grad a = *args;
    twin_writes(launch.work, &a.dx, a.n, false);
    twin_reads(launch.work, &a.dy, a.n);
    twin_reads(launch.work, &a.y, a.n);
    return twin_end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_relu_grad(const void *args, struct CUstream_st *stream)
{
    return activation_grad("dp_cuda_launch_relu_grad", DP_KERNEL_RELU_GRAD, args, stream);
}

int dp_cuda_launch_tanh_grad(const void *args, struct CUstream_st *stream)
{
    return activation_grad("dp_cuda_launch_tanh_grad", DP_KERNEL_TANH_GRAD, args, stream);
}

static int launch_loss(const char *name, enum dp_kernel kernel, const struct dp_loss_args *args,
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
        twin_reads(launch.work, &a.y, n);
    if (a.target)
        a.target = fake_uses(launch.work, a.target,
                             classes ? a.rows * sizeof(int32_t) : n * sizeof(float), FAKE_READ);
    twin_reads(launch.work, &a.upstream, all ? 1 : 0);
    twin_writes(launch.work, &a.out, all ? n : 1, false);
    return twin_end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_loss(const struct dp_loss_args *args, double *parts, struct CUstream_st *stream)
{
    return launch_loss("dp_cuda_launch_loss", DP_KERNEL_LOSS, args, parts, stream);
}

int dp_cuda_launch_loss_grad(const void *args, struct CUstream_st *stream)
{
    return launch_loss("dp_cuda_launch_loss_grad", DP_KERNEL_LOSS_GRAD, args, NULL, stream);
}

int dp_cuda_launch_sgd(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_sgd", stream);
    struct dp_sgd_args a = *(const struct dp_sgd_args *)args;
    twin_writes(launch.work, &a.value, a.n, true);
    twin_writes(launch.work, &a.velocity, a.n, !a.first);
    twin_reads(launch.work, &a.grad, a.n);
    twin_reads(launch.work, &a.lr, 1);
    return twin_end(&launch, DP_KERNEL_SGD, &a, sizeof a);
}

int dp_cuda_launch_adamw(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_adamw", stream);
    struct dp_adamw_args a = *(const struct dp_adamw_args *)args;
    twin_writes(launch.work, &a.value, a.n, true);
    twin_writes(launch.work, &a.m, a.n, !a.first);
    twin_writes(launch.work, &a.s, a.n, !a.first);
    twin_reads(launch.work, &a.grad, a.n);
    twin_reads(launch.work, &a.rates, 3);
    return twin_end(&launch, DP_KERNEL_ADAMW, &a, sizeof a);
}

int dp_cuda_launch_squares(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_squares", stream);
    struct dp_squares_args a = *(const struct dp_squares_args *)args;
    const size_t n = (a.n + DP_SQUARES_CHUNK - 1) / DP_SQUARES_CHUNK;
    a.sums = twin_uses(launch.work, a.sums, 2 * n, FAKE_WRITE);
    twin_reads(launch.work, &a.x, a.n);
    return twin_end(&launch, DP_KERNEL_SQUARES, &a, sizeof a);
}

int dp_cuda_launch_clip(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_clip", stream);
    struct dp_clip_args a = *(const struct dp_clip_args *)args;
    a.sums = twin_uses(launch.work, a.sums, 2 * a.n, FAKE_READ);
    a.norm = twin_uses(launch.work, a.norm, 2, FAKE_WRITE);
    twin_writes(launch.work, &a.factor, 1, false);
    return twin_end(&launch, DP_KERNEL_CLIP, &a, sizeof a);
}

int dp_cuda_launch_scale(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_scale", stream);
    struct dp_scale_args a = *(const struct dp_scale_args *)args;
    twin_writes(launch.work, &a.x, a.n, true);
    twin_reads(launch.work, &a.factor, 1);
    return twin_end(&launch, DP_KERNEL_SCALE, &a, sizeof a);
}

int dp_cuda_launch_fill(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_fill", stream);
    struct dp_fill a = *(const struct dp_fill *)args;
    twin_writes(launch.work, &a.dst, a.n, false);
    return twin_end(&launch, DP_KERNEL_FILL, &a, sizeof a);
}

static size_t launch_size_of(enum dp_dtype dtype)
{
    return dtype == DP_F64 || dtype == DP_I64 ? 8 : 4;
}

int dp_cuda_launch_reduce(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_reduce", stream);
    struct dp_reduce_args a = *(const struct dp_reduce_args *)args;
    const size_t bytes = a.n * launch_size_of(a.dtype);
    a.dst = fake_uses(launch.work, a.dst, bytes, a.accumulate ? FAKE_BOTH : FAKE_WRITE);
    for (int i = 0; i < a.n_src; ++i)
        a.src[i] = fake_uses(launch.work, a.src[i], bytes, FAKE_READ);
    return twin_end(&launch, DP_KERNEL_REDUCE, &a, sizeof a);
}

int dp_cuda_launch_mean(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_mean", stream);
    struct dp_mean_args a = *(const struct dp_mean_args *)args;
    twin_writes(launch.work, &a.dst, a.n, false);
    for (int i = 0; i < a.n_src; ++i)
        twin_reads(launch.work, &a.src[i], a.n);
    return twin_end(&launch, DP_KERNEL_MEAN, &a, sizeof a);
}

int dp_cuda_launch_round_bf16(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_round_bf16", stream);
    struct dp_round_bf16 a = *(const struct dp_round_bf16 *)args;
    if (a.dst)
        a.dst = fake_uses(launch.work, a.dst, a.n * sizeof *a.dst, FAKE_WRITE);
    twin_reads(launch.work, &a.src, a.n);
    return twin_end(&launch, DP_KERNEL_ROUND_BF16, &a, sizeof a);
}

int dp_cuda_launch_delay(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_delay", stream);
    return twin_end(&launch, DP_KERNEL_DELAY, args, sizeof(struct dp_delay_args));
}
