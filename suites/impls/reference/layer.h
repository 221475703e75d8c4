/* layer.h: the layers that core does not have, as modules of core: what their files share.
 *
 * A layer is two functions on a struct call. What is common is done around them (layer.c): counts
 * and places of inputs and parameters, which tensors need a gradient, and what is kept between
 * forward and backward. */
#ifndef REFERENCE_LAYER_H
#define REFERENCE_LAYER_H

#include "maths.h"
#include "reference.h"

#define LAYER_INPUTS 2 /* at most */

/* A module's own data. */
struct node {
    const struct layer *layer;
    const struct layer_type *type;
    struct world *world;
    struct dp_param *param[LAYER_MAX_PARAMS]; /* borrow: [0] is the other layer's */
    /* Calls of each replica, counted by its worker. */
    unsigned forwards[DP_MAX_SLOTS], backwards[DP_MAX_SLOTS];
};

/* What a forward tells its backward besides its inputs. */
struct memo {
    bool flag;
    float number;
};

struct call {
    struct node *node;
    const struct layer *layer;
    struct dp_run *run;
    int replica;          /* 0 outside replicas */
    struct dp_slot *slot; /* where it runs */
    const struct dp_tensor *in;
    int n_in;
    struct dp_tensor *out; /* forward */
    int n_out;             /* forward: 1 unless the layer sets it */
    const struct dp_tensor *grad_out;
    struct dp_tensor *grad_in; /* backward: none unless the layer sets them */
    struct memo memo;
    struct dp_error *err;
};

struct layer_type {
    int inputs;
    bool any_dtype; /* else float */
    bool untrained; /* its parameters get no gradient here */
    bool always;    /* backward is wanted even if nothing needs a gradient */
    int (*forward)(struct call *c);
    /* Called when an output has a gradient. Sets grad_in[k] where in[k].needs_grad. */
    int (*backward)(struct call *c);
};

extern const struct layer_type type_affine, type_tied, type_borrow, type_branch, type_unused,
    type_counter, type_grad;
extern const struct layer_type type_constant, type_embedding;
extern const struct layer_type type_subtract_mean, type_double_rows, type_take, type_fork,
    type_sum_rows, type_widen;
extern const struct layer_type type_sum, type_mean, type_scalar_at;
extern const struct layer_type type_identity, type_multiply, type_to, type_argument;
extern const struct layer_type type_tag_device, type_tag_replica, type_tag_dim, type_tag_mode,
    type_sleep, type_fail;

/* A module for a layer; its parameters are there, zeros. DP_ENOTSUP for kinds core does itself and
 * for those that nobody does. */
int node_open(struct world *world, const struct layer *layer, struct dp_module **module,
              struct node **node, struct dp_error *err);

/* ---- for the two functions ------------------------------------------------------------------- */

int pass_forward(struct call *c);  /* y = x, the same tensor */
int pass_backward(struct call *c); /* dx = g */

/* Output k, float, on the slot of the call. */
int make_output(struct call *c, int k, int ndim, const size_t dim[]);
int make_output_like(struct call *c, int k, const struct dp_tensor *like);
int make_input_grad(struct call *c, int k); /* of the shape of in[k] */
const struct dp_tensor *param_value(const struct call *c, int i);
size_t row_width(const struct dp_tensor *tensor);
/* At least one dimension, else DP_ESHAPE. */
int need_rows(const struct call *c);

/* Queues a loop of maths.h. */
int queue_math(struct call *c, void (*loop)(const void *args), const struct math *math);
/* The same into the gradient of parameter i, which must not be frozen. */
int queue_param_grad(struct call *c, int i, void (*loop)(const void *args), struct math math);
bool is_trained(const struct call *c, int i);

#endif
