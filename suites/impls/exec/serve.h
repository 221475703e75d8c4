/* serve.h: the other end of the pipe: any implementation of impl.h, spoken as PROTOCOL.md says. For
 * ranks in processes (harness/check/rank.c), and for tests: what passes in this process must pass
 * through a pipe, and a bad mode shows what a broken process looks like. */
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
    struct answer request; /* `ok` is the request; a fault: it is not as it should be */
    struct serve_piece *pieces;
};

/* serve_answer.c: the whole answer, NULL: no memory. */
json_t *serve_answer(struct serve *s, json_t *request);
json_t *serve_error(json_t *request, int status, const struct impl_error *err); /* the same */

/* serve_operations.c: 0 and the content of "ok", or a status and *err. */
int serve_operation(struct serve *s, const char *op, json_t **ok, struct impl_error *err);

/* serve_models.c: the same, for those on models. */
int serve_model_operation(struct serve *s, const char *op, json_t **ok, struct impl_error *err);

/* serve_values.c */
void *serve_memory(struct serve *s, size_t bytes);
void serve_forget(struct serve *s);
struct impl_array *serve_array(struct serve *s, const char *name); /* NULL without */
struct impl_array *serve_arrays(struct serve *s, const json_t *object, const char *name, size_t *n);
/* n outputs of so many bytes each. */
struct impl_array *serve_outputs(struct serve *s, size_t n, size_t bytes);
size_t serve_bytes(const struct impl_array *arrays, size_t n); /* of all together */
int *serve_ints(struct serve *s, const char *name, size_t *n);
size_t *serve_sizes(struct serve *s, const char *name, size_t *n); /* null: NULL */
bool serve_true(const struct serve *s, const char *name);
int serve_int(struct serve *s, const char *name);
json_t *serve_trace(const struct impl_trace *trace); /* NULL: null */
json_t *serve_about(const struct impl_about *about);

#endif
