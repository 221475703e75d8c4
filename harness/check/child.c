/* check/child.c: the process that serves cases on an implementation.
 *
 * Our own code runs in this process, and foreign code in another one that a wall separates
 * (impls/wall), unless a user wants it in this one. Then this process may die anywhere. Results go
 * into a pipe that the implementation does not know of, message by message, so that a message that
 * was sent before a death counts. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_info.h"
#include "check/pool.h"
#include "files/files.h"
#include "impls/wall/around.h"
#include "impls/wall/wall.h"
#include "load.h"
#include "mutants/mutants.h"

enum { EXIT_UNHEARD = 3 };

/* The state of the process while it serves a job. */
struct server {
    const struct runner_job *job;
    int output;
    uint64_t token;
    struct runner_shared *shared;
    struct impl_source source;
    struct wall *wall; /* NULL: there is none */
    struct check_settings settings;
    struct check_session session;
};

static void tell_parent(const struct server *server, struct runner_message *message)
{
    message->token = server->token;
    if (whole_write(server->output, (const char *)message, sizeof *message))
        _exit(EXIT_UNHEARD);
}

static void tell_kind(const struct server *server, enum runner_message_kind kind)
{
    struct runner_message message = {.kind = kind};

    tell_parent(server, &message);
}

/* The sanitizers look for leaks when a process calls exit. */
static _Noreturn void leave_child(void)
{
    if (BUILD_SANITIZERS[0] != '\0')
        exit(EXIT_SUCCESS);
    _exit(EXIT_SUCCESS);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* blame: the implementation is the reason, and not something that it needs. */
static _Noreturn void give_up_session(struct server *server, const char *reason, bool blame)
{
    struct runner_message message = {.kind = RUNNER_NO_SESSION, .outcome.fell = blame};
    char ignored[WALL_REASON];

    snprintf(message.outcome.reason, sizeof message.outcome.reason, "%s", reason);
    if (server->wall)
        wall_end(server->wall, ignored);
    strays_end(&message.strays);
    tell_parent(server, &message);
    leave_child();
}

/* This runs in the process of the implementation. It must have neither the pipe for results nor the
 * memory that we share with our parent. */
static void forget_ours(void *context)
{
    struct server *server = context;

    close(server->output);
    munmap(server->shared, sizeof *server->shared);
    server->output = -1;
    server->token = 0;
}

static void load_implementation(struct server *server)
{
    const struct runner_job *job = server->job;
    const struct wall_plan plan = {.spec = job->spec,
                                   .options = job->impl_options,
                                   .forget = forget_ours,
                                   .context = server,
                                   .sanitized = BUILD_SANITIZERS[0] != '\0'};
    char reason[WALL_REASON] = "", left[AROUND_WORDS];
    struct around around;
    bool blame = false;

    snprintf(server->shared->doing, sizeof server->shared->doing, "load");
    if (job->library && !job->same_process) {
        if (wall_start(&plan, &server->wall, reason, &blame))
            give_up_session(server, reason, blame);
        server->source = (struct impl_source){.ops = &server->wall->ops};
        snprintf(server->source.options, sizeof server->source.options, "%s",
                 server->wall->options);
    } else if (!server->source.ops) {
        around_begin(&around);
        if (job->world ? world_load(job->world, job->impl_options, &server->source, reason)
                       : impl_load(job->spec, job->impl_options, &server->source, reason))
            give_up_session(server, reason, false);
        around_end(&around, left);
        if (left[0] != '\0') {
            snprintf(reason, sizeof reason, "load changed %s", left);
            give_up_session(server, reason, true);
        }
    }
    server->settings = (struct check_settings){.devices = job->devices,
                                               .options = server->source.options,
                                               .seed = job->seed,
                                               .schedule = job->schedule,
                                               .wall = server->wall,
                                               .foreign = job->same_process,
                                               .required = job->required,
                                               .resident = server->source.resident,
                                               .dead = server->source.dead,
                                               .fell = server->source.fell,
                                               .doing = server->shared->doing};
}

static void open_child_session(struct server *server)
{
    const struct impl_about *now = &server->session.about, *expected = server->job->expected;
    char reason[600] = "";
    const char *change = NULL;

    load_implementation(server);
    if (check_session_open(&server->session, server->source.ops, &server->settings, reason))
        give_up_session(server, reason, server->session.fault);
    /* Cases are chosen, skipped and counted by what the probe reported, so a session must report
     * the same. */
    for (int i = 0; i < IMPL_DIALECTS && expected; ++i)
        if (now->dialect[i] != expected->dialect[i])
            change = "open declares a different dialect than the first time";
    if (expected && now->capabilities != expected->capabilities)
        change = "open reports different capabilities than the first time";
    if (expected && now->devices != expected->devices)
        change = "open reports a different number of devices than the first time";
    if (change)
        give_up_session(server, change, false);
    tell_kind(server, RUNNER_OPENED);
}

/* A failure to close the session counts for the last case. */
static void close_session(struct server *server, struct check_outcome *outcome,
                          struct strays *strays)
{
    char reason[600];

    snprintf(server->shared->doing, sizeof server->shared->doing, "close");
    if (check_session_end(&server->session, reason)) {
        check_after(outcome, "%s", reason);
        outcome->fell = outcome->fell || (server->wall && server->wall->fell);
    }
    if (server->wall && wall_end(server->wall, reason)) {
        check_after(outcome, "after the case: %s", reason);
        outcome->fell = true;
    }
    server->wall = NULL;
    strays_end(strays);
}

/* ---- serving --------------------------------------------------------------------------------- */

_Noreturn void runner_child(const struct runner_job *job, int output, uint64_t token,
                            struct runner_shared *shared)
{
    struct server server = {.job = job, .output = output, .token = token, .shared = shared};
    struct check_outcome outcome = {.verdict = CHECK_PASS};
    bool open = false;

    strays_watch();
    if (job->mode == RUNNER_PROBE) {
        struct strays strays;

        open_child_session(&server);
        shared->is.about = server.session.about;
        shared->is.process = server.source.process;
        close_session(&server, &outcome, &strays);
        if (outcome.verdict != CHECK_PASS)
            give_up_session(&server, outcome.reason, true);
        tell_kind(&server, RUNNER_ABOUT);
    }
    for (size_t i = job->next; i < job->n; ++i) {
        struct strays strays = {.n = 0};

        if (job->note)
            mutants_note(job->note + i * (size_t)mutant_n);
        if (!open)
            open_child_session(&server);
        check_run(job->result[i]->test, &server.session, &server.settings, &outcome);
        /* After such an outcome, the process of the implementation may be gone, or in the middle of
         * an answer. */
        open = job->mode == RUNNER_SHARED && i + 1 < job->n && outcome.verdict != CHECK_BROKEN &&
               !outcome.fell;
        /* The verdict is sent after the session is closed, so that a death while it closes
         * counts. */
        if (!open)
            close_session(&server, &outcome, &strays);
        struct runner_message message = {
            .kind = RUNNER_VERDICT, .index = i, .outcome = outcome, .strays = strays};

        tell_parent(&server, &message);
        if (job->until_caught && runner_catches(outcome.verdict, outcome.compared))
            break;
    }
    leave_child();
}
