/* check/strays.h: processes that an implementation leaves running.
 *
 * A process that starts an implementation becomes the parent of all its descendants whose own
 * parents end, whatever session or group they moved to. So it finds them. */
#ifndef HARNESS_CHECK_STRAYS_H
#define HARNESS_CHECK_STRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct strays {
    uint32_t n;         /* the number that was found; all were killed, except with `unseen` */
    uint32_t unwatched; /* the system cannot tell which are left (no PR_SET_CHILD_SUBREAPER) */
    uint32_t unseen;    /* a process is left and cannot be found (no /proc) */
    char name[32];      /* of one of them, by its own report */
};

/* From now on this process becomes the parent of such processes. */
void strays_watch(void);
/* Called when no process that this one has started should be left: waits a moment for them to end
 * by themselves, then kills the rest. */
void strays_end(struct strays *strays);
/* Kills all children of this process except those in spared; waits for none of them. Returns how
 * many it killed. */
size_t strays_kill(const pid_t spared[], size_t n);

#endif
