/* part.h: the reference with the ranks of its models in several processes: the part of one process.
 *
 * All processes make the same calls in the same order, with the inputs of all ranks. Each returns
 * the results of the ranks that it has; outputs of the others are IMPL_NONE. Work that belongs to
 * no rank is done by the first process: models of one rank, and functions. The other processes then
 * do nothing, and return success. */
#ifndef REFERENCE_PART_H
#define REFERENCE_PART_H

#include "impl.h"

struct dp_mpi;

/* Replaces the table's open, which is absent. config.devices is "virt:N" with the suffixes that
 * core allows: a model has at most N ranks. In processes other than the first, *about is empty. */
int part_open(struct dp_mpi *mpi, const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err);
/* The operations on models, buckets and sampler. */
const struct impl_ops *part_ops(void);

#endif
