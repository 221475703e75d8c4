/* gather_cases.h: the table of area GATH that is not in gather.c. */
#ifndef CASES_GATHER_CASES_H
#define CASES_GATHER_CASES_H

#include "check.h"

extern const struct check_table gather_model_table;

#endif
