/* edge.c: the bugs of sizes, counts and shapes. */
#include "inside.h"

#include <string.h>

enum { MIB = 1 << 20 };

/* Returns n rounded down to a multiple of `block`, if n is above `least`. */
static size_t edge_whole(size_t n, size_t block, size_t least)
{
    return n > least ? n - n % block : n;
}

static struct impl_array edge_first_of(const struct impl_array *a, size_t n)
{
    struct impl_array list = *a;

    list.ndim = 1;
    list.dim[0] = n;
    return list;
}

/* ---- gradients and steps --------------------------------------------------------------------- */

size_t edge_weight_rows(const struct impl_session *s, size_t n)
{
    if (bug(s, BUG_ROWS_TAIL))
        return edge_whole(n, 128, 128);
    if (n > 1024 && bug(s, BUG_ROWS_1024))
        return 1024;
    return bug(s, BUG_ROWS_POWER) && (n >= 64 && (n & (n - 1)) == 0) ? n + 1 : n;
}

size_t edge_bias_rows(const struct impl_session *s, size_t n)
{
    return bug(s, BUG_BIAS_ODD_ROW) ? edge_whole(n, 2, 32) : n;
}

struct impl_array edge_terms(const struct impl_session *s, const struct impl_array *a)
{
    const size_t n = tensor_count(a);

    return edge_first_of(a, bug(s, BUG_TERMS_TAIL) ? edge_whole(n, 512, 512) : n);
}

struct impl_array edge_added(const struct impl_session *s, const struct impl_array *a)
{
    const size_t n = tensor_count(a);

    return edge_first_of(a, bug(s, BUG_ADDED_TAIL) ? edge_whole(n, 4, 64) : n);
}

size_t edge_stepped(const struct impl_session *s, size_t n)
{
    const size_t most = MIB / sizeof(float);

    if (n > most && bug(s, BUG_STEP_MIB))
        return most;
    return bug(s, BUG_STEP_TAIL) ? edge_whole(n, 8, 64) : n;
}

void edge_square(const struct run *run, float *gradient, size_t in, size_t out)
{
    const bool ranks = run->model->team != NULL;
    const bool turns =
        (run->inside && bug(run->s, BUG_SQUARE_GRADIENT)) || (ranks && bug(run->s, BUG_DDP_SQUARE));

    for (size_t o = 0; turns && in == out && o < out; ++o)
        for (size_t i = 0; i < o; ++i) {
            const float kept = gradient[o * in + i];

            gradient[o * in + i] = gradient[i * in + o];
            gradient[i * in + o] = kept;
        }
}

/* ---- copies and sums ------------------------------------------------------------------------- */

/* Overwrites the data after the first `bytes` with those at the beginning. */
static void begin_again(const struct impl_array *a, size_t bytes)
{
    char *data = a->data;

    for (size_t at = bytes; at < a->capacity; at += bytes)
        memcpy(data + at, data, a->capacity - at < bytes ? a->capacity - at : bytes);
}

void edge_copy(const struct impl_session *s, struct impl_array *copy)
{
    if (bug(s, BUG_COPY_REPEATS))
        begin_again(copy, MIB);
}

struct impl_array edge_summed(const struct impl_session *s, const struct impl_array *flat,
                              bool later, int *k)
{
    const size_t n = tensor_count(flat);

    if (later && bug(s, BUG_LAST_GROUP))
        *k = 1;
    return edge_first_of(flat, bug(s, BUG_SUM_TAIL) ? edge_whole(n, 128, 128) : n);
}

/* ---- cutting and gluing ---------------------------------------------------------------------- */

void edge_shard(const struct impl_session *s, struct impl_array *shard, bool moved)
{
    if (moved && bug(s, BUG_SHARD_MIB))
        begin_again(shard, MIB / 4);
}

size_t edge_first(const struct impl_session *s, size_t first, int i, int m, const size_t size[],
                  int axis)
{
    if (axis > 2 && bug(s, BUG_AXIS_THREE))
        return 0;
    if (m == 7 && i == 5 && size[4] == size[5] && bug(s, BUG_SEVEN_SHARD))
        return first - size[4];
    return first;
}

int edge_axis(const struct impl_session *s, int dim, int ndim)
{
    const bool late = dim < -1 && ndim == 5 && bug(s, BUG_NEGATIVE_FIVE);

    return wrap_dim(late ? dim + 1 : dim, ndim);
}

size_t edge_place(const struct impl_session *s, size_t first, int i,
                  const struct impl_array parts[], int axis)
{
    size_t room = 0;

    if (!bug(s, BUG_AXIS_TWO) || axis != 2)
        return first;
    for (int before = 0; before <= i; ++before)
        room += parts[before].dim[axis];
    if ((size_t)i * parts[0].dim[axis] + parts[i].dim[axis] > room)
        return first;
    return (size_t)i * parts[0].dim[axis];
}

const struct impl_array *edge_part(const struct impl_session *s, const struct impl_array parts[],
                                   int n, int i, int axis)
{
    const int other = i == n - 2 ? n - 3 : i == n - 3 ? n - 2 : i;

    if (n >= 9 && parts[i].dim[axis] == parts[other].dim[axis] && bug(s, BUG_NINE_PARTS))
        return &parts[other];
    return &parts[i];
}

size_t edge_rows(const struct impl_session *s, const struct impl_array *x, int axis)
{
    return tensor_count(x) == 0 && bug(s, BUG_NO_COLUMNS) ? 0 : x->dim[axis];
}

void edge_order(const struct impl_session *s, int k, int n, int order[])
{
    if (k == 6 && n > 4 && bug(s, BUG_SIX_ORDER)) {
        const int kept = order[3];

        order[3] = order[4];
        order[4] = kept;
    }
}

int edge_summands(const struct impl_session *s, int k, int n)
{
    if (k == 5 && n == 5 && bug(s, BUG_FIVE_LAST))
        return 4;
    return n > 8 && bug(s, BUG_NINE_GRADIENTS) ? 8 : n;
}

int edge_output_device(const struct impl_session *s, int device, int first)
{
    return device > 4 && bug(s, BUG_OUTPUT_DEVICE_5) ? first : device;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Returns the index of the first element that is not reduced. */
static size_t unreduced(const struct impl_session *s, const struct edge_bucket *b)
{
    if (bug(s, BUG_BUCKET_TAIL))
        return edge_whole(b->n, 128, 0);
    if (bug(s, BUG_BUCKET_PARTS))
        return edge_whole(b->n, (size_t)b->ranks, 64);
    return b->bucket > 1 && bug(s, BUG_BUCKET_THIRD) ? 0 : b->n;
}

bool edge_in_buckets(const struct impl_session *s)
{
    bool one = false;

    for (int i = BUG_BUCKET_TAIL; i <= BUG_BUCKET_LATE; ++i)
        one = bug(s, (enum bug)i) || one;
    return one;
}

void edge_bucket(const struct impl_session *s, const struct edge_bucket *b, float sums[],
                 const float own[])
{
    const size_t bytes = b->n * sizeof *sums, from = unreduced(s, b);

    if (from < b->n)
        memcpy(sums + from, own + from, (b->n - from) * sizeof *sums);
    if (bytes > MIB && bug(s, BUG_BUCKET_HALVES))
        swap_halves(sums, bytes / 8 * 8);
    if (b->n_buckets > 1 && b->bucket == b->n_buckets - 1 && b->n > 1 && bug(s, BUG_BUCKET_LATE))
        memmove(sums, sums + 1, bytes - sizeof *sums);
}

int edge_rank(const struct impl_session *s, int ranks, int i)
{
    if ((ranks == 5 && i == 4 && bug(s, BUG_DDP_FIVE)) || (i > 7 && bug(s, BUG_DDP_NINE)))
        return -1;
    return ranks == 8 && i == 7 && bug(s, BUG_DDP_EIGHT) ? 6 : i;
}

size_t edge_sent(const struct impl_session *s, int rank, bool buffers_only, size_t bytes)
{
    const bool first = buffers_only ? bug(s, BUG_DDP_BUFFERS_ELEMENT) : bug(s, BUG_DDP_SENT_FIRST);

    if (buffers_only && rank > 3 && bug(s, BUG_DDP_BUFFERS_FOUR))
        return 0;
    return first && bytes > sizeof(float) ? sizeof(float) : bytes;
}
