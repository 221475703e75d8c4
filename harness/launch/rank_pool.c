/* launch/rank_pool.c: starts a launcher, writes requests to its input, reads answers from its
 * output, and ends it.
 *
 * A launcher may print anything, and may end well although a process did not. So only complete
 * lines that the processes print count (launch/launcher.h), and each process must have
 * printed its last line. */
#include "launch/rank_pool.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dp.h"
#include "files/files.h"
#include "launch/child.h"
#include "launch/launcher.h"
#include "launch/watch.h"
#include "text/alloc.h"

enum { TICK_MS = 20 };
/* Seconds that the launcher has to end by itself. */
static const double patience = 3;
/* If no process prints anything, the wait is so many times the limit, plus so many seconds for MPI
 * to start. */
enum { SILENT_LIMITS = 3, SILENT_SECONDS = 60 };

struct rank_pool {
    struct launched run;
    unsigned long long sent; /* bytes */
    double limit;
    double silent; /* seconds of silence that were too long; 0: none */
    char *answer;
    long long last_id; /* of rank_pool_request */
};

int rank_pool_start(const char *launcher, const char *command, int processes, double limit,
                    struct rank_pool **pool, struct text_error *why)
{
    struct rank_pool *p = cli_alloc(1, sizeof *p);
    char count[16], seconds[32];
    char *own[] = {(char *)command, "--processes", count, "--limit", seconds, NULL};

    snprintf(count, sizeof count, "%d", processes);
    snprintf(seconds, sizeof seconds, "%g", limit);
    p->limit = limit;
    if (launcher_run(launcher, processes, own, LAUNCH_ASKED, 0, &p->run, why) == 0) {
        *pool = p;
        return 0;
    }
    launched_free(&p->run);
    free(p);
    return -1;
}

/* Waits for a moment, and takes the messages that have come. */
static void listen_to(struct rank_pool *pool)
{
    program_listen(&pool->run.program, TICK_MS);
    launcher_messages_take(pool->run.messages, &pool->run.program, &pool->run.fault);
}

/* If not patient, the launcher is told to end at once. */
static void end_launcher(struct rank_pool *pool, bool patient)
{
    program_end(&pool->run.program, patient ? patience : 0, LAUNCHER_GRACE);
    launcher_messages_take(pool->run.messages, &pool->run.program, &pool->run.fault);
}

void rank_pool_close(struct rank_pool *pool)
{
    if (!pool)
        return;
    end_launcher(pool, true);
    launched_free(&pool->run);
    free(pool->answer);
    free(pool);
}

/* ---- what processes that have ended have come to --------------------------------------------- */

/* Returns the text after a word; NULL: the text does not begin with it. */
static const char *text_after(const char *text, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? text + length : NULL;
}

static enum rank_pool_end lose_pool(struct rank_pool *pool, const char *text, const char **answer)
{
    free(pool->answer);
    *answer = pool->answer = cli_copy_text(text);
    return RANK_POOL_LOST;
}

/* The number of processes: there is none without such a message. */
static int first_without(const struct launcher_messages *messages, int kind)
{
    int p = 0;

    while (p < messages->n && messages->process[p].has[kind])
        ++p;
    return p;
}

static bool all_have_ended(const struct rank_pool *pool)
{
    return first_without(pool->run.messages, MSG_ENDED) == pool->run.messages->n;
}

/* Returns the first reason or error of a process with these words. A process that did not join an
 * operation is named by the others, whatever operation they were in. NULL: there is none. */
static const char *find_blame(const struct launcher_messages *messages, json_t *const answers[],
                              const char *telling)
{
    for (int p = 0; p < messages->n; ++p) {
        const char *text = text_after(messages->process[p].ended, RANK_LOST);

        if (!text)
            text = json_string_value(json_object_get(json_object_get(answers[p], "error"), "text"));
        if (text && strstr(text, telling))
            return text;
    }
    return NULL;
}

/* Adds the process that the others wait for. If none has answered, none is known to be that. */
static void add_late_process(const struct launcher_messages *messages, char *why, size_t bytes)
{
    static const char *const verbs[] = {[MSG_BEGUN] = "begun", [MSG_ANSWER] = "answered"};
    const bool all = first_without(messages, MSG_BEGUN) == messages->n;
    const int kind = all ? MSG_ANSWER : MSG_BEGUN, late = first_without(messages, kind);
    char name[MSG_NAME_BYTES];

    if (late == messages->n || (all && late == 0))
        return;
    launcher_process_name(messages, late, name);
    text_add(why, bytes, ": %s has not %s", name, verbs[kind]);
}

/* Not all processes have answered: lets them end, and says why. An answer counts only if every
 * process has printed its own, or was kept from it by one that did. */
static enum rank_pool_end end_pool(struct rank_pool *pool, const char **answer)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const struct launcher_messages *messages = pool->run.messages;
    json_t *answers[MSG_PROCESSES] = {NULL};
    char why[320] = "";
    const char *words = pool->run.program.words, *lost = why;
    const double until = watch_seconds(&pool->run.program.watch) + pool->limit + 2;
    bool any = false;

    while (pool->run.program.output >= 0 && !all_have_ended(pool) &&
           pool->run.fault.text[0] == '\0' && pool->silent == 0 &&
           watch_seconds(&pool->run.program.watch) < until)
        listen_to(pool);
    end_launcher(pool, all_have_ended(pool));
    for (int p = 0; p < messages->n; ++p) {
        const char *refused = text_after(messages->process[p].ended, RANK_REFUSED);

        answers[p] = refused ? json_loads(refused, 0, NULL) : NULL;
        any = any || messages->process[p].has[MSG_BEGUN];
    }
    const char *joins = find_blame(messages, answers, " did not join ");
    const int failed = rank_answers_failed(answers, messages->n);

    if (pool->silent > 0) {
        snprintf(why, sizeof why, "no process has said anything for %.0f s", pool->silent);
        add_late_process(messages, why, sizeof why);
    } else if (pool->run.fault.text[0] != '\0') {
        snprintf(why, sizeof why, "what the launcher printed cannot be used: %.160s",
                 pool->run.fault.text);
    } else if (messages->nobody[0] != '\0' || joins) {
        lost = messages->nobody[0] != '\0' ? messages->nobody : joins;
    } else if (first_unfinished_process(messages, why, sizeof why) >= 0) {
        /* If no process has begun, the first line of the launcher that has a word may tell why. */
        words += strcspn(words, letters);
        if (!any && *words != '\0')
            text_add(why, sizeof why, "; the launcher said: %.*s", (int)strcspn(words, "\n"),
                     words);
    } else if (failed < 0) {
        lost = find_blame(messages, answers, "");
        lost = lost ? lost : "all processes have ended";
    } else {
        lost = NULL;
        *answer = text_after(messages->process[failed].ended, RANK_REFUSED);
    }
    if (lost)
        (void)lose_pool(pool, lost, answer);
    for (int p = 0; p < messages->n; ++p)
        json_decref(answers[p]);
    return lost ? RANK_POOL_LOST : RANK_POOL_REFUSED;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* This asks for each process, because a process that has not begun has not answered. */
static bool has_answered(const struct rank_pool *pool, long long id)
{
    bool all = pool->run.messages->process[0].parts != NULL;

    for (int p = 0; p < pool->run.messages->n; ++p) {
        const struct launcher_process *from = &pool->run.messages->process[p];

        all = all && from->has[MSG_BEGUN] && from->has[MSG_ANSWER] &&
              strtoll(from->answer, NULL, 10) == id;
    }
    return all && pool->run.fault.text[0] == '\0';
}

/* Whether the first process can take so many more bytes, without keeping more than it may. */
static bool has_room(const struct rank_pool *pool, long long bytes)
{
    return pool->sent + (unsigned long long)bytes <=
           pool->run.messages->process[0].read + RANK_POOL_INPUT;
}

/* Waits until the condition holds, or cannot hold any more: a process, or the launcher, has
 * ended. */
static void wait_until(struct rank_pool *pool, bool (*is_so)(const struct rank_pool *, long long),
                       long long number)
{
    const double most = SILENT_LIMITS * pool->limit + SILENT_SECONDS;
    unsigned long messages = 0;
    double since = watch_seconds(&pool->run.program.watch);
    bool over = false;

    for (;;) {
        unsigned long n = 0;

        for (int p = 0; p < pool->run.messages->n; ++p) {
            const struct launcher_process *process = &pool->run.messages->process[p];

            n += process->number;
            over = over || process->has[MSG_ENDED] || process->has[MSG_ABORT];
        }
        if (is_so(pool, number) || over || pool->run.program.output < 0 ||
            pool->run.fault.text[0] != '\0' || pool->run.messages->nobody[0] != '\0' ||
            pool->silent > 0)
            break;
        if (n != messages)
            since = watch_seconds(&pool->run.program.watch);
        messages = n;
        /* If one process has answered, MPI has started, and the others have their answers soon,
         * too. */
        const double wait = pool->run.messages->process[0].has[MSG_ANSWER] ? pool->limit : most;

        if (watch_seconds(&pool->run.program.watch) - since > wait)
            pool->silent = wait;
        else
            listen_to(pool);
    }
}

/* Writes the request to the input of the launcher. If the launcher is gone, that is found by its
 * output. */
static void write_text(struct rank_pool *pool, const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        const size_t piece = left < RANK_POOL_INPUT / 2 ? left : RANK_POOL_INPUT / 2;

        wait_until(pool, has_room, (long long)piece);
        if (!has_room(pool, (long long)piece))
            return;
        const ssize_t n = write(pool->run.program.input, line, piece);

        if (n < 0 && errno != EINTR)
            return;
        line += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
        pool->sent += n > 0 ? (size_t)n : 0;
    }
}

/* Checks that each process reports this digest of the last request, or of its answer. Returns 0, or
 * -1 and which process reports another one. */
enum reported { OF_REQUEST, OF_ANSWER };
static int check_digests(const struct rank_pool *pool, enum reported which, const char *digest,
                         struct text_error *why)
{
    static const char *const what[] = {"got another request than was sent",
                                       "has another answer than process 0 gave for all"};

    for (int p = 0; p < pool->run.messages->n; ++p) {
        char word[2][DIGEST_HEX] = {"", ""}, name[MSG_NAME_BYTES];

        (void)sscanf(pool->run.messages->process[p].answer, "%*s %64s %64s", word[0], word[1]);
        if (strcmp(word[which], digest) == 0)
            continue;
        launcher_process_name(pool->run.messages, p, name);
        return text_fail(why, "%s %s", name, what[which]);
    }
    return 0;
}

enum rank_pool_end rank_pool_send(struct rank_pool *pool, long long id, const char *line,
                                  const char **answer)
{
    struct launcher_process *first = &pool->run.messages->process[0];
    struct text_error why = {""};
    char digest[DIGEST_HEX];

    if (pool->run.program.input < 0)
        return lose_pool(pool, "these processes have ended", answer);
    write_text(pool, line);
    write_text(pool, "\n");
    wait_until(pool, has_answered, id);
    if (!has_answered(pool, id))
        return end_pool(pool, answer);
    (void)digest_sha256(line, strlen(line), digest); /* "" on failure: no process reports that */
    if (check_digests(pool, OF_REQUEST, digest, &why)) {
        end_launcher(pool, false);
        return lose_pool(pool, why.text, answer);
    }
    free(pool->answer);
    pool->answer = first->parts;
    first->parts = NULL;
    for (int p = 0; p < pool->run.messages->n; ++p)
        launcher_answer_taken(&pool->run.messages->process[p]);
    *answer = pool->answer;
    return RANK_POOL_ANSWERED;
}

int rank_pool_hosts(const struct rank_pool *pool, int each, char ranks[], size_t bytes)
{
    return launcher_hosts(pool->run.messages, each, ranks, bytes);
}

/* ---- requests by name ------------------------------------------------------------------------ */

int rank_pool_fail(const char *why, struct dp_error *err)
{
    return dp_fail(err, DP_EFAULT, "%.230s", why);
}

json_t *rank_pool_request(struct rank_pool *pool, const char *op, json_t *request,
                          struct dp_error *err)
{
    const char *text = NULL;
    json_t *answer = NULL, *ok = NULL;
    char digest[DIGEST_HEX];
    struct text_error apart;

    ++pool->last_id;
    json_object_set_new(request, "id", json_integer(pool->last_id));
    json_object_set_new(request, "op", json_string(op));
    char *const line = cli_memory(json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII));

    json_decref(request);
    if (rank_pool_send(pool, pool->last_id, line, &text) == RANK_POOL_LOST) {
        rank_pool_fail(text, err);
    } else {
        answer = json_loads(text, 0, NULL);
        const json_t *error = json_object_get(answer, "error");
        const char *why = json_string_value(json_object_get(error, "text"));
        const int status = (int)json_integer_value(json_object_get(error, "status"));

        ok = json_object_get(answer, "ok");
        if (why)
            dp_fail(err, status != 0 ? status : DP_EFAULT, "%.230s", why);
        else if (!ok)
            rank_pool_fail("what the processes answered cannot be read", err);
        else if (check_digests(pool, OF_ANSWER, rank_answer_digest(answer, digest), &apart))
            rank_pool_fail(apart.text, err);
    }
    ok = err->status ? NULL : json_incref(ok);
    json_decref(answer);
    free(line);
    return ok;
}

/* ---- answers of several processes ----------------------------------------------------------- */

int rank_answers_failed(json_t *const answers[], int n)
{
    int found = -1;

    for (int p = n - 1; p >= 0; --p) {
        const json_t *error = json_object_get(answers[p], "error");
        const char *text = json_string_value(json_object_get(error, "text"));

        if (text && (found < 0 || !strstr(text, " has given up")))
            found = p;
    }
    return found;
}

const char *rank_answer_digest(const json_t *answer, char hex[DIGEST_HEX])
{
    json_t *ok = json_copy(json_object_get(answer, "ok"));

    snprintf(hex, DIGEST_HEX, "-");
    if (ok) {
        /* Only one process reports values; devices may differ between the processes. */
        json_object_del(ok, "values");
        json_object_del(ok, "blas");
        char *const text = cli_memory(json_dumps(ok, JSON_COMPACT | JSON_SORT_KEYS));

        if (digest_sha256(text, strlen(text), hex))
            cli_no_memory();
        free(text);
    }
    json_decref(ok);
    return hex;
}
