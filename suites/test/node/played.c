/* played.c: reads the file, and gives its values one after the other. */
#include "played.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 16, LINES = 400, VALUES = 8, NAME = 40, TEXT = 128 };

struct played_gpu {
    int index;
};

static struct line {
    int gpu; /* -1: of all */
    char name[NAME], text[TEXT];
    char value[VALUES][NAME + 8];
    int n, calls[GPUS + 1];
} lines[LINES];
static int n_lines, n_gpus;
static struct played_gpu gpus[GPUS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void played_fail(const char *what, const char *line)
{
    fprintf(stderr, "played NVML: %s: %s\n", what, line);
    abort();
}

static void played_copy(char *to, size_t room, const char *text)
{
    const size_t length = strlen(text);

    if (length >= room)
        played_fail("too long", text);
    memcpy(to, text, length + 1);
}

static void played_take(char *text)
{
    struct line *line = &lines[n_lines];
    char *rest = text + strcspn(text, " ");

    if (n_lines == LINES)
        played_fail("too many lines", text);
    *rest = '\0';
    rest += 1 + strspn(rest + 1, " ");
    *line = (struct line){.gpu = n_gpus - 1};
    played_copy(line->name, NAME, text);
    played_copy(line->text, TEXT, rest);
    for (char *word = strtok(rest, " "); word && line->n < VALUES; word = strtok(NULL, " "))
        played_copy(line->value[line->n++], sizeof line->value[0], word);
    ++n_lines;
}

int played_start(void)
{
    const char *path = getenv("LOCKSTEP_PLAYED_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char text[256];

    if (!file)
        return 9; /* no driver */
    n_lines = n_gpus = 0;
    while (fgets(text, sizeof text, file)) {
        text[strcspn(text, "#\n")] = '\0';
        for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; --n)
            text[n - 1] = '\0';
        if (strcmp(text, "gpu") == 0 && n_gpus < GPUS) {
            gpus[n_gpus].index = n_gpus;
            ++n_gpus;
        } else if (text[0] != '\0') {
            strcat(text, " ");
            played_take(text);
        }
    }
    fclose(file);
    return 0;
}

int played_count(void)
{
    return n_gpus;
}

struct played_gpu *played_gpu(unsigned index)
{
    return index < (unsigned)n_gpus ? &gpus[index] : NULL;
}

/* Finds the line of the GPU itself, or else that of all. */
static struct line *played_find(const struct played_gpu *gpu, const char *name)
{
    struct line *found = NULL;

    for (int i = 0; i < n_lines; ++i)
        if (strcmp(lines[i].name, name) == 0 &&
            (lines[i].gpu == -1 ? !found : gpu && lines[i].gpu == gpu->index))
            found = &lines[i];
    return found;
}

static int played_next(const struct played_gpu *gpu, struct line *line, unsigned long long *value)
{
    int *calls = &line->calls[gpu ? gpu->index : GPUS];
    const char *word = line->value[*calls < line->n ? *calls : line->n - 1];
    char *end;

    *calls += *calls < line->n;
    if (line->n == 0 || strcmp(word, "-") == 0)
        return 3;
    if (word[0] == '!')
        return atoi(word + 1);
    *value = strtoull(word, &end, 0);
    if (*end != '\0')
        played_fail("no number", line->text);
    return 0;
}

int played_number(const struct played_gpu *gpu, const char *name, unsigned long long *value)
{
    struct line *line = played_find(gpu, name);
    int status = 3;

    pthread_mutex_lock(&lock);
    if (line)
        status = played_next(gpu, line, value);
    pthread_mutex_unlock(&lock);
    return status;
}

int played_text(const struct played_gpu *gpu, const char *name, char *text, unsigned bytes)
{
    const struct line *line = played_find(gpu, name);

    if (!line || strcmp(line->text, "-") == 0)
        return 3;
    snprintf(text, bytes, "%.*s", (int)strcspn(line->text, "\n"), line->text);
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; --n)
        text[n - 1] = '\0';
    return 0;
}
