/* serve_models.c: the operations on models, which the other end knows by their place in a table. */
#include "serve.h"

#include <string.h>

/* Room for a result; pages of it that are not used cost nothing. */
enum { MODEL_ROOM = 1 << 22, PARAM_ROOM = 1 << 26 };

/* What every one of them begins with. */
struct on {
    struct serve *s;
    int number;
    struct impl_model *model;
};

static int serve_model_open(struct serve *s, json_t **ok, struct impl_error *err)
{
    const char *description = json_string_value(json_object_get(s->request.ok, "description"));
    int free_place = 0, status;

    while (free_place < SERVE_MODELS && s->model[free_place])
        ++free_place;
    if (free_place == SERVE_MODELS || !description)
        return impl_fail(err, IMPL_EBROKEN, "no description, or too many models");
    s->ranks[free_place] = serve_int(s, "ranks");
    status = s->source.ops->model_open(s->session, description, s->ranks[free_place],
                                       &s->model[free_place], err);
    if (status == IMPL_OK)
        *ok = json_pack("{s:i}", "model", free_place);
    else
        s->model[free_place] = NULL;
    return status;
}

static int serve_model_close(const struct on *on, json_t **ok, struct impl_error *err)
{
    (void)err;
    on->s->source.ops->model_close(on->model);
    on->s->model[on->number] = NULL;
    *ok = json_object();
    return IMPL_OK;
}

static int serve_params(const struct on *on, json_t **ok, struct impl_error *err)
{
    int n = 0;
    const int status = on->s->source.ops->params(on->model, &n, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:i}", "n", n);
    return status;
}

static int serve_param(const struct on *on, json_t **ok, struct impl_error *err)
{
    struct impl_param p;
    int status;

    memset(&p, 0, sizeof p);
    status = on->s->source.ops->param(on->model, serve_int(on->s, "i"), &p, err);
    if (status == IMPL_OK)
        *ok = json_pack("{s:s, s:s, s:o, s:i, s:b, s:b}", "name", p.name, "dtype",
                        impl_dtype_word(p.dtype), "dims", json_sizes(p.dim, (size_t)p.ndim),
                        "device", p.device, "buffer", p.buffer, "frozen", p.frozen);
    return status;
}

static enum impl_what what_of(const struct on *on)
{
    const char *word = json_string_value(json_object_get(on->s->request.ok, "what"));

    return word && strcmp(word, "grad") == 0 ? IMPL_GRAD : IMPL_VALUE;
}

static int serve_set(const struct on *on, json_t **ok, struct impl_error *err)
{
    *ok = json_object();
    return on->s->source.ops->set(on->model, serve_int(on->s, "rank"), what_of(on),
                                  serve_int(on->s, "i"), serve_array(on->s, "array"), err);
}

static int serve_get(const struct on *on, json_t **ok, struct impl_error *err)
{
    struct impl_array *array = serve_outputs(on->s, 1, PARAM_ROOM);
    const int status = on->s->source.ops->get(on->model, serve_int(on->s, "rank"), what_of(on),
                                              serve_int(on->s, "i"), array, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o}", "array", json_array_of(array));
    return status;
}

static int serve_to(const struct on *on, json_t **ok, struct impl_error *err)
{
    *ok = json_object();
    return on->s->source.ops->to(on->model, serve_int(on->s, "device"), err);
}

static int serve_zero_grad(const struct on *on, json_t **ok, struct impl_error *err)
{
    *ok = json_object();
    return on->s->source.ops->zero_grad(on->model, err);
}

static float number(const json_t *object, const char *name)
{
    return (float)json_number_value(json_object_get(object, name));
}

static int serve_step(const struct on *on, json_t **ok, struct impl_error *err)
{
    const json_t *request = on->s->request.ok, *adamw = json_object_get(request, "adamw");
    const struct impl_step step = {.lr = number(request, "lr"),
                                   .momentum = number(request, "momentum"),
                                   .max_norm = number(request, "max_norm"),
                                   .beta1 = number(adamw, "beta1"),
                                   .beta2 = number(adamw, "beta2"),
                                   .eps = number(adamw, "eps"),
                                   .decay = number(adamw, "decay"),
                                   .adamw = json_is_object(adamw)};

    *ok = json_object();
    return on->s->source.ops->step(on->model, &step, err);
}

static const bool *flags(struct serve *s, const char *name)
{
    const json_t *list = json_object_get(s->request.ok, name);
    bool *values = serve_memory(s, json_array_size(list) + 1);

    for (size_t i = 0; i < json_array_size(list); ++i)
        values[i] = json_is_true(json_array_get(list, i));
    return json_is_array(list) ? values : NULL;
}

static int serve_forward(const struct on *on, json_t **ok, struct impl_error *err)
{
    struct serve *s = on->s;
    const size_t ranks = (size_t)s->ranks[on->number];
    size_t n, n_args;
    const struct impl_array *in = serve_arrays(s, s->request.ok, "in", &n);
    const struct impl_array *args = serve_arrays(s, s->request.ok, "args", &n_args);
    struct impl_trace *trace =
        serve_true(s, "trace") ? serve_memory(s, sizeof(struct impl_trace)) : NULL;
    struct impl_forward op = {.in = in,
                              .n_in = serve_int(s, "n_in"),
                              .args = args,
                              .n_args = (int)n_args,
                              .out = serve_outputs(s, ranks * IMPL_MAX_IO, MODEL_ROOM),
                              .grad = serve_true(s, "grad"),
                              .train = serve_true(s, "train"),
                              .active = flags(s, "active"),
                              .no_sync = serve_true(s, "no_sync"),
                              .trace = trace};
    const int status = s->source.ops->forward(on->model, &op, err);
    json_t *out;

    if (status != IMPL_OK)
        return status;
    out = json_array();
    for (size_t rank = 0; rank < ranks; ++rank)
        for (int i = 0; i < op.n_out; ++i)
            json_array_append_new(out, json_array_of(&op.out[rank * IMPL_MAX_IO + (size_t)i]));
    *ok = json_pack("{s:o, s:i, s:o}", "out", out, "n_out", op.n_out, "trace", serve_trace(trace));
    return status;
}

static int serve_backward(const struct on *on, json_t **ok, struct impl_error *err)
{
    struct serve *s = on->s;
    size_t n;
    const struct impl_array *grad_out = serve_arrays(s, s->request.ok, "grad_out", &n);
    const int n_in = serve_int(s, "n_in");
    struct impl_trace *trace =
        serve_true(s, "trace") ? serve_memory(s, sizeof(struct impl_trace)) : NULL;
    struct impl_backward op = {.grad_out = grad_out,
                               .n_grad_out = serve_int(s, "n_grad_out"),
                               .grad_in = serve_outputs(s, (size_t)n_in, MODEL_ROOM),
                               .n_in = n_in,
                               .trace = trace};
    const int status = s->source.ops->backward(on->model, &op, err);

    if (status == IMPL_OK)
        *ok = json_pack("{s:o, s:o}", "grad_in", json_arrays(op.grad_in, (size_t)n_in), "trace",
                        serve_trace(trace));
    return status;
}

int serve_model_operation(struct serve *s, const char *op, json_t **ok, struct impl_error *err)
{
    static const struct {
        const char *op;
        int (*run)(const struct on *on, json_t **ok, struct impl_error *err);
    } table[] = {
        {"model_close", serve_model_close},
        {"params", serve_params},
        {"param", serve_param},
        {"set", serve_set},
        {"get", serve_get},
        {"to", serve_to},
        {"zero_grad", serve_zero_grad},
        {"step", serve_step},
        {"forward", serve_forward},
        {"backward", serve_backward},
    };
    struct on on = {.s = s};

    if (strcmp(op, "model_open") == 0)
        return serve_model_open(s, ok, err);
    on.number = (int)answer_int(&s->request, s->request.ok, "", "model", 0, SERVE_MODELS - 1);
    on.model = s->model[on.number];
    if (!on.model)
        return impl_fail(err, IMPL_EBROKEN, "there is no model %d", on.number);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
        if (strcmp(table[i].op, op) == 0)
            return table[i].run(&on, ok, err);
    return impl_fail(err, IMPL_ENOTSUP, "no operation '%.40s'", op);
}
