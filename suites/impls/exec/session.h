/* session.h: a session with a process, and how its answers are read.
 *
 * An answer is read by functions that each note the first error and continue; the operation checks
 * once, at its end. An error ends the session. */
#ifndef EXEC_SESSION_H
#define EXEC_SESSION_H

#include "process.h"

#include "description.h"
#include "remote.h"
#include "words.h"

#include <jansson.h>

struct exec_session {
    struct impl_session base;
    /* Sends a line, with its newline, to other processes than `process`, and fills the answer,
     * which is valid until the next call. Returns 0, or -1 with the reason. NULL: it goes to
     * `process`. */
    int (*ask)(struct exec_session *session, char *line, size_t length, const char **answer,
               char reason[PROCESS_REASON]);
    struct process process;
    json_int_t last_id;
    int limit_ms;
    char dead[256]; /* why every operation fails; "": the process still answers */
};

/* ---- asking --------------------------------------------------------------------------------- */

/* An answer that is being read. */
struct answer {
    struct exec_session *session;
    struct impl_error *err;
    const char *op;
    json_t *root; /* owned */
    json_t *ok;   /* in it */
    bool room;    /* a result is larger than its capacity */
    char fault[200];
};

struct question {
    const char *op;
    json_t *fields; /* session_ask releases it; NULL: no memory, or text that is not UTF-8 */
    int limit_ms;   /* 0: the limit of the session */
    size_t room;    /* bytes that the outputs can hold */
};

/* Sends a request. Returns 0: the answer is `ok`, and answer_end closes it. Else it returns the
 * status, and *err is filled. */
int session_ask(struct exec_session *session, struct question question, struct answer *answer,
                struct impl_error *err);
/* Returns the status of the whole operation: 0 if all fields could be read. */
int answer_end(struct answer *a);
/* Kills the process; every operation fails from now on. Returns IMPL_EBROKEN. */
int session_break(struct exec_session *session, struct impl_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- reading: `where` is the object's name in messages, "" the answer itself ----------------- */

void answer_fault(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the field; if it is absent, NULL, and the fault is noted. */
json_t *answer_field(struct answer *a, const json_t *object, const char *where, const char *name);
long long answer_int(struct answer *a, const json_t *object, const char *where, const char *name,
                     long long least, long long most);
uint64_t answer_size(struct answer *a, const json_t *object, const char *where, const char *name);
uint64_t answer_size_of(struct answer *a, const json_t *value, const char *where);
bool answer_flag(struct answer *a, const json_t *object, const char *where, const char *name);
/* Reads printable ASCII, cut to fit. */
void answer_text(struct answer *a, const json_t *object, const char *where, const char *name,
                 char *to, size_t bytes);
/* Returns a list of exactly `n` entries; or NULL, and the fault is noted. */
json_t *answer_list(struct answer *a, const json_t *object, const char *where, const char *name,
                    size_t n);
/* Returns a list of at most `most` entries (if it has more, a->room is set), or NULL. */
json_t *answer_list_up_to(struct answer *a, const json_t *object, const char *where,
                          const char *name, size_t most);
void answer_dims(struct answer *a, const json_t *object, const char *where, int *ndim, size_t *dim);
enum impl_dtype answer_dtype(struct answer *a, const json_t *object, const char *where);

/* ---- arrays.c -------------------------------------------------------------------------------- */

json_t *json_array_of(const struct impl_array *array);
json_t *json_size(uint64_t value);
json_t *json_sizes(const size_t *values, size_t n);
size_t arrays_room(const struct impl_array *arrays, size_t n); /* arrays NULL: 0 */
/* Reads one array from JSON; null: none. */
void answer_array(struct answer *a, const json_t *value, const char *where,
                  struct impl_array *array);

/* ---- fields.c: the fields of a call that are in, or those that are out ----------------------- */

/* Returns the fields of a call; NULL: no memory, or text that is not UTF-8. */
json_t *json_fields(const struct impl_operation *row, const void *arguments, int ranks, bool out);
/* Reads results into the arguments; `where` is the name of the object in messages. */
void answer_fields(struct answer *a, const struct impl_operation *row, const json_t *object,
                   const char *where, void *arguments, int ranks);
/* Reads all elements of a list, which must fit. */
void answer_elements(struct answer *a, const struct impl_field *field, const json_t *list,
                     const char *where, void *values);
size_t fields_room(const struct impl_operation *row, const void *arguments, int ranks);

/* ---- about.c: parts of the answers ----------------------------------------------------------- */

void answer_trace(struct answer *a, struct impl_trace *trace); /* NULL: not wanted */
json_t *json_trace(const struct impl_trace *trace);            /* NULL: null */
void answer_about(struct answer *a, struct impl_about *about);
void answer_param(struct answer *a, struct impl_param *param);

#endif
