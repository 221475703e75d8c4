/* second.c: an allreduce by a second worker for each slot, which runs while the first workers
 * compute.
 *
 * It is for communicators whose slots can use the memory of each other. Allreduces run in the order
 * in which they are issued. Each second worker adds one slice of all members' numbers in rank
 * order, and then fetches the slices of the others. All of this is in the comm queues, after the
 * events of the parts. On a device that runs its work at once, the counters below make the order.
 */
#include "backend.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

struct second_worker {
    struct dp_second *second;
    struct dp_slot *slot;
    void (*adopt)(struct dp_slot *slot); /* of the slot's table, which may be wrapped meanwhile */
    pthread_t thread;
};

struct dp_second {
    struct dp_group *group;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct second_worker worker[DP_MAX_SLOTS];
    int started;
    /* The lock protects the fields that follow. */
    bool stop;
    uint64_t pass; /* how often all issued allreduces have ended */
    struct dp_collective *head, *tail;
    int issued;
    int claimed, limit; /* how many allreduces were begun, and may begin */
    int due, ended;     /* parts of the claimed allreduces, and how many of these are done */
    /* By slot; written by the thread that works for it. */
    struct dp_error error[DP_MAX_SLOTS];
};

/* ---- the work of one slot for one allreduce ---------------------------------------------- */

struct range {
    size_t first, n;
};

static size_t floats_of(const struct dp_collective *c, int k)
{
    return c->bytes[k] / sizeof(float);
}

/* The range that slice i covers of a piece of n floats, which begins at float `before` of all.
 * There is a slice for each member. Slices are whole cache lines. */
static struct range second_cut(int members, size_t total, int i, size_t before, size_t n)
{
    const size_t each = (total / (size_t)members + 16) / 16 * 16;
    const size_t first = (size_t)i * each, last = first + each, end = before + n;
    const size_t from = before > first ? before : first, to = end < last ? end : last;
    return (struct range){from - before, from < to ? to - from : 0};
}

static int add_piece(const struct dp_collective *c, int place, int k, const struct range *range,
                     struct dp_error *err)
{
    struct dp_mean_args mean = {
        c->n_parts, c->scale, range->n, (float *)c->part[place].piece[k] + range->first, {NULL}};
    for (int i = 0; i < c->n_parts; ++i)
        mean.src[i] = (const float *)c->part[i].piece[k] + range->first;
    return dp_launch(&c->part[place].slot->comm, DP_KERNEL_MEAN, &mean, sizeof mean, err);
}

static int fetch_piece(const struct dp_collective *c, int place, int from, int k,
                       const struct range *range, struct dp_error *err)
{
    const size_t bytes = range->n * sizeof(float);
    const struct dp_copy copy = {(float *)c->part[place].piece[k] + range->first,
                                 (const float *)c->part[from].piece[k] + range->first,
                                 bytes,
                                 1,
                                 bytes,
                                 bytes};
    return dp_launch(&c->part[place].slot->comm, DP_KERNEL_COPY, &copy, sizeof copy, err);
}

/* Slice i is added by its owner, and fetched from the owner by the others. */
static int do_slice(const struct dp_collective *c, int place, int i, struct dp_error *err)
{
    const struct dp_part *part = &c->part[place];
    struct dp_trace *trace = part->slot->group->trace;
    const bool shown = trace && trace->timeline && !part->slot->ops->timer;
    const uint64_t begin = shown ? dp_now_ns() : 0;
    size_t total = 0, before = 0, bytes = 0;
    int status = 0;
    for (int k = 0; k < c->n_pieces; ++k)
        total += floats_of(c, k);
    for (int k = 0; status == 0 && k < c->n_pieces; ++k) {
        const struct range range = second_cut(c->n_parts, total, i, before, floats_of(c, k));
        before += floats_of(c, k);
        if (range.n == 0)
            continue;
        status = i == place ? add_piece(c, place, k, &range, err)
                            : fetch_piece(c, place, i, k, &range, err);
        bytes += range.n * sizeof(float) * (i == place ? (size_t)(c->n_parts - 1) : 1);
    }
    if (trace)
        trace->replica[part->replica].bytes[DP_PHASE_REDUCE] += bytes;
    /* The rank computes meanwhile, so only the time that it waits is a part of its step. */
    if (shown)
        dp_trace_end(part->slot->group, part->replica, DP_PHASE_NONE, begin, 0);
    return status;
}

static int add_slice(struct dp_collective *c, int place, struct dp_error *err)
{
    struct dp_part *part = &c->part[place];
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        status = dp_event_wait(&part->slot->comm, &c->part[i].ready, err);
    if (status == 0)
        status = do_slice(c, place, place, err);
    part->slot->ops->record(&part->slot->comm, &part->added);
    return status;
}

/* Each worker begins with its neighbour. If all began with the first, they would wait for one
 * another. */
static int fetch_slices(struct dp_collective *c, int place, struct dp_error *err)
{
    struct dp_part *part = &c->part[place];
    const struct dp_device_ops *ops = part->slot->ops;
    int status = 0;
    for (int k = 1; status == 0 && k < c->n_parts; ++k) {
        const int i = (place + k) % c->n_parts;
        status = dp_event_wait(&part->slot->comm, &c->part[i].added, err);
        if (status == 0)
            status = do_slice(c, place, i, err);
    }
    ops->record(&part->slot->comm, &part->done);
    if (status == 0 && c->timed)
        status = ops->finish(&part->done, err);
    atomic_store(part->done_ns, dp_now_ns());
    return status;
}

/* ---- the second worker ------------------------------------------------------------------- */

static int second_place_of(const struct dp_collective *c, const struct dp_slot *slot)
{
    for (int i = 0; i < c->n_parts; ++i) {
        if (c->part[i].slot == slot)
            return i;
    }
    return -1;
}

/* Called with the lock held. An error does not stop the other workers. */
static void take_part(struct dp_second *second, struct dp_collective *c, int place)
{
    struct dp_error *err = &second->error[c->part[place].slot->info.index];
    if (second->claimed <= c->number) {
        second->claimed = c->number + 1;
        second->due += c->n_parts;
        pthread_cond_broadcast(&second->changed); /* now all must take part */
    }
    pthread_mutex_unlock(&second->lock);
    const int added = add_slice(c, place, err);
    pthread_mutex_lock(&second->lock);
    if (++c->summed == c->n_parts)
        pthread_cond_broadcast(&second->changed);
    while (c->summed < c->n_parts)
        pthread_cond_wait(&second->changed, &second->lock);
    pthread_mutex_unlock(&second->lock);
    if (added == 0)
        fetch_slices(c, place, err);
    pthread_mutex_lock(&second->lock);
    if (++second->ended == second->due)
        pthread_cond_broadcast(&second->changed);
}

static void *work(void *arg)
{
    const struct second_worker *w = arg;
    struct dp_second *second = w->second;
    struct dp_group *group = second->group;
    struct dp_collective *last = NULL;
    uint64_t pass = 0;
    if (group->bound_caller)
        dp_topology_bind(group->topology, w->slot->info.index, group->size, NULL);
    if (w->adopt)
        w->adopt(w->slot);
    pthread_mutex_lock(&second->lock);
    while (!second->stop) {
        last = pass == second->pass ? last : NULL;
        pass = second->pass;
        struct dp_collective *c = last ? last->next : second->head;
        if (!c || c->number >= second->limit) {
            pthread_cond_wait(&second->changed, &second->lock);
            continue;
        }
        const int place = second_place_of(c, w->slot);
        if (place >= 0)
            take_part(second, c, place);
        last = c;
    }
    pthread_mutex_unlock(&second->lock);
    return NULL;
}

/* ---- the calling thread ------------------------------------------------------------------ */

/* The last allreduce wakes no second worker, because the first workers will be free for it. */
int dp_second_allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    struct dp_second *second = group->second;
    (void)err;
    pthread_mutex_lock(&second->lock);
    c->next = NULL;
    c->number = second->issued++;
    c->summed = 0;
    if (second->tail)
        second->tail->next = c;
    else
        second->head = c;
    second->tail = c;
    if (!c->last)
        pthread_cond_broadcast(&second->changed);
    pthread_mutex_unlock(&second->lock);
    return 0;
}

/* Lets nothing more begin. Returns how many were begun, when these have ended. */
static int stop_claims(struct dp_second *second)
{
    pthread_mutex_lock(&second->lock);
    const int begun = second->limit = second->claimed;
    while (second->ended < second->due)
        pthread_cond_wait(&second->changed, &second->lock);
    pthread_mutex_unlock(&second->lock);
    return begun;
}

static void second_forget(struct dp_second *second)
{
    pthread_mutex_lock(&second->lock);
    second->head = second->tail = NULL;
    second->issued = second->claimed = second->due = second->ended = 0;
    second->limit = INT_MAX;
    ++second->pass;
    for (int i = 0; i < second->group->size; ++i)
        second->error[i].status = 0;
    pthread_mutex_unlock(&second->lock);
}

/* The first workers do what the second workers have not begun. */
struct rest {
    struct dp_second *second;
    struct dp_collective *c;
    bool fetch;
};

static void do_share(int i, void *arg)
{
    const struct rest *rest = arg;
    struct dp_error *err = &rest->second->error[rest->c->part[i].slot->info.index];
    if (rest->fetch)
        fetch_slices(rest->c, i, err);
    else
        add_slice(rest->c, i, err);
}

/* The calling thread does small ones, because to hand them on would cost more. */
#define CALLER_BYTES 16384

static void do_rest(struct dp_second *second, struct dp_collective *c)
{
    struct dp_slot *slot[DP_MAX_SLOTS];
    const struct dp_team team = {second->group, slot, c->n_parts};
    size_t bytes = 0;
    for (int i = 0; i < c->n_parts; ++i)
        slot[i] = c->part[i].slot;
    for (int k = 0; k < c->n_pieces; ++k)
        bytes += c->bytes[k];
    for (int phase = 0; phase < 2; ++phase) {
        struct rest rest = {second, c, phase == 1};
        for (int i = 0; bytes <= CALLER_BYTES && i < c->n_parts; ++i)
            do_share(i, &rest);
        if (bytes > CALLER_BYTES)
            dp_team_run(&team, do_share, &rest);
    }
}

static int second_collect(const struct dp_second *second, struct dp_error *err)
{
    const struct dp_collective *last = second->tail;
    for (int i = 0; last && i < last->n_parts; ++i) {
        const struct dp_part *part = &last->part[i];
        const struct dp_error *error = &second->error[part->slot->info.index];
        if (error->status)
            return dp_fail(err, error->status, "reduction on rank %d: %s", part->rank, error->text);
    }
    return 0;
}

int dp_second_poll(struct dp_group *group, struct dp_error *err)
{
    struct dp_second *second = group->second;
    if (!second)
        return 0; /* not started: nothing was issued */
    const int begun = stop_claims(second);
    for (struct dp_collective *c = second->head; c; c = c->next) {
        if (c->number >= begun)
            do_rest(second, c);
    }
    int status = second_collect(second, err);
    if (status == 0) {
        /* Every comm queue waits for all others, because they have read the memory of its slot. */
        const struct dp_collective *last = second->tail;
        for (int i = 0; last && i < last->n_parts; ++i) {
            for (int k = 0; status == 0 && k < last->n_parts; ++k) {
                if (k != i)
                    status = dp_event_wait(&last->part[i].slot->comm, &last->part[k].done, err);
            }
        }
        for (struct dp_collective *c = second->head; status == 0 && c; c = c->next) {
            for (int i = 0; i < c->n_parts; ++i) {
                if (c == second->head)
                    c->part[i].slot->ops->record(&c->part[i].slot->comm, &c->part[i].done);
                else
                    c->part[i].done = second->head->part[i].done;
            }
        }
    }
    second_forget(second);
    return status;
}

void dp_second_abort(struct dp_group *group)
{
    if (!group->second)
        return;
    stop_claims(group->second);
    second_forget(group->second);
}

/* ---- opening ----------------------------------------------------------------------------- */

static int start_workers(struct dp_second *second, struct dp_error *err)
{
    for (int i = 0; i < second->group->size; ++i) {
        struct second_worker *worker = &second->worker[i];
        struct dp_slot *slot = second->group->slot[i];
        *worker = (struct second_worker){.second = second, .slot = slot, .adopt = slot->ops->adopt};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            return dp_fail(err, DP_ENOMEM, "%s: its second worker cannot be started",
                           slot->info.name);
        second->started = i + 1;
    }
    return 0;
}

int dp_second_start(struct dp_group *group, struct dp_error *err)
{
    if (group->second)
        return 0;
    struct dp_second *second = calloc(1, sizeof *second);
    if (!second)
        return dp_fail(err, DP_ENOMEM, "no memory for second workers");
    second->group = group;
    second->limit = INT_MAX;
    pthread_mutex_init(&second->lock, NULL);
    pthread_cond_init(&second->changed, NULL);
    group->second = second;
    const int status = start_workers(second, err);
    if (status)
        dp_second_close(group);
    return status;
}

void dp_second_close(struct dp_group *group)
{
    struct dp_second *second = group->second;
    if (!second)
        return;
    pthread_mutex_lock(&second->lock);
    second->stop = true;
    pthread_cond_broadcast(&second->changed);
    pthread_mutex_unlock(&second->lock);
    for (int i = 0; i < second->started; ++i)
        pthread_join(second->worker[i].thread, NULL);
    pthread_cond_destroy(&second->changed);
    pthread_mutex_destroy(&second->lock);
    free(second);
    group->second = NULL;
}
