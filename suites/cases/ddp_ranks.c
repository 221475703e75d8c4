/* ddp_ranks.c: calls of models of several ranks, and checks of all ranks. */
#include "ddp.h"
/* check.h has no functions for single ranks: neither for `set`, nor for the outputs of a
 * forward. */
#include "inside.h"

#include <string.h>

int ddp_ranks(int i)
{
    return i < 2 ? 2 << i : 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Copies the first n arrays of each rank into one list, as the interface requires; their data stay
 * where they are guarded. */
static struct impl_array *in_a_row(struct check *c, const struct ddp_call *call, int n,
                                   const struct impl_array *one[][IMPL_MAX_IO])
{
    struct impl_array *row = check_memory(c, (size_t)(call->ranks * n + 1) * sizeof *row);

    for (int i = 0; i < call->ranks * n; ++i)
        row[i] = one[i / n][i % n] ? *one[i / n][i % n] : *check_none(c);
    return row;
}

static size_t room_of(const struct ddp_call *call)
{
    size_t most = 0;

    if (call->room > 0)
        return call->room * sizeof(float);
    for (int r = 0; r < call->ranks; ++r)
        if (call->in[r][0] && check_elements(call->in[r][0]) > most)
            most = check_elements(call->in[r][0]);
    return 4 * 8 * most + 8192;
}

int ddp_try_forward(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    struct impl_array *out = check_output(c, call->ranks * IMPL_MAX_IO, room_of(call));
    struct impl_forward op = {.in = in_a_row(c, call, call->n_in, call->in),
                              .n_in = call->n_in,
                              .args = call->args,
                              .n_args = call->n_args,
                              .out = out,
                              .grad = !call->infer,
                              .train = !call->eval,
                              .active = call->active,
                              .no_sync = call->no_sync,
                              .trace = call->forward};
    const int status = check_try_forward(c, model, &op);
    bool anyone = call->active == NULL;

    if (status != IMPL_OK)
        return status;
    for (int r = 0; r < call->ranks; ++r) {
        const bool active = !call->active || call->active[r];

        anyone = anyone || active;
        for (int i = 0; i < IMPL_MAX_IO; ++i) {
            call->out[r][i] = &out[r * IMPL_MAX_IO + i];
            if (active && i < op.n_out)
                guard_output(c, "forward", call->out[r][i]);
        }
    }
    if ((anyone || call->n_out == 0) && op.n_out != call->n_out)
        check_fail(c, "forward: %d outputs of each rank, must be %d", op.n_out, call->n_out);
    return status;
}

int ddp_try_backward(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    const int n = call->ranks * call->n_in;
    struct impl_array *grad_in = check_output(c, n, room_of(call));
    bool given = false;

    for (int i = 0; i < call->ranks * call->n_out; ++i)
        given = given || call->g[i / call->n_out][i % call->n_out];
    for (int i = 0; i < n; ++i)
        call->grad_in[i / call->n_in][i % call->n_in] = &grad_in[i];
    return check_try_backward(
        c, model,
        &(struct impl_backward){.grad_out = in_a_row(c, call, call->n_out, call->g),
                                .n_grad_out = given ? call->n_out : 0,
                                .grad_in = grad_in,
                                .n_in = n,
                                .trace = call->backward});
}

void ddp_forward(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    const int status = ddp_try_forward(c, model, call);

    if (status != IMPL_OK)
        call_failed(c, "forward", status);
}

void ddp_backward(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    const int status = ddp_try_backward(c, model, call);

    if (status != IMPL_OK)
        call_failed(c, "backward", status);
}

void ddp_pass(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    ddp_forward(c, model, call);
    ddp_backward(c, model, call);
}

void ddp_fresh_pass(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    check_zero_grad(c, model);
    ddp_pass(c, model, call);
}

void ddp_forward_counted(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    ddp_forward(c, model, call);
    check_int(c, "outputs of each rank", call->n_out, call->n_out);
}

void ddp_pass_counted(struct check *c, struct impl_model *model, struct ddp_call *call)
{
    ddp_forward_counted(c, model, call);
    ddp_backward(c, model, call);
}

/* ---- parameters ------------------------------------------------------------------------------ */

void ddp_set(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
             const double values[])
{
    const struct impl_array *array = check_none(c);
    struct impl_param param;
    int status;

    check_param(c, model, i, &param);
    if (values)
        array = check_typed(c, param.dtype, param.ndim, param.dim, values);
    call_begin(c, "set");
    status = call_end(c, "set", c->session->ops->set(model, rank, what, i, array, &c->error));
    if (status != IMPL_OK)
        call_failed(c, "set", status);
}

/* Names parameter i, which was got last: a buffer also by the name that the layer gives it. */
static const char *parameter(struct check *c, enum impl_what what, int i)
{
    return what == IMPL_GRAD ? check_text(c, "gradient of parameter %d", i)
           : c->param.buffer ? check_text(c, "value %d, the buffer '%s'", i, c->param.name)
                             : check_text(c, "value of parameter %d", i);
}

void ddp_all_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                 size_t n, const double want[])
{
    for (int r = 0; r < ranks; ++r) {
        const struct impl_array *got = check_get_rank(c, model, r, what, i);

        check_values(c, check_text(c, "rank %d of %d: %s", r, ranks, parameter(c, what, i)), got, n,
                     want);
    }
}

void ddp_all_is(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                double want)
{
    ddp_all_are(c, model, ranks, what, i, 1, &want);
}

void ddp_grads_are(struct check *c, struct impl_model *model, int ranks, double weight, double bias)
{
    ddp_all_is(c, model, ranks, IMPL_GRAD, 0, weight);
    ddp_all_is(c, model, ranks, IMPL_GRAD, 1, bias);
}

void ddp_rank_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
                 double want)
{
    const struct impl_array *got = check_get_rank(c, model, rank, what, i);

    check_values(c, check_text(c, "rank %d: %s", rank, parameter(c, what, i)), got, 1, &want);
}

double ddp_share(int ranks, int i)
{
    const volatile float inverse = 1.0F / (float)ranks; /* this is rounded */
    int share = 0;

    while (i >= 0) {
        volatile float product;

        ++share;
        product = (float)(ranks * share) * inverse;
        if (product == (float)share)
            --i;
    }
    return share;
}

/* ---- batches --------------------------------------------------------------------------------- */

void ddp_batches(struct check *c, int ranks, uint64_t turn, struct ddp_batch batch[DDP_MOST])
{
    for (int r = 0; r < ranks; ++r) {
        const uint64_t rank = (uint64_t)r, seed = check_seed(c) + 64 * turn + 2 * rank;
        struct ddp_batch *own = &batch[r];
        double *x;

        own->n = (size_t)(1 + (3 * rank + turn) % DDP_MOST);
        own->g = check_integers(c, own->n, seed);
        own->x = x = check_memory(c, own->n * sizeof *x);
        memcpy(x, check_integers(c, own->n, seed + 1), own->n * sizeof *x);
        own->weight = own->bias = 0;
        for (size_t i = 0; i < own->n; ++i) {
            x[i] += 16 * r; /* no two ranks have the same values */
            own->weight += own->g[i] * x[i];
            own->bias += own->g[i];
        }
    }
}

struct ddp_call ddp_call_of(struct check *c, int ranks, const struct ddp_batch batch[])
{
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};

    for (int r = 0; r < ranks; ++r) {
        call.in[r][0] = check_needs_grad(check_vector(c, batch[r].n, batch[r].x));
        call.g[r][0] = check_vector(c, batch[r].n, batch[r].g);
    }
    return call;
}

struct ddp_call ddp_rows(struct check *c, int ranks, const double x[])
{
    struct ddp_call call = {.ranks = ranks, .n_in = 1, .n_out = 1};

    for (int r = 0; r < ranks; ++r)
        call.in[r][0] = check_needs_grad(check_vector(c, 1, &x[r]));
    return call;
}
