/* probes.h: modules made for the cases. Each makes one kind of mistake of an implementation
 * visible; none is useful for anything else.
 *
 * A probe's plan is filled by the case before a call and read by it afterwards. During a call,
 * entry i is used by replica i's worker only (entry 0 also by a module that is called without
 * replicas), so nothing here needs a lock. */
#ifndef CASES_PROBES_H
#define CASES_PROBES_H

#include "context.h"

#include <pthread.h>

#define PROBE_REPLICAS 16

/* The calls that one replica saw. */
struct probe_visit {
    int forwards;
    int marks; /* queued work that has run */
    pthread_t thread;
    struct dp_slot *run_slot;
    const void *in_data;
};

/* A module that passes its input and its gradient on, and records or fails with DP_EFAULT. */
struct probe {
    bool mark;                            /* queue work that counts in marks, before failing */
    uint32_t fail_forward, fail_backward; /* bit i: replica i fails */
    uint32_t no_input_grad;               /* bit i: replica i says its input has no gradient */
    struct probe_visit visit[PROBE_REPLICAS];
};
struct dp_module *make_probe(struct context *c, struct dp_group *group, struct probe **probe);
int probe_forwards(const struct probe *probe); /* over all replicas */

/* y = w x with one w. With choices > 1, replica i uses w[i % choices]. */
struct dp_module *make_scale(struct context *c, struct dp_group *group, int choices);
/* y = w x with the parameter of another module. */
struct dp_module *make_tied_scale(struct context *c, struct dp_group *group,
                                  struct dp_param *weight);

/* y = a b, two inputs */
struct dp_module *make_multiply(struct context *c, struct dp_group *group);
/* Passes its input on; its buffer "count" goes up by one in place. */
struct dp_module *make_counter(struct context *c, struct dp_group *group);

#endif
