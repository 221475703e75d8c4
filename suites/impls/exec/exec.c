/* exec.c: sessions with a command that answers through pipes, and its operations as requests.
 *
 * PROTOCOL.md describes the requests and answers. A session is a process; the session without
 * devices is a second one. */
#include "exec.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* The parts of impl_config.options: "COMMAND", or "LIMIT_MS\nCOMMAND\nOPTIONS". */
struct parts {
    long limit_ms;
    char *command;
    const char *options;
};

static int take_apart(const char *text, struct parts *parts)
{
    const char *command = strchr(text, '\n');
    const char *options = !command ? NULL : strchr(command + 1, '\n');

    parts->limit_ms = EXEC_MS;
    parts->options = "";
    if (!options) {
        parts->command = strdup(text);
        return !parts->command ? -1 : 0;
    }
    parts->limit_ms = strtol(text, NULL, 10);
    parts->options = options + 1;
    parts->command = strndup(command + 1, (size_t)(options - command - 1));
    return !parts->command || parts->limit_ms <= 0 || parts->limit_ms > 86400000 ? -1 : 0;
}

int exec_session_open(struct exec_session *session, const struct impl_config *config,
                      const char *options, struct impl_about *about, struct impl_error *err)
{
    const struct question question = {
        .op = "open",
        .fields = json_pack("{s:i, s:s, s:s, s:b, s:o}", "version", IMPL_VERSION, "devices",
                            config->devices, "options", options, "host_only", config->host_only,
                            "seed", json_size(config->seed)),
        .limit_ms = session->limit_ms > EXEC_OPEN_MS ? session->limit_ms : EXEC_OPEN_MS};
    struct answer a;
    const int status = session_ask(session, question, &a, err);

    if (status != IMPL_OK)
        return status;
    answer_about(&a, about);
    return answer_end(&a);
}

/* Reads the number of the model in the process, which must be new. */
static void read_model(struct answer *a, struct impl_model *model,
                       struct impl_model_open_call *call)
{
    model->number = answer_int(a, a->ok, "", "model", 0, INT64_MAX);
    for (const struct impl_model *m = model->session->models; m; m = m->next)
        if (a->fault[0] == '\0' && m->number == model->number)
            answer_fault(a, "model %lld is open already", model->number);
    call->model = a->fault[0] == '\0' ? model : NULL;
}

int exec_carry(struct impl_session *base, struct impl_model *model, enum impl_op op,
               void *arguments, struct impl_error *err)
{
    struct exec_session *session = (struct exec_session *)base;
    const struct impl_operation *row = &impl_operations[op];
    const int ranks = !model ? 1 : model->ranks > 0 ? model->ranks : 0;
    const bool opens = op == IMPL_OP_MODEL_OPEN;
    json_t *fields = json_fields(row, arguments, ranks, false), *request = fields;
    struct answer a;
    int status;

    if (row->on_model) {
        request = json_pack("{s:I}", "model", model->number);
        if (!fields || json_object_update(request, fields) != 0) {
            json_decref(request);
            request = NULL;
        }
        json_decref(fields);
    }
    status = session_ask(session,
                         (struct question){.op = row->name,
                                           .fields = request,
                                           .limit_ms = opens && session->limit_ms < EXEC_MODEL_MS
                                                           ? EXEC_MODEL_MS
                                                           : session->limit_ms,
                                           .room = fields_room(row, arguments, ranks)},
                         &a, err);
    if (status != IMPL_OK)
        return status;
    if (opens)
        read_model(&a, model, arguments);
    else
        answer_fields(&a, row, a.ok, "", arguments, ranks);
    return answer_end(&a);
}

void exec_close(struct impl_session *base)
{
    struct exec_session *session = (struct exec_session *)base;

    remote_forget_models(base);
    process_end(&session->process, session->dead[0] == '\0');
    free(session);
}

int exec_open(const struct impl_config *config, struct impl_about *about,
              struct impl_session **session, struct impl_error *err)
{
    struct exec_session *opened = calloc(1, sizeof *opened);
    struct parts parts = {.command = NULL};
    char reason[PROCESS_REASON];
    int status = IMPL_EBROKEN;

    memset(err, 0, sizeof *err);
    *session = NULL;
    if (!opened || take_apart(config->options, &parts) != 0)
        impl_fail(err, IMPL_EBROKEN, "no memory, or no command");
    else if (process_start(&opened->process, parts.command, reason) != 0)
        impl_fail(err, IMPL_EBROKEN, "%s", reason);
    else {
        opened->base.carry = exec_carry;
        opened->limit_ms = (int)parts.limit_ms;
        status = exec_session_open(opened, config, parts.options, about, err);
        if (status == IMPL_OK)
            *session = &opened->base;
        else
            exec_close(&opened->base);
        opened = NULL;
    }
    free(opened);
    free(parts.command);
    return status;
}

const char *exec_dead(struct impl_session *session)
{
    const struct exec_session *s = (struct exec_session *)session;

    return s->dead[0] != '\0' ? s->dead : NULL;
}

bool exec_fell(struct impl_session *session)
{
    return exec_dead(session) && ((struct exec_session *)session)->process.fell;
}

int exec_resident(struct impl_session *session, size_t *bytes)
{
    return process_resident(&((struct exec_session *)session)->process, bytes);
}
