/* train/update.c: applies the gradients of a training step: clipping, optimizer, learning rate. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/train.h"

/* LEAST_PART: the rate that a cosine falls to in the last step, as a part of lr. WARM_PART: the
 * part of all steps that warms up, except in long trainings. */
static const double LEAST_PART = 0.1, WARM_PART = 0.1;
enum { MOST_WARMUP = 100 };

/* These are nanoGPT's values, and so are decay, clip and rate below. */
static const double BETA1 = 0.9, BETA2 = 0.95;

const char *train_optimizer_name(enum train_optimizer_kind kind)
{
    return kind == TRAIN_ADAMW ? "adamw" : "sgd";
}

/* Each value is filled in only if the options leave it open. */
int train_model_update(const struct train_model *model, struct train_update *update, char *why,
                       size_t bytes)
{
    static const struct train_update rows[] = {
        [TRAIN_SGD] = {.lr = 0.1, .momentum = 0.9},
        [TRAIN_ADAMW] = {.lr = 1e-3, .decay = 0.1, .clip = 1, .cosine = true}};

    update->kind = update->kind == TRAIN_OWN ? model->optimizer : update->kind;
    const struct train_update *from = &rows[update->kind];
    const double lr = update->kind == model->optimizer ? model->lr : from->lr;

    if (update->kind == TRAIN_ADAMW && !isnan(update->momentum)) {
        snprintf(why, bytes, "--momentum is of SGD: AdamW has none");
        return -1;
    }
    update->lr = isnan(update->lr) ? lr : update->lr;
    update->momentum = isnan(update->momentum) ? from->momentum : update->momentum;
    update->decay = isnan(update->decay) ? from->decay : update->decay;
    update->clip = isnan(update->clip) ? from->clip : update->clip;
    update->cosine = from->cosine || update->warmup != TRAIN_OWN_STEPS;
    if (update->warmup == TRAIN_OWN_STEPS && update->cosine)
        update->warmup = (size_t)fmin(MOST_WARMUP, WARM_PART * (double)update->steps);
    else if (!update->cosine)
        update->warmup = 0;
    return 0;
}

int train_optimizer_open(struct train_optimizer *optimizer, const struct train_update *update,
                         struct dp_module *module, struct dp_ddp *ddp, struct dp_error *err)
{
    int status = 0;

    *optimizer =
        (struct train_optimizer){.update = *update, .config = dp_adamw_defaults(), .ddp = ddp};
    optimizer->config.lr = update->lr;
    optimizer->config.decay = update->decay;
    optimizer->config.beta1 = BETA1;
    optimizer->config.beta2 = BETA2;
    if (ddp)
        return 0;
    if (update->clip > 0)
        status = dp_clip_open(module, &optimizer->clip, err);
    if (status)
        return status;
    if (update->kind == TRAIN_ADAMW)
        return dp_adamw_open(module, &optimizer->config, &optimizer->adamw, err);
    return dp_sgd_open(module, (float)update->lr, (float)update->momentum, (float)update->decay,
                       &optimizer->sgd, err);
}

void train_optimizer_close(struct train_optimizer *optimizer)
{
    dp_sgd_close(optimizer->sgd);
    dp_adamw_close(optimizer->adamw);
    dp_clip_close(optimizer->clip);
    *optimizer = (struct train_optimizer){.ddp = NULL};
}

int train_optimizer_step(struct train_optimizer *o, struct dp_error *err)
{
    const struct train_update *update = &o->update;
    const struct dp_cosine cosine = {.lr = update->lr,
                                     .least = LEAST_PART * update->lr,
                                     .warmup = update->warmup,
                                     .total = update->steps};
    int status = 0;

    if (update->cosine)
        o->config.lr = dp_cosine_rate(&cosine, o->step);
    ++o->step;
    if (update->clip > 0)
        status = o->ddp ? dp_ddp_clip_grads(o->ddp, update->clip, NULL, err)
                        : dp_clip_grads(o->clip, update->clip, NULL, err);
    if (status)
        return status;
    if (o->ddp && update->kind == TRAIN_ADAMW)
        return dp_ddp_adamw_step(o->ddp, &o->config, err);
    if (o->ddp)
        return dp_ddp_step(o->ddp, (float)o->config.lr, (float)update->momentum,
                           (float)update->decay, err);
    if (o->adamw) {
        dp_adamw_set_rate(o->adamw, o->config.lr);
        return dp_adamw_step(o->adamw, err);
    }
    if (update->cosine)
        dp_sgd_set_rate(o->sgd, (float)o->config.lr);
    return dp_sgd_step(o->sgd, err);
}
