/* optimizer.h: functions that the cases of optimizers share. */
#ifndef CASES_OPTIMIZER_H
#define CASES_OPTIMIZER_H

#include "ranks.h"
#include "torch_one.h"

/* A parameter that plain loops update as dp_optim.h defines it. */
struct plain {
    float *value, *m, *s;
    size_t n;
    int steps;
};
struct plain open_plain(struct context *c, const float value[], size_t n);
void plain_step(struct plain *p, const struct dp_adamw_config *k, const float grad[]);
struct dp_adamw *open_adamw(struct context *c, struct dp_module *module,
                            const struct dp_adamw_config *config);
struct dp_clip *open_clip(struct context *c, struct dp_module *module); /* clip.c */
/* Opens AdamW on all ranks, which have no gradients then. */
void adamw_ranks(struct context *c, struct ranks *ranks, const struct dp_adamw_config *config);
/* Gives a parameter of one element a gradient. */
void give_grad(struct context *c, struct dp_param *p, double grad);

/* The names of the two parameters in a file of PyTorch's optimizers. With `before` and the last
 * argument around them they name tensors: "dweight", "has_weight", "weight_after". */
extern const char *const optimizer_names[2];
const struct torch_tensor *optimizer_tensor(struct context *c, const struct torch_layer *layer,
                                            const char *before, int i, const char *behind);

#endif
