/* onednn_asked.c: checks which primitives the plug-in asks oneDNN for. On a CPU without the kernels
 * in question, a product that may round to bfloat16, or a convolution that may be Winograd's, has
 * the numbers of one that may not. So this program defines functions of the library itself, and
 * looks at their arguments. */
#define _GNU_SOURCE
#include "onednn.h"

#include <dlfcn.h>
#include <dnnl.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int primitives, loose, convolutions, indirect;

/* The library comes after this program in the search order, so the plug-in finds this function
 * first. */
dnnl_status_t dnnl_primitive_create(dnnl_primitive_t *primitive, const_dnnl_primitive_desc_t what)
{
    dnnl_status_t (*next)(dnnl_primitive_t *, const_dnnl_primitive_desc_t);
    dnnl_fpmath_mode_t mode = dnnl_fpmath_mode_any;
    const_dnnl_primitive_attr_t attr;
    if (dnnl_primitive_desc_get_attr(what, &attr) == dnnl_success)
        dnnl_primitive_attr_get_fpmath_mode(attr, &mode);
    atomic_fetch_add(&primitives, 1);
    atomic_fetch_add(&loose, mode != dnnl_fpmath_mode_strict);
    *(void **)&next = dlsym(RTLD_NEXT, "dnnl_primitive_create");
    return next ? next(primitive, what) : dnnl_runtime_error;
}

static void note_convolution(dnnl_alg_kind_t algorithm)
{
    atomic_fetch_add(&convolutions, 1);
    atomic_fetch_add(&indirect, algorithm != dnnl_convolution_direct);
}

#if DNNL_VERSION_MAJOR < 3
dnnl_status_t dnnl_primitive_desc_create(dnnl_primitive_desc_t *made, const_dnnl_op_desc_t what,
                                         const_dnnl_primitive_attr_t attr, dnnl_engine_t engine,
                                         const_dnnl_primitive_desc_t hint)
{
    dnnl_status_t (*next)(dnnl_primitive_desc_t *, const_dnnl_op_desc_t,
                          const_dnnl_primitive_attr_t, dnnl_engine_t, const_dnnl_primitive_desc_t);
    const dnnl_convolution_desc_t *asked = what;
    if (asked->primitive_kind == dnnl_convolution)
        note_convolution(asked->alg_kind);
    *(void **)&next = dlsym(RTLD_NEXT, "dnnl_primitive_desc_create");
    return next ? next(made, what, attr, engine, hint) : dnnl_runtime_error;
}
#else
/* The descriptor of a forward convolution, which is also the hint for that of a gradient. */
dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
    dnnl_primitive_desc_t *made, dnnl_engine_t engine, dnnl_prop_kind_t kind,
    dnnl_alg_kind_t algorithm, const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t weight,
    const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t y, const dnnl_dims_t strides,
    const dnnl_dims_t dilates, const dnnl_dims_t padding_l, const dnnl_dims_t padding_r,
    const_dnnl_primitive_attr_t attr)
{
    dnnl_status_t (*next)(dnnl_primitive_desc_t *, dnnl_engine_t, dnnl_prop_kind_t, dnnl_alg_kind_t,
                          const_dnnl_memory_desc_t, const_dnnl_memory_desc_t,
                          const_dnnl_memory_desc_t, const_dnnl_memory_desc_t, const dnnl_dims_t,
                          const dnnl_dims_t, const dnnl_dims_t, const dnnl_dims_t,
                          const_dnnl_primitive_attr_t);
    note_convolution(algorithm);
    *(void **)&next = dlsym(RTLD_NEXT, "dnnl_convolution_forward_primitive_desc_create");
    return next ? next(made, engine, kind, algorithm, x, weight, bias, y, strides, dilates,
                       padding_l, padding_r, attr)
                : dnnl_runtime_error;
}
#endif

bool asked_strictly(void)
{
    const int all = atomic_load(&primitives), rounding = atomic_load(&loose);
    const int asked = atomic_load(&convolutions), others = atomic_load(&indirect);
    const bool good = all > 0 && asked > 0 && rounding == 0 && others == 0;
    if (!good)
        printf("FAIL: of %d primitives %d may round; of %d convolutions %d are not the direct "
               "ones\n",
               all, rounding, asked, others);
    return good;
}
