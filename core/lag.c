/* lag.c: devices that run every operation late, in an order that a GPU could choose.
 *
 * The table of the slots is a copy of the one that it wraps, which must run its work at once.
 * Queues are lists of operations. An operation runs when something that is waited for needs it, or
 * at once if its queue is early. There is one lock for all queues of a group, because such a device
 * finds missing events and missing waits, not data races; the plain device under ThreadSanitizer
 * finds those. */
#include "backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The work of an operation. */
struct lag_work {
    dp_kernel_fn *function; /* a call */
    struct dp_event event;  /* to wait for an event of a queue */
    enum dp_kernel kernel;  /* otherwise a launch */
};

struct lag_op {
    struct lag_op *next;
    struct lag_work work;
    size_t bytes;
    unsigned char args[];
};

struct dp_lag_queue {
    struct dp_queue *queue;
    struct lag_op *head, **tail;
    uint64_t issued, done; /* counts of operations; position p is reached when done >= p */
};

struct dp_lag {
    const struct dp_device_ops *inner;
    struct dp_device_ops ops;
    pthread_mutex_t lock;
    struct dp_lag_queue queue[DP_MAX_SLOTS * 2];
    int n_queues;
    uint64_t seed, random, pending; /* pending: operations in all queues */
    uint64_t early; /* a bit for each queue, starting again after 64: compute, comm, compute, ... */
    int status;     /* first failure of work that ran late; from then on every wait returns it */
    struct dp_error err;
};

static uint64_t lag_next_random(struct dp_lag *lag)
{
    uint64_t z = lag->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The recursion ends, because events are recorded before they are waited for. */
static void run_until(struct dp_lag *lag, struct dp_lag_queue *q, uint64_t position)
{
    while (q->done < position) {
        struct lag_op *op = q->head;
        q->head = op->next;
        if (!q->head)
            q->tail = &q->head;
        const struct lag_work *work = &op->work;
        const struct dp_host_call call = {work->function, op->args, op->bytes, NULL, 0};
        struct dp_error err = {0};
        int status = 0;
        if (work->event.queue)
            run_until(lag, work->event.queue->lag, work->event.position);
        else if (work->function)
            status = lag->inner->call(q->queue, &call, &err);
        else
            status = lag->inner->launch(q->queue, work->kernel, op->args, op->bytes, &err);
        if (status && lag->status == 0) {
            lag->status = status;
            lag->err = err;
        }
        ++q->done;
        if (--lag->pending == 0) {
            /* Draws until no operation is left. If it drew for each operation, all long queues
             * would be late in the same way. */
            const uint64_t compute = 0x5555555555555555u, mixed = lag_next_random(lag);
            const uint64_t early[] = {0, compute, ~compute, mixed};
            lag->early = lag->seed == 0 ? 0 : early[lag_next_random(lag) % 4];
        }
        free(op);
    }
}

static int lag_issue(struct dp_queue *queue, const struct lag_work *work, const void *args,
                     size_t bytes, struct dp_error *err)
{
    struct dp_lag *lag = queue->slot->group->lag;
    struct dp_lag_queue *q = queue->lag;
    struct lag_op *op = malloc(sizeof *op + bytes);
    if (!op)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for a late operation",
                       queue->slot->info.name);
    op->next = NULL;
    op->work = *work;
    op->bytes = bytes;
    if (bytes > 0)
        memcpy(op->args, args, bytes);
    pthread_mutex_lock(&lag->lock);
    ++lag->pending;
    *q->tail = op;
    q->tail = &op->next;
    ++q->issued;
    if ((lag->early >> (q - lag->queue) % 64 & 1) != 0)
        run_until(lag, q, q->issued);
    pthread_mutex_unlock(&lag->lock);
    return 0;
}

/* A float of all ones is NaN in every type, so memory shows that is read before it is written, or
 * after it is freed. Its size is stored before it. */
#define HEADER_BYTES 64
#define POISON       0xff

static int lag_alloc(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err)
{
    const struct dp_device_ops *inner = slot->group->lag->inner;
    void *block = NULL;
    const bool fits = bytes <= SIZE_MAX - HEADER_BYTES;
    const int status = inner->alloc(slot, fits ? bytes + HEADER_BYTES : bytes, &block, err);
    if (status)
        return status;
    memcpy(block, &bytes, sizeof bytes);
    *memory = (char *)block + HEADER_BYTES;
    memset(*memory, POISON, bytes);
    return 0;
}

static void lag_release(struct dp_slot *slot, void *memory)
{
    size_t bytes;
    if (!memory)
        return;
    void *block = (char *)memory - HEADER_BYTES;
    memcpy(&bytes, block, sizeof bytes);
    memset(memory, POISON, bytes);
    slot->group->lag->inner->release(slot, block);
}

static int lag_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                      struct dp_error *err)
{
    return lag_issue(queue, &(struct lag_work){.kernel = kernel}, args, bytes, err);
}

static int lag_call(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err)
{
    const struct lag_work work = {.function = call->function};
    return lag_issue(queue, &work, call->args, call->bytes, err);
}

static void lag_record(struct dp_queue *queue, struct dp_event *event)
{
    struct dp_lag *lag = queue->slot->group->lag;
    pthread_mutex_lock(&lag->lock);
    event->queue = queue;
    event->position = queue->lag->issued;
    pthread_mutex_unlock(&lag->lock);
}

/* Runs operations up to position, or all that are issued if those are fewer. */
static int catch_up(struct dp_queue *queue, uint64_t position, struct dp_error *err)
{
    struct dp_lag *lag = queue->slot->group->lag;
    struct dp_lag_queue *q = queue->lag;
    pthread_mutex_lock(&lag->lock);
    run_until(lag, q, position < q->issued ? position : q->issued);
    const int status = lag->status ? dp_fail(err, lag->status, "%s", lag->err.text) : 0;
    pthread_mutex_unlock(&lag->lock);
    return status;
}

static int lag_finish(const struct dp_event *event, struct dp_error *err)
{
    return catch_up(event->queue, event->position, err);
}

static int lag_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err)
{
    if (event->queue->lag)
        return lag_issue(queue, &(struct lag_work){.event = *event}, NULL, 0, err);
    return event->queue->slot->ops->finish(event, err);
}

static int lag_sync(struct dp_queue *queue, struct dp_error *err)
{
    return catch_up(queue, UINT64_MAX, err);
}

uint64_t dp_lag_pending(const struct dp_group *group)
{
    struct dp_lag *lag = group->lag;
    if (!lag)
        return 0;
    pthread_mutex_lock(&lag->lock);
    const uint64_t pending = lag->pending;
    pthread_mutex_unlock(&lag->lock);
    return pending;
}

/* ---- opening ----------------------------------------------------------------------------- */

static void queue_open(struct dp_lag *lag, struct dp_queue *queue)
{
    struct dp_lag_queue *q = &lag->queue[lag->n_queues++];
    q->queue = queue;
    q->tail = &q->head;
    queue->lag = q;
}

int dp_lag_open(struct dp_group *group, uint64_t seed, struct dp_error *err)
{
    struct dp_lag *lag = group->lag = calloc(1, sizeof *lag);
    if (!lag)
        return dp_fail(err, DP_ENOMEM, "no memory for late queues");
    pthread_mutex_init(&lag->lock, NULL);
    lag->seed = lag->random = seed;
    lag->inner = group->slot[0]->ops;
    lag->ops = *lag->inner;
    lag->ops.alloc = lag_alloc;
    lag->ops.release = lag_release;
    lag->ops.launch = lag_launch;
    lag->ops.convolve = NULL;
    lag->ops.call = lag_call;
    lag->ops.record = lag_record;
    lag->ops.wait = lag_wait;
    lag->ops.finish = lag_finish;
    lag->ops.sync = lag_sync;
    for (int i = 0; i < group->size; ++i) {
        group->slot[i]->ops = &lag->ops;
        queue_open(lag, &group->slot[i]->compute);
        queue_open(lag, &group->slot[i]->comm);
    }
    return 0;
}

/* Operations that were never waited for are dropped, as on a device. */
void dp_lag_close(struct dp_group *group)
{
    struct dp_lag *lag = group->lag;
    for (int i = 0; lag && i < lag->n_queues; ++i) {
        while (lag->queue[i].head) {
            struct lag_op *op = lag->queue[i].head;
            lag->queue[i].head = op->next;
            free(op);
        }
    }
    if (lag)
        pthread_mutex_destroy(&lag->lock);
    free(lag);
}
