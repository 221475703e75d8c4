/* torch_file.h: the file of what PyTorch's layers give (torch/make.py says its format). */
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

/* Calls function for every layer of that name, in groups of its own; no such layer fails the case.
 */
void torch_each(struct context *c, const char *name,
                void (*function)(struct context *c, const struct torch_layer *layer));
/* A failure of the case when there is none of that name. */
const struct torch_tensor *torch_find(struct context *c, const struct torch_layer *layer,
                                      const char *name);

#endif
