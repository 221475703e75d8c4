/* values.h: cases about numbers that are not ordinary. Their rows are in the tables of the areas.
 */
#ifndef CASES_VALUES_H
#define CASES_VALUES_H

struct check;

/* values_kept.c: copies keep every bit */
void values_scatter(struct check *c);    /* SPLIT-14 */
void values_gather(struct check *c);     /* GATH-14 */
void values_wide_sums(struct check *c);  /* COAL-13 */
void values_minus_zero(struct check *c); /* REPL-07 */
void values_zero_sign(struct check *c);  /* COMP-01 */

/* values_gradient.c: gradients that are infinite, NaN, or very small */
void values_not_finite(struct check *c);  /* GRAD-18 */
void values_small(struct check *c);       /* GRAD-18 */
void values_ranks_nan(struct check *c);   /* DDP-05 */
void values_ranks_small(struct check *c); /* DDP-05 */

#endif
