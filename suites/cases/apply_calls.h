/* apply_calls.h: making the calls of parallel_apply. */
#ifndef CASES_APPLY_CALLS_H
#define CASES_APPLY_CALLS_H

#include "check.h"

/* n calls; each is to be given its module (description), and works on x[i] on devices[i], which
 * is one column of `rows` different numbers, other ones for each call. */
struct impl_call *apply_calls(struct check *c, const int devices[], int n, size_t rows);
/* {"layers":[LAYERS]} */
const char *apply_module(struct check *c, const char *layers);
/* All n in grad and train mode. */
int apply_try(struct check *c, struct impl_call *calls, int n);

#endif
