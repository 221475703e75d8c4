/* onednn_inside.h: shared by the parts of the plug-in lockstep-onednn.so. */
#ifndef DP_ONEDNN_INSIDE_H
#define DP_ONEDNN_INSIDE_H

#include "products.h"

#include <dnnl.h>

/* The state of one slot. The primitives write to memory of this plug-in, one after the other. */
struct dp_dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    void *scratch;
    size_t scratch_bytes;
};

bool dp_dnnl_reserve(struct dp_dnnl *dnnl, size_t bytes); /* makes scratch at least that large */
/* float32 stays float32, even if the environment allows less; the caller provides scratch memory.
 * accumulate: the result is added to the old values. On failure *attr may exist, too. */
dnnl_status_t dp_dnnl_attributes(bool accumulate, dnnl_primitive_attr_t *attr);

struct dp_dnnl_convolutions;
struct dp_dnnl_convolutions *dp_dnnl_convolutions_open(void);      /* returns NULL without memory */
void dp_dnnl_convolutions_close(struct dp_dnnl_convolutions *all); /* NULL is allowed */
/* See dp_products.convolve. */
enum dp_product dp_dnnl_convolve(struct dp_dnnl *dnnl, struct dp_dnnl_convolutions *all,
                                 const struct dp_convolution *c);

#endif
