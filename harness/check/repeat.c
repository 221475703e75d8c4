/* check/repeat.c: the command that repeats a case. */
#include <string.h>

#include "check/runner.h"

struct line {
    char *text;
    size_t used, bytes;
};

static void put(struct line *line, const char *text)
{
    const size_t n = strlen(text);

    if (line->used + n < line->bytes) {
        memcpy(line->text + line->used, text, n + 1);
        line->used += n;
    }
}

/* Puts the word into single quotes, unless no shell would change it. */
static void put_word(struct line *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,+=@%";
    char one[2] = "";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        put(line, word);
        return;
    }
    put(line, "'");
    for (; *word != '\0'; ++word) {
        one[0] = *word;
        put(line, *word == '\'' ? "'\\''" : one);
    }
    put(line, "'");
}

static void put_option(struct line *line, const char *name, const char *value)
{
    put(line, name);
    put_word(line, value);
}

static void put_number(struct line *line, const char *name, uint64_t value, bool given)
{
    char number[32];

    snprintf(number, sizeof number, "%llu", (unsigned long long)value);
    if (given)
        put_option(line, name, number);
}

void runner_command(const struct runner_options *options, const char *id,
                    char text[8 * RUNNER_TEXT])
{
    struct line line = {text, 0, (size_t)8 * RUNNER_TEXT};
    char number[32];

    text[0] = '\0';
    put_word(&line, options->program);
    put(&line, " check");
    if (options->spec.kind != IMPL_SPEC_REFERENCE)
        put_option(&line, " --impl ", options->impl);
    if (options->backend[0] != '\0')
        put_option(&line, " --backend ", options->backend);
    if (options->communicator[0] != '\0')
        put_option(&line, " --communicator ", options->communicator);
    if (options->impl_options[0] != '\0' && !options->has_backend)
        put_option(&line, " --impl-options ", options->impl_options);
    if (options->devices[0] != '\0')
        put_option(&line, " --devices ", options->devices);
    if (options->launcher[0] != '\0')
        put_option(&line, " --launcher ", options->launcher);
    put_number(&line, " --processes ", options->processes, options->processes > 0);
    put_number(&line, " --per-process ", options->per_process, options->per_process > 0);
    put_number(&line, " --seed ", options->seed, options->has_seed);
    if (options->same_process)
        put(&line, " --same-process");
    if (options->limit_s > 0) {
        snprintf(number, sizeof number, "%g", options->limit_s);
        put_option(&line, " --limit ", number);
    }
    put_option(&line, " --only ", id);
}
