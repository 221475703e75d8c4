/* clock.h: records the calls and the operations in streams since the clock was started, and
 * computes how long a machine with given rates would take. Call it between fake_enter and
 * fake_leave, as fake.h says. */
#ifndef LOCKSTEP_FAKE_CLOCK_H
#define LOCKSTEP_FAKE_CLOCK_H

#include "fake.h"

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

/* clock_run.c: when all of it is over, in ns from the start on. */
double fake_clock_run(struct clock_log *log);

#endif
