/* golden.c: the golden data set, calls with any number of inputs, and the state that an error must
 * leave. */
#include "golden.h"

#include "impls/words.h"

#include <string.h>

/* ---- devices and models ---------------------------------------------------------------------- */

const int *golden_ids(struct check *c, int k)
{
    const int devices = check_devices(c);
    int *ids = check_memory(c, (size_t)(devices + 1) * sizeof *ids);
    int n = 0;

    if (k > devices)
        check_broken(c, "%d devices of %d", k, devices);
    for (int id = (devices - 1) / 2 * 2; id >= 0; id -= 2)
        ids[n++] = id;
    for (int id = devices / 2 * 2 - 1; id >= 0; id -= 2)
        ids[n++] = id;
    if (devices == 2) {
        ids[0] = 1;
        ids[1] = 0;
    }
    return ids;
}

int golden_places(const struct check *c)
{
    return check_devices(c) < 4 ? check_devices(c) : 4;
}

int golden_most(const struct check *c, int most)
{
    int best = 0;

    for (int i = 0, k; (k = check_count(c, i)) != 0; ++i)
        if (k <= most)
            best = k;
    return best;
}

struct impl_model *golden_parallel(struct check *c, int k, const char *options, const char *layers)
{
    return check_parallel(c, k, golden_ids(c, k), options, layers);
}

struct impl_model *golden_affine(struct check *c, int k)
{
    return golden_parallel(c, k, "", GOLDEN_AFFINE);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

struct impl_array *golden_vector(struct check *c, size_t n, double first, double step)
{
    return check_needs_grad(check_vector(c, n, check_sequence(c, n, first, step)));
}

struct impl_array *golden_rows(struct check *c, size_t n)
{
    return golden_vector(c, n, 1, 1);
}

struct impl_array *golden_matrix(struct check *c, size_t rows, size_t columns, double first,
                                 double step)
{
    const size_t dim[] = {rows, columns};

    return check_needs_grad(check_array(c, 2, dim, check_sequence(c, rows * columns, first, step)));
}

double golden_sum(size_t n)
{
    const double last = (double)n;

    return last * (last + 1) / 2;
}

double golden_squares(size_t n)
{
    const double last = (double)n;

    return last * (last + 1) * (2 * last + 1) / 6;
}

void golden_is(struct check *c, const char *what, const struct impl_array *got, int ndim,
               const size_t dim[], const double want[])
{
    size_t n = 1;

    for (int i = 0; i < ndim; ++i)
        n *= dim[i];
    check_shape(c, what, got, ndim, dim);
    check_true(c, got->dtype == IMPL_F32, "%s: type %s, must be float32", what,
               impl_dtype_word(got->dtype));
    check_values(c, what, got, n, want);
}

void golden_is_vector(struct check *c, const char *what, const struct impl_array *got, size_t n,
                      const double want[])
{
    golden_is(c, what, got, 1, &n, want);
}

void golden_is_sequence(struct check *c, const char *what, const struct impl_array *got, int ndim,
                        const size_t dim[], double first, double step)
{
    size_t n = 1;

    for (int i = 0; i < ndim; ++i)
        n *= dim[i];
    golden_is(c, what, got, ndim, dim, check_sequence(c, n, first, step));
}

void golden_is_counted(struct check *c, const char *what, const struct impl_array *got, size_t n,
                       double first, double step)
{
    golden_is(c, what, got, 1, &n, check_sequence(c, n, first, step));
}

/* ---- calls ----------------------------------------------------------------------------------- */

static size_t golden_bytes_of(const struct impl_array *array)
{
    return check_elements(array) * check_dtype_bytes(array->dtype);
}

int golden_try_forward(struct check *c, struct impl_model *model, struct golden_call *call)
{
    struct impl_array *in = check_memory(c, IMPL_MAX_IO * sizeof *in);
    struct impl_forward op = {.in = in,
                              .n_in = call->n_in,
                              .args = call->arg,
                              .n_args = call->arg != NULL,
                              .grad = !call->no_grad,
                              .train = true,
                              .trace = check_has(c, IMPL_CAP_TRACE) ? &call->trace : NULL};
    size_t bytes = 8192;
    int status;

    for (int i = 0; i < call->n_in; ++i) {
        in[i] = *call->in[i];
        bytes += 8 * golden_bytes_of(&in[i]);
    }
    op.out = call->out = check_output(c, IMPL_MAX_IO, bytes);
    status = check_try_forward(c, model, &op);
    call->n_out = op.n_out;
    return status;
}

void golden_forward(struct check *c, struct impl_model *model, struct golden_call *call)
{
    const int status = golden_try_forward(c, model, call);

    if (status != IMPL_OK)
        check_fail(c, "forward failed (%s): %s", impl_status_word(status), check_error(c)->text);
}

struct impl_array *golden_backward(struct check *c, struct impl_model *model,
                                   const struct golden_call *call,
                                   const struct impl_array *const grad_out[])
{
    struct impl_array *g = check_memory(c, IMPL_MAX_IO * sizeof *g);
    struct impl_backward op = {.grad_out = g, .n_grad_out = call->n_out, .n_in = call->n_in};
    size_t bytes = 8192;

    for (int i = 0; i < call->n_out; ++i)
        g[i] = grad_out[i] ? *grad_out[i] : *check_none(c);
    for (int i = 0; i < call->n_in; ++i)
        bytes += 2 * golden_bytes_of(call->in[i]);
    op.grad_in = check_output(c, IMPL_MAX_IO, bytes);
    check_backward_op(c, model, &op);
    return op.grad_in;
}

int golden_try_one(struct check *c, struct impl_model *model, const struct impl_array *x)
{
    struct golden_call call = {.in = {x}, .n_in = 1};

    return golden_try_forward(c, model, &call);
}

int golden_try_backward(struct check *c, struct impl_model *model, const struct impl_array *g)
{
    struct impl_backward op = {
        .grad_out = g, .n_grad_out = 1, .grad_in = check_output(c, 1, 8192), .n_in = 1};

    return check_try_backward(c, model, &op);
}

/* ---- errors ---------------------------------------------------------------------------------- */

void golden_prefill(struct check *c, struct impl_model *model)
{
    const double weight = 1000, bias = 123;

    check_set(c, model, IMPL_GRAD, 0, &weight);
    check_set(c, model, IMPL_GRAD, 1, &bias);
}

void golden_unharmed(struct check *c, struct impl_model *model)
{
    const size_t n = 10;
    const struct impl_array *y, *dx;

    check_value_is(c, model, 0, 2);
    check_value_is(c, model, 1, 1);
    check_grads_are(c, model, 1000, 123);
    y = check_forward(c, model, golden_rows(c, n));
    golden_is_counted(c, "output of the step after the error", y, n, 3, 2);
    dx = check_backward(c, model, golden_rows(c, n));
    golden_is_counted(c, "input gradient of the step after the error", dx, n, 2, 2);
    check_grads_are(c, model, 1000 + 385, 123 + 55);
}

void golden_works(struct check *c, int k)
{
    struct impl_model *model = golden_affine(c, k);

    golden_prefill(c, model);
    golden_unharmed(c, model);
    check_model_close(c, model);
}

bool golden_try_later(const struct check *c, int status, const struct golden_failure *later,
                      int *ms)
{
    const struct impl_error *error = check_error(c);

    if (status != later->status || error->replica != later->replica ||
        error->device != later->device || !strstr(error->text, later->text) || *ms >= 300)
        return false;
    *ms *= 64;
    return true;
}
