/* replicate_cases.h: the tables of area REPL. */
#ifndef CASES_REPLICATE_CASES_H
#define CASES_REPLICATE_CASES_H

#include "check.h"

extern const struct check_table replicate_fresh_table;
extern const struct check_table replicate_copies_table;
extern const struct check_table replicate_params_table;
extern const struct check_table replicate_more_table;

#endif
