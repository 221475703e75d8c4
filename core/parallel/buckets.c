/* buckets.c: which gradients are reduced together in DistributedDataParallel. This is pure
 * arithmetic. Source: c10d compute_bucket_assignment_by_size. */
#include "ddp.h"

#define TYPES (DP_I64 + 1)

/* The open bucket of one element type. */
struct filling {
    int bucket; /* -1: none */
    size_t bytes;
    int limit; /* index in limits */
};

static int buckets_check(const enum dp_dtype dtype[], int n, int n_limits, struct dp_error *err)
{
    if (n < 0 || n_limits < 1)
        return dp_fail(err, DP_EINVAL, "buckets of %d tensors with %d limits: at least 0 and 1", n,
                       n_limits);
    for (int i = 0; i < n; ++i) {
        if (dtype[i] < DP_F32 || dtype[i] > DP_I64)
            return dp_fail(err, DP_EINVAL, "tensor %d: unknown element type %d", i, (int)dtype[i]);
    }
    return 0;
}

/* A bucket is opened for its lowest tensor, so buckets are opened in the order of their numbers. */
int dp_buckets(const size_t bytes[], const enum dp_dtype dtype[], int n, const size_t limits[],
               int n_limits, int bucket[], size_t limit_of[], int *n_buckets, struct dp_error *err)
{
    struct filling filling[TYPES];
    int count = 0;
    const int status = buckets_check(dtype, n, n_limits, err);
    if (status)
        return status;
    for (int t = 0; t < TYPES; ++t)
        filling[t] = (struct filling){-1, 0, 0};
    for (int i = 0; i < n; ++i) {
        struct filling *f = &filling[dtype[i]];
        if (f->bucket < 0)
            f->bucket = count++;
        f->bytes = f->bytes > SIZE_MAX - bytes[i] ? SIZE_MAX : f->bytes + bytes[i];
        bucket[i] = f->bucket;
        limit_of[f->bucket] = limits[f->limit];
        if (f->bytes < limits[f->limit])
            continue;
        f->bucket = -1;
        f->bytes = 0;
        f->limit += f->limit + 1 < n_limits;
    }
    *n_buckets = count;
    return 0;
}
