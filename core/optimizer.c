/* optimizer.c: selects the parameters of the base module that are stepped. */
#include "optimizer.h"

#include <stdlib.h>

bool dp_param_is_due(const struct dp_param *p)
{
    return p->has_grad && !p->frozen && !p->buffer && p->value.dtype == DP_F32;
}

void dp_params_change(const struct dp_param_list *params)
{
    for (int i = 0; i < params->n; ++i)
        ++params->item[i]->version;
}

int dp_targets_open(const struct dp_param_list *params, struct dp_target **target,
                    struct dp_error *err)
{
    *target = calloc((size_t)params->n + 1, sizeof **target);
    if (!*target)
        return dp_fail(err, DP_ENOMEM, "no memory for %d parameters", params->n);
    for (int i = 0; i < params->n; ++i)
        (*target)[i] = (struct dp_target){&params->item[i]->value, &params->item[i]->grad, false};
    return 0;
}

void dp_targets_choose(const struct dp_param_list *params, struct dp_target target[])
{
    for (int i = 0; i < params->n; ++i)
        target[i].due = dp_param_is_due(params->item[i]);
}
