/* kernels_blas_bf16.c: the matrix product of bfloat16 by CBLAS, which has none: tiles of both
 * operands are widened to float, which is exact, and multiplied there. */
#include "bf16.h"
#include "kernels_fast.h"

#include <cblas.h>

/* Two tiles of floats are 128 KiB of a worker's stack and of its second cache. */
enum { TILE = 128 };

struct tile {
    size_t row, rows, col, cols;
};

static size_t part(size_t at, size_t n)
{
    return n - at < TILE ? n - at : TILE;
}

/* Tile of op(matrix), whose rows are stored with that many columns, or as its transpose. */
static void widen(float *to, const uint16_t *from, bool transposed, size_t rows, size_t cols,
                  const struct tile *t)
{
    for (size_t r = 0; r < t->rows; ++r) {
        for (size_t c = 0; c < t->cols; ++c) {
            const size_t row = t->row + r, col = t->col + c;
            to[r * t->cols + c] =
                dp_bf16_value(transposed ? from[col * rows + row] : from[row * cols + col]);
        }
    }
}

/* One tile of c, over all of k. */
static void multiply(const struct dp_gemm_bf16 *g, size_t i, size_t j)
{
    float a[TILE * TILE], b[TILE * TILE];
    const size_t m = part(i, g->m), n = part(j, g->n);
    for (size_t l = 0; l < g->k; l += TILE) {
        const size_t k = part(l, g->k);
        const bool add = g->accumulate || l > 0;
        widen(a, g->a, g->transpose_a, g->m, g->k, &(struct tile){i, m, l, k});
        widen(b, g->b, g->transpose_b, g->k, g->n, &(struct tile){l, k, j, n});
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1.0f, a,
                    (int)k, b, (int)n, add ? 1.0f : 0.0f, g->c + i * g->n + j, (int)g->n);
    }
}

void dp_blas_gemm_bf16(const void *args)
{
    const struct dp_gemm_bf16 *g = args;
    if (g->k == 0 || g->n > INT32_MAX) {
        dp_ref_gemm_bf16(args);
        return;
    }
    for (size_t i = 0; i < g->m; i += TILE) {
        for (size_t j = 0; j < g->n; j += TILE)
            multiply(g, i, j);
    }
}
