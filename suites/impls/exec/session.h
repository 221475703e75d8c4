/* session.h: a session with a process, and how its answers are taken apart.
 *
 * An answer is read by functions that each note the first thing that is wrong and go on; the
 * operation asks once, at its end. What is wrong ends the session. */
#ifndef EXEC_SESSION_H
#define EXEC_SESSION_H

#include "process.h"

#include "description.h"
#include "impl.h"
#include "words.h"

#include <jansson.h>

struct impl_model {
    struct impl_session *session;
    long long handle;
    int ranks;
    struct impl_model *next;
};

struct impl_session {
    struct process process;
    json_int_t last_id;
    int limit_ms;
    struct impl_model *models; /* open ones */
    char dead[256];            /* why every operation fails; "": it lives */
};

/* ---- asking --------------------------------------------------------------------------------- */

/* An answer that is being read. */
struct answer {
    struct impl_session *session;
    struct impl_error *err;
    const char *op;
    json_t *root; /* owned */
    json_t *ok;   /* in it */
    bool room;    /* something is larger than there is room for */
    char fault[200];
};

struct question {
    const char *op;
    json_t *fields; /* given away; NULL: no memory, or text that is not UTF-8 */
    int limit_ms;   /* 0: the session's */
    size_t room;    /* bytes that the outputs can hold */
};

/* Asks. 0: the answer is `ok`, to be closed by answer_end. Else the status, *err is filled. */
int session_ask(struct impl_session *session, struct question question, struct answer *answer,
                struct impl_error *err);
/* The status of the whole operation: 0 when all could be read. */
int answer_end(struct answer *a);
/* For an answer without fields. */
int session_tell(struct impl_session *session, struct question question, struct impl_error *err);
/* Kills the process; every operation fails from now on. IMPL_EBROKEN. */
int session_break(struct impl_session *session, struct impl_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- reading: `where` is the object's name in messages, "" the answer itself ------------------
 */

void answer_fault(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The field; NULL and a fault without. */
json_t *answer_field(struct answer *a, const json_t *object, const char *where, const char *name);
long long answer_int(struct answer *a, const json_t *object, const char *where, const char *name,
                     long long least, long long most);
uint64_t answer_size(struct answer *a, const json_t *object, const char *where, const char *name);
uint64_t answer_size_of(struct answer *a, const json_t *value, const char *where);
bool answer_flag(struct answer *a, const json_t *object, const char *where, const char *name);
/* Printable ASCII, cut to fit. */
void answer_text(struct answer *a, const json_t *object, const char *where, const char *name,
                 char *to, size_t bytes);
/* A list of exactly `n`, or NULL and a fault. */
json_t *answer_list(struct answer *a, const json_t *object, const char *where, const char *name,
                    size_t n);
/* A list of at most `most` (more: a->room is set), or NULL. */
json_t *answer_list_up_to(struct answer *a, const json_t *object, const char *where,
                          const char *name, size_t most);
void answer_dims(struct answer *a, const json_t *object, const char *where, int *ndim, size_t *dim);
enum impl_dtype answer_dtype(struct answer *a, const json_t *object, const char *where);

/* ---- arrays.c -------------------------------------------------------------------------------- */

json_t *json_array_of(const struct impl_array *array);
json_t *json_arrays(const struct impl_array *arrays, size_t n);
json_t *json_size(uint64_t value);
json_t *json_sizes(const size_t *values, size_t n); /* values NULL: null */
json_t *json_ints(const int *values, size_t n);
size_t arrays_room(const struct impl_array *arrays, size_t n); /* arrays NULL: 0 */
/* One out of JSON, null: none. */
void answer_array(struct answer *a, const json_t *value, const char *where,
                  struct impl_array *array);
/* The field `name`: one array, or a list of exactly n. Nothing where arrays is NULL. */
void answer_array_field(struct answer *a, const char *name, struct impl_array *array);
void answer_arrays_field(struct answer *a, const char *name, struct impl_array *arrays, size_t n);
/* Up to `most`; returns how many. */
size_t answer_arrays_up_to(struct answer *a, const json_t *object, const char *where,
                           const char *name, struct impl_array *arrays, size_t most);

/* ---- trace.c, about.c: parts of the answers ------------------------------------------------- */

void answer_trace(struct answer *a, struct impl_trace *trace); /* NULL: not wanted */
void answer_about(struct answer *a, struct impl_about *about);

/* ---- the operations -------------------------------------------------------------------------- */

int exec_split(struct impl_session *, struct impl_split *, struct impl_error *);
int exec_scatter(struct impl_session *, struct impl_scatter *, struct impl_error *);
int exec_gather(struct impl_session *, struct impl_gather *, struct impl_error *);
int exec_broadcast(struct impl_session *, struct impl_broadcast *, struct impl_error *);
int exec_reduce(struct impl_session *, struct impl_reduce *, struct impl_error *);
int exec_apply(struct impl_session *, struct impl_apply *, struct impl_error *);
int exec_buckets(struct impl_session *, struct impl_buckets *, struct impl_error *);
int exec_sampler(struct impl_session *, struct impl_sampler *, struct impl_error *);
int exec_model_open(struct impl_session *, const char *description, int ranks,
                    struct impl_model **model, struct impl_error *);
void exec_model_close(struct impl_model *);
int exec_params(struct impl_model *, int *n, struct impl_error *);
int exec_param(struct impl_model *, int i, struct impl_param *, struct impl_error *);
int exec_set(struct impl_model *, int rank, enum impl_what, int i, const struct impl_array *,
             struct impl_error *);
int exec_get(struct impl_model *, int rank, enum impl_what, int i, struct impl_array *,
             struct impl_error *);
int exec_to(struct impl_model *, int device, struct impl_error *);
int exec_zero_grad(struct impl_model *, struct impl_error *);
int exec_forward(struct impl_model *, struct impl_forward *, struct impl_error *);
int exec_backward(struct impl_model *, struct impl_backward *, struct impl_error *);
int exec_step(struct impl_model *, const struct impl_step *, struct impl_error *);
void exec_forget_models(struct impl_session *);

#endif
