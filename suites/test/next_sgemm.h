/* next_sgemm.h: for programs whose cblas_sgemm comes before the library's, which they call. They
 * define _GNU_SOURCE. */
#ifndef LOCKSTEP_TEST_NEXT_SGEMM_H
#define LOCKSTEP_TEST_NEXT_SGEMM_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void sgemm_fn(int, int, int, int, int, int, float, const float *, int, const float *, int,
                      float, float *, int);
sgemm_fn cblas_sgemm;

static inline sgemm_fn *next_sgemm(void)
{
    void *found = dlsym(RTLD_NEXT, "cblas_sgemm");
    sgemm_fn *next = NULL;

    if (!found)
        abort();
    memcpy(&next, &found, sizeof next);
    return next;
}

#endif
