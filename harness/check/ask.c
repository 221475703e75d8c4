/* check/ask.c: a request to a line, a line to what was answered. */
#include "check/crowd.h"

#include <stdlib.h>

#include "check/operations.h"

int ask_lost(const char *why, struct dp_error *err)
{
    return dp_fail(err, DP_EFAULT, "%.230s", why);
}

/* The content of an answer, which all processes have; NULL and *err. */
static json_t *read_answer(const struct crowd *crowd, const char *text, struct dp_error *err)
{
    char digest[DIGEST_HEX];
    struct text_error apart;
    json_t *answer = json_loads(text, 0, NULL), *ok = json_object_get(answer, "ok");
    const json_t *error = json_object_get(answer, "error");
    const char *why = json_string_value(json_object_get(error, "text"));
    const int status = (int)json_integer_value(json_object_get(error, "status"));

    if (why)
        dp_fail(err, status != 0 ? status : DP_EFAULT, "%.230s", why);
    else if (!ok)
        ask_lost("what the processes answered cannot be read", err);
    else if (operations_digest(answer, digest))
        dp_fail(err, DP_ENOMEM, "no memory for a digest");
    else if (crowd_said_all(crowd, CROWD_ANSWER, digest, &apart))
        ask_lost(apart.text, err);
    else
        json_incref(ok);
    if (err->status)
        ok = NULL;
    json_decref(answer);
    return ok;
}

json_t *ask_crowd(struct ask *ask, const char *op, json_t *request, struct dp_error *err)
{
    const char *answer = NULL;
    json_t *ok = NULL;
    char *line = NULL;

    ++ask->id;
    if (json_object_set_new(request, "id", json_integer(ask->id)) == 0 &&
        json_object_set_new(request, "op", json_string(op)) == 0)
        line = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(request);
    if (!line)
        dp_fail(err, DP_ENOMEM, "no memory for a request");
    else if (crowd_ask(ask->crowd, ask->id, line, &answer) == CROWD_LOST)
        ask_lost(answer, err);
    else
        ok = read_answer(ask->crowd, answer, err);
    free(line);
    return ok;
}

int ask_crowd_for(struct ask *ask, const char *op, json_t *request, struct dp_error *err)
{
    json_t *ok = ask_crowd(ask, op, request, err);

    json_decref(ok);
    return ok ? 0 : err->status;
}
