/* serve.h: the other end of the pipe: serves any implementation of impl.h by PROTOCOL.md. Ranks in
 * processes use it (harness/check/rank.c), and tests: a case that passes with an implementation in
 * this process must pass through a pipe, and a bad mode shows what a broken process looks like. */
#ifndef EXEC_SERVE_H
#define EXEC_SERVE_H

#include "session.h"

#include "load.h"

enum { SERVE_MODELS = 256 };

struct serve_piece; /* memory until the answer is written */

struct serve {
    struct impl_source source;
    struct impl_session *session;
    struct impl_model *model[SERVE_MODELS]; /* by number; NULL: none */
    int ranks[SERVE_MODELS];
    struct answer request; /* `ok` is the request; a fault: it is not valid */
    struct serve_piece *pieces;
};

/* Returns the whole answer; NULL: no memory. */
json_t *serve_answer(struct serve *s, json_t *request);
json_t *serve_error(json_t *request, int status, const struct impl_error *err); /* the same */
json_t *serve_about(const struct impl_about *about);

#endif
