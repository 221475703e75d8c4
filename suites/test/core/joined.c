/* joined.c: see joined.h. Every step is a meeting of all threads; one that waits too long, or is
 * told that another gave up, fails. */
#include "joined.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEADLINE_S = 60 };

struct joined {
    int processes;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int here; /* threads that have come to the meeting */
    uint64_t meetings;
    bool broken;
    void *bytes[JOINED_MOST];     /* what each thread shows the others at a meeting */
    float *numbers[DP_MAX_SLOTS]; /* a piece of each rank's */
};

/* ---- the bootstrap ----------------------------------------------------------------------- */

static int size(void *self)
{
    const struct joined_end *end = self;
    return end->joined->processes;
}

static int rank(void *self)
{
    const struct joined_end *end = self;
    return end->process;
}

static int barrier(void *self, struct dp_error *err)
{
    const struct joined_end *end = self;
    struct joined *j = end->joined;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += DEADLINE_S;
    pthread_mutex_lock(&j->lock);
    const uint64_t meeting = j->meetings;
    if (++j->here == j->processes) {
        j->here = 0;
        ++j->meetings;
        pthread_cond_broadcast(&j->changed);
    }
    while (!j->broken && j->meetings == meeting)
        if (pthread_cond_timedwait(&j->changed, &j->lock, &deadline) != 0)
            j->broken = true;
    const bool met = j->meetings != meeting;
    pthread_mutex_unlock(&j->lock);
    return met ? 0 : dp_fail(err, DP_EFAULT, "another process has given up");
}

/* Meets twice: all have written, all have read. */
static int joined_exchange(void *self, const void *mine, size_t bytes, void *all,
                           struct dp_error *err)
{
    const struct joined_end *end = self;
    struct joined *j = end->joined;
    void *copy = malloc(bytes);
    if (!copy)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu bytes", bytes);
    memcpy(copy, mine, bytes);
    j->bytes[end->process] = copy;
    int status = barrier(self, err);
    for (int p = 0; status == 0 && p < j->processes; ++p)
        memcpy((char *)all + (size_t)p * bytes, j->bytes[p], bytes);
    if (status == 0)
        status = barrier(self, err);
    free(copy);
    return status;
}

static void joined_give_up(void *self)
{
    const struct joined_end *end = self;
    struct joined *j = end->joined;
    pthread_mutex_lock(&j->lock);
    j->broken = true;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
}

static const struct dp_bootstrap bootstrap = {.name = "joined",
                                              .size = size,
                                              .rank = rank,
                                              .exchange = joined_exchange,
                                              .barrier = barrier,
                                              .abort = joined_give_up};

/* ---- the communicators ------------------------------------------------------------------- */

static struct joined_end *end_of(const struct dp_group *group)
{
    return group->others->self;
}

static int joined_move(const struct dp_team *team, const struct dp_moves moves[],
                       enum dp_phase phase, struct dp_error *err)
{
    return dp_comm_staged.move(team, moves, phase, err);
}

static int joined_reduce(const struct dp_team *team, struct dp_slot *dst_slot,
                         const struct dp_sum sums[], int n, enum dp_phase phase,
                         struct dp_error *err)
{
    return dp_comm_staged.reduce(team, dst_slot, sums, n, phase, err);
}

/* Copies between memory of a slot and of the host. */
static int copy(struct dp_slot *slot, void *dst, const void *src, size_t bytes,
                struct dp_error *err)
{
    const struct dp_copy rows = {dst, src, bytes, 1, bytes, bytes};
    const int status = dp_launch(&slot->comm, DP_KERNEL_COPY, &rows, sizeof rows, err);
    const int synced = dp_queue_sync(&slot->comm, err);
    return status ? status : synced;
}

static int send_piece(struct joined_end *end, const struct dp_collective *c, int root, int k,
                      void *bytes, struct dp_error *err)
{
    int status = 0, from = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        if (c->part[i].rank == c->member[root]) {
            from = end->process + 1;
            status = copy(c->part[i].slot, bytes, c->part[i].piece[k], c->bytes[k], err);
        }
    }
    int froms[JOINED_MOST];
    if (status == 0)
        status = joined_exchange(end, &from, sizeof from, froms, err);
    for (int p = 0; p < end->joined->processes; ++p)
        from = froms[p] > 0 ? froms[p] - 1 : from;
    char *all = malloc(c->bytes[k] * (size_t)end->joined->processes);
    if (status == 0 && !all)
        status = dp_fail(err, DP_ENOMEM, "no memory for a broadcast");
    if (status == 0)
        status = joined_exchange(end, bytes, c->bytes[k], all, err);
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        status = copy(c->part[i].slot, c->part[i].piece[k], all + (size_t)from * c->bytes[k],
                      c->bytes[k], err);
    free(all);
    return status;
}

static int joined_broadcast(struct dp_group *group, const struct dp_collective *c, int root,
                            enum dp_phase phase, struct dp_error *err)
{
    int status = dp_group_wait(group, err);
    (void)phase;
    for (int k = 0; status == 0 && k < c->n_pieces; ++k) {
        void *bytes = calloc(1, c->bytes[k]);
        if (!bytes)
            return dp_fail(err, DP_ENOMEM, "no memory for a broadcast");
        status = send_piece(end_of(group), c, root, k, bytes, err);
        free(bytes);
    }
    return status;
}

static int joined_add_up(const struct joined *j, const struct dp_collective *c,
                         const struct dp_part *part, int k, struct dp_error *err)
{
    const size_t n = c->bytes[k] / sizeof(float);
    float *sum = calloc(n + 1, sizeof *sum);
    if (!sum)
        return dp_fail(err, DP_ENOMEM, "no memory for a sum");
    for (int m = 0; m < c->n_members; ++m) {
        for (size_t x = 0; x < n; ++x) {
            const float product = c->scale * j->numbers[c->member[m]][x];
            sum[x] = m == 0 ? product : sum[x] + product;
        }
    }
    const int status = copy(part->slot, part->piece[k], sum, c->bytes[k], err);
    free(sum);
    return status;
}

/* Only processes with a member take part. Each puts its numbers where the others can read them. */
static int sum_piece(struct joined_end *end, struct dp_collective *c, int k, struct dp_error *err)
{
    struct joined *j = end->joined;
    int status = 0;
    for (int i = 0; status == 0 && i < c->n_parts; ++i) {
        float *numbers = malloc(c->bytes[k] + 1);
        if (!numbers)
            return dp_fail(err, DP_ENOMEM, "no memory for a sum");
        j->numbers[c->part[i].rank] = numbers;
        status = copy(c->part[i].slot, numbers, c->part[i].piece[k], c->bytes[k], err);
    }
    const bool alone = c->n_parts == c->n_members;
    if (status == 0 && !alone)
        status = barrier(end, err);
    for (int i = 0; status == 0 && i < c->n_parts; ++i)
        status = joined_add_up(j, c, &c->part[i], k, err);
    if (status == 0 && !alone)
        status = barrier(end, err);
    for (int i = 0; i < c->n_parts; ++i) {
        free(j->numbers[c->part[i].rank]);
        j->numbers[c->part[i].rank] = NULL;
    }
    return status;
}

static int allreduce(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    int status = dp_group_wait(group, err);
    for (int k = 0; status == 0 && k < c->n_pieces; ++k)
        status = sum_piece(end_of(group), c, k, err);
    for (int i = 0; i < c->n_parts; ++i) {
        struct dp_part *part = &c->part[i];
        part->slot->ops->record(&part->slot->comm, &part->done);
        atomic_store(part->done_ns, 1);
    }
    return status;
}

static int joined_issue(struct dp_group *group, struct dp_collective *c, struct dp_error *err)
{
    struct joined_end *end = end_of(group);
    (void)err;
    c->next = NULL;
    if (end->last)
        end->last->next = c;
    else
        end->first = c;
    end->last = c;
    return 0;
}

static int poll(struct dp_group *group, struct dp_error *err)
{
    struct joined_end *end = end_of(group);
    struct dp_collective *c = end->first;
    int status = 0;
    end->first = end->last = NULL;
    for (; status == 0 && c; c = c->next)
        status = allreduce(group, c, err);
    return status;
}

static void joined_forget(struct dp_group *group)
{
    end_of(group)->first = end_of(group)->last = NULL;
}

static int allreduce_max(struct dp_group *group, int64_t values[], int n, struct dp_error *err)
{
    struct joined_end *end = end_of(group);
    const size_t bytes = (size_t)n * sizeof *values;
    int64_t *all = malloc(bytes * (size_t)end->joined->processes);
    if (!all)
        return dp_fail(err, DP_ENOMEM, "no memory to agree");
    const int status = joined_exchange(end, values, bytes, all, err);
    for (int p = 0; status == 0 && p < end->joined->processes; ++p)
        for (int i = 0; i < n; ++i)
            values[i] = all[p * n + i] > values[i] ? all[p * n + i] : values[i];
    free(all);
    return status;
}

static const struct dp_comm_ops ways[JOINED_WAYS] = {
    [JOINED_AT_ONCE] = {.name = "joined",
                        .can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_WORLD,
                        .move = joined_move,
                        .reduce = joined_reduce,
                        .broadcast = joined_broadcast,
                        .allreduce = allreduce,
                        .allreduce_max = allreduce_max},
    [JOINED_POLLED] = {.name = "joined-polled",
                       .can = DP_COMM_PARALLEL | DP_COMM_RANKS | DP_COMM_OVERLAP | DP_COMM_WORLD,
                       .move = joined_move,
                       .reduce = joined_reduce,
                       .broadcast = joined_broadcast,
                       .allreduce = joined_issue,
                       .poll = poll,
                       .abort = joined_forget,
                       .allreduce_max = allreduce_max},
};

static const struct dp_comm_ops moves_only = {
    .name = "moves-only", .can = DP_COMM_PARALLEL, .move = joined_move, .reduce = joined_reduce};
const struct dp_world joined_without_ranks = {&dp_bootstrap_self, NULL, &moves_only};

/* ---- opening ----------------------------------------------------------------------------- */

struct joined *joined_open(int processes, enum joined_way way, struct joined_end end[])
{
    struct joined *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->processes = processes;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->changed, NULL);
    for (int p = 0; p < processes; ++p)
        end[p] = (struct joined_end){
            .joined = j, .process = p, .world = {&bootstrap, &end[p], &ways[way]}};
    return j;
}

void joined_close(struct joined *joined)
{
    if (!joined)
        return;
    pthread_cond_destroy(&joined->changed);
    pthread_mutex_destroy(&joined->lock);
    free(joined);
}
