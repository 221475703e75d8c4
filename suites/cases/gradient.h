/* gradient.h: the tables of area GRAD. */
#ifndef CASES_GRADIENT_H
#define CASES_GRADIENT_H

#include "check.h"

extern const struct check_table gradient_golden_table;
extern const struct check_table gradient_sum_table;
extern const struct check_table gradient_kept_table;
extern const struct check_table gradient_more_table;
extern const struct check_table gradient_unused_table;
extern const struct check_table gradient_input_table;
extern const struct check_table gradient_reduce_table;

#endif
