/* loader.h: batches of a data set, in an order of each epoch's own.
 *
 * Every row of index comes once an epoch (but see multiple and draws); the last batch has what is
 * left. The order is a function of seed and epoch. With prefetch a thread makes the next batch
 * while the last one is used; what comes is the same without it. Nothing is allocated between
 * loader_open and loader_close. */
#ifndef LOADER_H
#define LOADER_H

#include <stdbool.h>

#include "dataset.h"

struct loader;

struct loader_config {
    const struct dataset *data; /* outlives the loader */
    const size_t *index;        /* rows of data to take; copied. NULL: all, then n is not read */
    size_t n;
    size_t batch; /* rows */
    uint64_t seed;
    bool shuffle; /* else in the order of index */
    bool prefetch;
    /* The order is rounded up to a multiple of it, with rows from its start, as DistributedSampler
     * does. 0, 1: not. */
    size_t multiple;
    float scale; /* features are multiplied by it; 0 means 1 */
    /* An epoch has so many rows, each drawn from the first n, which may come again. 0: not; else
     * there is no index. */
    size_t draws;
};

struct loader_batch {
    size_t rows;          /* 0: the epoch is over */
    const float *feature; /* [rows, features] */
    const int32_t *label; /* [rows, dataset_labels] */
    const size_t *index;  /* [rows]: rows of the data set */
};

/* Errors DP_EINVAL no rows, a row that the data does not have, batch 0; DP_ENOMEM. */
int loader_open(const struct loader_config *config, struct loader **loader, struct dp_error *err);
void loader_close(struct loader *loader); /* NULL allowed */

/* Starts an epoch; one that is under way is given up. */
void loader_start(struct loader *loader, uint64_t epoch);
/* The next batch, valid until the next call. */
void loader_next(struct loader *loader, struct loader_batch *batch);
size_t loader_batches(const struct loader *loader); /* of an epoch */
size_t loader_rows(const struct loader *loader);    /* of an epoch, those that fill it up, too */

#endif
