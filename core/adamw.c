/* adamw.c: AdamW on the base module, which has one state. */
#include "optimizer.h"

#include <stdlib.h>

struct dp_adamw {
    struct dp_group *group;
    struct dp_param_list params;
    struct dp_target *target;
    struct dp_adamw_config config;
    struct dp_adamw_state state;
};

struct dp_adamw_config dp_adamw_defaults(void)
{
    return (struct dp_adamw_config){
        .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 1e-2};
}

int dp_adamw_open(struct dp_module *module, const struct dp_adamw_config *config,
                  struct dp_adamw **adamw, struct dp_error *err)
{
    struct dp_adamw *a = calloc(1, sizeof *a);
    if (!a)
        return dp_fail(err, DP_ENOMEM, "no memory for an optimizer");
    a->group = dp_module_group(module);
    a->config = *config;
    int status = dp_adamw_check(&a->config, err);
    if (status == 0)
        status = dp_param_list_open(module, &a->params, err);
    if (status == 0)
        status = dp_targets_open(&a->params, &a->target, err);
    if (status == 0)
        status = dp_adamw_state_open(&a->state, a->params.n, err);
    if (status) {
        dp_adamw_close(a);
        return status;
    }
    *adamw = a;
    return 0;
}

void dp_adamw_set_rate(struct dp_adamw *adamw, double lr)
{
    adamw->config.lr = lr;
}

int dp_adamw_restart(struct dp_adamw *adamw, struct dp_error *err)
{
    const int status = dp_adamw_forget(&adamw->state, err);
    if (status)
        dp_group_wait(adamw->group, NULL);
    return status;
}

int dp_adamw_step(struct dp_adamw *adamw, struct dp_error *err)
{
    struct dp_group *group = adamw->group;
    int status = dp_adamw_check(&adamw->config, err);
    dp_targets_choose(&adamw->params, adamw->target);
    dp_params_change(&adamw->params);
    if (status == 0)
        status = dp_adamw_prepare(&adamw->state, adamw->target, err);
    if (status == 0)
        status = dp_adamw_write(&adamw->state, &adamw->config, err);
    dp_slots_hold(group->slot, group->size);
    if (status == 0)
        status = dp_adamw_launch(&adamw->state, adamw->target, &adamw->config, err);
    const int issued = dp_slots_issue(group->slot, group->size, err);
    status = status ? status : issued;
    if (status == 0)
        dp_adamw_count(&adamw->state);
    else
        dp_group_wait(group, NULL);
    return status;
}

void dp_adamw_close(struct dp_adamw *adamw)
{
    if (!adamw)
        return;
    dp_adamw_state_close(&adamw->state);
    dp_param_list_close(&adamw->params);
    free(adamw->target);
    free(adamw);
}
