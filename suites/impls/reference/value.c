/* value.c: values of parameters and buffers. To the suite all are floats. In core one is not: the
 * number of batches that a batch norm has seen, a single integer. */
#include "reference.h"

#include <string.h>

static bool is_count(const struct dp_tensor *value)
{
    return value->dtype == DP_I64;
}

int value_put(const struct dp_tensor *value, const struct impl_array *array, struct dp_error *err)
{
    int status;

    if (!is_count(value)) {
        status = check_fits(array, value, err);
        return status != 0 ? status : dp_tensor_write(value, array->data, err);
    }
    if (array->dtype != IMPL_F32 || array->ndim != 1 || array->dim[0] != 1)
        return dp_fail(err, DP_ESHAPE, "an array that is not one float");

    const int64_t count = (int64_t)((const float *)array->data)[0];

    return dp_tensor_write(value, &count, err);
}

int value_get(const struct dp_tensor *value, struct impl_array *array, struct dp_error *err)
{
    int64_t count = 0;
    int status;

    if (!is_count(value))
        return tensor_get(value, array, err);
    if (array->capacity < sizeof(float))
        return dp_fail(err, OWN_STATUS(IMPL_EROOM), "a result of one float, room for %zu bytes",
                       array->capacity);
    status = dp_tensor_read(&count, value, err);
    if (status != 0)
        return status;
    array->dtype = IMPL_F32;
    array->ndim = 1;
    array->dim[0] = 1;
    array->device = device_of(value->slot);
    array->needs_grad = false;
    ((float *)array->data)[0] = (float)count;
    return 0;
}

void value_describe(const struct dp_tensor *value, struct impl_param *to)
{
    static const char here[] = "num_batches_tracked", there[] = "batches";
    char *name = strstr(to->name, here);

    to->dtype = IMPL_F32;
    to->ndim = value->ndim;
    for (int d = 0; d < to->ndim; ++d)
        to->dim[d] = value->dim[d];
    if (!is_count(value))
        return;
    to->ndim = 1;
    to->dim[0] = 1;
    if (name)
        memcpy(name, there, sizeof there);
}
