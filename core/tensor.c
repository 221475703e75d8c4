/* tensor.c: shapes, and copies between tensors and host memory. */
#include "tensor.h"

#include <stdio.h>
#include <string.h>

size_t dp_tensor_count(const struct dp_tensor *tensor)
{
    size_t n = 1;
    for (int d = 0; d < tensor->ndim; ++d)
        n *= tensor->dim[d];
    return n;
}

size_t dp_tensor_bytes(const struct dp_tensor *tensor)
{
    return dp_tensor_count(tensor) * dp_dtype_bytes(tensor->dtype);
}

/* Tensors follow each other without gaps. So adjacent ones are copied as one, and no other bytes
 * are copied. */
size_t dp_layout_add(size_t *offset, const struct dp_tensor *tensor)
{
    const size_t unit = dp_dtype_bytes(tensor->dtype);
    const size_t place = (*offset + unit - 1) / unit * unit;
    *offset = place + dp_tensor_bytes(tensor);
    return place;
}

int dp_tensor_shape(struct dp_slot *slot, enum dp_dtype dtype, int ndim, const size_t dim[],
                    struct dp_tensor *tensor, struct dp_error *err)
{
    if (ndim < 0 || ndim > DP_MAX_DIMS)
        return dp_fail(err, DP_EINVAL, "a tensor of %d dimensions: 0 to %d", ndim, DP_MAX_DIMS);
    if (dtype < DP_F32 || dtype > DP_BF16)
        return dp_fail(err, DP_EINVAL, "unknown element type %d", (int)dtype);
    size_t bytes = dp_dtype_bytes(dtype);
    for (int d = 0; d < ndim; ++d) {
        if (!dp_multiply(bytes, dim[d], &bytes))
            return dp_fail(err, DP_EINVAL, "a tensor of more bytes than memory has addresses");
    }
    /* It is written field by field, because a copy of the whole struct would wait until its parts
     * have left the store buffer of the CPU. dim may be that of the tensor itself. */
    tensor->data = NULL;
    tensor->slot = slot;
    tensor->version = NULL;
    tensor->dtype = dtype;
    tensor->ndim = ndim;
    tensor->needs_grad = false;
    for (int d = 0; d < DP_MAX_DIMS; ++d)
        tensor->dim[d] = d < ndim ? dim[d] : 0;
    return 0;
}

int dp_tensor_alloc(struct dp_slot *slot, enum dp_dtype dtype, int ndim, const size_t dim[],
                    struct dp_tensor *tensor, struct dp_error *err)
{
    struct dp_tensor t;
    int status = dp_tensor_shape(slot, dtype, ndim, dim, &t, err);
    if (status == 0)
        status = dp_slot_take(slot, dp_tensor_bytes(&t), &t.data, err);
    if (status == 0)
        *tensor = t;
    return status;
}

void dp_tensor_free(struct dp_tensor *tensor)
{
    if (!tensor->slot)
        return;
    /* A replica waits for its slot only. Transfers of others to its memory are ordered before its
     * queue, and the queue of another replica may be in a capture, which a wait from here would
     * break. */
    if (tensor->slot->group->in_team)
        dp_slot_wait(tensor->slot, NULL);
    else
        dp_group_wait(tensor->slot->group, NULL);
    dp_slot_give(tensor->slot, tensor->data, dp_tensor_bytes(tensor));
    memset(tensor, 0, sizeof *tensor);
}

int dp_tensor_rows(const struct dp_tensor *tensor, size_t first, size_t rows,
                   struct dp_tensor *view, struct dp_error *err)
{
    if (tensor->ndim < 1)
        return dp_fail(err, DP_EINVAL, "rows of a tensor without dimensions");
    if (first > tensor->dim[0] || rows > tensor->dim[0] - first)
        return dp_fail(err, DP_EINVAL, "rows %zu to %zu of a tensor of %zu rows", first,
                       first + rows, tensor->dim[0]);
    struct dp_tensor v = *tensor;
    v.dim[0] = rows;
    v.data = (char *)tensor->data +
             first * (tensor->dim[0] ? dp_tensor_bytes(tensor) / tensor->dim[0] : 0);
    *view = v;
    return 0;
}

static int copy_bytes(struct dp_queue *queue, void *dst, const void *src, size_t bytes,
                      struct dp_error *err)
{
    const struct dp_copy copy = {dst, src, bytes, 1, bytes, bytes};
    return dp_launch(queue, DP_KERNEL_COPY, &copy, sizeof copy, err);
}

static int tensor_carry(const struct dp_tensor *tensor, void *dst, const void *src,
                        struct dp_error *err)
{
    struct dp_queue *queue = &tensor->slot->compute;
    const int status = copy_bytes(queue, dst, src, dp_tensor_bytes(tensor), err);
    const int synced = dp_queue_sync(queue, err);
    return status ? status : synced;
}

int dp_tensor_write(const struct dp_tensor *tensor, const void *host, struct dp_error *err)
{
    if (tensor->version)
        ++*tensor->version;
    return tensor_carry(tensor, tensor->data, host, err);
}

int dp_tensor_read(void *host, const struct dp_tensor *tensor, struct dp_error *err)
{
    return tensor_carry(tensor, host, tensor->data, err);
}

int dp_tensor_copy(const struct dp_tensor *dst, const struct dp_tensor *src, struct dp_error *err)
{
    char a[DP_SHAPE_TEXT], b[DP_SHAPE_TEXT];
    if (dst->dtype != src->dtype || dp_tensor_count(dst) != dp_tensor_count(src))
        return dp_fail(err, DP_ESHAPE, "copy of %s to %s", dp_shape_text(src, a),
                       dp_shape_text(dst, b));
    struct dp_group *group = dst->slot->group;
    const size_t bytes = dp_tensor_bytes(dst);
    if (dst->version)
        ++*dst->version;
    if (dst->slot == src->slot)
        return copy_bytes(&dst->slot->compute, dst->data, src->data, bytes, err);
    const struct dp_move move = {
        dst->slot, src->slot, {dst->data, src->data, bytes, 1, bytes, bytes}};
    const struct dp_moves moves = {&move, bytes > 0 ? 1 : 0};
    /* The source makes the transfer if it has queues, because a copy to the host must wait there.
     */
    struct dp_slot *slot = dp_is_host(dst->slot) ? src->slot : dst->slot;
    const struct dp_team team = {group, &slot, 1};
    return dp_comm_move(&team, &moves, DP_PHASE_NONE, err);
}

int dp_tensor_fold(const struct dp_tensor *marks, const struct dp_tensor *tensor,
                   struct dp_error *err)
{
    char a[DP_SHAPE_TEXT], b[DP_SHAPE_TEXT];
    if (marks->dtype != DP_I32 || dp_tensor_count(marks) != DP_FOLD_MARKS ||
        dp_dtype_bytes(tensor->dtype) != sizeof(uint32_t))
        return dp_fail(err, DP_ESHAPE, "%s of %zu bytes each, folded to marks of %s",
                       dp_shape_text(tensor, a), dp_dtype_bytes(tensor->dtype),
                       dp_shape_text(marks, b));
    if (marks->slot != tensor->slot)
        return dp_fail(err, DP_EDEVICE, "the marks are on %s, the tensor is on %s",
                       marks->slot->info.name, tensor->slot->info.name);
    const struct dp_fold fold = {marks->data, tensor->data, dp_tensor_count(tensor)};
    return dp_launch(&tensor->slot->compute, DP_KERNEL_FOLD, &fold, sizeof fold, err);
}

const char *dp_shape_text(const struct dp_tensor *tensor, char text[DP_SHAPE_TEXT])
{
    int length = snprintf(text, DP_SHAPE_TEXT, "(");
    for (int d = 0; d < tensor->ndim && length < DP_SHAPE_TEXT; ++d)
        length += snprintf(text + length, (size_t)(DP_SHAPE_TEXT - length), "%s%zu", d ? ", " : "",
                           tensor->dim[d]);
    if (length < DP_SHAPE_TEXT)
        snprintf(text + length, (size_t)(DP_SHAPE_TEXT - length), ")");
    return text;
}

bool dp_same_shape(const struct dp_tensor *a, const struct dp_tensor *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int d = 0; d < a->ndim; ++d) {
        if (a->dim[d] != b->dim[d])
            return false;
    }
    return true;
}

int dp_dim_wrap(const char *what, int dim, int ndim, int *wrapped, struct dp_error *err)
{
    if (dim < -ndim || dim >= ndim)
        return dp_fail(err, DP_EINVAL, "%s: dim %d of a tensor with %d dimensions: %d to %d", what,
                       dim, ndim, -ndim, ndim - 1);
    *wrapped = dim < 0 ? dim + ndim : dim;
    return 0;
}

struct dp_copy dp_piece_copy(const struct dp_tensor *whole, const struct dp_tensor *piece, int dim,
                             size_t first, bool to_piece)
{
    size_t outer = 1, inner = dp_dtype_bytes(whole->dtype);
    for (int d = 0; d < dim; ++d)
        outer *= whole->dim[d];
    for (int d = dim + 1; d < whole->ndim; ++d)
        inner *= whole->dim[d];
    const size_t width = piece->dim[dim] * inner, pitch = whole->dim[dim] * inner;
    char *in_whole = (char *)whole->data + first * inner;
    const struct dp_copy from = {piece->data, in_whole, width, outer, width, pitch};
    const struct dp_copy to = {in_whole, piece->data, width, outer, pitch, width};
    return to_piece ? from : to;
}
