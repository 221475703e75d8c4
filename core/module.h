/* module.h: the inside of modules, runs and replicas, shared inside core/. */
#ifndef DP_MODULE_H
#define DP_MODULE_H

#include "memory.h"
#include "tensor.h"

struct dp_module {
    struct dp_group *group;
    const struct dp_module_ops *ops;
    void *self;
    int refs;
    struct dp_param **params; /* its own, each with a reference */
    int n_params;
    struct dp_module **children;
    int n_children;
};

/* The parameters of a tree, each once, in pre-order. */
struct dp_param_list {
    struct dp_param **item;
    int n, capacity;
};
int dp_param_list_open(struct dp_module *module, struct dp_param_list *list, struct dp_error *err);
void dp_param_list_close(struct dp_param_list *list);
/* How often the tree names a parameter: changes when one is added. */
size_t dp_module_visits(const struct dp_module *module);

/* One replica's tensors. Parameter p of the base is entry index[p->id - first_id]. */
struct dp_state {
    const int *index;
    size_t first_id, n_ids;
    struct dp_tensor *value, *grad;
    bool *has_grad;
    bool *touched; /* NULL, or: a layer has set it since somebody cleared it */
};

/* Who wants to know what a run of a replica does: called on its worker, behind each module that
 * ended well in grad mode, those inside before those around them. */
struct dp_watch {
    void (*forward)(struct dp_watch *watch, const struct dp_module *module);
    void (*backward)(struct dp_watch *watch, const struct dp_module *module);
};

struct dp_run {
    struct dp_group *group;
    uint64_t serial; /* unique in its group */
    struct dp_slot *slot;
    int replica; /* -1: the caller's run */
    bool grad, train;
    int depth; /* of nested forwards or backwards */
    uint64_t step;
    uint64_t draws;                          /* that layers with random numbers have made */
    struct dp_stack stack[DP_MAX_SLOTS + 1]; /* host, then slots by index */
    unsigned char *tape;                     /* what forwards saved, last on top */
    size_t tape_used, tape_bytes;
    const struct dp_state *state; /* NULL: the base module's own tensors */
    struct dp_watch *watch;       /* NULL: nobody */
};

/* Memory on a slot of the run's group, or on the host, until the next reset. */
int dp_run_memory(struct dp_run *run, const struct dp_slot *slot, size_t bytes, void **memory,
                  struct dp_error *err);
int dp_run_scratch(struct dp_run *run, size_t bytes, void **memory, struct dp_error *err);

/* Both tensors on one slot, or DP_EDEVICE naming what and both devices. */
int dp_same_slot(const char *what, const struct dp_tensor *a, const char *other,
                 const struct dp_tensor *b, struct dp_error *err);
/* n_in within least..most, and every input a tensor. */
int dp_check_inputs(const char *kind, const struct dp_tensor in[], int n_in, int least, int most,
                    struct dp_error *err);

#endif
