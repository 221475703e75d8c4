/* measure/update.c: SGD or AdamW, with or without clipping, for a module or for ranks. */
#include "measure/session.h"

#include <math.h>

int update_open(struct update *update, struct dp_module *top, struct dp_error *err)
{
    const int status = update->max_norm > 0 ? dp_clip_open(top, &update->clip, err) : 0;

    if (status)
        return status;
    if (update->adamw)
        return dp_adamw_open(top, &update->config, &update->states, err);
    return dp_sgd_open(top, (float)update->config.lr, update->momentum, update->decay, &update->sgd,
                       err);
}

void update_close(struct update *update)
{
    dp_sgd_close(update->sgd);
    dp_adamw_close(update->states);
    dp_clip_close(update->clip);
    *update = (struct update){.sgd = NULL};
}

void update_set_rate(struct update *update, double rate)
{
    update->config.lr = rate;
    if (update->sgd)
        dp_sgd_set_rate(update->sgd, (float)rate);
    if (update->states)
        dp_adamw_set_rate(update->states, rate);
}

int update_restart(struct update *update, struct dp_ddp *ddp, struct dp_error *err)
{
    if (!update->adamw)
        return 0;
    return ddp ? dp_ddp_adamw_restart(ddp, err) : dp_adamw_restart(update->states, err);
}

int update_clip(struct update *update, struct dp_ddp *ddp, struct dp_error *err)
{
    if (!(update->max_norm > 0))
        return 0;
    return ddp ? dp_ddp_clip_grads(ddp, update->max_norm, NULL, err)
               : dp_clip_grads(update->clip, update->max_norm, NULL, err);
}

int update_step(struct update *update, struct dp_ddp *ddp, struct dp_error *err)
{
    const int status = update_clip(update, ddp, err);

    if (status)
        return status;
    if (update->adamw)
        return ddp ? dp_ddp_adamw_step(ddp, &update->config, err)
                   : dp_adamw_step(update->states, err);
    return ddp ? dp_ddp_step(ddp, (float)update->config.lr, update->momentum, update->decay, err)
               : dp_sgd_step(update->sgd, err);
}

int update_norm(const struct update *update, const struct dp_ddp *ddp, double *norm,
                struct dp_error *err)
{
    *norm = (double)NAN;
    if (!(update->max_norm > 0))
        return 0;
    return ddp ? dp_ddp_clip_norm(ddp, norm, err) : dp_clip_norm(update->clip, norm, err);
}
