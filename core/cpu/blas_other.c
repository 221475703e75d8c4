/* blas_other.c: any other CBLAS. Lockstep does not control its threads. */
#include "../backend.h"

#include <stdio.h>

void dp_blas_one_thread(void)
{
}

int dp_blas_check_threads(struct dp_error *err)
{
    return dp_fail(err, DP_ENOTSUP, "this BLAS is not OpenBLAS: its threads cannot be controlled");
}

int dp_blas_threads(int n, struct dp_error *err)
{
    (void)n;
    return dp_blas_check_threads(err);
}

int dp_blas_check_memory(int n, struct dp_error *err)
{
    (void)n;
    (void)err;
    return 0;
}

void dp_blas_describe(char *text, size_t bytes)
{
    snprintf(text, bytes, "CBLAS (not OpenBLAS; threads not controlled)");
}
