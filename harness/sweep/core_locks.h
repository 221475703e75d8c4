/* sweep/core_locks.h: a lock on each processing unit that devices are bound to, for as long as they
 * are measured: two measurements on one core would disturb each other.
 *
 * A lock is a flock on /run/lock/lockstep-core-N, or on /tmp/lockstep-core-N if that one cannot be
 * opened. It ends with the process, however that ends. The files stay: if a process removed one
 * that another process has just opened, the two could each lock a different file. */
#ifndef HARNESS_CORE_LOCKS_H
#define HARNESS_CORE_LOCKS_H

#include <stdbool.h>

#include "record/record.h"
#include "text/text.h"

struct core_locks {
    int *fd; /* NULL: none */
    int n;
    bool waited;            /* waited for another process */
    struct text_error note; /* for the record: another folder, no lock; "": nothing to note */
};

/* Locks the cores of the bound slots of a run, in ascending order, so that of two sweeps that wait
 * for each other one goes on. If another process has a core, it waits until that process ends, with
 * a line on stderr, or else refuses with one. If there can be no locks, it goes on without them,
 * and notes it. root is "", or a folder that has another /run/lock and /tmp. Returns 0 or an exit
 * status, EXIT_INTERRUPTED after a signal. The caller fills locks with zeros before, and releases
 * them in any case. */
int core_locks_take(const char *root, const char *command, const struct record_run *run, bool wait,
                    struct core_locks *locks);
void core_locks_release(struct core_locks *locks);

#endif
