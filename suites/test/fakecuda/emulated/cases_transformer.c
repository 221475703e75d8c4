/* cases_transformer.c: gelu, layer normalisation and the softmax of attention. Rows and columns
 * that are more than a block has threads, and fewer; statistics of integers, so that sums in double
 * are exact in any order. */
#include "cases.h"

static void layer_gelu(float (*at)[REGION], int variant, union arguments *a)
{
    a->gelu =
        (struct dp_gelu_args){at[0], at[1], at[2], variant & 2 ? 0 : 3001, (variant & 1) != 0};
    for (size_t i = 0; i < REGION; ++i)
        at[1][i] *= 0.37f;
}

static void text_layer_norm(float (*at)[REGION], int variant, union arguments *a)
{
    static const size_t shapes[][2] = {{17, 64}, {4, 512}, {3, 1}, {0, 8}};
    const size_t *shape = shapes[variant & 3];
    a->layer_norm = (struct dp_layer_norm_args){.x = at[0],
                                                .weight = at[1],
                                                .bias = at[2],
                                                .y = variant & 4 ? NULL : at[3],
                                                .mean = at[4],
                                                .invstd = at[5],
                                                .dy = at[6],
                                                .dweight = variant == 1 ? NULL : at[7],
                                                .dbias = variant == 5 ? NULL : at[8],
                                                .eps = 1e-5,
                                                .rows = shape[0],
                                                .width = shape[1],
                                                .accumulate_weight = (variant & 4) != 0,
                                                .accumulate_bias = (variant & 1) != 0};
    for (size_t r = 0; r < 80; ++r)
        at[5][r] = 0.375f;
}

static void causal(float (*at)[REGION], int variant, union arguments *a)
{
    static const size_t shapes[][2] = {{2, 37}, {2, 1}, {1, 70}, {0, 3}};
    a->causal = (struct dp_causal_args){at[0], at[1], shapes[variant][0], shapes[variant][1], 0.37};
}

/* How far bits of a GPU's own may be off: sums of exponentials, up to 70 of them in another order,
 * by 70 * 2^-53 of themselves, which moves a result below 1 to a neighbour, 2^-24. Those of the
 * gradient, of products of small integers, are exact. */
#define NEAR_CAUSAL 6e-8

const struct kernel_case transformer_cases[] = {
    {"gelu", DP_KERNEL_GELU, dp_cuda_launch_gelu, 4, layer_gelu, 0},
    {"gelu_grad", DP_KERNEL_GELU_GRAD, dp_cuda_launch_gelu_grad, 4, layer_gelu, 0},
    {"layer_norm", DP_KERNEL_LAYER_NORM, dp_cuda_launch_layer_norm, 4, text_layer_norm, 0},
    {"layer_norm_grad", DP_KERNEL_LAYER_NORM_GRAD, dp_cuda_launch_layer_norm_grad, 8,
     text_layer_norm, 0},
    {"causal", DP_KERNEL_CAUSAL, dp_cuda_launch_causal, 4, causal, NEAR_CAUSAL},
    {"causal_grad", DP_KERNEL_CAUSAL_GRAD, dp_cuda_launch_causal_grad, 4, causal, 0},
};
const int transformer_cases_n = sizeof transformer_cases / sizeof *transformer_cases;
