/* padding.c: dp_kernel_clear_padding clears what the compiler says is padding, and nothing else.
 *
 * Arguments of launches that are held back are compared as bytes, and launched from their copy: a
 * field taken for padding would be lost, padding taken for a field would make equal launches
 * differ. GCC can say what padding is; with another compiler the test is skipped. */
#include "../../../../core/cuda/launch.h"

#include <stdio.h>
#include <string.h>

#if __has_builtin(__builtin_clear_padding)
#define KNOWN            true
#define CLEAR(arguments) __builtin_clear_padding(arguments)
#else
#define KNOWN            false
#define CLEAR(arguments) (void)(arguments)
#endif

union arguments {
    struct dp_gemm gemm;
    struct dp_add_bias add_bias;
    struct dp_sum_rows sum_rows;
    struct dp_activation activation;
    struct dp_activation_grad activation_grad;
    struct dp_loss_args loss;
    struct dp_sgd_args sgd;
    struct dp_gemm_bf16 gemm_bf16;
    struct dp_round_bf16 round_bf16;
    struct dp_zero zero;
    struct dp_fill fill;
    struct dp_store store;
    struct dp_columns columns;
    struct dp_swap swap;
    struct dp_add_rows add_rows;
    struct dp_max_pool max_pool;
    struct dp_lookup lookup;
    struct dp_lstm_args lstm;
    struct dp_batch_norm_args batch_norm;
    struct dp_dropout_args dropout;
    struct dp_capsule_args capsule;
    unsigned char bytes[256];
};

static void clear_of_layers(enum dp_kernel kernel, union arguments *a)
{
    switch (kernel) {
    case DP_KERNEL_STORE:
        CLEAR(&a->store);
        break;
    case DP_KERNEL_IM2COL:
    case DP_KERNEL_COL2IM:
        CLEAR(&a->columns);
        break;
    case DP_KERNEL_SWAP:
        CLEAR(&a->swap);
        break;
    case DP_KERNEL_ADD_ROWS:
        CLEAR(&a->add_rows);
        break;
    case DP_KERNEL_MAX_POOL:
    case DP_KERNEL_MAX_POOL_GRAD:
        CLEAR(&a->max_pool);
        break;
    case DP_KERNEL_LOOKUP:
    case DP_KERNEL_LOOKUP_GRAD:
        CLEAR(&a->lookup);
        break;
    case DP_KERNEL_LSTM:
    case DP_KERNEL_LSTM_GRAD:
        CLEAR(&a->lstm);
        break;
    case DP_KERNEL_BATCH_NORM:
    case DP_KERNEL_BATCH_NORM_EVAL:
    case DP_KERNEL_BATCH_NORM_GRAD:
        CLEAR(&a->batch_norm);
        break;
    case DP_KERNEL_DROPOUT:
        CLEAR(&a->dropout);
        break;
    case DP_KERNEL_CAPSULE:
    case DP_KERNEL_CAPSULE_GRAD:
        CLEAR(&a->capsule);
        break;
    default: /* never held back */
        break;
    }
}

static void clear(enum dp_kernel kernel, union arguments *a)
{
    switch (kernel) {
    case DP_KERNEL_GEMM:
        CLEAR(&a->gemm);
        break;
    case DP_KERNEL_ADD_BIAS:
        CLEAR(&a->add_bias);
        break;
    case DP_KERNEL_SUM_ROWS:
        CLEAR(&a->sum_rows);
        break;
    case DP_KERNEL_RELU:
    case DP_KERNEL_TANH:
        CLEAR(&a->activation);
        break;
    case DP_KERNEL_RELU_GRAD:
    case DP_KERNEL_TANH_GRAD:
        CLEAR(&a->activation_grad);
        break;
    case DP_KERNEL_LOSS:
    case DP_KERNEL_LOSS_GRAD:
        CLEAR(&a->loss);
        break;
    case DP_KERNEL_SGD:
        CLEAR(&a->sgd);
        break;
    case DP_KERNEL_GEMM_BF16:
        CLEAR(&a->gemm_bf16);
        break;
    case DP_KERNEL_ROUND_BF16:
        CLEAR(&a->round_bf16);
        break;
    case DP_KERNEL_ZERO:
        CLEAR(&a->zero);
        break;
    case DP_KERNEL_FILL:
        CLEAR(&a->fill);
        break;
    default:
        clear_of_layers(kernel, a);
        break;
    }
}

int main(void)
{
    int differ = 0, cleared = 0;
    for (int kernel = 0; KNOWN && kernel < DP_KERNELS; ++kernel) {
        union arguments want, got;
        memset(&want, 0xff, sizeof want);
        memset(&got, 0xff, sizeof got);
        if (kernel == DP_KERNEL_COPY || kernel == DP_KERNEL_REDUCE)
            continue;
        clear((enum dp_kernel)kernel, &want);
        dp_kernel_clear_padding((enum dp_kernel)kernel, &got);
        for (size_t i = 0; i < sizeof want; ++i) {
            cleared += want.bytes[i] == 0;
            if (want.bytes[i] == got.bytes[i])
                continue;
            printf("kernel %d: byte %zu of its arguments is %s\n", kernel, i,
                   want.bytes[i] ? "a field's, and was cleared" : "padding, and was not cleared");
            ++differ;
        }
    }
    printf("%d bytes of padding, %d wrong\n", cleared, differ);
    if (!KNOWN)
        return 77;
    return differ > 0 || cleared == 0;
}
