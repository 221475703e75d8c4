/* kernels_fast_product.c: products that are so small that a call of CBLAS would cost more. */
#include "kernels_fast.h"

/* Two rows times two columns: each number that is loaded is used twice, and four sums do not wait
 * for each other. Where a row or a column is missing, its neighbour is computed twice. Each sum has
 * the additions of the reference, in the same order. */
static void make_tile(const struct dp_gemm *g, size_t row, size_t col)
{
    const size_t a_row = g->transpose_a ? 1 : g->k, a_next = g->transpose_a ? g->m : 1;
    const size_t b_col = g->transpose_b ? g->k : 1, b_next = g->transpose_b ? 1 : g->n;
    const size_t down = row + 1 < g->m ? 1 : 0, right = col + 1 < g->n ? 1 : 0;
    const float *a = g->a + row * a_row, *below = a + down * a_row;
    const float *b = g->b + col * b_col, *right_b = b + right * b_col;
    float *c = g->c + row * g->n + col, *c_below = c + down * g->n;
    float sum00 = 0.0f, sum01 = 0.0f, sum10 = 0.0f, sum11 = 0.0f;
    if (g->accumulate) {
        sum00 = c[0];
        sum01 = c[right];
        sum10 = c_below[0];
        sum11 = c_below[right];
    }
    for (size_t l = 0; l < g->k; ++l) {
        const float a0 = a[l * a_next], a1 = below[l * a_next];
        const float b0 = b[l * b_next], b1 = right_b[l * b_next];
        sum00 += a0 * b0;
        sum01 += a0 * b1;
        sum10 += a1 * b0;
        sum11 += a1 * b1;
    }
    c_below[right] = sum11;
    c_below[0] = sum10;
    c[right] = sum01;
    c[0] = sum00;
}

void dp_fast_small_gemm(const struct dp_gemm *g)
{
    for (size_t row = 0; row < g->m; row += 2) {
        for (size_t col = 0; col < g->n; col += 2)
            make_tile(g, row, col);
    }
}
