/* measure/measurable.h: what can be measured, a row each; session.h runs them.
 *
 * A row knows how its step is made, what it leaves and which phases it has; that a step is timed,
 * repeated and verified is the same for all. */
#ifndef HARNESS_MEASURABLE_H
#define HARNESS_MEASURABLE_H

#include "plan/cell.h"
#include "verify/verify.h"

struct session;

/* Statuses are 0 or those of err, unless said otherwise. k is the number of a set. */
struct measurable {
    unsigned phases; /* 1 << enum record_phase for each that a step has */
    bool apart;      /* ranks: its reduction can be run apart, session_overlap measures that */
    unsigned free;   /* DP_COMM_: with it a communicator may add here in another order each time */
    bool wide_blas;  /* the BLAS has the cores of all devices: their workers stay asleep */
    /* Makes session->top, what is trained, on the session's group. */
    int (*open)(struct session *session, const struct cell_config *config, struct dp_error *err);
    /* Puts the batch of a set where its step takes it from, and takes it away again. */
    int (*load)(struct session *session, const struct workload_set *set, struct dp_error *err);
    void (*unload)(struct session *session, int k);
    /* Drops what the last step left, but for its parameters. NULL: nothing. */
    void (*clear)(struct session *session);
    /* Puts parameter set k in place. */
    int (*prepare)(struct session *session, int k, struct dp_error *err);
    /* Forward, loss, backward, update: queued, and on a device that works by itself not done yet.
     */
    int (*step)(struct session *session, int k, struct dp_error *err);
    /* Outputs, loss, gradients and updated parameters to host memory. */
    int (*read)(struct session *session, struct dp_error *err);
    /* Makes the reference of a set that of this row's step. 0, or -1 and why there is none. NULL:
     * it is that of the whole batch. */
    int (*verify)(struct verify *verify, const struct workload_set *set, struct text_error *why);
    /* Closes all that open made except top; also after an open that failed. NULL: nothing. */
    void (*close)(struct session *session);
};

extern const struct measurable measure_plain, measure_plain_mt, measure_dp, measure_ddp;

#endif
