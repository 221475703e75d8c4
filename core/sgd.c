/* sgd.c: stochastic gradient descent on the base module. Its state exists once. */
#include "module.h"

#include <stdlib.h>

struct dp_sgd {
    struct dp_param_list params;
    float lr, momentum, decay;
    struct dp_tensor *velocity; /* slot NULL until the parameter's first step */
};

int dp_sgd_open(struct dp_module *module, float lr, float momentum, float decay,
                struct dp_sgd **sgd, struct dp_error *err)
{
    struct dp_sgd *s = calloc(1, sizeof *s);
    if (!s)
        return dp_fail(err, DP_ENOMEM, "no memory for an optimizer");
    s->lr = lr;
    s->momentum = momentum;
    s->decay = decay;
    int status = dp_param_list_open(module, &s->params, err);
    if (status == 0) {
        s->velocity = calloc((size_t)s->params.n + 1, sizeof *s->velocity);
        if (!s->velocity)
            status = dp_fail(err, DP_ENOMEM, "no memory for an optimizer");
    }
    if (status) {
        dp_sgd_close(s);
        return status;
    }
    *sgd = s;
    return 0;
}

static int step_param(const struct dp_sgd *s, struct dp_param *p, struct dp_tensor *velocity,
                      struct dp_error *err)
{
    const bool first = !velocity->slot;
    int status = 0;
    if (s->momentum > 0.0f && first)
        status = dp_tensor_alloc(p->value.slot, DP_F32, p->value.ndim, p->value.dim, velocity, err);
    if (status == 0 && velocity->slot)
        status = dp_same_slot("the parameter", &p->value, "its momentum", velocity, err);
    if (status)
        return status;
    const struct dp_sgd_args args = {
        p->value.data, velocity->data, p->grad.data, s->lr,
        s->momentum,   s->decay,       first,        dp_tensor_count(&p->value)};
    return dp_launch(&p->value.slot->compute, DP_KERNEL_SGD, &args, sizeof args, err);
}

int dp_sgd_step(struct dp_sgd *sgd, struct dp_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < sgd->params.n; ++i) {
        struct dp_param *p = sgd->params.item[i];
        if (p->has_grad && !p->frozen && !p->buffer && p->value.dtype == DP_F32)
            status = step_param(sgd, p, &sgd->velocity[i], err);
    }
    return status;
}

void dp_sgd_close(struct dp_sgd *sgd)
{
    if (!sgd)
        return;
    for (int i = 0; sgd->velocity && i < sgd->params.n; ++i)
        dp_tensor_free(&sgd->velocity[i]);
    dp_param_list_close(&sgd->params);
    free(sgd->velocity);
    free(sgd);
}
