/* torch_one.h: reads the file with the results of PyTorch's layers (torch/make.py has its format),
 * runs one of them, and compares it. */
#ifndef CASES_TORCH_ONE_H
#define CASES_TORCH_ONE_H

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

struct torch_one {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_run *run;
    struct dp_module *module; /* the caller opens it */
};

/* Opens a group of one device, and a run. */
void torch_open(struct context *c, struct torch_one *o);
struct dp_tensor torch_put(struct context *c, const struct torch_one *o, enum dp_dtype dtype,
                           const struct torch_tensor *t);
/* Expects equal numbers, or numbers within the bounds of the file. */
void torch_expect(struct context *c, const struct torch_tensor *want, const struct dp_tensor *got);
/* Writes the parameters of the module by name, and moves it to the device. */
void torch_set_params(struct context *c, const struct torch_one *o, const struct torch_layer *layer,
                      const char *const names[], int n);
/* Compares gradients with the tensors whose names are "d" and the name of the parameter. */
void torch_expect_grads(struct context *c, const struct torch_one *o,
                        const struct torch_layer *layer, const char *const names[], int n);
/* Computes from x and dy the output y, the gradients of those parameters and, if asked, dx; and
 * compares them. */
void torch_run_both_ways(struct context *c, const struct torch_one *o,
                         const struct torch_layer *layer, const char *const names[], int n,
                         bool dx);

extern const char *const torch_weight_bias[]; /* two */

#endif
