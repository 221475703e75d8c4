/* primitive.c: makes calls of the primitives, and checks their results. */
#include "primitive.h"

#include <string.h>

const int *primitive_order(struct check *c, int n)
{
    static const int four[] = {2, 0, 3, 1};
    const int devices = check_devices(c);
    int *ids = check_memory(c, (size_t)(n + 1) * sizeof *ids);

    for (int i = 0; i < n; ++i) {
        if (devices < 4)
            ids[i] = (i + devices - 1) % devices;
        else
            ids[i] = i < 4 ? four[i] : devices + 3 - i;
    }
    return ids;
}

int primitive_some(const struct check *c)
{
    return check_devices(c) < 4 ? check_devices(c) : 4;
}

static size_t primitive_bytes_of(const struct impl_array *array)
{
    return check_elements(array) * check_dtype_bytes(array->dtype);
}

/* ---- scatter --------------------------------------------------------------------------------- */

int primitive_try_scatter(struct check *c, const struct impl_array *input, const int devices[],
                          int n, int dim, const size_t sizes[], struct impl_array **shards, int *m)
{
    struct impl_scatter op = {
        .input = input, .devices = devices, .n = n, .dim = dim, .size = sizes};
    int status;

    *shards = op.shards = check_output(c, n, primitive_bytes_of(input));
    status = check_try_scatter(c, &op);
    *m = op.n_shards;
    return status;
}

struct impl_array *primitive_scatter(struct check *c, const struct impl_array *input,
                                     const int devices[], int n, int dim, int *m)
{
    struct impl_scatter op = {.input = input, .devices = devices, .n = n, .dim = dim};

    op.shards = check_output(c, n, primitive_bytes_of(input));
    check_scatter(c, &op);
    *m = op.n_shards;
    return op.shards;
}

const double *primitive_slice(struct check *c, const struct impl_array *whole, int dim,
                              size_t first, size_t count)
{
    const size_t size = whole->dim[dim];
    size_t outer = 1, inner = 1, n = 0;
    double *values;

    if (dim >= whole->ndim || first > size || count > size - first)
        check_fail(c, "an array has %zu rows, must have %zu more than %zu", size, count, first);
    for (int i = 0; i < dim; ++i)
        outer *= whole->dim[i];
    for (int i = dim + 1; i < whole->ndim; ++i)
        inner *= whole->dim[i];
    values = check_memory(c, (outer * count * inner + 1) * sizeof *values);
    for (size_t o = 0; o < outer; ++o)
        for (size_t i = 0; i < count * inner; ++i)
            values[n++] = check_element(whole, (o * size + first) * inner + i);
    return values;
}

void primitive_check_shards(struct check *c, const struct impl_array *whole, int dim,
                            const struct impl_array shards[], int m, const size_t sizes[],
                            const int devices[])
{
    size_t first = 0;

    for (int i = 0; i < m; ++i) {
        const char *what = check_text(c, "shard %d", i);
        size_t shape[IMPL_MAX_DIMS];

        memcpy(shape, whole->dim, sizeof shape);
        shape[dim] = sizes[i];
        check_shape(c, what, &shards[i], whole->ndim, shape);
        check_int(c, check_text(c, "%s: its type", what), shards[i].dtype, whole->dtype);
        check_values(c, what, &shards[i], check_elements(&shards[i]),
                     primitive_slice(c, whole, dim, first, sizes[i]));
        check_device(c, what, &shards[i], devices[i]);
        first += sizes[i];
    }
    check_int(c, "elements of the dimension in all shards", (long long)first,
              (long long)whole->dim[dim]);
}

/* ---- gather ---------------------------------------------------------------------------------- */

/* The outputs have the capacity for all the parts. */
static struct impl_gather gathering(struct check *c, const struct impl_array parts[], int n,
                                    int dim, int device)
{
    struct impl_gather op = {.parts = parts, .n = n, .dim = dim, .device = device};
    size_t bytes = 0;

    for (int i = 0; i < n; ++i)
        bytes += primitive_bytes_of(&parts[i]);
    op.out = check_output(c, 1, bytes);
    return op;
}

int primitive_try_gather(struct check *c, const struct impl_array parts[], int n, int dim,
                         int device)
{
    struct impl_gather op = gathering(c, parts, n, dim, device);

    return check_try_gather(c, &op);
}

struct impl_array *primitive_gather(struct check *c, const struct impl_array parts[], int n,
                                    int dim, int device)
{
    struct impl_gather op = gathering(c, parts, n, dim, device);

    check_gather(c, &op);
    return op.out;
}

struct impl_array *primitive_parts(struct check *c, const struct impl_array *like, int dim, int n,
                                   const size_t sizes[], const int devices[], double first)
{
    struct impl_array *parts = check_memory(c, (size_t)n * sizeof *parts);

    for (int i = 0; i < n; ++i) {
        struct impl_array shape = *like;
        size_t count;

        shape.dim[dim] = sizes[i];
        count = check_elements(&shape);
        parts[i] =
            *check_typed(c, like->dtype, like->ndim, shape.dim, check_sequence(c, count, first, 1));
        check_on(&parts[i], devices[i]);
        first += (double)count;
    }
    return parts;
}

void primitive_check_whole(struct check *c, const struct impl_array *whole,
                           const struct impl_array parts[], int n, int dim, int device)
{
    size_t shape[IMPL_MAX_DIMS], first = 0;

    memcpy(shape, parts[0].dim, sizeof shape);
    shape[dim] = 0;
    for (int i = 0; i < n; ++i)
        shape[dim] += parts[i].dim[dim];
    check_shape(c, "the result", whole, parts[0].ndim, shape);
    check_int(c, "the result's type", whole->dtype, parts[0].dtype);
    for (int i = 0; i < n; ++i) {
        const size_t count = parts[i].dim[dim];
        const double *found = primitive_slice(c, whole, dim, first, count);
        struct impl_array piece = *check_typed(c, whole->dtype, parts[i].ndim, parts[i].dim, found);

        check_same(c, check_text(c, "the rows of part %d", i), &piece, &parts[i]);
        first += count;
    }
    check_device(c, "the result", whole, device);
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct impl_array *primitive_upstream(struct check *c, const struct impl_array *y,
                                      const double values[])
{
    return check_on(check_typed(c, y->dtype, y->ndim, y->dim, values), y->device);
}

double primitive_sum(const double values[], size_t first, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; ++i)
        sum += values[first + i];
    return sum;
}

/* ---- calls of parallel_apply ----------------------------------------------------------------- */

struct impl_call *apply_calls(struct check *c, const int devices[], int n, size_t rows)
{
    struct impl_call *calls = check_memory(c, (size_t)n * sizeof *calls);

    for (int i = 0; i < n; ++i) {
        calls[i].device = devices[i];
        calls[i].in = check_on(check_counted(c, rows, 1 + 10.0 * i, 1), devices[i]);
        calls[i].n_in = 1;
        calls[i].out = check_output(c, IMPL_MAX_IO, 16 * rows);
    }
    return calls;
}

const char *apply_module(struct check *c, const char *layers)
{
    return check_text(c, "{\"layers\":[%s]}", layers);
}

int apply_try(struct check *c, struct impl_call *calls, int n)
{
    struct impl_apply op = {.calls = calls, .n = n, .grad = true, .train = true};

    return check_try_apply(c, &op);
}
