/* kernels.c: what the core compiled for double has in place of the kernels on CBLAS, which are for
 * float: the portable ones. */
#include "kernels_ref.h"

dp_kernel_fn *const dp_kernels_blas[DP_KERNELS] = {[DP_KERNEL_GEMM] = dp_ref_gemm};
