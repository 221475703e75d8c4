/* serve_modes.c: ways in which an answer goes wrong. */
#include "serve_modes.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void write_line(const json_t *answer)
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

/* Puts another text into the place of "ok". */
static void instead(const json_t *answer, const char *rest)
{
    printf("{\"id\":%lld,%s}\n", (long long)id_of(answer), rest);
}

static void rubbish(json_t *answer)
{
    (void)answer;
    printf("Loading weights\x1b[31m... done\n");
}

static void half(json_t *answer)
{
    char *text = json_dumps(answer, JSON_COMPACT);

    fwrite(text, 1, strlen(text) / 2, stdout);
    fflush(stdout);
    free(text);
    stay();
}

static void half_and_die(json_t *answer)
{
    char *text = json_dumps(answer, JSON_COMPACT);

    fwrite(text, 1, strlen(text) / 2, stdout);
    fflush(stdout);
    free(text);
    _exit(0);
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
    write_line(answer);
}

static void text_id(json_t *answer)
{
    json_object_set_new(answer, "id", json_string("7"));
    write_line(answer);
}

static void no_ok(json_t *answer)
{
    json_object_del(answer, "ok");
    write_line(answer);
}

static void both(json_t *answer)
{
    json_object_set_new(answer, "error", json_object());
    write_line(answer);
}

static void empty_ok(json_t *answer)
{
    json_object_set_new(answer, "ok", json_object());
    write_line(answer);
}

static void a_list(json_t *answer)
{
    (void)answer;
    printf("[1,2,3]\n");
}

static void twice(json_t *answer)
{
    write_line(answer);
    write_line(answer);
}

/* The second line comes later, without a request. */
static void late_word(json_t *answer)
{
    const struct timespec pause = {.tv_nsec = 30000000};

    write_line(answer);
    fflush(stdout);
    nanosleep(&pause, NULL);
    printf("by the way\n");
}

static void not_a_number(json_t *answer)
{
    instead(answer, "\"ok\":{\"size\":[NaN]}");
}

static void overflow(json_t *answer)
{
    instead(answer, "\"ok\":{\"size\":[99999999999999999999]}");
}

static void digits(json_t *answer)
{
    instead(answer, "\"ok\":{\"size\":[\"99999999999999999999\"]}");
}

static void negative(json_t *answer)
{
    instead(answer, "\"ok\":{\"size\":[-1]}");
}

static void fraction(json_t *answer)
{
    instead(answer, "\"ok\":{\"size\":[2.0]}");
}

static void many(json_t *answer)
{
    json_t *list = json_array();

    for (int i = 0; i < 65; ++i)
        json_array_append_new(list, json_integer(1));
    json_object_set_new(json_object_get(answer, "ok"), "size", list);
    write_line(answer);
}

static void no_status(json_t *answer)
{
    instead(answer, "\"error\":{\"status\":\"sorry\",\"text\":\"x\"}");
}

static void ok_status(json_t *answer)
{
    instead(answer, "\"error\":{\"status\":\"ok\",\"text\":\"x\"}");
}

static void no_text(json_t *answer)
{
    instead(answer, "\"error\":{\"status\":\"shape\",\"text\":\"\"}");
}

static void silent(json_t *answer)
{
    (void)answer;
    stay();
}

static void close_output(json_t *answer)
{
    (void)answer;
    close(STDOUT_FILENO);
    stay();
}

static void leave(json_t *answer)
{
    (void)answer;
    _exit(0);
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
    write_line(answer);
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
    write_line(answer);
}

/* The first array is announced larger than it is, or is cut off. */
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

static void array_with(json_t *answer, const char *field, json_t *value)
{
    json_object_set_new(first_array(answer), field, value);
    write_line(answer);
}

static void wrong_sizes(json_t *answer)
{
    array_with(answer, "dims", json_pack("[i, i]", 7, 9));
}

static void overflowing_sizes(json_t *answer)
{
    array_with(answer, "dims",
               json_pack("[I, I, I]", (json_int_t)1 << 40, (json_int_t)1 << 40, (json_int_t)16));
}

static void many_dims(json_t *answer)
{
    array_with(answer, "dims", json_pack("[i, i, i, i, i, i]", 1, 1, 1, 1, 1, 1));
}

static void no_hex(json_t *answer)
{
    json_t *array = first_array(answer);
    char *text = strdup(json_string_value(json_object_get(array, "data")));

    text[1] = 'g';
    array_with(answer, "data", json_string(text));
    free(text);
}

static void no_dtype(json_t *answer)
{
    array_with(answer, "dtype", json_string("bf16"));
}

static void no_device(json_t *answer)
{
    array_with(answer, "device", json_integer((json_int_t)1 << 32));
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
    write_line(answer);
}

static const struct serve_mode modes[] = {
    {"rubbish", rubbish},
    {"half", half},
    {"half-and-die", half_and_die},
    {"gigabyte", gigabyte},
    {"bomb", bomb},
    {"nested", nested},
    {"wrong-id", wrong_id},
    {"text-id", text_id},
    {"no-ok", no_ok},
    {"both", both},
    {"empty-ok", empty_ok},
    {"list", a_list},
    {"twice", twice},
    {"late-word", late_word},
    {"nan", not_a_number},
    {"overflow", overflow},
    {"digits", digits},
    {"negative", negative},
    {"fraction", fraction},
    {"many", many},
    {"no-status", no_status},
    {"ok-status", ok_status},
    {"no-text", no_text},
    {"silent", silent},
    {"close", close_output},
    {"leave", leave},
    {"crash", crash},
    {"orphan", orphan},
    {"background", background},
    {"talkative", talkative},
    {"wrong-sizes", wrong_sizes},
    {"overflowing-sizes", overflowing_sizes},
    {"many-dims", many_dims},
    {"no-hex", no_hex},
    {"no-dtype", no_dtype},
    {"no-device", no_device},
    {"large", large},
};

enum { MODES = sizeof modes / sizeof modes[0] };

const struct serve_mode *serve_mode_of(const char *name)
{
    for (size_t i = 0; i < MODES; ++i)
        if (strcmp(modes[i].name, name) == 0)
            return &modes[i];
    return NULL;
}

void serve_list_modes(FILE *stream)
{
    for (size_t i = 0; i < MODES; ++i)
        fprintf(stream, " %s", modes[i].name);
    fputc('\n', stream);
}
