/* coalesce.c: sends many small tensors in few transfers. Groups are formed by element type, in the
 * given order. Broadcast closes a group when it reaches the limit, reduce before it would exceed
 * it, as the two implementations in PyTorch do. Tensors of a group that are adjacent in memory are
 * sent as one. */
#include "parallel.h"

static bool follows(const void *end, const void *next)
{
    return end == next;
}

/* Extends the last move if both sides are adjacent to it; otherwise appends one. */
static int add_move(struct dp_move moves[], int n, bool group_begins, const struct dp_tensor *src,
                    const struct dp_tensor *dst)
{
    const size_t bytes = dp_tensor_bytes(src);
    struct dp_move *last = n > 0 ? &moves[n - 1] : NULL;
    if (bytes == 0)
        return n;
    if (last && !group_begins && follows((char *)last->copy.dst + last->copy.width, dst->data) &&
        follows((const char *)last->copy.src + last->copy.width, src->data)) {
        last->copy.width += bytes;
        last->copy.dst_pitch = last->copy.src_pitch = last->copy.width;
        return n;
    }
    moves[n] =
        (struct dp_move){dst->slot, src->slot, {dst->data, src->data, bytes, 1, bytes, bytes}};
    return n + 1;
}

int dp_coalesce_moves(const struct dp_tensor src[], const struct dp_tensor dst[], int n,
                      size_t limit, struct dp_move moves[])
{
    int count = 0;
    for (int dtype = DP_F32; dtype <= DP_BF16; ++dtype) {
        size_t group = 0;
        bool begins = true;
        for (int j = 0; j < n; ++j) {
            if ((int)src[j].dtype != dtype)
                continue;
            const int before = count;
            count = add_move(moves, count, begins, &src[j], &dst[j]);
            begins = begins && count == before;
            group += dp_tensor_bytes(&src[j]);
            if (group >= limit) {
                group = 0;
                begins = true;
            }
        }
    }
    return count;
}

static bool continues(const struct dp_sum *last, const struct dp_summand *item, int replicas)
{
    const size_t bytes = last->n * dp_dtype_bytes(last->dtype);
    if (last->accumulate != item->accumulate || !follows((char *)last->dst + bytes, item->dst.data))
        return false;
    for (int i = 0; i < replicas; ++i) {
        if (!follows((const char *)last->src[i] + bytes, item->src[i]))
            return false;
    }
    return true;
}

int dp_coalesce_sums(const struct dp_summand item[], int n, int replicas, size_t limit,
                     struct dp_sum sums[])
{
    int count = 0;
    for (int dtype = DP_F32; dtype <= DP_BF16; ++dtype) {
        size_t group = 0;
        bool begins = true;
        for (int j = 0; j < n; ++j) {
            const size_t elements = dp_tensor_count(&item[j].dst);
            const size_t bytes = dp_tensor_bytes(&item[j].dst);
            if ((int)item[j].dst.dtype != dtype || elements == 0)
                continue;
            if (group > 0 && group + bytes > limit) {
                group = 0;
                begins = true;
            }
            group += bytes;
            if (!begins && continues(&sums[count - 1], &item[j], replicas)) {
                sums[count - 1].n += elements;
                continue;
            }
            sums[count++] = (struct dp_sum){item[j].dst.dtype, item[j].accumulate, elements,
                                            item[j].dst.data, item[j].src};
            begins = false;
        }
    }
    return count;
}

static int check_broadcast(const struct dp_tensor src[], int n, struct dp_slot *const slots[],
                           int n_slots, struct dp_error *err)
{
    if (n_slots < 1 || n_slots > DP_MAX_SLOTS || n < 0)
        return dp_fail(err, DP_EINVAL, "broadcast to %d slots: 1 to %d", n_slots, DP_MAX_SLOTS);
    for (int j = 0; j < n; ++j) {
        if (src[j].slot != src[0].slot)
            return dp_fail(err, DP_EINVAL, "broadcast: tensor %d is on %s, tensor 0 on %s", j,
                           src[j].slot->info.name, src[0].slot->info.name);
    }
    if (n > 0 && !dp_is_host(src[0].slot) && src[0].slot != slots[0])
        return dp_fail(err, DP_EINVAL, "broadcast from %s: it must be the first slot, not %s",
                       src[0].slot->info.name, slots[0]->info.name);
    return 0;
}

/* The tensors of one target slot: those of the source itself, or new ones that are adjacent. */
static int make_copies(struct dp_run *run, const struct dp_tensor src[], int n,
                       struct dp_slot *slot, struct dp_tensor copies[], struct dp_error *err)
{
    size_t bytes = 0;
    void *memory = NULL;
    for (int j = 0; j < n; ++j)
        dp_layout_add(&bytes, &src[j]);
    const int status = dp_run_memory(run, slot, bytes, &memory, err);
    bytes = 0;
    for (int j = 0; status == 0 && j < n; ++j) {
        copies[j] = src[j];
        copies[j].slot = slot;
        copies[j].data = (char *)memory + dp_layout_add(&bytes, &src[j]);
    }
    return status;
}

int dp_broadcast_coalesced(struct dp_run *run, const struct dp_tensor src[], int n,
                           struct dp_slot *const slots[], int n_slots, size_t buffer_bytes,
                           struct dp_tensor copies[], struct dp_error *err)
{
    struct dp_moves moves[DP_MAX_SLOTS];
    void *memory = NULL;
    int status = check_broadcast(src, n, slots, n_slots, err);
    if (status || n == 0)
        return status;
    for (int i = 0; status == 0 && i < n_slots; ++i) {
        moves[i] = (struct dp_moves){NULL, 0};
        for (int j = 0; j < n; ++j)
            copies[i * n + j] = src[j];
        if (slots[i] == src[0].slot)
            continue;
        status = make_copies(run, src, n, slots[i], &copies[i * n], err);
        if (status == 0)
            status = dp_run_scratch(run, (size_t)n * sizeof *moves->move, &memory, err);
        if (status == 0)
            moves[i] = (struct dp_moves){
                memory, dp_coalesce_moves(src, &copies[i * n], n, buffer_bytes, memory)};
    }
    const struct dp_team team = {run->group, slots, n_slots};
    return status ? status : dp_comm_move(&team, moves, DP_PHASE_REPLICATE, err);
}

static int check_lists(const struct dp_tensor src[], int n, int k, struct dp_error *err)
{
    char a[DP_SHAPE_TEXT], b[DP_SHAPE_TEXT];
    if (k < 1 || k > DP_MAX_SLOTS || n < 0)
        return dp_fail(err, DP_EINVAL, "reduce_add of %d lists: 1 to %d", k, DP_MAX_SLOTS);
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j < n; ++j) {
            const struct dp_tensor *t = &src[i * n + j];
            if (!dp_same_shape(t, &src[j]))
                return dp_fail(err, DP_ESHAPE,
                               "reduce_add: tensor %d of list %d has shape %s, of list 0 %s", j, i,
                               dp_shape_text(t, a), dp_shape_text(&src[j], b));
            if (t->slot != src[i * n].slot)
                return dp_fail(err, DP_EINVAL, "reduce_add: list %d is on %s and %s", i,
                               src[i * n].slot->info.name, t->slot->info.name);
        }
    }
    return 0;
}

/* A sum is made where one of its terms is, and never on the host. [GRAD-15] */
static int check_places(const struct dp_tensor src[], int n, int k, const struct dp_slot *output,
                        struct dp_error *err)
{
    bool holds = false;
    for (int i = 0; n > 0 && i < k; ++i) {
        if (src[i * n].slot->group != output->group)
            return 0; /* a slot of another group: the communicator reports it */
        if (dp_is_host(src[i * n].slot))
            return dp_fail(err, DP_EDEVICE, "reduce: list %d of tensors is on the host", i);
        holds = holds || src[i * n].slot == output;
    }
    if (n > 0 && !holds)
        return dp_fail(err, DP_EDEVICE, "reduce: the sums go to %s, which holds no list",
                       output->info.name);
    return 0;
}

int dp_reduce_add_coalesced(struct dp_run *run, const struct dp_tensor src[], int n, int k,
                            struct dp_slot *output, size_t buffer_bytes, struct dp_tensor sums[],
                            struct dp_error *err)
{
    struct dp_slot *slots[DP_MAX_SLOTS];
    void *items = NULL, *pointers = NULL, *merged = NULL;
    int status = check_lists(src, n, k, err);
    if (status == 0)
        status = check_places(src, n, k, output, err);
    if (status || n == 0)
        return status;
    status = make_copies(run, src, n, output, sums, err);
    if (status == 0)
        status = dp_run_scratch(run, (size_t)n * sizeof(struct dp_summand), &items, err);
    if (status == 0)
        status = dp_run_scratch(run, (size_t)n * (size_t)k * sizeof(void *), &pointers, err);
    if (status == 0)
        status = dp_run_scratch(run, (size_t)n * sizeof(struct dp_sum), &merged, err);
    if (status)
        return status;
    struct dp_summand *item = items;
    for (int j = 0; j < n; ++j) {
        item[j] =
            (struct dp_summand){sums[j], false, (const void **)pointers + (size_t)j * (size_t)k};
        for (int i = 0; i < k; ++i)
            item[j].src[i] = src[i * n + j].data;
    }
    for (int i = 0; i < k; ++i)
        slots[i] = src[i * n].slot;
    const struct dp_team team = {run->group, slots, k};
    const int count = dp_coalesce_sums(items, n, k, buffer_bytes, merged);
    return dp_comm_reduce(&team, output, merged, count, DP_PHASE_REDUCE, err);
}
