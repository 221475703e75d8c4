/* layer.h: the layers that core does not have, as modules of core: the declarations that their
 * files share.
 *
 * A layer is two functions on a struct call. The common part is done around them (layer.c): counts
 * and places of inputs and parameters, which tensors need a gradient, and the data that are kept
 * between forward and backward. */
#ifndef REFERENCE_LAYER_H
#define REFERENCE_LAYER_H

#include "maths.h"
#include "reference.h"

#define LAYER_INPUTS 2 /* at most */

/* The module's data. */
struct node {
    const struct layer *layer;
    const struct layer_type *type;
    struct world *world;
    struct dp_param *param[LAYER_MAX_PARAMS]; /* of borrow: [0] belongs to the other layer */
    /* Calls of each replica, counted by its worker. */
    unsigned forwards[DP_MAX_SLOTS], backwards[DP_MAX_SLOTS];
};

/* The values that a forward keeps for its backward, in addition to its inputs. */
struct memo {
    bool flag;
    float number;
};

struct call {
    struct node *node;
    const struct layer *layer;
    struct dp_run *run;
    int replica;          /* 0 if it runs outside replicas */
    struct dp_slot *slot; /* the slot on which it runs */
    const struct dp_tensor *in;
    int n_in;
    struct dp_tensor *out; /* forward */
    int n_out;             /* forward: 1, unless the layer sets it */
    const struct dp_tensor *grad_out;
    struct dp_tensor *grad_in; /* backward: none, unless the layer sets them */
    struct memo memo;
    struct dp_error *err;
};

struct layer_type {
    int inputs;
    bool any_dtype; /* false: only float */
    bool untrained; /* its parameters get no gradient from this call */
    bool always;    /* backward is called even if no tensor needs a gradient */
    int (*forward)(struct call *c);
    /* Called if an output has a gradient. Sets grad_in[k] if in[k].needs_grad. */
    int (*backward)(struct call *c);
};

/* By kind of layer; in each file some. */
extern const struct layer_type weight_types[LAYER_KINDS];
extern const struct layer_type table_types[LAYER_KINDS];
extern const struct layer_type row_types[LAYER_KINDS];
extern const struct layer_type sum_types[LAYER_KINDS];
extern const struct layer_type plain_types[LAYER_KINDS];
extern const struct layer_type probe_types[LAYER_KINDS];

/* Opens the module of a layer; its parameters exist, and are zero. DP_ENOTSUP for kinds that core
 * implements, and for those that no module implements. */
int node_open(struct world *world, const struct layer *layer, struct dp_module **module,
              struct node **node, struct dp_error *err);

/* ---- for the two functions ------------------------------------------------------------------- */

int pass_forward(struct call *c);  /* y = x, the same tensor */
int pass_backward(struct call *c); /* dx = g */

/* Makes output k, of floats, on the slot of the call. */
int make_output_like(struct call *c, int k, const struct dp_tensor *like);
int make_input_grad(struct call *c, int k); /* of the shape of in[k] */
const struct dp_tensor *param_value(const struct call *c, int i);
size_t row_width(const struct dp_tensor *tensor);
/* Checks for at least one dimension, else DP_ESHAPE. */
int need_rows(const struct call *c);

/* Queues a loop of maths.h. */
int queue_math(struct call *c, enum loop loop, struct math math);
/* These make the memory of the result, too: output 0 of the shape of a tensor; the gradient of
 * input k, if it needs one; the gradient of parameter i, if it is trained. */
int queue_output(struct call *c, const struct dp_tensor *like, enum loop loop, struct math math);
int queue_input_grad(struct call *c, int k, enum loop loop, struct math math);
int queue_param_grad(struct call *c, int i, enum loop loop, struct math math);

#endif
