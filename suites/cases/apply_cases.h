/* apply_cases.h: the tables of area APPLY that are not in apply.c. */
#ifndef CASES_APPLY_CASES_H
#define CASES_APPLY_CASES_H

#include "check.h"

extern const struct check_table apply_model_table;
extern const struct check_table apply_several_table;
extern const struct check_table apply_fault_table;

#endif
