/* kernels.c: which bytes of the kernels' arguments belong to no field. */
#include "kernels.h"

#include <string.h>

struct gap {
    size_t from, to;
};

#define END(type, field) (offsetof(struct type, field) + sizeof((struct type *)0)->field)

/* At most one in each; fakecuda/test/padding.c asks the compiler whether these are all. */
static const struct gap gaps[DP_KERNELS] = {
    [DP_KERNEL_GEMM] = {END(dp_gemm, accumulate), offsetof(struct dp_gemm, m)},
    [DP_KERNEL_SUM_ROWS] = {END(dp_sum_rows, accumulate), sizeof(struct dp_sum_rows)},
    [DP_KERNEL_LOSS] = {END(dp_loss_args, kind), offsetof(struct dp_loss_args, scale)},
    [DP_KERNEL_LOSS_GRAD] = {END(dp_loss_args, kind), offsetof(struct dp_loss_args, scale)},
    [DP_KERNEL_SGD] = {END(dp_sgd_args, first), offsetof(struct dp_sgd_args, n)},
    [DP_KERNEL_GEMM_BF16] = {END(dp_gemm_bf16, accumulate), offsetof(struct dp_gemm_bf16, m)},
    [DP_KERNEL_FILL] = {END(dp_fill, value), offsetof(struct dp_fill, n)},
    [DP_KERNEL_ADD_ROWS] = {END(dp_add_rows, accumulate), sizeof(struct dp_add_rows)},
    [DP_KERNEL_LOOKUP] = {END(dp_lookup, accumulate), sizeof(struct dp_lookup)},
    [DP_KERNEL_LOOKUP_GRAD] = {END(dp_lookup, accumulate), sizeof(struct dp_lookup)},
    [DP_KERNEL_LSTM] = {END(dp_lstm_args, last), sizeof(struct dp_lstm_args)},
    [DP_KERNEL_LSTM_GRAD] = {END(dp_lstm_args, last), sizeof(struct dp_lstm_args)},
    [DP_KERNEL_BATCH_NORM] = {END(dp_batch_norm_args, training), sizeof(struct dp_batch_norm_args)},
    [DP_KERNEL_BATCH_NORM_EVAL] = {END(dp_batch_norm_args, training),
                                   sizeof(struct dp_batch_norm_args)},
    [DP_KERNEL_BATCH_NORM_GRAD] = {END(dp_batch_norm_args, training),
                                   sizeof(struct dp_batch_norm_args)},
    [DP_KERNEL_DROPOUT] = {END(dp_dropout_args, scale), sizeof(struct dp_dropout_args)},
    [DP_KERNEL_CAPSULE] = {END(dp_capsule_args, rounds), sizeof(struct dp_capsule_args)},
    [DP_KERNEL_CAPSULE_GRAD] = {END(dp_capsule_args, rounds), sizeof(struct dp_capsule_args)},
};

void dp_kernel_clear_padding(enum dp_kernel kernel, void *args)
{
    const struct gap *gap = &gaps[kernel];
    memset((char *)args + gap->from, 0, gap->to - gap->from);
}
