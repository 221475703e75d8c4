/* wire.h: the table of the plug-in lockstep-mpi.so: the few calls of MPI that are made.
 *
 * MPI libraries have no common binary interface. So the part that is compiled for one of them is
 * small, and knows nothing of the rest. One thread calls all functions. */
#ifndef MPI_WIRE_H
#define MPI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DP_WIRE_VERSION 1   /* of this table */
#define DP_WIRE_TEXT    160 /* bytes for the name of a library, and for the reason of a failure */

/* Functions that return int: 0, or `why` has the reason, in at most DP_WIRE_TEXT bytes. */
struct dp_wire {
    unsigned version;
    /* *self is for the other functions. Texts have DP_WIRE_TEXT bytes, and are one line each. */
    int (*start)(void **self, int *rank, int *size, char *library, char *host, char *why);
    int (*send)(void *self, const void *bytes, size_t n, int to, int tag, uint64_t *request,
                char *why);
    /* Receives at most n bytes. A negative `from` means any process. */
    int (*receive)(void *self, void *bytes, size_t n, int from, int tag, uint64_t *request,
                   char *why);
    /* For a receive, from and bytes may be NULL. A request that is done no longer exists. */
    int (*test)(void *self, uint64_t *request, bool *done, int *from, size_t *bytes, char *why);
    /* Cancels a receive for which nothing has arrived. */
    int (*cancel)(void *self, uint64_t *request, char *why);
    int (*finish)(void *self, char *why);
};

/* The only symbol of the plug-in; it returns the table. */
#define DP_WIRE_SYMBOL "dp_wire_table"
const struct dp_wire *dp_wire_table(void);

#endif
