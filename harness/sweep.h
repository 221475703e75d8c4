/* sweep.h: the options of a sweep, and the sweep itself. */
#ifndef HARNESS_SWEEP_H
#define HARNESS_SWEEP_H

#include "plan.h"

struct sweep_options {
    struct plan_options plan;
    char out[512]; /* "": a new file in results/local */
    bool resume;
    double timeout;  /* seconds per cell */
    size_t required; /* devices */
    uint64_t seen;   /* options that were given */
};

/* Parses and completes nothing: what was not given stays empty. 0 or an exit status. */
int sweep_parse(int argc, char **argv, struct sweep_options *options);

#endif
