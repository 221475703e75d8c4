/* queue.c: streams, and when their operations run. Nothing runs by itself. A call that waits runs
 * the operations that it needs, and no more (lazy); or every call runs all it can (eager), or a few
 * operations anywhere (random). */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static bool reusable(const struct CUstream_st *stream)
{
    return !stream->live && stream->done == stream->issued &&
           fake.host.at[stream->id] >= fake.ticks[stream->id];
}

struct CUstream_st *fake_stream_new(int device)
{
    int id = 0;
    while (id < FAKE_STREAMS && fake.by_id[id] && !reusable(fake.by_id[id]))
        ++id;
    if (id == FAKE_STREAMS) {
        fake_violation("more than %d streams", FAKE_STREAMS);
        return NULL;
    }
    struct CUstream_st *stream = fake.all_streams < FAKE_STALE ? NULL : fake.by_id[id];
    if (!stream) {
        stream = fake_memory(sizeof *stream);
        stream->id = id;
        stream->tail = &stream->head;
        stream->next = fake.streams;
        fake.streams = fake.by_id[id] = stream;
        ++fake.all_streams;
    }
    /* A stream that is used again keeps its positions and its clock. */
    stream->live = true;
    stream->internal = false;
    stream->late_ns = 0;
    stream->device = device;
    return stream;
}

void fake_stream_drop(struct CUstream_st *stream)
{
    stream->live = false;
}

bool fake_stream_is(struct CUstream_st *stream, const char *call)
{
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        fake_violation("%s: the default stream is used, a stream of one's own was meant", call);
        return false;
    }
    if (!stream->live)
        fake_violation("%s: stream %d was destroyed", call, stream->id);
    return stream->live;
}

static bool passed(const struct fake_point *point)
{
    return !point->stream || point->stream->done >= point->position;
}

void fake_complete(struct CUstream_st *stream)
{
    struct fake_op *op = stream->head;
    stream->head = op->next;
    if (!stream->head)
        stream->tail = &stream->head;
    ++stream->done;
    if (op->stamp) {
        op->stamp->passed = true;
        op->stamp->ns = fake_now_ns() + stream->late_ns;
        fake_stamp_drop(op->stamp);
    }
    if (op->clock)
        --fake.host_functions;
    fake_work_drop(op->work);
    free(op->clock);
    free(op);
}

/* Returns false if it cannot run now. */
static bool run_head(struct CUstream_st *stream)
{
    struct fake_op *op = stream->head;
    if (op->kind == FAKE_OP_WAIT && !passed(&op->until))
        return false;
    if (op->kind == FAKE_OP_WORK && op->work->on_host) {
        if (!op->posted) {
            op->posted = true;
            fake_wake();
        }
        return false;
    }
    if (op->kind == FAKE_OP_WORK && op->work->meet && op->work->meet(op->work->args) != stream)
        return false;
    if (op->kind == FAKE_OP_WORK)
        fake_work_do(op->work, stream);
    /* An operation that waited for a slow stream is as late as that stream. The lateness is the
     * current one, which may be more than at the point waited for; it is the same if everything
     * runs as late as it can. */
    const struct CUstream_st *other = op->kind == FAKE_OP_WAIT ? op->until.stream : NULL;
    if (other && other->late_ns > stream->late_ns)
        stream->late_ns = other->late_ns;
    if (op->work && strcmp(op->work->name, fake.slow) == 0)
        stream->late_ns += fake.slow_ns;
    fake_complete(stream);
    return true;
}

/* Runs other streams until all have come to the operation. Returns false if one of them never will.
 */
static bool bring_others(struct CUstream_st *stream)
{
    const struct fake_work *work = stream->head->work;
    struct CUstream_st *first = work->meet(work->args);
    for (; first != stream; first = work->meet(work->args)) {
        if (!first || fake.bringing > FAKE_STREAMS)
            return false;
        ++fake.bringing;
        const bool came = fake_advance(first, first->done + 1);
        --fake.bringing;
        if (!came)
            return false;
    }
    return true;
}

/* Events are recorded before they are waited for, so the recursion ends. For streams that meet in
 * different orders it is cut short. */
bool fake_advance(struct CUstream_st *stream, uint64_t position)
{
    while (stream->done < position) {
        const struct fake_op *op = stream->head;
        if (op->kind == FAKE_OP_WAIT && !fake_advance(op->until.stream, op->until.position))
            return false;
        if (op->kind == FAKE_OP_WORK && op->work->meet && !bring_others(stream))
            return false;
        if (!run_head(stream))
            return false;
    }
    return true;
}

static struct CUstream_st *holding_up(struct CUstream_st *stream)
{
    for (int i = 0; i < 2 * FAKE_STREAMS && stream->head; ++i) {
        const struct fake_op *head = stream->head;
        struct CUstream_st *next = NULL;
        if (head->kind == FAKE_OP_WAIT && !passed(&head->until))
            next = head->until.stream;
        else if (head->kind == FAKE_OP_WORK && head->work->meet)
            next = head->work->meet(head->work->args);
        if (!next || next == stream)
            break;
        stream = next;
    }
    return stream;
}

/* Runs the operations that the point needs. Returns false if there is a deadlock, which is
 * reported. */
static bool wait_for(const struct fake_point *point, const char *call)
{
    const uint64_t begin = fake_now_ns();
    fake_clock_sync(point);
    while (!passed(point) && !fake_advance(point->stream, point->position)) {
        fake_sleep(20);
        if (fake_now_ns() - begin < fake.config.patience_ms * 1000000ull)
            continue;
        const struct CUstream_st *stream = holding_up(point->stream);
        fake_violation("deadlock: %s waits for stream %d, which waits for %s (device %d, stream "
                       "%d), which does not end",
                       call, point->stream->id,
                       stream->head && stream->head->work ? stream->head->work->name : "an event",
                       stream->device, stream->id);
        return false;
    }
    return true;
}

cudaError_t fake_host_waits(struct fake_token token, const char *call)
{
    if (!wait_for(&token.point, call))
        return cudaErrorLaunchTimeout;
    fake_host_learns(&token.clock);
    return cudaSuccess;
}

cudaError_t fake_host_asks(struct fake_token token)
{
    if (!passed(&token.point) && (fake.config.mode == FAKECUDA_EAGER || fake_random(2) != 0))
        run_head(holding_up(token.point.stream));
    if (!passed(&token.point))
        return cudaErrorNotReady;
    fake_host_learns(&token.clock);
    return cudaSuccess;
}

bool fake_wait_device(int device, const char *call)
{
    bool well = true;
    for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
        if (stream->device == device && fake_host_waits(fake_token_of(stream), call))
            well = false;
    return well;
}

void fake_some(void)
{
    for (uint64_t n = fake_random(4); n > 0; --n) {
        struct CUstream_st *stream = fake.by_id[fake_random(FAKE_STREAMS)];
        for (int tries = 0; tries < 20 && !stream; ++tries)
            stream = fake.by_id[fake_random(16)];
        if (stream && stream->head)
            run_head(stream);
    }
}

static void queue_put(struct CUstream_st *stream, struct fake_op *op)
{
    op->issued_ns = fake_now_ns();
    fake_clock_put(stream, op);
    *stream->tail = op;
    stream->tail = &op->next;
    ++stream->issued;
    if (fake.config.mode == FAKECUDA_EAGER)
        fake_advance(stream, stream->issued);
}

static struct fake_op *op_new(enum fake_op_kind kind)
{
    struct fake_op *op = fake_memory(sizeof *op);
    op->kind = kind;
    return op;
}

void fake_put_work(struct CUstream_st *stream, struct fake_work *work)
{
    struct fake_op *op = op_new(FAKE_OP_WORK);
    op->work = work;
    if (work->on_host) {
        op->clock = fake_memory(sizeof *op->clock);
        *op->clock = stream->clock;
        ++fake.host_functions;
        fake_helper_start();
    }
    queue_put(stream, op);
}

void fake_put_wait(struct CUstream_st *stream, const struct fake_token *token)
{
    struct fake_op *op = op_new(FAKE_OP_WAIT);
    op->until = token->point;
    fake_clock_join(&stream->clock, &token->clock);
    queue_put(stream, op);
}

void fake_put_mark(struct CUstream_st *stream, struct fake_token *token, struct fake_stamp *stamp)
{
    struct fake_op *op = op_new(FAKE_OP_MARK);
    op->stamp = stamp;
    *token = fake_token_of(stream);
    ++token->point.position;
    queue_put(stream, op);
}

struct fake_token fake_token_of(const struct CUstream_st *stream)
{
    return (struct fake_token){{(struct CUstream_st *)(uintptr_t)stream, stream->issued},
                               stream->clock};
}

long fakecuda_pending(void)
{
    long pending = 0;
    fake_lock();
    for (const struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
        for (const struct fake_op *op = stream->head; op; op = op->next)
            pending += op->work != NULL;
    fake_unlock();
    return pending;
}

void fake_queue_leaks(void)
{
    long live = 0, left = 0;
    const struct fake_op *first = NULL;
    for (const struct CUstream_st *stream = fake.streams; stream; stream = stream->next) {
        live += stream->live && !stream->internal;
        for (const struct fake_op *op = stream->head; op; op = op->next) {
            left += op->work != NULL;
            first = op->work && !first ? op : first;
        }
    }
    if (live)
        fake_violation("leak: %ld streams", live);
    if (first)
        fake_violation("%ld operations were never waited for; one of them: %s (device %d)", left,
                       first->work->name, first->work->device);
}

void fake_queue_close(void)
{
    while (fake.streams) {
        struct CUstream_st *stream = fake.streams;
        fake.streams = stream->next;
        while (stream->head)
            fake_complete(stream);
        free(stream);
    }
}
