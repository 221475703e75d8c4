/* check/ask.h: asks processes that a launcher has started (check/crowd.h) for operations by name
 * (check/operations.h), in JSON both ways. */
#ifndef HARNESS_CHECK_ASK_H
#define HARNESS_CHECK_ASK_H

#include <jansson.h>

#include "check/crowd.h"
#include "dp.h"

struct ask {
    struct crowd *crowd;
    long long id; /* of the last request */
};

/* The content of the answer of all, which the caller releases. NULL: the error of one of them, or
 * DP_EFAULT and who is lost. Takes the request; NULL of it: there was no memory. */
json_t *ask_crowd(struct ask *ask, const char *op, json_t *request, struct dp_error *err);
/* The same of an answer that says no more than that all went well. */
int ask_crowd_for(struct ask *ask, const char *op, json_t *request, struct dp_error *err);
/* DP_EFAULT and why. */
int ask_lost(const char *why, struct dp_error *err);

#endif
