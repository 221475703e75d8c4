/* files/parallel.h: one piece of work done many times, on several cores. */
#ifndef HARNESS_FILES_PARALLEL_H
#define HARNESS_FILES_PARALLEL_H

#include <stddef.h>

/* Calls work(context, i) once for each i below n, in any order, on at most so many threads, the
 * caller's among them, and returns when all are done. Threads that cannot be had are left out. */
void parallel_each(size_t n, size_t threads, void (*work)(void *context, size_t i), void *context);

/* Cores of this machine, at least 1. */
size_t parallel_cores(void);

#endif
