/* launch_twin_tools.c: names the memory that a launch uses, and ends the launch. */
#include "launch_twins.h"

/* The portable kernels, declared in core/backend.h. */
extern dp_kernel_fn *const dp_kernels_ref[DP_KERNELS];

void *twin_uses(struct fake_work *work, const void *pointer, size_t n, unsigned use)
{
    return pointer ? fake_uses(work, pointer, n * sizeof(float), use) : NULL;
}

void twin_reads(struct fake_work *work, const float **pointer, size_t n)
{
    *pointer = twin_uses(work, *pointer, n, FAKE_READ);
}

void twin_writes(struct fake_work *work, float **pointer, size_t n, bool read_too)
{
    *pointer = twin_uses(work, *pointer, n, read_too ? FAKE_BOTH : FAKE_WRITE);
}

int twin_end(struct fake_launch *launch, enum dp_kernel kernel, const void *args, size_t bytes)
{
    dp_kernel_fn *inexact = twin_inexact(kernel);
    return fake_launch_end(launch, inexact ? inexact : dp_kernels_ref[kernel], args, bytes);
}
