/* check/rank.c: `lockstep rank`: one of several processes that hold the ranks of models together.
 *
 * A launcher gives its standard input to one process only. So the first one reads a request, and
 * tells it to the others; each does its part, all give their answers to all, and the first one says
 * what becomes of them. While there is no request the first one still makes the others' wait end,
 * so that who has died is found out. Where the processes have parted, each says by itself what it
 * knows: in words of an operation that was refused, or of what went wrong around it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_info.h"
#include "check/join.h"
#include "check/parting.h"
#include "check/texts.h"
#include "check/world.h"
#include "command/command.h"
#include "dp_mpi.h"
#include "exec/serve.h"
#include "measure/guard.h"
#include "measure/watch.h"
#include "reference/part.h"
#include "text/options.h"

enum { KEY_PROCESSES = 256, KEY_LIMIT, PIECE = 65536, SLICE = 1 << 20 };
/* So often the others hear that there is nothing yet: a share of the limit. */
#define LOOK 0.2
static const char over[] = "over";

struct rank {
    size_t processes;
    double limit; /* seconds that a process waits for the others */
    struct dp_mpi *mpi;
    struct guard guard;
    struct serve serve;
    char *text; /* what has come of a request */
    size_t length, room;
    struct watch watch; /* since the others were told something */
    double told;
};

/* MPI is ended only where all have come to the end; else it would wait. */
static _Noreturn void leave(struct rank *r, int status)
{
    struct dp_error err = {0};

    if (dp_mpi_close(r->mpi, &err) != 0)
        status = EXIT_FAILED;
    fflush(NULL);
    _exit(status);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int tell(struct rank *r, const char *text, struct texts *all, struct dp_error *err)
{
    const int status = texts_exchange(r->mpi, text, all, err);

    r->told = watch_seconds(&r->watch);
    return status;
}

/* Of the first process: the others wait for it meanwhile. */
static int tell_nothing(struct rank *r, struct dp_error *err)
{
    struct texts all;
    int status = 0;

    if (watch_seconds(&r->watch) - r->told < r->limit * LOOK)
        return 0;
    status = tell(r, "", &all, err);
    texts_free(&all);
    return status;
}

/* A piece of a line. False: there is no more, or no memory. */
static bool read_piece(struct rank *r)
{
    if (r->room - r->length < PIECE + 1) {
        char *text = realloc(r->text, 2 * (r->room + PIECE));

        if (!text)
            return false;
        r->text = text;
        r->room = 2 * (r->room + PIECE);
    }
    const ssize_t n = read(STDIN_FILENO, r->text + r->length, PIECE);

    if (n > 0)
        r->length += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

/* The next line, or `over`. Each comes when the one before was answered: so nothing is behind it.
 */
static int read_line(struct rank *r, const char **line, struct dp_error *err)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int status = 0;

    r->length = 0;
    *line = NULL;
    while (status == 0 && !*line) {
        if (poll(&input, 1, (int)(r->limit * LOOK * 1e3)) > 0 && !read_piece(r))
            *line = over;
        else if (r->length > 0 && r->text[r->length - 1] == '\n')
            *line = r->text;
        if (!*line)
            status = tell_nothing(r, err);
    }
    if (*line == r->text && r->length > 0)
        r->text[r->length - 1] = '\0';
    return status;
}

static int next_request(struct rank *r, struct texts *all, struct dp_error *err)
{
    const char *line = "";
    int status = 0;

    if (dp_mpi_rank(r->mpi) == 0)
        status = read_line(r, &line, err);
    while (status == 0 && (status = tell(r, line, all, err)) == 0 && texts_of(all, 0)[0] == '\0')
        texts_free(all);
    return status;
}

static const char *text_or_empty(json_t *request, const char *name)
{
    const char *text = json_string_value(json_object_get(request, name));

    return text ? text : "";
}

/* What serve.h leaves to the table, which needs more than that. */
static json_t *open_session(struct rank *r, json_t *request)
{
    const struct impl_config config = {
        .devices = text_or_empty(request, "devices"),
        .options = text_or_empty(request, "options"),
        .seed = (uint64_t)json_integer_value(json_object_get(request, "seed"))};
    struct impl_about about;
    struct impl_error err = {.replica = -1, .device = IMPL_NOWHERE, .device_also = IMPL_NOWHERE};
    const int status = part_open(r->mpi, &config, &about, &r->serve.session, &err);

    if (status == IMPL_OK)
        return json_pack("{s:O, s:o}", "id", json_object_get(request, "id"), "ok",
                         serve_about(&about));
    return serve_error(request, status, &err);
}

static json_t *answer(struct rank *r, json_t *request)
{
    const char *op = json_string_value(json_object_get(request, "op"));

    if (op && strcmp(op, "open") == 0)
        return r->serve.session ? NULL : open_session(r, request);
    return r->serve.session ? serve_answer(&r->serve, request) : NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

static char *join(const struct texts *all, int n)
{
    json_t *answers[SAID_PROCESSES] = {NULL}, *joined = NULL;
    char *text = NULL;
    int read = 0;

    while (read < n && (answers[read] = json_loads(texts_of(all, read), 0, NULL)))
        ++read;
    if (read == n)
        joined = join_answers(answers, n);
    if (joined)
        text = json_dumps(joined, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(joined);
    for (int p = 0; p < read; ++p)
        json_decref(answers[p]);
    return text;
}

/* Who hears it may be slow. */
static int say_slowly(struct rank *r, const char *text, struct dp_error *err)
{
    size_t length = strlen(text);
    int status = 0;

    while (status == 0 && length > 0) {
        const size_t n = length < SLICE ? length : SLICE;

        status = guard_say_parts(&r->guard, text, n);
        if (status)
            return dp_fail(err, DP_EFAULT, "an answer cannot be said: %s", strerror(errno));
        text += n;
        length -= n;
        status = tell_nothing(r, err);
    }
    return status;
}

static int say_joined(struct rank *r, json_t *request, const struct texts *all,
                      struct dp_error *err)
{
    char *joined = join(all, dp_mpi_size(r->mpi)), id[32];
    int status;

    snprintf(id, sizeof id, "%lld", (long long)json_integer_value(json_object_get(request, "id")));
    status = joined ? say_slowly(r, joined, err)
                    : dp_fail(err, DP_ENOMEM, "the answers cannot be joined");
    if (status == 0 && guard_say(&r->guard, SAID_ANSWER, id))
        status = dp_fail(err, DP_EFAULT, "an answer cannot be said: %s", strerror(errno));
    free(joined);
    return status;
}

/* The processes have parted: in this operation, if that failed here. */
static _Noreturn void part_with(struct rank *r, const char *own, const struct dp_error *err)
{
    char text[SAID_TEXT];

    if (strstr(own, "\"error\":") && strlen(own) < SAID_TEXT - sizeof PARTING_REFUSED)
        snprintf(text, sizeof text, PARTING_REFUSED "%s", own);
    else
        snprintf(text, sizeof text, PARTING_LOST "%s", err->text);
    (void)guard_say(&r->guard, SAID_ENDED, text);
    leave(r, EXIT_FAILED);
}

static void serve_request(struct rank *r, const char *line)
{
    json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    json_t *own = request ? answer(r, request) : NULL;
    char *text = own ? json_dumps(own, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    struct dp_error err = {0};
    struct texts all;

    if (!text) {
        dp_mpi_abort(r->mpi);
        snprintf(err.text, sizeof err.text, "a request cannot be read, or there is no memory");
        part_with(r, "", &err);
    }
    if (tell(r, text, &all, &err))
        part_with(r, text, &err);
    if (dp_mpi_rank(r->mpi) == 0 && say_joined(r, request, &all, &err)) {
        dp_mpi_abort(r->mpi);
        part_with(r, "", &err);
    }
    texts_free(&all);
    free(text);
    json_decref(own);
    json_decref(request);
}

static _Noreturn void serve_all(struct rank *r)
{
    for (;;) {
        struct dp_error err = {0};
        struct texts all;

        if (next_request(r, &all, &err))
            part_with(r, "", &err);
        if (strcmp(texts_of(&all, 0), over) == 0)
            break;
        serve_request(r, texts_of(&all, 0));
        texts_free(&all);
    }
    if (r->serve.session)
        r->serve.source.ops->close(r->serve.session);
    (void)guard_say(&r->guard, SAID_ENDED, "ok");
    leave(r, EXIT_PASSED);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int open_mpi(struct rank *r, struct dp_error *err)
{
    const struct dp_mpi_config how = {.processes = (int)r->processes,
                                      .deadline_ms = (unsigned)(r->limit * 1e3),
                                      .start_ms = PARTING_START_MS,
                                      .build = BUILD_VERSION " " BUILD_SOURCE,
                                      .plan = "check"};

    return dp_mpi_open(&how, &r->mpi, err);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct rank *r = state->input;
    struct text_error why;

    if (key == KEY_PROCESSES && option_size(arg, 1, SAID_PROCESSES, &r->processes, &why) == 0)
        return 0;
    if (key == KEY_LIMIT && option_real(arg, 0.1, 86400, &r->limit, &why) == 0)
        return 0;
    if (key == KEY_PROCESSES || key == KEY_LIMIT)
        return command_bad_option(state, "%s", why.text);
    return command_key(key, arg, state);
}

int rank_main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {.name = "processes", .key = KEY_PROCESSES, .arg = "N"},
        {.name = "limit", .key = KEY_LIMIT, .arg = "SECONDS"},
        {0}};
    const struct argp argp = {.options = table,
                              .parser = parse_option,
                              .doc = "Worker of check: some of the ranks of a model."};
    struct rank *r = calloc(1, sizeof *r);
    struct dp_error err = {0};

    if (!r)
        return EXIT_FAILED;
    r->guard.speaker = (struct said_speaker){.fd = STDOUT_FILENO, .process = SAID_NOBODY};
    if (command_parse(&argp, argc, argv, r) || r->processes == 0 || r->limit <= 0) {
        free(r);
        return EXIT_MISUSE;
    }
    prctl(PR_SET_NAME, "lockstep rank"); /* it was started as /proc/self/exe */
    r->serve.source.ops = part_ops();
    if (guard_start(&r->guard, 0)) {
        (void)said_write(&r->guard.speaker, SAID_ENDED, "a process cannot start a thread");
        return EXIT_FAILED;
    }
    if (open_mpi(r, &err)) {
        (void)guard_say(&r->guard, SAID_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    watch_start(&r->watch);
    if (guard_say_begun(&r->guard, r->mpi))
        leave(r, EXIT_FAILED);
    serve_all(r);
}
