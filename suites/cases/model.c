/* model.c: operations on models. */
#include "inside.h"

#include "impls/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- opening and closing --------------------------------------------------------------------- */

static const struct impl_ops *ops_of(struct check *c, const struct impl_model *model)
{
    for (const struct open_model *open = c->models; open; open = open->next)
        if (open->model == model)
            return open->ops;
    check_broken(c, "the case uses a model that is not open");
}

int check_try_model(struct check *c, const char *description, int ranks, struct impl_model **model)
{
    const struct impl_ops *ops = c->session->ops;
    struct open_model *open;
    int status;

    *model = NULL;
    if (!ops->model_open || !ops->model_close)
        check_fail(c, "there is no operation model_open");
    scenario_model(c, description, ranks);
    call_begin(c, "model_open");
    status = call_end(c, "model_open",
                      ops->model_open(c->session->session, description, ranks, model, &c->error));
    if (status != IMPL_OK)
        return status;
    if (!*model)
        check_fail(c, "model_open succeeded without a model");
    open = check_memory(c, sizeof *open);
    open->model = *model;
    open->ops = ops;
    open->ranks = ranks;
    open->scenario = c->scenario;
    open->next = c->models;
    c->models = open;
    return status;
}

struct impl_model *check_model(struct check *c, const char *format, ...)
{
    va_list args, again;
    char *text;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = check_memory(c, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    struct impl_model *model;
    const int status = check_try_model(c, text, 1, &model);

    if (status != IMPL_OK)
        call_failed(c, "model_open", status);
    return model;
}

struct impl_model *check_parallel(struct check *c, int k, const int ids[], const char *options,
                                  const char *layers)
{
    const char *list = ids ? check_list(c, ids, k) : check_ids(c, k);

    c->parts = k;
    c->of_ranks = false;
    return check_model(
        c, "{\"layers\":[{\"kind\":\"parallel\",\"device_ids\":%s,%s \"layers\":[%s]}]}", list,
        options, layers);
}

struct impl_model *check_ddp_model(struct check *c, int ranks, const char *description)
{
    struct impl_model *model;
    const int status = check_try_model(c, description, ranks, &model);

    c->parts = ranks;
    c->of_ranks = true;
    if (status == IMPL_ENODEV && ranks > check_devices(c)) {
        if (c->ranked && c->outcome->compared > c->before_them)
            longjmp(c->leave, LEAVE_ENOUGH);
        check_few_devices(c, ranks);
    }
    if (status != IMPL_OK)
        call_failed(c, "model_open", status);
    if (!c->ranked) {
        c->ranked = true;
        c->before_them = c->outcome->compared;
    }
    return model;
}

void check_model_close(struct check *c, struct impl_model *model)
{
    struct open_model **link = &c->models;

    while (*link && (*link)->model != model)
        link = &(*link)->next;
    if (!*link)
        check_broken(c, "the case closes a model that is not open");
    call_begin(c, "model_close");
    (*link)->ops->model_close(model);
    *link = (*link)->next;
    call_end(c, "model_close", IMPL_OK);
}

void check_close_models(struct check *c)
{
    char changed[AROUND_WORDS];

    if (c->settings->doing)
        snprintf(c->settings->doing, 64, "model_close");
    for (; c->models; c->models = c->models->next) {
        state_before(c->settings, &c->around);
        c->models->ops->model_close(c->models->model);
        state_after(c->settings, &c->around, changed);
        if (changed[0] != '\0')
            check_after(c->outcome, "model_close changed %s", changed);
    }
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void model_must(struct check *c, const char *what, int status)
{
    if (call_end(c, what, status) != IMPL_OK)
        call_failed(c, what, status);
}

static int check_try_to(struct check *c, struct impl_model *model, int device)
{
    const struct impl_ops *ops = ops_of(c, model);

    call_begin(c, "to");
    return call_end(c, "to", ops->to(model, device, &c->error));
}

void check_to(struct check *c, struct impl_model *model, int device)
{
    const int status = check_try_to(c, model, device);

    if (status != IMPL_OK)
        call_failed(c, "to", status);
}

void check_zero_grad(struct check *c, struct impl_model *model)
{
    const struct impl_ops *ops = ops_of(c, model);

    scenario_call(c, "zero_grad");
    call_begin(c, "zero_grad");
    model_must(c, "zero_grad", ops->zero_grad(model, &c->error));
}

void check_step_of(struct check *c, struct impl_model *model, const struct impl_step *step)
{
    const struct impl_ops *ops = ops_of(c, model);

    scenario_call(c, "step");
    call_begin(c, "step");
    model_must(c, "step", ops->step(model, step, &c->error));
}

void check_step(struct check *c, struct impl_model *model, float lr, float momentum)
{
    check_step_of(c, model, &(struct impl_step){.lr = lr, .momentum = momentum});
}

int check_params(struct check *c, struct impl_model *model)
{
    const struct impl_ops *ops = ops_of(c, model);
    int n = -1;

    call_begin(c, "params");
    model_must(c, "params", ops->params(model, &n, &c->error));
    if (n < 0)
        check_fail(c, "params: %d parameters", n);
    return n;
}

void check_param(struct check *c, struct impl_model *model, int i, struct impl_param *param)
{
    const struct impl_ops *ops = ops_of(c, model);

    memset(param, 0, sizeof *param);
    call_begin(c, "param");
    model_must(c, "param", ops->param(model, i, param, &c->error));
    check_clean(param->name, sizeof param->name);
    if (param->ndim < 0 || param->ndim > IMPL_MAX_DIMS || check_dtype_bytes(param->dtype) == 0)
        check_fail(c, "param %d has %d dimensions and the type %s", i, param->ndim,
                   impl_dtype_word(param->dtype));
}

void check_set(struct check *c, struct impl_model *model, enum impl_what what, int i,
               const double values[])
{
    const struct impl_ops *ops = ops_of(c, model);
    const struct impl_array *array;
    struct impl_param param;

    if (!values) {
        array = check_none(c);
    } else {
        check_param(c, model, i, &param);
        array = check_typed(c, param.dtype, param.ndim, param.dim, values);
    }
    call_begin(c, "set");
    model_must(c, "set", ops->set(model, 0, what, i, array, &c->error));
}

struct impl_array *check_get_rank(struct check *c, struct impl_model *model, int rank,
                                  enum impl_what what, int i)
{
    const struct impl_ops *ops = ops_of(c, model);
    struct impl_array like = {0}, *out;
    const struct impl_param *param = &c->param;

    /* One question for all ranks: by many implementations it takes as long as the get. */
    if (!c->got || c->reading.model != model || c->reading.i != i)
        check_param(c, model, i, &c->param);
    like.dtype = param->dtype;
    like.ndim = param->ndim;
    memcpy(like.dim, param->dim, sizeof like.dim);
    out = check_output(c, 1, check_elements(&like) * check_dtype_bytes(param->dtype));
    call_begin(c, "get");
    model_must(c, "get", ops->get(model, rank, what, i, out, &c->error));
    guard_output(c, "get", out);
    if (out->dtype != IMPL_NONE &&
        (out->dtype != param->dtype || check_elements(out) != check_elements(&like)))
        check_fail(c, "get: parameter %d has another type or size than param says", i);
    c->got = true;
    c->reading = (struct reading){model, what, rank, i, out};
    return out;
}

struct impl_array *check_get(struct check *c, struct impl_model *model, enum impl_what what, int i)
{
    return check_get_rank(c, model, 0, what, i);
}

/* ---- forward and backward -------------------------------------------------------------------- */

int check_try_forward(struct check *c, struct impl_model *model, struct impl_forward *op)
{
    const struct impl_ops *ops = ops_of(c, model);
    int status;

    guard_poison(op->out, IMPL_MAX_IO);
    op->n_out = -1;
    if (op->trace)
        memset(op->trace, 0, sizeof *op->trace);
    scenario_forward(c, model, op);
    call_begin(c, "forward");
    status = call_end(c, "forward", ops->forward(model, op, &c->error));
    if (status != IMPL_OK)
        return status;
    if (op->n_out < 0 || op->n_out > IMPL_MAX_IO)
        check_fail(c, "forward: %d outputs", op->n_out);
    for (int i = 0; i < op->n_out; ++i)
        guard_output(c, "forward", &op->out[i]);
    if (op->trace && (op->trace->replicas < 0 || op->trace->replicas > IMPL_MAX_DEVICES))
        check_fail(c, "forward: a trace of %d replicas", op->trace->replicas);
    return status;
}

int check_try_backward(struct check *c, struct impl_model *model, struct impl_backward *op)
{
    const struct impl_ops *ops = ops_of(c, model);
    int status;

    guard_poison(op->grad_in, (size_t)op->n_in);
    if (op->trace)
        memset(op->trace, 0, sizeof *op->trace);
    scenario_call(c, "backward");
    call_begin(c, "backward");
    status = call_end(c, "backward", ops->backward(model, op, &c->error));
    for (int i = 0; status == IMPL_OK && i < op->n_in; ++i)
        guard_output(c, "backward", &op->grad_in[i]);
    return status;
}

void check_forward_op(struct check *c, struct impl_model *model, struct impl_forward *op)
{
    const int status = check_try_forward(c, model, op);

    if (status != IMPL_OK)
        call_failed(c, "forward", status);
}

void check_backward_op(struct check *c, struct impl_model *model, struct impl_backward *op)
{
    const int status = check_try_backward(c, model, op);

    if (status != IMPL_OK)
        call_failed(c, "backward", status);
}

int check_try_one(struct check *c, struct impl_model *model, const struct impl_array *x, bool grad,
                  bool train)
{
    const size_t bytes = check_elements(x) * check_dtype_bytes(x->dtype);
    struct impl_forward op = {.in = x, .n_in = 1, .grad = grad, .train = train};

    op.out = check_output(c, IMPL_MAX_IO, 8 * bytes + 4096);
    return check_try_forward(c, model, &op);
}

const struct impl_array *check_one(struct check *c, struct impl_model *model,
                                   const struct impl_array *x, bool grad, bool train)
{
    const size_t bytes = check_elements(x) * check_dtype_bytes(x->dtype);
    struct impl_forward op = {.in = x, .n_in = 1, .grad = grad, .train = train};

    op.out = check_output(c, IMPL_MAX_IO, 8 * bytes + 4096);
    check_forward_op(c, model, &op);
    return op.out;
}

static struct impl_array *forward_one(struct check *c, struct impl_model *model,
                                      const struct impl_array *x, bool grad,
                                      struct impl_trace *trace)
{
    const size_t bytes = check_elements(x) * check_dtype_bytes(x->dtype);
    struct impl_array *out = check_output(c, IMPL_MAX_IO, 8 * bytes + 4096);
    struct impl_forward op = {
        .in = x, .n_in = 1, .out = out, .grad = grad, .train = true, .trace = trace};

    check_forward_op(c, model, &op);
    if (op.n_out != 1)
        check_fail(c, "forward: %d outputs, must be 1", op.n_out);
    return out;
}

struct impl_array *check_forward(struct check *c, struct impl_model *model,
                                 const struct impl_array *x)
{
    return forward_one(c, model, x, true, NULL);
}

struct impl_array *check_forward_trace(struct check *c, struct impl_model *model,
                                       const struct impl_array *x, struct impl_trace *trace)
{
    return forward_one(c, model, x, true, trace);
}

struct impl_array *check_infer(struct check *c, struct impl_model *model,
                               const struct impl_array *x)
{
    return forward_one(c, model, x, false, NULL);
}

struct impl_array *check_backward(struct check *c, struct impl_model *model,
                                  const struct impl_array *g)
{
    const size_t bytes = !g ? 0 : check_elements(g) * check_dtype_bytes(g->dtype);
    struct impl_array *grad_in = check_output(c, 1, 16 * bytes + 32768);
    struct impl_backward op = {
        .grad_out = g, .n_grad_out = !g ? 0 : 1, .grad_in = grad_in, .n_in = 1};

    check_backward_op(c, model, &op);
    return grad_in;
}

void check_value_is(struct check *c, struct impl_model *model, int i, double want)
{
    check_values(c, check_text(c, "parameter %d", i), check_get(c, model, IMPL_VALUE, i), 1, &want);
}

void check_grad_is(struct check *c, struct impl_model *model, int i, double want)
{
    check_values(c, check_text(c, "gradient of parameter %d", i), check_get(c, model, IMPL_GRAD, i),
                 1, &want);
}

void check_grads_are(struct check *c, struct impl_model *model, double weight, double bias)
{
    check_grad_is(c, model, 0, weight);
    check_grad_is(c, model, 1, bias);
}

void check_grad_none(struct check *c, struct impl_model *model, int i)
{
    check_is_none(c, check_text(c, "gradient of parameter %d", i),
                  check_get(c, model, IMPL_GRAD, i));
}
