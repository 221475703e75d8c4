/* cases.h: calls of kernels, on memory of the test. */
#ifndef LOCKSTEP_EMULATED_CASES_H
#define LOCKSTEP_EMULATED_CASES_H

#include "../../../core/cuda/launch.h"

#define REGION  20000 /* floats */
#define REGIONS 13

extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

union arguments {
    struct dp_columns columns;
    struct dp_swap swap;
    struct dp_add_rows add_rows;
    struct dp_max_pool max_pool;
    struct dp_lookup lookup;
    struct dp_lstm_args lstm;
    struct dp_batch_norm_args norm;
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
};

extern const struct kernel_case kernel_cases[];
extern const int kernel_cases_n;

#endif
