/* check/strays.h: processes that an implementation leaves behind.
 *
 * Who starts an implementation becomes the parent of all its descendants whose own parents end,
 * whatever session or group they moved to, and so finds them. */
#ifndef HARNESS_CHECK_STRAYS_H
#define HARNESS_CHECK_STRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct strays {
    uint32_t n;         /* that were found; all were killed but where `unseen` */
    uint32_t unwatched; /* the system does not say who is left (no PR_SET_CHILD_SUBREAPER) */
    uint32_t unseen;    /* somebody is left and cannot be found (no /proc) */
    char name[32];      /* of one of them, as it calls itself */
};

/* From now on, of this process. */
void strays_watch(void);
/* Nothing that this process has started should be there any more: kills what is, after a moment
 * for it to end by itself. */
void strays_end(struct strays *strays);
/* Kills all children of this process but those; waits for none of them. Returns how many. */
size_t strays_kill(const pid_t spared[], size_t n);

#endif
