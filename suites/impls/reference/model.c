/* model.c: models: opening, parameters. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

static int list_params(struct impl_model *model, struct dp_error *err)
{
    const int n = dp_module_params(model->root, NULL, 0);

    if (n < 0)
        return dp_fail(err, n, "no memory for a list of parameters");
    model->param = calloc((size_t)n + 1, sizeof *model->param);
    if (!model->param || dp_module_params(model->root, model->param, n) != n)
        return dp_fail(err, DP_ENOMEM, "no memory for a list of %d parameters", n);
    model->n_params = n;
    return 0;
}

static int open_parts(struct impl_model *model, const char *description, int ranks,
                      struct dp_error *err)
{
    struct dp_group *group = model->session->group;
    const bool several = ranks != 1 || dp_group_world(group) > dp_group_size(group);
    int status;

    model->world.group = group;
    model->world.first_rank = dp_group_first(group);
    model->description = model_read(group, description, err);
    if (!model->description)
        return err->status;
    status = model_build(&model->world, model->description, several, &model->root, err);
    if (status == 0)
        status = list_params(model, err);
    if (status == 0 && several)
        status = ranks_open(model, ranks, err);
    return status != 0 ? status : dp_run_open(group, &model->run, err);
}

int reference_model_open(struct impl_session *session, const char *description, int ranks,
                         struct impl_model **model, struct impl_error *err)
{
    struct impl_model *m;
    struct dp_error error = {0};
    int status;

    m = calloc(1, sizeof *m);
    if (!m)
        return impl_fail(err, IMPL_EBROKEN, "no memory for a model");
    m->session = session;
    m->next = session->models;
    session->models = m;
    status = open_parts(m, description, ranks, &error);
    if (status != 0) {
        status = error_of(session->group, status, &error, err);
        reference_model_close(m);
        return status;
    }
    *model = m;
    return 0;
}

void reference_model_close(struct impl_model *model)
{
    struct impl_model **link = &model->session->models;

    while (*link && *link != model)
        link = &(*link)->next;
    if (*link == model)
        *link = model->next;
    if (model->run)
        model_drop(model);
    dp_run_close(model->run);
    dp_ddp_close(model->ddp);
    dp_sgd_close(model->sgd);
    dp_adamw_close(model->adamw);
    dp_clip_close(model->clip);
    dp_module_close(model->root);

    struct world *world = &model->world;

    for (int i = 0; i < world->n_arguments; ++i)
        free(world->argument[i].value);
    free(world->argument);
    description_free(model->description);
    free(model->outputs);
    free(model->param);
    free(model);
}

/* ---- parameters ------------------------------------------------------------------------------ */

int reference_params(struct impl_model *model, int *n, struct impl_error *err)
{
    (void)err;
    *n = model->n_params;
    return 0;
}

static int check_number(const struct impl_model *model, int rank, int i, struct dp_error *err)
{
    if (rank != 0)
        return dp_fail(err, DP_EINVAL, "rank %d of 1", rank);
    if (i < 0 || i >= model->n_params)
        return dp_fail(err, DP_EINVAL, "parameter %d of %d", i, model->n_params);
    return 0;
}

static int describe_param(struct impl_model *model, int i, struct impl_param *to,
                          struct dp_error *err)
{
    const int status = check_number(model, 0, i, err);
    const struct dp_param *param;

    if (status != 0)
        return status;
    param = model->param[i];
    memset(to, 0, sizeof *to);
    if (dp_module_param_name(model->root, i, to->name, sizeof to->name) != 0)
        return dp_fail(err, OWN_STATUS(IMPL_EBROKEN), "parameter %d has no name", i);
    value_describe(&param->value, to);
    to->device = device_of(param->value.slot);
    to->buffer = param->buffer;
    to->frozen = param->frozen;
    return 0;
}

int reference_param(struct impl_model *model, int i, struct impl_param *param,
                    struct impl_error *err)
{
    struct dp_error error = {0};

    return error_of(model->session->group, describe_param(model, i, param, &error), &error, err);
}

int check_fits(const struct impl_array *array, const struct dp_tensor *tensor, struct dp_error *err)
{
    bool fits = array->dtype != IMPL_NONE && dtype_of(array->dtype) == tensor->dtype &&
                array->ndim == tensor->ndim;

    for (int d = 0; fits && d < tensor->ndim; ++d)
        fits = array->dim[d] == tensor->dim[d];
    return fits ? 0 : dp_fail(err, DP_ESHAPE, "an array that is not of the parameter's shape");
}

static int mark_gradient(struct impl_model *model, int i, const void *values, struct dp_error *err)
{
    struct dp_tensor grad;
    bool accumulate;

    dp_run_grad(model->run, model->param[i], &grad, &accumulate);
    return dp_tensor_write(&grad, values, err);
}

/* core drops all gradients at once. So the others are read, one in each call, and put back on the
 * way out. */
static int drop_gradient(struct impl_model *model, int dropped, int i, struct dp_error *err)
{
    const struct dp_param *param = i < model->n_params ? model->param[i] : NULL;
    void *values;
    int status;

    if (!param) {
        dp_zero_grad(model->root);
        return 0;
    }
    if (i == dropped || !param->has_grad)
        return drop_gradient(model, dropped, i + 1, err);
    values = malloc(dp_tensor_bytes(&param->grad) + 1);
    if (!values)
        return dp_fail(err, DP_ENOMEM, "no memory for a gradient");
    status = dp_tensor_read(values, &param->grad, err);
    if (status == 0)
        status = drop_gradient(model, dropped, i + 1, err);
    if (status == 0)
        status = mark_gradient(model, i, values, err);
    free(values);
    return status;
}

static int model_set(struct impl_model *model, int rank, enum impl_what what, int i,
                     const struct impl_array *array, struct dp_error *err)
{
    int status;

    if (model->ddp)
        return ranks_set(model, rank, what, i, array, err);
    status = check_number(model, rank, i, err);
    if (status != 0)
        return status;
    if (what == IMPL_GRAD && array->dtype == IMPL_NONE)
        return drop_gradient(model, i, 0, err);
    if (what == IMPL_VALUE)
        return value_put(&model->param[i]->value, array, err);
    status = check_fits(array, &model->param[i]->value, err);
    return status != 0 ? status : mark_gradient(model, i, array->data, err);
}

int reference_set(struct impl_model *model, int rank, enum impl_what what, int i,
                  const struct impl_array *array, struct impl_error *err)
{
    struct dp_error error = {0};

    return error_of(model->session->group, model_set(model, rank, what, i, array, &error), &error,
                    err);
}

static int get(struct impl_model *model, int rank, enum impl_what what, int i,
               struct impl_array *array, struct dp_error *err)
{
    const struct dp_tensor none = {0};
    const struct dp_param *param;
    int status;

    if (model->ddp)
        return ranks_get(model, rank, what, i, array, err);
    status = check_number(model, rank, i, err);
    if (status != 0)
        return status;
    param = model->param[i];
    if (what == IMPL_VALUE)
        return value_get(&param->value, array, err);
    return tensor_get(param->has_grad ? &param->grad : &none, array, err);
}

int reference_get(struct impl_model *model, int rank, enum impl_what what, int i,
                  struct impl_array *array, struct impl_error *err)
{
    struct dp_error error = {0};

    return error_of(model->session->group, get(model, rank, what, i, array, &error), &error, err);
}

int reference_to(struct impl_model *model, int device, struct impl_error *err)
{
    struct dp_error error = {0};
    struct dp_slot *slot = slot_of(model->session->group, device, &error);
    int status = error.status;

    if (model->ddp)
        status = dp_fail(&error, DP_ENOTSUP, "a model of several ranks stays where it is");
    else if (slot)
        status = dp_module_to(model->root, slot, &error);
    return error_of(model->session->group, status, &error, err);
}

int reference_zero_grad(struct impl_model *model, struct impl_error *err)
{
    (void)err;
    if (model->ddp)
        dp_ddp_zero_grad(model->ddp);
    else
        dp_zero_grad(model->root);
    return 0;
}
