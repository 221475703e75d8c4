/* check/rank_pool.h: processes that one call of a launcher has started, each with some of the
 * ranks, and requests that all of them answer together. check/rank_worker.h is the side of one of
 * them. */
#ifndef HARNESS_CHECK_RANK_POOL_H
#define HARNESS_CHECK_RANK_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

struct rank_pool;
struct dp_error;
struct json_t;

enum rank_pool_end {
    RANK_POOL_ANSWERED,
    RANK_POOL_REFUSED, /* all have answered, and ended: the answer is an error */
    RANK_POOL_LOST     /* one of them is gone, or does not go on */
};

/* Each is `lockstep COMMAND`, and waits so many seconds for the others. 0, or -1 and why not. It
 * ends with this process. */
int rank_pool_start(const char *launcher, const char *command, int processes, double limit,
                    struct rank_pool **pool, struct text_error *why);
/* Sends a line, which has the number id, and waits; for some times the limit where no process says
 * anything. *answer is one line, good until the next call; of a lost pool it is the reason. After
 * any end but RANK_POOL_ANSWERED no process is left, and nothing more can be asked. */
enum rank_pool_end rank_pool_send(struct rank_pool *pool, long long id, const char *line,
                                  const char **answer);
/* launcher_hosts of its processes. */
int rank_pool_hosts(const struct rank_pool *pool, int each, char ranks[], size_t bytes);
/* Lets it end, or sees to it. NULL allowed. */
void rank_pool_close(struct rank_pool *pool);

/* ---- requests by name, in JSON both ways (check/rank_worker.h) ---- */

struct rank_asker {
    struct rank_pool *pool;
    long long id; /* of the last request */
};

/* The content of the answer of all, which the caller releases. NULL: the error of one of them, or
 * DP_EFAULT and which is lost. Takes the request; NULL of it: there was no memory. */
struct json_t *rank_pool_request(struct rank_asker *asker, const char *op, struct json_t *request,
                                 struct dp_error *err);
/* The same of an answer that says no more than that all went well. */
int rank_pool_command(struct rank_asker *asker, const char *op, struct json_t *request,
                      struct dp_error *err);
/* DP_EFAULT and why. */
int rank_pool_fail(const char *why, struct dp_error *err);

/* ---- an implementation of such processes: check/world.c, check/rank.c ---- */

int world_main(int argc, char **argv);
int rank_main(int argc, char **argv);

#endif
