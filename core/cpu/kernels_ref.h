/* kernels_ref.h: declares the portable kernels, for tables that replace some of them. */
#ifndef DP_KERNELS_REF_H
#define DP_KERNELS_REF_H

#include "../backend.h"

#define DP_REF_NAME(number, name, cpu, gpu, words, arguments) dp_kernel_fn dp_ref_##name;
DP_KERNEL_LIST(DP_REF_NAME)
#undef DP_REF_NAME

#endif
