/* forecast/traffic.c: how a reduction grows with the ranks.
 *
 * Of n bytes in one bucket on R ranks, seen from the rank that has most to do. Where each is
 * implemented: core/second.c (threads, peer), core/collective.c with core/cpu/comm_staged.c
 * (staged), core/mpi/plan.c (mpi). Of NCCL it is that of a ring. */
#include "forecast/forecast.h"

#include <string.h>

#include "dp.h"

typedef struct fit_traffic fit_traffic_fn(double ranks, double bytes);

/* It adds a slice, and fetches those of the others. */
static struct fit_traffic sliced(double ranks, double bytes)
{
    return (struct fit_traffic){ranks, bytes};
}

/* All summands go to the host, the sum comes from there, and goes by the host to each other. */
static struct fit_traffic staged(double ranks, double bytes)
{
    const double transfers = 3 * ranks - 1;

    return (struct fit_traffic){transfers, transfers * bytes};
}

/* Each rank sends to each: the summands, and then the sum. */
static struct fit_traffic exchanged(double ranks, double bytes)
{
    return (struct fit_traffic){2 * (ranks - 1), 2 * (ranks - 1) / ranks * bytes};
}

/* By what it can do: so a communicator is not named here. NULL: none is called so. */
static fit_traffic_fn *traffic_of(const char *communicator)
{
    struct dp_communicator_row row;

    if (!dp_communicator_of(communicator, &row))
        return NULL;
    if (row.can & DP_COMM_WORLD)
        return exchanged;
    return (row.can & DP_COMM_OVERLAP) == 0 ||
                   (row.instead && strcmp(row.instead, communicator) == 0)
               ? staged
               : sliced;
}

bool forecast_of_processes(const struct record_key *key)
{
    return traffic_of(key->communicator) == exchanged;
}

int forecast_traffic(const struct record_key *key, size_t params, int ranks,
                     struct fit_traffic *traffic)
{
    static const double first = 1 << 20, others = 25 << 20; /* PyTorch's buckets: 1 and 25 MiB */
    const double bytes = sizeof(float) * (double)params, size = (double)key->bucket_bytes;
    double n = 1;
    fit_traffic_fn *const of = traffic_of(key->communicator);

    *traffic = (struct fit_traffic){0, 0};
    /* With several ranks a process there are two kinds of transfers, one after the other. */
    if (key->per_process > 1 || !of)
        return -1;
    /* There are as many buckets as would be full; those of layers may be one more or fewer. */
    if (size > 0)
        n = bytes / size;
    else if (bytes > first)
        n = 1 + (bytes - first) / others;
    n = n > 1 ? (double)(size_t)(n + 0.999999) : 1;
    if (ranks > 1)
        *traffic = of(ranks, bytes / n);
    traffic->transfers *= n;
    traffic->bytes *= n;
    return 0;
}
