/* measure/share.h: what ranks of several processes tell each other, and which cores are whose. */
#ifndef HARNESS_SHARE_H
#define HARNESS_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dp_error;
struct dp_group;
struct dp_group_config;
struct dp_mpi;

/* So many bytes of each local rank, a multiple of 4, one behind the other, to all, in the order of
 * the ranks of the world. A call of all processes. */
int share_gather(struct dp_group *group, const void *mine, size_t bytes, void *all,
                 struct dp_error *err);

/* When something began that took so long in the slowest process, by the clock of the first one.
 * There it began at start_ns; what was before ended at end_ns, and now all have done it. Who began
 * earlier than the first one took longer: so it may have begun earlier, too. */
uint64_t share_start(uint64_t start_ns, uint64_t took_ns, uint64_t end_ns, uint64_t now_ns);

/* Whether devices of any process share cores. A call of all processes. */
int share_oversubscribed(struct dp_group *group, bool *any, struct dp_error *err);

/* Processes whose launcher has given them the same cores divide them: so many devices each. Fills
 * in what a group has to know of that. */
void share_cores(const struct dp_mpi *mpi, int each, struct dp_group_config *group);

#endif
