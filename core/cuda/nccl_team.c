/* nccl_team.c: creates, keeps and gives up communicators of NCCL.
 *
 * One thread creates all local ranks of a team in one group. No call of NCCL blocks: it is polled
 * until it is done, as long as the deadline allows. After an error all communicators are given up,
 * and the next collective creates new ones. */
#include "nccl_team.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ranks join and leave, so teams occur again. Each one takes memory of its GPUs. */
enum { MOST_TEAMS = 4 };

/* A wait that is longer than this is worth a context switch. */
#define SPIN_NS 2000000u
#define NAP_NS  100000

void dp_nccl_nap(uint64_t begin)
{
    const struct timespec nap = {0, NAP_NS};
    if (dp_now_ns() - begin < SPIN_NS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

bool dp_nccl_is_bad(ncclResult_t result)
{
    return result != ncclSuccess && result != ncclInProgress;
}

int dp_nccl_fail(const struct dp_nccl *nccl, const struct dp_slot *slot, int rank, const char *call,
                 ncclResult_t result, struct dp_error *err)
{
    const char *more = nccl->call.last_error(NULL);
    const int length = more ? (int)strcspn(more, "\n") : 0;
    cudaGetLastError(); /* clears the error, which the runtime keeps for later calls */
    return dp_fail(err, DP_EFAULT, "rank %d (%s): %s: %s%s%.*s", rank, slot->info.name, call,
                   nccl->call.error_text(result), length > 0 ? ": " : "", length,
                   length > 0 ? more : "");
}

int dp_nccl_settle(const struct dp_nccl *nccl, const struct dp_nccl_team *team, const char *call,
                   struct dp_error *err)
{
    const uint64_t begin = dp_now_ns();
    for (int i = 0; i < team->n;) {
        ncclResult_t state = ncclSuccess;
        const ncclResult_t asked = nccl->call.async_error(team->comm[i], &state);
        if (dp_nccl_is_bad(asked) || dp_nccl_is_bad(state))
            return dp_nccl_fail(nccl, team->slot[i], team->rank[i], call,
                                dp_nccl_is_bad(asked) ? asked : state, err);
        if (asked == ncclSuccess && state == ncclSuccess) {
            ++i;
            continue;
        }
        if (dp_now_ns() - begin > nccl->deadline_ns)
            return dp_fail(err, DP_EFAULT, "rank %d (%s): %s was not done after %llu s",
                           team->rank[i], team->slot[i]->info.name, call,
                           (unsigned long long)(nccl->deadline_ns / 1000000000u));
        dp_nccl_nap(begin);
    }
    return 0;
}

/* ---- giving up --------------------------------------------------------------------------- */

static void abort_team(const struct dp_nccl *nccl, struct dp_nccl_team *team)
{
    for (int i = 0; i < team->n; ++i) {
        if (team->comm[i] && dp_cuda_enter(team->slot[i], NULL) == 0)
            nccl->call.abort(team->comm[i]);
    }
    cudaGetLastError();
    free(team);
}

void dp_nccl_abort_all(struct dp_nccl *nccl)
{
    while (nccl->team) {
        struct dp_nccl_team *team = nccl->team;
        nccl->team = team->next;
        abort_team(nccl, team);
    }
    for (int i = 0; i < DP_MAX_SLOTS; ++i)
        nccl->last[i].call = NULL;
}

/* Each one announces first that it will close, so that none waits for another. */
static void close_team(const struct dp_nccl *nccl, struct dp_nccl_team *team)
{
    ncclResult_t result = ncclSuccess;
    for (int i = 0; i < team->n && !dp_nccl_is_bad(result); ++i) {
        if (dp_cuda_enter(team->slot[i], NULL))
            result = ncclUnhandledCudaError;
        else
            result = nccl->call.finalize(team->comm[i]);
    }
    if (dp_nccl_is_bad(result) || dp_nccl_settle(nccl, team, "ncclCommFinalize", NULL)) {
        abort_team(nccl, team);
        return;
    }
    for (int i = 0; i < team->n; ++i) {
        dp_cuda_enter(team->slot[i], NULL);
        nccl->call.destroy(team->comm[i]);
    }
    cudaGetLastError();
    free(team);
}

void dp_nccl_close_all(struct dp_nccl *nccl)
{
    while (nccl->team) {
        struct dp_nccl_team *team = nccl->team;
        nccl->team = team->next;
        close_team(nccl, team);
    }
}

/* ---- making ------------------------------------------------------------------------------ */

/* The data that each process sends to the others. */
struct announced {
    ncclUniqueId id;
    enum { NOT_MINE, MADE, FAILED } state; /* of the id, for the first member's process */
};

/* The data of all processes, and the one that has the id. */
static int team_exchange(const struct dp_nccl *nccl, const struct announced *mine, ncclUniqueId *id,
                         struct dp_error *err)
{
    const struct dp_world *world = nccl->group->others;
    const int n = world->bootstrap->size(world->self);
    struct announced *all = calloc((size_t)n, sizeof *all);
    if (!all)
        return dp_fail(err, DP_ENOMEM, "no memory for %d processes", n);
    int status = world->bootstrap->exchange(world->self, mine, sizeof *mine, all, err);
    bool made = false;
    for (int p = 0; status == 0 && p < n; ++p) {
        if (all[p].state == MADE) {
            *id = all[p].id;
            made = true;
        }
    }
    free(all);
    return status || made ? status : dp_fail(err, DP_EFAULT, "ncclGetUniqueId: no process has one");
}

/* Processes without a member of the team are not asked, because they make no such call. */
static int agree_id(const struct dp_nccl *nccl, const struct dp_collective *c, ncclUniqueId *id,
                    struct dp_error *err)
{
    struct announced mine;
    if (c->n_parts < c->n_members && c->n_members < nccl->group->world)
        return dp_fail(err, DP_ENOTSUP,
                       "communicator nccl: %d of %d ranks, in several processes, is not in this "
                       "version",
                       c->n_members, nccl->group->world);
    memset(&mine, 0, sizeof mine);
    if (c->n_parts > 0 && c->part[0].rank == c->member[0])
        mine.state = nccl->call.unique_id(&mine.id) == ncclSuccess ? MADE : FAILED;
    if (c->n_parts < c->n_members)
        return team_exchange(nccl, &mine, id, err);
    *id = mine.id;
    return mine.state == MADE ? 0
                              : dp_nccl_fail(nccl, c->part[0].slot, c->part[0].rank,
                                             "ncclGetUniqueId", ncclSystemError, err);
}

/* The group is closed on every path. */
static int init_ranks(const struct dp_nccl *nccl, struct dp_nccl_team *team, const ncclUniqueId *id,
                      struct dp_error *err)
{
    static const char call[] = "ncclCommInitRankConfig";
    ncclResult_t result = nccl->call.group_start();
    int status = 0, at = 0;
    if (dp_nccl_is_bad(result))
        return dp_nccl_fail(nccl, team->slot[0], team->rank[0], "ncclGroupStart", result, err);
    for (int i = 0; status == 0 && !dp_nccl_is_bad(result) && i < team->n; ++i) {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        int place = 0;
        while (team->member[place] != team->rank[i])
            ++place;
        at = i;
        status = dp_cuda_enter(team->slot[i], err);
        if (status == 0)
            result = nccl->call.init_rank(&team->comm[i], team->n_members, *id, place, &config);
    }
    const ncclResult_t ended = nccl->call.group_end();
    if (status)
        return status;
    if (dp_nccl_is_bad(result) || dp_nccl_is_bad(ended))
        return dp_nccl_fail(nccl, team->slot[at], team->rank[at], call,
                            dp_nccl_is_bad(result) ? result : ended, err);
    return dp_nccl_settle(nccl, team, call, err);
}

static int team_make(struct dp_nccl *nccl, const struct dp_collective *c,
                     struct dp_nccl_team **made, struct dp_error *err)
{
    ncclUniqueId id;
    int status = agree_id(nccl, c, &id, err);
    if (status)
        return status;
    struct dp_nccl_team **link = &nccl->team;
    for (int n = 1; *link && n < MOST_TEAMS; ++n)
        link = &(*link)->next;
    struct dp_nccl_team *oldest = *link;
    *link = NULL;
    while (oldest) {
        struct dp_nccl_team *next = oldest->next;
        close_team(nccl, oldest);
        oldest = next;
    }
    struct dp_nccl_team *team = calloc(1, sizeof *team);
    if (!team)
        return dp_fail(err, DP_ENOMEM, "no memory for %d ranks", c->n_members);
    team->n_members = c->n_members;
    team->n = c->n_parts;
    memcpy(team->member, c->member, (size_t)c->n_members * sizeof *team->member);
    for (int i = 0; i < c->n_parts; ++i) {
        team->slot[i] = c->part[i].slot;
        team->rank[i] = c->part[i].rank;
    }
    status = init_ranks(nccl, team, &id, err);
    if (status) {
        abort_team(nccl, team);
        return status;
    }
    team->next = nccl->team;
    *made = nccl->team = team;
    return 0;
}

static bool is_of(const struct dp_nccl_team *team, const struct dp_collective *c)
{
    if (team->n_members != c->n_members || team->n != c->n_parts)
        return false;
    for (int i = 0; i < c->n_parts; ++i) {
        if (team->slot[i] != c->part[i].slot)
            return false;
    }
    return memcmp(team->member, c->member, (size_t)c->n_members * sizeof *team->member) == 0;
}

int dp_nccl_team_of(struct dp_nccl *nccl, const struct dp_collective *c, struct dp_nccl_team **team,
                    struct dp_error *err)
{
    for (struct dp_nccl_team **at = &nccl->team; *at; at = &(*at)->next) {
        struct dp_nccl_team *found = *at;
        if (!is_of(found, c))
            continue;
        *at = found->next;
        found->next = nccl->team;
        *team = nccl->team = found;
        return 0;
    }
    return team_make(nccl, c, team, err);
}
