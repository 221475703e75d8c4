/* kernels_fast.h: declares the kernels of kernels_fast*.c, for tables of kernels. */
#ifndef DP_KERNELS_FAST_H
#define DP_KERNELS_FAST_H

#include "kernels_ref.h"

/* Marks a function that is compiled three times, for any x86-64, with AVX2, and with AVX-512; the
 * program selects one when it starts. Nothing is fused or reordered, so all give the same bits. It
 * is only for static functions, because for others the selection would be a symbol that programs
 * see. */
#ifdef DP_WIDE_KERNELS
#define DP_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DP_WIDE
#endif

/* The entry of backend cpu for a kernel; see DP_KERNEL_LIST. */
#define DP_CPU_REF(name)  dp_ref_##name
#define DP_CPU_FAST(name) dp_fast_##name
#define DP_CPU_BLAS(name) dp_blas_##name

#define DP_CPU_NAME(number, name, cpu, gpu, words, arguments) dp_kernel_fn DP_CPU_##cpu(name);
DP_KERNEL_LIST(DP_CPU_NAME)
#undef DP_CPU_NAME

/* The same as dp_ref_gemm, with the same bits. */
void dp_fast_small_gemm(const struct dp_gemm *g);
/* Returns false if this CPU has no instructions for it; then nothing was written. */
bool dp_fast_gemm_heads(const struct dp_gemm_heads *g);
/* DP_KERNEL_LOSS for DP_LOSS_XENT. */
void dp_fast_xent(const struct dp_loss_args *g);

#endif
