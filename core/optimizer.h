/* optimizer.h: internals of optimizers and clipping, which are the same for the base module and for
 * a rank. Internal to core/. */
#ifndef DP_OPTIMIZER_H
#define DP_OPTIMIZER_H

#include "module.h"

/* True if it has a gradient, and is trained. */
bool dp_param_is_due(const struct dp_param *param);
void dp_params_change(const struct dp_param_list *params);

/* A parameter to step or clip. Its owner has value and grad, and may move them. */
struct dp_target {
    const struct dp_tensor *value, *grad;
    bool due; /* it takes part in this step */
};

/* Makes one target for each parameter of the base. The caller frees *target. */
int dp_targets_open(const struct dp_param_list *params, struct dp_target **target,
                    struct dp_error *err);
void dp_targets_choose(const struct dp_param_list *params, struct dp_target target[]);

/* ---- AdamW ------------------------------------------------------------------------------- */

#define DP_ADAMW_RATES 3 /* see struct dp_adamw_args */

/* The step count that all parameters with the same steps on one slot share, and the numbers that
 * follow from it, which the device reads. There is one clock, unless some steps had parameters
 * without a gradient. */
struct dp_adamw_clock {
    uint64_t steps;
    struct dp_tensor rates;
    float written[DP_ADAMW_RATES]; /* the contents of rates; NaN: none */
    int members, due;              /* due: in this step */
    int rest; /* in this step: the new clock of members that are not due; -1: none yet */
};

/* The state of n targets. */
struct dp_adamw_state {
    int n, n_clocks;
    struct dp_adamw_clock *clock; /* capacity n: each clock has a member */
    int *clock_of;                /* -1: the parameter had no step */
    struct dp_tensor *moments;    /* [2, elements]: m and s; slot NULL: the parameter had no step */
    bool *empty;                  /* never written: both count as zeros */
};

int dp_adamw_check(const struct dp_adamw_config *config, struct dp_error *err);
int dp_adamw_state_open(struct dp_adamw_state *state, int n, struct dp_error *err);
void dp_adamw_state_close(struct dp_adamw_state *state);
/* One step calls these in order. prepare does everything that can fail, on the thread that may
 * allocate. write stores the numbers of this step, which are no part of its launches. launch makes
 * the updates. count counts the step, once it is issued. */
int dp_adamw_prepare(struct dp_adamw_state *state, const struct dp_target target[],
                     struct dp_error *err);
int dp_adamw_write(struct dp_adamw_state *state, const struct dp_adamw_config *config,
                   struct dp_error *err);
int dp_adamw_launch(const struct dp_adamw_state *state, const struct dp_target target[],
                    const struct dp_adamw_config *config, struct dp_error *err);
void dp_adamw_count(struct dp_adamw_state *state);
/* Forgets all steps: queues zeros for all moments. */
int dp_adamw_forget(struct dp_adamw_state *state, struct dp_error *err);

/* ---- clipping ---------------------------------------------------------------------------- */

int dp_clip_check(double max_norm, struct dp_error *err);
/* Allocates memory on the slot of the due targets. *workspace is NULL, or from before; it stays
 * NULL if no target is due. */
int dp_clip_prepare(struct dp_block **workspace, const struct dp_target target[], int n,
                    struct dp_error *err);
/* Launches the sums, the factor and the products. */
int dp_clip_launch(const struct dp_block *workspace, const struct dp_target target[], int n,
                   double max_norm, struct dp_error *err);
/* Reads the norm, and waits for it; 0 if workspace is NULL. */
int dp_clip_read(const struct dp_block *workspace, double *norm, struct dp_error *err);

#endif
