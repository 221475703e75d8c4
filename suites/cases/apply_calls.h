/* apply_calls.h: makes the calls of parallel_apply. */
#ifndef CASES_APPLY_CALLS_H
#define CASES_APPLY_CALLS_H

#include "check.h"

/* Returns n calls, which still need a module (description). Call i works on x[i] on devices[i]: one
 * column of `rows` different numbers, which differ from those of the other calls. */
struct impl_call *apply_calls(struct check *c, const int devices[], int n, size_t rows);
/* Returns {"layers":[LAYERS]}. */
const char *apply_module(struct check *c, const char *layers);
/* Makes all n calls in grad and train mode. */
int apply_try(struct check *c, struct impl_call *calls, int n);

#endif
