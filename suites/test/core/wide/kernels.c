/* kernels.c: what the core compiled for double has in place of the kernels on CBLAS, which are for
 * float: the portable ones. */
#include "kernels_ref.h"

#include <stdlib.h>

/* Its bits are those of a float. */
void dp_ref_round_bf16(const void *args)
{
    (void)args;
    abort();
}

void dp_ref_gemm_bf16(const void *args)
{
    (void)args;
    abort();
}

dp_kernel_fn *const dp_kernels_blas[DP_KERNELS] = {[DP_KERNEL_GEMM] = dp_ref_gemm};
