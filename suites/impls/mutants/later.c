/* later.c: bugs that keep data for later: from one call to the next, from a model that was closed
 * to one that is opened, from one session to another. Without a bug nothing is kept. */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

bool refuses(const struct impl_session *s, struct impl_error *err)
{
    if (bug(s, BUG_REFUSES_ALL))
        impl_fail(err, IMPL_EINVAL, "no");
    return bug(s, BUG_REFUSES_ALL);
}

/* ---- what lay at an address ------------------------------------------------------------------ */

void memo_use(struct memo *memo, const void *at, struct impl_array *tensor)
{
    const bool known = memo->bytes && memo->at == at && memo->n == tensor->capacity;

    if (known) {
        memcpy(tensor->data, memo->bytes, memo->n);
        return;
    }
    memo_forget(memo);
    if (tensor->dtype == IMPL_NONE || tensor->capacity == 0)
        return;
    memo->bytes = malloc(tensor->capacity);
    if (!memo->bytes)
        abort();
    memo->at = at;
    memo->n = tensor->capacity;
    memcpy(memo->bytes, tensor->data, memo->n);
}

void memo_forget(struct memo *memo)
{
    free(memo->bytes);
    *memo = (struct memo){0};
}

/* ---- models that come and go ----------------------------------------------------------------- */

void spare_keep(struct spare *spare, const struct impl_model *model)
{
    const struct impl_array *value = model->n_params > 0 ? &model->base.value[0] : NULL;
    const float *velocity = value ? model->param[0].velocity : NULL;

    if (!value || value->capacity > sizeof spare->value)
        return;
    spare->n = tensor_count(value);
    memcpy(spare->value, value->data, value->capacity);
    spare->moving = velocity != NULL;
    if (velocity)
        memcpy(spare->velocity, velocity, value->capacity);
}

void spare_use(const struct spare *spare, struct impl_model *model)
{
    const struct impl_array *value = model->n_params > 0 ? &model->base.value[0] : NULL;

    if (!value || spare->n == 0 || tensor_count(value) != spare->n)
        return;
    if (!model->param[0].of->initial && bug(model->session, BUG_MODEL_VALUE))
        memcpy(value->data, spare->value, value->capacity);
    if (spare->moving && bug(model->session, BUG_MODEL_VELOCITY)) {
        model->param[0].velocity = arena_take(&model->arena, value->capacity);
        memcpy(model->param[0].velocity, spare->velocity, value->capacity);
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

void crumb_leave(struct impl_session *s)
{
    enum { CRUMB = 1024 };
    struct crumb *crumb;

    if (!bug(s, BUG_LEAK_SMALL))
        return;
    crumb = malloc(CRUMB);
    if (!crumb)
        abort();
    memset(crumb, 1, CRUMB);
    crumb->next = s->crumbs;
    s->crumbs = crumb;
}

/* ---- the step -------------------------------------------------------------------------------- */

struct impl_step step_of(const struct impl_session *s, struct param *param,
                         const struct impl_step *asked)
{
    struct impl_step step = *asked;

    if (param->stepped && param->rate != step.lr && bug(s, BUG_RATE_RESETS))
        param->velocity = NULL;
    if (!param->stepped || bug(s, BUG_RATE_RESETS))
        param->rate = step.lr;
    param->stepped = true;
    if (bug(s, BUG_RATE_FIRST))
        step.lr = param->rate;
    if (step.momentum > 0 && bug(s, BUG_MOMENTUM_HALF))
        step.momentum = 0.5f;
    return step;
}

/* ---- errors ---------------------------------------------------------------------------------- */

int error_told(struct impl_model *model, struct impl_error *err)
{
    struct impl_session *s = model->session;

    if (++model->errors == 1)
        model->first_error = *err;
    else if (bug(s, BUG_ERROR_AGAIN))
        *err = model->first_error;
    if (model->errors == 2 && bug(s, BUG_ERROR_SECOND_BLOCKS))
        s->stuck_error = true;
    return err->status;
}
