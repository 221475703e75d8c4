/* check/world.c: `lockstep world`: reads requests from standard input, and relays each to the
 * processes that it is for, until they have an answer.
 *
 * A model of R ranks is in at most R processes. So there are pools of several sizes, and each is
 * started when it is needed. If a rank refuses a request, its pool and the models in it end; the
 * next model gets a new pool. A pool that has lost a process gives no answer: then this process
 * ends, and its last words are the reason. */

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/rank_pool.h"
#include "command/command.h"
#include "files/launcher_messages.h"
#include "impl.h"
#include "plan/launcher.h"
#include "text/options.h"

enum { MODELS = 256, POOLS_MOST = 3, KEY_LAUNCHER = 256, KEY_PROCESSES, KEY_EACH, KEY_LIMIT };

/* The number of a model is its index in the table. */
struct model {
    bool open;
    int pool;          /* the number of processes of its pool; 0: its pool has ended */
    json_int_t number; /* its number in the pool */
};

struct world {
    char launcher[LAUNCHER_BYTES];
    size_t processes, each; /* the largest number of processes; the ranks of each, 0: any number */
    double limit;
    json_t *open;                              /* the open request, which every pool gets */
    struct rank_pool *pool[MSG_PROCESSES + 1]; /* by the number of processes */
    unsigned used[MSG_PROCESSES + 1], clock;
    struct model model[MODELS];
    char why[512]; /* why a pool was lost; "": none was */
};

/* ---- answers --------------------------------------------------------------------------------- */

static char *write_text(json_t *answer)
{
    char *text = answer ? json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

    json_decref(answer);
    return text;
}

static char *refuse(const json_t *request, const char *status, const char *text)
{
    return write_text(json_pack("{s:O, s:{s:s, s:s}}", "id", json_object_get(request, "id"),
                                "error", "status", status, "text", text));
}

static char *nothing(const json_t *request)
{
    return write_text(json_pack("{s:O, s:{}}", "id", json_object_get(request, "id"), "ok"));
}

static char *lose(struct world *w, const char *why)
{
    snprintf(w->why, sizeof w->why, "%s", why);
    return NULL;
}

/* ---- pools ----------------------------------------------------------------------------------- */

static bool has_models(const struct world *w, int processes)
{
    for (int m = 0; m < MODELS; ++m)
        if (w->model[m].open && w->model[m].pool == processes)
            return true;
    return false;
}

static void end_pool(struct world *w, int processes)
{
    rank_pool_close(w->pool[processes]);
    w->pool[processes] = NULL;
    for (int m = 0; m < MODELS; ++m)
        if (w->model[m].pool == processes)
            w->model[m].pool = 0;
}

static void end_pools(struct world *w)
{
    for (int p = 0; p <= MSG_PROCESSES; ++p)
        end_pool(w, p);
}

/* A pool that waits still costs a core some time, so there are few: the one that was not used for
 * the longest time ends. */
static void leave_few(struct world *w)
{
    int n = 0, oldest = 0;

    for (int p = 1; p <= MSG_PROCESSES; ++p) {
        n += w->pool[p] != NULL;
        if (w->pool[p] && !has_models(w, p) && (oldest == 0 || w->used[p] < w->used[oldest]))
            oldest = p;
    }
    if (n >= POOLS_MOST)
        end_pool(w, oldest);
}

/* Returns the answer of a pool that exists; NULL: the pool is lost, or there is no memory. */
static char *relay(struct world *w, int processes, json_t *request)
{
    const char *answer = NULL;
    char *line = json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII), *text = NULL;
    const enum rank_pool_end end =
        line ? rank_pool_send(w->pool[processes],
                              json_integer_value(json_object_get(request, "id")), line, &answer)
             : RANK_POOL_LOST;

    free(line);
    w->used[processes] = ++w->clock;
    if (end == RANK_POOL_LOST)
        return lose(w, answer ? answer : "no memory for a request");
    text = strdup(answer);
    if (end == RANK_POOL_REFUSED)
        end_pool(w, processes);
    return text ? text : lose(w, "no memory for an answer");
}

/* Starts the pool if there is none. Returns NULL if it exists then; if it was lost, w->why says
 * why, and a refusal is returned as an answer. */
static char *need_pool(struct world *w, int processes)
{
    struct text_error err = {""};
    char *answer;

    if (w->pool[processes])
        return NULL;
    leave_few(w);
    if (rank_pool_start(w->launcher, "rank", processes, w->limit, &w->pool[processes], &err))
        return lose(w, err.text);
    answer = relay(w, processes, w->open);
    if (answer && !strstr(answer, "\"error\":")) {
        free(answer);
        answer = NULL;
    }
    return answer;
}

static bool has_failed(const struct world *w, const char *answer)
{
    return answer || w->why[0] != '\0';
}

/* Ranks are divided among as many processes as possible, and at least two. */
static int processes_for(const struct world *w, json_int_t ranks)
{
    const size_t n = ranks < 2 ? 2 : ranks > MSG_PROCESSES ? MSG_PROCESSES : (size_t)ranks;
    const size_t most = w->each > 0 ? (n + w->each - 1) / w->each : w->processes;

    return (int)(most < 2 ? 2 : most < n ? most : n);
}

/* ---- operations ------------------------------------------------------------------------------ */

static char *do_function(struct world *w, json_t *request)
{
    char *failed = need_pool(w, processes_for(w, 2));

    return has_failed(w, failed) ? failed : relay(w, processes_for(w, 2), request);
}

static char *do_open(struct world *w, json_t *request)
{
    const int processes = processes_for(w, 2);
    struct text_error err = {""};

    if (w->open)
        return refuse(request, "inval", "the session is open");
    if (json_is_true(json_object_get(request, "host_only")))
        return refuse(request, "notsup", "ranks in processes need devices");
    w->open = json_incref(request);
    if (rank_pool_start(w->launcher, "rank", processes, w->limit, &w->pool[processes], &err))
        return lose(w, err.text);
    return relay(w, processes, request);
}

static char *do_reset(struct world *w, json_t *request)
{
    memset(w->model, 0, sizeof w->model);
    for (int p = 1; p <= MSG_PROCESSES; ++p) {
        char *answer = w->pool[p] ? relay(w, p, request) : NULL;

        if (w->why[0] != '\0')
            return NULL;
        free(answer); /* a pool that refused has ended, so it has nothing to reset */
    }
    return nothing(request);
}

/* Gives the model of the pool a number in this process. */
static char *keep_model(struct world *w, int m, int processes, char *text)
{
    json_t *answer = json_loads(text, 0, NULL), *ok = json_object_get(answer, "ok");

    if (!ok) {
        json_decref(answer);
        return text;
    }
    free(text);
    w->model[m] = (struct model){.open = true,
                                 .pool = processes,
                                 .number = json_integer_value(json_object_get(ok, "model"))};
    if (json_object_set_new(ok, "model", json_integer(m))) {
        json_decref(answer);
        return lose(w, "no memory for a model");
    }
    text = write_text(answer);
    return text ? text : lose(w, "no memory for a model");
}

static char *do_model_open(struct world *w, json_t *request)
{
    const int processes = processes_for(w, json_integer_value(json_object_get(request, "ranks")));
    int m = 0;

    while (m < MODELS && w->model[m].open)
        ++m;
    if (m == MODELS)
        return refuse(request, "broken", "too many models");
    char *failed = need_pool(w, processes), *text;

    if (has_failed(w, failed))
        return failed;
    text = relay(w, processes, request);
    return text ? keep_model(w, m, processes, text) : NULL;
}

static char *do_model(struct world *w, json_t *request)
{
    const json_int_t number = json_integer_value(json_object_get(request, "model"));
    const bool closes =
        strcmp(json_string_value(json_object_get(request, "op")), "model_close") == 0;
    struct model *model = number >= 0 && number < MODELS ? &w->model[number] : NULL;

    if (!model || !model->open)
        return refuse(request, "broken", "there is no such model");
    model->open = !closes;
    if (model->pool == 0)
        return closes ? nothing(request)
                      : refuse(request, "fault",
                               "a rank has failed, and the processes of this model have parted");
    if (json_object_set_new(request, "model", json_integer(model->number)))
        return lose(w, "no memory for a request");
    return relay(w, model->pool, request);
}

static char *answer_to(struct world *w, json_t *request)
{
    static const struct {
        const char *op;
        char *(*run)(struct world *w, json_t *request);
    } rows[] = {{"open", do_open},
                {"reset", do_reset},
                {"buckets", do_function},
                {"sampler", do_function},
                {"model_open", do_model_open},
                {"model_close", do_model},
                {"params", do_model},
                {"param", do_model},
                {"set", do_model},
                {"get", do_model},
                {"to", do_model},
                {"zero_grad", do_model},
                {"forward", do_model},
                {"backward", do_model},
                {"step", do_model}};
    const char *op = json_string_value(json_object_get(request, "op"));

    for (size_t i = 0; op && i < sizeof rows / sizeof rows[0]; ++i)
        if (strcmp(rows[i].op, op) == 0)
            return w->open || i == 0 ? rows[i].run(w, request)
                                     : refuse(request, "broken", "the session is not open");
    return refuse(request, "notsup", "ranks in processes have no such operation");
}

/* ---- the command ----------------------------------------------------------------------------- */

static int serve(struct world *w)
{
    char *line = NULL, *answer = NULL;
    size_t room = 0;
    bool good = true;

    while (good && getline(&line, &room, stdin) > 0) {
        json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

        answer = request ? answer_to(w, request) : NULL;
        good = answer && puts(answer) >= 0 && fflush(stdout) == 0;
        free(answer);
        json_decref(request);
    }
    good = good && !ferror(stdin);
    free(line);
    end_pools(w);
    json_decref(w->open);
    if (!good)
        fprintf(stderr, "\n%s\n",
                w->why[0] != '\0' ? w->why : "a request cannot be read or answered");
    return good ? EXIT_PASSED : EXIT_FAILED;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct world *w = state->input;
    struct text_error why = {""};
    int status = 0;

    switch (key) {
    case KEY_LAUNCHER:
        launcher_text(arg, w->launcher);
        return 0;
    case KEY_PROCESSES:
        status = option_size(arg, 2, MSG_PROCESSES, &w->processes, &why);
        break;
    case KEY_EACH:
        status = option_size(arg, 1, IMPL_MAX_DEVICES, &w->each, &why);
        break;
    case KEY_LIMIT:
        status = option_real(arg, 0.1, 86400, &w->limit, &why);
        break;
    default:
        return command_key(key, arg, state);
    }
    return status ? command_bad_option(state, "%s", why.text) : 0;
}

int world_main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {.name = "launcher", .key = KEY_LAUNCHER, .arg = "COMMAND"},
        {.name = "processes", .key = KEY_PROCESSES, .arg = "N"},
        {.name = "per-process", .key = KEY_EACH, .arg = "D"},
        {.name = "limit", .key = KEY_LIMIT, .arg = "SECONDS"},
        {0}};
    const struct argp argp = {
        .options = table, .parser = parse_option, .doc = "The ranks of check, in processes."};
    struct world *w = calloc(1, sizeof *w);
    int status = EXIT_MISUSE;

    if (!w)
        return EXIT_FAILED;
    w->processes = 2;
    if (command_parse(&argp, argc, argv, w) == 0 && w->launcher[0] != '\0' && w->limit > 0) {
        signal(SIGPIPE, SIG_IGN); /* if a launcher is gone, its output shows that */
        status = serve(w);
    }
    free(w);
    return status;
}
