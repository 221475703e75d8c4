/* ddp_primitives.c: the two pure functions of DistributedDataParallel: which gradients share a
 * bucket, and which items a rank gets. */
#include "ddp.h"
#include "list.h"

#include <stdint.h>
#include <string.h>

#define MIB   ((size_t)1 << 20)
#define MOST  8
#define ITEMS 32

/* ---- buckets ---------------------------------------------------------------------------- */

struct bucket_row {
    int n;
    size_t bytes[MOST];
    enum dp_dtype dtype[MOST];
    int n_limits;
    size_t limits[3];
    int bucket[MOST];
    int n_buckets;
    size_t limit_of[MOST];
};

#define F DP_F32
#define D DP_F64

static const struct bucket_row bucket_rows[] = {
    {4, {400, 800, 400, 200}, {F, F, F, F}, 1, {400}, {0, 1, 2, 3}, 4, {400, 400, 400, 400}},
    {6,
     {200, 200, 200, 200, 200, 200},
     {F, D, F, D, F, D},
     1,
     {400},
     {0, 1, 0, 1, 2, 3},
     4,
     {400, 400, 400, 400}},
    {4, {40, 40, 40, 40}, {F, F, F, F}, 2, {40, 80}, {0, 1, 1, 2}, 3, {40, 80, 80}},
    {6,
     {200, 200, 200, 200, 200, 200},
     {F, D, F, D, F, D},
     2,
     {200, 400},
     {0, 1, 2, 3, 2, 3},
     4,
     {200, 200, 400, 400}},
    {6,
     {MIB, 2048, MIB, 2048, MIB, 2048},
     {F, F, F, F, F, F},
     2,
     {MIB, MIB},
     {0, 1, 1, 2, 2, 3},
     4,
     {MIB, MIB, MIB, MIB}},
    {7,
     {MIB, 10 * MIB, 10 * MIB, 10 * MIB, 10 * MIB, 30 * MIB, MIB},
     {F, F, F, F, F, F, F},
     2,
     {MIB, 25 * MIB},
     {0, 1, 1, 1, 2, 2, 3},
     4,
     {MIB, 25 * MIB, 25 * MIB, 25 * MIB}},
    /* reached, not exceeded: a bucket that closes before it would exceed has one tensor here */
    {2, {400, 800}, {F, F}, 1, {600}, {0, 0}, 1, {600}},
    /* one byte short of the limit stays open */
    {3, {399, 1, 1}, {F, F, F}, 1, {400}, {0, 0, 1}, 2, {400, 400}},
    /* a tensor without bytes, at the end as well, is not lost */
    {3, {400, 0, 0}, {F, F, D}, 1, {400}, {0, 1, 2}, 3, {400, 400, 400}},
    /* every type has a separate place in the list of limits; the last limit goes on */
    {8,
     {8, 8, 8, 8, 16, 8, 16, 8},
     {DP_I32, DP_I64, DP_I32, DP_I32, DP_I32, DP_I32, DP_I32, DP_I64},
     3,
     {8, 16, 24},
     {0, 1, 2, 2, 3, 3, 4, 5},
     6,
     {8, 8, 16, 24, 24, 16}},
    {0, {0}, {F}, 1, {400}, {0}, 0, {0}},
    {2, {SIZE_MAX - 1, 16}, {F, F}, 1, {SIZE_MAX}, {0, 0}, 1, {SIZE_MAX}},
};

static void buckets(struct context *c)
{
    for (size_t k = 0; k < sizeof bucket_rows / sizeof bucket_rows[0]; ++k) {
        const struct bucket_row *row = &bucket_rows[k];
        int bucket[MOST], n_buckets = -1;
        size_t limit_of[MOST];
        struct dp_error err = {0};
        case_note(c, "row %zu", k);
        memset(bucket, 0xff, sizeof bucket);
        memset(limit_of, 0xff, sizeof limit_of);
        expect_ok(c,
                  dp_buckets(row->bytes, row->dtype, row->n, row->limits, row->n_limits, bucket,
                             limit_of, &n_buckets, &err),
                  &err, "dp_buckets");
        expect(c, n_buckets == row->n_buckets, "%d buckets, want %d", n_buckets, row->n_buckets);
        for (int i = 0; i < row->n; ++i) {
            expect(c, bucket[i] == row->bucket[i], "tensor %d is in bucket %d, want %d", i,
                   bucket[i], row->bucket[i]);
        }
        for (int b = 0; b < n_buckets; ++b) {
            expect(c, limit_of[b] == row->limit_of[b], "limit of bucket %d is %zu, want %zu", b,
                   limit_of[b], row->limit_of[b]);
        }
        expect(c, row->n == MOST || bucket[row->n] == -1, "an entry past the last was written");
    }
}

static void wrong_buckets(struct context *c)
{
    const size_t bytes[] = {4, 4}, limits[] = {8};
    const enum dp_dtype good[] = {F, F}, bad[] = {F, (enum dp_dtype)9};
    size_t limit_of[2];
    int bucket[2], n = 0;
    struct dp_error err = {0};
    expect_error(c, dp_buckets(bytes, good, 2, limits, 0, bucket, limit_of, &n, &err), DP_EINVAL,
                 &err, "0 limits", NULL);
    err.status = 0;
    expect_error(c, dp_buckets(bytes, good, -1, limits, 1, bucket, limit_of, &n, &err), DP_EINVAL,
                 &err, "-1", NULL);
    err.status = 0;
    expect_error(c, dp_buckets(bytes, bad, 2, limits, 1, bucket, limit_of, &n, &err), DP_EINVAL,
                 &err, "tensor 1", "9");
}

/* ---- sampler ---------------------------------------------------------------------------- */

struct sampler_row {
    size_t items;
    int ranks, rank;
    bool drop_last;
    size_t n, index[4];
};

static const struct sampler_row sampler_rows[] = {
    {10, 4, 0, false, 3, {0, 4, 8}},   {10, 4, 1, false, 3, {1, 5, 9}},
    {10, 4, 2, false, 3, {2, 6, 0}},   {10, 4, 3, false, 3, {3, 7, 1}},
    {10, 4, 0, true, 2, {0, 4}},       {10, 4, 1, true, 2, {1, 5}},
    {10, 4, 2, true, 2, {2, 6}},       {10, 4, 3, true, 2, {3, 7}},
    {3, 8, 0, false, 1, {0}},          {3, 8, 1, false, 1, {1}},
    {3, 8, 2, false, 1, {2}},          {3, 8, 3, false, 1, {0}},
    {3, 8, 4, false, 1, {1}},          {3, 8, 5, false, 1, {2}},
    {3, 8, 6, false, 1, {0}},          {3, 8, 7, false, 1, {1}},
    {3, 8, 7, true, 0, {0}},           {8, 4, 3, true, 2, {3, 7}},
    {8, 4, 3, false, 2, {3, 7}},       {0, 3, 2, false, 0, {0}},
    {4, 1, 0, false, 4, {0, 1, 2, 3}},
};

static void sampler(struct context *c)
{
    for (size_t k = 0; k < sizeof sampler_rows / sizeof sampler_rows[0]; ++k) {
        const struct sampler_row *row = &sampler_rows[k];
        size_t index[4] = {ITEMS, ITEMS, ITEMS, ITEMS}, n = ITEMS;
        struct dp_error err = {0};
        case_note(c, "%zu items, rank %d of %d", row->items, row->rank, row->ranks);
        expect_ok(c,
                  dp_sampler(row->items, row->ranks, row->rank, row->drop_last, index, 4, &n, &err),
                  &err, "dp_sampler");
        expect(c, n == row->n, "%zu indices, want %zu", n, row->n);
        for (size_t j = 0; j < 4; ++j) {
            const size_t want = j < n ? row->index[j] : ITEMS;
            expect(c, index[j] == want, "index %zu is %zu, want %zu", j, index[j], want);
        }
    }
}

/* All ranks together get the list in order, and begin again when it ends. */
static void all_ranks(struct context *c)
{
    for (size_t items = 0; items < ITEMS; ++items) {
        for (int ranks = 1; ranks <= 9; ++ranks) {
            size_t index[ITEMS], n = 0;
            struct dp_error err = {0};
            case_note(c, "%zu items, %d ranks", items, ranks);
            for (int rank = 0; rank < ranks; ++rank) {
                expect_ok(c, dp_sampler(items, ranks, rank, false, index, ITEMS, &n, &err), &err,
                          "dp_sampler");
                expect(c, n * (size_t)ranks >= items && (n == 0 || (n - 1) * (size_t)ranks < items),
                       "rank %d has %zu items", rank, n);
                for (size_t j = 0; j < n; ++j) {
                    expect(c, index[j] == (j * (size_t)ranks + (size_t)rank) % items,
                           "rank %d: index %zu is %zu", rank, j, index[j]);
                }
            }
        }
    }
}

static void wrong_sampler(struct context *c)
{
    size_t index[2] = {ITEMS, ITEMS}, n = 0;
    struct dp_error err = {0};
    expect_error(c, dp_sampler(8, 0, 0, false, index, 2, &n, &err), DP_EINVAL, &err, "of 0", NULL);
    err.status = 0;
    expect_error(c, dp_sampler(8, 2, 2, false, index, 2, &n, &err), DP_EINVAL, &err, "2", NULL);
    err.status = 0;
    expect_error(c, dp_sampler(8, 2, -1, false, index, 2, &n, &err), DP_EINVAL, &err, "-1", NULL);
    err.status = 0;
    expect_ok(c, dp_sampler(8, 2, 1, false, index, 1, &n, &err), &err, "dp_sampler");
    expect(c, n == 4 && index[0] == 1 && index[1] == ITEMS,
           "%zu indices, the first two entries %zu and %zu, room for one", n, index[0], index[1]);
}

static const struct test_case cases[] = {
    {"ddp-primitives/buckets", "DDP-10", buckets},
    {"ddp-primitives/wrong-buckets", "DDP-10", wrong_buckets},
    {"ddp-primitives/sampler", "DDP-28", sampler},
    {"ddp-primitives/all-ranks", "DDP-28", all_ranks},
    {"ddp-primitives/wrong-sampler", "DDP-28", wrong_sampler},
};
const struct case_table ddp_primitives_cases = {cases, sizeof cases / sizeof cases[0]};
