/* remote.c: turns the table of operations into calls that are carried to another process
 * (remote.h). */
#include "remote.h"

#include <stdlib.h>

static int on_session(struct impl_session *session, enum impl_op op, void *arguments,
                      struct impl_error *err)
{
    return session->carry(session, NULL, op, arguments, err);
}

static int on_model(struct impl_model *model, enum impl_op op, void *arguments,
                    struct impl_error *err)
{
    return model->session->carry(model->session, model, op, arguments, err);
}

/* ---- on a session ---------------------------------------------------------------------------- */

void remote_forget_models(struct impl_session *session)
{
    while (session->models) {
        struct impl_model *next = session->models->next;

        free(session->models);
        session->models = next;
    }
}

static int remote_reset(struct impl_session *session, struct impl_error *err)
{
    const int status = on_session(session, IMPL_OP_RESET, NULL, err);

    if (status == IMPL_OK)
        remote_forget_models(session);
    return status;
}

static int remote_split(struct impl_session *session, struct impl_split *a, struct impl_error *err)
{
    return on_session(session, IMPL_OP_SPLIT, a, err);
}

static int remote_scatter(struct impl_session *session, struct impl_scatter *a,
                          struct impl_error *err)
{
    return on_session(session, IMPL_OP_SCATTER, a, err);
}

static int remote_gather(struct impl_session *session, struct impl_gather *a,
                         struct impl_error *err)
{
    return on_session(session, IMPL_OP_GATHER, a, err);
}

static int remote_broadcast(struct impl_session *session, struct impl_broadcast *a,
                            struct impl_error *err)
{
    return on_session(session, IMPL_OP_BROADCAST, a, err);
}

static int remote_reduce(struct impl_session *session, struct impl_reduce *a,
                         struct impl_error *err)
{
    return on_session(session, IMPL_OP_REDUCE, a, err);
}

static int remote_apply(struct impl_session *session, struct impl_apply *a, struct impl_error *err)
{
    return on_session(session, IMPL_OP_APPLY, a, err);
}

static int remote_buckets(struct impl_session *session, struct impl_buckets *a,
                          struct impl_error *err)
{
    return on_session(session, IMPL_OP_BUCKETS, a, err);
}

static int remote_sampler(struct impl_session *session, struct impl_sampler *a,
                          struct impl_error *err)
{
    return on_session(session, IMPL_OP_SAMPLER, a, err);
}

static int remote_model_open(struct impl_session *session, const char *description, int ranks,
                             struct impl_model **model, struct impl_error *err)
{
    struct impl_model_open_call a = {.description = description, .ranks = ranks};
    struct impl_model *made = calloc(1, sizeof *made);
    int status;

    *model = NULL;
    if (!made)
        return IMPL_EBROKEN;
    made->session = session;
    made->ranks = ranks;
    status = session->carry(session, made, IMPL_OP_MODEL_OPEN, &a, err);
    if (status != IMPL_OK || !a.model) {
        free(made);
        return status;
    }
    made->theirs = a.model;
    made->next = made->session->models;
    made->session->models = made;
    *model = made;
    return IMPL_OK;
}

/* ---- on a model ------------------------------------------------------------------------------ */

static void remote_model_close(struct impl_model *model)
{
    struct impl_model **link = &model->session->models;
    struct impl_error ignored = {.status = IMPL_OK}; /* the next call has it, too */

    on_model(model, IMPL_OP_MODEL_CLOSE, NULL, &ignored);
    while (*link != model)
        link = &(*link)->next;
    *link = model->next;
    free(model);
}

static int remote_params(struct impl_model *model, int *n, struct impl_error *err)
{
    struct impl_number_call a = {.number = *n};
    const int status = on_model(model, IMPL_OP_PARAMS, &a, err);

    *n = a.number;
    return status;
}

static int remote_param(struct impl_model *model, int i, struct impl_param *param,
                        struct impl_error *err)
{
    struct impl_param_call a = {.i = i, .param = *param};
    const int status = on_model(model, IMPL_OP_PARAM, &a, err);

    *param = a.param;
    return status;
}

static int remote_set(struct impl_model *model, int rank, enum impl_what what, int i,
                      const struct impl_array *array, struct impl_error *err)
{
    struct impl_value_call a = {
        .rank = rank, .i = i, .what = what, .array = (struct impl_array *)array};

    return on_model(model, IMPL_OP_SET, &a, err);
}

static int remote_get(struct impl_model *model, int rank, enum impl_what what, int i,
                      struct impl_array *array, struct impl_error *err)
{
    struct impl_value_call a = {.rank = rank, .i = i, .what = what, .array = array};

    return on_model(model, IMPL_OP_GET, &a, err);
}

static int remote_to(struct impl_model *model, int device, struct impl_error *err)
{
    struct impl_number_call a = {.number = device};

    return on_model(model, IMPL_OP_TO, &a, err);
}

static int remote_zero_grad(struct impl_model *model, struct impl_error *err)
{
    return on_model(model, IMPL_OP_ZERO_GRAD, NULL, err);
}

static int remote_forward(struct impl_model *model, struct impl_forward *a, struct impl_error *err)
{
    return on_model(model, IMPL_OP_FORWARD, a, err);
}

static int remote_backward(struct impl_model *model, struct impl_backward *a,
                           struct impl_error *err)
{
    return on_model(model, IMPL_OP_BACKWARD, a, err);
}

static int remote_step(struct impl_model *model, const struct impl_step *step,
                       struct impl_error *err)
{
    struct impl_step a = *step;

    return on_model(model, IMPL_OP_STEP, &a, err);
}

const struct impl_ops remote_ops = {
    .version = IMPL_VERSION,
    .bytes = sizeof remote_ops,
    .reset = remote_reset,
    .split = remote_split,
    .scatter = remote_scatter,
    .gather = remote_gather,
    .broadcast = remote_broadcast,
    .reduce = remote_reduce,
    .apply = remote_apply,
    .buckets = remote_buckets,
    .sampler = remote_sampler,
    .model_open = remote_model_open,
    .model_close = remote_model_close,
    .params = remote_params,
    .param = remote_param,
    .set = remote_set,
    .get = remote_get,
    .to = remote_to,
    .zero_grad = remote_zero_grad,
    .forward = remote_forward,
    .backward = remote_backward,
    .step = remote_step,
};
