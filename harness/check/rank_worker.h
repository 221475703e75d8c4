/* check/rank_worker.h: one of several processes that answer together what is asked of a rank pool
 * (check/rank_pool.h).
 *
 * A launcher gives its standard input to one process only. So the first one reads a request, and
 * tells it to the others; each does its part, all give their answers to all, and the first one says
 * what becomes of them. Each says by itself which request it got, and the digest of its
 * answer, so that nothing rests on the first one's word. While there is no request the first one
 * still makes the others' wait end, so that a process that died is found out. Where the processes
 * have parted, each says by itself what it knows: in words of an operation that was refused, or of
 * what went wrong around it. */
#ifndef HARNESS_CHECK_RANK_WORKER_H
#define HARNESS_CHECK_RANK_WORKER_H

#include <jansson.h>
#include <stddef.h>

#include "dp_mpi.h"
#include "files/digest.h"
#include "measure/guard.h"
#include "measure/watch.h"

/* Texts that processes give each other, one of each. */
struct rank_texts {
    char *bytes;
    size_t stride;
};

struct rank_worker {
    size_t processes;
    double limit; /* seconds that a process waits for the others */
    struct dp_mpi *mpi;
    struct guard guard;
    char *text; /* what has come of a request */
    size_t length, room;
    unsigned long long read, told_read; /* bytes of all requests; as it has said */
    struct rank_texts request;
    struct watch watch; /* since the others were told something */
    double told;
};

/* Of its subcommand: reads the options, and begins, for the same plan as the others. 0, or an exit
 * status. It lives as long as the process. */
int rank_worker_open(struct rank_worker *worker, int argc, char **argv, const char *plan,
                     const char *doc);

/* What it does. Both return an object that is released, NULL: no memory, or no such request. */
struct rank_part {
    /* Its own answer: "ok", or "error" with "text". */
    json_t *(*answer)(void *self, json_t *request);
    /* Of the first process: one answer for those of all, in their order. */
    json_t *(*join)(void *self, json_t *const answers[], int n);
    void *self;
    /* The digest of the part that all answers share: rank_answer_digest. NULL: none. */
    int (*digest)(const json_t *answer, char hex[DIGEST_HEX]);
};
/* Answers requests until there are no more. Each takes calls of all processes; where one is not
 * possible any more, the process says why, and ends. */
void rank_worker_serve(struct rank_worker *worker, const struct rank_part *part);

_Noreturn void rank_worker_end(struct rank_worker *worker);

/* ---- parts that do operations by name ---- */

struct rank_operation {
    const char *name;
    /* 0 and what it answers, NULL: no memory; or the status of err. */
    int (*run)(void *self, const json_t *request, json_t **ok, struct dp_error *err);
};
/* The answer of this process; its error says which process it is. NULL: no memory, or no such
 * operation. */
json_t *rank_worker_answer(const struct dp_mpi *mpi, const struct rank_operation operation[],
                           size_t n, void *self, const json_t *request);
/* A text of a request; "": it has none of that name. */
const char *rank_worker_text(const json_t *request, const char *name);

/* The first error, or the first one's answer; it says "oversubscribed" if one of them does. Whether
 * all have that answer is checked where it was asked for (check/rank_pool.h). NULL: no memory. */
json_t *rank_worker_join(json_t *const answers[], int n);
#endif
