/* serve.c: lockstep_serve IMPLEMENTATION [MODE [OPERATION]]: answers requests on standard input
 * with any implementation that --impl knows. MODE says how it misbehaves at that operation
 * (default: split), see the modes below; without a mode it is a good process. */
#include "serve.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- ways in which an answer goes wrong ------------------------------------------------------ */

struct serve_mode {
    const char *name;
    /* One of these takes the place of the answer, which is right. */
    const char *line;                  /* a whole line */
    const char *rest;                  /* what follows the id */
    const char *array;                 /* members that the first array of the answer gets */
    void (*misbehave)(json_t *answer); /* writes something itself */
    bool dies;                         /* the process ends after it */
    bool stays;                        /* the process says nothing more after it */
};

static void write_answer(const json_t *answer)
{
    json_dumpf(answer, stdout, JSON_COMPACT);
    putchar('\n');
}

static _Noreturn void stay(void)
{
    for (;;)
        pause();
}

static json_int_t id_of(const json_t *answer)
{
    return json_integer_value(json_object_get(answer, "id"));
}

/* The rest of the line never comes. */
static void half(json_t *answer)
{
    char *text = json_dumps(answer, JSON_COMPACT);

    fwrite(text, 1, strlen(text) / 2, stdout);
    fflush(stdout);
    free(text);
}

/* Writes more than a gigabyte if it is not stopped. */
static void gigabyte(json_t *answer)
{
    static const char piece[65536];

    (void)answer;
    for (int i = 0; i < 1 << 15; ++i)
        if (fwrite(piece, 1, sizeof piece, stdout) != sizeof piece)
            _exit(0);
}

/* Small lists cost more memory than text. */
static void bomb(json_t *answer)
{
    printf("{\"id\":%lld,\"ok\":{\"size\":[", (long long)id_of(answer));
    for (int i = 0; i < 1 << 24; ++i)
        fputs("[],", stdout);
    printf("[]]}}\n");
}

static void nested(json_t *answer)
{
    printf("{\"id\":%lld,\"ok\":", (long long)id_of(answer));
    for (int i = 0; i < 100000; ++i)
        putchar('[');
    putchar('\n');
}

static void wrong_id(json_t *answer)
{
    json_object_set_new(answer, "id", json_integer(id_of(answer) + 1));
    write_answer(answer);
}

static void twice(json_t *answer)
{
    write_answer(answer);
    write_answer(answer);
}

/* The second line comes later, without a request. */
static void late_word(json_t *answer)
{
    const struct timespec pause = {.tv_nsec = 30000000};

    write_answer(answer);
    fflush(stdout);
    nanosleep(&pause, NULL);
    printf("by the way\n");
}

static void many(json_t *answer)
{
    json_t *list = json_array();

    for (int i = 0; i < 65; ++i)
        json_array_append_new(list, json_integer(1));
    json_object_set_new(json_object_get(answer, "ok"), "size", list);
    write_answer(answer);
}

static void close_output(json_t *answer)
{
    (void)answer;
    close(STDOUT_FILENO);
    stay();
}

static void crash(json_t *answer)
{
    (void)answer;
    fprintf(stderr, "first line\nRuntimeError: device 3 fell off the bus\n");
    signal(SIGSEGV, SIG_DFL); /* a sanitizer may have its own handler */
    raise(SIGSEGV);
}

/* Another process keeps the pipes open. */
static void orphan(json_t *answer)
{
    (void)answer;
    if (fork() == 0)
        stay();
    _exit(5);
}

/* The answer is good, but a process is left; not each time, because there are cases with thousands
 * of calls. */
static void background(json_t *answer)
{
    if (id_of(answer) < 5 && fork() == 0)
        stay();
    write_answer(answer);
}

/* The answer is good, though it writes a lot where it may. */
static void talkative(json_t *answer)
{
    enum { BLOCK = 32768 };
    static const char line[] = "a line of a log, one of very many that nobody will ever read\n";
    char *block = malloc(BLOCK + sizeof line);
    size_t length = 0;

    for (; length < BLOCK; length += sizeof line - 1)
        memcpy(block + length, line, sizeof line);
    for (int i = 0; i < 300; ++i)
        fwrite(block, 1, length, stderr);
    free(block);
    write_answer(answer);
}

static json_t *first_array(json_t *value)
{
    json_t *found = json_object_get(value, "dims") ? value : NULL;
    const char *key;
    json_t *inner;
    size_t i;

    json_object_foreach(value, key, inner) if (!found) found = first_array(inner);
    json_array_foreach(value, i, inner) if (!found) found = first_array(inner);
    return found;
}

/* The answer is well formed, and too large for any reader. */
static void large(json_t *answer)
{
    enum { COUNT = 20000 };
    char *text = malloc((size_t)8 * COUNT + 1);
    json_t *array = first_array(answer);

    memset(text, '0', (size_t)8 * COUNT);
    text[8 * COUNT] = '\0';
    json_object_set_new(array, "dtype", json_string("f32"));
    json_object_set_new(array, "dims", json_pack("[i]", COUNT));
    json_object_set_new(array, "data", json_string(text));
    free(text);
    write_answer(answer);
}

static const struct serve_mode modes[] = {
    /* other lines */
    {"rubbish", .line = "Loading weights\x1b[31m... done"},
    {"list", .line = "[1,2,3]"},
    {"text-id", .line = "{\"id\":\"7\",\"ok\":{}}"},
    {"wrong-id", .misbehave = wrong_id},
    {"no-ok", .rest = "}"},
    {"both", .rest = ",\"ok\":{},\"error\":{}}"},
    {"empty-ok", .rest = ",\"ok\":{}}"},
    {"nan", .rest = ",\"ok\":{\"size\":[NaN]}}"},
    {"overflow", .rest = ",\"ok\":{\"size\":[99999999999999999999]}}"},
    {"digits", .rest = ",\"ok\":{\"size\":[\"99999999999999999999\"]}}"},
    {"negative", .rest = ",\"ok\":{\"size\":[-1]}}"},
    {"fraction", .rest = ",\"ok\":{\"size\":[2.0]}}"},
    {"no-status", .rest = ",\"error\":{\"status\":\"sorry\",\"text\":\"x\"}}"},
    {"ok-status", .rest = ",\"error\":{\"status\":\"ok\",\"text\":\"x\"}}"},
    {"no-text", .rest = ",\"error\":{\"status\":\"shape\",\"text\":\"\"}}"},
    {"many", .misbehave = many},
    /* arrays that are announced larger than they are, or are cut off, or are none */
    {"wrong-sizes", .array = "{\"dims\":[7,9]}"},
    {"overflowing-sizes", .array = "{\"dims\":[1099511627776,1099511627776,16]}"},
    {"many-dims", .array = "{\"dims\":[1,1,1,1,1,1]}"},
    {"no-hex", .array = "{\"dims\":[2],\"data\":\"0g00803f00000040\"}"},
    {"no-dtype", .array = "{\"dtype\":\"bf16\"}"},
    {"no-device", .array = "{\"device\":4294967296}"},
    {"large", .misbehave = large},
    /* not one line */
    {"half", .misbehave = half, .stays = true},
    {"half-and-die", .misbehave = half, .dies = true},
    {"gigabyte", .misbehave = gigabyte},
    {"bomb", .misbehave = bomb},
    {"nested", .misbehave = nested},
    {"twice", .misbehave = twice},
    {"late-word", .misbehave = late_word},
    /* processes */
    {"silent", .stays = true},
    {"leave", .dies = true},
    {"close", .misbehave = close_output},
    {"crash", .misbehave = crash},
    {"orphan", .misbehave = orphan},
    {"background", .misbehave = background},
    {"talkative", .misbehave = talkative},
};

enum { MODES = sizeof modes / sizeof modes[0] };

static const struct serve_mode *serve_mode_of(const char *name)
{
    for (size_t i = 0; i < MODES; ++i)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}

static void serve_list_modes(FILE *stream)
{
    for (size_t i = 0; i < MODES; ++i)
        fprintf(stream, " %s", modes[i].name);
    fputc('\n', stream);
}

static void serve_misbehave(const struct serve_mode *mode, json_t *answer)
{
    json_t *change = mode->array ? json_loads(mode->array, 0, NULL) : NULL;

    if (mode->line) {
        puts(mode->line);
    } else if (mode->rest) {
        printf("{\"id\":%lld%s\n", (long long)id_of(answer), mode->rest);
    } else if (change) {
        json_object_update(first_array(answer), change);
        json_decref(change);
        write_answer(answer);
    } else if (mode->misbehave) {
        mode->misbehave(answer);
    }
    fflush(stdout);
    if (mode->dies)
        _exit(0);
    if (mode->stays)
        stay();
}

/* ---- serving -------------------------------------------------------------------------------- */

/* Memory for results is large and mostly stays empty. A separate mapping costs only the pages that
 * are written; from the heap, all of it would be cleared each time. */
enum { MAPPED_BYTES = 64 * 1024 };

static void answer_all(struct serve *s, const struct serve_mode *mode, const char *at)
{
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        json_t *request = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        const char *op = json_string_value(json_object_get(request, "op"));
        json_t *answer = !request ? NULL : serve_answer(s, request);

        if (!answer)
            exit(3); /* not a request */
        if (mode && op && strcmp(op, at) == 0) {
            serve_misbehave(mode, answer);
        } else {
            json_dumpf(answer, stdout, JSON_COMPACT);
            putchar('\n');
        }
        fflush(stdout);
        json_decref(answer);
        json_decref(request);
    }
    free(line);
}

int main(int argc, char **argv)
{
    struct serve serve;
    const struct serve_mode *mode = argc > 2 ? serve_mode_of(argv[2]) : NULL;
    char reason[600];

    memset(&serve, 0, sizeof serve);
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    if (argc < 2 || argc > 4 || (argc > 2 && !mode)) {
        fprintf(stderr, "usage: lockstep_serve IMPLEMENTATION [MODE [OPERATION]]; modes:");
        serve_list_modes(stderr);
        return 2;
    }
    if (impl_load(argv[1], "", &serve.source, reason) != 0) {
        fprintf(stderr, "lockstep_serve: %s\n", reason);
        return 2;
    }
    answer_all(&serve, mode, argc > 3 ? argv[3] : "split");
    if (serve.session)
        serve.source.ops->close(serve.session);
    return 0;
}
