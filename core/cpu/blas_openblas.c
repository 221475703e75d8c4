/* blas_openblas.c: OpenBLAS held to the calling thread; the workers are the parallelism. */
#include "../backend.h"

#include <cblas.h>
#include <stdio.h>

void dp_blas_one_thread(void)
{
    openblas_set_num_threads(1);
}

void dp_blas_describe(char *text, size_t bytes)
{
    snprintf(text, bytes, "%s (%s)", openblas_get_config(), openblas_get_corename());
}
