/* machine/host.h: reads what the host allows its processes, and what its kernel does in the
 * background. */
#ifndef HARNESS_HOST_H
#define HARNESS_HOST_H

#include "record/record.h"

/* Fills fields of the run; NaN: the system does not tell. It returns a status as in
 * machine/machine.h. root is "", or a folder with /proc and /dev of another machine. */
int host_read(const char *root, struct record_run *run);

#endif
