/* measure/measurable.h: the modes that can be measured, one table row for each; session.h runs
 * them.
 *
 * A row knows how its step is made, which results it has and which phases. Timing, repeating and
 * verifying a step is the same for all. */
#ifndef HARNESS_MEASURABLE_H
#define HARNESS_MEASURABLE_H

#include "plan/cell.h"
#include "verify/verify.h"

struct session;

/* Statuses are 0 or those of err, unless a comment says otherwise. k is the number of a set. */
struct measurable {
    unsigned phases; /* 1 << enum record_phase for each that a step has */
    bool ranks;      /* each device is a rank; the reduction can be run apart (session_overlap) */
    unsigned free;   /* DP_COMM_: flags of communicators that may add in another order each time */
    bool wide_blas;  /* the BLAS has the cores of all devices: their workers stay asleep */
    /* Opens session->top, the module that is trained, on the group of the session. */
    int (*open)(struct session *session, const struct cell_config *config, struct dp_error *err);
    /* load puts the batch of a set where its step takes it from; unload removes it. */
    int (*load)(struct session *session, const struct workload_set *set, struct dp_error *err);
    void (*unload)(struct session *session, int k);
    /* Drops the results of the last step, except its parameters. NULL: there is nothing to drop. */
    void (*clear)(struct session *session);
    /* Runs forward, loss, backward and update. They are queued; an asynchronous device may not have
     * finished them yet. */
    int (*step)(struct session *session, int k, struct dp_error *err);
    /* Reads outputs and loss to host memory. */
    int (*read)(struct session *session, struct dp_error *err);
    /* Turns the reference of a set into that of the step of this row. Returns 0, or -1 and why
     * there is none. NULL: the reference is that of the whole batch. */
    int (*verify)(struct verify *verify, const struct workload_set *set, struct text_error *why);
    /* Closes all that open made, except top; also after an open that failed. NULL: there is nothing
     * to close. */
    void (*close)(struct session *session);
};

extern const struct measurable measure_plain, measure_plain_mt, measure_dp, measure_ddp;

#endif
