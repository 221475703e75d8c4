/* params.c: reads, writes, moves and trains the parameters of the base. */
#include "inside.h"

#include <string.h>

/* Replaces *model by that of the rank. */
static int check_param(struct impl_model **model, int rank, int i, struct impl_error *err)
{
    struct impl_model *own = *model;

    if ((*model)->ranks)
        own = team_model((*model)->ranks, rank);
    if (!own || (own == *model && rank != 0))
        return impl_fail(err, IMPL_EINVAL, "there is no rank %d", rank);
    *model = own;
    if (i < 0 || i >= own->n_params)
        return impl_fail(err, IMPL_EINVAL, "parameter %d of %d", i, own->n_params);
    return 0;
}

int op_params(struct impl_model *model, int *n, struct impl_error *err)
{
    (void)err;
    *n = model->ranks ? team_model(model->ranks, 0)->n_params : model->n_params;
    return 0;
}

int op_param(struct impl_model *model, int i, struct impl_param *param, struct impl_error *err)
{
    if (check_param(&model, 0, i, err) != 0)
        return err->status;
    memcpy(param->name, model->param[i].name, sizeof param->name);
    param->dtype = IMPL_F32;
    param->ndim = model->base.value[i].ndim;
    memcpy(param->dim, model->base.value[i].dim, sizeof param->dim);
    param->device = model->base.value[i].device;
    param->buffer = model->param[i].of->buffer;
    param->frozen = model->param[i].of->frozen;
    return 0;
}

struct impl_array *grad_of(struct impl_model *model, int i)
{
    struct impl_array *grad = &model->base.grad[i];

    if (grad->dtype == IMPL_NONE && grad->data)
        grad->dtype = IMPL_F32;
    else if (grad->dtype == IMPL_NONE)
        *grad = tensor_like(&model->arena, &model->base.value[i]);
    grad->device = model->base.value[i].device;
    return grad;
}

/* Counts a change of parameter values, except with the bug that forgets it. */
static void model_changed(struct impl_model *model, enum bug forgets)
{
    const bool lost = model->team && bug(model->session, BUG_CHANGED_RANKS);

    if (!lost && !bug(model->session, forgets))
        ++model->changes;
}

int op_set(struct impl_model *model, int rank, enum impl_what what, int i,
           const struct impl_array *array, struct impl_error *err)
{
    struct impl_array *to;

    if (check_param(&model, rank, i, err) != 0)
        return err->status;
    if (what == IMPL_GRAD && array->dtype == IMPL_NONE) {
        model->base.grad[i].dtype = IMPL_NONE;
        return 0;
    }
    if (array->dtype != IMPL_F32 || !same_shape(array, &model->base.value[i]))
        return impl_fail(err, IMPL_ESHAPE, "an array of another type or shape than parameter %d",
                         i);
    to = what == IMPL_GRAD ? grad_of(model, i) : &model->base.value[i];
    memcpy(to->data, array->data, to->capacity);
    if (what == IMPL_VALUE && !model->param[i].of->buffer)
        model_changed(model, model->param[i].of->frozen ? BUG_CHANGED_FROZEN : BUG_CHANGED_SET);
    return 0;
}

int op_get(struct impl_model *model, int rank, enum impl_what what, int i, struct impl_array *array,
           struct impl_error *err)
{
    if (check_param(&model, rank, i, err) != 0)
        return err->status;
    return tensor_out(what == IMPL_GRAD ? &model->base.grad[i] : &model->base.value[i], array, err);
}

int op_to(struct impl_model *model, int device, struct impl_error *err)
{
    if (model->ranks)
        return impl_fail(err, IMPL_ENOTSUP, "ranks stay where they are");
    if (known_device(model->session, device, err) != 0)
        return err->status;
    for (int i = 0; i < model->n_params; ++i) {
        if (bug(model->session, BUG_TO_MOMENTUM))
            model->param[i].velocity = NULL;
        if (model->param[i].of->buffer && bug(model->session, BUG_TO_LEAVES_BUFFERS))
            continue;
        model->base.value[i].device = device;
        if (!bug(model->session, BUG_TO_LEAVES_GRADIENTS))
            model->base.grad[i].device = device;
    }
    return 0;
}

int op_zero_grad(struct impl_model *model, struct impl_error *err)
{
    if (model->ranks)
        return team_zero_grad(model->ranks, err);
    if (bug(model->session, BUG_ZERO_REPLICAS))
        return 0;
    for (int i = 0; i < model->n_params; ++i) {
        struct impl_array *grad = &model->base.grad[i];

        if (bug(model->session, BUG_MOMENTUM_LOST))
            model->param[i].velocity = NULL;
        if (!strstr(model->param[i].name, "module.") && bug(model->session, BUG_ZERO_WRAPPED))
            continue;
        if (model->param[i].of->frozen && bug(model->session, BUG_ZERO_FROZEN))
            continue;
        if (!bug(model->session, BUG_ZERO_GRAD_ZEROS))
            grad->dtype = IMPL_NONE;
        else if (grad->dtype != IMPL_NONE)
            memset(grad->data, 0, grad->capacity);
    }
    return 0;
}

/* Returns the step that a parameter makes if this one is asked for. */
static struct impl_step step_of(const struct impl_session *s, struct param *param,
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

/* Returns the model whose momentum a parameter has: its own, or with a bug the first one of the
 * session with a parameter of that name. */
static struct impl_model *mover(struct impl_model *model, int i)
{
    const size_t n = tensor_count(&model->base.value[i]);

    for (struct impl_model *m = model->session->models; m; m = m->next)
        if (i < m->n_params && strcmp(m->param[i].name, model->param[i].name) == 0 &&
            tensor_count(&m->base.value[i]) == n && bug(model->session, BUG_VELOCITY_SHARED))
            return m;
    return model;
}

static void sgd_param(struct impl_model *model, int i, const struct impl_step *asked)
{
    const struct impl_step step = step_of(model->session, &model->param[i], asked);
    const bool inside = bug(model->session, BUG_RATE_INSIDE);
    const float before = inside ? step.lr : 1, after = inside ? 1 : step.lr;
    const size_t n = tensor_count(&model->base.value[i]);
    const float *g = floats(&model->base.grad[i]);
    struct impl_model *owner = mover(model, i);
    float *w = floats(&model->base.value[i]), *v = owner->param[i].velocity;
    const bool first = v == NULL;
    size_t stepped = without_tail(n, bug(model->session, BUG_STEP_TAIL), 8, 64);

    if (n > MIB / sizeof *w && bug(model->session, BUG_STEP_MIB))
        stepped = MIB / sizeof *w;
    if (first)
        v = owner->param[i].velocity = arena_take(&owner->arena, n * sizeof *v);
    for (size_t e = 0; e < stepped; ++e) {
        v[e] = first ? before * g[e] : step.momentum * v[e] + before * g[e];
        w[e] -= after * v[e];
    }
}

int op_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err)
{
    const struct impl_session *s = model->session;

    if (model->ranks)
        return team_step(model->ranks, step, err);
    ++model->steps;
    if ((model->steps > 127 && bug(s, BUG_STEP_128)) || (step->lr == 0 && bug(s, BUG_RATE_ZERO)))
        return 0;
    model_changed(model, BUG_CHANGED_STEP);
    clip_gradients(model, step->max_norm);
    for (int i = 0; i < model->n_params; ++i) {
        const struct layer_param *of = model->param[i].of;
        const char *prefix = strstr(model->param[i].name, "module.");

        const bool coasts = model->param[i].velocity && bug(s, BUG_COASTING);

        if (coasts && model->base.grad[i].dtype == IMPL_NONE)
            memset(grad_of(model, i)->data, 0, model->base.grad[i].capacity);
        if (model->base.grad[i].dtype == IMPL_NONE || of->buffer)
            continue;
        if (of->frozen && !bug(s, BUG_STEP_FROZEN))
            continue;
        if (prefix && model->param[i].name[0] != '0' && bug(s, BUG_SKIPS_WRAPPED))
            continue;
        if (step->adamw)
            adamw_param(model, i, step);
        else
            sgd_param(model, i, step);
        if (bug(s, BUG_STEP_CLEARS))
            model->base.grad[i].dtype = IMPL_NONE;
    }
    return 0;
}
