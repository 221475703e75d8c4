/* fake_products.c: stands for lockstep-onednn.so, with products that every CPU can make: so what is
 * done with such a library can be tried where oneDNN has no kernels. FAKE_PRODUCTS in the
 * environment: `slow`, it has no good kernels; `broken`, it cannot be set up; `fail`, no product
 * can be made. */
#include "cpu/products.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int state;

static bool is_told(const char *word)
{
    const char *told = getenv("FAKE_PRODUCTS");
    return told && strcmp(told, word) == 0;
}

static void *fake_open(int threads)
{
    (void)threads;
    return &state;
}

static void fake_close(void *self)
{
    (void)self;
}

static enum dp_product fake_products_describe(void *self, char *text, size_t bytes)
{
    (void)self;
    const bool slow = is_told("slow");
    snprintf(text, bytes, "oneDNN 0.0.0%s", slow ? "" : " brg:fake");
    return slow ? DP_PRODUCT_ELSEWHERE : is_told("broken") ? DP_PRODUCT_FAILED : DP_PRODUCT_MADE;
}

static float fake_products_sum_of(const struct dp_gemm *g, size_t row, size_t column)
{
    float sum = g->accumulate ? g->c[row * g->n + column] : 0;
    for (size_t i = 0; i < g->k; ++i)
        sum += g->a[g->transpose_a ? i * g->m + row : row * g->k + i] *
               g->b[g->transpose_b ? column * g->k + i : i * g->n + column];
    return sum;
}

static enum dp_product fake_products_multiply(void *self, const struct dp_gemm *g)
{
    (void)self;
    if (is_told("fail"))
        return DP_PRODUCT_FAILED;
    for (size_t row = 0; row < g->m; ++row)
        for (size_t column = 0; column < g->n; ++column)
            g->c[row * g->n + column] = fake_products_sum_of(g, row, column);
    return DP_PRODUCT_MADE;
}

static enum dp_product fake_products_convolve(void *self, const struct dp_convolution *convolution)
{
    (void)self, (void)convolution;
    return DP_PRODUCT_ELSEWHERE;
}

__attribute__((visibility("default"))) const struct dp_products dp_products = {
    DP_PRODUCTS_VERSION,   fake_open, fake_close, fake_products_describe, fake_products_multiply,
    fake_products_convolve};
