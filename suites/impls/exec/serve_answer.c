/* serve_answer.c: a request to its answer. */
#include "serve.h"

#include <string.h>

json_t *serve_error(json_t *request, int status, const struct impl_error *err)
{
    return json_pack("{s:O, s:{s:s, s:i, s:i, s:i, s:s}}", "id", json_object_get(request, "id"),
                     "error", "status", impl_status_word(status), "replica", err->replica, "device",
                     err->device, "device_also", err->device_also, "text", err->text);
}

json_t *serve_answer(struct serve *s, json_t *request)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    struct impl_error err = {.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    json_t *ok = NULL;
    int status;

    s->request.fault[0] = '\0';
    s->request.ok = request;
    status = serve_operation(s, op == NULL ? "" : op, &ok, &err);
    if (s->request.fault[0] != '\0') {
        memset(&err, 0, sizeof err);
        status = impl_fail(&err, IMPL_EBROKEN, "the request: %s", s->request.fault);
    }
    serve_forget(s);
    if (status == IMPL_OK)
        return json_pack("{s:O, s:o}", "id", json_object_get(request, "id"), "ok", ok);
    json_decref(ok);
    return serve_error(request, status, &err);
}
