/* launch/rank_pool.h: processes that one call of a launcher has started, each with some of the
 * ranks, and requests that all of them answer together. The other side, in each process, is
 * launch/rank_worker.h. */
#ifndef HARNESS_RANK_POOL_H
#define HARNESS_RANK_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "files/digest.h"
#include "text/text.h"

struct rank_pool;
struct dp_error;
struct json_t;

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

/* ---- requests by name, in JSON both ways (launch/rank_worker.h) ---- */

struct rank_asker {
    struct rank_pool *pool;
    long long id; /* of the last request */
};

/* Returns the content of the answer of all, which the caller releases. NULL: the error of one of
 * them, or DP_EFAULT and which process is lost. Takes ownership of the request; a request of NULL
 * means that there was no memory for it. */
struct json_t *rank_pool_request(struct rank_asker *asker, const char *op, struct json_t *request,
                                 struct dp_error *err);
/* The same for a request whose answer only says that all went well. */
int rank_pool_command(struct rank_asker *asker, const char *op, struct json_t *request,
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

/* Computes the digest of an answer without the few values that differ by process; "-" for an error.
 * Returns 0, or -1: no memory. */
int rank_answer_digest(const struct json_t *answer, char hex[DIGEST_HEX]);

#endif
