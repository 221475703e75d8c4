/* torch_one.h: runs one layer of the file with PyTorch's results, and compares it. */
#ifndef CASES_TORCH_ONE_H
#define CASES_TORCH_ONE_H

#include "torch_file.h"

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
