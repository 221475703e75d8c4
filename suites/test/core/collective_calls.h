/* collective_calls.h: calls of collectives on a world of any processes. */
#ifndef CASES_COLLECTIVE_CALLS_H
#define CASES_COLLECTIVE_CALLS_H

#include "context.h"

enum { COLLECTIVE_CALLS_MOST = 20011 };

/* Every collective with n numbers a block on local ranks of c->settings.world, in place and out of
 * place, for every type; from MOST numbers on for floats alone, and for more than twice as many
 * without blocks. whole: the numbers are integers, for a communicator that adds in any order. */
void collective_calls_of(struct context *c, int local, size_t n, bool whole);
/* An all-gather of bf16 there. */
void collective_calls_bf16(struct context *c, int local);

#endif
