/* launch_twins_image.c: the launches of core/cuda/kernels_image.cu on the host. */
#include "launch_twins.h"

static size_t input_size(const struct dp_geometry *at)
{
    return at->images * at->channels * at->height * at->width;
}

static size_t windows(const struct dp_geometry *at)
{
    return at->images * at->out[0] * at->out[1];
}

static int launch_twins_image_columns(const char *name, enum dp_kernel kernel,
                                      const struct dp_columns *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_columns a = *args;
    const size_t rows = a.at.channels * a.at.kernel[0] * a.at.kernel[1];
    const bool gathers = kernel == DP_KERNEL_IM2COL;
    a.col = twin_uses(launch.work, a.col, rows * windows(&a.at), gathers ? FAKE_WRITE : FAKE_READ);
    a.x = twin_uses(launch.work, a.x, input_size(&a.at), gathers ? FAKE_READ : FAKE_WRITE);
    return twin_end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_im2col(const void *args, struct CUstream_st *stream)
{
    return launch_twins_image_columns("dp_cuda_launch_im2col", DP_KERNEL_IM2COL, args, stream);
}

int dp_cuda_launch_col2im(const void *args, struct CUstream_st *stream)
{
    return launch_twins_image_columns("dp_cuda_launch_col2im", DP_KERNEL_COL2IM, args, stream);
}

int dp_cuda_launch_swap(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_swap", stream);
    struct dp_swap a = *(const struct dp_swap *)args;
    const size_t n = a.i * a.j * a.block;
    twin_writes(launch.work, &a.y, n, false);
    twin_reads(launch.work, &a.x, n);
    twin_reads(launch.work, &a.bias, n > 0 ? a.i : 0);
    return twin_end(&launch, DP_KERNEL_SWAP, &a, sizeof a);
}

int dp_cuda_launch_add_rows(const void *args, struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin("dp_cuda_launch_add_rows", stream);
    struct dp_add_rows a = *(const struct dp_add_rows *)args;
    twin_writes(launch.work, &a.out, a.rows, a.accumulate);
    twin_reads(launch.work, &a.x, a.rows * a.cols);
    return twin_end(&launch, DP_KERNEL_ADD_ROWS, &a, sizeof a);
}

static int max_pool(const char *name, enum dp_kernel kernel, const struct dp_max_pool *args,
                    struct CUstream_st *stream)
{
    struct fake_launch launch = fake_launch_begin(name, stream);
    struct dp_max_pool a = *args;
    const size_t n = a.at.channels * windows(&a.at);
    const bool back = kernel == DP_KERNEL_MAX_POOL_GRAD;
    a.y = twin_uses(launch.work, a.y, n, back ? FAKE_READ : FAKE_WRITE);
    a.index = twin_uses(launch.work, a.index, n, back ? FAKE_READ : FAKE_WRITE);
    a.x = twin_uses(launch.work, a.x, input_size(&a.at), back ? FAKE_WRITE : FAKE_READ);
    return twin_end(&launch, kernel, &a, sizeof a);
}

int dp_cuda_launch_max_pool(const void *args, struct CUstream_st *stream)
{
    return max_pool("dp_cuda_launch_max_pool", DP_KERNEL_MAX_POOL, args, stream);
}

int dp_cuda_launch_max_pool_grad(const void *args, struct CUstream_st *stream)
{
    return max_pool("dp_cuda_launch_max_pool_grad", DP_KERNEL_MAX_POOL_GRAD, args, stream);
}
