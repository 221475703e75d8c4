/* sum.c: the owner of some bytes adds the numbers of all members in rank order, block by block as
 * they arrive. The kernels are those of one process, and so are the bits. */
#include "inside.h"

#include <string.h>

size_t dp_mpi_blocks(const struct mpi_active *a)
{
    return a->bytes == 0 ? 0 : (a->bytes + a->block - 1) / a->block;
}

static const unsigned char *head_of(const struct dp_mpi *mpi, int peer)
{
    return mpi->heads_in + (size_t)peer * (WIRE_HEAD_BYTES + WIRE_SMALL_BYTES);
}

/* The numbers of a member at byte `at`; *n is reduced to those that are consecutive. */
static const void *sum_numbers(const struct dp_mpi *mpi, const struct mpi_source *s, size_t at,
                               size_t *n)
{
    const struct mpi_active *a = &mpi->active;
    if (s->strip) {
        const struct mpi_piece span = dp_mpi_span(s->strip, at, *n);
        *n = span.bytes;
        return span.data;
    }
    const struct mpi_link *link = &a->link[s->link];
    if (a->small)
        return head_of(mpi, link->peer) + WIRE_HEAD_BYTES + (size_t)s->turn * a->bytes +
               (at - a->begin);
    const struct mpi_flow *in = &link->in;
    const size_t block = (at - a->begin) / a->block;
    const size_t message = block * (size_t)in->n_strips + (size_t)s->turn;
    return in->buffer->bytes + message % in->ring * a->block + (at - a->begin) % a->block;
}

/* Adds to the first of the strips, on the slot that has it. */
static int add_span(const struct dp_mpi *mpi, const struct mpi_piece *to, size_t at, size_t n,
                    struct dp_error *err)
{
    const struct mpi_active *a = &mpi->active;
    const size_t unit = dp_dtype_bytes(a->dtype);
    const void *src[DP_MAX_SLOTS];
    size_t any = n;
    for (int m = 0; m < a->n_sources; ++m)
        src[m] = sum_numbers(mpi, &a->source[m], at, &any);
    if (!a->call->c) {
        struct dp_reduce_args args = {a->dtype, a->n_sources, false, n / unit, to->data, {NULL}};
        memcpy(args.src, src, (size_t)a->n_sources * sizeof *src);
        return dp_launch(&to->slot->comm, DP_KERNEL_REDUCE, &args, sizeof args, err);
    }
    struct dp_mean_args args = {
        a->n_sources, a->call->c->scale, n / unit, (float *)(void *)to->data, {NULL}};
    for (int m = 0; m < a->n_sources; ++m)
        args.src[m] = src[m];
    return dp_launch(&to->slot->comm, DP_KERNEL_MEAN, &args, sizeof args, err);
}

static int add_block(const struct dp_mpi *mpi, size_t at, size_t n, struct dp_error *err)
{
    const struct mpi_active *a = &mpi->active;
    const size_t first = at, all = n;
    int status = 0;
    while (status == 0 && n > 0) {
        const struct mpi_piece to = dp_mpi_span(&a->to[0], at - a->shift, n);
        size_t part = to.bytes;
        for (int m = 0; m < a->n_sources; ++m)
            sum_numbers(mpi, &a->source[m], at, &part);
        status = add_span(mpi, &to, at, part, err);
        at += part;
        n -= part;
    }
    if (status == 0)
        status = dp_mpi_settle(a->call, err);
    for (int i = 1; status == 0 && i < a->n_to; ++i)
        status = dp_mpi_copy(&a->to[i], first - a->shift, &a->to[0], first - a->shift, all, err);
    return status || a->n_to < 2 ? status : dp_mpi_settle(a->call, err);
}

/* True if all numbers of a block have arrived. */
static bool sum_is_there(const struct mpi_active *a, size_t block)
{
    for (int k = 0; k < a->n_links; ++k) {
        const struct mpi_link *link = &a->link[k];
        if (!link->come || (!a->small && link->in.ended < (block + 1) * (size_t)link->in.n_strips))
            return false;
    }
    return true;
}

int dp_mpi_add(struct dp_mpi *mpi, bool *moved, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    int status = 0;
    while (status == 0 && a->added < dp_mpi_blocks(a) && sum_is_there(a, a->added)) {
        const size_t at = a->added * a->block;
        status =
            add_block(mpi, a->begin + at, a->bytes - at < a->block ? a->bytes - at : a->block, err);
        ++a->added;
        for (int k = 0; k < a->n_links; ++k) {
            a->link[k].in.freed = a->added * (size_t)a->link[k].in.n_strips;
            a->link[k].sums_out.limit = a->added;
        }
        *moved = true;
    }
    return status;
}
