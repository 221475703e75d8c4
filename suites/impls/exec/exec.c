/* exec.c: the table of operations of an implementation behind a pipe, and its sessions.
 *
 * PROTOCOL.md says what is spoken. A session is a process: the one without devices is another. */
#include "exec.h"
#include "session.h"

#include <stdio.h>
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

static int ask_about(struct impl_session *session, const struct impl_config *config,
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

static void exec_close(struct impl_session *session)
{
    exec_forget_models(session);
    process_end(&session->process, session->dead[0] == '\0');
    free(session);
}

static int exec_open(const struct impl_config *config, struct impl_about *about,
                     struct impl_session **session, struct impl_error *err)
{
    struct impl_session *opened = calloc(1, sizeof *opened);
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
        opened->limit_ms = (int)parts.limit_ms;
        status = ask_about(opened, config, parts.options, about, err);
        if (status == IMPL_OK)
            *session = opened;
        else
            exec_close(opened);
        opened = NULL;
    }
    free(opened);
    free(parts.command);
    return status;
}

static int exec_reset(struct impl_session *session, struct impl_error *err)
{
    const struct question question = {.op = "reset", .fields = json_object()};
    const int status = session_tell(session, question, err);

    if (status == IMPL_OK)
        exec_forget_models(session);
    return status;
}

const char *exec_dead(struct impl_session *session)
{
    return session->dead[0] != '\0' ? session->dead : NULL;
}

bool exec_fell(struct impl_session *session)
{
    return session->dead[0] != '\0' && session->process.fell;
}

int exec_resident(struct impl_session *session, size_t *bytes)
{
    return process_resident(&session->process, bytes);
}

const struct impl_ops *exec_impl(void)
{
    static const struct impl_ops ops = {
        .version = IMPL_VERSION,
        .bytes = sizeof ops,
        .open = exec_open,
        .close = exec_close,
        .reset = exec_reset,
        .split = exec_split,
        .scatter = exec_scatter,
        .gather = exec_gather,
        .broadcast = exec_broadcast,
        .reduce = exec_reduce,
        .apply = exec_apply,
        .buckets = exec_buckets,
        .sampler = exec_sampler,
        .model_open = exec_model_open,
        .model_close = exec_model_close,
        .params = exec_params,
        .param = exec_param,
        .set = exec_set,
        .get = exec_get,
        .to = exec_to,
        .zero_grad = exec_zero_grad,
        .forward = exec_forward,
        .backward = exec_backward,
        .step = exec_step,
    };

    return &ops;
}
