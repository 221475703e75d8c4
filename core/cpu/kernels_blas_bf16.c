/* kernels_blas_bf16.c: the matrix product of bfloat16 by CBLAS, which has no such product. Tiles of
 * both operands are converted to float, which is exact, and multiplied. */
#include "kernels_fast.h"
#include "kernels_ref.h"

#include <cblas.h>

/* Two tiles of floats need 15 KiB of a worker's stack. */
enum { ROWS = 48, COLS = 48, TERMS = 40 };

struct range {
    size_t first, n;
};

static struct range part(size_t at, size_t n, size_t most)
{
    return (struct range){at, n - at < most ? n - at : most};
}

/* A tile of op(matrix) as it is stored; its rows are lead apart. */
static void widen(float *to, const uint16_t *from, bool transposed, size_t lead, struct range rows,
                  struct range cols)
{
    const struct range outer = transposed ? cols : rows, inner = transposed ? rows : cols;
    from += outer.first * lead + inner.first;
    for (size_t r = 0; r < outer.n; ++r, from += lead) {
        for (size_t c = 0; c < inner.n; ++c)
            to[r * inner.n + c] = dp_bf16_value(from[c]);
    }
}

/* Computes rows of c. Each tile of a is converted once. */
static void blas_bf16_multiply(const struct dp_gemm_bf16 *g, struct range rows)
{
    const enum CBLAS_TRANSPOSE turn_a = g->transpose_a ? CblasTrans : CblasNoTrans;
    const enum CBLAS_TRANSPOSE turn_b = g->transpose_b ? CblasTrans : CblasNoTrans;
    float a[ROWS * TERMS], b[TERMS * COLS];
    for (size_t l = 0; l < g->k; l += TERMS) {
        const struct range terms = part(l, g->k, TERMS);
        const bool add = g->accumulate || l > 0;
        widen(a, g->a, g->transpose_a, g->transpose_a ? g->m : g->k, rows, terms);
        for (size_t j = 0; j < g->n; j += COLS) {
            const struct range cols = part(j, g->n, COLS);
            widen(b, g->b, g->transpose_b, g->transpose_b ? g->k : g->n, terms, cols);
            cblas_sgemm(CblasRowMajor, turn_a, turn_b, (int)rows.n, (int)cols.n, (int)terms.n, 1.0f,
                        a, (int)(g->transpose_a ? rows.n : terms.n), b,
                        (int)(g->transpose_b ? terms.n : cols.n), add ? 1.0f : 0.0f,
                        g->c + rows.first * g->n + j, (int)g->n);
        }
    }
}

void dp_blas_gemm_bf16(const void *args)
{
    const struct dp_gemm_bf16 *g = args;
    if (g->k == 0 || g->n > INT32_MAX) {
        dp_ref_gemm_bf16(args);
        return;
    }
    for (size_t i = 0; i < g->m; i += ROWS)
        blas_bf16_multiply(g, part(i, g->m, ROWS));
}
