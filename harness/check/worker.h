/* check/worker.h: one of several processes that do together what the one asks that has had them
 * started (check/crowd.h).
 *
 * A launcher gives its standard input to one process only. So the first one reads a request, and
 * tells it to the others; each does its part, all give their answers to all, and the first one says
 * what becomes of them. Each says by itself which request it got, and the digest of its
 * answer, so that nothing rests on the first one's word. While there is no request the first one
 * still makes the others' wait end, so that who has died is found out. Where the processes have
 * parted, each says by itself what it knows: in words of an operation that was refused, or of what
 * went wrong around it. */
#ifndef HARNESS_CHECK_WORKER_H
#define HARNESS_CHECK_WORKER_H

#include <jansson.h>
#include <stddef.h>

#include "dp_mpi.h"
#include "files/digest.h"
#include "measure/guard.h"
#include "measure/watch.h"

/* Texts that processes give each other, one of each; texts_free in any case. check/texts.c */
struct texts {
    char *bytes;
    size_t stride;
};

/* Everyone's text to all. A call of all processes. 0, or a status of dp.h and *err. */
int texts_exchange(struct dp_mpi *mpi, const char *mine, struct texts *all, struct dp_error *err);
const char *texts_of(const struct texts *all, int process);
void texts_free(struct texts *all);

struct worker {
    size_t processes;
    double limit; /* seconds that a process waits for the others */
    struct dp_mpi *mpi;
    struct guard guard;
    char *text; /* what has come of a request */
    size_t length, room;
    unsigned long long read, told_read; /* bytes of all requests; as it has said */
    struct texts request;
    struct watch watch; /* since the others were told something */
    double told;
};

/* Of its subcommand: reads the options, and begins, for the same plan as the others. 0, or an exit
 * status. It lives as long as the process. */
int worker_open(struct worker *worker, int argc, char **argv, const char *plan, const char *doc);

/* What it does. Both return an object that is released, NULL: no memory, or no such request. */
struct worker_part {
    /* Its own answer: "ok", or "error" with "text". */
    json_t *(*answer)(void *self, json_t *request);
    /* Of the first process: one answer for those of all, in their order. */
    json_t *(*join)(void *self, json_t *const answers[], int n);
    void *self;
    /* The digest of the part that all answers share: operations_digest. NULL: none. */
    int (*digest)(const json_t *answer, char hex[DIGEST_HEX]);
};
/* Answers requests until there are no more. Each takes calls of all processes; where one is not
 * possible any more, the process says why, and ends. */
void worker_serve(struct worker *worker, const struct worker_part *part);

_Noreturn void worker_end(struct worker *worker);

#endif
