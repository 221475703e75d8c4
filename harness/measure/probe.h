/* measure/probe.h: a module around another one that notes the shapes that each replica really
 * saw. */
#ifndef HARNESS_PROBE_H
#define HARNESS_PROBE_H

#include "dp.h"

/* The shapes that one replica saw since probe_clear. Only the worker of the replica writes them. */
struct probe_shape {
    int calls;
    int in_dims, out_dims;
    size_t in[DP_MAX_DIMS], out[DP_MAX_DIMS];
};

struct probe {
    struct probe_shape replica[DP_MAX_SLOTS]; /* outside a replica: entry 0 */
};

/* Wraps child; probe must outlive the module. */
int probe_open(struct dp_group *group, struct dp_module *child, struct probe *probe,
               struct dp_module **module, struct dp_error *err);
void probe_clear(struct probe *probe);
/* Gives the rows of each replica up to the last one that ran, and returns how many replicas that
 * are. A replica that did not run, or ran more than once, has 0 rows. */
size_t probe_rows(const struct probe *probe, size_t rows[DP_MAX_SLOTS]);

#endif
