/* kernels_blas.c: the table of the fast CPU kernels. CBLAS makes matrix products, but neither the
 * smallest ones nor, on CPUs with the instructions for it, those of heads. The other kernels are in
 * kernels_fast*.c, or are the portable ones where nothing was gained. */
#include "kernels_fast.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

/* With so many multiplications a product takes as long in CBLAS as in dp_fast_small_gemm, on a Zen
 * 5. It is a little more than a product of 30 rows and 10 weights has. */
enum { SMALL = 320 };

static bool is_small(const struct dp_gemm *g)
{
    return g->m <= SMALL && g->n <= SMALL && g->k <= SMALL && g->m * g->n * g->k <= SMALL;
}

void dp_blas_gemm(const void *args)
{
    const struct dp_gemm *g = args;
    if (g->m == 0 || g->n == 0)
        return;
    if (g->k == 0) {
        if (!g->accumulate)
            memset(g->c, 0, g->m * g->n * sizeof *g->c);
        return;
    }
    if (is_small(g)) {
        dp_fast_small_gemm(g);
        return;
    }
    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX) {
        dp_ref_gemm(args);
        return;
    }
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    cblas_sgemm(CblasRowMajor, g->transpose_a ? CblasTrans : CblasNoTrans,
                g->transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, g->a,
                g->transpose_a ? m : k, g->b, g->transpose_b ? k : n, g->accumulate ? 1.0f : 0.0f,
                g->c, n);
}

void dp_blas_gemm_heads(const void *args)
{
    const struct dp_gemm_heads *g = args;
    if (dp_fast_gemm_heads(g))
        return;
    const bool fits = g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX &&
                      g->at_a.lead <= INT_MAX && g->at_b.lead <= INT_MAX && g->at_c.lead <= INT_MAX;
    if (!fits) {
        dp_ref_gemm_heads(args);
        return;
    }
    for (size_t row = 0; row < g->rows; ++row) {
        for (size_t head = 0; head < g->heads; ++head) {
            cblas_sgemm(CblasRowMajor, g->transpose_a ? CblasTrans : CblasNoTrans,
                        g->transpose_b ? CblasTrans : CblasNoTrans, (int)g->m, (int)g->n, (int)g->k,
                        1.0f, g->a + row * g->at_a.row + head * g->at_a.head, (int)g->at_a.lead,
                        g->b + row * g->at_b.row + head * g->at_b.head, (int)g->at_b.lead, 0.0f,
                        g->c + row * g->at_c.row + head * g->at_c.head, (int)g->at_c.lead);
        }
    }
}

#define ROW(number, name, cpu, gpu, words, arguments) [DP_KERNEL_##number] = DP_CPU_##cpu(name),
dp_kernel_fn *const dp_kernels_blas[DP_KERNELS] = {DP_KERNEL_LIST(ROW)};
