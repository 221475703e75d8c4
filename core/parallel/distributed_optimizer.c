/* distributed_optimizer.c: AdamW and clipping, by each rank on its parameters. */
#include "distributed.h"

static void choose_targets(const struct dp_ddp *d, int r)
{
    const struct ddp_rank *rank = &d->rank[r];
    const struct dp_state *state = &d->replicas->replica[r].state;
    for (int t = 0; t < d->n_train; ++t)
        rank->target[t].due = rank->active && state->has_grad[d->train[t].place];
}

/* ---- AdamW ------------------------------------------------------------------------------- */

struct adamw_step {
    const struct dp_ddp *ddp;
    const struct dp_adamw_config *config;
};

static int prepare_rank(struct dp_ddp *d, int r, struct dp_error *err)
{
    struct ddp_rank *rank = &d->rank[r];
    int status = rank->adamw.n == 0 ? dp_adamw_state_open(&rank->adamw, d->n_train, err) : 0;
    if (status) {
        dp_adamw_state_close(&rank->adamw);
        return status;
    }
    choose_targets(d, r);
    return dp_adamw_prepare(&rank->adamw, rank->target, err);
}

static int adamw_rank(int r, void *arg, struct dp_error *err)
{
    const struct adamw_step *s = arg;
    struct ddp_rank *rank = &s->ddp->rank[r];
    struct dp_slot *slot = ddp_slot(s->ddp, r);
    int status = dp_adamw_write(&rank->adamw, s->config, err);
    dp_slots_hold(&slot, 1);
    if (status == 0)
        status = dp_adamw_launch(&rank->adamw, rank->target, s->config, err);
    const int issued = dp_slots_issue(&slot, 1, err);
    status = status ? status : issued;
    if (status == 0)
        dp_adamw_count(&rank->adamw);
    return status;
}

int dp_ddp_adamw_step(struct dp_ddp *ddp, const struct dp_adamw_config *config,
                      struct dp_error *err)
{
    struct adamw_step step = {ddp, config};
    int status = dp_adamw_check(config, err);
    dp_params_change(&ddp->replicas->params);
    for (int r = 0; status == 0 && r < ddp->n; ++r)
        status = prepare_rank(ddp, r, err);
    return status ? status : ddp_tasks(ddp, DP_PHASE_UPDATE, adamw_rank, &step, err);
}

static int forget_rank(int r, void *arg, struct dp_error *err)
{
    const struct dp_ddp *ddp = arg;
    return dp_adamw_forget(&ddp->rank[r].adamw, err);
}

int dp_ddp_adamw_restart(struct dp_ddp *ddp, struct dp_error *err)
{
    return ddp_tasks(ddp, DP_PHASE_UPDATE, forget_rank, ddp, err);
}

/* ---- clipping ---------------------------------------------------------------------------- */

struct clip_step {
    const struct dp_ddp *ddp;
    double max_norm;
};

static int clip_rank(int r, void *arg, struct dp_error *err)
{
    const struct clip_step *s = arg;
    const struct ddp_rank *rank = &s->ddp->rank[r];
    struct dp_slot *slot = ddp_slot(s->ddp, r);
    if (!rank->active)
        return 0;
    dp_slots_hold(&slot, 1);
    const int status = dp_clip_launch(rank->clip, rank->target, s->ddp->n_train, s->max_norm, err);
    const int issued = dp_slots_issue(&slot, 1, err);
    return status ? status : issued;
}

int dp_ddp_clip_grads(struct dp_ddp *ddp, double max_norm, double *norm, struct dp_error *err)
{
    struct clip_step step = {ddp, max_norm};
    int status = dp_clip_check(max_norm, err);
    for (int r = 0; status == 0 && r < ddp->n; ++r) {
        choose_targets(ddp, r);
        status = dp_clip_prepare(&ddp->rank[r].clip, ddp->rank[r].target, ddp->n_train, err);
    }
    if (status == 0)
        status = ddp_tasks(ddp, DP_PHASE_UPDATE, clip_rank, &step, err);
    return status || !norm ? status : dp_ddp_clip_norm(ddp, norm, err);
}

int dp_ddp_clip_norm(const struct dp_ddp *ddp, double *norm, struct dp_error *err)
{
    int lowest = 0;
    while (lowest < ddp->n && !ddp->rank[lowest].active)
        ++lowest;
    return dp_clip_read(lowest < ddp->n ? ddp->rank[lowest].clip : NULL, norm, err);
}
