/* failure.h: cases about failures that come a second time, and about failing ranks. Their rows are
 * in the tables of the areas. */
#ifndef CASES_FAILURE_H
#define CASES_FAILURE_H

struct check;

/* failure_second.c */
void failure_second_forward(struct check *c);  /* APPLY-13 */
void failure_second_backward(struct check *c); /* APPLY-13 */

/* failure_ranks.c */
void failure_rank_named(struct check *c);      /* DDP-31 */
void failure_rank_of_several(struct check *c); /* DDP-31 */
void failure_rank_after(struct check *c);      /* DDP-32 */

#endif
