/* failure.h: cases about failures that come a second time, and about failing ranks, with a table
 * for each of their areas. */
#ifndef CASES_FAILURE_H
#define CASES_FAILURE_H

#include "check.h"

extern const struct check_table failure_second_table;
extern const struct check_table failure_ranks_table;

#endif
