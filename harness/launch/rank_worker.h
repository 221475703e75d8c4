/* launch/rank_worker.h: one of several processes that together answer the requests to a rank pool
 * (launch/rank_pool.h).
 *
 * A launcher gives its standard input to one process only. So the first process reads a request and
 * sends it to the others. Each process computes its part, all exchange their answers, and the first
 * one prints the joined answer. Each process also prints which request it got, and the digest of
 * its answer, so that the result does not depend on the first process alone. While there is no
 * request, the first process still sends the others a message, so that a process that died is
 * found. If the processes can no longer work together, each prints what it knows: the error of an
 * operation that was refused, or the reason for another failure. */
#ifndef HARNESS_RANK_WORKER_H
#define HARNESS_RANK_WORKER_H

#include <jansson.h>
#include <stddef.h>

#include "dp_mpi.h"
#include "files/digest.h"
#include "launch/guard.h"
#include "launch/watch.h"

/* The texts that the processes exchange, one from each. */
struct rank_texts {
    char *bytes;
    size_t stride;
};

struct rank_worker {
    size_t processes;
    double limit; /* seconds that a process waits for the others */
    struct dp_mpi *mpi;
    struct guard guard;
    char *text; /* the part of a request that was read */
    size_t length, room;
    unsigned long long read, told_read; /* bytes of all requests; the same as last reported */
    struct rank_texts request;
    struct watch watch; /* time since the others were told something */
    double told;
};

/* Opens the process for its subcommand: reads the options, and starts MPI with the same plan as the
 * others. The worker lives as long as the process. Returns 0, or an exit status. */
int rank_worker_open(struct rank_worker *worker, int argc, char **argv, const char *plan,
                     const char *doc);

/* The operations of a worker. Both functions return an object that the caller releases; NULL: no
 * memory, or no such request. */
struct rank_part {
    /* Returns the answer of this process: "ok", or "error" with "text". */
    json_t *(*answer)(void *self, json_t *request);
    /* Called by the first process: joins the answers of all processes, in their order, into one. */
    json_t *(*join)(void *self, json_t *const answers[], int n);
    void *self;
    /* Computes the digest of the part that is the same in all answers: rank_answer_digest. NULL:
     * there is none. */
    int (*digest)(const json_t *answer, char hex[DIGEST_HEX]);
};
/* Answers requests until there are no more. Each request needs calls of all processes; if one of
 * them is no longer possible, the process says why, and ends. */
void rank_worker_serve(struct rank_worker *worker, const struct rank_part *part);

_Noreturn void rank_worker_end(struct rank_worker *worker);

/* ---- parts that do operations by name ---- */

struct rank_operation {
    const char *name;
    /* Returns 0 and the answer, which is NULL without memory; or the status of err. */
    int (*run)(void *self, const json_t *request, json_t **ok, struct dp_error *err);
};
/* Returns the answer of this process; an error says which process it is from. NULL: no memory, or
 * no such operation. */
json_t *rank_worker_answer(const struct dp_mpi *mpi, const struct rank_operation operation[],
                           size_t n, void *self, const json_t *request);
/* Returns a text of a request; "": it has no text of that name. */
const char *rank_worker_text(const json_t *request, const char *name);

/* Returns the first error, or else the answer of the first process; it says "oversubscribed" if one
 * of them does. Whether all have the same answer is checked by the process that asked
 * (launch/rank_pool.h). NULL: no memory. */
json_t *rank_worker_join(json_t *const answers[], int n);
#endif
