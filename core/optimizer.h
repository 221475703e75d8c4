/* optimizer.h: the inside of optimizers and clipping, which work alike on the base module and on a
 * rank. Internal to core/. */
#ifndef DP_OPTIMIZER_H
#define DP_OPTIMIZER_H

#include "module.h"

/* It has a gradient that counts. */
bool dp_param_is_due(const struct dp_param *param);
void dp_params_change(const struct dp_param_list *params);

/* A parameter to be stepped or clipped. value and grad are its owner's, who may move them. */
struct dp_target {
    const struct dp_tensor *value, *grad;
    bool due; /* takes part this time */
};

/* The base's parameters. *target, one each, is freed by the caller. */
int dp_targets_open(const struct dp_param_list *params, struct dp_target **target,
                    struct dp_error *err);
void dp_targets_choose(const struct dp_param_list *params, struct dp_target target[]);

/* ---- AdamW ------------------------------------------------------------------------------- */

#define DP_ADAMW_RATES 3 /* see struct dp_adamw_args */

/* The count of all parameters on one slot that had the same steps, and the numbers that follow from
 * it, which the device reads: there is one, unless some parameters had no gradient at times. */
struct dp_adamw_clock {
    uint64_t steps;
    struct dp_tensor rates;
    float written[DP_ADAMW_RATES]; /* what rates holds; NaN: nothing */
    int members, due;              /* due: this time */
    int rest; /* this time: the new clock of those that are not; -1: none yet */
};

/* What is kept of n targets. */
struct dp_adamw_state {
    int n, n_clocks;
    struct dp_adamw_clock *clock; /* room for n: each has a member */
    int *clock_of;                /* -1: it had no step */
    struct dp_tensor *moments;    /* [2, elements]: m and s; slot NULL: it had no step */
    bool *empty;                  /* nothing was ever written there: both stand for zeros */
};

int dp_adamw_check(const struct dp_adamw_config *config, struct dp_error *err);
int dp_adamw_state_open(struct dp_adamw_state *state, int n, struct dp_error *err);
void dp_adamw_state_close(struct dp_adamw_state *state);
/* In this order: everything that can be refused, by the thread that may allocate; the numbers of
 * this step, which are no part of what each step launches; the updates; and once they are issued,
 * their count. */
int dp_adamw_prepare(struct dp_adamw_state *state, const struct dp_target target[],
                     struct dp_error *err);
int dp_adamw_write(struct dp_adamw_state *state, const struct dp_adamw_config *config,
                   struct dp_error *err);
int dp_adamw_launch(const struct dp_adamw_state *state, const struct dp_target target[],
                    const struct dp_adamw_config *config, struct dp_error *err);
void dp_adamw_count(struct dp_adamw_state *state);
/* All steps: queues zeros where moments are. */
int dp_adamw_forget(struct dp_adamw_state *state, struct dp_error *err);

/* ---- clipping ---------------------------------------------------------------------------- */

int dp_clip_check(double max_norm, struct dp_error *err);
/* Room on the slot of those that are due, *room NULL or from before; stays NULL if none is. */
int dp_clip_prepare(struct dp_block **room, const struct dp_target target[], int n,
                    struct dp_error *err);
/* The sums, the factor, the products. */
int dp_clip_launch(const struct dp_block *room, const struct dp_target target[], int n,
                   double max_norm, struct dp_error *err);
/* Waits. room NULL: 0. */
int dp_clip_read(const struct dp_block *room, double *norm, struct dp_error *err);

#endif
