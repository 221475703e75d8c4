/* sized.c: large arrays (sized.h). */
#include "sized.h"
/* A large parameter is guarded during its call, not during each later call. */
#include "inside.h"

#include "impls/words.h"

#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

float sized_number(uint64_t seed, size_t i)
{
    uint32_t mixed = (uint32_t)i * 0x9e3779b1u + (uint32_t)seed * 0x85ebca6bu + 1;
    int value;

    mixed = (mixed ^ (mixed >> 15)) * 0x2c1b3c6du;
    value = (int)((mixed ^ (mixed >> 13)) % 16) - 8;
    return (float)(value < 0 ? value : value + 1);
}

float *sized_numbers(struct check *c, size_t n, uint64_t seed)
{
    float *values = check_memory(c, n * sizeof *values);

    for (size_t i = 0; i < n; ++i)
        values[i] = sized_number(seed, i);
    return values;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

struct impl_array *sized_array(struct check *c, int ndim, const size_t dim[], const float values[])
{
    struct impl_array like = {.dtype = IMPL_F32, .ndim = ndim, .device = IMPL_HOST};
    struct impl_array *array;

    memcpy(like.dim, dim, (size_t)ndim * sizeof *dim);
    array = guard_input(c, &like);
    if (array->capacity > 0)
        memcpy(array->data, values, array->capacity);
    return array;
}

/* Makes outputs of a forward: the first has the capacity for `floats`, the others for nothing. */
static struct impl_array *sized_outputs(struct check *c, size_t floats)
{
    struct impl_array *out = check_memory(c, IMPL_MAX_IO * sizeof *out);

    memcpy(out + 1, check_output(c, IMPL_MAX_IO - 1, 16), (IMPL_MAX_IO - 1) * sizeof *out);
    out[0] = *check_output(c, 1, floats * sizeof(float));
    return out;
}

void sized_run(struct check *c, struct impl_model *model, struct sized_pass *pass)
{
    struct impl_forward forward = {.in = pass->x, .n_in = 1, .grad = true, .train = true};
    struct impl_backward backward = {.grad_out = pass->g, .n_grad_out = 1, .n_in = 1};

    forward.out = pass->y = sized_outputs(c, check_elements(pass->g));
    check_forward_op(c, model, &forward);
    check_int(c, "outputs", forward.n_out, 1);
    check_shape(c, "output", pass->y, pass->g->ndim, pass->g->dim);
    backward.grad_in =
        check_output(c, 1, pass->x->needs_grad ? check_elements(pass->x) * sizeof(float) : 16);
    check_backward_op(c, model, &backward);
    pass->dx = backward.grad_in;
    if (pass->x->needs_grad)
        check_shape(c, "input gradient", pass->dx, pass->x->ndim, pass->x->dim);
    else
        check_is_none(c, "input gradient", pass->dx);
}

struct guard *sized_mark(const struct check *c)
{
    return c->guards;
}

void sized_release(struct check *c, struct guard *mark)
{
    guard_after(c, "the last call");
    c->guards = mark;
}

/* ---- parameters ------------------------------------------------------------------------------ */

void sized_put(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
               const float values[])
{
    struct guard *before = c->guards;
    const struct impl_array *array;
    struct impl_param param;
    int status;

    check_param(c, model, i, &param);
    if (param.dtype != IMPL_F32)
        check_fail(c, "parameter %d has the type %s, must be float32", i,
                   impl_dtype_word(param.dtype));
    array = sized_array(c, param.ndim, param.dim, values);
    call_begin(c, "set");
    status = call_end(c, "set", c->session->ops->set(model, rank, what, i, array, &c->error));
    if (status != IMPL_OK)
        call_failed(c, "set", status);
    c->guards = before;
}

void sized_same(struct check *c, const char *what, const struct impl_array *got, size_t n,
                const float want[])
{
    double *exact;

    if (got->dtype == IMPL_F32 && check_elements(got) == n &&
        memcmp(got->data, want, n * sizeof *want) == 0) {
        c->outcome->compared += n;
        return;
    }
    exact = check_memory(c, n * sizeof *exact);
    for (size_t i = 0; i < n; ++i)
        exact[i] = (double)want[i];
    if (got->dtype != IMPL_F32 && got->dtype != IMPL_NONE)
        check_fail(c, "%s: type %s, must be float32", what, impl_dtype_word(got->dtype));
    check_values(c, what, got, n, exact);
}

void sized_is(struct check *c, struct impl_model *model, int rank, enum impl_what what, int i,
              size_t n, const float want[])
{
    sized_same(c,
               check_text(c, "%s of parameter %d, rank %d",
                          what == IMPL_GRAD ? "gradient" : "value", i, rank),
               check_get_rank(c, model, rank, what, i), n, want);
}

/* ---- what a linear layer makes --------------------------------------------------------------- */

void sized_products(float gradients[], float bias[], const float x[], const float g[], size_t rows,
                    size_t in, size_t out)
{
    for (size_t row = 0; row < rows; ++row)
        for (size_t o = 0; o < out; ++o) {
            const float up = g[row * out + o];

            for (size_t i = 0; i < in; ++i)
                gradients[o * in + i] += up * x[row * in + i];
            if (bias)
                bias[o] += up;
        }
}

void sized_linear(float y[], const float weight[], const float bias[], const float x[], size_t rows,
                  size_t in, size_t out)
{
    for (size_t row = 0; row < rows; ++row)
        for (size_t o = 0; o < out; ++o) {
            float sum = bias ? bias[o] : 0;

            for (size_t i = 0; i < in; ++i)
                sum += weight[o * in + i] * x[row * in + i];
            y[row * out + o] = sum;
        }
}

void sized_back(float dx[], const float weight[], const float g[], size_t rows, size_t in,
                size_t out)
{
    for (size_t row = 0; row < rows; ++row)
        for (size_t o = 0; o < out; ++o)
            for (size_t i = 0; i < in; ++i)
                dx[row * in + i] += weight[o * in + i] * g[row * out + o];
}
