/* sgd.c: stochastic gradient descent on the base module, which has one state. */
#include "optimizer.h"

#include <stdlib.h>

struct dp_sgd {
    struct dp_group *group;
    struct dp_param_list params;
    float lr, momentum, decay;
    struct dp_tensor *velocity; /* slot NULL until the first step of the parameter */
    bool *started;              /* true: velocity holds a value */
    struct {
        struct dp_tensor lr; /* slot NULL: no step had a parameter there */
        bool current;
    } rate[DP_MAX_SLOTS + 1]; /* of the host, then of the slots by index */
};

int dp_sgd_open(struct dp_module *module, float lr, float momentum, float decay,
                struct dp_sgd **sgd, struct dp_error *err)
{
    struct dp_sgd *s = calloc(1, sizeof *s);
    if (!s)
        return dp_fail(err, DP_ENOMEM, "no memory for an optimizer");
    s->group = dp_module_group(module);
    s->lr = lr;
    s->momentum = momentum;
    s->decay = decay;
    int status = dp_param_list_open(module, &s->params, err);
    if (status == 0) {
        s->velocity = calloc((size_t)s->params.n + 1, sizeof *s->velocity);
        s->started = calloc((size_t)s->params.n + 1, sizeof *s->started);
        if (!s->velocity || !s->started)
            status = dp_fail(err, DP_ENOMEM, "no memory for an optimizer");
    }
    if (status) {
        dp_sgd_close(s);
        return status;
    }
    *sgd = s;
    return 0;
}

void dp_sgd_set_rate(struct dp_sgd *sgd, float lr)
{
    sgd->lr = lr;
    for (int i = 0; i <= sgd->group->size; ++i)
        sgd->rate[i].current = false;
}

/* Does everything that can fail, before anything changes. */
static int sgd_prepare(struct dp_sgd *s, const struct dp_param *p, struct dp_tensor *velocity,
                       struct dp_error *err)
{
    if (!dp_param_is_due(p))
        return 0;
    struct dp_tensor *lr = &s->rate[p->value.slot->info.index + 1].lr;
    const int status = lr->slot ? 0 : dp_tensor_alloc(p->value.slot, DP_F32, 0, NULL, lr, err);
    if (status || s->momentum <= 0.0f)
        return status;
    if (!velocity->slot)
        return dp_tensor_alloc(p->value.slot, DP_F32, p->value.ndim, p->value.dim, velocity, err);
    return dp_same_slot("the parameter", &p->value, "its momentum", velocity, err);
}

int dp_sgd_step(struct dp_sgd *sgd, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < sgd->params.n; ++i)
        status = sgd_prepare(sgd, sgd->params.item[i], &sgd->velocity[i], err);
    /* The rates are written separately, because they are no part of what each step launches. */
    for (int i = 0; status == 0 && i <= sgd->group->size; ++i) {
        const struct dp_tensor *lr = &sgd->rate[i].lr;
        if (!lr->slot || sgd->rate[i].current)
            continue;
        const struct dp_fill fill = {lr->data, sgd->lr, 1};
        status = dp_launch(&lr->slot->compute, DP_KERNEL_FILL, &fill, sizeof fill, err);
        sgd->rate[i].current = status == 0;
    }
    dp_params_change(&sgd->params);
    dp_slots_hold(sgd->group->slot, sgd->group->size);
    for (int i = 0; status == 0 && i < sgd->params.n; ++i) {
        if (dp_param_is_due(sgd->params.item[i])) {
            const struct dp_param *p = sgd->params.item[i];
            const struct dp_sgd_args args = {.value = p->value.data,
                                             .velocity = sgd->velocity[i].data,
                                             .grad = p->grad.data,
                                             .lr = sgd->rate[p->value.slot->info.index + 1].lr.data,
                                             .momentum = sgd->momentum,
                                             .decay = sgd->decay,
                                             .first = sgd->velocity[i].data && !sgd->started[i],
                                             .n = dp_tensor_count(&p->value)};
            status = dp_launch(&p->value.slot->compute, DP_KERNEL_SGD, &args, sizeof args, err);
        }
    }
    const int issued = dp_slots_issue(sgd->group->slot, sgd->group->size, err);
    status = status ? status : issued;
    for (int i = 0; status == 0 && i < sgd->params.n; ++i)
        sgd->started[i] = sgd->started[i] || dp_param_is_due(sgd->params.item[i]);
    if (status)
        dp_group_wait(sgd->group, NULL);
    return status;
}

void dp_sgd_close(struct dp_sgd *sgd)
{
    if (!sgd)
        return;
    for (int i = 0; sgd->velocity && i < sgd->params.n; ++i)
        dp_tensor_free(&sgd->velocity[i]);
    for (int i = 0; i <= DP_MAX_SLOTS; ++i)
        dp_tensor_free(&sgd->rate[i].lr);
    dp_param_list_close(&sgd->params);
    free(sgd->velocity);
    free(sgd->started);
    free(sgd);
}
