/* nest.h: the table of area NEST that is not in nest.c. */
#ifndef CASES_NEST_H
#define CASES_NEST_H

#include "check.h"

extern const struct check_table nest_mixed_table;

#endif
