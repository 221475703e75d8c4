/* lag.c: the virtual device with every operation run later, in an order that a GPU could choose.
 *
 * Queues are lists of operations. An operation runs when something that is waited for needs it;
 * with a seed, some also run by themselves after a random number of later operations. One lock
 * for all queues of a group: this device finds missing events and drains, not data races (the
 * plain device under ThreadSanitizer does). */
#include "backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct lag_op {
    struct lag_op *next;
    dp_kernel_fn *function; /* NULL: wait for the event */
    struct dp_event event;
    uint64_t due; /* clock tick from which it may run by itself */
    unsigned char args[];
};

struct dp_lag_queue {
    struct lag_op *head, **tail;
    uint64_t issued, done; /* operations; position p is reached when done >= p */
    struct dp_lag_queue *next;
    struct dp_lag_clock *clock;
};

struct dp_lag_clock {
    pthread_mutex_t lock;
    struct dp_lag_queue *queues;
    uint64_t seed, random, now;
    int users;
};

static uint64_t next_random(struct dp_lag_clock *clock)
{
    uint64_t z = clock->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Events are recorded before they are waited for, so the recursion ends. */
static void run_until(struct dp_lag_queue *queue, uint64_t position)
{
    while (queue->done < position) {
        struct lag_op *op = queue->head;
        queue->head = op->next;
        if (!queue->head)
            queue->tail = &queue->head;
        if (op->function)
            op->function(op->args);
        else
            run_until(op->event.queue->lag, op->event.position);
        ++queue->done;
        free(op);
    }
}

static void run_due(struct dp_lag_clock *clock)
{
    for (struct dp_lag_queue *q = clock->queues; q; q = q->next) {
        while (q->head && q->head->due <= clock->now)
            run_until(q, q->done + 1);
    }
}

static int issue(struct dp_queue *queue, dp_kernel_fn *function, const struct dp_event *event,
                 const void *args, size_t bytes, struct dp_error *err)
{
    struct dp_lag_queue *q = queue->lag;
    struct lag_op *op = malloc(sizeof *op + bytes);
    if (!op)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for a late operation",
                       queue->slot->info.name);
    op->next = NULL;
    op->function = function;
    op->event = event ? *event : (struct dp_event){NULL, 0};
    if (bytes > 0)
        memcpy(op->args, args, bytes);
    pthread_mutex_lock(&q->clock->lock);
    const uint64_t r = q->clock->seed == 0 ? 0 : next_random(q->clock);
    const bool lazy = (r & 1) == 0;
    op->due = lazy ? UINT64_MAX : q->clock->now + (r >> 1) % 64;
    *q->tail = op;
    q->tail = &op->next;
    ++q->issued;
    ++q->clock->now;
    run_due(q->clock);
    pthread_mutex_unlock(&q->clock->lock);
    return 0;
}

static struct dp_lag_queue *queue_open(struct dp_lag_clock *clock)
{
    struct dp_lag_queue *queue = calloc(1, sizeof *queue);
    if (queue) {
        queue->tail = &queue->head;
        queue->clock = clock;
        queue->next = clock->queues;
        clock->queues = queue;
    }
    return queue;
}

static int lag_open(struct dp_slot *slot, uint64_t seed, struct dp_error *err)
{
    struct dp_lag_clock *clock = slot->group->lag;
    if (!clock) {
        clock = slot->group->lag = calloc(1, sizeof *clock);
        if (!clock)
            return dp_fail(err, DP_ENOMEM, "%s: no memory for its queues", slot->info.name);
        clock->seed = clock->random = seed;
        pthread_mutex_init(&clock->lock, NULL);
    }
    ++clock->users;
    slot->compute.lag = queue_open(clock);
    slot->comm.lag = queue_open(clock);
    if (!slot->compute.lag || !slot->comm.lag)
        return dp_fail(err, DP_ENOMEM, "%s: no memory for its queues", slot->info.name);
    return 0;
}

/* What nobody waited for is lost, as it would be on a device. */
static void discard(struct dp_lag_queue *queue)
{
    while (queue->head) {
        struct lag_op *op = queue->head;
        queue->head = op->next;
        free(op);
    }
}

static void lag_close(struct dp_slot *slot)
{
    struct dp_lag_clock *clock = slot->group->lag;
    if (!clock || --clock->users > 0)
        return;
    while (clock->queues) {
        struct dp_lag_queue *queue = clock->queues;
        clock->queues = queue->next;
        discard(queue);
        free(queue);
    }
    pthread_mutex_destroy(&clock->lock);
    free(clock);
    slot->group->lag = NULL;
}

/* All ones is a NaN in every float type: memory that is read before it is written, or after it was
 * freed, shows. Its size is kept in front of it. */
#define HEADER_BYTES 64
#define POISON       0xff

static int lag_alloc(struct dp_slot *slot, size_t bytes, void **memory, struct dp_error *err)
{
    void *block = NULL;
    const bool fits = bytes <= SIZE_MAX - HEADER_BYTES;
    const int status = dp_device_cpu.alloc(slot, fits ? bytes + HEADER_BYTES : bytes, &block, err);
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
    dp_device_cpu.release(slot, block);
}

static int lag_launch(struct dp_queue *queue, enum dp_kernel kernel, const void *args, size_t bytes,
                      struct dp_error *err)
{
    return issue(queue, queue->slot->kernels[kernel], NULL, args, bytes, err);
}

static int lag_call(struct dp_queue *queue, const struct dp_host_call *call, struct dp_error *err)
{
    return issue(queue, call->function, NULL, call->args, call->bytes, err);
}

static void lag_record(struct dp_queue *queue, struct dp_event *event)
{
    pthread_mutex_lock(&queue->lag->clock->lock);
    event->queue = queue;
    event->position = queue->lag->issued;
    pthread_mutex_unlock(&queue->lag->clock->lock);
}

/* Up to position, or all that was issued so far when that is less. No queue: it failed to open. */
static void catch_up(struct dp_lag_queue *queue, uint64_t position)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->clock->lock);
    run_until(queue, position < queue->issued ? position : queue->issued);
    pthread_mutex_unlock(&queue->clock->lock);
}

static int lag_finish(const struct dp_event *event, struct dp_error *err)
{
    (void)err;
    catch_up(event->queue->lag, event->position);
    return 0;
}

static int lag_wait(struct dp_queue *queue, const struct dp_event *event, struct dp_error *err)
{
    if (event->queue->lag)
        return issue(queue, NULL, event, NULL, 0, err);
    return event->queue->slot->ops->finish(event, err);
}

static int lag_sync(struct dp_queue *queue, struct dp_error *err)
{
    (void)err;
    catch_up(queue->lag, UINT64_MAX);
    return 0;
}

uint64_t dp_lag_pending(const struct dp_group *group)
{
    uint64_t pending = 0;
    if (!group->lag)
        return 0;
    pthread_mutex_lock(&group->lag->lock);
    for (const struct dp_lag_queue *q = group->lag->queues; q; q = q->next)
        pending += q->issued - q->done;
    pthread_mutex_unlock(&group->lag->lock);
    return pending;
}

const struct dp_device_ops dp_device_lag = {
    .open = lag_open,
    .close = lag_close,
    .alloc = lag_alloc,
    .release = lag_release,
    .launch = lag_launch,
    .call = lag_call,
    .record = lag_record,
    .wait = lag_wait,
    .finish = lag_finish,
    .sync = lag_sync,
};
