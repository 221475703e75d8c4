/* launch/rank_worker.c: requests, answers, and the end of a process among several. */
#include "launch/rank_pool.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_info.h"
#include "command/command.h"
#include "dp.h"
#include "text/alloc.h"

enum { KEY_PROCESSES = 256, KEY_LIMIT, PIECE = 65536, SLICE = 1 << 20, WORDS = 300 };
/* Share of the limit after which the others hear that there is no request yet. */
#define LOOK 0.2
static const char over[] = "over";

/* ---- the end --------------------------------------------------------------------------------- */

/* Ends a process that can no longer work with the others. `own` is its answer, if its operation
 * failed. */
static _Noreturn void part_with(struct rank_worker *w, const char *own, const struct dp_error *err)
{
    char text[MSG_TEXT_BYTES];

    if (strstr(own, "\"error\":") && strlen(own) < MSG_TEXT_BYTES - sizeof RANK_REFUSED)
        snprintf(text, sizeof text, RANK_REFUSED "%s", own);
    else
        snprintf(text, sizeof text, RANK_LOST "%s", err->text);
    (void)guard_say(&w->guard, MSG_ENDED, text);
    guard_leave(w->mpi, EXIT_FAILED);
}

/* Ends this process and the others: it cannot understand a request. */
static _Noreturn void fail_all(struct rank_worker *w, const char *why)
{
    struct dp_error err = {0};

    dp_mpi_abort(w->mpi);
    snprintf(err.text, sizeof err.text, "%s", why);
    part_with(w, "", &err);
}

void rank_worker_end(struct rank_worker *w)
{
    (void)guard_say(&w->guard, MSG_ENDED, "ok");
    guard_leave(w->mpi, EXIT_PASSED);
}

/* ---- texts of any length, by exchanges of fixed length --------------------------------------- */

/* Most texts are short: they are sent in the same exchange as their length, and no second one
 * follows. */
struct head {
    uint64_t length;
    char text[1500];
};

static const char *text_of_process(const struct rank_texts *all, int process)
{
    return all->memory + all->first + (size_t)process * all->stride;
}

static void free_texts(struct rank_texts *all)
{
    free(all->memory);
    *all = (struct rank_texts){NULL, 0, 0};
}

/* Gives every process the texts of all processes. All processes call it. Returns 0, or a status of
 * dp.h with *err. */
static int tell_all(struct rank_worker *w, const char *text, struct rank_texts *all,
                    struct dp_error *err)
{
    const size_t n = (size_t)dp_mpi_size(w->mpi), length = strlen(text);
    struct head own = {.length = length}, *heads = cli_alloc(n, sizeof *heads);
    size_t most = 0;
    int status;

    *all = (struct rank_texts){(char *)heads, offsetof(struct head, text), sizeof own};
    if (length < sizeof own.text)
        memcpy(own.text, text, length + 1);
    status = dp_mpi_exchange(w->mpi, &own, sizeof own, heads, err);
    for (size_t p = 0; p < n; ++p)
        most = heads[p].length > most ? (size_t)heads[p].length : most;
    if (status == 0 && most >= sizeof own.text) {
        char *padded = cli_alloc(most + 1, 1);

        free_texts(all);
        *all = (struct rank_texts){cli_alloc(n, most + 1), 0, most + 1};
        memcpy(padded, text, length + 1);
        status = dp_mpi_exchange(w->mpi, padded, most + 1, all->memory, err);
        free(padded);
    }
    w->told = watch_seconds(&w->watch);
    return status;
}

/* The first process tells the others that there is no request yet, because they wait for it. */
static int tell_nothing(struct rank_worker *w, struct dp_error *err)
{
    struct rank_texts all;
    int status = 0;

    if (watch_seconds(&w->watch) - w->told < w->limit * LOOK)
        return 0;
    status = tell_all(w, "", &all, err);
    free_texts(&all);
    return status;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Reads a piece of a line. Returns false if there is no more. */
static bool read_piece(struct rank_worker *w)
{
    char text[32];

    if (w->room - w->length < PIECE + 1) {
        w->room = 2 * (w->room + PIECE);
        w->text = cli_resize(w->text, w->room, 1);
    }
    const ssize_t n = read(STDIN_FILENO, w->text + w->length, PIECE);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    w->length += (size_t)n;
    w->read += (size_t)n;
    /* The writer waits for this message. It must not write more than a pipe holds, because the
     * process manager of MPICH ends all processes if one has not read its input. */
    if (w->read - w->told_read >= RANK_POOL_INPUT / 2) {
        w->told_read = w->read;
        snprintf(text, sizeof text, "%llu", w->read);
        (void)guard_say(&w->guard, MSG_READ, text);
    }
    return true;
}

/* The request is valid until the next call; NULL: there are no more. A line is written only after
 * the request before it was answered, so nothing follows it. */
static const char *next_request(struct rank_worker *w)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    const bool reads = dp_mpi_rank(w->mpi) == 0;
    const char *line = reads ? NULL : "";
    struct dp_error err = {0};
    int status = 0;

    free_texts(&w->request);
    w->length = 0;
    while (status == 0 && !line) {
        if (poll(&input, 1, (int)(w->limit * LOOK * 1e3)) > 0 && !read_piece(w))
            line = over;
        else if (w->length > 0 && w->text[w->length - 1] == '\n')
            line = w->text;
        if (!line)
            status = tell_nothing(w, &err);
    }
    if (reads && line == w->text && w->length > 0)
        w->text[w->length - 1] = '\0';
    while (status == 0 && (status = tell_all(w, line, &w->request, &err)) == 0 &&
           text_of_process(&w->request, 0)[0] == '\0')
        free_texts(&w->request);
    if (status)
        part_with(w, "", &err);
    line = text_of_process(&w->request, 0);
    return strcmp(line, over) == 0 ? NULL : line;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* The first process prints the answer of all. Each process prints the digests of its request and of
 * its answer. */
static void say_answer(struct rank_worker *w, const struct rank_part *part, const json_t *request,
                       const json_t *own, char *joined)
{
    char line[DIGEST_HEX], answer[DIGEST_HEX], text[2 * DIGEST_HEX + 32];
    const char *got = text_of_process(&w->request, 0);
    size_t left = joined ? strlen(joined) : 0;
    struct dp_error err = {0};
    int status = 0;

    /* The reader may be slow, and the other processes wait during that time. */
    while (status == 0 && left > 0) {
        const size_t n = left < SLICE ? left : SLICE;
        const char next = joined[n];

        joined[n] = '\0';
        if (guard_say(&w->guard, MSG_PART, joined))
            status = dp_fail(&err, DP_EFAULT, "an answer cannot be said: %s", strerror(errno));
        else
            status = tell_nothing(w, &err);
        joined += n;
        joined[0] = next;
        left -= n;
    }
    if (digest_sha256(got, strlen(got), line))
        cli_no_memory();
    snprintf(text, sizeof text, "%lld %s %s",
             (long long)json_integer_value(json_object_get(request, "id")), line,
             part->digest ? part->digest(own, answer) : "-");
    if (status == 0 && guard_say(&w->guard, MSG_ANSWER, text))
        status = dp_fail(&err, DP_EFAULT, "an answer cannot be said: %s", strerror(errno));
    if (status != 0)
        fail_all(w, err.text);
}

int rank_worker_serve(struct rank_worker *w, int argc, char **argv, const char *plan,
                      const char *doc, const struct rank_part *part)
{
    static const struct command_option table[] = {
        {"processes", KEY_PROCESSES, "N", "that there have to be", COMMAND_SIZE,
         .offset = offsetof(struct rank_worker, processes), .least = 1, .most = MSG_PROCESSES},
        {"limit", KEY_LIMIT, "SECONDS", "that a process waits for the others", COMMAND_REAL,
         .offset = offsetof(struct rank_worker, limit), .from = 0.1, .to = 86400},
        {0}};
    const struct command_syntax syntax = {.options = table, .doc = doc};
    const char *line;

    *w = (struct rank_worker){.processes = 0};
    if (command_read(&syntax, argc, argv, w) || w->processes == 0 || w->limit <= 0)
        return EXIT_MISUSE;
    prctl(PR_SET_NAME, argv[0]); /* the process was started as /proc/self/exe */
    const struct dp_mpi_config how = {.processes = (int)w->processes,
                                      .deadline_ms = (unsigned)(w->limit * 1e3),
                                      .start_ms = RANK_START_MS,
                                      .build = BUILD_VERSION " " BUILD_SOURCE,
                                      .plan = plan};

    w->mpi = guard_open(&w->guard, 0, &how);
    watch_start(&w->watch);
    while ((line = next_request(w))) {
        json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        json_t *own = request ? part->answer(part->self, request) : NULL;
        char *text = json_dumps(own, JSON_COMPACT | JSON_ENSURE_ASCII); /* NULL: of none */
        struct dp_error err = {0};
        struct rank_texts all;

        if (!text)
            fail_all(w, "a request cannot be read, or there is no memory");
        if (tell_all(w, text, &all, &err))
            part_with(w, text, &err);
        /* The first process joins the answers of all into one. */
        char *joined = NULL;

        if (dp_mpi_rank(w->mpi) == 0) {
            const int n = dp_mpi_size(w->mpi);
            json_t *answers[MSG_PROCESSES] = {NULL}, *whole = NULL;
            int read = 0;

            while (read < n && (answers[read] = json_loads(text_of_process(&all, read), 0, NULL)))
                ++read;
            const int failed = rank_answers_failed(answers, read);

            if (read == n && failed < 0 && part->join)
                whole = part->join(part->self, answers, n);
            else if (read == n)
                whole = json_incref(answers[failed < 0 ? 0 : failed]);
            joined = json_dumps(whole, JSON_COMPACT | JSON_ENSURE_ASCII);
            json_decref(whole);
            for (int p = 0; p < read; ++p)
                json_decref(answers[p]);
            if (!joined)
                fail_all(w, "the answers cannot be joined");
        }
        say_answer(w, part, request, own, joined);
        free(joined);
        free_texts(&all);
        free(text);
        json_decref(own);
        json_decref(request);
    }
    return 0;
}

/* ---- operations by name ---------------------------------------------------------------------- */

const char *rank_worker_text(const json_t *request, const char *name)
{
    const char *text = json_string_value(json_object_get(request, name));

    return text ? text : "";
}

json_t *rank_worker_answer(const struct dp_mpi *mpi, const struct rank_operation operation[],
                           size_t n, void *self, const json_t *request)
{
    const char *name = rank_worker_text(request, "op");
    const int process = dp_mpi_rank(mpi);
    struct dp_error err = {0};
    json_t *ok = NULL;
    char words[WORDS], text[2 * WORDS];
    int status = DP_EINVAL;

    for (size_t i = 0; i < n; ++i)
        if (strcmp(name, operation[i].name) == 0)
            status = operation[i].run(self, request, &ok, &err);
    if (status == 0)
        return ok ? json_pack("{s:o}", "ok", ok) : NULL;
    snprintf(words, sizeof words, ": %s", err.text);
    snprintf(text, sizeof text, "process %d of %d (host %s, process %ld)%s", process,
             dp_mpi_size(mpi), dp_mpi_host(mpi, process), dp_mpi_pid(mpi, process), words);
    return json_pack("{s:{s:i, s:s}}", "error", "status", status, "text", text);
}
