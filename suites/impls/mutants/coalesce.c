/* coalesce.c: broadcast and reduce. Tensors are sent in groups of one type: they are packed into
 * one array, sent or added as a whole, and unpacked into new tensors. */
#include "inside.h"

#include <string.h>

enum rule { CLOSE_WHEN_REACHED, CLOSE_BEFORE_EXCEEDED };

struct grouping {
    int *group;    /* of each tensor */
    size_t *bytes; /* of each group; there are at most as many as tensors */
    int n;
};

/* Forms the groups; each type has one open group. */
static struct grouping make_groups(struct arena *arena, const struct impl_array src[], int n,
                                   size_t limit, enum rule rule)
{
    struct grouping g = {arena_take(arena, (size_t)n * sizeof *g.group),
                         arena_take(arena, (size_t)n * sizeof *g.bytes), 0};
    int open[IMPL_I64 + 1];

    for (int t = 0; t <= IMPL_I64; ++t)
        open[t] = -1;
    for (int j = 0; j < n; ++j) {
        const size_t bytes = tensor_bytes(&src[j]);
        int *mine = &open[src[j].dtype];

        if (rule == CLOSE_BEFORE_EXCEEDED && *mine >= 0 && g.bytes[*mine] + bytes > limit)
            *mine = -1;
        if (*mine < 0)
            *mine = g.n++;
        g.group[j] = *mine;
        g.bytes[*mine] += bytes;
        if (rule == CLOSE_WHEN_REACHED && g.bytes[*mine] >= limit)
            *mine = -1;
    }
    return g;
}

/* Packs the tensors of a group into one array, one after the other. */
static struct impl_array pack(struct arena *arena, const struct grouping *g, int group,
                              const struct impl_array src[], int n, int device)
{
    struct impl_array flat = {.ndim = 1, .device = device};
    size_t at = 0;

    for (int j = 0; j < n; ++j)
        if (g->group[j] == group) {
            flat.dtype = src[j].dtype;
            flat.dim[0] += tensor_count(&src[j]);
        }
    flat = tensor_like(arena, &flat);
    for (int j = 0; j < n; ++j)
        if (g->group[j] == group) {
            memcpy((char *)flat.data + at, src[j].data, tensor_bytes(&src[j]));
            at += tensor_bytes(&src[j]);
        }
    return flat;
}

static void unpack(struct arena *arena, const struct grouping *g, int group,
                   const struct impl_array *flat, const struct impl_array like[], int n,
                   struct impl_array to[])
{
    size_t at = 0;

    for (int j = 0; j < n; ++j)
        if (g->group[j] == group) {
            to[j] = tensor_like(arena, &like[j]);
            to[j].device = flat->device;
            memcpy(to[j].data, (const char *)flat->data + at, to[j].capacity);
            at += to[j].capacity;
        }
}

/* Whether an earlier group has the same type. */
static bool is_later(const struct grouping *g, int group, const struct impl_array src[], int n)
{
    int first = 0;

    while (first < n && g->group[first] != group)
        ++first;
    for (int j = 0; j < first && first < n; ++j)
        if (src[j].dtype == src[first].dtype)
            return true;
    return false;
}

/* Changes the order of the copies on one device, if a bug does so. */
static void disorder(const struct impl_session *s, const struct grouping *g, size_t limit, int n,
                     struct impl_array copies[], struct impl_array room[])
{
    int at = 0;

    memcpy(room, copies, (size_t)n * sizeof *room);
    for (int group = 0; bug(s, BUG_GROUPED_ORDER) && group < g->n; ++group)
        for (int j = 0; j < n; ++j)
            if (g->group[j] == group)
                copies[at++] = room[j];
    for (int j = 1; bug(s, BUG_STRADDLE_SWAP) && j < n; ++j)
        if (g->group[j] == g->group[j - 1] && g->bytes[g->group[j]] > limit) {
            const size_t before = copies[j - 1].capacity;
            char *a = copies[j].data, *b = copies[j - 1].data;

            for (size_t i = 0; i < copies[j].capacity && i < before; ++i) {
                const char byte = a[i];

                a[i] = b[i];
                b[i] = byte;
            }
        }
    if (n > 0 && tensor_count(&copies[n - 1]) == 0 && bug(s, BUG_TRAILING_EMPTY))
        copies[n - 1] = tensor_none();
}

size_t broadcast(struct arena *arena, const struct impl_array src[], int n, const int devices[],
                 int n_devices, size_t limit, struct impl_array copies[])
{
    const struct impl_session *s = arena->session;
    const enum rule rule = bug(s, BUG_BROADCAST_RULE) ? CLOSE_BEFORE_EXCEEDED : CLOSE_WHEN_REACHED;
    const size_t most = limit > 0 ? limit : DEFAULT_BUFFER;
    const struct grouping g = make_groups(arena, src, n, most, rule);
    struct impl_array *room = arena_take(arena, (size_t)n * sizeof *room);
    int sent_to = 0;

    for (int i = 0; i < n_devices && n > 0; ++i) {
        struct impl_array *to = &copies[i * n];

        if (i == 0 && src[0].device == devices[0]) {
            memcpy(to, src, (size_t)n * sizeof *to);
            continue;
        }
        for (int group = 0; group < g.n; ++group) {
            struct impl_array flat = pack(arena, &g, group, src, n, devices[i]);

            if (bug(s, BUG_BROADCAST_DOUBLE))
                round_to_float(&flat, true);
            if (is_later(&g, group, src, n) && bug(s, BUG_SECOND_GROUP))
                memset(flat.data, 0, flat.capacity);
            unpack(arena, &g, group, &flat, src, n, to);
        }
        for (int j = 0; bug(s, BUG_COPY_REPEATS) && j < n; ++j)
            begin_again(&to[j], MIB);
        disorder(s, &g, most, n, to, room);
        ++sent_to;
    }
    if (bug(s, BUG_TRANSFERS_PER_DEVICE))
        return (size_t)g.n * (size_t)sent_to;
    return sent_to > 0 ? (size_t)g.n : 0;
}

/* Adds flat[0] + flat[1] + ... in this order, into flat[0]. */
static void add_in_order(const struct impl_session *s, struct impl_array flat[], int k, bool later)
{
    const size_t n = without_tail(tensor_count(&flat[0]), bug(s, BUG_SUM_TAIL), 128, 128);
    struct impl_array whole = tensor_list(&flat[0], n);

    if (later && bug(s, BUG_LAST_GROUP))
        k = 1;
    if (k == 4 && bug(s, BUG_TREE_4)) {
        tensor_add(&flat[2], &flat[3]);
        k = 3;
    }
    if (whole.capacity > LARGE && bug(s, BUG_LARGE_GRADIENT))
        whole.dim[0] = LARGE / dtype_bytes(whole.dtype);
    if (s->dialect[IMPL_SUMS] == IMPL_FREE) {
        /* Adds all but the first to flat[1], beginning with the last one. */
        for (int i = k - 1; i > 1; --i)
            tensor_add(&flat[i - 1], &flat[i]);
        k = k < 2 ? k : 2;
    }
    for (int i = 1; i < k; ++i)
        tensor_add(&whole, &flat[i]);
    if (bug(s, BUG_FREE_COARSE)) {
        /* Rounds to 16 bits. */
        uint32_t *words = flat[0].data;

        for (size_t e = 0; flat[0].dtype == IMPL_F32 && e < tensor_count(&flat[0]); ++e)
            words[e] &= 0xFFFFFF00U;
    }
    wide_rounded(s, &flat[0], BUG_REDUCE_INT_DOUBLE);
    if (bug(s, BUG_INTEGERS_AS_FLOAT))
        round_to_float(&flat[0], false);
}

size_t reduce(struct arena *arena, const struct impl_array src[], int n, int k, int device,
              size_t limit, struct impl_array sums[])
{
    const size_t most = limit > 0 ? limit : DEFAULT_BUFFER;
    const struct grouping g = make_groups(arena, src, n, most, CLOSE_BEFORE_EXCEEDED);
    struct impl_array *flat = arena_take(arena, (size_t)k * sizeof *flat);

    for (int group = 0; group < g.n; ++group) {
        for (int i = 0; i < k; ++i)
            flat[i] = pack(arena, &g, group, &src[i * n], n, device);
        add_in_order(arena->session, flat, k, is_later(&g, group, src, n));
        if (bug(arena->session, BUG_REDUCE_DOUBLE))
            round_to_float(&flat[0], true);
        if (flat[0].capacity > LARGE && bug(arena->session, BUG_GRADIENT_HALVES))
            swap_halves(flat[0].data, flat[0].capacity);
        unpack(arena, &g, group, &flat[0], src, n, sums);
    }
    return (size_t)g.n;
}

/* ---- operations ---------------------------------------------------------------------------- */

static int coalesce_read_all(struct arena *arena, const struct impl_array arrays[], int n,
                             struct impl_array **tensors, struct impl_error *err)
{
    int status = 0;

    *tensors = arena_take(arena, (size_t)n * sizeof **tensors);
    for (int i = 0; status == 0 && i < n; ++i) {
        status = tensor_in(arena, &arrays[i], &(*tensors)[i], err);
        if (status == 0 && (*tensors)[i].dtype == IMPL_NONE)
            status = impl_fail(err, IMPL_EINVAL, "tensor %d is none", i);
    }
    return status;
}

static int two_devices(struct impl_error *err, const char *text, int device, int also)
{
    impl_fail(err, IMPL_EDEVICE, "%s: device %d and device %d", text, device, also);
    err->device = device;
    err->device_also = also;
    return IMPL_EDEVICE;
}

static int broadcast_valid(struct impl_session *s, const struct impl_broadcast *op,
                           const struct impl_array src[], struct impl_error *err)
{
    if (op->n_devices < 1 || op->n_devices > IMPL_MAX_DEVICES || op->poke >= op->n)
        return impl_fail(err, IMPL_EINVAL, "%d devices", op->n_devices);
    for (int i = 0; i < op->n_devices; ++i)
        if (known_device(s, op->devices[i], err) != 0)
            return err->status;
    for (int j = 0; j < op->n; ++j) {
        const int device = src[j].device;

        if (device != src[0].device)
            return two_devices(err, "sources apart", device, src[0].device);
        if (device != IMPL_HOST && device != op->devices[0] && !bug(s, BUG_SOURCE_UNCHECKED))
            return two_devices(err, "the source is not on the first device", device,
                               op->devices[0]);
    }
    return 0;
}

/* Changes a copy of a tensor; with a bug, the copy of the next tensor changes, too. */
static void poke_copy(const struct impl_session *s, const struct impl_broadcast *op,
                      struct impl_array *copy)
{
    tensor_poke(copy, 0, copy->ndim > 0 ? copy->dim[0] : 1, 0);
    if (op->poke + 1 < op->n && tensor_count(copy + 1) > 0 && bug(s, BUG_COPIES_SHARE))
        tensor_poke(copy + 1, 0, copy[1].ndim > 0 ? copy[1].dim[0] : 1, 0);
}

int op_broadcast(struct impl_session *s, struct impl_broadcast *op, struct impl_error *err)
{
    struct arena arena = {.session = s};
    struct impl_array *src = NULL, *copies = NULL;
    int status = op->n < 0 ? impl_fail(err, IMPL_EINVAL, "%d tensors", op->n)
                           : coalesce_read_all(&arena, op->src, op->n, &src, err);

    if (status == 0 && refuses(s, err))
        status = err->status;
    if (status == 0)
        status = broadcast_valid(s, op, src, err);
    if (status == 0) {
        const int n = op->n * op->n_devices;

        copies = arena_take(&arena, (size_t)n * sizeof *copies);
        op->transfers =
            broadcast(&arena, src, op->n, op->devices, op->n_devices, op->buffer_bytes, copies);
        op->default_bytes = DEFAULT_BUFFER;
        for (int j = 0; bug(s, BUG_FIVE_COPIES) && op->n_devices == 5 && j < op->n; ++j)
            memset(copies[4 * op->n + j].data, 0, copies[4 * op->n + j].capacity);
        for (int i = 0; op->poke >= 0 && i < op->n_devices; ++i)
            poke_copy(s, op, &copies[i * op->n + op->poke]);
        for (int i = op->n; op->src_after && bug(s, BUG_COPIES_UNREAD) && i < n; ++i)
            memset(copies[i].data, 0, copies[i].capacity);
        for (int i = 0; status == 0 && i < n; ++i)
            status = tensor_out(&copies[i], &op->copies[i], err);
        for (int j = 0; status == 0 && op->src_after && j < op->n; ++j)
            status = tensor_out(&src[j], &op->src_after[j], err);
    }
    arena_free(&arena);
    return status;
}

static bool addable(const struct impl_session *s, const struct impl_array *a,
                    const struct impl_array *b)
{
    if (bug(s, BUG_REDUCE_COUNTS_ONLY))
        return a->dtype == b->dtype && tensor_count(a) == tensor_count(b);
    return a->dtype == b->dtype && same_shape(a, b);
}

static int reduce_valid(struct impl_session *s, const struct impl_reduce *op,
                        const struct impl_array src[], struct impl_error *err)
{
    bool holds_one = op->n == 0 || bug(s, BUG_DESTINATION_UNCHECKED);

    if (known_device(s, op->device, err) != 0)
        return err->status;
    for (int i = 0; i < op->k; ++i)
        for (int j = 0; j < op->n; ++j) {
            const struct impl_array *tensor = &src[i * op->n + j];

            if (tensor->device == IMPL_HOST)
                return two_devices(err, "a list on the host", IMPL_HOST, op->device);
            if (!addable(s, tensor, &src[j]))
                return impl_fail(err, IMPL_ESHAPE, "tensor %d of list %d does not fit list 0", j,
                                 i);
            holds_one = holds_one || tensor->device == op->device;
        }
    return holds_one ? 0 : two_devices(err, "no list is there", op->device, src[0].device);
}

int op_reduce(struct impl_session *s, struct impl_reduce *op, struct impl_error *err)
{
    struct arena arena = {.session = s};
    struct impl_array *src = NULL, *sums = NULL;
    int status = op->n < 0 || op->k < 1 || op->poke >= op->n
                     ? impl_fail(err, IMPL_EINVAL, "%d lists of %d tensors", op->k, op->n)
                     : coalesce_read_all(&arena, op->src, op->n * op->k, &src, err);

    if (status == 0 && refuses(s, err))
        status = err->status;
    if (status == 0)
        status = reduce_valid(s, op, src, err);
    if (status == 0) {
        sums = arena_take(&arena, (size_t)op->n * sizeof *sums);
        op->transfers =
            reduce(&arena, src, op->n, bug(s, BUG_SEVEN_LISTS) && op->k == 7 ? 6 : op->k,
                   op->device, op->buffer_bytes, sums);
        op->default_bytes = DEFAULT_BUFFER;
        if (op->poke >= 0)
            memset(sums[op->poke].data, 0, sums[op->poke].capacity);
        if (op->poke >= 0 && op->poke + 1 < op->n && bug(s, BUG_SUMS_SHARE))
            memset(sums[op->poke + 1].data, 0, sums[op->poke + 1].capacity);
        for (int j = 0; status == 0 && j < op->n; ++j)
            status = tensor_out(&sums[j], &op->sums[j], err);
    }
    arena_free(&arena);
    return status;
}
