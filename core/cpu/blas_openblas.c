/* blas_openblas.c: limits OpenBLAS to the calling thread, because the workers are the parallelism.
 * On request of a group its pool grows. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "../backend.h"

#include <cblas.h>
#include <stdio.h>
#include <sys/mman.h>

void dp_blas_one_thread(void)
{
    openblas_set_num_threads(1);
}

void dp_blas_describe(char *text, size_t bytes)
{
    snprintf(text, bytes, "%s (%s)", openblas_get_config(), openblas_get_corename());
}

/* If OpenBLAS uses OpenMP, it decides neither the number of threads nor where they run. */
int dp_blas_check_threads(struct dp_error *err)
{
    return openblas_get_parallel() == OPENBLAS_THREAD
               ? 0
               : dp_fail(err, DP_ENOTSUP, "this OpenBLAS has no thread pool (%s)",
                         openblas_get_config());
}

int dp_blas_threads(int n, struct dp_error *err)
{
    openblas_set_num_threads(n);
    const int most = openblas_get_num_threads();
    return most == n ? 0
                     : dp_fail(err, DP_ENOTSUP, "OpenBLAS has at most %d threads, not %d", most, n);
}

/* A thread maps a buffer of 128 MiB in its first product. If that is impossible, OpenBLAS tries for
 * ever. Before that the thread needs a stack, and up to 64 MiB for its heap. */
#define THREAD_BYTES ((size_t)200 << 20)

int dp_blas_check_memory(int n, struct dp_error *err)
{
    void *reserved[DP_MAX_SLOTS];
    int got = 0;
    while (got < n && got < DP_MAX_SLOTS) {
        reserved[got] = mmap(NULL, THREAD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (reserved[got] == MAP_FAILED)
            break;
        ++got;
    }
    for (int i = 0; i < got; ++i)
        munmap(reserved[i], THREAD_BYTES);
    return got == n
               ? 0
               : dp_fail(err, DP_ENOMEM,
                         "OpenBLAS and its caller need %zu MiB of address space for each of %d "
                         "devices, and there is room for %d: see ulimit -v",
                         THREAD_BYTES >> 20, n, got);
}
