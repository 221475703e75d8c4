/* worker.c: one thread for each slot but the first; the calling thread works for the first slot.
 *
 * A baton carries a ticket from one thread to another. The receiver spins for a while, if there are
 * cores for all workers, and then sleeps. Everything that was written before the baton is passed is
 * visible to the receiver. */
#include "backend.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define SPINS 4000 /* about 100 us of pauses: longer than a phase between two tasks */

struct baton {
    _Atomic unsigned ticket;
    _Atomic bool sleeping;
    pthread_mutex_t lock;
    pthread_cond_t passed;
};

struct dp_worker {
    struct dp_group *group;
    struct dp_slot *slot;
    void (*adopt)(struct dp_slot *slot); /* of the slot's table, which may be wrapped meanwhile */
    pthread_t thread;
    struct baton go, back;
    unsigned ticket; /* last ticket that the calling thread handed out */
    bool stop;
    const struct dp_team *team;
    void (*function)(int i, void *arg);
    void *arg;
    int bind_status;
};

struct dp_workers {
    struct dp_worker worker[DP_MAX_SLOTS];
    int started;
    int spins;
    bool bind;
};

#if defined(__x86_64__)
static void pause_briefly(void)
{
    __builtin_ia32_pause();
}
#elif defined(__aarch64__)
static void pause_briefly(void)
{
    __asm__ volatile("yield");
}
#else
static void pause_briefly(void)
{
    sched_yield();
}
#endif

static void baton_open(struct baton *baton)
{
    atomic_init(&baton->ticket, 0);
    atomic_init(&baton->sleeping, false);
    pthread_mutex_init(&baton->lock, NULL);
    pthread_cond_init(&baton->passed, NULL);
}

static void baton_close(struct baton *baton)
{
    pthread_cond_destroy(&baton->passed);
    pthread_mutex_destroy(&baton->lock);
}

/* The ticket is stored before sleeping is read, and the receiver does the reverse. Both are
 * sequentially consistent, so one of them sees the other. */
static void baton_pass(struct baton *baton, unsigned ticket)
{
    atomic_store(&baton->ticket, ticket);
    if (atomic_load(&baton->sleeping)) {
        pthread_mutex_lock(&baton->lock);
        pthread_cond_signal(&baton->passed);
        pthread_mutex_unlock(&baton->lock);
    }
}

static void baton_take(struct baton *baton, unsigned ticket, int spins)
{
    for (int i = 0; i < spins; ++i) {
        if (atomic_load_explicit(&baton->ticket, memory_order_acquire) == ticket)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&baton->lock);
    atomic_store(&baton->sleeping, true);
    while (atomic_load(&baton->ticket) != ticket)
        pthread_cond_wait(&baton->passed, &baton->lock);
    atomic_store(&baton->sleeping, false);
    pthread_mutex_unlock(&baton->lock);
}

static void run_share(const struct dp_team *team, const struct dp_worker *worker,
                      void (*function)(int i, void *arg), void *arg)
{
    for (int i = 0; i < team->n; ++i) {
        if (team->slot[i]->worker == worker)
            function(i, arg);
    }
}

static void *work(void *arg)
{
    struct dp_worker *worker = arg;
    struct dp_group *group = worker->group;
    if (group->workers->bind)
        worker->bind_status =
            dp_topology_bind(group->topology, worker->slot->info.index, group->size, NULL);
    if (worker->adopt)
        worker->adopt(worker->slot);
    for (unsigned ticket = 1;; ++ticket) {
        baton_take(&worker->go, ticket, group->workers->spins);
        if (worker->stop)
            return NULL;
        run_share(worker->team, worker, worker->function, worker->arg);
        baton_pass(&worker->back, ticket);
    }
}

static bool has_task(const struct dp_team *team, const struct dp_worker *worker)
{
    for (int i = 0; i < team->n; ++i) {
        if (team->slot[i]->worker == worker)
            return true;
    }
    return false;
}

void dp_team_run(const struct dp_team *team, void (*function)(int i, void *arg), void *arg)
{
    struct dp_workers *workers = team->group->workers;
    if (team->n == 1) {
        function(0, arg);
        return;
    }
    bool busy[DP_MAX_SLOTS] = {false};
    for (int w = 0; w < workers->started; ++w) {
        struct dp_worker *worker = &workers->worker[w];
        busy[w] = has_task(team, worker);
        if (!busy[w])
            continue;
        worker->team = team;
        worker->function = function;
        worker->arg = arg;
        baton_pass(&worker->go, ++worker->ticket);
    }
    run_share(team, NULL, function, arg);
    for (int w = 0; w < workers->started; ++w) {
        if (busy[w])
            baton_take(&workers->worker[w].back, workers->worker[w].ticket, workers->spins);
    }
}

static int worker_start(struct dp_group *group, struct dp_slot *slot, struct dp_error *err)
{
    struct dp_workers *workers = group->workers;
    struct dp_worker *worker = &workers->worker[workers->started];
    worker->group = group;
    worker->slot = slot;
    worker->adopt = slot->ops->adopt;
    baton_open(&worker->go);
    baton_open(&worker->back);
    if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
        baton_close(&worker->go);
        baton_close(&worker->back);
        return dp_fail(err, DP_ENOMEM, "%s: its worker thread cannot be started", slot->info.name);
    }
    slot->worker = worker;
    ++workers->started;
    return 0;
}

static void worker_nothing(int i, void *arg)
{
    (void)i, (void)arg;
}

void dp_group_barrier(struct dp_group *group)
{
    const struct dp_team team = {group, group->slot, group->size};
    if (team.n > 1)
        dp_team_run(&team, worker_nothing, NULL);
}

static int bind_all(struct dp_group *group, struct dp_error *err)
{
    /* The threads of a wide BLAS are started by the calling thread, and run where it may. */
    const int caller = group->wide_blas ? DP_TOPOLOGY_TOGETHER : 0;
    int status = group->size > 0 ? dp_topology_bind(group->topology, caller, group->size, err) : 0;
    if (status)
        return status;
    group->bound_caller = group->size > 0;
    dp_group_barrier(group);
    for (int w = 0; w < group->workers->started; ++w) {
        const struct dp_worker *worker = &group->workers->worker[w];
        if (worker->bind_status)
            status = dp_fail(err, DP_EFAULT, "%s: its worker cannot be bound to cores %s",
                             worker->slot->info.name, worker->slot->info.cores);
    }
    for (int i = 0; i < group->size; ++i)
        group->slot[i]->info.bound = true;
    return status;
}

int dp_workers_open(struct dp_group *group, bool bind, bool crowded, struct dp_error *err)
{
    struct dp_workers *workers = group->workers = calloc(1, sizeof *workers);
    if (!workers)
        return dp_fail(err, DP_ENOMEM, "no memory for workers");
    workers->bind = bind;
    workers->spins = crowded ? 0 : SPINS;
    for (int i = 1; i < group->size; ++i) {
        const int status = worker_start(group, group->slot[i], err);
        if (status)
            return status;
    }
    return bind ? bind_all(group, err) : 0;
}

void dp_workers_close(struct dp_group *group)
{
    struct dp_workers *workers = group->workers;
    if (!workers)
        return;
    for (int w = 0; w < workers->started; ++w) {
        struct dp_worker *worker = &workers->worker[w];
        worker->stop = true;
        baton_pass(&worker->go, ++worker->ticket);
        pthread_join(worker->thread, NULL);
        baton_close(&worker->go);
        baton_close(&worker->back);
    }
    free(workers);
    group->workers = NULL;
}
