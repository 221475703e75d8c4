/* count.h: the table of area COUNT that is not in count.c: numbers of ranks. */
#ifndef CASES_COUNT_H
#define CASES_COUNT_H

#include "check.h"

extern const struct check_table count_ranks_table;

#endif
