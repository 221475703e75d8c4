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

TWIN(add_bias, ADD_BIAS, struct dp_add_bias)
{
    twin_writes(work, &a->y, a->rows * a->cols, true);
    twin_reads(work, &a->bias, a->rows ? a->cols : 0);
}

TWIN(sum_rows, SUM_ROWS, struct dp_sum_rows)
{
    twin_writes(work, &a->out, a->cols, a->accumulate);
    twin_reads(work, &a->x, a->rows * a->cols);
}

static void use_activation(struct fake_work *work, struct dp_activation *a)
{
    twin_writes(work, &a->y, a->n, false);
    twin_reads(work, &a->x, a->n);
}

TWIN(relu, RELU, struct dp_activation)
{
    use_activation(work, a);
}

TWIN(tanh, TANH, struct dp_activation)
{
    use_activation(work, a);
}

static void use_activation_grad(struct fake_work *work, struct dp_activation_grad *a)
{
    twin_writes(work, &a->dx, a->n, false);
    twin_reads(work, &a->dy, a->n);
    twin_reads(work, &a->y, a->n);
}

TWIN(relu_grad, RELU_GRAD, struct dp_activation_grad)
{
    use_activation_grad(work, a);
}

TWIN(tanh_grad, TANH_GRAD, struct dp_activation_grad)
{
    use_activation_grad(work, a);
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

TWIN(sgd, SGD, struct dp_sgd_args)
{
    twin_writes(work, &a->value, a->n, true);
    twin_writes(work, &a->velocity, a->n, !a->first);
    twin_reads(work, &a->grad, a->n);
    twin_reads(work, &a->lr, 1);
}

TWIN(adamw, ADAMW, struct dp_adamw_args)
{
    twin_writes(work, &a->value, a->n, true);
    twin_writes(work, &a->m, a->n, !a->first);
    twin_writes(work, &a->s, a->n, !a->first);
    twin_reads(work, &a->grad, a->n);
    twin_reads(work, &a->rates, 3);
}

TWIN(squares, SQUARES, struct dp_squares_args)
{
    const size_t n = (a->n + DP_SQUARES_CHUNK - 1) / DP_SQUARES_CHUNK;
    a->sums = twin_uses(work, a->sums, 2 * n, FAKE_WRITE);
    twin_reads(work, &a->x, a->n);
}

TWIN(clip, CLIP, struct dp_clip_args)
{
    a->sums = twin_uses(work, a->sums, 2 * a->n, FAKE_READ);
    a->norm = twin_uses(work, a->norm, 2, FAKE_WRITE);
    twin_writes(work, &a->factor, 1, false);
}

TWIN(scale, SCALE, struct dp_scale_args)
{
    twin_writes(work, &a->x, a->n, true);
    twin_reads(work, &a->factor, 1);
}

TWIN(fill, FILL, struct dp_fill)
{
    twin_writes(work, &a->dst, a->n, false);
}

TWIN(reduce, REDUCE, struct dp_reduce_args)
{
    const size_t bytes = a->n * (a->dtype == DP_F64 || a->dtype == DP_I64 ? 8 : 4);
    a->dst = fake_uses(work, a->dst, bytes, a->accumulate ? FAKE_BOTH : FAKE_WRITE);
    for (int i = 0; i < a->n_src; ++i)
        a->src[i] = fake_uses(work, a->src[i], bytes, FAKE_READ);
}

TWIN(mean, MEAN, struct dp_mean_args)
{
    twin_writes(work, &a->dst, a->n, false);
    for (int i = 0; i < a->n_src; ++i)
        twin_reads(work, &a->src[i], a->n);
}

TWIN(round_bf16, ROUND_BF16, struct dp_round_bf16)
{
    if (a->dst)
        a->dst = fake_uses(work, a->dst, a->n * sizeof *a->dst, FAKE_WRITE);
    twin_reads(work, &a->src, a->n);
}

int dp_cuda_launch_delay(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_delay", stream);
    return twin_end(&launch, DP_KERNEL_DELAY, args, sizeof(struct dp_delay_args));
}
