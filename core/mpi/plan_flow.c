/* plan_flow.c: the parts of all plans: pieces of memory, flows, and the buffers that they need. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

int mpi_locals(const struct dp_mpi_team *team, int process)
{
    return team->first[process + 1] - team->first[process];
}

int mpi_most_locals(const struct dp_mpi *mpi, const struct dp_mpi_team *team)
{
    int most = 0;
    for (int p = 0; p < mpi->size; ++p)
        most = mpi_locals(team, p) > most ? mpi_locals(team, p) : most;
    return most;
}

/* ---- pieces ------------------------------------------------------------------------------ */

int mpi_open_pieces(struct dp_mpi *mpi, const struct mpi_call *call, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    size_t need = (size_t)mpi->size + 2;
    if (call->c)
        need = (size_t)(call->c->n_parts + 1) * ((size_t)call->c->n_pieces + 1);
    else if (call->collective_call)
        need = (size_t)(mpi->size + call->team->first[mpi->size] + 4) *
               (size_t)(call->team->group->size + 1);
    if (need <= a->piece_capacity)
        return 0;
    struct mpi_piece *piece = realloc(a->piece, need * sizeof *piece);
    if (!piece)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu pieces of a call", need);
    a->piece = piece;
    a->piece_capacity = need;
    return 0;
}

struct mpi_strip mpi_strip_of(struct mpi_active *a, struct dp_slot *slot, const void *data,
                              size_t bytes)
{
    struct mpi_strip strip = {&a->piece[a->pieces++], 1};
    strip.piece->slot = slot;
    memcpy(&strip.piece->data, &data, sizeof data);
    strip.piece->bytes = bytes;
    return strip;
}

struct mpi_strip mpi_strip_of_part(struct mpi_active *a, const struct dp_collective *c, int i)
{
    struct mpi_strip strip = {&a->piece[a->pieces], c->n_pieces};
    for (int k = 0; k < c->n_pieces; ++k)
        (void)mpi_strip_of(a, c->part[i].slot, c->part[i].piece[k], c->bytes[k]);
    return strip;
}

/* ---- flows ------------------------------------------------------------------------------- */

struct mpi_link *mpi_link_to(struct mpi_active *a, int peer)
{
    for (int k = 0; k < a->n_links; ++k) {
        if (a->link[k].peer == peer)
            return &a->link[k];
    }
    struct mpi_link *link = &a->link[a->n_links++];
    *link = (struct mpi_link){.peer = peer};
    return link;
}

static struct mpi_flow flow_with(int peer, size_t begin, size_t bytes,
                                 const struct mpi_strip *strip, int n)
{
    return (struct mpi_flow){.on = true,
                             .peer = peer,
                             .tag = WIRE_TAG_NUMBERS,
                             .begin = begin,
                             .bytes = bytes,
                             .strip = strip,
                             .n_strips = n,
                             .limit = SIZE_MAX};
}

void mpi_send_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                   const struct mpi_strip *strip, int n)
{
    struct mpi_link *link = mpi_link_to(a, peer);
    link->sends = true;
    link->out = flow_with(peer, begin, bytes, strip, n);
    link->out.sends = true;
}

void mpi_receive_flow(struct mpi_active *a, int peer, size_t begin, size_t bytes,
                      const struct mpi_strip *strip, int n)
{
    struct mpi_link *link = mpi_link_to(a, peer);
    link->receives = true;
    link->in = flow_with(peer, begin, bytes, strip, n);
    link->in.kept = strip == NULL;
}

/* The block size keeps a few blocks in progress, and is the same in all processes. */
static size_t block_for(size_t bytes, size_t most)
{
    const size_t eighth = (bytes / 8 + 4096) / 4096 * 4096;
    if (eighth < WIRE_BLOCK_LEAST)
        return WIRE_BLOCK_LEAST;
    return eighth < most ? eighth : most;
}

void mpi_choose_size(struct mpi_active *a, size_t most, size_t message)
{
    a->small = message <= WIRE_SMALL_BYTES;
    a->block = a->small ? WIRE_SMALL_BYTES : block_for(most, a->block_most);
    a->head.small = a->small;
}

/* ---- buffers ------------------------------------------------------------------------------ */

/* Data from several pieces are packed before they are sent. */
static bool is_packed(const struct mpi_flow *flow)
{
    for (int i = 0; i < flow->n_strips; ++i) {
        if (flow->strip[i].n > 1)
            return true;
    }
    return false;
}

static int open_flow(const struct mpi_active *a, struct mpi_flow *flow, struct mpi_buffer *buffer,
                     struct dp_error *err)
{
    if (!flow->on || a->small)
        return 0;
    const size_t blocks = (flow->bytes + a->block - 1) / a->block;
    const size_t turns = flow->sends || flow->kept ? (size_t)flow->n_strips : 1;
    flow->block = a->block;
    flow->count = blocks * turns;
    flow->buffer = buffer;
    flow->ring = (blocks < WIRE_WINDOW ? blocks : WIRE_WINDOW) * turns;
    const bool empty = flow->sends && !is_packed(flow);
    const size_t messages = flow->ring;
    const size_t bytes = empty ? 0 : flow->ring * a->block;
    if (buffer->requests < messages) {
        uint64_t *request = realloc(buffer->request, messages * sizeof *request);
        if (!request)
            return dp_fail(err, DP_ENOMEM, "no memory for %zu messages", messages);
        buffer->request = request;
        buffer->requests = messages;
    }
    if (buffer->size < bytes) {
        free(buffer->bytes);
        buffer->size = 0;
        if (posix_memalign((void **)&buffer->bytes, 4096, bytes) != 0) {
            buffer->bytes = NULL;
            return dp_fail(err, DP_ENOMEM, "no memory for messages of %zu bytes", bytes);
        }
        buffer->size = bytes;
    }
    return 0;
}

int mpi_open_buffers(struct dp_mpi *mpi, struct dp_error *err)
{
    struct mpi_active *a = &mpi->active;
    int status = 0;
    for (int k = 0; status == 0 && k < a->n_links; ++k) {
        struct mpi_link *link = &a->link[k];
        struct mpi_buffer *buffer = mpi->buffer[link->peer];
        status = open_flow(a, &link->out, &buffer[BUFFER_OUT], err);
        if (status == 0)
            status = open_flow(a, &link->in, &buffer[BUFFER_IN], err);
        if (status == 0)
            status = open_flow(a, &link->sums_out, &buffer[BUFFER_SUMS_OUT], err);
        if (status == 0)
            status = open_flow(a, &link->sums_in, &buffer[BUFFER_SUMS_IN], err);
    }
    return status;
}
