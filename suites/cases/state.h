/* state.h: cases about what must not change over time, and what must: other rates, many steps,
 * memory that is filled anew, models and sessions beside each other; in each file a table for
 * each area that it serves. */
#ifndef CASES_STATE_H
#define CASES_STATE_H

#include "check.h"

extern const struct check_table state_steps_gradient_table;
extern const struct check_table state_steps_composition_table;
extern const struct check_table state_steps_ddp_table;
extern const struct check_table state_kept_composition_table;
extern const struct check_table state_kept_split_table;
extern const struct check_table state_kept_argument_table;
extern const struct check_table state_kept_ddp_table;
extern const struct check_table state_norm_table;

#endif
