/* buffer.h: the table of area BUF that is not in buffer.c: batch norm. */
#ifndef CASES_BUFFER_H
#define CASES_BUFFER_H

#include "check.h"

extern const struct check_table buffer_norm_table;

#endif
