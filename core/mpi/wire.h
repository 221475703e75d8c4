/* wire.h: what the module lockstep-mpi.so offers: the few calls of MPI that are made, as a table.
 *
 * An MPI has no binary interface that is the same for all of them, so the part that is compiled
 * for one is small, and knows nothing of the rest. All functions are called by one thread. */
#ifndef MPI_WIRE_H
#define MPI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DP_WIRE_VERSION 1   /* of this table */
#define DP_WIRE_TEXT    160 /* room for a library's name, and for why a call failed */

/* Functions that return int: 0, or why says what failed, in at most DP_WIRE_TEXT bytes. */
struct dp_wire {
    unsigned version;
    /* *self: for the other functions. Texts are of DP_WIRE_TEXT bytes, each one line. */
    int (*start)(void **self, int *rank, int *size, char *library, char *host, char *why);
    int (*send)(void *self, const void *bytes, size_t n, int to, int tag, uint64_t *request,
                char *why);
    /* At most n bytes. from negative: from anyone. */
    int (*receive)(void *self, void *bytes, size_t n, int from, int tag, uint64_t *request,
                   char *why);
    /* from and bytes, of a receive, may be NULL. A request that is done is no more. */
    int (*test)(void *self, uint64_t *request, bool *done, int *from, size_t *bytes, char *why);
    /* Of a receive that nothing has come for. */
    int (*cancel)(void *self, uint64_t *request, char *why);
    int (*finish)(void *self, char *why);
};

/* The one symbol of the module: returns its table. */
#define DP_WIRE_SYMBOL "dp_wire_table"
const struct dp_wire *dp_wire_table(void);

#endif
