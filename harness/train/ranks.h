/* train/ranks.h: a training step in DistributedDataParallel: a rank on every device, each with its
 * own rows and its own mean loss, gradients averaged over the ranks. */
#ifndef HARNESS_TRAIN_RANKS_H
#define HARNESS_TRAIN_RANKS_H

#include "ddp.h"

/* Plain data; all zeros: no ranks. */
struct train_ranks {
    int n;
    struct dp_module *pair; /* model and loss, so that each rank's worker does both */
    struct dp_ddp *ddp;
};

/* A rank on every slot of the group; model is on the first one. */
int train_ranks_open(struct train_ranks *ranks, struct dp_group *group, struct dp_module *model,
                     struct dp_module *loss, struct dp_error *err);
void train_ranks_close(struct train_ranks *ranks);

/* Gives all ranks the parameters of the first, which are the model's own. */
int train_ranks_spread(struct train_ranks *ranks, struct dp_error *err);

/* Writes rows r, r + n, r + 2 n, ... of from, each of so many bytes, one behind the other, rank r =
 * 0 first. rows is a multiple of the number of ranks. [DDP-28] */
void train_ranks_deal(const struct train_ranks *ranks, size_t rows, size_t bytes, const void *from,
                      void *to);

/* Forward, loss and backward of all ranks: the rows of input and target are theirs, as many each,
 * rank 0's first. *loss is the mean of their losses, output (NULL: not wanted) has room for
 * DP_MAX_SLOTS: what the model gave on each rank. */
int train_ranks_pass(struct train_ranks *ranks, const struct dp_tensor *input,
                     const struct dp_tensor *target, float *loss, struct dp_tensor output[],
                     struct dp_error *err);

#endif
