/* array.c: the arrays with the data of the cases. */
#include "inside.h"

#include <inttypes.h>
#include <math.h>

size_t check_dtype_bytes(enum impl_dtype dtype)
{
    switch (dtype) {
    case IMPL_F32:
    case IMPL_I32:
        return 4;
    case IMPL_F64:
    case IMPL_I64:
        return 8;
    default:
        return 0;
    }
}

size_t check_elements(const struct impl_array *array)
{
    size_t count = 1;

    if (array->dtype == IMPL_NONE)
        return 0;
    for (int i = 0; i < array->ndim; ++i)
        count *= array->dim[i];
    return count;
}

double check_element(const struct impl_array *array, size_t i)
{
    switch (array->dtype) {
    case IMPL_F32:
        return (double)((const float *)array->data)[i];
    case IMPL_F64:
        return ((const double *)array->data)[i];
    case IMPL_I32:
        return (double)((const int32_t *)array->data)[i];
    case IMPL_I64:
        return (double)((const int64_t *)array->data)[i];
    default:
        return NAN;
    }
}

/* An integer may have more digits than the double, so it is written from its bits. */
const char *check_number(struct check *c, enum impl_dtype dtype, double value, uint64_t bits)
{
    if (dtype == IMPL_I32)
        return check_text(c, "%" PRId32 " (0x%08" PRIx64 ")", (int32_t)bits, bits);
    if (dtype == IMPL_I64)
        return check_text(c, "%" PRId64 " (0x%016" PRIx64 ")", (int64_t)bits, bits);
    return dtype == IMPL_F64 ? check_text(c, "%.17g (0x%016" PRIx64 ")", value, bits)
                             : check_text(c, "%.9g (0x%08" PRIx64 ")", value, bits);
}

static void array_store(struct impl_array *array, size_t i, double value)
{
    switch (array->dtype) {
    case IMPL_F32:
        ((float *)array->data)[i] = (float)value;
        break;
    case IMPL_F64:
        ((double *)array->data)[i] = value;
        break;
    case IMPL_I32:
        ((int32_t *)array->data)[i] = (int32_t)value;
        break;
    case IMPL_I64:
        ((int64_t *)array->data)[i] = (int64_t)value;
        break;
    default:
        break;
    }
}

struct impl_array *check_typed(struct check *c, enum impl_dtype dtype, int ndim, const size_t dim[],
                               const double values[])
{
    struct impl_array like = {.dtype = dtype, .ndim = ndim, .device = IMPL_HOST};
    struct impl_array *array;

    for (int i = 0; i < ndim; ++i)
        like.dim[i] = dim[i];
    /* Cases make gradients in the shape of an output, and an implementation may return a wrong
     * shape. */
    if (check_elements(&like) > guard_room(c, values) / sizeof *values)
        check_fail(c, "an output has %zu elements, more than it must have", check_elements(&like));
    array = guard_input(c, &like);
    for (size_t i = 0; i < check_elements(array); ++i)
        array_store(array, i, values[i]);
    return array;
}

struct impl_array *check_array(struct check *c, int ndim, const size_t dim[], const double values[])
{
    return check_typed(c, IMPL_F32, ndim, dim, values);
}

struct impl_array *check_vector(struct check *c, size_t n, const double values[])
{
    return check_array(c, 1, &n, values);
}

struct impl_array *check_column(struct check *c, size_t n, const double values[])
{
    const size_t dim[] = {n, 1};

    return check_array(c, 2, dim, values);
}

struct impl_array *check_none(struct check *c)
{
    struct impl_array *array = check_memory(c, sizeof *array);

    array->device = IMPL_NOWHERE;
    return array;
}

struct impl_array *check_on(struct impl_array *array, int device)
{
    array->device = device;
    return array;
}

struct impl_array *check_needs_grad(struct impl_array *array)
{
    array->needs_grad = true;
    return array;
}

/* ---- numbers -------------------------------------------------------------------------------- */

const double *check_sequence(struct check *c, size_t count, double first, double step)
{
    double *values = check_memory(c, count * sizeof *values);

    for (size_t i = 0; i < count; ++i)
        values[i] = first + step * (double)i;
    return values;
}

struct impl_array *check_counted(struct check *c, size_t n, double first, double step)
{
    return check_column(c, n, check_sequence(c, n, first, step));
}

/* splitmix64 */
static uint64_t array_next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

const double *check_integers(struct check *c, size_t count, uint64_t seed)
{
    double *values = check_memory(c, count * sizeof *values);

    for (size_t i = 0; i < count; ++i) {
        const double magnitude = 1 + (double)(array_next_random(&seed) % 8);
        values[i] = array_next_random(&seed) % 2 == 0 ? magnitude : -magnitude;
    }
    return values;
}

const double *check_randoms(struct check *c, size_t count, uint64_t seed)
{
    double *values = check_memory(c, count * sizeof *values);

    for (size_t i = 0; i < count; ++i) {
        const double fraction = (double)(array_next_random(&seed) >> 40) / 16777216.0;
        const int exponent = (int)(array_next_random(&seed) % 12);
        const double value = ldexp(fraction, -exponent);
        values[i] = (double)(float)(array_next_random(&seed) % 2 == 0 ? value : -value);
    }
    return values;
}
