/* kernels_fast.h: the kernels of kernels_fast*.c by name, for tables of kernels. */
#ifndef DP_KERNELS_FAST_H
#define DP_KERNELS_FAST_H

#include "kernels_ref.h"

/* A function that is compiled three times, for any x86-64, for one with AVX2, and for one with
 * AVX-512, and chosen when the program starts. Nothing is fused or reordered, so all give the same
 * bits. Of static functions only: the choice between others is a symbol that programs would see. */
#ifdef DP_WIDE_KERNELS
#define DP_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DP_WIDE
#endif

/* What backend cpu has for a kernel; see DP_KERNEL_LIST. */
#define DP_CPU_REF(name)  dp_ref_##name
#define DP_CPU_FAST(name) dp_fast_##name
#define DP_CPU_BLAS(name) dp_blas_##name

#define DP_CPU_NAME(number, name, cpu, gpu, words, arguments) dp_kernel_fn DP_CPU_##cpu(name);
DP_KERNEL_LIST(DP_CPU_NAME)
#undef DP_CPU_NAME

/* As dp_ref_gemm, with its bits. */
void dp_fast_small_gemm(const struct dp_gemm *g);
/* False: this CPU has no instructions for it, and nothing was made. */
bool dp_fast_gemm_heads(const struct dp_gemm_heads *g);
/* DP_KERNEL_LOSS of DP_LOSS_XENT. */
void dp_fast_xent(const struct dp_loss_args *g);

#endif
