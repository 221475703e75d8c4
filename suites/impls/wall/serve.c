/* serve.c: the process that an implementation runs in: makes the calls that it is asked for, and
 * says what came of them. It judges nothing. */
#include "inside.h"

#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNHEARD = 3 };

struct call {
    const struct impl_ops *ops;
    struct wall_box *box;
    void *arguments;
    struct impl_error *err;
};

/* ---- one function for each operation --------------------------------------------------------- */

static int do_open(struct call *c)
{
    struct wall_open *open = c->arguments;
    struct impl_session *session = NULL;
    const int status = c->ops->open(&open->config, &open->about, &session, c->err);

    c->box->session = session;
    return status;
}

static int do_close(struct call *c)
{
    c->ops->close(c->box->session);
    return IMPL_OK;
}

static int do_reset(struct call *c)
{
    return c->ops->reset(c->box->session, c->err);
}

static int do_split(struct call *c)
{
    return c->ops->split(c->box->session, c->arguments, c->err);
}

static int do_scatter(struct call *c)
{
    return c->ops->scatter(c->box->session, c->arguments, c->err);
}

static int do_gather(struct call *c)
{
    return c->ops->gather(c->box->session, c->arguments, c->err);
}

static int do_broadcast(struct call *c)
{
    return c->ops->broadcast(c->box->session, c->arguments, c->err);
}

static int do_reduce(struct call *c)
{
    return c->ops->reduce(c->box->session, c->arguments, c->err);
}

static int do_apply(struct call *c)
{
    return c->ops->apply(c->box->session, c->arguments, c->err);
}

static int do_buckets(struct call *c)
{
    return c->ops->buckets(c->box->session, c->arguments, c->err);
}

static int do_sampler(struct call *c)
{
    return c->ops->sampler(c->box->session, c->arguments, c->err);
}

static int do_model_open(struct call *c)
{
    const struct wall_model_open *open = c->arguments;
    struct impl_model *model = NULL;
    const int status =
        c->ops->model_open(c->box->session, open->description, open->ranks, &model, c->err);

    c->box->model = model;
    return status;
}

static int do_model_close(struct call *c)
{
    c->ops->model_close(c->box->model);
    return IMPL_OK;
}

static int do_params(struct call *c)
{
    struct wall_number *number = c->arguments;

    return c->ops->params(c->box->model, &number->value, c->err);
}

static int do_param(struct call *c)
{
    struct wall_param *param = c->arguments;

    return c->ops->param(c->box->model, param->i, &param->param, c->err);
}

static int do_set(struct call *c)
{
    const struct wall_value *value = c->arguments;

    return c->ops->set(c->box->model, value->rank, value->what, value->i, value->array, c->err);
}

static int do_get(struct call *c)
{
    const struct wall_value *value = c->arguments;

    return c->ops->get(c->box->model, value->rank, value->what, value->i, value->array, c->err);
}

static int do_to(struct call *c)
{
    const struct wall_number *number = c->arguments;

    return c->ops->to(c->box->model, number->value, c->err);
}

static int do_zero_grad(struct call *c)
{
    return c->ops->zero_grad(c->box->model, c->err);
}

static int do_forward(struct call *c)
{
    return c->ops->forward(c->box->model, c->arguments, c->err);
}

static int do_backward(struct call *c)
{
    return c->ops->backward(c->box->model, c->arguments, c->err);
}

static int do_step(struct call *c)
{
    return c->ops->step(c->box->model, c->arguments, c->err);
}

static int (*const doing[WALL_OPS])(struct call *) = {
    [WALL_OPEN] = do_open,
    [WALL_CLOSE] = do_close,
    [WALL_RESET] = do_reset,
    [WALL_SPLIT] = do_split,
    [WALL_SCATTER] = do_scatter,
    [WALL_GATHER] = do_gather,
    [WALL_BROADCAST] = do_broadcast,
    [WALL_REDUCE] = do_reduce,
    [WALL_APPLY] = do_apply,
    [WALL_BUCKETS] = do_buckets,
    [WALL_SAMPLER] = do_sampler,
    [WALL_MODEL_OPEN] = do_model_open,
    [WALL_MODEL_CLOSE] = do_model_close,
    [WALL_PARAMS] = do_params,
    [WALL_PARAM] = do_param,
    [WALL_SET] = do_set,
    [WALL_GET] = do_get,
    [WALL_TO] = do_to,
    [WALL_ZERO_GRAD] = do_zero_grad,
    [WALL_FORWARD] = do_forward,
    [WALL_BACKWARD] = do_backward,
    [WALL_STEP] = do_step,
};

/* ---- serving --------------------------------------------------------------------------------- */

/* False: nobody asks any more. */
static bool hear(const struct wall_serve *serve, uint64_t *number)
{
    ssize_t n;

    do
        n = read(serve->ask, number, sizeof *number);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *number;
}

static void tell(const struct wall_serve *serve, uint64_t number)
{
    ssize_t n;

    do
        n = write(serve->answer, &number, sizeof number);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof number)
        _exit(UNHEARD);
}

static void load(struct wall_serve *serve, struct impl_source *source)
{
    struct wall_box *box = serve->box;
    struct around around;

    around_begin(&around);
    box->status = impl_load(serve->plan->spec, serve->plan->options, source, box->reason) == 0
                      ? IMPL_OK
                      : IMPL_EBROKEN;
    around_end(&around, box->changed);
    if (box->status != IMPL_OK)
        return;
    memcpy(&box->table, source->ops, sizeof box->table);
    memcpy(box->options, source->options, sizeof box->options);
}

static void allow(struct wall_serve *serve)
{
    const struct wall_box *box = serve->box;

    for (size_t i = 0; i < box->n_fresh && i < ARENA_FRESH; ++i)
        arena_allow(&serve->arena, box->fresh[i]);
}

static void answer(struct wall_serve *serve, const struct impl_ops *ops)
{
    struct wall_box *box = serve->box;
    struct call call = {ops, box, box->arguments, &box->error};
    struct around around;
    int status;

    allow(serve);
    around_begin(&around);
    status = doing[box->op](&call);
    around_end(&around, box->changed);
    box->status = status;
}

_Noreturn void wall_serve(struct wall_serve *serve)
{
    struct impl_source source;
    uint64_t number = 0;

    arena_shut(&serve->arena);
    load(serve, &source);
    tell(serve, number);
    while (hear(serve, &number)) {
        answer(serve, source.ops);
        tell(serve, number);
    }
    if (serve->plan->sanitized)
        exit(EXIT_SUCCESS);
    _exit(EXIT_SUCCESS);
}
