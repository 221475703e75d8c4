/* ddp.c: area DDP: its tables; the bucket assignment and the sampler as pure functions. The
 * training of several ranks is in the other files ddp_*.c. */
#include "ddp.h"

/* ---- DDP-10: buckets ------------------------------------------------------------------------- */

enum { MOST = 64, KIB = 1024, MIB = 1024 * KIB };

struct assignment {
    int n, n_limits;
    size_t bytes[8];
    char type[9]; /* type of each tensor: f float, d double */
    size_t limits[2];
    int bucket[8];
    size_t limit_of[8];
    int n_buckets;
};

/* The first four are the numbers in PyTorch's test. */
static const struct assignment known[] = {
    {4, 1, {400, 800, 400, 200}, "ffff", {400}, {0, 1, 2, 3}, {400, 400, 400, 400}, 4},
    {6,
     1,
     {200, 200, 200, 200, 200, 200},
     "fdfdfd",
     {400},
     {0, 1, 0, 1, 2, 3},
     {400, 400, 400, 400},
     4},
    {4, 2, {40, 40, 40, 40}, "ffff", {40, 80}, {0, 1, 1, 2}, {40, 80, 80}, 3},
    {6,
     2,
     {200, 200, 200, 200, 200, 200},
     "fdfdfd",
     {200, 400},
     {0, 1, 2, 3, 2, 3},
     {200, 200, 400, 400},
     4},
    {6,
     2,
     {MIB, 2 * KIB, MIB, 2 * KIB, MIB, 2 * KIB},
     "ffffff",
     {MIB, MIB},
     {0, 1, 1, 2, 2, 3},
     {MIB, MIB, MIB, MIB},
     4},
    {7,
     2,
     {MIB, 10 * MIB, 10 * MIB, 10 * MIB, 10 * MIB, 30 * MIB, MIB},
     "fffffff",
     {MIB, 25 * MIB},
     {0, 1, 1, 1, 2, 2, 3},
     {MIB, 25 * MIB, 25 * MIB, 25 * MIB},
     4},
    /* a bucket is closed when it has reached the limit, and not before it would exceed it */
    {2, 1, {400, 800}, "ff", {600}, {0, 0}, {600}, 1},
    {3, 1, {400, 200, 200}, "fff", {600}, {0, 0, 1}, {600, 600}, 2},
    {3, 1, {400, 196, 200}, "fff", {600}, {0, 0, 0}, {600}, 1},
    {3, 1, {4, 5000, 4}, "fff", {600}, {0, 0, 1}, {600, 600}, 2},
    /* buckets are in the order of their lowest tensors, not of closing; each type has separate
     * limits */
    {4, 2, {8, 8, 100, 8}, "dfff", {16, 1000}, {0, 1, 1, 2}, {16, 16, 1000}, 3},
    {5, 2, {8, 100, 100, 8, 104}, "dfffd", {16, 150}, {0, 1, 2, 2, 0}, {16, 16, 150}, 3},
    {1, 1, {8}, "d", {400}, {0}, {400}, 1},
    {3, 1, {0, 0, 4}, "fff", {4}, {0, 0, 0}, {4}, 1},
};

static void ddp_ask(struct check *c, struct impl_buckets *op, int n)
{
    op->n = n;
    op->bucket = check_memory(c, (size_t)n * sizeof *op->bucket);
    op->limit_of = check_memory(c, (size_t)n * sizeof *op->limit_of);
    check_buckets(c, op);
}

static void known_buckets(struct check *c)
{
    for (size_t row = 0; row < sizeof known / sizeof known[0]; ++row) {
        const struct assignment *a = &known[row];
        enum impl_dtype dtype[8];
        struct impl_buckets op = {
            .bytes = a->bytes, .dtype = dtype, .limits = a->limits, .n_limits = a->n_limits};
        check_note(c, "setting %zu: ", row);
        for (int t = 0; t < a->n; ++t)
            dtype[t] = a->type[t] == 'd' ? IMPL_F64 : IMPL_F32;
        ddp_ask(c, &op, a->n);
        check_int(c, "buckets", op.n_buckets, a->n_buckets);
        for (int t = 0; t < a->n; ++t)
            check_int(c, check_text(c, "bucket of tensor %d", t), op.bucket[t], a->bucket[t]);
        for (int b = 0; b < a->n_buckets; ++b)
            check_int(c, check_text(c, "limit of bucket %d", b), (long long)op.limit_of[b],
                      (long long)a->limit_of[b]);
    }
}

/* Computes the rule for two types: buckets are numbered in the order of opening, which is that of
 * the lowest tensor. */
static int assign(const struct impl_buckets *op, int bucket[], size_t limit_of[])
{
    struct {
        size_t bytes;
        int open, limit;
    } key[IMPL_I64 + 1];
    int buckets = 0;

    for (int d = 0; d <= IMPL_I64; ++d) {
        key[d].bytes = 0;
        key[d].open = -1;
        key[d].limit = 0;
    }
    for (int t = 0; t < op->n; ++t) {
        const int d = (int)op->dtype[t];
        if (key[d].open < 0) {
            key[d].open = buckets;
            limit_of[buckets++] = op->limits[key[d].limit];
        }
        bucket[t] = key[d].open;
        key[d].bytes += op->bytes[t];
        if (key[d].bytes < op->limits[key[d].limit])
            continue;
        key[d].bytes = 0;
        key[d].open = -1;
        key[d].limit += key[d].limit + 1 < op->n_limits;
    }
    return buckets;
}

static void any_buckets(struct check *c)
{
    static const enum impl_dtype types[] = {IMPL_F32, IMPL_F64, IMPL_F32, IMPL_I64};
    static const size_t limits[][3] = {{80, 80, 80}, {1, 200, 81}, {128, 256, 512}, {16, 1000, 8}};

    for (uint64_t turn = 0; turn < 200; ++turn) {
        const int n = 1 + (int)(turn % MOST), n_limits = 1 + (int)(turn % 3);
        const double *random = check_integers(c, 2 * MOST, turn);
        size_t bytes[MOST], want_limit[MOST];
        enum impl_dtype dtype[MOST];
        int want[MOST], buckets;
        struct impl_buckets op = {
            .bytes = bytes, .dtype = dtype, .limits = limits[turn % 4], .n_limits = n_limits};
        check_note(c, "list %d: ", (int)turn);
        for (int t = 0; t < n; ++t) {
            bytes[t] = (size_t)(random[2 * t] + 8) * 8; /* whole elements of every type, or none */
            dtype[t] = types[(unsigned)(random[2 * t + 1] + 8) % 4];
        }
        ddp_ask(c, &op, n);
        buckets = assign(&op, want, want_limit);
        check_int(c, "buckets", op.n_buckets, buckets);
        for (int t = 0; t < n; ++t)
            check_int(c, check_text(c, "bucket of tensor %d of %d", t, n), op.bucket[t], want[t]);
        for (int b = 0; b < buckets; ++b)
            check_int(c, check_text(c, "limit of bucket %d", b), (long long)op.limit_of[b],
                      (long long)want_limit[b]);
    }
}

/* ---- DDP-28: the sampler --------------------------------------------------------------------- */

struct share {
    size_t items;
    int ranks, rank;
    bool drop_last;
    size_t n;
    size_t index[8];
};

static const struct share shares[] = {
    {10, 4, 0, false, 3, {0, 4, 8}},
    {10, 4, 1, false, 3, {1, 5, 9}},
    {10, 4, 2, false, 3, {2, 6, 0}},
    {10, 4, 3, false, 3, {3, 7, 1}},
    {10, 4, 0, true, 2, {0, 4}},
    {10, 4, 1, true, 2, {1, 5}},
    {10, 4, 2, true, 2, {2, 6}},
    {10, 4, 3, true, 2, {3, 7}},
    {3, 8, 0, false, 1, {0}},
    {3, 8, 2, false, 1, {2}},
    {3, 8, 3, false, 1, {0}},
    {3, 8, 7, false, 1, {1}},
    {8, 4, 3, false, 2, {3, 7}},
    {8, 4, 3, true, 2, {3, 7}},
    {5, 1, 0, false, 5, {0, 1, 2, 3, 4}},
    {1, 4, 3, false, 1, {0}},
};

static void share_is(struct check *c, const struct impl_sampler *op, size_t n, const size_t index[])
{
    check_int(c, "number of indices", (long long)op->n, (long long)n);
    for (size_t i = 0; i < n; ++i)
        check_int(c, check_text(c, "index %zu", i), (long long)op->index[i], (long long)index[i]);
}

static void known_shares(struct check *c)
{
    for (size_t row = 0; row < sizeof shares / sizeof shares[0]; ++row) {
        const struct share *s = &shares[row];
        struct impl_sampler op = {.items = s->items,
                                  .ranks = s->ranks,
                                  .rank = s->rank,
                                  .drop_last = s->drop_last,
                                  .capacity = 16};
        check_note(c, "%zu items, rank %d of %d%s: ", s->items, s->rank, s->ranks,
                   s->drop_last ? ", the rest dropped" : "");
        op.index = check_memory(c, op.capacity * sizeof *op.index);
        check_sampler(c, &op);
        share_is(c, &op, s->n, s->index);
    }
}

/* Rank r takes items r, r + R, ... of the list, which is repeated or cut to a multiple of R. */
static void any_share(struct check *c)
{
    enum { ROOM = 48 };

    for (size_t items = 1; items <= 40; ++items)
        for (int ranks = 1; ranks <= 9; ++ranks)
            for (int form = 0; form < 2; ++form) {
                const size_t r = (size_t)ranks;
                const size_t n = form == 1 ? items / r : (items + r - 1) / r;
                const int rank = (int)((items * 7 + (size_t)form) % r);
                struct impl_sampler op = {.items = items,
                                          .ranks = ranks,
                                          .rank = rank,
                                          .drop_last = form == 1,
                                          .capacity = ROOM};
                size_t index[ROOM], given[ROOM];
                check_note(c, "%zu items, rank %d of %d%s: ", items, rank, ranks,
                           form == 1 ? ", the rest dropped" : "");
                op.index = given;
                for (size_t i = 0; i < n; ++i)
                    index[i] = ((size_t)rank + i * r) % items;
                check_sampler(c, &op);
                share_is(c, &op, n, index);
            }
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct check_case cases[] = {
    {"DDP-10.known", "DDP-10", MUST, OBSERVED, PRIM, IMPL_CAP_BUCKETS, 0, known_buckets},
    {"DDP-10.any", "DDP-10", MUST, OBSERVED, PRIM, IMPL_CAP_BUCKETS, 0, any_buckets},
    {"DDP-28.known", "DDP-28", MUST, OBSERVED, PRIM, IMPL_CAP_SAMPLER, 0, known_shares},
    {"DDP-28.any", "DDP-28", MUST, OBSERVED, PRIM, IMPL_CAP_SAMPLER, 0, any_share},
};
const struct check_table ddp_table = CHECK_TABLE(cases);
