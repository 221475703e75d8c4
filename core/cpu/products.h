/* products.h: matrix products, and convolutions, of a library that is loaded when a backend needs
 * it, as core/ and the module that is linked with that library both know them. */
#ifndef DP_PRODUCTS_H
#define DP_PRODUCTS_H

#include "../kernels.h"

#define DP_PRODUCTS_SYMBOL  "dp_products"
#define DP_PRODUCTS_VERSION 3u

enum dp_product { DP_PRODUCT_MADE, DP_PRODUCT_ELSEWHERE, DP_PRODUCT_FAILED };

struct dp_products {
    unsigned version;
    /* For one slot, which makes one product at a time. NULL: it cannot be had. */
    void *(*open)(void);
    void (*close)(void *self);
    /* "oneDNN 2.6.3 brg:avx512_core": the library that was loaded, and its kernels of large
     * products on this CPU. ELSEWHERE: it has none that are faster than CBLAS's, and text has the
     * library alone. */
    enum dp_product (*describe)(void *self, char *text, size_t bytes);
    /* The product, by the calling thread alone. From the second one of a shape on it keeps no
     * memory: what the library takes in a call it gives back.
     * ELSEWHERE: nothing was written, and the library of all other products is not slower here. */
    enum dp_product (*multiply)(void *self, const struct dp_gemm *gemm);
    /* A whole convolution, or its gradients, as multiply. */
    enum dp_product (*convolve)(void *self, const struct dp_convolution *convolution);
};

#endif
