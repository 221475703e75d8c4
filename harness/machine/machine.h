/* machine/machine.h: names for kinds of machines, and for one machine between two starts of it. */
#ifndef HARNESS_MACHINE_H
#define HARNESS_MACHINE_H

#include <stdio.h>

#include "dp.h"
#include "files/digest.h"

/* All of these: 0, and what the system does not have is ""; -1: it has it, but could not be read,
 * for want of memory or of file descriptors, say. A record must then not be begun: the machine in
 * it would be another. */

/* SHA-256 of what a time depends on: the processor with its flags, caches, numbers of packages,
 * cores and processing units, kernel set of the BLAS, GPUs, memory to 1 GiB. The host's name has no
 * part in it. Root is "", or a folder with another machine's /proc. */
int machine_class(const char *root, const struct dp_machine *machine, char hex[DIGEST_HEX]);

/* SHA-256 of the machine's id and of the id of its start. */
int machine_instance(const char *root, char hex[DIGEST_HEX]);

/* Environment variables that change a result, "NAME=VALUE NAME=VALUE" by name. What does not fit is
 * cut, and ends with the SHA-256 of all. */
int machine_environment(char *const variables[], char *text, size_t bytes);

/* Opens a file of the system to read it; NULL, and *status is as above, else unchanged. */
FILE *machine_open(const char *path, int *status);
/* The first line of such a file, with its end. Whether there is one. */
bool machine_line(const char *root, const char *name, char *line, size_t bytes, int *status);

#endif
