/* check/texts.c: texts of any length by exchanges of a fixed one. Most texts are short: they go
 * with their length, and nothing follows. */
#include "check/worker.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dp.h"
#include "dp_mpi.h"

struct head {
    uint64_t length;
    char text[1500];
};

static size_t longest(const struct head heads[], int n)
{
    size_t most = 0;

    for (int p = 0; p < n; ++p)
        most = heads[p].length > most ? (size_t)heads[p].length : most;
    return most;
}

/* The others wait for this process. */
static int no_memory(struct dp_mpi *mpi, struct dp_error *err)
{
    dp_mpi_abort(mpi);
    return dp_fail(err, DP_ENOMEM, "no memory for a text");
}

static int exchange_long(struct dp_mpi *mpi, const char *mine, size_t length, size_t stride,
                         struct texts *all, struct dp_error *err)
{
    char *padded = calloc(1, stride);
    int status;

    all->stride = stride;
    all->bytes = calloc((size_t)dp_mpi_size(mpi), stride);
    if (!padded || !all->bytes) {
        free(padded);
        return no_memory(mpi, err);
    }
    memcpy(padded, mine, length);
    status = dp_mpi_exchange(mpi, padded, stride, all->bytes, err);
    free(padded);
    return status;
}

int texts_exchange(struct dp_mpi *mpi, const char *mine, struct texts *all, struct dp_error *err)
{
    const int n = dp_mpi_size(mpi);
    const size_t length = strlen(mine);
    struct head own = {.length = length}, *heads = calloc((size_t)n, sizeof *heads);
    int status;

    *all = (struct texts){NULL, 0};
    if (!heads)
        return no_memory(mpi, err);
    if (length < sizeof own.text)
        memcpy(own.text, mine, length + 1);
    status = dp_mpi_exchange(mpi, &own, sizeof own, heads, err);
    const size_t most = longest(heads, n);

    if (status == 0 && most < sizeof own.text) {
        all->stride = sizeof own;
        all->bytes = (char *)heads;
        memmove(all->bytes, all->bytes + offsetof(struct head, text),
                (size_t)n * sizeof own - offsetof(struct head, text));
        return 0;
    }
    free(heads);
    return status ? status : exchange_long(mpi, mine, length, most + 1, all, err);
}

const char *texts_of(const struct texts *all, int process)
{
    return all->bytes + (size_t)process * all->stride;
}

void texts_free(struct texts *all)
{
    free(all->bytes);
    *all = (struct texts){NULL, 0};
}
