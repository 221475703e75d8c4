/* measure/share.h: exchanges between the ranks of several processes, and which process has which
 * cores. */
#ifndef HARNESS_SHARE_H
#define HARNESS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dp_error;
struct dp_group;
struct dp_group_config;
struct dp_mpi;

/* Gathers bytes of each local rank (a multiple of 4, one rank after the other) on all processes, in
 * the order of the ranks of the world. All processes call it. */
int share_gather(struct dp_group *group, const void *mine, size_t bytes, void *all,
                 struct dp_error *err);

/* When an operation began that took took_ns in the slowest process, by the clock of the first
 * process. There it began at start_ns, the operation before it ended at end_ns, and at now_ns all
 * have finished it. A process that began earlier than the first one took longer, so the operation
 * may have begun earlier than start_ns. */
uint64_t share_start(uint64_t start_ns, uint64_t took_ns, uint64_t end_ns, uint64_t now_ns);

/* Whether devices of any process share cores. All processes call it. */
int share_oversubscribed(struct dp_group *group, bool *any, struct dp_error *err);

/* Divides cores between processes that got the same ones from their launcher, with each devices per
 * process. It fills in the fields of group that depend on that. */
void share_cores(const struct dp_mpi *mpi, int each, struct dp_group_config *group);

#endif
