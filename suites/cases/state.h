/* state.h: cases about what must not change over time, and what must: other rates, many steps,
 * memory that is filled anew, models and sessions beside each other. Their rows are in the tables
 * of the areas. */
#ifndef CASES_STATE_H
#define CASES_STATE_H

struct check;

/* state_steps.c */
void state_rate(struct check *c);       /* GRAD-19 */
void state_rate_ranks(struct check *c); /* GRAD-19, of ranks */
void state_many_steps(struct check *c); /* COMP-14 */
void state_many_ranks(struct check *c); /* DDP-01 */
void state_resident(struct check *c);   /* COMP-12 */
void state_live(struct check *c);       /* COMP-12 */

/* state_kept.c */
void state_refilled(struct check *c);         /* COMP-10 */
void state_refilled_scatter(struct check *c); /* SPLIT-01 */
void state_argument(struct check *c);         /* NONT-07 */
void state_arguments(struct check *c);        /* NONT-07 */
void state_models(struct check *c);           /* COMP-13 */
void state_sessions(struct check *c);         /* COMP-13 */
void state_ranks_wait(struct check *c);       /* DDP-09 */

/* state_norm.c */
void state_norm_known(struct check *c);   /* BUF-05 */
void state_norm_trained(struct check *c); /* BUF-05 */
void state_norm_numbers(struct check *c); /* BUF-12 */

#endif
