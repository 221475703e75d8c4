/* session.c: sends a request to the process, and checks whether its line is an answer to it. */
#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20, LEAST_BYTES = 1 << 20 };

static int broken(struct exec_session *session, struct impl_error *err)
{
    memset(err, 0, sizeof *err);
    return impl_fail(err, IMPL_EBROKEN, "%s", session->dead);
}

int session_break(struct exec_session *session, struct impl_error *err, const char *format, ...)
{
    va_list args;

    if (session->dead[0] == '\0') {
        va_start(args, format);
        vsnprintf(session->dead, sizeof session->dead, format, args);
        va_end(args);
    }
    process_end(&session->process, false);
    return broken(session, err);
}

/* ---- the error of an answer ------------------------------------------------------------------ */

/* Reads a number that may be absent. */
static int optional_number(struct answer *a, const json_t *error, const char *name, int least,
                           int most, int missing)
{
    const json_t *value = json_object_get(error, name);

    if (!value || json_is_null(value))
        return missing;
    return (int)answer_int(a, error, "error", name, least, most);
}

/* ---- asking --------------------------------------------------------------------------------- */

static char *request_of(struct exec_session *session, const struct question *q, size_t *length)
{
    json_t *request = json_pack("{s:I, s:s}", "id", ++session->last_id, "op", q->op);
    char *text = NULL, *line;

    if (request && q->fields && json_object_update(request, q->fields) == 0)
        text = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(request);
    if (!text)
        return NULL;
    *length = strlen(text);
    line = realloc(text, *length + 2);
    if (!line) {
        free(text);
        return NULL;
    }
    line[(*length)++] = '\n';
    line[*length] = '\0';
    return line;
}

/* Checks that the line is JSON and answers this request, and whether it is an error. */
static int judge_answer(struct answer *a, const char *line, size_t length)
{
    const json_t *id, *error;
    json_error_t why;
    char excerpt[60];

    a->root = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
    process_excerpt(line, length, excerpt, sizeof excerpt);
    if (!json_is_object(a->root))
        return session_break(a->session, a->err, "%s: the answer is not a JSON object: '%s'", a->op,
                             excerpt);
    id = json_object_get(a->root, "id");
    a->ok = json_object_get(a->root, "ok");
    error = json_object_get(a->root, "error");
    if (!json_is_integer(id) || json_integer_value(id) != a->session->last_id)
        return session_break(a->session, a->err,
                             "%s: the answer does not have the id %lld of the request: '%s'", a->op,
                             (long long)a->session->last_id, excerpt);
    if ((a->ok == NULL) == (error == NULL))
        return session_break(a->session, a->err,
                             "%s: the answer must have one of 'ok' and 'error': '%s'", a->op,
                             excerpt);
    if (error) {
        struct impl_error read = {.status = IMPL_OK};
        char word[24];
        int status;

        if (!json_is_object(error))
            answer_fault(a, "'error' is not an object");
        answer_text(a, error, "error", "status", word, sizeof word);
        answer_text(a, error, "error", "text", read.text, sizeof read.text);
        read.replica = optional_number(a, error, "replica", -1, IMPL_MAX_DEVICES - 1, -1);
        read.device =
            optional_number(a, error, "device", IMPL_NOWHERE, IMPL_MAX_DEVICES - 1, IMPL_NOWHERE);
        read.device_also = optional_number(a, error, "device_also", IMPL_NOWHERE,
                                           IMPL_MAX_DEVICES - 1, IMPL_NOWHERE);
        status = impl_status_of(word);
        if (status <= IMPL_OK)
            answer_fault(a, "error.status '%s' is not a status", word);
        else if (read.text[0] == '\0')
            answer_fault(a, "error.text is empty");
        read.status = status;
        if (a->fault[0] == '\0') {
            *a->err = read;
            return status;
        }
        return session_break(a->session, a->err, "%s: %s", a->op, a->fault);
    }
    if (!json_is_object(a->ok))
        return session_break(a->session, a->err, "%s: 'ok' is not an object: '%s'", a->op, excerpt);
    return IMPL_OK;
}

int session_ask(struct exec_session *session, struct question q, struct answer *a,
                struct impl_error *err)
{
    const size_t bytes = LEAST_BYTES + (q.room < MOST_BYTES ? 4 * q.room : MOST_BYTES);
    const struct process_limits limits = {q.limit_ms > 0 ? q.limit_ms : session->limit_ms,
                                          bytes < MOST_BYTES ? bytes : MOST_BYTES};
    char reason[PROCESS_REASON];
    const char *line = NULL;
    size_t length = 0;
    char *request;
    int status;

    memset(a, 0, sizeof *a);
    a->session = session;
    a->err = err;
    a->op = q.op;
    if (session->dead[0] != '\0') {
        json_decref(q.fields);
        return broken(session, err);
    }
    request = request_of(session, &q, &length);
    json_decref(q.fields);
    if (!request) {
        memset(err, 0, sizeof *err);
        return impl_fail(err, IMPL_EBROKEN, "%s: the request cannot be written as JSON", q.op);
    }
    if (session->ask)
        status = session->ask(session, request, length, &line, reason);
    else
        status = process_ask(&session->process, request, length, limits, reason);
    free(request);
    if (status != 0)
        return session_break(session, err, "%s: %s", q.op, reason);
    status = line ? judge_answer(a, line, strlen(line))
                  : judge_answer(a, session->process.line, session->process.length);
    if (status != IMPL_OK)
        json_decref(a->root);
    return status;
}

int answer_end(struct answer *a)
{
    json_decref(a->root);
    if (a->fault[0] != '\0')
        return session_break(a->session, a->err, "%s: %s", a->op, a->fault);
    if (!a->room)
        return IMPL_OK;
    memset(a->err, 0, sizeof *a->err);
    return impl_fail(a->err, IMPL_EROOM, "%s: the answer has more than there is room for", a->op);
}
