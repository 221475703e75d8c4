/* products.h: matrix products of a library that is loaded when a backend needs it, as core/ and the
 * module that is linked with that library both know them. */
#ifndef DP_PRODUCTS_H
#define DP_PRODUCTS_H

#include "../kernels.h"

#define DP_PRODUCTS_SYMBOL  "dp_products"
#define DP_PRODUCTS_VERSION 1u

struct dp_products {
    unsigned version;
    const char *(*name)(void); /* "oneDNN 2.6.3" */
    /* For one slot, which makes one product at a time. NULL: it cannot be had. */
    void *(*open)(void);
    void (*close)(void *self);
    /* The product, by the calling thread alone. The second one of a shape allocates nothing. False:
     * nothing was written, and the library of all other products is not slower here. */
    bool (*multiply)(void *self, const struct dp_gemm *gemm);
};

#endif
