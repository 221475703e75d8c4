/* launch_twins.h: functions that the launches on the host share. Each declares the memory that its
 * kernel reads and writes, row for row as the kernel does; if that depends on values, all that it
 * may use. */
#ifndef LOCKSTEP_LAUNCH_TWINS_H
#define LOCKSTEP_LAUNCH_TWINS_H

#include "../../../core/cuda/launch.h"

#include "fake.h"
#include "launch_inexact.h"

/* n words of 4 bytes at the device's pointer: the host's for the same memory; NULL stays. */
void *twin_uses(struct fake_work *work, const void *pointer, size_t n, unsigned use);
/* The same of floats, with the host's pointer in place of the device's. */
void twin_reads(struct fake_work *work, const float **pointer, size_t n);
void twin_writes(struct fake_work *work, float **pointer, size_t n, bool read_too);
/* Launches the twin of twin_inexact, or else the portable kernel. */
int twin_end(struct fake_launch *launch, enum dp_kernel kernel, const void *args, size_t bytes);

/* The launch dp_cuda_launch_name of a kernel, whose arguments have that type; what it uses is in
 * the braces behind it, where `a` is a copy of the arguments. */
#define TWIN(name, kernel, type)                                                                   \
    static void name##_uses(struct fake_work *work, type *a);                                      \
    int dp_cuda_launch_##name(const void *args, struct CUstream_st *stream)                        \
    {                                                                                              \
        struct fake_launch launch = fake_launch_begin("dp_cuda_launch_" #name, stream);            \
        type a = *(const type *)args;                                                              \
        name##_uses(launch.work, &a);                                                              \
        return twin_end(&launch, DP_KERNEL_##kernel, &a, sizeof a);                                \
    }                                                                                              \
    static void name##_uses(struct fake_work *work, type *a)

#endif
