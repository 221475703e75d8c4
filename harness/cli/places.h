/* cli/places.h: `lockstep devices --launcher`: what is there where a launcher starts processes. */
#ifndef HARNESS_CLI_PLACES_H
#define HARNESS_CLI_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* Starts so many processes, and prints what differs between them, where they are, and on what. An
 * exit status. */
int places_show(const char *command, char *launcher, size_t processes, bool json);

#endif
