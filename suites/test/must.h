/* must.h: for test programs in which every call of core succeeds: the first that fails ends the
 * program with its error. */
#ifndef LOCKSTEP_TEST_MUST_H
#define LOCKSTEP_TEST_MUST_H

#include "dp.h"

#include <stdio.h>
#include <unistd.h>

static struct dp_error must_err; /* given to every call */
static const char *must_row;     /* which row of a table is run, if one is */

static inline void must(int status)
{
    if (status == 0)
        return;
    printf("FAIL: %s%s%s\n", must_row ? must_row : "", must_row ? ": " : "", must_err.text);
    fflush(stdout);
    _exit(1); /* MPI does not let a process end in another way while others are in a call */
}

#endif
