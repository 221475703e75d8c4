/* models.c: the operations on a model, which the process knows by a number. */
#include "exec.h"
#include "session.h"

#include <stdlib.h>

static const char *what_word(enum impl_what what)
{
    return what == IMPL_VALUE ? "value" : "grad";
}

static size_t count(int n)
{
    return n > 0 ? (size_t)n : 0;
}

/* ---- open and close -------------------------------------------------------------------------- */

static bool is_open(const struct impl_session *session, long long handle)
{
    for (const struct impl_model *model = session->models; model; model = model->next)
        if (model->handle == handle)
            return true;
    return false;
}

int exec_model_open(struct impl_session *session, const char *description, int ranks,
                    struct impl_model **model, struct impl_error *err)
{
    const struct question question = {
        .op = "model_open",
        .fields = json_pack("{s:s, s:i}", "description", description, "ranks", ranks),
        .limit_ms = session->limit_ms > EXEC_MODEL_MS ? session->limit_ms : EXEC_MODEL_MS};
    struct impl_model *opened;
    struct answer a;
    int status = session_ask(session, question, &a, err);
    long long handle;

    if (status != IMPL_OK)
        return status;
    handle = answer_int(&a, a.ok, "", "model", 0, INT64_MAX);
    if (a.fault[0] == '\0' && is_open(session, handle))
        answer_fault(&a, "model %lld is open already", handle);
    status = answer_end(&a);
    if (status != IMPL_OK)
        return status;
    opened = calloc(1, sizeof *opened);
    if (!opened)
        return session_break(session, err, "model_open: no memory");
    opened->session = session;
    opened->handle = handle;
    opened->ranks = ranks;
    opened->next = session->models;
    session->models = opened;
    *model = opened;
    return IMPL_OK;
}

void exec_model_close(struct impl_model *model)
{
    struct impl_session *session = model->session;
    const struct question question = {.op = "model_close",
                                      .fields = json_pack("{s:I}", "model", model->handle)};
    struct impl_model **link = &session->models;
    struct impl_error ignored; /* a session that breaks here says so at its next operation */

    session_tell(session, question, &ignored);
    while (*link != model)
        link = &(*link)->next;
    *link = model->next;
    free(model);
}

void exec_forget_models(struct impl_session *session)
{
    while (session->models) {
        struct impl_model *next = session->models->next;
        free(session->models);
        session->models = next;
    }
}

/* ---- parameters ------------------------------------------------------------------------------ */

int exec_params(struct impl_model *model, int *n, struct impl_error *err)
{
    const struct question question = {.op = "params",
                                      .fields = json_pack("{s:I}", "model", model->handle)};
    struct answer a;
    const int status = session_ask(model->session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    *n = (int)answer_int(&a, a.ok, "", "n", 0, 1 << 20);
    return answer_end(&a);
}

int exec_param(struct impl_model *model, int i, struct impl_param *param, struct impl_error *err)
{
    const struct question question = {
        .op = "param", .fields = json_pack("{s:I, s:i}", "model", model->handle, "i", i)};
    struct answer a;
    const int status = session_ask(model->session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_text(&a, a.ok, "", "name", param->name, sizeof param->name);
    param->dtype = answer_dtype(&a, a.ok, "");
    answer_dims(&a, a.ok, "", &param->ndim, param->dim);
    param->device = (int)answer_int(&a, a.ok, "", "device", IMPL_HOST, IMPL_MAX_DEVICES - 1);
    param->buffer = answer_flag(&a, a.ok, "", "buffer");
    param->frozen = answer_flag(&a, a.ok, "", "frozen");
    return answer_end(&a);
}

int exec_set(struct impl_model *model, int rank, enum impl_what what, int i,
             const struct impl_array *array, struct impl_error *err)
{
    const struct question question = {
        .op = "set",
        .fields = json_pack("{s:I, s:i, s:s, s:i, s:o}", "model", model->handle, "rank", rank,
                            "what", what_word(what), "i", i, "array", json_array_of(array))};

    return session_tell(model->session, question, err);
}

int exec_get(struct impl_model *model, int rank, enum impl_what what, int i,
             struct impl_array *array, struct impl_error *err)
{
    const struct question question = {.op = "get",
                                      .fields =
                                          json_pack("{s:I, s:i, s:s, s:i}", "model", model->handle,
                                                    "rank", rank, "what", what_word(what), "i", i),
                                      .room = arrays_room(array, 1)};
    struct answer a;
    const int status = session_ask(model->session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_array_field(&a, "array", array);
    return answer_end(&a);
}

int exec_to(struct impl_model *model, int device, struct impl_error *err)
{
    const struct question question = {
        .op = "to", .fields = json_pack("{s:I, s:i}", "model", model->handle, "device", device)};

    return session_tell(model->session, question, err);
}

int exec_zero_grad(struct impl_model *model, struct impl_error *err)
{
    const struct question question = {.op = "zero_grad",
                                      .fields = json_pack("{s:I}", "model", model->handle)};

    return session_tell(model->session, question, err);
}

int exec_step(struct impl_model *model, const struct impl_step *step, struct impl_error *err)
{
    json_t *adamw = !step->adamw ? json_null()
                                 : json_pack("{s:f, s:f, s:f, s:f}", "beta1", (double)step->beta1,
                                             "beta2", (double)step->beta2, "eps", (double)step->eps,
                                             "decay", (double)step->decay);
    const struct question question = {
        .op = "step",
        .fields = json_pack("{s:I, s:f, s:f, s:f, s:o}", "model", model->handle, "lr",
                            (double)step->lr, "momentum", (double)step->momentum, "max_norm",
                            (double)step->max_norm, "adamw", adamw)};

    return session_tell(model->session, question, err);
}

/* ---- forward and backward -------------------------------------------------------------------- */

static json_t *json_flags(const bool *flags, size_t n)
{
    json_t *list = !flags ? json_null() : json_array();

    for (size_t i = 0; flags && i < n; ++i)
        json_array_append_new(list, json_boolean(flags[i]));
    return list;
}

/* n_out for each rank, packed in JSON; in memory each rank has IMPL_MAX_IO places. */
static void read_outputs(struct answer *a, struct impl_forward *op, size_t ranks)
{
    const json_t *list;

    op->n_out = (int)answer_int(a, a->ok, "", "n_out", 0, INT32_MAX);
    if (op->n_out > IMPL_MAX_IO) {
        a->room = true;
        return;
    }
    list = answer_list(a, a->ok, "", "out", ranks * (size_t)op->n_out);
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const size_t n_out = (size_t)op->n_out, rank = i / n_out;

        answer_array(a, json_array_get(list, i), "out", &op->out[rank * IMPL_MAX_IO + i % n_out]);
    }
}

int exec_forward(struct impl_model *model, struct impl_forward *op, struct impl_error *err)
{
    const size_t ranks = count(model->ranks);
    const struct question question = {
        .op = "forward",
        .fields = json_pack("{s:I, s:o, s:i, s:o, s:b, s:b, s:o, s:b, s:b}", "model", model->handle,
                            "in", json_arrays(op->in, ranks * count(op->n_in)), "n_in", op->n_in,
                            "args", json_arrays(op->args, count(op->n_args)), "grad", op->grad,
                            "train", op->train, "active", json_flags(op->active, ranks), "no_sync",
                            op->no_sync, "trace", op->trace != NULL),
        .room = arrays_room(op->out, ranks * IMPL_MAX_IO)};
    struct answer a;
    const int status = session_ask(model->session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    read_outputs(&a, op, ranks);
    answer_trace(&a, op->trace);
    return answer_end(&a);
}

int exec_backward(struct impl_model *model, struct impl_backward *op, struct impl_error *err)
{
    const struct question question = {
        .op = "backward",
        .fields =
            json_pack("{s:I, s:o, s:i, s:i, s:b}", "model", model->handle, "grad_out",
                      json_arrays(op->grad_out, count(model->ranks) * count(op->n_grad_out)),
                      "n_grad_out", op->n_grad_out, "n_in", op->n_in, "trace", op->trace != NULL),
        .room = arrays_room(op->grad_in, count(op->n_in))};
    struct answer a;
    const int status = session_ask(model->session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_arrays_field(&a, "grad_in", op->grad_in, count(op->n_in));
    answer_trace(&a, op->trace);
    return answer_end(&a);
}
