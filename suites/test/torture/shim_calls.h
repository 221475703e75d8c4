/* shim_calls.h: internal to shim_memory.c, shim_runtime.c and shim_system.c. */
#ifndef TORTURE_SHIM_CALLS_H
#define TORTURE_SHIM_CALLS_H

#include <stdbool.h>

#include "calls_page.h"

/* The same for a kind of which only calls by the program itself count. */
int fault_of_own(enum fault_kind kind, const void *caller);
/* Called before a fork, and then in the child. */
int fault_next_process(void);
void fault_become(int process);

struct code_range {
    uintptr_t begin, end; /* as offsets in the program's file */
};

/* Returns an empty range if the program has no CUDA runtime in it. */
struct code_range code_of_runtime(void);

#endif
