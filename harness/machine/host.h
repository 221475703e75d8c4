/* machine/host.h: what the host allows its processes, and what its kernel does in the background.
 */
#ifndef HARNESS_HOST_H
#define HARNESS_HOST_H

#include "record/record.h"

/* Into the run; NaN: the system does not tell. Status as in machine/machine.h. Root is "", or a
 * folder with another machine's /proc and /dev. */
int host_read(const char *root, struct record_run *run);

#endif
