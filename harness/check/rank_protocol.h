/* check/rank_protocol.h: what a rank pool and its processes know of each other: how much is on its
 * way, how long they wait, their last words, and what their answers come to. */
#ifndef HARNESS_CHECK_RANK_PROTOCOL_H
#define HARNESS_CHECK_RANK_PROTOCOL_H

#include <jansson.h>

#include "files/digest.h"

/* Bytes that are on their way to the first process, at most: what a pipe keeps. */
enum { RANK_POOL_INPUT = 32768 };

enum {
    RANK_START_MS = 30000, /* for MPI to start */
    RANK_WAIT_SECONDS = 8  /* after so many the others do not wait for a process any more */
};

/* Before the last words of a process: its answer, which is an error; or a reason. */
#define RANK_REFUSED "refused "
#define RANK_LOST    "lost "

/* The process whose error tells most, since one may only say that another one has given up; -1:
 * there is none. Answers may be NULL. */
int rank_answers_failed(json_t *const answers[], int n);

/* The digest of an answer without the few values that differ by process; "-" for an error. 0, or
 * -1: no memory. */
int rank_answer_digest(const json_t *answer, char hex[DIGEST_HEX]);

#endif
