/* torch_file.h: reads the file with the results of PyTorch's layers (torch/make.py has its format).
 */
#ifndef CASES_TORCH_FILE_H
#define CASES_TORCH_FILE_H

#include "context.h"

#define TORCH_TENSORS 24
#define TORCH_NUMBERS 8

struct torch_tensor {
    char name[24];
    bool exact;
    int ndim;
    size_t dim[DP_MAX_DIMS];
    size_t n;
    double *value, *bound; /* bound: 0 where exact */
};

struct torch_layer {
    char name[24];
    int n_numbers, n_tensors;
    double number[TORCH_NUMBERS];
    struct torch_tensor tensor[TORCH_TENSORS];
};

/* Calls function for every layer of that name, each time with new groups. The case fails if there
 * is no such layer. */
void torch_each(struct context *c, const char *name,
                void (*function)(struct context *c, const struct torch_layer *layer));

/* A case of the layers of that name; what is done with each is in the braces behind it. */
#define TORCH_LAYER(name)                                                                          \
    static void one_##name(struct context *c, const struct torch_layer *layer);                    \
    static void torch_##name(struct context *c)                                                    \
    {                                                                                              \
        torch_each(c, #name, one_##name);                                                          \
    }                                                                                              \
    static void one_##name(struct context *c, const struct torch_layer *layer)
/* Finds a tensor by name; the case fails if there is none. */
const struct torch_tensor *torch_find(struct context *c, const struct torch_layer *layer,
                                      const char *name);

#endif
