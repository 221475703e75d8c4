/* cases_plain.c: calls of the kernels of core/cuda/kernels.cu and kernels_optim.cu: larger than the
 * grid, of one element, and of none. */
#include "cases.h"

#include <math.h>

/* Sums of these are rounded. */
static void make_inexact(float *at)
{
    for (size_t i = 0; i < REGION; ++i)
        at[i] = at[i] * 0.37f + (float)(i % 1000) * 1e-4f;
}

static void add_bias(float (*at)[REGION], int variant, union arguments *a)
{
    a->add_bias = (struct dp_add_bias){at[0], at[1], 100, variant ? 37 : 1};
}

static void sum_rows(float (*at)[REGION], int variant, union arguments *a)
{
    static const size_t rows[] = {1, 0, 500, 77, 60}, cols[] = {1, 9, 2, 37, 300};
    a->sum_rows = (struct dp_sum_rows){at[0], at[1], rows[variant / 2], cols[variant / 2],
                                       (variant & 1) != 0};
    make_inexact(at[1]);
}

static void activation(float (*at)[REGION], int variant, union arguments *a)
{
    a->activation = (struct dp_activation){at[0], at[1], variant ? 5000 : 1};
    make_inexact(at[1]);
    at[1][0] = NAN;
}

static void activation_grad(float (*at)[REGION], int variant, union arguments *a)
{
    a->activation_grad = (struct dp_activation_grad){at[0], at[1], at[2], variant ? 5000 : 1};
    make_inexact(at[1]);
    make_inexact(at[2]);
}

/* Sums with and without factors, squares, and classes: few, more than the threads of a row; more
 * rows than the grid has; one of them of no class; a row of infinities. */
static void plain_loss(float (*at)[REGION], int variant, union arguments *a)
{
    static const struct {
        enum dp_loss_kind kind;
        size_t rows, cols;
        bool target, odd;
    } row[] = {{DP_LOSS_SUM, 90, 60, false, false}, {DP_LOSS_SUM, 90, 60, true, false},
               {DP_LOSS_MSE, 90, 60, true, false},  {DP_LOSS_XENT, 500, 10, true, false},
               {DP_LOSS_XENT, 50, 77, true, false}, {DP_LOSS_XENT, 1, 1, true, false},
               {DP_LOSS_XENT, 9, 33, true, true},   {DP_LOSS_SUM, 0, 5, false, false},
               {DP_LOSS_XENT, 0, 5, true, false}};
    const size_t v = (size_t)variant / 2;
    int32_t *classes = (int32_t *)(void *)at[2];
    make_inexact(at[0]);
    make_inexact(at[1]);
    for (size_t r = 0; r < row[v].rows; ++r)
        classes[r] = (int32_t)(r * 7 % row[v].cols);
    if (row[v].odd) {
        classes[3] = -1;
        for (size_t c = 0; c < row[v].cols; ++c)
            at[0][5 * row[v].cols + c] = -INFINITY;
    }
    const void *target = row[v].kind == DP_LOSS_XENT ? (const void *)classes : at[1];
    a->loss = (struct dp_loss_args){.kind = row[v].kind,
                                    .scale = 0.3,
                                    .rows = row[v].rows,
                                    .cols = row[v].cols,
                                    .y = at[0],
                                    .target = row[v].target ? target : NULL,
                                    .upstream = variant & 1 ? at[4] + 3 : NULL,
                                    .out = at[3]};
}

static int launch_loss(const void *args, struct CUstream_st *stream)
{
    static double parts[DP_CUDA_LOSS_PARTS];
    return dp_cuda_launch_loss(args, parts, stream);
}

static void sgd(float (*at)[REGION], int variant, union arguments *a)
{
    a->sgd = (struct dp_sgd_args){.value = at[0],
                                  .velocity = variant < 2 ? at[1] : NULL,
                                  .grad = at[2],
                                  .lr = at[3],
                                  .momentum = 0.9f,
                                  .decay = 0.01f,
                                  .first = variant == 0,
                                  .n = 3000};
    make_inexact(at[2]);
    at[3][0] = 0.3f;
}

static void adamw(float (*at)[REGION], int variant, union arguments *a)
{
    a->adamw = (struct dp_adamw_args){.value = at[0],
                                      .m = at[1],
                                      .s = at[2],
                                      .grad = at[3],
                                      .rates = at[4],
                                      .beta1 = 0.9f,
                                      .rest1 = 0.1f,
                                      .beta2 = 0.999f,
                                      .rest2 = 0.001f,
                                      .eps = 1e-3f,
                                      .first = variant == 0,
                                      .n = variant < 2 ? 3000 : 0};
    make_inexact(at[1]);
    make_inexact(at[3]);
    for (size_t i = 0; i < REGION; ++i)
        at[2][i] = 0.01f * (at[2][i] + 4.0f);
    at[4][0] = 0.99f;
    at[4][1] = 0.003f;
    at[4][2] = 0.7f;
}

/* Less than a chunk, some of a second, more than the grid has blocks for, nothing. The last region
 * has the results. */
static void plain_squares(float (*at)[REGION], int variant, union arguments *a)
{
    static const size_t n[] = {1000, DP_SQUARES_CHUNK + 1, 3 * DP_SQUARES_CHUNK + 77, 0};
    a->squares = (struct dp_squares_args){(double *)(void *)at[12], at[0], n[variant]};
    for (int i = 0; i < 11; ++i)
        make_inexact(at[i]);
}

/* A factor, 1, of nothing, and of a norm that is none. */
static void clip(float (*at)[REGION], int variant, union arguments *a)
{
    double *sums = (double *)(void *)at[0], *norm = (double *)(void *)at[1];
    a->clip = (struct dp_clip_args){.sums = sums,
                                    .n = variant == 2 ? 0 : 700,
                                    .most = variant == 1 ? 1e9 : 0.7,
                                    .norm = norm,
                                    .factor = at[2]};
    for (int i = 0; i < 700; ++i)
        sums[i] = 0.37 * (double)i;
    if (variant == 3)
        sums[500] = (double)NAN;
}

static void plain_scale(float (*at)[REGION], int variant, union arguments *a)
{
    a->scale = (struct dp_scale_args){at[0], at[1], variant < 2 ? 3001 : 0};
    at[1][0] = variant ? 1.0f : 0.3f;
}

static void plain_fill(float (*at)[REGION], int variant, union arguments *a)
{
    a->fill = (struct dp_fill){at[0], 0.7f, variant ? 3001 : 0};
}

/* Floats from the place where 16 bytes begin. */
static const size_t off_of[] = {0, 2, 4, 0, 2};

static void plain_reduce(float (*at)[REGION], int variant, union arguments *a)
{
    static const enum dp_dtype types[] = {DP_F32, DP_F64, DP_I32, DP_I64};
    const size_t off = off_of[variant / 8];
    a->reduce = (struct dp_reduce_args){.dtype = types[variant % 8 / 2],
                                        .accumulate = (variant & 1) != 0,
                                        .n_src = 3,
                                        .n = variant < 32 ? 2501 : 1,
                                        .dst = at[3] + off,
                                        .src = {at[0] + off, at[1] + off, at[2] + off}};
    if (variant / 8 == 3) /* not alike */
        a->reduce.src[1] = at[1] + off + 2;
    for (int i = 0; i < 4; ++i)
        make_inexact(at[i]);
}

static void mean(float (*at)[REGION], int variant, union arguments *a)
{
    const size_t off = (size_t)variant / 2;
    a->mean = (struct dp_mean_args){.n_src = 3,
                                    .scale = 1.0f / 3.0f,
                                    .n = 2502,
                                    .dst = at[variant % 2] + off,
                                    .src = {at[0] + off, at[1] + off, at[2] + off}};
    if (variant == 8) /* not alike */
        a->mean.src[2] = at[2] + off + 1;
    make_inexact(at[1]);
}

static void round_bf16(float (*at)[REGION], int variant, union arguments *a)
{
    (void)variant;
    a->round_bf16 = (struct dp_round_bf16){(uint16_t *)(void *)at[0], at[1], 3000};
    make_inexact(at[1]);
    at[1][7] = NAN;
}

/* How far bits of a GPU's own may be off.
 *   sum_rows   n = 501 terms, the sum of their sizes at most 794: n of its ulps
 *   tanh       two ulps of a number below 1
 *   loss       sums in double below 16384, which are rounded once: an ulp
 *   loss_grad  a number below 1.2 that is rounded once: an ulp */
#define NEAR_SUM_ROWS  0.05
#define NEAR_TANH      2.4e-7
#define NEAR_LOSS      1e-3
#define NEAR_LOSS_GRAD 1.2e-7

const struct kernel_case plain_cases[] = {
    {"add_bias", DP_KERNEL_ADD_BIAS, dp_cuda_launch_add_bias, 2, add_bias, 0},
    {"sum_rows", DP_KERNEL_SUM_ROWS, dp_cuda_launch_sum_rows, 10, sum_rows, NEAR_SUM_ROWS},
    {"relu", DP_KERNEL_RELU, dp_cuda_launch_relu, 2, activation, 0},
    {"relu_grad", DP_KERNEL_RELU_GRAD, dp_cuda_launch_relu_grad, 2, activation_grad, 0},
    {"tanh", DP_KERNEL_TANH, dp_cuda_launch_tanh, 2, activation, NEAR_TANH},
    {"tanh_grad", DP_KERNEL_TANH_GRAD, dp_cuda_launch_tanh_grad, 2, activation_grad, 0},
    {"loss", DP_KERNEL_LOSS, launch_loss, 18, plain_loss, NEAR_LOSS},
    {"loss_grad", DP_KERNEL_LOSS_GRAD, dp_cuda_launch_loss_grad, 18, plain_loss, NEAR_LOSS_GRAD},
    {"sgd", DP_KERNEL_SGD, dp_cuda_launch_sgd, 3, sgd, 0},
    {"adamw", DP_KERNEL_ADAMW, dp_cuda_launch_adamw, 3, adamw, 0},
    {"squares", DP_KERNEL_SQUARES, dp_cuda_launch_squares, 4, plain_squares, 0},
    {"clip", DP_KERNEL_CLIP, dp_cuda_launch_clip, 4, clip, 0},
    {"scale", DP_KERNEL_SCALE, dp_cuda_launch_scale, 3, plain_scale, 0},
    {"fill", DP_KERNEL_FILL, dp_cuda_launch_fill, 2, plain_fill, 0},
    {"reduce", DP_KERNEL_REDUCE, dp_cuda_launch_reduce, 40, plain_reduce, 0},
    {"mean", DP_KERNEL_MEAN, dp_cuda_launch_mean, 9, mean, 0},
    {"round_bf16", DP_KERNEL_ROUND_BF16, dp_cuda_launch_round_bf16, 1, round_bf16, 0},
};
const int plain_cases_n = sizeof plain_cases / sizeof *plain_cases;
