/* launch_inexact.h: kernels on the host with the bits of a GPU's, where core/cuda/launch.h does not
 * promise the portable ones: sums in its order, exp and tanh made in double. */
#ifndef LOCKSTEP_LAUNCH_INEXACT_H
#define LOCKSTEP_LAUNCH_INEXACT_H

#include "../../../core/cuda/launch.h"

/* NULL: the kernel has the portable bits. */
dp_kernel_fn *twin_inexact(enum dp_kernel kernel);

/* Returns the sum of n values, a power of two, as a block of threads makes it; the array is
 * overwritten. */
double twin_tree(double part[], size_t n);
float twin_tanhf(float x);
float twin_expf(float x);

/* launch_inexact_norm.c */
dp_kernel_fn twin_batch_norm, twin_batch_norm_grad, twin_layer_norm, twin_layer_norm_grad;
/* core/cpu/kernels_ref_*.c, compiled with these names and with twin_tanhf and twin_expf. */
dp_kernel_fn twin_lstm, twin_lstm_grad, twin_capsule, twin_capsule_grad;

#endif
