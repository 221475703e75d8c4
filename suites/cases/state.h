/* state.h: cases about state that must not change over time, and state that must: other rates, many
 * steps, memory that is filled anew, models and sessions at the same time. Each file has a table
 * for each of its areas. */
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
