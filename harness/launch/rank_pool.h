/* launch/rank_pool.h: processes that one call of a launcher has started, each with some of the
 * ranks, and requests that all of them answer together; and the other side, one of these
 * processes. */
#ifndef HARNESS_RANK_POOL_H
#define HARNESS_RANK_POOL_H

#include <jansson.h>
#include <stddef.h>

#include "dp_mpi.h"
#include "files/files.h"
#include "launch/launcher.h"
#include "launch/watch.h"
#include "text/text.h"

struct rank_pool;

enum rank_pool_end {
    RANK_POOL_ANSWERED,
    RANK_POOL_REFUSED, /* all have answered, and ended: the answer is an error */
    RANK_POOL_LOST     /* one of them is gone, or does not continue */
};

/* Starts processes that run `lockstep COMMAND`, and wait `limit` seconds for each other. They end
 * when this process does. Returns 0, or -1 and why not. */
int rank_pool_start(const char *launcher, const char *command, int processes, double limit,
                    struct rank_pool **pool, struct text_error *why);
/* Sends a line, which has the number id, and waits for the answer; if no process prints anything,
 * for a few times the limit. *answer is one line, valid until the next call; if the pool is lost,
 * it is the reason. After any result but RANK_POOL_ANSWERED no process is left, and no further
 * request is possible. */
enum rank_pool_end rank_pool_send(struct rank_pool *pool, long long id, const char *line,
                                  const char **answer);
/* Writes the launcher_hosts of its processes. */
int rank_pool_hosts(const struct rank_pool *pool, int each, char ranks[], size_t bytes);
/* Lets the processes end, or kills them. NULL is allowed. */
void rank_pool_close(struct rank_pool *pool);

/* ---- requests by name, in JSON both ways ---- */

/* Returns the content of the answer of all, which the caller releases. NULL: the error of one of
 * them, or DP_EFAULT and which process is lost. Takes ownership of the request. */
struct json_t *rank_pool_request(struct rank_pool *pool, const char *op, struct json_t *request,
                                 struct dp_error *err);
/* Returns DP_EFAULT, with the reason in err. */
int rank_pool_fail(const char *why, struct dp_error *err);

/* ---- what a pool and its processes share ---- */

/* The largest number of bytes that are on their way to the first process: a pipe holds as many. */
enum { RANK_POOL_INPUT = 32768 };

enum {
    RANK_START_MS = 30000, /* for MPI to start */
    RANK_WAIT_SECONDS = 8  /* the others wait for a process no longer than this */
};

/* The begin of the last line of a process; its answer, which is an error, or a reason follows. */
#define RANK_REFUSED "refused "
#define RANK_LOST    "lost "

/* Returns the process whose error tells most, since an error may only say that another process has
 * given up; -1: no process has an error. Answers may be NULL. */
int rank_answers_failed(struct json_t *const answers[], int n);

/* Returns the digest of an answer without the few values that differ by process; "-" for an
 * error. */
const char *rank_answer_digest(const struct json_t *answer, char hex[DIGEST_HEX]);

/* ---- one of the processes: rank_worker.c ------------------------------------------------------
 *
 * A launcher gives its standard input to one process only. So the first process reads a request and
 * sends it to the others. Each process computes its part, all exchange their answers, and the first
 * one prints the joined answer. Each process also prints which request it got, and the digest of
 * its answer, so that the result does not depend on the first process alone. While there is no
 * request, the first process still sends the others a message, so that a process that died is
 * found. If the processes can no longer work together, each prints what it knows: the error of an
 * operation that was refused, or the reason for another failure. */

/* The texts that the processes exchange, one from each. */
struct rank_texts {
    char *memory;
    size_t first, stride; /* where that of the first process is, and how far apart they are */
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

/* The operations of a worker. Both functions return an object that the caller releases; NULL: no
 * memory, or no such request. */
struct rank_part {
    /* Returns the answer of this process: "ok", or "error" with "text". */
    json_t *(*answer)(void *self, json_t *request);
    /* Called by the first process if there is no error: joins the answers of all processes, in
     * their order, into one. NULL: it is that of the first. Whether all have the same answer is
     * checked by the process that asked. */
    json_t *(*join)(void *self, json_t *const answers[], int n);
    void *self;
    /* Returns the digest of the part that is the same in all answers: rank_answer_digest. NULL:
     * there is none. */
    const char *(*digest)(const json_t *answer, char hex[DIGEST_HEX]);
};
/* Reads the options of the subcommand, starts MPI with the same plan as the others, and answers
 * requests until there are no more. Each request needs calls of all processes; if one of them is no
 * longer possible, the process says why, and ends. The worker lives as long as the process. Returns
 * 0, or an exit status. */
int rank_worker_serve(struct rank_worker *worker, int argc, char **argv, const char *plan,
                      const char *doc, const struct rank_part *part);

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

#endif
