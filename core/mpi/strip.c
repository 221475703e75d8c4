/* strip.c: bytes in several pieces, read and written as one. */
#include "inside.h"

#include <string.h>

struct mpi_piece dp_mpi_span(const struct mpi_strip *strip, size_t at, size_t n)
{
    int k = 0;
    while (at >= strip->piece[k].bytes)
        at -= strip->piece[k++].bytes;
    const struct mpi_piece *piece = &strip->piece[k];
    return (struct mpi_piece){piece->slot, piece->data + at,
                              n < piece->bytes - at ? n : piece->bytes - at};
}

void dp_mpi_pack(void *to, const struct mpi_strip *strip, size_t at, size_t n)
{
    char *byte = to;
    while (n > 0) {
        const struct mpi_piece span = dp_mpi_span(strip, at, n);
        memcpy(byte, span.data, span.bytes);
        byte += span.bytes;
        at += span.bytes;
        n -= span.bytes;
    }
}

static int write_span(const struct mpi_piece *span, const char *from, size_t n,
                      struct dp_error *err)
{
    const struct dp_copy copy = {span->data, from, n, 1, n, n};
    if (span->data == from)
        return 0;
    if (span->slot)
        return dp_launch(&span->slot->comm, DP_KERNEL_COPY, &copy, sizeof copy, err);
    memcpy(span->data, from, n);
    return 0;
}

int dp_mpi_write(const struct mpi_strip *strip, size_t at, const void *from, size_t n,
                 struct dp_error *err)
{
    const char *byte = from;
    int status = 0;
    while (status == 0 && n > 0) {
        const struct mpi_piece span = dp_mpi_span(strip, at, n);
        status = write_span(&span, byte, span.bytes, err);
        byte += span.bytes;
        at += span.bytes;
        n -= span.bytes;
    }
    return status;
}

int dp_mpi_copy(const struct mpi_strip *to, size_t to_at, const struct mpi_strip *from, size_t at,
                size_t n, struct dp_error *err)
{
    int status = 0;
    while (status == 0 && n > 0) {
        const struct mpi_piece span = dp_mpi_span(from, at, n);
        status = dp_mpi_write(to, to_at, span.data, span.bytes, err);
        to_at += span.bytes;
        at += span.bytes;
        n -= span.bytes;
    }
    return status;
}

int dp_mpi_settle(const struct mpi_call *call, struct dp_error *err)
{
    const struct dp_group *group = call->team ? call->team->group : NULL;
    int status = 0;
    for (int i = 0; group && status == 0 && i < group->size; ++i)
        status = dp_queue_sync(&group->slot[i]->comm, err);
    return status;
}
