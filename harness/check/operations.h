/* check/operations.h: what a worker (check/worker.h) does, by name, and one answer for those of all
 * processes, each of which answers for itself. */
#ifndef HARNESS_CHECK_OPERATIONS_H
#define HARNESS_CHECK_OPERATIONS_H

#include <jansson.h>
#include <stddef.h>

#include "dp_mpi.h"
#include "files/digest.h"

struct operation {
    const char *name;
    /* 0 and what it answers, NULL: no memory; or the status of err. */
    int (*run)(void *self, const json_t *request, json_t **ok, struct dp_error *err);
};
/* The answer of this process; its error says which process it is. NULL: no memory, or no such
 * operation. */
json_t *operations_answer(const struct dp_mpi *mpi, const struct operation operation[], size_t n,
                          void *self, const json_t *request);
/* A text of a request; "": it has none of that name. */
const char *operations_text(const json_t *request, const char *name);

/* The first error, or the first one's answer; it says "oversubscribed" if one of them does. Whether
 * all have that answer is for who asks to see (check/crowd.h). NULL: no memory. */
json_t *operations_join(json_t *const answers[], int n);

/* The digest of an answer without the few values that differ by process; "-" for an error. 0, or
 * -1: no memory. */
int operations_digest(const json_t *answer, char hex[DIGEST_HEX]);

/* ---- one answer for those of all ranks: check/join.c ---- */

/* The answers of n processes to one request (suites/impls/exec/PROTOCOL.md), in their order. An
 * error of one is the answer; what only one knows is taken from that one, all else from the
 * first. NULL: no memory, or an answer that is none. */
json_t *join_answers(json_t *const answers[], int n);
/* Whose error tells most, since a process may only say that another one has given up; -1: there is
 * none. Answers may be NULL. */
int join_failed(json_t *const answers[], int n);

#endif
