/* check/child.c: the process that loads an implementation and serves cases on it.
 *
 * It may die anywhere in here. What it has to say goes into a pipe that the implementation does not
 * know of, message by message, so that what was said before a death counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_info.h"
#include "check/pool.h"
#include "load.h"
#include "record/memory.h"

enum { EXIT_UNHEARD = 3 };

/* What serving needs. */
struct server {
    const struct runner_job *job;
    int output;
    uint64_t token;
    struct runner_shared *shared;
    struct impl_source source;
    struct check_settings settings;
    struct check_session session;
};

static void tell(const struct server *server, struct runner_message *message)
{
    const char *bytes = (const char *)message;
    size_t sent = 0;

    message->token = server->token;
    while (sent < sizeof *message) {
        const ssize_t n = write(server->output, bytes + sent, sizeof *message - sent);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(EXIT_UNHEARD);
        sent += (size_t)n;
    }
}

static void tell_kind(const struct server *server, enum runner_message_kind kind,
                      const char *reason)
{
    struct runner_message message = {.kind = kind};

    snprintf(message.reason, sizeof message.reason, "%s", reason);
    tell(server, &message);
}

static void tell_verdict(const struct server *server, size_t index,
                         const struct check_outcome *outcome)
{
    struct runner_message message = {.kind = RUNNER_VERDICT,
                                     .verdict = (uint32_t)outcome->verdict,
                                     .index = index,
                                     .compared = outcome->compared,
                                     .few_devices = outcome->few_devices};

    memcpy(message.reason, outcome->reason, sizeof message.reason);
    if (record_memory_failed()) {
        message.verdict = CHECK_BROKEN;
        snprintf(message.reason, sizeof message.reason, "out of memory for a message or a model");
    }
    tell(server, &message);
}

static void doing(const struct server *server, const char *what)
{
    snprintf(server->shared->doing, sizeof server->shared->doing, "%s", what);
}

/* The sanitizers look for leaks when a process ends by itself. */
static _Noreturn void leave(void)
{
    if (BUILD_SANITIZERS[0] != '\0')
        exit(EXIT_SUCCESS);
    _exit(EXIT_SUCCESS);
}

/* Cases are chosen, skipped and counted by what the probe said. */
static const char *changed(const struct impl_about *now, const struct impl_about *expected)
{
    if (!expected)
        return NULL;
    if (now->devices != expected->devices)
        return "open reports a different number of devices than the first time";
    if (now->capabilities != expected->capabilities)
        return "open reports different capabilities than the first time";
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if (now->dialect[i] != expected->dialect[i])
            return "open declares a different dialect than the first time";
    return NULL;
}

static void open_session(struct server *server)
{
    char reason[600] = "";
    const char *change;

    if (check_session_open(&server->session, server->source.ops, &server->settings, reason)) {
        tell_kind(server, RUNNER_NO_SESSION, reason);
        leave();
    }
    /* jansson leaves out a character of a text that it has no memory for. */
    change = record_memory_failed() ? "out of memory for a message of it"
                                    : changed(&server->session.about, server->job->expected);
    if (change) {
        tell_kind(server, RUNNER_NO_SESSION, change);
        leave();
    }
    tell_kind(server, RUNNER_OPENED, "");
}

static void close_session(struct server *server)
{
    doing(server, "close");
    check_session_close(&server->session);
}

static void load(struct server *server)
{
    char reason[600] = "";

    doing(server, "load");
    if (impl_load(server->job->spec, server->job->impl_options, &server->source, reason)) {
        tell_kind(server, RUNNER_NO_SESSION, reason);
        leave();
    }
    server->settings = (struct check_settings){.devices = server->job->devices,
                                               .options = server->source.options,
                                               .seed = server->job->seed,
                                               .resident = server->source.resident,
                                               .dead = server->source.dead,
                                               .doing = server->shared->doing};
}

static void probe(struct server *server)
{
    open_session(server);
    server->shared->is.about = server->session.about;
    server->shared->is.process = server->source.process;
    close_session(server);
    tell_kind(server, RUNNER_ABOUT, "");
}

/* The verdict is told when the session is closed: dying there counts. */
static void serve_each(struct server *server)
{
    const struct runner_job *job = server->job;
    struct check_outcome outcome;

    for (size_t i = job->next; i < job->n; ++i) {
        open_session(server);
        check_run(job->result[i]->test, &server->session, &server->settings, &outcome);
        close_session(server);
        tell_verdict(server, i, &outcome);
        if (job->until_caught && runner_catches(outcome.verdict, outcome.compared))
            return;
    }
}

static void serve_shared(struct server *server)
{
    const struct runner_job *job = server->job;
    struct check_outcome outcome;

    open_session(server);
    for (size_t i = job->next; i < job->n; ++i) {
        check_run(job->result[i]->test, &server->session, &server->settings, &outcome);
        if (i + 1 == job->n)
            close_session(server);
        tell_verdict(server, i, &outcome);
        /* Its process may be gone, or in the middle of an answer. */
        if (outcome.verdict == CHECK_BROKEN && i + 1 < job->n) {
            close_session(server);
            open_session(server);
        }
    }
}

_Noreturn void runner_child(const struct runner_job *job, int output, uint64_t token,
                            struct runner_shared *shared)
{
    struct server server = {.job = job, .output = output, .token = token, .shared = shared};

    load(&server);
    switch (job->mode) {
    case RUNNER_PROBE:
        probe(&server);
        break;
    case RUNNER_EACH:
        serve_each(&server);
        break;
    case RUNNER_SHARED:
        serve_shared(&server);
        break;
    }
    leave();
}
