/* torch_one.h: one layer of the file of what PyTorch's layers give, run and compared. */
#ifndef CASES_TORCH_ONE_H
#define CASES_TORCH_ONE_H

#include "torch_file.h"

struct torch_one {
    struct dp_group *group;
    struct dp_slot *slot;
    struct dp_run *run;
    struct dp_module *module; /* the caller's to open */
};

/* A group of one device, and a run. */
void torch_open(struct context *c, struct torch_one *o);
struct dp_tensor torch_put(struct context *c, const struct torch_one *o, enum dp_dtype dtype,
                           const struct torch_tensor *t);
/* Equal, or within the bounds of the file. */
void torch_expect(struct context *c, const struct torch_tensor *want, const struct dp_tensor *got);
/* Writes the parameters of the module by name, and moves it to the device. */
void torch_set_params(struct context *c, const struct torch_one *o, const struct torch_layer *layer,
                      const char *const names[], int n);
/* Against the tensors "d" and the name. */
void torch_expect_grads(struct context *c, const struct torch_one *o,
                        const struct torch_layer *layer, const char *const names[], int n);
/* From x and dy to y, the gradients of those parameters and, if asked, dx. */
void torch_run_both_ways(struct context *c, const struct torch_one *o,
                         const struct torch_layer *layer, const char *const names[], int n,
                         bool dx);

extern const char *const torch_weight_bias[]; /* two */

#endif
