/* step.c: the step of a model: clipping, then SGD or AdamW, on the base module or on each rank. */
#include "reference.h"

/* core fixes the momentum of an optimizer when it is opened. The state belongs to that optimizer,
 * so a new one cannot continue with it. */
static int open_sgd(struct impl_model *model, const struct impl_step *step, struct dp_error *err)
{
    const bool same = model->settings.momentum == step->momentum;

    if (model->sgd && same) {
        if (model->settings.lr != step->lr)
            dp_sgd_set_rate(model->sgd, step->lr);
        model->settings = *step;
        return 0;
    }
    if (model->sgd && model->settings.momentum > 0.0f)
        return dp_fail(err, DP_ENOTSUP, "momentum that changes between two steps");
    dp_sgd_close(model->sgd);
    model->sgd = NULL;
    model->settings = *step;
    return dp_sgd_open(model->root, step->lr, step->momentum, 0.0f, &model->sgd, err);
}

static struct dp_adamw_config adamw_of(const struct impl_step *step)
{
    return (struct dp_adamw_config){.lr = (double)step->lr,
                                    .beta1 = (double)step->beta1,
                                    .beta2 = (double)step->beta2,
                                    .eps = (double)step->eps,
                                    .decay = (double)step->decay};
}

/* The same holds for the settings of AdamW, except for its rate. */
static int open_adamw(struct impl_model *model, const struct impl_step *step, struct dp_error *err)
{
    const struct impl_step *was = &model->settings;
    const struct dp_adamw_config config = adamw_of(step);

    if (model->adamw && (was->beta1 != step->beta1 || was->beta2 != step->beta2 ||
                         was->eps != step->eps || was->decay != step->decay))
        return dp_fail(err, DP_ENOTSUP, "settings of AdamW that change between two steps");
    model->settings = *step;
    if (!model->adamw)
        return dp_adamw_open(model->root, &config, &model->adamw, err);
    dp_adamw_set_rate(model->adamw, config.lr);
    return 0;
}

static int step_base(struct impl_model *model, const struct impl_step *step, struct dp_error *err)
{
    int status = 0;

    if (step->max_norm > 0.0f && !model->clip)
        status = dp_clip_open(model->root, &model->clip, err);
    if (status == 0 && step->max_norm > 0.0f)
        status = dp_clip_grads(model->clip, (double)step->max_norm, NULL, err);
    if (status == 0)
        status = step->adamw ? open_adamw(model, step, err) : open_sgd(model, step, err);
    if (status != 0)
        return status;
    return step->adamw ? dp_adamw_step(model->adamw, err) : dp_sgd_step(model->sgd, err);
}

static int step_step_ranks(struct dp_ddp *ddp, const struct impl_step *step, struct dp_error *err)
{
    const struct dp_adamw_config config = adamw_of(step);
    int status = 0;

    if (step->max_norm > 0.0f)
        status = dp_ddp_clip_grads(ddp, (double)step->max_norm, NULL, err);
    if (status != 0)
        return status;
    return step->adamw ? dp_ddp_adamw_step(ddp, &config, err)
                       : dp_ddp_step(ddp, step->lr, step->momentum, 0.0f, err);
}

int reference_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err)
{
    struct dp_group *group = model->session->group;
    struct dp_error error = {0};
    int status;

    if (step->adamw ? model->sgd != NULL : model->adamw != NULL)
        status = dp_fail(&error, DP_ENOTSUP, "another optimizer than that of the first step");
    else
        status =
            model->ddp ? step_step_ranks(model->ddp, step, &error) : step_base(model, step, &error);
    if (status == 0)
        status = dp_group_wait(group, &error);
    return error_of(group, status, &error, err);
}
