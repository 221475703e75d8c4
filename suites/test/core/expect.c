/* expect.c: what a case can expect. Tensors are read into memory that is filled with NaN and
 * fenced on both sides, so that what core does not write is never taken for a result. */
#include "context.h"

#include "numbers/equal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FENCE 64 /* bytes on either side of what is read */

void expect(struct context *c, bool holds, const char *format, ...)
{
    ++c->compared;
    if (holds)
        return;
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    case_fail(c, "%s", text);
}

void expect_ok(struct context *c, int status, const char *what)
{
    expect_ok_of(c, status, &c->err, what);
}

void expect_ok_of(struct context *c, int status, const struct dp_error *err, const char *what)
{
    if (status != DP_OK)
        case_fail(c, "%s: %s: %s", what, dp_status_name(status), err->text);
    if (err->status != DP_OK)
        case_fail(c, "%s returned 0 but recorded: %s", what, err->text);
}

void expect_error(struct context *c, int got, int status, const char *needle, const char *other)
{
    expect_error_of(c, got, status, &c->err, needle, other);
    c->seen = c->err;
    c->err = (struct dp_error){0};
}

void expect_error_of(struct context *c, int got, int status, const struct dp_error *err,
                     const char *needle, const char *other)
{
    expect(c, got == status, "status %s (%s), want %s", dp_status_name(got), err->text,
           dp_status_name(status));
    expect(c, err->status == status, "error records %s (%s), want %s", dp_status_name(err->status),
           err->text, dp_status_name(status));
    expect(c, err->text[0] != '\0' && !strchr(err->text, '\n'), "error text \"%s\" is not one line",
           err->text);
    expect(c, needle == NULL || strstr(err->text, needle), "error text \"%s\" does not name %s",
           err->text, needle);
    expect(c, other == NULL || strstr(err->text, other), "error text \"%s\" does not name %s",
           err->text, other);
}

void expect_shape(struct context *c, const char *what, const struct dp_tensor *tensor, int ndim,
                  const size_t dim[])
{
    expect(c, tensor->ndim == ndim, "%s: %d dimensions, want %d", what, tensor->ndim, ndim);
    for (int i = 0; i < ndim; ++i) {
        expect(c, tensor->dim[i] == dim[i], "%s: dimension %d is %zu, want %zu", what, i,
               tensor->dim[i], dim[i]);
    }
}

void expect_slot(struct context *c, const char *what, const struct dp_tensor *tensor,
                 const struct dp_slot *slot)
{
    expect(c, tensor->slot == slot, "%s is on %s, want %s", what,
           tensor->slot == NULL ? "no slot" : dp_slot_name(tensor->slot), dp_slot_name(slot));
}

/* All bytes of a tensor, in case memory. */
static const unsigned char *expect_read_bytes(struct context *c, const struct dp_tensor *tensor)
{
    if (!tensor->slot)
        case_fail(c, "a tensor that should be there is none");
    const size_t bytes = dp_tensor_bytes(tensor);
    unsigned char *memory = case_memory(c, bytes + 2 * FENCE);
    memset(memory, 0xa5, bytes + 2 * FENCE);
    memset(memory + FENCE, 0xff, bytes); /* NaN as DP_F32 and as DP_F64 */
    expect_ok(c, dp_tensor_read(memory + FENCE, tensor, &c->err), "dp_tensor_read");
    for (size_t i = 0; i < FENCE; ++i)
        if (memory[i] != 0xa5 || memory[FENCE + bytes + i] != 0xa5)
            case_fail(c, "dp_tensor_read wrote outside its %zu bytes", bytes);
    return memory + FENCE;
}

const float *read_floats(struct context *c, const struct dp_tensor *tensor)
{
    if (tensor->dtype != DP_F32)
        case_fail(c, "read_floats of dtype %d", (int)tensor->dtype);
    const unsigned char *bytes = expect_read_bytes(c, tensor);
    float *floats = case_memory(c, dp_tensor_bytes(tensor));
    memcpy(floats, bytes, dp_tensor_bytes(tensor));
    return floats;
}

static double wide_element(const struct dp_tensor *tensor, const unsigned char *bytes, size_t i)
{
    double f64;
    int32_t i32;
    int64_t i64;
    switch (tensor->dtype) {
    case DP_F64:
        memcpy(&f64, bytes + i * sizeof f64, sizeof f64);
        return f64;
    case DP_I32:
        memcpy(&i32, bytes + i * sizeof i32, sizeof i32);
        return i32;
    default:
        memcpy(&i64, bytes + i * sizeof i64, sizeof i64);
        return (double)i64;
    }
}

static void report(struct context *c, const char *what, size_t different, size_t n,
                   const struct equal_report *r)
{
    char text[160];
    c->compared += n;
    if (different != 0) {
        equal_text(r, text, sizeof text);
        case_fail(c, "%s: %s", what, text);
    }
}

void expect_values(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const double want[])
{
    const size_t n = dp_tensor_count(tensor);
    struct equal_report r = {0};
    if (tensor->dtype == DP_F32) {
        const float *got = read_floats(c, tensor);
        report(c, what, equal_exact(got, want, n, &r), n, &r);
        return;
    }
    const unsigned char *bytes = expect_read_bytes(c, tensor);
    for (size_t i = 0; i < n; ++i) {
        const double got = wide_element(tensor, bytes, i);
        expect(c, got == want[i], "%s: index %zu: got %.17g, want %.17g", what, i, got, want[i]);
    }
}

void expect_bits(struct context *c, const char *what, const struct dp_tensor *tensor,
                 const float want[])
{
    const size_t n = dp_tensor_count(tensor);
    struct equal_report r = {0};
    const float *got = read_floats(c, tensor);
    report(c, what, equal_bits(got, want, n, &r), n, &r);
}

void expect_within(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const double want[], const double bound[])
{
    const size_t n = dp_tensor_count(tensor);
    struct equal_report r = {0};
    const float *got = read_floats(c, tensor);
    report(c, what, equal_within(got, want, bound, n, &r), n, &r);
}

void expect_matrix(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const struct dp_slot *slot, size_t rows, size_t columns, const double want[])
{
    expect_slot(c, what, tensor, slot);
    expect_shape(c, what, tensor, 2, (size_t[]){rows, columns});
    expect_values(c, what, tensor, want);
}

void expect_scalar(struct context *c, const char *what, const struct dp_tensor *tensor,
                   const struct dp_slot *slot, double want)
{
    expect_slot(c, what, tensor, slot);
    expect_shape(c, what, tensor, 0, NULL);
    expect_values(c, what, tensor, &want);
}

void expect_grad(struct context *c, const char *what, const struct dp_param *param,
                 const double want[])
{
    expect(c, param->has_grad, "%s: %s has no gradient", what, param->name);
    expect_slot(c, what, &param->grad, param->value.slot);
    expect(c, param->grad.dtype == param->value.dtype, "%s: gradient's dtype differs", what);
    expect_shape(c, what, &param->grad, param->value.ndim, param->value.dim);
    expect_values(c, what, &param->grad, want);
}

void expect_no_grad(struct context *c, const char *what, const struct dp_param *param)
{
    expect(c, !param->has_grad, "%s: %s has a gradient, want none", what, param->name);
}
