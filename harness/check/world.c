/* check/world.c: the reference with its ranks in several processes, as an implementation.
 *
 * Its calls are the lines of suites/impls/exec, which go to pools of processes (launch/rank_pool.h)
 * instead of a command. A model of R ranks is in at most R processes. So there are pools of several
 * sizes, and each is started when it is needed. If a rank refuses a request, its pool and the
 * models in it end; the next model gets a new pool. A pool that has lost a process gives no answer:
 * then the session can do nothing more. */
#include "check/pool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build_info.h"
#include "exec/exec.h"
#include "exec/session.h"
#include "launch/launcher.h"
#include "launch/rank_pool.h"
#include "text/alloc.h"

enum { POOLS_MOST = 3, SLOWER = 4 };

/* The session of the processes of a pool. The models in it are those of exec.base. */
struct pool {
    struct exec_session exec;
    struct world *world;
    struct rank_pool *ranks;
    int processes;
    unsigned used; /* the time of the last call, by world.clock */
    bool ended;    /* a rank has refused a request */
    struct pool *next;
};

struct world {
    struct impl_session base;
    char launcher[LAUNCHER_BYTES], devices[256], options[256];
    struct impl_config config;     /* with the texts above; every pool gets it */
    size_t processes, per_process; /* as in the plan */
    double limit;
    unsigned clock;
    struct pool *pools;
};

/* ---- pools ----------------------------------------------------------------------------------- */

static int ask_ranks(struct exec_session *session, char *line, size_t length, const char **answer,
                     char reason[PROCESS_REASON])
{
    struct pool *pool = (struct pool *)session;
    enum rank_pool_end end;

    line[length - 1] = '\0'; /* the pool adds the newline */
    end = rank_pool_send(pool->ranks, session->last_id, line, answer);
    pool->ended = end == RANK_POOL_REFUSED;
    if (end != RANK_POOL_LOST)
        return 0;
    snprintf(reason, PROCESS_REASON, "%s", *answer);
    return -1;
}

static int carry_to_pool(struct impl_session *session, struct impl_model *model, enum impl_op op,
                         void *arguments, struct impl_error *err)
{
    struct pool *pool = (struct pool *)session;

    if (pool->ended)
        return impl_fail(err, IMPL_EFAULT,
                         "a rank has failed, and the processes of this model have parted");
    pool->used = ++pool->world->clock;
    return exec_carry(session, model, op, arguments, err);
}

static void free_pool(struct world *w, struct pool *pool)
{
    struct pool **link = &w->pools;

    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    remote_forget_models(&pool->exec.base);
    rank_pool_close(pool->ranks);
    free(pool);
}

/* Finds the pool for a model of so many ranks, or starts it. Returns 0, or the status of err. */
static int need_pool(struct world *w, int ranks, struct pool **found, struct impl_about *about,
                     struct impl_error *err)
{
    /* Ranks are divided among as many processes as possible, and at least two. */
    const size_t n = ranks < 2 ? 2 : ranks > MSG_PROCESSES ? MSG_PROCESSES : (size_t)ranks;
    const size_t most =
        w->per_process > 0 ? (n + w->per_process - 1) / w->per_process : w->processes;
    const int processes = (int)(most < 2 ? 2 : most < n ? most : n);
    struct pool *pool = w->pools, *oldest = NULL;
    struct text_error why = {""};
    int running = 0;

    while (pool && (pool->ended || pool->processes != processes))
        pool = pool->next;
    *found = pool;
    if (pool)
        return IMPL_OK;
    /* A pool that waits still costs a core some time, so there are few: the one that was not used
     * for the longest time ends. */
    for (pool = w->pools; pool; pool = pool->next) {
        running += !pool->ended;
        if (!pool->ended && !pool->exec.base.models && (!oldest || pool->used < oldest->used))
            oldest = pool;
    }
    if (running >= POOLS_MOST && oldest)
        free_pool(w, oldest);
    *found = pool = cli_alloc(1, sizeof *pool);
    *pool = (struct pool){
        .exec = {.base.carry = carry_to_pool,
                 .ask = ask_ranks,
                 .process = {.input = -1, .output = -1, .error = -1, .alive = -1},
                 .limit_ms = EXEC_MODEL_MS},
        .world = w,
        .processes = processes,
        .used = ++w->clock,
        .next = w->pools,
    };
    w->pools = pool;
    if (rank_pool_start(w->launcher, "rank", processes, w->limit, &pool->ranks, &why))
        return session_break(&pool->exec, err, "%s", why.text);
    return exec_session_open(&pool->exec, &w->config, w->options, about, err);
}

/* ---- the session ----------------------------------------------------------------------------- */

static int world_carry(struct impl_session *session, struct impl_model *model, enum impl_op op,
                       void *arguments, struct impl_error *err)
{
    struct world *w = (struct world *)session;
    struct impl_error refused = {.status = IMPL_OK};
    struct impl_about ignored;
    struct pool *pool;
    int status;

    for (struct pool *one = op == IMPL_OP_RESET ? w->pools : NULL, *next; one; one = next) {
        next = one->next;
        remote_forget_models(&one->exec.base);
        /* A pool that refuses to reset has ended, so it has nothing to reset. */
        if (!one->ended)
            (void)carry_to_pool(&one->exec.base, NULL, op, NULL, &refused);
        if (one->exec.dead[0] != '\0')
            return impl_fail(err, IMPL_EBROKEN, "%s", one->exec.dead);
        if (one->ended)
            free_pool(w, one);
    }
    if (op == IMPL_OP_RESET)
        return IMPL_OK;
    status = need_pool(w, model ? model->ranks : 2, &pool, &ignored, err);
    if (status != IMPL_OK)
        return status;
    if (model)
        model->session = &pool->exec.base; /* its calls go there from now on */
    return carry_to_pool(&pool->exec.base, model, op, arguments, err);
}

static void world_close(struct impl_session *session)
{
    struct world *w = (struct world *)session;

    while (w->pools)
        free_pool(w, w->pools);
    free(w);
}

/* Reads the text that world_load writes. */
static int world_open(const struct impl_config *config, struct impl_about *about,
                      struct impl_session **session, struct impl_error *err)
{
    const char *launcher = strchr(config->options, '\n');
    const char *options = launcher ? strchr(launcher + 1, '\n') : NULL;
    struct world *w = options ? cli_alloc(1, sizeof *w) : NULL;
    struct pool *pool;
    int status;

    *session = NULL;
    memset(err, 0, sizeof *err);
    if (config->host_only)
        status = impl_fail(err, IMPL_ENOTSUP, "ranks in processes need devices");
    else if (!w || sscanf(config->options, "%zu %zu", &w->processes, &w->per_process) != 2)
        status = impl_fail(err, IMPL_EBROKEN, "no launcher");
    else {
        w->base.carry = world_carry;
        w->limit = RANK_WAIT_SECONDS * (BUILD_SANITIZERS[0] != '\0' ? SLOWER : 1);
        snprintf(w->launcher, sizeof w->launcher, "%.*s", (int)(options - launcher - 1),
                 launcher + 1);
        snprintf(w->options, sizeof w->options, "%s", options + 1);
        snprintf(w->devices, sizeof w->devices, "%s", config->devices);
        w->config = (struct impl_config){.devices = w->devices, .seed = config->seed};
        status = need_pool(w, 2, &pool, about, err);
    }
    if (status == IMPL_OK)
        *session = &w->base;
    else if (w)
        world_close(&w->base);
    return status;
}

/* ---- the source ------------------------------------------------------------------------------ */

static const char *world_dead(struct impl_session *session)
{
    const struct pool *pool = ((const struct world *)session)->pools;

    while (pool && pool->exec.dead[0] == '\0')
        pool = pool->next;
    return pool ? pool->exec.dead : NULL;
}

int world_load(const struct world_plan *plan, const char *options, struct impl_source *source,
               char reason[600])
{
    int n;

    signal(SIGPIPE, SIG_IGN); /* if a launcher is gone, its output shows that */
    *source = (struct impl_source){.table = remote_ops, .process = true, .dead = world_dead};
    source->table.open = world_open;
    source->table.close = world_close;
    /* These have no ranks. */
    source->table.split = NULL;
    source->table.scatter = NULL;
    source->table.gather = NULL;
    source->table.broadcast = NULL;
    source->table.reduce = NULL;
    source->table.apply = NULL;
    source->ops = &source->table;
    n = snprintf(source->options, sizeof source->options, "%zu %zu\n%s\n%s", plan->processes,
                 plan->per_process, plan->launcher, options);
    if (n > 0 && (size_t)n < sizeof source->options)
        return 0;
    snprintf(reason, 600, "the launcher's command is too long");
    return -1;
}
