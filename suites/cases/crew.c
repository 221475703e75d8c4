/* crew.c: calls of any number of ranks (crew.h). */
#include "crew.h"
/* check.h only checks the outputs of the first rank. */
#include "inside.h"

static size_t room_of(const struct crew_call *call)
{
    return (call->room > 0 ? call->room : 256) * sizeof(float);
}

/* Copies the first n arrays of each rank into one list; their data stay where they are guarded. */
static struct impl_array *in_a_row(struct check *c, const struct crew_call *call, int n,
                                   const struct impl_array *one[][IMPL_MAX_IO])
{
    struct impl_array *row = check_memory(c, (size_t)(call->ranks * n + 1) * sizeof *row);

    for (int i = 0; i < call->ranks * n; ++i)
        row[i] = one[i / n][i % n] ? *one[i / n][i % n] : *check_none(c);
    return row;
}

void crew_forward(struct check *c, struct impl_model *model, struct crew_call *call)
{
    struct impl_array *out = check_output(c, call->ranks * IMPL_MAX_IO, room_of(call));
    struct impl_forward op = {.in = in_a_row(c, call, call->n_in, call->in),
                              .n_in = call->n_in,
                              .out = out,
                              .grad = !call->infer,
                              .train = !call->eval,
                              .active = call->active,
                              .no_sync = call->no_sync};

    check_forward_op(c, model, &op);
    check_int(c, "outputs of each rank", op.n_out, call->n_out);
    for (int r = 0; r < call->ranks; ++r)
        for (int i = 0; i < call->n_out; ++i) {
            call->out[r][i] = &out[r * IMPL_MAX_IO + i];
            if (!call->active || call->active[r])
                guard_output(c, "forward", call->out[r][i]);
        }
}

void crew_backward(struct check *c, struct impl_model *model, struct crew_call *call)
{
    const int n = call->ranks * call->n_in;
    struct impl_array *grad_in = check_output(c, n, room_of(call));

    for (int i = 0; i < n; ++i)
        call->grad_in[i / call->n_in][i % call->n_in] = &grad_in[i];
    check_backward_op(c, model,
                      &(struct impl_backward){.grad_out = in_a_row(c, call, call->n_out, call->g),
                                              .n_grad_out = call->n_out,
                                              .grad_in = grad_in,
                                              .n_in = n});
}

void crew_pass(struct check *c, struct impl_model *model, struct crew_call *call)
{
    crew_forward(c, model, call);
    crew_backward(c, model, call);
}

double crew_share(int ranks, int i)
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

static const char *word(enum impl_what what)
{
    return what == IMPL_GRAD ? "gradient" : "value";
}

void crew_all_are(struct check *c, struct impl_model *model, int ranks, enum impl_what what, int i,
                  size_t n, const double want[])
{
    for (int r = 0; r < ranks; ++r)
        check_values(c, check_text(c, "rank %d of %d: %s of parameter %d", r, ranks, word(what), i),
                     check_get_rank(c, model, r, what, i), n, want);
}

void crew_rank_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
                  double want)
{
    check_values(c, check_text(c, "rank %d: %s of parameter %d", rank, word(what), i),
                 check_get_rank(c, model, rank, what, i), 1, &want);
}

void crew_set(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
              const double values[])
{
    struct impl_param param;
    const struct impl_array *array;
    int status;

    check_param(c, model, i, &param);
    array = check_typed(c, param.dtype, param.ndim, param.dim, values);
    call_begin(c, "set");
    status = call_end(c, "set", c->session->ops->set(model, rank, what, i, array, &c->error));
    if (status != IMPL_OK)
        call_failed(c, "set", status);
}
