/* check/crowd.h: processes that one call of a launcher has started, and what is asked of them. */
#ifndef HARNESS_CHECK_CROWD_H
#define HARNESS_CHECK_CROWD_H

#include <stdbool.h>
#include <stddef.h>

#include "text/text.h"

struct crowd;
struct dp_error;
struct json_t;

/* Bytes that are on their way to the first process, at most: what a pipe keeps. */
enum { CROWD_INPUT = 32768 };

enum crowd_end {
    CROWD_ANSWERED,
    CROWD_REFUSED, /* all have answered, and parted: the answer is an error */
    CROWD_LOST     /* one of them is gone, or does not go on */
};

/* Each is `lockstep COMMAND` (check/worker.h), and waits so many seconds for the others. 0, or -1
 * and why not. It ends with this process. */
int crowd_start(const char *launcher, const char *command, int processes, double limit,
                struct crowd **crowd, struct text_error *why);
/* Sends a line, which has the number id, and waits; for some times the limit where nobody says
 * anything. *answer is one line, good until the next call; of a lost crowd it is the reason. After
 * the others than CROWD_ANSWERED no process is left, and nothing more can be asked. */
enum crowd_end crowd_ask(struct crowd *crowd, long long id, const char *line, const char **answer);
/* Whether each process reports this digest of the last request, or of its answer
 * (check/worker.h). 0, or -1 and which process reports another one. */
enum crowd_word { CROWD_REQUEST, CROWD_ANSWER };
int crowd_said_all(const struct crowd *crowd, enum crowd_word which, const char *digest,
                   struct text_error *why);
/* said_hosts of its processes. */
int crowd_hosts(const struct crowd *crowd, int each, char ranks[], size_t bytes);
/* Lets it end, or sees to it. NULL allowed. */
void crowd_close(struct crowd *crowd);

/* ---- how processes wait for each other, and what they say when they part ---- */

enum {
    PARTING_START_MS = 30000, /* for MPI to start */
    PARTING_SECONDS = 8       /* after so many the others do not wait for a process any more */
};

/* In front of the last words of a process: its answer, which is an error; or a reason. */
#define PARTING_REFUSED "refused "
#define PARTING_LOST    "lost "

/* ---- an implementation of such processes: check/world.c, check/rank.c ---- */

int world_main(int argc, char **argv);
int rank_main(int argc, char **argv);

/* ---- operations by name (check/operations.h), in JSON both ways: check/ask.c ---- */

struct ask {
    struct crowd *crowd;
    long long id; /* of the last request */
};

/* The content of the answer of all, which the caller releases. NULL: the error of one of them, or
 * DP_EFAULT and who is lost. Takes the request; NULL of it: there was no memory. */
struct json_t *ask_crowd(struct ask *ask, const char *op, struct json_t *request,
                         struct dp_error *err);
/* The same of an answer that says no more than that all went well. */
int ask_crowd_for(struct ask *ask, const char *op, struct json_t *request, struct dp_error *err);
/* DP_EFAULT and why. */
int ask_lost(const char *why, struct dp_error *err);

#endif
