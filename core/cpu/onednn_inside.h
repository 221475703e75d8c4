/* onednn_inside.h: what the parts of the module lockstep-onednn.so share. */
#ifndef DP_ONEDNN_INSIDE_H
#define DP_ONEDNN_INSIDE_H

#include "products.h"

#include <dnnl.h>

/* Of one slot. The primitives write into memory of ours, one after the other. */
struct dp_dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    void *scratch;
    size_t scratch_bytes;
};

bool dp_dnnl_room(struct dp_dnnl *dnnl, size_t bytes); /* of scratch, at least */
/* float32 stays float32, also where the environment allows less; scratch memory is the caller's.
 * accumulate: the result is added to what is there. On failure *attr may be one, too. */
dnnl_status_t dp_dnnl_attributes(bool accumulate, dnnl_primitive_attr_t *attr);

struct dp_dnnl_convolutions;
struct dp_dnnl_convolutions *dp_dnnl_convolutions_open(void);      /* NULL: no memory */
void dp_dnnl_convolutions_close(struct dp_dnnl_convolutions *all); /* NULL allowed */
/* As dp_products.convolve. */
enum dp_product dp_dnnl_convolve(struct dp_dnnl *dnnl, struct dp_dnnl_convolutions *all,
                                 const struct dp_convolution *c);

#endif
