/* cases.c: shapes that do not divide evenly, larger than the grid, with all choices of each kernel.
 * Statistics are over a power of two of integers, so that sums in double are exact in any order. */
#include "cases.h"

#include <math.h>
#include <string.h>

/* Windows that overlap, that leave gaps, that reach into the padding, and that are a single place.
 */
static const struct dp_geometry geometries[] = {
    {5, 3, 9, 7, {3, 2}, {2, 1}, {1, 1}, {5, 8}}, {4, 3, 10, 8, {2, 2}, {3, 3}, {0, 0}, {3, 3}},
    {3, 2, 9, 9, {5, 5}, {1, 1}, {2, 2}, {9, 9}}, {8, 4, 6, 6, {1, 1}, {1, 1}, {0, 0}, {6, 6}},
    {4, 5, 8, 8, {2, 2}, {2, 2}, {0, 0}, {4, 4}}, {2, 3, 12, 12, {3, 3}, {2, 2}, {1, 1}, {6, 6}},
};
#define GEOMETRIES 6

static void layer_columns(float (*at)[REGION], int variant, union arguments *a)
{
    a->columns = (struct dp_columns){geometries[variant], at[0], at[1]};
}

static void swap(float (*at)[REGION], int variant, union arguments *a)
{
    a->swap = (struct dp_swap){at[0], at[1], variant & 1 ? at[2] : NULL, 13, 7, 30};
    if (variant & 2)
        a->swap.block = 1;
    if (variant & 4)
        a->swap.i = 0;
}

static void layer_add_rows(float (*at)[REGION], int variant, union arguments *a)
{
    a->add_rows = (struct dp_add_rows){at[0], at[1], 100, variant & 2 ? 5 : 37, (variant & 1) != 0};
    /* Sums of these are rounded. */
    for (size_t i = 0; i < REGION; ++i)
        at[1][i] *= 0.37f;
}

/* A row is longer than the threads of a block. */
static void add_long_rows(float (*at)[REGION], int variant, union arguments *a)
{
    layer_add_rows(at, variant, a);
    a->add_rows.rows = 30;
    a->add_rows.cols = 600;
}

static void max_pool(float (*at)[REGION], int variant, union arguments *a)
{
    a->max_pool = (struct dp_max_pool){geometries[variant], at[0], (int32_t *)(void *)at[1], at[2]};
    at[2][20] = NAN;
}

static void max_pool_grad(float (*at)[REGION], int variant, union arguments *a)
{
    max_pool(at, variant, a);
    a->max_pool.y = at[3];
    dp_kernels_ref[DP_KERNEL_MAX_POOL](a);
    for (size_t i = 0; i < REGION; ++i)
        at[0][i] = at[4][i] * 0.37f;
    a->max_pool.y = at[0];
}

static void lookup(float (*at)[REGION], int variant, union arguments *a)
{
    const bool wide = (variant & 1) != 0;
    int32_t *index = (int32_t *)(void *)at[2];
    a->lookup = (struct dp_lookup){
        at[0], at[1], index, wide ? 60 : 900, 7, wide ? 300 : 3, (variant & 2) != 0};
    for (int i = 0; i < 900; ++i)
        index[i] = i % 11 * (i % 3) - 1;
    for (size_t i = 0; i < REGION; ++i)
        at[1][i] *= 0.37f;
}

static void lstm(float (*at)[REGION], int variant, union arguments *a)
{
    a->lstm = (struct dp_lstm_args){.gates = at[0],
                                    .bias_x = at[1],
                                    .bias_h = at[2],
                                    .c_before = variant & 1 ? at[3] : NULL,
                                    .c = at[4],
                                    .h = at[5],
                                    .dh = at[6],
                                    .dc = at[7],
                                    .rows = 41,
                                    .hidden = 25,
                                    .last = (variant & 2) != 0};
    for (size_t i = 0; i < 8 * REGION; ++i)
        at[i / REGION][i % REGION] *= 0.37f;
}

static void norm(float (*at)[REGION], int variant, union arguments *a)
{
    const bool flat = (variant & 1) != 0;
    a->norm = (struct dp_batch_norm_args){.x = at[0],
                                          .weight = at[1],
                                          .bias = at[2],
                                          .y = at[3],
                                          .running_mean = at[4],
                                          .running_var = at[5],
                                          .count = (int64_t *)(void *)at[6],
                                          .mean = at[7],
                                          .invstd = at[8],
                                          .dy = at[9],
                                          .dweight = at[10],
                                          .dbias = at[11],
                                          .eps = 1e-5,
                                          .momentum = 0.1,
                                          .rows = flat ? 512 : 8,
                                          .channels = 5,
                                          .inner = flat ? 1 : 64,
                                          .accumulate_weight = (variant & 2) != 0,
                                          .accumulate_bias = (variant & 4) != 0,
                                          .training = (variant & 8) == 0};
    for (int c = 0; c < 5; ++c) {
        at[5][c] = 1.0f + (float)c;
        at[8][c] = 0.37f;
    }
    *a->norm.count = 41;
    if (variant == 15)
        a->norm.dweight = a->norm.dbias = NULL;
}

static void norm_grad(float (*at)[REGION], int variant, union arguments *a)
{
    norm(at, variant & 15, a);
    if (variant & 16)
        a->norm.y = NULL;
}

static void dropout(float (*at)[REGION], int variant, union arguments *a)
{
    const uint64_t limits[] = {0, (uint64_t)1 << 31, (uint64_t)1 << 32};
    const uint64_t key = 0xfedcba9876543210u;
    memcpy(at[2], &key, sizeof key);
    a->dropout = (struct dp_dropout_args){
        at[0], at[1], 3000, (const uint64_t *)(const void *)at[2], limits[variant], 1.7f};
}

static void layer_store(float (*at)[REGION], int variant, union arguments *a)
{
    (void)variant;
    a->store = (struct dp_store){(uint64_t *)(void *)at[0], 0xfedcba9876543210u};
}

static void layer_fold(float (*at)[REGION], int variant, union arguments *a)
{
    static const size_t counts[] = {0, 1000, DP_FOLD_MARKS, DP_FOLD_MARKS + 1001};
    a->fold = (struct dp_fold){(uint32_t *)(void *)at[0], (const uint32_t *)(const void *)at[1],
                               counts[variant]};
}

static void capsule(float (*at)[REGION], int variant, union arguments *a)
{
    const bool wide = (variant & 1) != 0;
    a->capsule = (struct dp_capsule_args){.votes = at[0],
                                          .logits = at[1],
                                          .s = at[2],
                                          .v = at[3],
                                          .dv = at[4],
                                          .n = 5,
                                          .in = wide ? 4 : 300,
                                          .out = variant == 3 ? 300
                                                 : wide       ? 130
                                                              : 3,
                                          .width = wide ? 3 : 2,
                                          .rounds = 1 + variant};
    for (size_t i = 0; i < 3 * REGION; ++i)
        at[i / REGION][i % REGION] *= 0.037f;
}

/* The bounds for results of a GPU with other bits; sums in double that are exact here have the
 * bound 0. exp and tanh differ by an ulp (2^-23 of the value).
 *   add_rows      n = 38 terms, the sum of their sizes at most 37 * 1.48 + 4: n of its ulps, 2.7e-4
 *   add_long_rows the same of 601, at most 892: 0.064
 *   lstm          gates below 1 are off by 3 ulps, c = f c' + i g with c' < 1.5 by 12, h by 16
 *   lstm_grad     1 - t t is off by 2 ulps, dc < 4 by 9, times i (1 - i) n < 5.4, and six roundings
 * of numbers below 32 capsule       the shares c of 300 votes below 0.15 are off by 4 ulps, s by
 * 7e-6, v by as much, and each of two more rounds makes it at most ten times as much capsule_grad
 * shares, times ds < 16 */
#define NEAR_ADD_ROWS      3e-4
#define NEAR_ADD_LONG_ROWS 0.065
#define NEAR_LSTM          2e-6
#define NEAR_LSTM_GRAD     2e-5
#define NEAR_CAPSULE       1e-3
#define NEAR_CAPSULE_GRAD  1e-5

const struct kernel_case kernel_cases[] = {
    {"im2col", DP_KERNEL_IM2COL, dp_cuda_launch_im2col, GEOMETRIES, layer_columns, 0},
    {"col2im", DP_KERNEL_COL2IM, dp_cuda_launch_col2im, GEOMETRIES, layer_columns, 0},
    {"swap", DP_KERNEL_SWAP, dp_cuda_launch_swap, 8, swap, 0},
    {"add_rows", DP_KERNEL_ADD_ROWS, dp_cuda_launch_add_rows, 4, layer_add_rows, NEAR_ADD_ROWS},
    {"add_long_rows", DP_KERNEL_ADD_ROWS, dp_cuda_launch_add_rows, 2, add_long_rows,
     NEAR_ADD_LONG_ROWS},
    {"max_pool", DP_KERNEL_MAX_POOL, dp_cuda_launch_max_pool, GEOMETRIES, max_pool, 0},
    {"max_pool_grad", DP_KERNEL_MAX_POOL_GRAD, dp_cuda_launch_max_pool_grad, GEOMETRIES,
     max_pool_grad, 0},
    {"lookup", DP_KERNEL_LOOKUP, dp_cuda_launch_lookup, 2, lookup, 0},
    {"lookup_grad", DP_KERNEL_LOOKUP_GRAD, dp_cuda_launch_lookup_grad, 4, lookup, 0},
    {"lstm", DP_KERNEL_LSTM, dp_cuda_launch_lstm, 2, lstm, NEAR_LSTM},
    {"lstm_grad", DP_KERNEL_LSTM_GRAD, dp_cuda_launch_lstm_grad, 4, lstm, NEAR_LSTM_GRAD},
    {"batch_norm", DP_KERNEL_BATCH_NORM, dp_cuda_launch_batch_norm, 2, norm, 0},
    {"batch_norm_eval", DP_KERNEL_BATCH_NORM_EVAL, dp_cuda_launch_batch_norm_eval, 2, norm, 0},
    {"batch_norm_grad", DP_KERNEL_BATCH_NORM_GRAD, dp_cuda_launch_batch_norm_grad, 32, norm_grad,
     0},
    {"store", DP_KERNEL_STORE, dp_cuda_launch_store, 1, layer_store, 0},
    {"fold", DP_KERNEL_FOLD, dp_cuda_launch_fold, 4, layer_fold, 0},
    {"dropout", DP_KERNEL_DROPOUT, dp_cuda_launch_dropout, 3, dropout, 0},
    {"capsule", DP_KERNEL_CAPSULE, dp_cuda_launch_capsule, 4, capsule, NEAR_CAPSULE},
    {"capsule_grad", DP_KERNEL_CAPSULE_GRAD, dp_cuda_launch_capsule_grad, 2, capsule,
     NEAR_CAPSULE_GRAD},
};
const int kernel_cases_n = sizeof kernel_cases / sizeof *kernel_cases;
