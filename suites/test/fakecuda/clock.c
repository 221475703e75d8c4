/* clock.c: records between the start and the end of a clock, with a row for each call and each
 * operation. */
#include "clock.h"

#include <stdlib.h>

static struct clock_log *log_of(void)
{
    return fake.log;
}

static int add_row(struct clock_log *log, const struct clock_row *row)
{
    const int place = log->rows++;
    if (place == log->room) {
        log->room = 2 * log->room + 1024;
        log->row = realloc(log->row, (size_t)log->room * sizeof *log->row);
        if (!log->row)
            abort(); /* a test without memory */
    }
    log->row[place] = *row;
    if (fake_me.clock != fake.clocks) {
        fake_me.clock = fake.clocks;
        fake_me.number = log->threads < FAKE_STREAMS - 1 ? log->threads++ : FAKE_STREAMS - 1;
    }
    log->row[place].thread = fake_me.number;
    log->row[place].next_of_thread = log->row[place].next_of_stream = log->row[place].before = -1;
    int *last = &log->last_of_thread[log->row[place].thread];
    *(*last < 0 ? &log->first_of_thread[log->row[place].thread] : &log->row[*last].next_of_thread) =
        place;
    *last = place;
    return place;
}

void fake_clock_call(void)
{
    struct clock_log *log = log_of();
    if (log)
        add_row(log, &(struct clock_row){.kind = CLOCK_CALL});
}

/* Returns the last row that a point of a stream comes after; -1: there is none since the start. */
static int row_at(const struct clock_log *log, const struct fake_point *point)
{
    if (!point->stream || log->first_of_stream[point->stream->id] < 0 ||
        point->position <= log->base[point->stream->id])
        return -1;
    int row = log->first_of_stream[point->stream->id];
    for (uint64_t at = log->base[point->stream->id] + 1; at < point->position && row >= 0; ++at)
        row = log->row[row].next_of_stream;
    return row;
}

void fake_clock_sync(const struct fake_point *point)
{
    struct clock_log *log = log_of();
    if (log)
        add_row(log, &(struct clock_row){.kind = CLOCK_SYNC, .until = row_at(log, point)});
}

static void use_port(struct clock_row *row, int device, enum clock_port port, double bytes,
                     double rate)
{
    if (device >= 0)
        row->need_ns[device][port] += bytes / rate * 1e9;
}

/* The ports of both sides carry bytes of another device. */
static void add_access(struct clock_row *row, const struct fakecuda_rates *rates, int home,
                       const struct fake_access *access)
{
    const struct fake_block *block = fake_find(access->area.lo);
    const int place = block ? block->device : home;
    double bytes = (double)(access->area.width * access->area.height);
    if (access->use == FAKE_SCRATCH)
        return; /* workspace, of which the used part is not known */
    if (access->use == FAKE_BOTH)
        bytes *= 2;
    if (place == home) {
        use_port(row, home, CLOCK_MEMORY, bytes, rates->memory);
    } else if (place == FAKE_HOST) {
        use_port(row, home, CLOCK_HOST, bytes, rates->host);
    } else {
        const bool reads = (access->use & FAKE_WRITE) == 0;
        use_port(row, reads ? home : place, CLOCK_IN, bytes, rates->link);
        use_port(row, reads ? place : home, CLOCK_OUT, bytes, rates->link);
    }
}

void fake_clock_put(const struct CUstream_st *stream, const struct fake_op *op)
{
    static const enum clock_kind kind[] = {
        [FAKE_OP_WORK] = CLOCK_WORK, [FAKE_OP_WAIT] = CLOCK_WAIT, [FAKE_OP_MARK] = CLOCK_MARK};
    struct clock_log *log = log_of();
    if (!log)
        return;
    struct clock_row row = {.kind = kind[op->kind], .stream = stream->id, .until = -1};
    if (op->kind == FAKE_OP_WAIT)
        row.until = row_at(log, &op->until);
    for (int i = 0; op->work && i < op->work->accesses; ++i)
        add_access(&row, &log->rates, stream->device, &op->work->access[i]);
    if (op->work)
        use_port(&row, stream->device, CLOCK_ARITHMETIC, op->work->operations,
                 log->rates.arithmetic);
    int *last = &log->last_of_stream[stream->id];
    const int place = add_row(log, &row), before = *last;
    log->row[place].before = before;
    if (before < 0) {
        log->first_of_stream[stream->id] = place;
        log->base[stream->id] = stream->issued;
    } else {
        log->row[before].next_of_stream = place;
    }
    *last = place;
}

void fakecuda_clock_start(const struct fakecuda_rates *rates)
{
    fake_lock();
    struct clock_log *log = fake_memory(sizeof *log);
    fake_clock_close();
    log->rates = *rates;
    for (int i = 0; i < FAKE_STREAMS; ++i)
        log->first_of_thread[i] = log->last_of_thread[i] = log->first_of_stream[i] =
            log->last_of_stream[i] = -1;
    fake.log = log;
    ++fake.clocks;
    fake_unlock();
}

struct fakecuda_time fakecuda_clock_stop(void)
{
    struct fakecuda_time time = {0};
    fake_lock();
    struct clock_log *log = log_of();
    for (int i = 0; log && i < log->rows; ++i) {
        time.calls += log->row[i].kind == CLOCK_CALL;
        time.operations += log->row[i].kind == CLOCK_WORK;
        time.syncs += log->row[i].kind == CLOCK_SYNC;
    }
    if (log)
        time.ns = fake_clock_run(log);
    fake_clock_close();
    fake_unlock();
    return time;
}

void fake_clock_close(void)
{
    struct clock_log *log = log_of();
    if (log)
        free(log->row);
    free(log);
    fake.log = NULL;
}
