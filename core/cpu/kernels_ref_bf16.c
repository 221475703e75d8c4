/* kernels_ref_bf16.c: the portable kernels of bfloat16, which define their operations. */
#include "kernels_ref.h"

void dp_ref_round_bf16(const void *args)
{
    const struct dp_round_bf16 *g = args;
    for (size_t i = 0; i < g->n; ++i)
        g->dst[i] = dp_bf16_round(g->src[i]);
}

void dp_ref_gemm_bf16(const void *args)
{
    const struct dp_gemm_bf16 *g = args;
    for (size_t i = 0; i < g->m; ++i) {
        for (size_t j = 0; j < g->n; ++j) {
            float sum = g->accumulate ? g->c[i * g->n + j] : 0.0f;
            for (size_t l = 0; l < g->k; ++l) {
                const uint16_t a = g->transpose_a ? g->a[l * g->m + i] : g->a[i * g->k + l];
                const uint16_t b = g->transpose_b ? g->b[j * g->k + l] : g->b[l * g->n + j];
                sum += dp_bf16_value(a) * dp_bf16_value(b);
            }
            g->c[i * g->n + j] = sum;
        }
    }
}
