/* split.c: pure functions: shard sizes, buckets, the sampler. */
#include "inside.h"

#include <string.h>

static int even_pieces(size_t rows, int k, size_t size[IMPL_MAX_DEVICES])
{
    const size_t n = (size_t)k;
    const int m = rows < n ? (int)rows : k;

    for (int i = 0; i < m; ++i)
        size[i] = rows / n + ((size_t)i < rows % n ? 1 : 0);
    return m;
}

int split_rows(const struct impl_session *s, size_t rows, int k, size_t size[IMPL_MAX_DEVICES])
{
    const size_t n = (size_t)k, least = rows < n ? 1 : rows / n;
    size_t most = rows / n + (rows % n > 0 ? 1 : 0);

    if (rows == 0) {
        memset(size, 0, n * sizeof *size);
        if (s->dialect[IMPL_NO_ROWS] == IMPL_REFUSE)
            return 0;
        return bug(s, BUG_NO_ROWS_ONE) ? 1 : k;
    }
    if (bug(s, BUG_EVEN_SPLIT) || bug(s, BUG_STRIDED_ROWS))
        return even_pieces(rows, k, size);
    if (bug(s, BUG_FLOOR_SPLIT) || (rows % n == 1 && bug(s, BUG_SPLIT_REMAINDER_ONE)))
        most = least;
    if (bug(s, BUG_ROUND_SPLIT))
        most = rows < n ? 1 : (2 * rows + n) / (2 * n);

    int m = 0;

    /* Cuts pieces of `most` rows until none are left; the last of k gets the rest. */
    for (; rows > 0; ++m) {
        size[m] = rows < most || m == k - 1 ? rows : most;
        rows -= size[m];
    }
    return m;
}

int op_split(struct impl_session *s, struct impl_split *op, struct impl_error *err)
{
    if (refuses(s, err))
        return err->status;
    if (op->devices < 1 || op->devices > IMPL_MAX_DEVICES)
        return impl_fail(err, IMPL_EINVAL, "%d devices; must be 1..%d", op->devices,
                         IMPL_MAX_DEVICES);
    if (op->rows < (size_t)op->devices && bug(s, BUG_REFUSE_FEW_ROWS))
        return impl_fail(err, IMPL_EINVAL, "fewer rows than devices");
    op->n = split_rows(s, op->rows, op->devices, op->size);
    return op->n > 0 ? 0 : impl_fail(err, IMPL_ESHAPE, "no rows to split");
}

/* ---- buckets ------------------------------------------------------------------------------- */

enum { TYPES = IMPL_I64 + 1 };

struct open_bucket {
    int first, limit; /* the first tensor of the bucket, -1: it is empty; the index of its limit */
    size_t bytes;
};

static void bucket_close(const struct impl_session *s, struct impl_buckets *op,
                         struct open_bucket *open)
{
    op->limit_of[open->first] = op->limits[open->limit];
    if (open->limit < op->n_limits - 1 && bug(s, BUG_LIMIT_REPORTED_NEXT))
        op->limit_of[open->first] = op->limits[open->limit + 1];
    if (open->limit < op->n_limits - 1)
        ++open->limit;
    open->first = -1;
    open->bytes = 0;
}

static void bucket_add(const struct impl_session *s, struct impl_buckets *op,
                       struct open_bucket *open, int i)
{
    const size_t limit = op->limits[open->limit];

    if (open->first >= 0 && open->bytes + op->bytes[i] > limit && bug(s, BUG_BUCKETS_EXCEED))
        bucket_close(s, op, open);
    if (open->first < 0)
        open->first = i;
    op->bucket[i] = open->first;
    open->bytes += op->bytes[i];
    if (!bug(s, BUG_BUCKETS_EXCEED) && open->bytes >= limit)
        bucket_close(s, op, open);
}

int op_buckets(struct impl_session *s, struct impl_buckets *op, struct impl_error *err)
{
    struct open_bucket open[TYPES] = {{0}};

    if (refuses(s, err))
        return err->status;
    if (op->n < 0 || op->n_limits < 1)
        return impl_fail(err, IMPL_EINVAL, "%d tensors, %d limits", op->n, op->n_limits);
    for (int t = 0; t < TYPES; ++t)
        open[t].first = -1;
    for (int i = 0; i < op->n; ++i) {
        const int type = bug(s, BUG_BUCKETS_DTYPE) ? 0 : (int)op->dtype[i];

        if ((int)op->dtype[i] <= IMPL_NONE || (int)op->dtype[i] >= TYPES)
            return impl_fail(err, IMPL_EINVAL, "tensor %d has no type", i);
        bucket_add(s, op, &open[type], i);
        for (int t = 0; bug(s, BUG_BUCKETS_LIMIT) && t < TYPES; ++t)
            open[t].limit = open[type].limit;
    }
    for (int t = 0; t < TYPES; ++t)
        if (open[t].first >= 0)
            bucket_close(s, op, &open[t]);
    /* Numbers the buckets: bucket[i] is the first tensor of its bucket, and limit_of[that] its
     * limit. */
    op->n_buckets = 0;
    for (int i = 0; i < op->n; ++i) {
        if (op->bucket[i] == i) {
            op->limit_of[op->n_buckets] = op->limit_of[i];
            op->bucket[i] = op->n_buckets++;
        } else {
            op->bucket[i] = op->bucket[op->bucket[i]];
        }
    }
    for (int i = 0; bug(s, BUG_BUCKETS_ORDER) && i < op->n; ++i)
        op->bucket[i] = op->n_buckets - 1 - op->bucket[i];
    return 0;
}

/* ---- sampler ------------------------------------------------------------------------------- */

/* Returns which item is at index p of the padded list. */
static size_t sampler_item(const struct impl_session *s, const struct impl_sampler *op, size_t p)
{
    if (p >= op->items && bug(s, BUG_SAMPLER_REPEAT))
        return op->items - 1;
    if (p >= 2 * op->items && bug(s, BUG_SAMPLER_WRAPS_ONCE))
        return 0;
    return p % op->items;
}

int op_sampler(struct impl_session *s, struct impl_sampler *op, struct impl_error *err)
{
    const size_t ranks = (size_t)op->ranks;
    size_t each;

    if (refuses(s, err))
        return err->status;
    if (op->ranks < 1 || op->rank < 0 || op->rank >= op->ranks)
        return impl_fail(err, IMPL_EINVAL, "rank %d of %d", op->rank, op->ranks);
    each = op->items / ranks + (!op->drop_last && op->items % ranks > 0 ? 1 : 0);
    if (op->drop_last && each == 0 && op->items > 0 && bug(s, BUG_DROP_LAST_KEEPS))
        each = 1;
    if (each > op->capacity)
        return impl_fail(err, IMPL_EROOM, "%zu indices, room for %zu", each, op->capacity);
    op->n = each;
    for (size_t i = 0; i < each; ++i) {
        const size_t strided = i * ranks + (size_t)op->rank, block = (size_t)op->rank * each + i;

        op->index[i] = sampler_item(s, op, bug(s, BUG_SAMPLER_BLOCKS) ? block : strided);
    }
    return 0;
}
