/* launch_twins_transformer.c: the launches of core/cuda/kernels_transformer.cu and of the layer
 * normalisation in kernels_norm.cu on the host. */
#include "launch_twins.h"

int dp_cuda_launch_gelu(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_gelu", stream);
    struct dp_gelu_args a = *(const struct dp_gelu_args *)args;
    twin_writes(launch.work, &a.y, a.n, false);
    twin_reads(launch.work, &a.x, a.n);
    return twin_end(&launch, DP_KERNEL_GELU, &a, sizeof a);
}

int dp_cuda_launch_gelu_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_gelu_grad", stream);
    struct dp_gelu_args a = *(const struct dp_gelu_args *)args;
    twin_writes(launch.work, &a.y, a.n, false);
    twin_reads(launch.work, &a.x, a.n);
    twin_reads(launch.work, &a.dy, a.n);
    return twin_end(&launch, DP_KERNEL_GELU_GRAD, &a, sizeof a);
}

int dp_cuda_launch_layer_norm(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_layer_norm", stream);
    struct dp_layer_norm_args a = *(const struct dp_layer_norm_args *)args;
    const size_t width = a.rows > 0 ? a.width : 0;
    twin_reads(launch.work, &a.x, a.rows * a.width);
    twin_reads(launch.work, &a.weight, width);
    twin_reads(launch.work, &a.bias, width);
    twin_writes(launch.work, &a.y, a.rows * a.width, false);
    twin_writes(launch.work, &a.mean, a.rows, false);
    twin_writes(launch.work, &a.invstd, a.rows, false);
    return twin_end(&launch, DP_KERNEL_LAYER_NORM, &a, sizeof a);
}

int dp_cuda_launch_layer_norm_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_layer_norm_grad", stream);
    struct dp_layer_norm_args a = *(const struct dp_layer_norm_args *)args;
    const size_t n = a.rows * a.width;
    twin_reads(launch.work, &a.x, n);
    twin_reads(launch.work, &a.dy, n);
    twin_reads(launch.work, &a.weight, a.y && n > 0 ? a.width : 0);
    a.mean = twin_uses(launch.work, a.mean, a.rows, FAKE_READ);
    a.invstd = twin_uses(launch.work, a.invstd, a.rows, FAKE_READ);
    twin_writes(launch.work, &a.y, n, false);
    twin_writes(launch.work, &a.dweight, a.width, a.accumulate_weight);
    twin_writes(launch.work, &a.dbias, a.width, a.accumulate_bias);
    return twin_end(&launch, DP_KERNEL_LAYER_NORM_GRAD, &a, sizeof a);
}

int dp_cuda_launch_causal(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_causal", stream);
    struct dp_causal_args a = *(const struct dp_causal_args *)args;
    twin_writes(launch.work, &a.p, a.n * a.time * a.time, true);
    return twin_end(&launch, DP_KERNEL_CAUSAL, &a, sizeof a);
}

int dp_cuda_launch_causal_grad(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_causal_grad", stream);
    struct dp_causal_args a = *(const struct dp_causal_args *)args;
    a.p = twin_uses(launch.work, a.p, a.n * a.time * a.time, FAKE_READ);
    twin_writes(launch.work, &a.d, a.n * a.time * a.time, true);
    return twin_end(&launch, DP_KERNEL_CAUSAL_GRAD, &a, sizeof a);
}
