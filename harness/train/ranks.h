/* train/ranks.h: a training step in DistributedDataParallel: a rank on every device, each with its
 * own rows and its own mean loss, gradients averaged over the ranks. */
#ifndef HARNESS_TRAIN_RANKS_H
#define HARNESS_TRAIN_RANKS_H

#include "ddp.h"

struct dp_mpi;

/* The report of a rank about a step. */
struct train_said {
    double loss;
    uint64_t arrived; /* train_rows_digest of what it had */
};

/* Plain data; all zeros: no ranks. */
struct train_ranks {
    int n, first, world;    /* ranks here, from that one on, of so many in all processes */
    struct dp_mpi *mpi;     /* between them; NULL: there is one */
    struct train_said *own; /* of the ranks of the world */
    struct dp_tensor *out;  /* [rank * DP_MAX_IO], of those here */
    struct dp_module *pair; /* model and loss, so that each rank's worker does both */
    struct dp_ddp *ddp;
};

/* A rank on every slot of the group; model is on the first one. mpi: what the group's world is of,
 * or NULL. */
int train_ranks_open(struct train_ranks *ranks, struct dp_group *group, struct dp_module *model,
                     struct dp_module *loss, struct dp_mpi *mpi, struct dp_error *err);
void train_ranks_close(struct train_ranks *ranks);

/* Gives all ranks here the parameters of the first, which are the model's own. */
int train_ranks_spread(struct train_ranks *ranks, struct dp_error *err);

/* Writes rows r, r + W, r + 2 W, ... of from, each of so many bytes, one behind the other, for the
 * ranks r here, of W in the world. rows is a multiple of W; returns how many were written. [DDP-28]
 */
size_t train_ranks_deal(const struct train_ranks *ranks, size_t rows, size_t bytes,
                        const void *from, void *to);

/* Forward, loss and backward of all ranks here, which adds to their gradients: the rows of input
 * and target are theirs, as many each, the first one's first. said gets their losses, output (NULL:
 * not wanted) has room for DP_MAX_SLOTS: what the model gave on each rank. */
int train_ranks_pass(struct train_ranks *ranks, const struct dp_tensor *input,
                     const struct dp_tensor *target, struct train_said messages[],
                     struct dp_tensor output[], struct dp_error *err);
/* Over all ranks of the world: *loss is the mean of their losses, *arrived the sum of their
 * digests. */
int train_ranks_mean(struct train_ranks *ranks, const struct train_said here[], float *loss,
                     uint64_t *arrived, struct dp_error *err);

#endif
