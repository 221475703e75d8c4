/* golden.h: the golden data: one feature, y = w x + b, w = 2, b = 1, rows 1..N. Every shard has
 * another sum, so a missing, doubled or swapped shard shows. All numbers are exact in float, in
 * any order of summation. Closed forms, for any N and K:
 *   loss sum(y), upstream ones       dw = N(N+1)/2         db = N         dx = 2
 *   upstream g_i = i                 dw = N(N+1)(2N+1)/6   db = N(N+1)/2  dx_i = 2i
 */
#ifndef CASES_GOLDEN_H
#define CASES_GOLDEN_H

#include "context.h"

struct golden {
    struct dp_group *group;
    struct dp_module *linear;  /* on ids[0] */
    struct dp_module *wrapper; /* over ids */
    struct dp_param *weight, *bias;
    struct dp_run *run;
    struct dp_slot **ids;
    int k;
};

/* Opens K slots in order, and uses all of them. */
void golden_open(struct context *c, struct golden *g, int k);
/* Writes w and b. */
void golden_set(struct context *c, const struct golden *g, double weight, double bias);
/* Returns the n rows first, first + 1, ... as [n, 1] on a slot; their gradient is wanted. */
struct dp_tensor golden_rows(struct context *c, struct dp_slot *slot, size_t n, double first);

double golden_sum(size_t n);     /* 1 + .. + n */
double golden_squares(size_t n); /* 1 + 4 + .. + n^2 */
void golden_expect_grads(struct context *c, const struct golden *g, double weight, double bias);
void golden_expect_params(struct context *c, const struct golden *g, double weight, double bias);

#endif
