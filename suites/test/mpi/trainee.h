/* trainee.h: training by one process of a world, and its results, for tests that compare a world
 * with one group of all its ranks. */
#ifndef CASES_TRAINEE_H
#define CASES_TRAINEE_H

#include "ddp.h"

enum { TRAINEE_RANKS = 8, TRAINEE_STEPS = 6, TRAINEE_PARAMS = 10 };

/* The training that every process runs. Rank r has a batch in the first last[r] steps: the join
 * begins when a rank has none. */
struct trainee_plan {
    const char *name;
    bool find_unused;
    bool idle; /* there is a parameter that no layer uses */
    int last[TRAINEE_RANKS];
    int fails; /* rank whose backward of step 1 fails, -1: none */
    bool odd;  /* other processes than the first have another model */
    bool wide; /* of megabytes, in buckets of the default size */
};

/* One process. It judges nothing, it only keeps its results. */
struct trainee {
    const struct trainee_plan *plan;
    struct dp_group_config config;
    int ranks, first, n; /* of the world; local ones */
    int step;
    int status;
    struct dp_error err;
    int world, first_seen, world_seen;
    size_t most;         /* numbers of the largest parameter */
    float *value, *grad; /* [rank][parameter][most] */
    bool has_grad[TRAINEE_RANKS][TRAINEE_PARAMS];
    uint64_t sent[TRAINEE_RANKS]; /* bytes of the first values that came to a rank */
};

/* Opens ranks first..first+n of a world of `ranks`; config says how their group is opened. Returns
 * NULL if there is no memory. */
struct trainee *trainee_open(const struct trainee_plan *plan, int ranks, int first, int n,
                             const struct dp_group_config *config);
void trainee_close(struct trainee *trainee);
/* Opens a group, trains, keeps the results, closes all. */
void trainee_run(struct trainee *trainee);
float *trainee_value(const struct trainee *trainee, int rank, int param);
/* Compares the ranks of part with those of whole, bit for bit, and whether values were sent to
 * them: writes a line about a difference, or "". */
void trainee_compare(const struct trainee *whole, const struct trainee *part, char *text,
                     size_t bytes);

#endif
