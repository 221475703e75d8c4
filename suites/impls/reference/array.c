/* array.c: converts arrays of the suite to tensors on slots, and back. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

void tensors_free(struct tensors *list)
{
    for (int i = 0; i < list->n; ++i)
        dp_tensor_free(&list->item[i]);
    free(list->item);
    list->item = NULL;
    list->n = list->capacity = 0;
}

void *list_room(void *list, int n, int *capacity, size_t bytes, struct dp_error *err)
{
    const int doubled = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = n < *capacity ? list : realloc(list, (size_t)doubled * bytes);

    if (!grown)
        dp_fail(err, DP_ENOMEM, "no memory for a list of %d", doubled);
    else if (n == *capacity)
        *capacity = doubled;
    return grown;
}

struct dp_slot *slot_of(struct dp_group *group, int device, struct dp_error *err)
{
    struct dp_slot *slot =
        device == IMPL_HOST ? dp_group_host(group) : dp_group_slot(group, device);

    if (!slot)
        dp_fail(err, DP_ENODEV, "no device %d, there are %d", device, dp_group_size(group));
    return slot;
}

int device_of(const struct dp_slot *slot)
{
    struct dp_slot_info info;

    dp_slot_describe(slot, &info);
    return info.index;
}

enum dp_dtype dtype_of(enum impl_dtype dtype)
{
    switch (dtype) {
    case IMPL_F64:
        return DP_F64;
    case IMPL_I32:
        return DP_I32;
    case IMPL_I64:
        return DP_I64;
    default:
        return DP_F32;
    }
}

static enum impl_dtype impl_dtype_from(enum dp_dtype dtype)
{
    switch (dtype) {
    case DP_F64:
        return IMPL_F64;
    case DP_I32:
        return IMPL_I32;
    case DP_I64:
        return IMPL_I64;
    default:
        return IMPL_F32;
    }
}

int tensor_put(struct dp_group *group, const struct impl_array *array, struct tensors *list,
               struct dp_tensor *tensor, struct dp_error *err)
{
    struct dp_tensor made;
    struct dp_slot *slot;
    int status;

    memset(tensor, 0, sizeof *tensor);
    if (array->dtype == IMPL_NONE)
        return 0;
    if (array->dtype < IMPL_NONE || array->dtype > IMPL_I64)
        return dp_fail(err, DP_EINVAL, "unknown type of elements %d", (int)array->dtype);
    slot = slot_of(group, array->device, err);
    if (!slot)
        return DP_ENODEV;
    void *room = list_room(list->item, list->n, &list->capacity, sizeof *list->item, err);
    if (!room)
        return DP_ENOMEM;
    list->item = room;
    status = dp_tensor_alloc(slot, dtype_of(array->dtype), array->ndim, array->dim, &made, err);
    if (status != 0)
        return status;
    made.needs_grad = array->needs_grad;
    list->item[list->n++] = made;
    if (dp_tensor_bytes(&made) > 0)
        status = dp_tensor_write(&made, array->data, err);
    *tensor = made;
    return status;
}

int tensor_get(const struct dp_tensor *tensor, struct impl_array *array, struct dp_error *err)
{
    const size_t bytes = !tensor->slot ? 0 : dp_tensor_bytes(tensor);

    array->dtype = IMPL_NONE;
    array->ndim = 0;
    array->device = IMPL_NOWHERE;
    array->needs_grad = false;
    if (!tensor->slot)
        return 0;
    if (bytes > array->capacity)
        return dp_fail(err, OWN_STATUS(IMPL_EROOM), "a result of %zu bytes, room for %zu", bytes,
                       array->capacity);
    array->dtype = impl_dtype_from(tensor->dtype);
    array->ndim = tensor->ndim;
    array->device = device_of(tensor->slot);
    for (int d = 0; d < tensor->ndim; ++d)
        array->dim[d] = tensor->dim[d];
    return bytes > 0 ? dp_tensor_read(array->data, tensor, err) : 0;
}

/* ---- pokes ----------------------------------------------------------------------------------- */

static void add_one(enum dp_dtype dtype, void *data, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        switch (dtype) {
        case DP_F32:
            ((float *)data)[i] += 1.0f;
            break;
        case DP_F64:
            ((double *)data)[i] += 1.0;
            break;
        case DP_I32:
            ((int32_t *)data)[i] += 1;
            break;
        case DP_I64:
            ((int64_t *)data)[i] += 1;
            break;
        case DP_BF16: /* no parameter has this type */
            break;
        }
}

static int poke(const struct dp_tensor *tensor, bool clear, struct dp_error *err)
{
    const size_t bytes = dp_tensor_bytes(tensor);
    void *data = calloc(bytes > 0 ? bytes : 1, 1);
    int status = 0;

    if (!data)
        return dp_fail(err, DP_ENOMEM, "no memory for %zu bytes", bytes);
    if (!clear) {
        status = dp_tensor_read(data, tensor, err);
        add_one(tensor->dtype, data, dp_tensor_count(tensor));
    }
    if (status == 0)
        status = dp_tensor_write(tensor, data, err);
    free(data);
    return status;
}

int slot_tensor_add_one(const struct dp_tensor *tensor, struct dp_error *err)
{
    return poke(tensor, false, err);
}

int tensor_clear(const struct dp_tensor *tensor, struct dp_error *err)
{
    return poke(tensor, true, err);
}
