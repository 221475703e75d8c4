/* sweep/core_locks.h: a lock on each processing unit that devices are bound to, for as long as they
 * are measured: two measurements on one core would measure each other.
 *
 * A lock is a flock on /run/lock/lockstep-core-N, or on /tmp/lockstep-core-N where that one cannot
 * be opened. It ends with the process, however that ends. The files stay: who removed one that
 * another process has just opened would leave the two with a file, and so a lock, each. */
#ifndef HARNESS_CORE_LOCKS_H
#define HARNESS_CORE_LOCKS_H

#include <stdbool.h>

#include "record/record.h"
#include "text/text.h"

struct core_locks {
    int *fd; /* NULL: none */
    int n;
    bool waited;            /* for another process */
    struct text_error note; /* what a reader should know: another folder, no lock; "" */
};

/* Locks the cores of a run's bound slots, in ascending order, so that of two that wait for each
 * other one goes on. Cores that another process has: waits until it ends, with a line on stderr, or
 * else refuses them with one. Where there can be no locks it goes on without, and notes it. Root is
 * "", or a folder that has another /run/lock and /tmp. 0 or an exit status, EXIT_INTERRUPTED after
 * a signal. Release them in any case; begin with zeros. */
int core_locks_take(const char *root, const char *command, const struct record_run *run, bool wait,
                    struct core_locks *locks);
void core_locks_release(struct core_locks *locks);

#endif
