/* check/join.h: what each of several processes answers for its ranks, to the answer for all. */
#ifndef HARNESS_CHECK_JOIN_H
#define HARNESS_CHECK_JOIN_H

#include <jansson.h>

/* The answers of n processes to one request (suites/impls/exec/PROTOCOL.md), in their order. An
 * error of one is the answer; what only one knows is taken from that one, all else from the
 * first. NULL: no memory, or an answer that is none. */
json_t *join_answers(json_t *const answers[], int n);
/* Whose error tells most, since a process may only say that another one has given up; -1: there is
 * none. Answers may be NULL. */
int join_failed(json_t *const answers[], int n);

#endif
