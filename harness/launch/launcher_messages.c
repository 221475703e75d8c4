/* launch/launcher_messages.c: messages as lines with a checksum, written and read; on which hosts
 * processes have begun; and which process has not sent its last message. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"
#include "launch/launcher.h"
#include "text/alloc.h"

static const char mark[] = "lockstep-says-1 ";
static const char *const words[MSG_KINDS] = {"begun", "part", "read", "answer", "ended", "told"};

/* FNV-1a of all that a message is. */
static uint32_t checksum(int process, unsigned number, const char *rest, size_t length)
{
    const unsigned char *byte = (const unsigned char *)rest;
    uint32_t hash = 2166136261U;

    hash = (hash ^ (uint32_t)process) * 16777619U;
    hash = (hash ^ number) * 16777619U;
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ byte[i]) * 16777619U;
    return hash;
}

/* ---- writing --------------------------------------------------------------------------------- */

int message_send(struct message_sender *speaker, enum message_kind word, const char *text)
{
    const char *const end = text + (word == MSG_PART ? strlen(text) : strcspn(text, "\n"));
    int status;

    do {
        char rest[MSG_TEXT_BYTES + 16], line[sizeof rest + 64];
        const size_t left = (size_t)(end - text);
        const size_t length = left < MSG_TEXT_BYTES - 1 ? left : MSG_TEXT_BYTES - 1;
        const int n = snprintf(rest, sizeof rest, "%s %.*s", words[word], (int)length, text);
        const size_t used = (size_t)n < sizeof rest ? (size_t)n : sizeof rest - 1;
        /* Begins with a line break: half a line that was printed before does not spoil this one. */
        const int all = snprintf(line, sizeof line, "\n%s%d %u %08" PRIx32 " %s\n", mark,
                                 speaker->process, speaker->number,
                                 checksum(speaker->process, speaker->number, rest, used), rest);

        ++speaker->number;
        status = whole_write(speaker->fd, line, (size_t)all);
        text += length;
    } while (status == 0 && word == MSG_PART && text < end);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* 1: it is a whole message, and taken; 0: it is none; -1 and why. */
static int take_message(const char *line, const char *end, struct launcher_messages *messages,
                        struct text_error *why)
{
    uint32_t process, number, sum;
    const char *at = line + sizeof mark - 1;
    int used = 0;

    if (sscanf(at, "%9" SCNu32 " %9" SCNu32 " %8" SCNx32 " %n", &process, &number, &sum, &used) < 3)
        return 0;
    at += used;
    if (checksum((int)process, number, at, (size_t)(end - at)) != sum)
        return 0;
    if (process == MSG_UNKNOWN_PROCESS) {
        const size_t word = strlen(words[MSG_ENDED]) + 1;

        if ((size_t)(end - at) > word && memcmp(at, words[MSG_ENDED], word - 1) == 0)
            snprintf(messages->nobody, sizeof messages->nobody, "%.*s",
                     (int)((size_t)(end - at) - word), at + word);
        return 1;
    }
    if (process >= (uint32_t)messages->n)
        return text_fail(why, "there is a process %" PRIu32 ", but %d were asked for", process,
                         messages->n);
    struct launcher_process *from = &messages->process[process];

    if (number != from->number)
        return text_fail(why, "message %" PRIu32 " of process %" PRIu32 " comes where %u has to",
                         number, process, from->number);
    char *const places[MSG_KINDS] = {[MSG_BEGUN] = from->library,
                                     [MSG_ANSWER] = from->answer,
                                     [MSG_ENDED] = from->ended,
                                     [MSG_ABORT] = from->told};

    ++from->number;
    for (int word = 0; word < MSG_KINDS; ++word) {
        const size_t length = strlen(words[word]);

        if ((size_t)(end - at) <= length || memcmp(at, words[word], length) != 0 ||
            at[length] != ' ')
            continue;
        at += length + 1;
        from->has[word] = true;
        if (word == MSG_PART) {
            const size_t bytes = (size_t)(end - at);

            from->parts = cli_resize(from->parts, from->length + bytes + 1, 1);
            memcpy(from->parts + from->length, at, bytes);
            from->length += bytes;
            from->parts[from->length] = '\0';
        } else if (word == MSG_READ) {
            from->read = strtoull(at, NULL, 10);
        } else {
            int library = 0;

            if (word == MSG_BEGUN)
                (void)sscanf(at, "%255[^ ] %ld %n", from->host, &from->pid, &library);
            at += library;
            snprintf(places[word], MSG_TEXT_BYTES, "%.*s", (int)(end - at), at);
        }
        return 1;
    }
    return text_fail(why, "a message of process %" PRIu32 " cannot be kept", process);
}

static const char *find_last(const char *line, const char *end)
{
    const char *found = NULL;

    for (const char *at = line; (at = strstr(at, mark)) && at < end; ++at)
        found = at;
    return found;
}

/* A line of another process may stand within one: the rest of the outer one follows it. */
static int take_line(struct launcher_messages *messages, const char *line, size_t length,
                     struct text_error *why)
{
    char **broken = &messages->broken;
    const char *inner = find_last(line, line + length);
    int status = inner ? take_message(inner, line + length, messages, why) : 0;

    if (status < 0)
        return -1;
    const size_t left = status > 0 ? (size_t)(inner - line) : length;
    const size_t before = *broken ? strlen(*broken) : 0;
    char *whole = cli_bytes(before + left + 1);

    memcpy(whole, *broken ? *broken : "", before);
    memcpy(whole + before, line, left);
    whole[before + left] = '\0';
    free(*broken);
    *broken = NULL;
    const char *outer = find_last(whole, whole + before + left);
    const size_t all = before + left, tail = sizeof mark - 1;

    if (!outer) /* the mark itself may be cut */
        *broken = cli_copy_text(whole + (all > tail ? all - tail : 0));
    else if ((status = take_message(outer, whole + before + left, messages, why)) == 0 &&
             strlen(outer) < MSG_TEXT_BYTES + 80)
        *broken = cli_copy_text(outer);
    free(whole);
    return status < 0 ? -1 : 0;
}

void launcher_messages_take(struct launcher_messages *messages, struct program *launcher,
                            struct text_error *why)
{
    char *line = launcher->text, *end;

    while (line && (end = memchr(line, '\n', launcher->length))) {
        *end = '\0';
        if (why->text[0] == '\0')
            (void)take_line(messages, line, (size_t)(end - line), why);
        launcher->length -= (size_t)(end + 1 - line);
        line = end + 1;
    }
    if (line)
        memmove(launcher->text, line, launcher->length);
}

void launcher_answer_taken(struct launcher_process *process)
{
    free(process->parts);
    process->parts = NULL;
    process->length = 0;
    process->has[MSG_PART] = process->has[MSG_ANSWER] = false;
}

void launcher_messages_free(struct launcher_messages *messages)
{
    for (int p = 0; p < messages->n; ++p)
        free(messages->process[p].parts);
    free(messages->broken);
    *messages = (struct launcher_messages){.n = 0};
}

int launcher_hosts(const struct launcher_messages *messages, int each, char ranks[], size_t bytes)
{
    const char *host[MSG_PROCESSES];
    int has[MSG_PROCESSES] = {0}, hosts = 0;
    size_t used = 0;

    for (int p = 0; p < messages->n; ++p) {
        const struct launcher_process *process = &messages->process[p];
        int h = 0;

        if (!process->has[MSG_BEGUN])
            return 0;
        while (h < hosts && strcmp(host[h], process->host) != 0)
            ++h;
        hosts += h == hosts;
        host[h] = process->host;
        has[h] += each;
    }
    for (int h = 0; h < hosts && used < bytes; ++h)
        used += (size_t)snprintf(ranks + used, bytes - used, "%s%d", h > 0 ? "," : "", has[h]);
    return hosts;
}

/* ---- processes that are silent --------------------------------------------------------------- */

/* "process 1 of 2 (host H, process 4711)" */
void launcher_process_name(const struct launcher_messages *messages, int p,
                           char text[MSG_NAME_BYTES])
{
    const struct launcher_process *process = &messages->process[p];

    snprintf(text, MSG_NAME_BYTES, "process %d of %d", p, messages->n);
    if (process->has[MSG_BEGUN])
        text_add(text, MSG_NAME_BYTES, " (host %.64s, process %ld)", process->host, process->pid);
}

int first_failed_process(const struct launcher_messages *messages, const char *well)
{
    int found = -1;

    for (int p = messages->n - 1; p >= 0; --p) {
        const struct launcher_process *process = &messages->process[p];
        const bool failed =
            process->has[MSG_ENDED] && strncmp(process->ended, well, strlen(well)) != 0;

        if (failed && (found < 0 || !strstr(process->ended, " has given up")))
            found = p;
    }
    return found;
}

int first_unfinished_process(const struct launcher_messages *messages, char *text, size_t bytes)
{
    enum silence { SILENT_BEGUN, SILENT_ALWAYS, SILENT_TOLD, SILENCES };
    static const char *const silences[SILENCES] = {
        [SILENT_BEGUN] = "has begun, and neither ended nor was told to end",
        [SILENT_ALWAYS] = "has not begun",
        [SILENT_TOLD] = "was told to end"};
    int first[SILENCES], alike[SILENCES] = {0}, kind = 0;
    char name[MSG_NAME_BYTES];

    for (int p = messages->n - 1; p >= 0; --p) {
        const bool *has = messages->process[p].has;
        const enum silence silence = has[MSG_ABORT]   ? SILENT_TOLD
                                     : has[MSG_BEGUN] ? SILENT_BEGUN
                                                      : SILENT_ALWAYS;

        if (has[MSG_ENDED])
            continue;
        first[silence] = p;
        ++alike[silence];
    }
    while (kind < SILENCES && alike[kind] == 0)
        ++kind;
    if (kind == SILENCES)
        return -1;
    launcher_process_name(messages, first[kind], name);
    snprintf(text, bytes, "%s %s%s%s", name, silences[kind], kind == SILENT_TOLD ? " " : "",
             kind == SILENT_TOLD ? messages->process[first[kind]].told : "");
    if (alike[kind] > 1)
        text_add(text, bytes, ", and %d more", alike[kind] - 1);
    return first[kind];
}
