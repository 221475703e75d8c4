/* world.c: the ranks of a group that several processes open together.
 *
 * Every process drives different slots. The ranks of the world are the slots of all processes, in
 * the order of the processes. A group of one process is a world by itself. */
#include "backend.h"

#include <stdlib.h>
#include <string.h>

static int self_size(void *self)
{
    (void)self;
    return 1;
}

static int self_rank(void *self)
{
    (void)self;
    return 0;
}

static int self_exchange(void *self, const void *mine, size_t bytes, void *all,
                         struct dp_error *err)
{
    (void)self, (void)err;
    memcpy(all, mine, bytes);
    return 0;
}

static int self_barrier(void *self, struct dp_error *err)
{
    (void)self, (void)err;
    return 0;
}

static void self_abort(void *self)
{
    (void)self;
}

const struct dp_bootstrap dp_bootstrap_self = {.name = "self",
                                               .size = self_size,
                                               .rank = self_rank,
                                               .exchange = self_exchange,
                                               .barrier = self_barrier,
                                               .abort = self_abort};

static int world_add_up(struct dp_group *group, const int64_t sizes[], int n, int rank,
                        struct dp_error *err)
{
    int64_t world = 0;
    for (int p = 0; p < n; ++p) {
        group->first = p == rank ? (int)world : group->first;
        world += sizes[p];
    }
    if (world > DP_MAX_SLOTS)
        return dp_fail(err, DP_EINVAL, "%lld ranks in %d processes: at most %d", (long long)world,
                       n, DP_MAX_SLOTS);
    group->world = (int)world;
    return 0;
}

int dp_world_count(struct dp_group *group, struct dp_error *err)
{
    static const struct dp_world alone = {.bootstrap = &dp_bootstrap_self};
    const struct dp_world *world = group->others ? group->others : &alone;
    const int n = world->bootstrap->size(world->self), rank = world->bootstrap->rank(world->self);
    const int64_t mine = group->size;
    if (n < 1 || rank < 0 || rank >= n)
        return dp_fail(err, DP_EINVAL, "bootstrap %s: process %d of %d", world->bootstrap->name,
                       rank, n);
    if (n > 1 && (group->comm->can & DP_COMM_WORLD) == 0)
        return dp_fail(err, DP_ENOTSUP, "communicator %s does not reach the other %d processes",
                       group->comm->name, n - 1);
    int64_t *sizes = calloc((size_t)n, sizeof *sizes);
    if (!sizes)
        return dp_fail(err, DP_ENOMEM, "no memory for %d processes", n);
    int status = world->bootstrap->exchange(world->self, &mine, sizeof mine, sizes, err);
    if (status == 0)
        status = world_add_up(group, sizes, n, rank, err);
    free(sizes);
    return status;
}

int dp_world_ready(struct dp_group *group, struct dp_error *err)
{
    const struct dp_world *world = group->others;
    return world ? world->bootstrap->barrier(world->self, err) : 0;
}
