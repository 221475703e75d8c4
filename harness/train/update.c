/* train/update.c: applies the gradients of a training step: clipping, optimizer, learning rate. */
#include <math.h>
#include <stdio.h>

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

struct update train_update_begin(const struct train_update *options)
{
    struct update update = {.adamw = options->kind == TRAIN_ADAMW,
                            .momentum = (float)options->momentum,
                            .decay = (float)options->decay,
                            .max_norm = options->clip,
                            .config = dp_adamw_defaults()};

    update.config.lr = options->lr;
    update.config.decay = options->decay;
    update.config.beta1 = BETA1;
    update.config.beta2 = BETA2;
    return update;
}

double train_update_rate(const struct train_update *options, uint64_t step)
{
    const struct dp_cosine cosine = {.lr = options->lr,
                                     .least = LEAST_PART * options->lr,
                                     .warmup = options->warmup,
                                     .total = options->steps};

    return dp_cosine_rate(&cosine, step);
}
