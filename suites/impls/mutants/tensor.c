/* tensor.c: memory and tensors: host memory with a device tag. */
#include "inside.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    struct piece *next;
    size_t bytes;
    max_align_t data[];
};

void *arena_take(struct arena *arena, size_t bytes)
{
    struct piece *piece = calloc(1, sizeof *piece + bytes);

    if (!piece)
        abort(); /* the suite reports a process that dies */
    piece->bytes = bytes;
    piece->next = arena->pieces;
    arena->pieces = piece;
    atomic_fetch_add(&arena->session->live, bytes);
    return piece->data;
}

void arena_free(struct arena *arena)
{
    while (arena->pieces) {
        struct piece *piece = arena->pieces;

        arena->pieces = piece->next;
        atomic_fetch_sub(&arena->session->live, piece->bytes);
        free(piece);
    }
}

size_t dtype_bytes(enum impl_dtype dtype)
{
    if (dtype == IMPL_NONE)
        return 0;
    return dtype == IMPL_F32 || dtype == IMPL_I32 ? 4 : 8;
}

size_t tensor_count(const struct impl_array *tensor)
{
    size_t count = 1;

    for (int i = 0; i < tensor->ndim; ++i)
        count *= tensor->dim[i];
    return count;
}

size_t tensor_bytes(const struct impl_array *tensor)
{
    return tensor_count(tensor) * dtype_bytes(tensor->dtype);
}

float *floats(const struct impl_array *tensor)
{
    return tensor->data;
}

bool same_shape(const struct impl_array *a, const struct impl_array *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; ++i)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

struct impl_array tensor_none(void)
{
    const struct impl_array none = {.dtype = IMPL_NONE, .device = IMPL_NOWHERE};

    return none;
}

struct impl_array tensor_new(struct arena *arena, enum impl_dtype dtype, int ndim,
                             const size_t dim[], int device)
{
    struct impl_array tensor = {.dtype = dtype, .ndim = ndim, .device = device};

    for (int i = 0; i < ndim; ++i)
        tensor.dim[i] = dim[i];
    tensor.capacity = tensor_bytes(&tensor);
    tensor.data = arena_take(arena, tensor.capacity);
    return tensor;
}

struct impl_array tensor_like(struct arena *arena, const struct impl_array *like)
{
    return tensor_new(arena, like->dtype, like->ndim, like->dim, like->device);
}

struct impl_array tensor_copy(struct arena *arena, const struct impl_array *from, int device)
{
    struct impl_array tensor;

    if (from->dtype == IMPL_NONE)
        return tensor_none();
    tensor = tensor_new(arena, from->dtype, from->ndim, from->dim, device);
    tensor.needs_grad = from->needs_grad;
    memcpy(tensor.data, from->data, tensor.capacity);
    return tensor;
}

/* Computes to[i] += from[i]; without from, it adds 1. */
static void add_elements(struct impl_array *to, size_t first, size_t count, const void *from)
{
    for (size_t i = 0; i < count; ++i)
        switch (to->dtype) {
        case IMPL_F32:
            ((float *)to->data)[first + i] += from ? ((const float *)from)[i] : 1;
            break;
        case IMPL_F64:
            ((double *)to->data)[first + i] += from ? ((const double *)from)[i] : 1;
            break;
        case IMPL_I32:
            ((int32_t *)to->data)[first + i] += from ? ((const int32_t *)from)[i] : 1;
            break;
        case IMPL_I64:
            ((int64_t *)to->data)[first + i] += from ? ((const int64_t *)from)[i] : 1;
            break;
        case IMPL_NONE:
            break;
        }
}

void tensor_add(struct impl_array *to, const struct impl_array *from)
{
    add_elements(to, 0, tensor_count(to), from->data);
}

size_t without_tail(size_t n, bool cut, size_t block, size_t least)
{
    return cut && n > least ? n - n % block : n;
}

struct impl_array tensor_list(const struct impl_array *a, size_t n)
{
    struct impl_array list = *a;

    list.ndim = 1;
    list.dim[0] = n;
    return list;
}

void begin_again(const struct impl_array *a, size_t bytes)
{
    char *data = a->data;

    for (size_t at = bytes; at < a->capacity; at += bytes)
        memcpy(data + at, data, a->capacity - at < bytes ? a->capacity - at : bytes);
}

void swap_halves(void *data, size_t bytes)
{
    char *low = data, *high = low + bytes / 2;

    for (size_t i = 0; i < bytes / 2; ++i) {
        const char byte = low[i];

        low[i] = high[i];
        high[i] = byte;
    }
}

void round_to_float(struct impl_array *tensor, bool doubles)
{
    for (size_t i = 0; i < tensor_count(tensor); ++i) {
        if (doubles && tensor->dtype == IMPL_F64)
            ((double *)tensor->data)[i] = (float)((double *)tensor->data)[i];
        if (!doubles && tensor->dtype == IMPL_I64)
            ((int64_t *)tensor->data)[i] = (int64_t)(float)((int64_t *)tensor->data)[i];
        if (!doubles && tensor->dtype == IMPL_I32)
            ((int32_t *)tensor->data)[i] = (int32_t)(float)((int32_t *)tensor->data)[i];
    }
}

/* Return the product of the dimensions before dim, and of those after it. */
static size_t outer_of(const struct impl_array *tensor, int dim)
{
    size_t outer = 1;

    for (int i = 0; i < dim; ++i)
        outer *= tensor->dim[i];
    return outer;
}

static size_t inner_of(const struct impl_array *tensor, int dim)
{
    size_t inner = 1;

    for (int i = dim + 1; i < tensor->ndim; ++i)
        inner *= tensor->dim[i];
    return inner;
}

void tensor_poke(struct impl_array *tensor, size_t first, size_t count, int dim)
{
    const size_t outer = outer_of(tensor, dim), inner = inner_of(tensor, dim);

    for (size_t o = 0; o < outer; ++o)
        add_elements(tensor, (o * tensor->dim[dim] + first) * inner, count * inner, NULL);
}

void slice_copy(struct impl_array *to, size_t to_first, const struct impl_array *from,
                size_t from_first, size_t count, int dim)
{
    const size_t outer = outer_of(from, dim);
    const size_t inner = inner_of(from, dim) * dtype_bytes(from->dtype);

    if (count * inner == 0)
        return;
    for (size_t o = 0; o < outer; ++o)
        memcpy((char *)to->data + (o * to->dim[dim] + to_first) * inner,
               (const char *)from->data + (o * from->dim[dim] + from_first) * inner, count * inner);
}

/* ---- the caller's arrays ------------------------------------------------------------------- */

int tensor_in(struct arena *arena, const struct impl_array *array, struct impl_array *tensor,
              struct impl_error *err)
{
    size_t count = 1;

    if (array->ndim < 0 || array->ndim > IMPL_MAX_DIMS)
        return impl_fail(err, IMPL_EINVAL, "an array of %d dimensions", array->ndim);
    if ((int)array->dtype < IMPL_NONE || (int)array->dtype > IMPL_I64)
        return impl_fail(err, IMPL_EINVAL, "an array of the unknown type %d", (int)array->dtype);
    *tensor = tensor_none();
    if (array->dtype == IMPL_NONE)
        return 0;
    for (int i = 0; i < array->ndim; ++i) {
        if (array->dim[i] > 0 && count > ((size_t)1 << 32) / array->dim[i])
            return impl_fail(err, IMPL_EINVAL, "an array of too many elements");
        count *= array->dim[i];
    }
    if (count > 0 && !array->data)
        return impl_fail(err, IMPL_EINVAL, "an array without data");
    if (known_device(arena->session, array->device, err) != 0)
        return err->status;
    *tensor = tensor_new(arena, array->dtype, array->ndim, array->dim, array->device);
    tensor->needs_grad = array->needs_grad;
    if (count > 0)
        memcpy(tensor->data, array->data, tensor->capacity);
    return 0;
}

int tensor_out(const struct impl_array *tensor, struct impl_array *array, struct impl_error *err)
{
    const size_t bytes = tensor->dtype == IMPL_NONE ? 0 : tensor_bytes(tensor);

    if (bytes > array->capacity)
        return impl_fail(err, IMPL_EROOM, "a result of %zu bytes, room for %zu", bytes,
                         array->capacity);
    array->dtype = tensor->dtype;
    array->ndim = tensor->ndim;
    memcpy(array->dim, tensor->dim, sizeof array->dim);
    array->device = tensor->device;
    if (bytes > 0)
        memcpy(array->data, tensor->data, bytes);
    return 0;
}

/* ---- what lay at an address ------------------------------------------------------------------ */

void memo_use(struct memo *memo, const void *at, struct impl_array *tensor)
{
    const bool known = memo->bytes && memo->at == at && memo->n == tensor->capacity;

    if (known) {
        memcpy(tensor->data, memo->bytes, memo->n);
        return;
    }
    memo_forget(memo);
    if (tensor->dtype == IMPL_NONE || tensor->capacity == 0)
        return;
    memo->bytes = malloc(tensor->capacity);
    if (!memo->bytes)
        abort();
    memo->at = at;
    memo->n = tensor->capacity;
    memcpy(memo->bytes, tensor->data, memo->n);
}

void memo_forget(struct memo *memo)
{
    free(memo->bytes);
    *memo = (struct memo){0};
}

/* ---- special numbers: infinite, NaN, denormal, minus zero, of many bits ---------------------- */

/* Returns a value as the bug changes it. */
static float changed(float value, enum bug number)
{
    switch (number) {
    case BUG_PART_NAN:
    case BUG_RANKS_NAN:
        return isnan(value) ? 0 : value;
    case BUG_SUM_CLAMPED:
        return isinf(value) ? copysignf(FLT_MAX, value) : value;
    case BUG_SUM_DENORMAL:
    case BUG_DX_DENORMAL:
    case BUG_RANKS_DENORMAL:
        return fpclassify(value) == FP_SUBNORMAL ? 0 : value;
    case BUG_SCATTER_ZERO:
    case BUG_GATHER_ZERO:
    case BUG_REPLICA_ZERO:
        return value == 0 ? 0 : value;
    default:
        return value;
    }
}

float value_changed(const struct impl_session *s, float value, enum bug number)
{
    return bug(s, number) ? changed(value, number) : value;
}

void values_changed(const struct impl_session *s, struct impl_array *tensor, enum bug number)
{
    for (size_t i = 0; bug(s, number) && tensor->dtype == IMPL_F32 && i < tensor_count(tensor); ++i)
        floats(tensor)[i] = changed(floats(tensor)[i], number);
}

void wide_rounded(const struct impl_session *s, struct impl_array *tensor, enum bug number)
{
    for (size_t i = 0; bug(s, number) && tensor->dtype == IMPL_I64 && i < tensor_count(tensor);
         ++i) {
        const double value = (double)((int64_t *)tensor->data)[i];

        /* The largest integers cannot be represented in a double, and would not fit when they are
         * converted back. */
        if (fabs(value) < 0x1p62)
            ((int64_t *)tensor->data)[i] = (int64_t)value;
    }
}
