/* nccl_group.c: groups of calls. With communicators that do not block, nothing is carried out until
 * their state was asked for several times; then the first call is alone in its stream, once. */
#include "fake_nccl.h"

#include <stdlib.h>
#include <string.h>

struct fake_job {
    int users; /* communicators that take part in it */
    bool grouped, cancelled;
    unsigned polls; /* left until something happens */
    int at, n;
    struct fake_entry entry[];
};

struct fake_group {
    int depth, n, room;
    struct fake_entry *entry; /* from the first call until the group is closed */
};

static _Thread_local struct fake_group group;
static _Thread_local uint64_t generation;

static void fresh(void)
{
    if (generation != fake.generation) {
        free(group.entry);
        group = (struct fake_group){0};
    }
    generation = fake.generation;
}

void fake_group_open(void)
{
    fresh();
    ++group.depth;
    ++fake.nccl_groups;
}

/* ---- carrying out ------------------------------------------------------------------------- */

static void carry_out(struct fake_job *job)
{
    const struct fake_entry *entry = &job->entry[job->at++];
    const ncclResult_t result =
        entry->joins ? fake_nccl_join(entry->comm) : fake_meet(entry, job->grouped);
    if (result != ncclSuccess)
        entry->comm->state = result;
}

static void nccl_group_step(struct fake_job *job)
{
    const bool half = job->at == 0 && job->n > 1 && !job->entry[0].joins &&
                      fake.config.nccl_polls > 0 && !job->cancelled;
    if (job->polls > 0) {
        --job->polls;
        return;
    }
    if (half)
        carry_out(job);
    fake.half_issued = half ? job->entry[0].name : NULL;
    if (half)
        return;
    while (!job->cancelled && job->at < job->n)
        carry_out(job);
    /* Frees all communicators that took part, except those that still wait for others to join. */
    for (int i = 0; i < job->n; ++i) {
        struct ncclComm *comm = job->entry[i].comm;
        if (comm->job != job)
            continue;
        if (comm->state == ncclInProgress && comm->joined)
            comm->state = ncclSuccess;
        comm->job = NULL;
    }
    free(job);
}

static ncclResult_t begin_job(const struct fake_entry entry[], int n, bool grouped)
{
    struct fake_job *job = fake_memory(sizeof *job + (size_t)n * sizeof *entry);
    ncclResult_t result = ncclSuccess;
    job->grouped = grouped;
    job->polls = fake.config.nccl_polls;
    job->n = n;
    job->users = 1;
    for (int i = 0; i < n; ++i) {
        struct ncclComm *comm = entry[i].comm;
        job->entry[i] = entry[i];
        job->users += comm->job != job;
        comm->job = job;
        comm->state = ncclInProgress;
    }
    --job->users;
    if (job->polls > 0)
        return ncclInProgress;
    nccl_group_step(job);
    for (int i = 0; i < n && result == ncclSuccess; ++i)
        result = entry[i].comm->state;
    return result;
}

/* All sends and receives of a rank in a group are one operation, and end together. */
static bool joins_others(const struct fake_entry *entry)
{
    struct fake_entry *other = NULL;
    for (int i = 0; i < group.n && entry->kind == FAKE_SENDS && !entry->joins; ++i)
        if (group.entry[i].comm == entry->comm && group.entry[i].kind == FAKE_SENDS)
            other = &group.entry[i];
    for (int r = 0; other && r < FAKE_RANKS; ++r) {
        if ((entry->to[r] && other->to[r]) || (entry->from[r] && other->from[r]) ||
            entry->count != other->count)
            fake_violation("%s: twice with rank %d, or %zu bytes beside %zu: this fake knows one "
                           "size of each",
                           entry->name, r, entry->count, other->count);
        if (entry->to[r])
            other->to[r] = entry->to[r];
        if (entry->from[r])
            other->from[r] = entry->from[r];
    }
    return other != NULL;
}

ncclResult_t fake_group_add(const struct fake_entry *entry)
{
    fresh();
    if (entry->comm->job)
        fake_violation("%s: rank %d is still at another call, and was not asked until that was "
                       "done",
                       entry->name, entry->comm->rank);
    if (entry->comm->job)
        return ncclInvalidUsage;
    if (group.depth == 0)
        return begin_job(entry, 1, false);
    if (joins_others(entry))
        return ncclSuccess;
    if (group.n == group.room) {
        struct fake_entry *more = fake_memory((size_t)(2 * group.room + 16) * sizeof *more);
        if (group.n > 0)
            memcpy(more, group.entry, (size_t)group.n * sizeof *more);
        free(group.entry);
        group.entry = more;
        group.room = 2 * group.room + 16;
    }
    group.entry[group.n++] = *entry;
    fake_me.group_of = group.entry[0].name;
    return entry->joins ? ncclInProgress : ncclSuccess;
}

/* A group that fails has carried out some of its calls. */
static ncclResult_t carry_group(const struct fake_call *call)
{
    if (!call->error)
        return group.n > 0 ? begin_job(group.entry, group.n, true) : ncclSuccess;
    if (group.n > 0 && !group.entry[0].joins)
        fake_meet(&group.entry[0], true);
    return ncclUnhandledCudaError;
}

ncclResult_t fake_group_close(const struct fake_call *call)
{
    fresh();
    if (group.depth == 0) {
        fake_violation("%s: no group is open", call->name);
        return ncclInvalidUsage;
    }
    --fake.nccl_groups;
    if (--group.depth > 0)
        return ncclSuccess;
    fake_me.group_of = NULL;
    const ncclResult_t result = carry_group(call);
    free(group.entry);
    group = (struct fake_group){0};
    return result;
}

void fake_job_poll(struct ncclComm *comm)
{
    if (comm->job)
        nccl_group_step(comm->job);
}

void fake_job_cancel(struct ncclComm *comm)
{
    if (!comm->job)
        return;
    comm->job->cancelled = true;
    fake.half_issued = NULL;
    struct fake_job *job = comm->job;
    comm->job = NULL;
    if (job && --job->users == 0)
        free(job);
}
