/* train/ranks.h: a training step in DistributedDataParallel: there is a rank on every device, each
 * with separate rows and their mean loss; gradients are averaged over the ranks. */
#ifndef HARNESS_TRAIN_RANKS_H
#define HARNESS_TRAIN_RANKS_H

#include "ddp.h"

struct dp_mpi;

/* The report of a rank about a step. */
struct train_said {
    double loss;
    uint64_t arrived; /* train_rows_digest of the rows that it had */
};

/* It is plain data; all zeros: no ranks. */
struct train_ranks {
    int n, first, world;    /* local ranks, from that one on; world size */
    struct dp_mpi *mpi;     /* connects the processes; NULL: there is one */
    struct train_said *own; /* space for the reports of all ranks of the world */
    struct dp_tensor *out;  /* outputs of the local ranks, [rank * DP_MAX_IO] */
    struct dp_module *pair; /* model and loss, so that each rank's worker does both */
    struct dp_ddp *ddp;
};

/* Opens a rank on every slot of the group; model is on the first one. mpi: the processes of the
 * group's world, or NULL. */
int train_ranks_open(struct train_ranks *ranks, struct dp_group *group, struct dp_module *model,
                     struct dp_module *loss, struct dp_mpi *mpi, struct dp_error *err);
void train_ranks_close(struct train_ranks *ranks);

/* Gives all local ranks the parameters of the first, which are those of the model. */
int train_ranks_spread(struct train_ranks *ranks, struct dp_error *err);

/* Writes rows r, r + W, r + 2 W, ... of from, for the local ranks r, one after the other; W is the
 * world size, and a row has bytes bytes. rows is a multiple of W; returns how many were written.
 * [DDP-28] */
size_t train_ranks_deal(const struct train_ranks *ranks, size_t rows, size_t bytes,
                        const void *from, void *to);

/* Runs forward, loss and backward of all local ranks, which adds to their gradients. input and
 * target have the rows of all local ranks, the same number for each, in the order of the ranks.
 * messages gets their losses. output (NULL: not wanted) gets the outputs of the model on each rank;
 * it has capacity for DP_MAX_SLOTS. */
int train_ranks_pass(struct train_ranks *ranks, const struct dp_tensor *input,
                     const struct dp_tensor *target, struct train_said messages[],
                     struct dp_tensor output[], struct dp_error *err);
/* Combines all ranks of the world: *loss is the mean of their losses, *arrived the sum of their
 * digests. */
int train_ranks_mean(struct train_ranks *ranks, const struct train_said here[], float *loss,
                     uint64_t *arrived, struct dp_error *err);

#endif
