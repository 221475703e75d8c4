/* onednn_shared.c: what the products and the convolutions of a slot share: how a primitive is asked
 * for, and the memory in which it works. */
#include "onednn_inside.h"

#include <stdlib.h>

#if DNNL_VERSION_MAJOR < 3
static dnnl_status_t add_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1.0f);
}
#else
static dnnl_status_t add_sum(dnnl_post_ops_t ops)
{
    return dnnl_post_ops_append_sum(ops, 1.0f, 0, dnnl_data_type_undef);
}
#endif

dnnl_status_t dp_dnnl_attributes(bool accumulate, dnnl_primitive_attr_t *attr)
{
    dnnl_post_ops_t ops = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(attr);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_fpmath_mode(*attr, dnnl_fpmath_mode_strict);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
    if (status || !accumulate)
        return status;
    status = dnnl_post_ops_create(&ops);
    if (status == dnnl_success)
        status = add_sum(ops);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(*attr, ops);
    dnnl_post_ops_destroy(ops);
    return status;
}

bool dp_dnnl_reserve(struct dp_dnnl *dnnl, size_t bytes)
{
    void *more = NULL;
    if (bytes <= dnnl->scratch_bytes)
        return true;
    if (posix_memalign(&more, 4096, bytes) != 0)
        return false;
    free(dnnl->scratch);
    dnnl->scratch = more;
    dnnl->scratch_bytes = bytes;
    return true;
}
