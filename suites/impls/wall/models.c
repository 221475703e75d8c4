/* models.c: operations on models through the wall. */
#include "sides.h"

#include <stdlib.h>
#include <string.h>

static int call(const struct impl_model *m, enum wall_op op, const void *arguments,
                struct impl_error *err)
{
    m->wall->box->model = m->theirs;
    m->wall->box->arguments = (void *)arguments;
    return wall_call(m->wall, op, err);
}

static size_t at_least_none(long n)
{
    return n > 0 ? (size_t)n : 0;
}

int wall_model_open(struct impl_session *s, const char *description, int ranks,
                    struct impl_model **model, struct impl_error *err)
{
    struct wall *wall = s->wall;
    struct wall_model_open put = {.ranks = ranks};
    struct impl_model *made = calloc(1, sizeof *made);
    int status;

    *model = NULL;
    if (!made)
        return IMPL_EBROKEN;
    put.description = wall_put(wall, description, strlen(description) + 1);
    wall->box->session = s->theirs;
    wall->box->arguments = wall_put(wall, &put, sizeof put);
    status = wall_call(wall, WALL_MODEL_OPEN, err);
    made->wall = wall;
    made->ranks = ranks;
    made->theirs = wall->box->model;
    if (status == IMPL_OK && made->theirs)
        *model = made;
    else
        free(made);
    return status;
}

void wall_model_close(struct impl_model *m)
{
    struct impl_error ignored = {.status = IMPL_OK};

    call(m, WALL_MODEL_CLOSE, NULL, &ignored);
    free(m);
}

int wall_params(struct impl_model *m, int *n, struct impl_error *err)
{
    const struct wall_number put = {.value = *n};
    const struct wall_number *theirs = wall_put(m->wall, &put, sizeof put);
    const int status = call(m, WALL_PARAMS, theirs, err);

    *n = theirs ? theirs->value : *n;
    return status;
}

int wall_param(struct impl_model *m, int i, struct impl_param *param, struct impl_error *err)
{
    const struct wall_param put = {.i = i, .param = *param};
    const struct wall_param *theirs = wall_put(m->wall, &put, sizeof put);
    const int status = call(m, WALL_PARAM, theirs, err);

    if (theirs)
        memcpy(param, &theirs->param, sizeof *param);
    return status;
}

int wall_set(struct impl_model *m, int rank, enum impl_what what, int i,
             const struct impl_array *array, struct impl_error *err)
{
    struct wall_value put = {.rank = rank, .i = i, .what = what};
    int status;

    put.array = wall_put_arrays(m->wall, array, 1);
    status = call(m, WALL_SET, wall_put(m->wall, &put, sizeof put), err);
    wall_same_arrays(m->wall, array, put.array, 1);
    return status;
}

int wall_get(struct impl_model *m, int rank, enum impl_what what, int i, struct impl_array *array,
             struct impl_error *err)
{
    struct wall_value put = {.rank = rank, .i = i, .what = what};
    int status;

    put.array = wall_put_arrays(m->wall, array, 1);
    status = call(m, WALL_GET, wall_put(m->wall, &put, sizeof put), err);
    wall_take_arrays(array, put.array, 1);
    return status;
}

int wall_to(struct impl_model *m, int device, struct impl_error *err)
{
    const struct wall_number put = {.value = device};

    return call(m, WALL_TO, wall_put(m->wall, &put, sizeof put), err);
}

int wall_zero_grad(struct impl_model *m, struct impl_error *err)
{
    return call(m, WALL_ZERO_GRAD, NULL, err);
}

int wall_forward(struct impl_model *m, struct impl_forward *op, struct impl_error *err)
{
    struct wall *wall = m->wall;
    const size_t ranks = at_least_none(m->ranks), n_in = at_least_none(op->n_in) * ranks;
    const size_t n_args = at_least_none(op->n_args);
    struct impl_forward put = *op, *theirs;
    int status;

    put.in = wall_put_arrays(wall, op->in, n_in);
    put.args = wall_put_arrays(wall, op->args, n_args);
    put.out = wall_put_arrays(wall, op->out, ranks * IMPL_MAX_IO);
    put.active = wall_put(wall, op->active, ranks * sizeof *op->active);
    put.trace = wall_put(wall, op->trace, sizeof *op->trace);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(m, WALL_FORWARD, theirs, err);
    if (!theirs)
        return status;
    op->n_out = theirs->n_out;
    wall_same_arrays(wall, op->in, put.in, n_in);
    wall_same_arrays(wall, op->args, put.args, n_args);
    wall_take_arrays(op->out, put.out, ranks * IMPL_MAX_IO);
    if (op->trace)
        memcpy(op->trace, put.trace, sizeof *op->trace);
    return status;
}

int wall_backward(struct impl_model *m, struct impl_backward *op, struct impl_error *err)
{
    struct wall *wall = m->wall;
    const size_t n_grad = at_least_none(op->n_grad_out) * at_least_none(m->ranks);
    const size_t n_in = at_least_none(op->n_in);
    struct impl_backward put = *op, *theirs;
    int status;

    put.grad_out = wall_put_arrays(wall, op->grad_out, n_grad);
    put.grad_in = wall_put_arrays(wall, op->grad_in, n_in);
    put.trace = wall_put(wall, op->trace, sizeof *op->trace);
    theirs = wall_put(wall, &put, sizeof put);
    status = call(m, WALL_BACKWARD, theirs, err);
    if (!theirs)
        return status;
    wall_same_arrays(wall, op->grad_out, put.grad_out, n_grad);
    wall_take_arrays(op->grad_in, put.grad_in, n_in);
    if (op->trace)
        memcpy(op->trace, put.trace, sizeof *op->trace);
    return status;
}

int wall_step(struct impl_model *m, const struct impl_step *step, struct impl_error *err)
{
    return call(m, WALL_STEP, wall_put(m->wall, step, sizeof *step), err);
}
