/* beside.h: modules, which are linked with what a program need not have: beside the program. */
#ifndef DP_BESIDE_H
#define DP_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* By dlopen, with those flags: the module of that name, where it is beside a program that was
 * built, or in ../folder from one that was installed. It stays loaded. NULL: why says it, and
 * missing, which may be NULL, whether the module or a library of its is not on this machine. */
void *dp_beside_load(const char *name, const char *folder, int flags, bool *missing, char *why,
                     size_t bytes);
/* The same for a path. */
void *dp_beside_open(const char *path, int flags, char *why, size_t bytes);

#endif
