/* machine.h: names for kinds of machines, and for one machine between two starts of it. */
#ifndef HARNESS_MACHINE_H
#define HARNESS_MACHINE_H

#include "digest.h"
#include "dp.h"

/* SHA-256 of what a time depends on: the processor with its flags, caches, numbers of packages,
 * cores and processing units, kernel set of the BLAS, GPUs, memory to 1 GiB. The host's name has no
 * part in it. Root is "", or a folder with another machine's /proc; "" when it cannot be read. */
void machine_class(const char *root, const struct dp_machine *machine, char hex[DIGEST_HEX]);

/* SHA-256 of the machine's id and of the id of its start; "" when the system has none. */
void machine_instance(const char *root, char hex[DIGEST_HEX]);

/* Environment variables that change a result, "NAME=VALUE NAME=VALUE" by name. What does not fit is
 * cut, and ends with the SHA-256 of all. */
void machine_environment(char *const variables[], char *text, size_t bytes);

#endif
