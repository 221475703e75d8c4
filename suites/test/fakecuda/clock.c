/* clock.c: records the calls and the operations in streams between the start and the end of a
 * clock, a row for each, and computes how long a machine with given rates would take.
 *
 * A thread makes its calls one after the other. An operation begins when its call and the
 * operations before it in its stream are over. It takes the time of a launch, and then has a share
 * of every port that it needs: operations on the same port take turns in small pieces, so they all
 * go on at the same rate. The slowest port decides the time of the operation. */
#include "fake.h"

#include <math.h>
#include <stdlib.h>

/* The ports that operations share when they run at the same time. Each device has ports for bytes
 * that come from other devices, that go to them, that come from or go to the host, and that its
 * kernels and copies touch in its memory; and one for arithmetic. */
enum clock_port { CLOCK_IN, CLOCK_OUT, CLOCK_HOST, CLOCK_MEMORY, CLOCK_ARITHMETIC, CLOCK_PORTS };

enum clock_kind {
    CLOCK_CALL, /* of a thread; nothing else about it */
    CLOCK_WORK,
    CLOCK_WAIT, /* of a stream */
    CLOCK_MARK,
    CLOCK_SYNC, /* of a thread */
};

struct clock_row {
    enum clock_kind kind;
    int thread, stream; /* stream: of an operation */
    int until;          /* row that a wait or a sync waits for; -1: it was over before */
    int next_of_thread, next_of_stream, before; /* rows; -1: none. before: in the same stream */
    bool given;                                 /* to its stream, at_ns */
    bool over;                                  /* at end_ns */
    double at_ns, end_ns;
    double need_ns[FAKECUDA_DEVICES][CLOCK_PORTS]; /* of each port, if it had it for itself */
};

struct clock_log {
    struct fakecuda_rates rates;
    struct clock_row *row;
    int rows, room;
    int threads, first_of_thread[FAKE_STREAMS], last_of_thread[FAKE_STREAMS];
    int first_of_stream[FAKE_STREAMS], last_of_stream[FAKE_STREAMS];
    uint64_t base[FAKE_STREAMS]; /* position of a stream before its first row */
};

/* ---- how long a machine takes ---------------------------------------------------------------- */

/* The place of a thread or a stream in its rows. */
struct place {
    int row; /* the next one; -1: at its end */
    double free_ns;
};

/* The operation at the head of a stream. */
struct running {
    bool known;
    double begin_ns, left; /* left: the part that is not done yet, from 1 to 0 */
};

struct machine {
    struct clock_log *log;
    struct place thread[FAKE_STREAMS], stream[FAKE_STREAMS];
    struct running running[FAKE_STREAMS];
    double now_ns;
};

/* Gives a row to its stream. An event stands for everything that was put into its stream before it,
 * by any thread: so a row is given only after the row before it and the row that it waits for, and
 * no earlier than they were. Returns false if one of these was not given yet. */
static bool give(struct machine *m, struct clock_row *row, struct place *thread)
{
    const struct clock_row *all = m->log->row;
    const int known[] = {row->before, row->until};
    for (int i = 0; i < 2; ++i) {
        if (known[i] >= 0 && !all[known[i]].given)
            return false;
        if (known[i] >= 0 && all[known[i]].at_ns > thread->free_ns)
            thread->free_ns = all[known[i]].at_ns;
    }
    row->given = true;
    row->at_ns = thread->free_ns;
    return true;
}

static bool advance_thread(struct machine *m, struct place *thread)
{
    bool moved = false;
    while (thread->row >= 0) {
        struct clock_row *row = &m->log->row[thread->row];
        if (row->kind == CLOCK_CALL) {
            thread->free_ns += (double)m->log->rates.call_ns;
        } else if (row->kind == CLOCK_SYNC) {
            const struct clock_row *until = row->until < 0 ? NULL : &m->log->row[row->until];
            if (until && !until->over)
                break;
            if (until)
                thread->free_ns = fmax(thread->free_ns, until->end_ns);
        } else if (!give(m, row, thread)) {
            break;
        }
        thread->row = row->next_of_thread;
        moved = true;
    }
    return moved;
}

static void end_row(struct machine *m, struct place *stream, double end_ns)
{
    struct clock_row *row = &m->log->row[stream->row];
    row->over = true;
    row->end_ns = stream->free_ns = end_ns;
    stream->row = row->next_of_stream;
}

/* Skips rows that take no time, up to the next operation. */
static bool advance_stream(struct machine *m, int s)
{
    struct place *stream = &m->stream[s];
    bool moved = false;
    while (stream->row >= 0) {
        const struct clock_row *row = &m->log->row[stream->row];
        double at = fmax(stream->free_ns, row->at_ns);
        if (!row->given || m->running[s].known)
            break;
        if (row->kind == CLOCK_WORK) {
            m->running[s] = (struct running){true, at + (double)m->log->rates.launch_ns, 1.0};
            return true;
        }
        const struct clock_row *until = row->until < 0 ? NULL : &m->log->row[row->until];
        if (until && !until->over)
            break;
        end_row(m, stream, until ? fmax(at, until->end_ns) : at);
        moved = true;
    }
    return moved;
}

static bool runs(const struct machine *m, int s)
{
    return m->running[s].known && m->running[s].begin_ns <= m->now_ns;
}

/* The number of operations that use each port now. */
struct users {
    int of[FAKECUDA_DEVICES][CLOCK_PORTS];
};

/* Returns the ns that the operation at the head of a stream would take from beginning to end, with
 * the current users of its ports. */
static double whole_ns(const struct machine *m, int s, const struct users *users)
{
    const struct clock_row *row = &m->log->row[m->stream[s].row];
    double most = 0;
    for (int d = 0; d < FAKECUDA_DEVICES; ++d)
        for (int p = 0; p < CLOCK_PORTS; ++p)
            most = fmax(most, row->need_ns[d][p] * users->of[d][p]);
    return most;
}

/* Lets time pass to the next beginning or end of an operation. Returns false if there is none. */
static bool pass_time(struct machine *m)
{
    struct users users = {{{0}}};
    for (int s = 0; s < FAKE_STREAMS; ++s) {
        if (!runs(m, s))
            continue;
        const struct clock_row *row = &m->log->row[m->stream[s].row];
        for (int d = 0; d < FAKECUDA_DEVICES; ++d)
            for (int p = 0; p < CLOCK_PORTS; ++p)
                users.of[d][p] += row->need_ns[d][p] > 0;
    }
    double whole[FAKE_STREAMS], next = INFINITY;
    int ends = -1;
    for (int s = 0; s < FAKE_STREAMS; ++s) {
        if (!m->running[s].known)
            continue;
        whole[s] = runs(m, s) ? whole_ns(m, s, &users) : 0;
        const double at =
            runs(m, s) ? m->now_ns + m->running[s].left * whole[s] : m->running[s].begin_ns;
        if (at < next) {
            next = at;
            ends = runs(m, s) ? s : -1;
        }
    }
    if (isinf(next))
        return false;
    for (int s = 0; s < FAKE_STREAMS; ++s)
        if (runs(m, s) && whole[s] > 0)
            m->running[s].left -= (next - m->now_ns) / whole[s];
    m->now_ns = next;
    if (ends >= 0) {
        m->running[ends].known = false;
        end_row(m, &m->stream[ends], next);
    }
    return true;
}

/* Returns when all of it is over, in ns from the start on. */
static double fake_clock_run(struct clock_log *log)
{
    struct machine *m = fake_memory(sizeof *m);
    m->log = log;
    for (int i = 0; i < FAKE_STREAMS; ++i) {
        m->thread[i].row = log->first_of_thread[i];
        m->stream[i].row = log->first_of_stream[i];
    }
    do {
        for (bool moved = true; moved;) {
            moved = false;
            for (int i = 0; i < FAKE_STREAMS; ++i) {
                moved |= advance_thread(m, &m->thread[i]);
                moved |= advance_stream(m, i);
            }
        }
    } while (pass_time(m));
    double end = 0;
    for (int i = 0; i < FAKE_STREAMS; ++i) {
        if (m->thread[i].row >= 0 || m->stream[i].row >= 0)
            end = INFINITY; /* something waits for what never comes */
        end = fmax(end, fmax(m->thread[i].free_ns, m->stream[i].free_ns));
    }
    free(m);
    return end;
}

/* ---- what is recorded ------------------------------------------------------------------------ */

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
