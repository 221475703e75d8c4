/* clock_run.c: computes how long a machine with given rates takes for everything that the clock has
 * recorded.
 *
 * A thread makes its calls one after the other. An operation begins when its call and the
 * operations before it in its stream are over. It takes the time of a launch, and then has a share
 * of every port that it needs: operations on the same port take turns in small pieces, so they all
 * go on at the same rate. The slowest port decides the time of the operation. */
#include "clock.h"

#include <math.h>
#include <stdlib.h>

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

double fake_clock_run(struct clock_log *log)
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
