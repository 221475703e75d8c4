/* check/rank_protocol.h: the constants and functions that a rank pool and its processes share: how
 * many bytes may be on their way, how long they wait, how an error is printed, and how answers are
 * compared. */
#ifndef HARNESS_CHECK_RANK_PROTOCOL_H
#define HARNESS_CHECK_RANK_PROTOCOL_H

#include <jansson.h>

#include "files/digest.h"

/* The largest number of bytes that are on their way to the first process: a pipe holds as many. */
enum { RANK_POOL_INPUT = 32768 };

enum {
    RANK_START_MS = 30000, /* for MPI to start */
    RANK_WAIT_SECONDS = 8  /* the others wait for a process no longer than this */
};

/* The begin of the last line of a process; its answer, which is an error, or a reason follows. */
#define RANK_REFUSED "refused "
#define RANK_LOST    "lost "

/* Returns the process whose error tells most, since an error may only say that another process has
 * given up; -1: no process has an error. Answers may be NULL. */
int rank_answers_failed(json_t *const answers[], int n);

/* Computes the digest of an answer without the few values that differ by process; "-" for an error.
 * Returns 0, or -1: no memory. */
int rank_answer_digest(const json_t *answer, char hex[DIGEST_HEX]);

#endif
