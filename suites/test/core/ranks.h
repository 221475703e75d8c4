/* ranks.h: models of several ranks for the cases of DistributedDataParallel. */
#ifndef CASES_RANKS_H
#define CASES_RANKS_H

#include "context.h"
#include "ddp.h"

#define RANKS_MOST 8

struct ranks {
    struct dp_group *group;
    struct dp_module *module;
    struct dp_ddp *ddp;
    int n;
};

void own_ddp(struct context *c, struct dp_ddp *ddp); /* that was just opened */
/* Opens ranks on the first n slots of the group; the module is moved to the first of them. */
void ranks_open(struct context *c, struct ranks *ranks, struct dp_group *group,
                struct dp_module *module, int n, const struct dp_ddp_config *config);
/* Opens y = 2 x + 1 with n ranks, in a new group. */
void ranks_line(struct context *c, struct ranks *ranks, int n, const struct dp_ddp_config *config);

/* Runs forward and backward of one step with the rows of each rank as [rows, 1] on its slot. The
 * upstream gradient of every row is g[r]; g = NULL: ones. rows[r] = 0: the rank is not active. */
struct ranks_batch {
    int rows[RANKS_MOST];
    double x[RANKS_MOST][8];
    double g[RANKS_MOST];
};
void ranks_pass(struct context *c, struct ranks *ranks, const struct ranks_batch *batch);
/* Runs the forward alone; active = NULL: all ranks are active. */
void ranks_forward(struct context *c, struct ranks *ranks, const struct ranks_batch *batch,
                   const bool active[], struct dp_tensor out[]);
void ranks_backward(struct context *c, struct ranks *ranks, const struct ranks_batch *batch);
void ranks_step(struct context *c, struct ranks *ranks, float lr, float momentum);

/* The first compares one element of parameter i of rank r, the second of all ranks. */
void ranks_expect(struct context *c, struct ranks *ranks, int r, int i, bool gradient, double want);
void ranks_expect_all(struct context *c, struct ranks *ranks, int i, bool gradient, double want);
void ranks_expect_none(struct context *c, struct ranks *ranks, int r, int i);
void ranks_write(struct context *c, struct ranks *ranks, int r, int i, bool gradient, double value);
void ranks_equal(struct context *c, struct ranks *ranks);

#endif
