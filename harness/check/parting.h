/* check/parting.h: how processes with ranks wait for each other, and what they say when they part.
 */
#ifndef HARNESS_CHECK_PARTING_H
#define HARNESS_CHECK_PARTING_H

enum {
    PARTING_START_MS = 30000, /* for MPI to start */
    PARTING_SECONDS = 8       /* after so many the others do not wait for a process any more */
};

/* In front of the last words of a process: its answer, which is an error; or a reason. */
#define PARTING_REFUSED "refused "
#define PARTING_LOST    "lost "

#endif
