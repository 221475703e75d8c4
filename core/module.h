/* module.h: internals of modules, runs and replicas, for core/ only. */
#ifndef DP_MODULE_H
#define DP_MODULE_H

#include "tensor.h"

struct dp_module {
    struct dp_group *group;
    const struct dp_module_ops *ops;
    void *self;
    int refs;
    struct dp_param **params; /* its parameters, with a reference to each */
    int n_params;
    struct dp_module **children;
    int n_children;
};

/* The parameters of a tree in pre-order, each once. */
struct dp_param_list {
    struct dp_param **item;
    int n, capacity;
};
int dp_param_list_open(struct dp_module *module, struct dp_param_list *list, struct dp_error *err);
void dp_param_list_close(struct dp_param_list *list);
/* Returns how often the tree names a parameter; the number changes when one is added. */
size_t dp_module_visits(const struct dp_module *module);

/* The tensors of one replica. Parameter p of the base is entry index[p->id - first_id]. */
struct dp_state {
    const int *index;
    size_t first_id, n_ids;
    struct dp_tensor *value, *grad;
    bool *has_grad;
    bool *touched; /* may be NULL; true: a layer has set that gradient since it was cleared */
};

/* An observer of a replica's run. It is called on the worker of the replica after each module's
 * forward and backward that succeeded in grad mode; children come before their parents. */
struct dp_watch {
    void (*forward)(struct dp_watch *watch, const struct dp_module *module);
    void (*backward)(struct dp_watch *watch, const struct dp_module *module);
};

struct dp_run {
    struct dp_group *group;
    uint64_t serial; /* unique in its group */
    struct dp_slot *slot;
    int replica; /* -1: a run of the caller */
    bool grad, train;
    int depth; /* depth of nested forwards or backwards */
    uint64_t step;
    uint64_t draws;                          /* random numbers drawn by layers so far */
    struct dp_stack stack[DP_MAX_SLOTS + 1]; /* the host, then the slots by index */
    unsigned char *tape;                     /* data saved by forwards; the last one is on top */
    size_t tape_used, tape_bytes;
    const struct dp_state *state; /* NULL: the tensors of the base module */
    struct dp_watch *watch;       /* NULL: none */
};

/* Gives memory on a slot of the run's group, or on the host, until the next reset. */
int dp_run_memory(struct dp_run *run, const struct dp_slot *slot, size_t bytes, void **memory,
                  struct dp_error *err);
int dp_run_scratch(struct dp_run *run, size_t bytes, void **memory, struct dp_error *err);

/* Checks that both tensors are on one slot. Errors: DP_EDEVICE, with `what` and both devices. */
int dp_same_slot(const char *what, const struct dp_tensor *a, const char *other,
                 const struct dp_tensor *b, struct dp_error *err);
/* Checks that n_in is within least..most, and that every input is a tensor. */
int dp_check_inputs(const char *kind, const struct dp_tensor in[], int n_in, int least, int most,
                    struct dp_error *err);

#endif
