/* split_cases.h: the tables of area SPLIT that are not in split.c. */
#ifndef CASES_SPLIT_CASES_H
#define CASES_SPLIT_CASES_H

#include "check.h"

extern const struct check_table split_scatter_table;
extern const struct check_table split_model_table;

#endif
