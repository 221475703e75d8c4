/* proxy_bad.c: each way in which a process can be bad, and the one line of its error. */
#include "proxy.h"

#include <string.h>
#include <time.h>

/* The mode of lockstep_serve, the words of the error, and whether scatter is the operation. */
struct bad {
    const char *mode;
    const char *part; /* of the text; NULL: it is no fault */
    bool scatter;
    int status; /* 0: IMPL_EBROKEN */
};

static const struct bad bads[] = {
    {"rubbish", "split: the answer is not a JSON object: 'Loading weights?[31m... done'", false, 0},
    {"half", "split: only half a line within 0.3 s: '{\"id\":2,\"", false, 0},
    {"half-and-die", "split: the process ended in the middle of a line: '{\"id\"", false, 0},
    {"gigabyte", "split: wrote more than the 1048576 bytes that an answer can have: '???", false,
     0},
    {"bomb", "split: wrote more than the 1048576 bytes", false, 0},
    {"nested", "split: the answer is not a JSON object: '{\"id\":2,\"ok\":[[[[", false, 0},
    {"wrong-id", "split: the answer does not have the id 2 of the request: '{\"id\":3,", false, 0},
    {"text-id", "split: the answer does not have the id 2 of the request", false, 0},
    {"no-ok", "split: the answer must have one of 'ok' and 'error': '{\"id\":2}'", false, 0},
    {"both", "split: the answer must have one of 'ok' and 'error'", false, 0},
    {"empty-ok", "split: 'size' is missing", false, 0},
    {"list", "split: the answer is not a JSON object: '[1,2,3]'", false, 0},
    {"twice", "split: wrote more than one line: '{\"id\":2,", false, 0},
    {"nan", "split: the answer is not a JSON object", false, 0},
    {"overflow", "split: the answer is not a JSON object", false, 0},
    {"digits", "split: size is not an integer of 0 or more", false, 0},
    {"negative", "split: size is not an integer of 0 or more", false, 0},
    {"fraction", "split: size is not an integer of 0 or more", false, 0},
    {"many", "more than there is room for", false, IMPL_EROOM},
    {"no-status", "split: error.status 'sorry' is not a status", false, 0},
    {"ok-status", "split: error.status 'ok' is not a status", false, 0},
    {"no-text", "split: error.text is empty", false, 0},
    {"silent", "split: no answer within 0.3 s", false, 0},
    {"close", "split: the process closed its output without an answer", false, 0},
    {"leave", "split: the process ended with status 0", false, 0},
    {"crash", "its last words: RuntimeError: device 3 fell off the bus", false, 0},
    {"orphan", "split: the process ended with status 5", false, 0},
    {"background", NULL, false, 0},
    {"talkative", NULL, false, 0},
    {"wrong-sizes", "scatter: shards[0].data has 16 digits, the dims and dtype need 2 times 252",
     true, 0},
    {"overflowing-sizes", "scatter: shards[0].data has 16 digits, the dims", true, 0},
    {"many-dims", "scatter: shards[0].dims has 6 entries, it may have 5", true, 0},
    {"no-hex", "scatter: shards[0].data has a character that is not a hexadecimal digit", true, 0},
    {"no-dtype", "scatter: shards[0].dtype 'bf16' is not a type", true, 0},
    {"no-device", "scatter: shards[0].device is 4294967296, it must be -1..63", true, 0},
    {"large", "more than there is room for", true, IMPL_EROOM},
};

static int call(const struct impl_source *source, struct impl_session *session, bool scatter,
                struct impl_error *err)
{
    static const int device = 0;
    float in[] = {1, 2}, out[16];
    const struct impl_array input = {.data = in, .dtype = IMPL_F32, .ndim = 1, .dim = {2}};
    struct impl_array shard = {.data = out, .capacity = sizeof out};
    struct impl_scatter op = {.input = &input, .devices = &device, .n = 1, .shards = &shard};
    struct impl_split split = {.rows = 10, .devices = 4};

    memset(err, 0, sizeof *err);
    return scatter ? source->ops->scatter(session, &op, err)
                   : source->ops->split(session, &split, err);
}

/* A session that broke fails at once, in the same words, and can be closed. */
static void stays_dead(struct proxy_tally *tally, const char *mode,
                       const struct impl_source *source, struct impl_session *session,
                       const struct impl_error *first)
{
    struct timespec before, after;
    struct impl_error err;
    struct impl_model *model;

    clock_gettime(CLOCK_MONOTONIC, &before);
    proxy_expect(tally,
                 call(source, session, true, &err) == IMPL_EBROKEN &&
                     strcmp(err.text, first->text) == 0,
                 "%s: afterwards: '%s'", mode, err.text);
    proxy_expect(tally, source->ops->reset(session, &err) == IMPL_EBROKEN, "%s: reset succeeds",
                 mode);
    proxy_expect(tally, source->ops->model_open(session, "", 1, &model, &err) == IMPL_EBROKEN,
                 "%s: model_open succeeds", mode);
    clock_gettime(CLOCK_MONOTONIC, &after);
    proxy_expect(tally, after.tv_sec - before.tv_sec < 2, "%s: a dead session takes its time",
                 mode);
}

static void one(struct proxy_tally *tally, const struct proxy_paths *paths, const struct bad *bad)
{
    const int wanted = !bad->part ? IMPL_OK : bad->status == 0 ? IMPL_EBROKEN : bad->status;
    struct impl_source source;
    struct impl_about about;
    struct impl_session *session;
    struct impl_error err;
    char spec[2048];
    int status;

    snprintf(spec, sizeof spec, "exec@%s:exec '%s' '%s' %s %s",
             bad->part != NULL && strstr(bad->part, "within 0.3 s") ? "0.3" : "10", paths->serve,
             paths->echo, bad->mode, bad->scatter ? "scatter" : "split");
    session = proxy_open(tally, spec, "", &source, &about);
    if (!session)
        return;
    status = call(&source, session, bad->scatter, &err);
    proxy_expect(tally, status == wanted && (!bad->part || strstr(err.text, bad->part)),
                 "%s: status %d, '%s', wanted '%s'", bad->mode, status, err.text,
                 bad->part == NULL ? "" : bad->part);
    if (wanted == IMPL_EBROKEN)
        stays_dead(tally, bad->mode, &source, session, &err);
    else
        proxy_expect(tally, source.ops->reset(session, &err) == IMPL_OK, "%s: %s", bad->mode,
                     err.text);
    source.ops->close(session);
}

/* A line that is written after the answer is found with the next request. On a busy machine both
 * may be there before the answer is read, and the error says so: then it returns false, to be tried
 * again. */
static bool late_word_once(struct proxy_tally *tally, const char *spec)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    struct impl_source source;
    struct impl_about about;
    struct impl_error err;
    struct impl_session *session = proxy_open(tally, spec, "", &source, &about);
    bool apart = true;

    if (!session)
        return true;
    if (call(&source, session, false, &err) != IMPL_OK) {
        apart = !strstr(err.text, "split: wrote more than one line: 'by the way");
        proxy_expect(tally, !apart, "late-word: %s", err.text);
    } else {
        nanosleep(&pause, NULL);
        proxy_expect(tally,
                     call(&source, session, false, &err) == IMPL_EBROKEN &&
                         strstr(err.text, "split: wrote without being asked: 'by the way"),
                     "late-word: '%s'", err.text);
    }
    source.ops->close(session);
    return apart;
}

static void late_word(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    enum { ATTEMPTS = 20 };
    char spec[2048];
    bool apart = false;

    snprintf(spec, sizeof spec, "exec@2:'%s' '%s' late-word", paths->serve, paths->echo);
    for (int i = 0; i < ATTEMPTS && !apart; ++i)
        apart = late_word_once(tally, spec);
    proxy_expect(tally, apart, "late-word: always read with the answer, %d times", ATTEMPTS);
}

struct start {
    const char *command, *part;
};

/* Commands that are no implementation. */
static void at_start(struct proxy_tally *tally)
{
    static const struct start starts[] = {
        {"exit 3", "open: the process ended with status 3"},
        {"true", "open: the process ended with status 0"},
        {"no-such-command-here",
         "open: the process ended with status 127; its last words: sh: 1: "},
        {"sh -c 'echo no licence >&2; kill -SEGV $$'; exit $?",
         "open: the process died of signal 11 (Segmentation fault); its last words: no licence"},
        {"kill -SEGV $$", "open: the process died of signal 11"},
        {"echo hello; cat >/dev/null", ": 'hello"},
        {"cat", "open: the answer must have one of 'ok' and 'error'"},
        {"read x; echo '{\"id\":1,\"ok\":{}}'; cat", "open: 'name' is missing"},
        {"read x; echo '{\"id\":1,\"ok\":{\"name\":7}}'; cat", "open: name is not a text"},
        {"read x; echo '{\"id\":1,\"ok\":{\"name\":\"n\",\"version\":\"1\",\"devices\":[],"
         "\"capabilities\":[\"spilt\"],\"dialects\":{}}}'; cat",
         "open: capabilities[0] 'spilt' is not a capability"},
        {"read x; echo '{\"id\":1,\"ok\":{\"name\":\"n\",\"version\":\"1\",\"devices\":2,"
         "\"capabilities\":[],\"dialects\":{}}}'; cat",
         "open: devices is not a list of at most 64 names"},
        {"read x; echo '{\"id\":1,\"ok\":{\"name\":\"n\",\"version\":\"1\",\"devices\":[],"
         "\"capabilities\":[],\"dialects\":{\"empty_ids\":\"zero\"}}}'; cat",
         "open: dialects.empty_ids 'zero' is none of: refuse, all, call"},
        {"read x; echo '{\"id\":1,\"error\":{\"status\":\"nodev\",\"text\":\"no \\u001b[2J "
         "gpu\"}}';"
         " cat",
         "no ?[2J gpu"},
    };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
        struct impl_source source;
        struct impl_about about;
        struct impl_session *session = NULL;
        struct impl_error err = {.status = IMPL_OK};
        char spec[600], reason[600] = "";
        int status = IMPL_OK;

        snprintf(spec, sizeof spec, "exec:%s", starts[i].command);
        if (impl_load(spec, "", &source, reason) == 0) {
            const struct impl_config config = {"", source.options, false, 0};
            status = source.ops->open(&config, &about, &session, &err);
        }
        proxy_expect(tally, status != IMPL_OK && !session && strstr(err.text, starts[i].part),
                     "%s: status %d, '%s%s', wanted '%s'", spec, status, err.text, reason,
                     starts[i].part);
    }
}

void proxy_bad(struct proxy_tally *tally, const struct proxy_paths *paths)
{
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; ++i)
        one(tally, paths, &bads[i]);
    late_word(tally, paths);
    at_start(tally);
}
