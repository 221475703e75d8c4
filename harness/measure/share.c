/* measure/share.c: gathers bytes of all ranks on all of them, and divides cores between the
 * processes of one machine. */
#include "measure/share.h"

#include <string.h>

#include "ddp.h"
#include "dp_mpi.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

struct gather {
    struct dp_tensor in[DP_MAX_SLOTS], out[DP_MAX_SLOTS];
    int n;
};

static int open_gather(struct dp_group *group, struct gather *g, const char *mine, size_t words,
                       struct dp_error *err)
{
    const size_t all = words * (size_t)dp_group_world(group);
    int status = 0;

    for (int r = 0; status == 0 && r < dp_group_size(group); ++r) {
        struct dp_slot *slot = dp_group_slot(group, r);

        g->n = r + 1;
        status = dp_tensor_alloc(slot, DP_I32, 1, &words, &g->in[r], err);
        if (status == 0)
            status = dp_tensor_alloc(slot, DP_I32, 1, &all, &g->out[r], err);
        if (status == 0)
            status = dp_tensor_write(&g->in[r], mine + (size_t)r * words * sizeof(int32_t), err);
    }
    return status;
}

static void close_gather(struct gather *g)
{
    for (int r = 0; r < g->n; ++r) {
        dp_tensor_free(&g->in[r]);
        dp_tensor_free(&g->out[r]);
    }
}

int share_gather(struct dp_group *group, const void *mine, size_t bytes, void *all,
                 struct dp_error *err)
{
    struct gather g = {.n = 0};
    int status = open_gather(group, &g, mine, bytes / sizeof(int32_t), err);

    if (status == 0)
        status = dp_collective_run(group, DP_COLLECTIVE_ALLGATHER, 0, g.in, g.out, err);
    if (status == 0)
        status = dp_group_wait(group, err);
    if (status == 0)
        status = dp_tensor_read(all, &g.out[0], err);
    close_gather(&g);
    return status;
}

uint64_t share_start(uint64_t start_ns, uint64_t took_ns, uint64_t end_ns, uint64_t now_ns)
{
    const uint64_t latest = now_ns > took_ns ? now_ns - took_ns : 0;
    const uint64_t start = start_ns < latest ? start_ns : latest;

    return start > end_ns ? start : end_ns;
}

/* ---- cores ----------------------------------------------------------------------------------- */

int share_oversubscribed(struct dp_group *group, bool *any, struct dp_error *err)
{
    int32_t mine[DP_MAX_SLOTS] = {0}, all[DP_MAX_SLOTS] = {0};
    int status = 0;

    *any = dp_group_oversubscribed(group);
    mine[0] = *any;
    if (dp_group_world(group) > dp_group_size(group))
        status = share_gather(group, mine, sizeof mine[0], all, err);
    for (int r = 0; r < dp_group_world(group); ++r)
        *any = *any || all[r] != 0;
    return status;
}

void share_cores(const struct dp_mpi *mpi, int each, struct dp_group_config *group)
{
    for (int p = 0; p < dp_mpi_size(mpi); ++p) {
        const bool meets = dp_mpi_shares_cores(mpi, p);

        group->sharing += meets ? each : 0;
        group->sharing_before += meets && p < dp_mpi_rank(mpi) ? each : 0;
        group->on_machine +=
            strcmp(dp_mpi_host(mpi, p), dp_mpi_host(mpi, dp_mpi_rank(mpi))) == 0 ? each : 0;
    }
}
