/* values.h: cases about special numbers; each file has a table for each of its areas. */
#ifndef CASES_VALUES_H
#define CASES_VALUES_H

#include "check.h"

extern const struct check_table values_kept_split_table;
extern const struct check_table values_kept_gather_table;
extern const struct check_table values_kept_coalesce_table;
extern const struct check_table values_kept_replicate_table;
extern const struct check_table values_kept_composition_table;
extern const struct check_table values_gradient_gradient_table;
extern const struct check_table values_gradient_ddp_table;

#endif
