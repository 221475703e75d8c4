/* measure/share.c: gathers bytes of all ranks on all of them, and divides cores between the
 * processes of one machine. */
#include "measure/session.h"

#include <string.h>

#include "ddp.h"
#include "dp_mpi.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

int share_gather(struct dp_group *group, const void *mine, size_t bytes, void *all,
                 struct dp_error *err)
{
    struct dp_tensor in[DP_MAX_SLOTS] = {{0}}, out[DP_MAX_SLOTS] = {{0}};
    const size_t words = bytes / sizeof(int32_t);
    const size_t all_words = words * (size_t)dp_group_world(group);
    const int n = dp_group_size(group);
    int status = 0;

    for (int r = 0; status == 0 && r < n; ++r) {
        struct dp_slot *slot = dp_group_slot(group, r);

        if ((status = dp_tensor_alloc(slot, DP_I32, 1, &words, &in[r], err)) == 0 &&
            (status = dp_tensor_alloc(slot, DP_I32, 1, &all_words, &out[r], err)) == 0)
            status = dp_tensor_write(&in[r], (const char *)mine + (size_t)r * bytes, err);
    }
    if (status == 0)
        status = dp_collective_run(group, DP_COLLECTIVE_ALLGATHER, 0, in, out, err);
    if (status == 0)
        status = dp_group_wait(group, err);
    if (status == 0)
        status = dp_tensor_read(all, &out[0], err);
    for (int r = 0; r < n; ++r) {
        dp_tensor_free(&in[r]);
        dp_tensor_free(&out[r]);
    }
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
