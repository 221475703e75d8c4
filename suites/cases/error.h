/* error.h: the tables of area ERR that are not in error.c. */
#ifndef CASES_ERROR_H
#define CASES_ERROR_H

#include "check.h"

extern const struct check_table error_shape_table;
extern const struct check_table error_state_table;

#endif
