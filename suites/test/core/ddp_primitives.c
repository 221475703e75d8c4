/* ddp_primitives.c: the limits of dp_buckets and dp_sampler: what they refuse, sums that exceed
 * SIZE_MAX, and room for fewer indices than there are. */
#include "ddp.h"
#include "list.h"

#include <stdint.h>

#define ITEMS 32

static void wrong_buckets(struct context *c)
{
    const size_t bytes[] = {4, 4}, limits[] = {8};
    const enum dp_dtype good[] = {DP_F32, DP_F32}, bad[] = {DP_F32, (enum dp_dtype)9};
    size_t limit_of[2];
    int bucket[2], n = 0;
    expect_error(c, dp_buckets(bytes, good, 2, limits, 0, bucket, limit_of, &n, &c->err), DP_EINVAL,
                 "0 limits", NULL);
    expect_error(c, dp_buckets(bytes, good, -1, limits, 1, bucket, limit_of, &n, &c->err),
                 DP_EINVAL, "-1", NULL);
    expect_error(c, dp_buckets(bytes, bad, 2, limits, 1, bucket, limit_of, &n, &c->err), DP_EINVAL,
                 "tensor 1", "9");
    const size_t huge[] = {SIZE_MAX - 1, 16}, all[] = {SIZE_MAX};
    expect_ok(c, dp_buckets(huge, good, 2, all, 1, bucket, limit_of, &n, &c->err), "dp_buckets");
    expect(c, n == 1 && bucket[0] == 0 && bucket[1] == 0, "%d buckets of more than SIZE_MAX", n);
}

static void wrong_sampler(struct context *c)
{
    size_t index[2] = {ITEMS, ITEMS}, n = 0;
    expect_error(c, dp_sampler(8, 0, 0, false, index, 2, &n, &c->err), DP_EINVAL, "of 0", NULL);
    expect_error(c, dp_sampler(8, 2, 2, false, index, 2, &n, &c->err), DP_EINVAL, "2", NULL);
    expect_error(c, dp_sampler(8, 2, -1, false, index, 2, &n, &c->err), DP_EINVAL, "-1", NULL);
    expect_ok(c, dp_sampler(8, 2, 1, false, index, 1, &n, &c->err), "dp_sampler");
    expect(c, n == 4 && index[0] == 1 && index[1] == ITEMS,
           "%zu indices, the first two entries %zu and %zu, room for one", n, index[0], index[1]);
}

static const struct test_case cases[] = {
    {"ddp-primitives/wrong-buckets", "DDP-10", wrong_buckets},
    {"ddp-primitives/wrong-sampler", "DDP-28", wrong_sampler},
};
const struct case_table ddp_primitives_cases = {cases, sizeof cases / sizeof cases[0]};
