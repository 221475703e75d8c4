/* measure/update.c: SGD, or clipping and AdamW, for a module or for ranks. */
#include "measure/update.h"

#include <math.h>

#include "verify/verify.h"

int update_open(struct update *update, const struct workload *workload, struct dp_module *top,
                struct dp_error *err)
{
    const struct workload_end *end = workload_end(workload);
    int status;

    *update =
        (struct update){.end = end,
                        .rate = end->adamw ? (float)end->config.lr : (float)VERIFY_LEARNING_RATE,
                        .max_norm = end->max_norm};
    if (!end->adamw)
        return dp_sgd_open(top, update->rate, 0, 0, &update->sgd, err);
    status = dp_clip_open(top, &update->clip, err);
    return status ? status : dp_adamw_open(top, &end->config, &update->adamw, err);
}

void update_close(struct update *update)
{
    dp_sgd_close(update->sgd);
    dp_adamw_close(update->adamw);
    dp_clip_close(update->clip);
    *update = (struct update){.end = NULL};
}

void update_set_rate(struct update *update, float rate)
{
    update->rate = rate;
    if (update->sgd)
        dp_sgd_set_rate(update->sgd, rate);
    if (update->adamw)
        dp_adamw_set_rate(update->adamw, (double)rate);
}

int update_restart(struct update *update, struct dp_ddp *ddp, struct dp_error *err)
{
    if (!update->end->adamw)
        return 0;
    return ddp ? dp_ddp_adamw_restart(ddp, err) : dp_adamw_restart(update->adamw, err);
}

int update_clip(struct update *update, struct dp_ddp *ddp, struct dp_error *err)
{
    if (!update->end->adamw)
        return 0;
    return ddp ? dp_ddp_clip_grads(ddp, update->max_norm, NULL, err)
               : dp_clip_grads(update->clip, update->max_norm, NULL, err);
}

int update_step(struct update *update, struct dp_ddp *ddp, struct dp_error *err)
{
    struct dp_adamw_config config = update->end->config;
    const int status = update_clip(update, ddp, err);

    config.lr = (double)update->rate;
    if (status)
        return status;
    if (!update->end->adamw)
        return ddp ? dp_ddp_step(ddp, update->rate, 0, 0, err) : dp_sgd_step(update->sgd, err);
    return ddp ? dp_ddp_adamw_step(ddp, &config, err) : dp_adamw_step(update->adamw, err);
}

int update_norm(const struct update *update, const struct dp_ddp *ddp, double *norm,
                struct dp_error *err)
{
    *norm = (double)NAN;
    if (!update->end->adamw)
        return 0;
    return ddp ? dp_ddp_clip_norm(ddp, norm, err) : dp_clip_norm(update->clip, norm, err);
}
