/* part.h: the reference with the ranks of its models in several processes: what one of them has.
 *
 * All processes make the same calls in the same order, with the inputs of all ranks, and each gives
 * back what belongs to its own ranks: outputs of the others are IMPL_NONE. What is of no rank is
 * the first process's: models of one rank, and functions. There the others do nothing and say so
 * by success. */
#ifndef REFERENCE_PART_H
#define REFERENCE_PART_H

#include "impl.h"

struct dp_mpi;

/* As the table's open, which it does not have. config.devices is "virt:N", or as core has it behind
 * that: a model has at most N ranks. Of processes other than the first, *about is empty. */
int part_open(struct dp_mpi *mpi, const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err);
/* Models, buckets and sampler. */
const struct impl_ops *part_ops(void);

#endif
