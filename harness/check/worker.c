/* check/worker.c: requests, answers, and the end of a process among several. */
#include "check/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_info.h"
#include "check/crowd.h"
#include "command/command.h"
#include "text/options.h"

enum { KEY_PROCESSES = 256, KEY_LIMIT, PIECE = 65536, SLICE = 1 << 20 };
/* So often the others hear that there is nothing yet: a share of the limit. */
#define LOOK 0.2
static const char over[] = "over";

/* ---- the end --------------------------------------------------------------------------------- */

/* MPI is ended only where all have come to the end; else it would wait. */
static _Noreturn void leave(struct worker *w, int status)
{
    struct dp_error err = {0};

    if (dp_mpi_close(w->mpi, &err) != 0)
        status = EXIT_FAILED;
    fflush(NULL);
    _exit(status);
}

/* The processes have parted: in this operation, if that failed here. */
static _Noreturn void part_with(struct worker *w, const char *own, const struct dp_error *err)
{
    char text[SAID_TEXT];

    if (strstr(own, "\"error\":") && strlen(own) < SAID_TEXT - sizeof PARTING_REFUSED)
        snprintf(text, sizeof text, PARTING_REFUSED "%s", own);
    else
        snprintf(text, sizeof text, PARTING_LOST "%s", err->text);
    (void)guard_say(&w->guard, SAID_ENDED, text);
    leave(w, EXIT_FAILED);
}

/* What it was told is not to be understood, or there is no memory: the others end, too. */
static _Noreturn void fail(struct worker *w, const char *why)
{
    struct dp_error err = {0};

    dp_mpi_abort(w->mpi);
    snprintf(err.text, sizeof err.text, "%s", why);
    part_with(w, "", &err);
}

void worker_end(struct worker *w)
{
    (void)guard_say(&w->guard, SAID_ENDED, "ok");
    leave(w, EXIT_PASSED);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int tell(struct worker *w, const char *text, struct texts *all, struct dp_error *err)
{
    const int status = texts_exchange(w->mpi, text, all, err);

    w->told = watch_seconds(&w->watch);
    return status;
}

/* Of the first process: the others wait for it meanwhile. */
static int tell_nothing(struct worker *w, struct dp_error *err)
{
    struct texts all;
    int status = 0;

    if (watch_seconds(&w->watch) - w->told < w->limit * LOOK)
        return 0;
    status = tell(w, "", &all, err);
    texts_free(&all);
    return status;
}

/* Who writes waits for that: the process manager of MPICH ends all where a process has not read
 * what it has for it. */
static void tell_read(struct worker *w)
{
    char text[32];

    if (w->read - w->told_read < CROWD_INPUT / 2)
        return;
    w->told_read = w->read;
    snprintf(text, sizeof text, "%llu", w->read);
    (void)guard_say(&w->guard, SAID_READ, text);
}

/* A piece of a line. False: there is no more, or no memory. */
static bool read_piece(struct worker *w)
{
    if (w->room - w->length < PIECE + 1) {
        char *text = realloc(w->text, 2 * (w->room + PIECE));

        if (!text)
            return false;
        w->text = text;
        w->room = 2 * (w->room + PIECE);
    }
    const ssize_t n = read(STDIN_FILENO, w->text + w->length, PIECE);

    if (n > 0) {
        w->length += (size_t)n;
        w->read += (size_t)n;
        tell_read(w);
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

/* The next line, or `over`. Each comes when the one before was answered: so nothing is behind it.
 */
static int read_line(struct worker *w, const char **line, struct dp_error *err)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int status = 0;

    w->length = 0;
    *line = NULL;
    while (status == 0 && !*line) {
        if (poll(&input, 1, (int)(w->limit * LOOK * 1e3)) > 0 && !read_piece(w))
            *line = over;
        else if (w->length > 0 && w->text[w->length - 1] == '\n')
            *line = w->text;
        if (!*line)
            status = tell_nothing(w, err);
    }
    if (*line == w->text && w->length > 0)
        w->text[w->length - 1] = '\0';
    return status;
}

/* Good until the one after it; NULL: there is none any more. */
static const char *next_request(struct worker *w)
{
    struct dp_error err = {0};
    const char *line = "";
    int status = 0;

    texts_free(&w->request);
    if (dp_mpi_rank(w->mpi) == 0)
        status = read_line(w, &line, &err);
    while (status == 0 && (status = tell(w, line, &w->request, &err)) == 0 &&
           texts_of(&w->request, 0)[0] == '\0')
        texts_free(&w->request);
    if (status)
        part_with(w, "", &err);
    return strcmp(texts_of(&w->request, 0), over) == 0 ? NULL : texts_of(&w->request, 0);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Who hears it may be slow. */
static int say_slowly(struct worker *w, const char *text, struct dp_error *err)
{
    size_t length = strlen(text);
    int status = 0;

    while (status == 0 && length > 0) {
        const size_t n = length < SLICE ? length : SLICE;

        status = guard_say_parts(&w->guard, text, n);
        if (status)
            return dp_fail(err, DP_EFAULT, "an answer cannot be said: %s", strerror(errno));
        text += n;
        length -= n;
        status = tell_nothing(w, err);
    }
    return status;
}

/* That of all, from the first process; and which request it was here, and what it came to here. */
static void say_answer(struct worker *w, const struct worker_part *part, const json_t *request,
                       const json_t *own, const char *joined)
{
    char line[DIGEST_HEX] = "", answer[DIGEST_HEX] = "-", text[2 * DIGEST_HEX + 32];
    const char *got = texts_of(&w->request, 0);
    struct dp_error err = {0};
    int status = joined ? say_slowly(w, joined, &err) : 0;

    if (status == 0 &&
        (digest_sha256(got, strlen(got), line) || (part->digest && part->digest(own, answer))))
        fail(w, "no memory for a digest");
    snprintf(text, sizeof text, "%lld %s %s",
             (long long)json_integer_value(json_object_get(request, "id")), line, answer);
    if (status == 0 && guard_say(&w->guard, SAID_ANSWER, text))
        status = dp_fail(&err, DP_EFAULT, "an answer cannot be said: %s", strerror(errno));
    if (status == 0)
        return;
    dp_mpi_abort(w->mpi);
    part_with(w, "", &err);
}

static char *join(struct worker *w, const struct worker_part *part, const struct texts *all)
{
    const int n = dp_mpi_size(w->mpi);
    json_t *answers[SAID_PROCESSES] = {NULL}, *joined = NULL;
    char *text = NULL;
    int read = 0;

    while (read < n && (answers[read] = json_loads(texts_of(all, read), 0, NULL)))
        ++read;
    if (read == n)
        joined = part->join(part->self, answers, n);
    if (joined)
        text = json_dumps(joined, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(joined);
    for (int p = 0; p < read; ++p)
        json_decref(answers[p]);
    return text;
}

static void serve_request(struct worker *w, const struct worker_part *part, const char *line)
{
    json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    json_t *own = request ? part->answer(part->self, request) : NULL;
    char *text = own ? json_dumps(own, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    struct dp_error err = {0};
    struct texts all;

    if (!text)
        fail(w, "a request cannot be read, or there is no memory");
    if (tell(w, text, &all, &err))
        part_with(w, text, &err);
    char *joined = dp_mpi_rank(w->mpi) == 0 ? join(w, part, &all) : NULL;

    if (dp_mpi_rank(w->mpi) == 0 && !joined)
        fail(w, "the answers cannot be joined");
    say_answer(w, part, request, own, joined);
    free(joined);
    texts_free(&all);
    free(text);
    json_decref(own);
    json_decref(request);
}

void worker_serve(struct worker *w, const struct worker_part *part)
{
    const char *line;

    while ((line = next_request(w)))
        serve_request(w, part, line);
}

/* ---- the begin ------------------------------------------------------------------------------- */

static int open_mpi(struct worker *w, const char *plan, struct dp_error *err)
{
    const struct dp_mpi_config how = {.processes = (int)w->processes,
                                      .deadline_ms = (unsigned)(w->limit * 1e3),
                                      .start_ms = PARTING_START_MS,
                                      .build = BUILD_VERSION " " BUILD_SOURCE,
                                      .plan = plan};

    return dp_mpi_open(&how, &w->mpi, err);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct worker *w = state->input;
    struct text_error why;

    if (key == KEY_PROCESSES && option_size(arg, 1, SAID_PROCESSES, &w->processes, &why) == 0)
        return 0;
    if (key == KEY_LIMIT && option_real(arg, 0.1, 86400, &w->limit, &why) == 0)
        return 0;
    if (key == KEY_PROCESSES || key == KEY_LIMIT)
        return command_bad_option(state, "%s", why.text);
    return command_key(key, arg, state);
}

static int read_options(struct worker *w, int argc, char **argv, const char *doc)
{
    static const struct argp_option table[] = {
        {.name = "processes", .key = KEY_PROCESSES, .arg = "N"},
        {.name = "limit", .key = KEY_LIMIT, .arg = "SECONDS"},
        {0}};
    const struct argp argp = {.options = table, .parser = parse_option, .doc = doc};

    return command_parse(&argp, argc, argv, w) || w->processes == 0 || w->limit <= 0 ? EXIT_MISUSE
                                                                                     : 0;
}

int worker_open(struct worker *w, int argc, char **argv, const char *plan, const char *doc)
{
    struct dp_error err = {0};
    int status;

    *w = (struct worker){.guard = {.speaker = {.fd = STDOUT_FILENO, .process = SAID_NOBODY}}};
    if ((status = read_options(w, argc, argv, doc)))
        return status;
    prctl(PR_SET_NAME, argv[0]); /* it was started as /proc/self/exe */
    if (guard_start(&w->guard, 0)) {
        (void)said_write(&w->guard.speaker, SAID_ENDED, "a process cannot start a thread");
        return EXIT_FAILED;
    }
    if (open_mpi(w, plan, &err)) {
        (void)guard_say(&w->guard, SAID_ENDED, err.text);
        _exit(EXIT_FAILED);
    }
    watch_start(&w->watch);
    if (guard_say_begun(&w->guard, w->mpi))
        leave(w, EXIT_FAILED);
    return 0;
}
