/* structure.h: the table of area STRUCT that is not in structure.c. */
#ifndef CASES_STRUCTURE_H
#define CASES_STRUCTURE_H

#include "check.h"

extern const struct check_table structure_lists_table;

#endif
