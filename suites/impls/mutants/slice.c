/* slice.c: scatter and gather. */
#include "inside.h"

#include <math.h>
#include <string.h>

int wrap_dim(int dim, int ndim)
{
    if (dim < -ndim || dim >= ndim)
        return -1;
    return dim < 0 ? dim + ndim : dim;
}

/* ---- scatter ------------------------------------------------------------------------------- */

static int sizes_fit(const struct impl_session *s, const size_t size[], int k, size_t rows,
                     struct impl_error *err)
{
    size_t sum = 0;

    for (int i = 0; i < k; ++i) {
        if (size[i] > rows)
            return impl_fail(err, IMPL_ESHAPE, "shard %d of %zu rows, there are %zu", i, size[i],
                             rows);
        sum += size[i];
    }
    if (sum > rows || (sum < rows && !bug(s, BUG_SIZES_UNCHECKED)))
        return impl_fail(err, IMPL_ESHAPE, "sizes add up to %zu, there are %zu rows", sum, rows);
    return 0;
}

/* Changes the values of a shard that was sent, if a bug does so. */
static void in_transit(const struct arena *arena, struct impl_array *shard, bool moved)
{
    const struct impl_session *s = arena->session;
    const size_t staging = 1024;

    if (shard->dtype == IMPL_I64 && bug(s, BUG_INT64_AS_FLOAT))
        round_to_float(shard, false);
    if (shard->dtype == IMPL_F32 && (bug(s, BUG_NOT_FINITE) || (moved && bug(s, BUG_DENORMAL))))
        for (size_t i = 0; i < tensor_count(shard); ++i) {
            const int kind = fpclassify(floats(shard)[i]);

            if (bug(s, BUG_DENORMAL) ? kind == FP_SUBNORMAL : kind == FP_NAN || kind == FP_INFINITE)
                floats(shard)[i] = 0;
        }
    if (moved && bug(s, BUG_SHARD_MIB))
        begin_again(shard, MIB / 4);
    wide_rounded(s, shard, BUG_SCATTER_DOUBLE);
    values_changed(s, shard, BUG_SCATTER_ZERO);
    if (moved && shard->capacity >= 2 * staging && bug(s, BUG_STAGING_REUSED))
        memcpy(shard->data, (char *)shard->data + staging, staging);
}

static void slice_cut(struct arena *arena, const struct impl_array *x, size_t first, size_t count,
                      int dim, struct impl_array *shard)
{
    struct impl_array like = *x;

    like.dim[dim] = count;
    like.device = shard->device;
    *shard = tensor_like(arena, &like);
    shard->needs_grad = x->needs_grad;
    slice_copy(shard, 0, x, first, count, dim);
    if (dim > 0 && dtype_bytes(x->dtype) == 8 && bug(arena->session, BUG_WIDE_ELEMENTS))
        memset((char *)shard->data + shard->capacity / 2, 0, shard->capacity / 2);
    if (x->ndim == 3 && dim > 0 && x->dim[0] > 0 && bug(arena->session, BUG_OUTER_LOST)) {
        const size_t plane = shard->capacity / x->dim[0];

        memset((char *)shard->data + plane, 0, shard->capacity - plane);
    }
}

/* Cuts rows i, i + m, i + 2m, ... */
static void cut_strided(struct arena *arena, const struct impl_array *x, size_t i, size_t m,
                        size_t count, int dim, struct impl_array *shard)
{
    slice_cut(arena, x, 0, count, dim, shard);
    for (size_t row = 0; row < count; ++row)
        slice_copy(shard, row, x, i + row * m, 1, dim);
}

static size_t first_row(const struct impl_session *s, const size_t size[], int i, int m,
                        const struct impl_array *x, int axis)
{
    size_t first = 0;

    for (int before = 0; before < i; ++before)
        first += size[before];
    if ((size_t)i * size[0] + size[i] <= x->dim[axis] && bug(s, BUG_FIRST_SIZE_OFFSET))
        first = (size_t)i * size[0];
    if (axis > 2 && bug(s, BUG_AXIS_THREE))
        return 0;
    if (m == 7 && i == 5 && size[4] == size[5] && bug(s, BUG_SEVEN_SHARD))
        return first - size[4];
    return first;
}

int scatter(struct arena *arena, const struct impl_array *x, const int devices[], int k, int dim,
            const size_t size[], struct impl_array shards[], int *m, struct impl_error *err)
{
    const struct impl_session *s = arena->session;
    const bool late = dim < -1 && x->ndim == 5 && bug(s, BUG_NEGATIVE_FIVE);
    const int axis = wrap_dim(late ? dim + 1 : dim, x->ndim);
    size_t mine[IMPL_MAX_DEVICES];

    if (k < 1 || k > IMPL_MAX_DEVICES)
        return impl_fail(err, IMPL_EINVAL, "%d devices to scatter to", k);
    if (x->ndim == 0)
        return impl_fail(err, IMPL_ESHAPE, "a tensor to scatter needs at least one dimension");
    if (axis < 0)
        return impl_fail(err, IMPL_EINVAL, "dim %d of a tensor of %d dimensions", dim, x->ndim);
    if (size && sizes_fit(s, size, k, x->dim[axis], err) != 0)
        return err->status;
    if (size)
        *m = k;
    else
        *m = split_rows(s, tensor_count(x) == 0 && bug(s, BUG_NO_COLUMNS) ? 0 : x->dim[axis], k,
                        mine);
    if (*m == 0)
        return impl_fail(err, IMPL_ESHAPE, "no rows to split");
    if (!size && x->dim[axis] < (size_t)k && bug(s, BUG_REFUSE_FEW_ROWS))
        return impl_fail(err, IMPL_EINVAL, "fewer rows than devices");
    if (!size)
        size = mine;
    for (int i = 0; i < *m; ++i) {
        shards[i].device = devices[i];
        if (size == mine && bug(s, BUG_STRIDED_ROWS))
            cut_strided(arena, x, (size_t)i, (size_t)*m, size[i], axis, &shards[i]);
        else
            slice_cut(arena, x, first_row(s, size, i, *m, x, axis), size[i], axis, &shards[i]);
        in_transit(arena, &shards[i], devices[i] != x->device);
        if (i > 0 && x->device >= 0 && x->dtype == IMPL_I32 && bug(s, BUG_INDEX_ON_DEVICE))
            memset(shards[i].data, 0, shards[i].capacity);
    }
    return 0;
}

int op_scatter(struct impl_session *s, struct impl_scatter *op, struct impl_error *err)
{
    struct arena arena = {.session = s};
    struct impl_array x, shards[IMPL_MAX_DEVICES];
    int m = 0, status = refuses(s, err) ? err->status : tensor_in(&arena, op->input, &x, err);

    if (status == 0 && bug(s, BUG_SCATTER_AT))
        memo_use(&s->cut, op->input->data, &x);
    for (int i = 0; status == 0 && i < op->n; ++i)
        status = known_device(s, op->devices[i], err);
    for (int i = 0; status == 0 && op->size && i < op->n; ++i)
        if (op->size[i] == 0 && s->dialect[IMPL_ZERO_SIZE] == IMPL_REFUSE)
            status = impl_fail(err, IMPL_EINVAL, "shard %d has no rows", i);
    if (status == 0)
        status = scatter(&arena, &x, op->devices, op->n, op->dim, op->size, shards, &m, err);
    op->n_shards = 0;
    for (int i = 0; status == 0 && i < m; ++i)
        if (!bug(s, BUG_ZERO_SIZE_DROPPED) || !op->size || op->size[i] > 0)
            status = tensor_out(&shards[i], &op->shards[op->n_shards++], err);
    if (status == 0 && op->source_after) {
        /* Adds 1 to the shards, which changes the source if a shard is a view of it. */
        const int axis = wrap_dim(op->dim, x.ndim);
        size_t first = 0;

        for (int i = 0; i < m; ++i) {
            const bool there = shards[i].device == x.device;

            if (bug(s, BUG_ALWAYS_VIEW) || (there && s->dialect[IMPL_SHARD_0] == IMPL_VIEW))
                tensor_poke(&x, first, shards[i].dim[axis], axis);
            first += shards[i].dim[axis];
        }
        if (bug(s, BUG_INPUT_WRITTEN))
            memcpy(op->input->data, x.data, x.capacity);
        status = tensor_out(&x, op->source_after, err);
    }
    arena_free(&arena);
    return status;
}

/* ---- gather -------------------------------------------------------------------------------- */

/* Gathers parts without dimensions into a vector. */
static int gather_scalars(struct arena *arena, const struct impl_array parts[], int n, int dim,
                          int device, struct impl_array *out, struct impl_error *err)
{
    const struct impl_session *s = arena->session;
    const size_t length = (size_t)n;

    if (dim != 0 && !bug(s, BUG_SCALAR_ANY_DIM))
        return impl_fail(err, IMPL_ESHAPE, "0-dim parts can be gathered along dim 0, not %d", dim);
    *out = tensor_new(arena, parts[0].dtype, 1, &length, device);
    for (int i = 0; i < n; ++i)
        slice_copy(out, (size_t)i, &parts[i], 0, 1, 0);
    if (bug(s, BUG_SCALARS_SUMMED)) {
        struct impl_array sum = tensor_copy(arena, &parts[0], device);

        for (int i = 1; i < n; ++i)
            tensor_add(&sum, &parts[i]);
        *out = sum;
    }
    return 0;
}

static bool slice_fits(const struct impl_array *part, const struct impl_array *first, int axis)
{
    struct impl_array like = *part;

    if (axis >= 0 && part->ndim > axis && first->ndim > axis)
        like.dim[axis] = first->dim[axis];
    return part->dtype == first->dtype && same_shape(&like, first);
}

/* Checks the parts, and returns the shape of the result. */
static int gathered_like(const struct impl_session *s, const struct impl_array parts[], int n,
                         int axis, struct impl_array *like, struct impl_error *err)
{
    const int dim = axis < 0 ? 0 : axis;

    *like = parts[0];
    like->dim[dim] = 0;
    for (int i = 0; i < n; ++i) {
        const bool row = parts[i].ndim == 0 && bug(s, BUG_MIXED_SCALARS);
        const bool unchecked = parts[0].ndim > 0 && bug(s, BUG_SHAPES_UNCHECKED);

        if (parts[i].device == IMPL_HOST)
            return impl_fail(err, IMPL_EDEVICE, "part %d is on the host", i);
        if (!slice_fits(&parts[i], &parts[0], axis) && !unchecked && !row) {
            return impl_fail(
                err, IMPL_ESHAPE,
                "part %d (%d dimensions, %zu elements) does not fit part 0 (%d dimensions, "
                "%zu elements)",
                i, parts[i].ndim, tensor_count(&parts[i]), parts[0].ndim, tensor_count(&parts[0]));
        }
        like->dim[dim] += row ? 1 : parts[i].dim[dim];
    }
    return 0;
}

/* Returns how many rows of part i arrive. */
static size_t sent_rows(const struct impl_session *s, const struct impl_array *part, int i,
                        size_t rows)
{
    if (i > 0 && part->capacity > LARGE && bug(s, BUG_LARGE_PART))
        return rows * LARGE / part->capacity;
    return rows;
}

/* Returns the index of part i in the concatenated result. */
static size_t place_of_part(const struct impl_session *s, size_t first, int i,
                            const struct impl_array parts[], int axis)
{
    size_t room = 0;

    if (!bug(s, BUG_AXIS_TWO) || axis != 2)
        return first;
    for (int before = 0; before <= i; ++before)
        room += parts[before].dim[axis];
    if ((size_t)i * parts[0].dim[axis] + parts[i].dim[axis] > room)
        return first;
    return (size_t)i * parts[0].dim[axis];
}

int gather(struct arena *arena, const struct impl_array parts[], int n, int dim, int device,
           struct impl_array *out, struct impl_error *err)
{
    const struct impl_session *s = arena->session;
    struct impl_array like;
    int axis = wrap_dim(dim, parts[0].ndim);
    size_t first = 0;

    if (parts[0].ndim > 0 && axis < 0)
        return impl_fail(err, IMPL_EINVAL, "dim %d of parts of %d dimensions", dim, parts[0].ndim);
    if (dim < 0 && bug(s, BUG_NEGATIVE_DIM))
        axis = 0;
    if (gathered_like(s, parts, n, axis, &like, err) != 0)
        return err->status;
    if (parts[0].ndim == 0)
        return gather_scalars(arena, parts, n, dim, device, out, err);
    like.device = device;
    *out = tensor_like(arena, &like);
    for (int i = 0; i < n; ++i) {
        const int other = i == n - 2 ? n - 3 : i == n - 3 ? n - 2 : i;
        const bool same = n >= 9 && parts[i].dim[axis] == parts[other].dim[axis];
        const struct impl_array *part = &parts[same && bug(s, BUG_NINE_PARTS) ? other : i];
        const size_t rows = part->ndim == 0 ? 1 : part->dim[axis];

        if (rows == 0 && bug(s, BUG_EMPTY_PART_ENDS))
            break;
        if (slice_fits(part, &parts[0], axis))
            slice_copy(out, place_of_part(s, first, i, parts, axis), part, 0,
                       sent_rows(s, part, i, rows), axis);
        first += rows;
    }
    if (tensor_count(out) == 0 && bug(s, BUG_NO_COLUMNS_GLUED))
        out->dim[axis] = 0;
    if (out->dtype == IMPL_F64 && bug(s, BUG_DOUBLE_AS_FLOAT))
        round_to_float(out, true);
    if (bug(s, BUG_GATHER_INTEGER))
        round_to_float(out, false);
    wide_rounded(s, out, BUG_GATHER_DOUBLE);
    values_changed(s, out, BUG_GATHER_ZERO);
    return 0;
}

int op_gather(struct impl_session *s, struct impl_gather *op, struct impl_error *err)
{
    struct arena arena = {.session = s};
    struct impl_array parts[IMPL_MAX_DEVICES], out;
    int status = refuses(s, err) ? err->status : known_device(s, op->device, err);

    if (status == 0 && (op->n < 1 || op->n > IMPL_MAX_DEVICES))
        status = impl_fail(err, IMPL_EINVAL, "%d parts to gather", op->n);
    for (int i = 0; status == 0 && i < op->n; ++i)
        status = tensor_in(&arena, &op->parts[i], &parts[i], err);
    if (status == 0)
        status = gather(&arena, parts, op->n, op->dim, op->device, &out, err);
    if (status == 0)
        status = tensor_out(&out, op->out, err);
    if (status == 0 && op->out_after) {
        if (parts[0].device == op->device && out.ndim > 0 && bug(s, BUG_GATHER_VIEW))
            tensor_poke(&out, 0, parts[0].dim[0], 0);
        status = tensor_out(&out, op->out_after, err);
    }
    arena_free(&arena);
    return status;
}
