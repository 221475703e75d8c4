/* session.h: a session with a process, and how its answers are taken apart.
 *
 * An answer is read by functions that each note the first thing that is wrong and go on; the
 * operation asks once, at its end. What is wrong ends the session. */
#ifndef EXEC_SESSION_H
#define EXEC_SESSION_H

#include "process.h"

#include "description.h"
#include "remote.h"
#include "words.h"

#include <jansson.h>

struct exec_session {
    struct impl_session base;
    struct process process;
    json_int_t last_id;
    int limit_ms;
    char dead[256]; /* why every operation fails; "": it lives */
};

/* ---- asking --------------------------------------------------------------------------------- */

/* An answer that is being read. */
struct answer {
    struct exec_session *session;
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
int session_ask(struct exec_session *session, struct question question, struct answer *answer,
                struct impl_error *err);
/* The status of the whole operation: 0 when all could be read. */
int answer_end(struct answer *a);
/* Kills the process; every operation fails from now on. IMPL_EBROKEN. */
int session_break(struct exec_session *session, struct impl_error *err, const char *format, ...)
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
json_t *json_size(uint64_t value);
json_t *json_sizes(const size_t *values, size_t n);
size_t arrays_room(const struct impl_array *arrays, size_t n); /* arrays NULL: 0 */
/* One out of JSON, null: none. */
void answer_array(struct answer *a, const json_t *value, const char *where,
                  struct impl_array *array);

/* ---- fields.c: the fields of a call that are in, or those that are out -----------------------
 */

/* NULL: no memory, or text that is not UTF-8. */
json_t *json_fields(const struct impl_operation *row, const void *arguments, int ranks, bool out);
/* Results into the arguments; `where` is the object's name in messages. */
void answer_fields(struct answer *a, const struct impl_operation *row, const json_t *object,
                   const char *where, void *arguments, int ranks);
/* All of a list, for which there is room. */
void answer_elements(struct answer *a, const struct impl_field *field, const json_t *list,
                     const char *where, void *values);
size_t fields_room(const struct impl_operation *row, const void *arguments, int ranks);

/* ---- about.c: parts of the answers ----------------------------------------------------------- */

void answer_trace(struct answer *a, struct impl_trace *trace); /* NULL: not wanted */
json_t *json_trace(const struct impl_trace *trace);            /* NULL: null */
void answer_about(struct answer *a, struct impl_about *about);
void answer_param(struct answer *a, struct impl_param *param);

#endif
