/* products.h: matrix products and convolutions of a library that is loaded when a backend needs it.
 * Both core/ and the plug-in that is linked with the library include it. */
#ifndef DP_PRODUCTS_H
#define DP_PRODUCTS_H

#include "../kernels.h"

#define DP_PRODUCTS_SYMBOL  "dp_products"
#define DP_PRODUCTS_VERSION 4u

enum dp_product { DP_PRODUCT_MADE, DP_PRODUCT_ELSEWHERE, DP_PRODUCT_FAILED };

struct dp_products {
    unsigned version;
    /* Opens the state of one slot, which makes one product at a time, on so many threads: the
     * calling one, and others that may run where it may. NULL: it failed. */
    void *(*open)(int threads);
    void (*close)(void *self);
    /* Writes the library and its kernels of large products on this CPU, "oneDNN 2.6.3
     * brg:avx512_core". ELSEWHERE: no kernel is faster than those of CBLAS; text has the library
     * alone. */
    enum dp_product (*describe)(void *self, char *text, size_t bytes);
    /* Makes the product. From the second product of a shape on, it keeps no memory: what the
     * library allocates in a call, it frees. ELSEWHERE: nothing was written, and the library of all
     * other products is not slower here. */
    enum dp_product (*multiply)(void *self, const struct dp_gemm *gemm);
    /* Makes a whole convolution, or its gradients, in the same way. */
    enum dp_product (*convolve)(void *self, const struct dp_convolution *convolution);
};

struct dp_group;
/* From here until dp_onednn_close every slot and the host make large products by oneDNN, if it
 * exists and has faster kernels for this CPU. Otherwise CBLAS makes them; a backend that needs
 * oneDNN is DP_EINVAL then. */
int dp_onednn_open(struct dp_group *group, struct dp_error *err);
void dp_onednn_close(struct dp_group *group);

#endif
