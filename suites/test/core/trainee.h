/* trainee.h: training by one of the processes of a world, and what came out of it, for tests that
 * compare a world with one group of all its ranks. */
#ifndef CASES_TRAINEE_H
#define CASES_TRAINEE_H

#include "ddp.h"

enum { TRAINEE_RANKS = 8, TRAINEE_STEPS = 6, TRAINEE_PARAMS = 10 };

/* What is trained. A rank's last step that has a batch: the join begins when one has none. */
struct trainee_plan {
    const char *name;
    bool find_unused;
    bool idle; /* with a parameter that nobody uses */
    int last[TRAINEE_RANKS];
    int fails; /* rank whose backward of step 1 fails, -1: none */
    bool odd;  /* other processes than the first have another model */
    bool wide; /* of megabytes, in buckets of the default size */
};

/* One process. It states nothing: it keeps what came out. */
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
};

/* NULL: no memory. Ranks first..first+n of so many; config: how its group is opened. */
struct trainee *trainee_open(const struct trainee_plan *plan, int ranks, int first, int n,
                             const struct dp_group_config *config);
void trainee_close(void *trainee);
/* A thread's function: opens a group, trains, keeps the results, closes all. */
void *trainee_run(void *trainee);
float *trainee_value(const struct trainee *trainee, int rank, int param);
float *trainee_grad(const struct trainee *trainee, int rank, int param);
/* What is unlike of the ranks of part, to the bit: a line, or "" for nothing. */
void trainee_compare(const struct trainee *whole, const struct trainee *part, char *text,
                     size_t bytes);

#endif
