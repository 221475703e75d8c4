/* cases.h: calls of kernels, on memory of the test. */
#ifndef LOCKSTEP_EMULATED_CASES_H
#define LOCKSTEP_EMULATED_CASES_H

#include "../launch_inexact.h"

#define REGION  20000 /* floats */
#define REGIONS 13

extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

union arguments {
    struct dp_add_bias add_bias;
    struct dp_sum_rows sum_rows;
    struct dp_activation activation;
    struct dp_activation_grad activation_grad;
    struct dp_loss_args loss;
    struct dp_sgd_args sgd;
    struct dp_adamw_args adamw;
    struct dp_squares_args squares;
    struct dp_clip_args clip;
    struct dp_scale_args scale;
    struct dp_fill fill;
    struct dp_reduce_args reduce;
    struct dp_mean_args mean;
    struct dp_round_bf16 round_bf16;
    struct dp_columns columns;
    struct dp_swap swap;
    struct dp_add_rows add_rows;
    struct dp_max_pool max_pool;
    struct dp_lookup lookup;
    struct dp_lstm_args lstm;
    struct dp_batch_norm_args norm;
    struct dp_gelu_args gelu;
    struct dp_layer_norm_args layer_norm;
    struct dp_causal_args causal;
    struct dp_store store;
    struct dp_fold fold;
    struct dp_dropout_args dropout;
    struct dp_capsule_args capsule;
};

struct kernel_case {
    const char *name;
    enum dp_kernel kernel;
    dp_cuda_launcher *launch;
    int variants;
    /* The arguments of one variant, on regions that are full of small integers; it may write other
     * things there first. */
    void (*make)(float (*at)[REGION], int variant, union arguments *args);
    /* How far a result of twin_inexact may be from the portable kernel's. */
    double near;
};

/* plain: of kernels.cu; transformer: of kernels_transformer.cu, and layer norm. */
extern const struct kernel_case kernel_cases[], plain_cases[], transformer_cases[];
extern const int kernel_cases_n, plain_cases_n, transformer_cases_n;

#endif
