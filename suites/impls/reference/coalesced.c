/* coalesced.c: broadcast and reduce of lists of tensors. */
#include "reference.h"

static int none_among(struct work *w, const char *what, const struct dp_tensor tensors[], int n)
{
    for (int i = 0; i < n; ++i)
        if (!tensors[i].slot)
            return dp_fail(&w->error, DP_EINVAL, "%s: tensor %d is none", what, i);
    return 0;
}

static size_t limit_of(size_t buffer_bytes)
{
    return buffer_bytes > 0 ? buffer_bytes : DP_BUFFER_BYTES;
}

static int check_counts(struct work *w, const char *what, int n, int k)
{
    if (n < 0 || k < 0 || k > IMPL_MAX_DEVICES || n > 1 << 20)
        return dp_fail(&w->error, DP_EINVAL, "%s of %d tensors, %d times", what, n, k);
    return 0;
}

/* ---- broadcast ------------------------------------------------------------------------------- */

struct broadcast {
    struct dp_tensor *src, *copies;
    struct dp_slot *slots[IMPL_MAX_DEVICES];
};

static int broadcast_read(struct work *w, struct impl_broadcast *op, const struct broadcast *b)
{
    int status = 0;

    for (int i = 0; status == 0 && op->poke >= 0 && op->poke < op->n && i < op->n_devices; ++i)
        status = slot_tensor_add_one(&b->copies[i * op->n + op->poke], &w->error);
    for (int i = 0; status == 0 && i < op->n * op->n_devices; ++i)
        status = tensor_get(&b->copies[i], &op->copies[i], &w->error);
    for (int j = 0; status == 0 && op->src_after && j < op->n; ++j)
        status = tensor_get(&b->src[j], &op->src_after[j], &w->error);
    return status;
}

static int coalesced_broadcast(struct work *w, struct impl_broadcast *op)
{
    struct broadcast b;
    int status = check_counts(w, "broadcast", op->n, op->n_devices);

    if (status != 0)
        return status;
    b.src = work_memory(w, (size_t)op->n, sizeof *b.src);
    b.copies = work_memory(w, (size_t)op->n * (size_t)op->n_devices, sizeof *b.copies);
    if (!b.src || !b.copies)
        return w->error.status;
    status = work_put_all(w, op->src, op->n, b.src);
    if (status == 0)
        status = none_among(w, "broadcast", b.src, op->n);
    if (status == 0)
        status = work_slots(w, op->devices, op->n_devices, b.slots);
    if (status == 0)
        status = dp_broadcast_coalesced(w->session->run, b.src, op->n, b.slots, op->n_devices,
                                        limit_of(op->buffer_bytes), b.copies, &w->error);
    op->transfers = 0;
    op->default_bytes = DP_BUFFER_BYTES;
    return status != 0 ? status : broadcast_read(w, op, &b);
}

int reference_broadcast(struct impl_session *session, struct impl_broadcast *op,
                        struct impl_error *err)
{
    struct work w;

    work_begin(&w, session);
    return work_end(&w, coalesced_broadcast(&w, op), err);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static int coalesced_reduce(struct work *w, struct impl_reduce *op)
{
    struct dp_slot *slot = slot_of(w->session->group, op->device, &w->error);
    struct dp_tensor *src, *sums;
    int status = !slot ? w->error.status : check_counts(w, "reduce", op->n, op->k);

    if (status != 0)
        return status;
    src = work_memory(w, (size_t)op->n * (size_t)op->k, sizeof *src);
    sums = work_memory(w, (size_t)op->n, sizeof *sums);
    if (!src || !sums)
        return w->error.status;
    status = work_put_all(w, op->src, op->n * op->k, src);
    if (status == 0)
        status = none_among(w, "reduce", src, op->n * op->k);
    if (status == 0)
        status = dp_reduce_add_coalesced(w->session->run, src, op->n, op->k, slot,
                                         limit_of(op->buffer_bytes), sums, &w->error);
    op->transfers = 0;
    op->default_bytes = DP_BUFFER_BYTES;
    if (status == 0 && op->poke >= 0 && op->poke < op->n)
        status = tensor_clear(&sums[op->poke], &w->error);
    for (int j = 0; status == 0 && j < op->n; ++j)
        status = tensor_get(&sums[j], &op->sums[j], &w->error);
    return status;
}

int reference_reduce(struct impl_session *session, struct impl_reduce *op, struct impl_error *err)
{
    struct work w;

    work_begin(&w, session);
    return work_end(&w, coalesced_reduce(&w, op), err);
}
