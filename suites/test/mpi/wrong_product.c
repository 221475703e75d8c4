/* wrong_product.c: is preloaded into one of several processes, and makes matrix product number
 * WRONG_PRODUCT so wrong that no ReLU hides it. With "zero" all products are 0. Its cblas_sgemm
 * comes before that of the library, which it calls. */
#define _GNU_SOURCE
#include "../next_sgemm.h"

#include <stdatomic.h>

static atomic_long calls;

/* NOLINTNEXTLINE(readability-function-size) as the library has it */
void cblas_sgemm(int layout, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    const char *number = getenv("WRONG_PRODUCT");

    if (!number)
        abort();
    next_sgemm()(layout, turn_a, turn_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (atomic_fetch_add(&calls, 1) + 1 == strtol(number, NULL, 10))
        for (int i = 0; i < m * n; ++i)
            c[(size_t)(i / n) * (size_t)ldc + (size_t)(i % n)] += 64;
    for (int i = 0; strcmp(number, "zero") == 0 && i < m * n; ++i)
        c[(size_t)(i / n) * (size_t)ldc + (size_t)(i % n)] = 0;
}
