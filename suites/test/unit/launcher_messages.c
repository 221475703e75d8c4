/* launcher_messages.c: messages of processes are read from a launcher that mixes, cuts and adds
 * lines. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launcher.h"

enum { LONG = 5000, ROOM = 32768 };

/* Writes the output of two processes; the first also prints a long text. */
static size_t speak(char text[ROOM], const char *record)
{
    int ends[2];
    cr_assert(pipe(ends) == 0);
    struct message_sender speaker[2] = {{ends[1], 0, 0}, {ends[1], 1, 0}};
    cr_assert(message_send(&speaker[0], MSG_BEGUN, "h1 10 An MPI") == 0);
    cr_assert(message_send(&speaker[1], MSG_BEGUN, "h2 11 An MPI") == 0);
    cr_assert(message_send(&speaker[0], MSG_PART, record) == 0);
    cr_assert(message_send(&speaker[1], MSG_ABORT, "by SIGTERM") == 0);
    cr_assert(message_send(&speaker[0], MSG_ENDED, "ok ") == 0);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n = 1; n > 0; used += (size_t)n)
        n = read(ends[0], text + used, ROOM - 1 - used);
    close(ends[0]);
    text[used] = '\0';
    return used;
}

static char *long_text(void)
{
    char *record = malloc(LONG + 1);
    cr_assert(record);
    for (int i = 0; i < LONG; ++i)
        record[i] = (char)('a' + i % 23);
    record[LONG] = '\0';
    return record;
}

/* Takes all lines of a text, as of a launcher. Returns 0, or -1 and why. */
static int take_text(const char *text, int n, struct launcher_messages *messages,
                     struct text_error *why)
{
    struct program launcher = {.text = strdup(text), .length = strlen(text)};

    *messages = (struct launcher_messages){.n = n};
    why->text[0] = '\0';
    launcher_messages_take(messages, &launcher, why);
    cr_assert(!memchr(launcher.text, '\n', launcher.length));
    free(launcher.text);
    return why->text[0] == '\0' ? 0 : -1;
}

static void expect_all(const char *text, const char *record)
{
    struct launcher_messages messages;
    struct text_error why = {""};
    cr_assert(take_text(text, 2, &messages, &why) == 0, "%s", why.text);
    cr_assert(messages.process[0].has[MSG_ENDED] && !messages.process[0].has[MSG_ABORT]);
    cr_assert(messages.process[1].has[MSG_ABORT] && !messages.process[1].has[MSG_ENDED]);
    cr_assert_str_eq(messages.process[0].host, "h1");
    cr_assert_eq(messages.process[0].pid, 10);
    cr_assert_str_eq(messages.process[0].library, "An MPI");
    cr_assert_str_eq(messages.process[1].told, "by SIGTERM");
    cr_assert_str_eq(messages.process[0].parts, record);
    launcher_messages_free(&messages);
}

Test(launcher_messages, is_heard_between_banners)
{
    char text[ROOM], with[2 * ROOM], *record = long_text();
    speak(text, record);
    expect_all(text, record);
    snprintf(with, sizeof with,
             "A banner\nlockstep-says-2 0 0 12345678 ended ok\nhalf a%s\nthe end", text);
    expect_all(with, record);
    free(record);
}

/* A line of another process is inserted in a message, at every place. */
Test(launcher_messages, is_heard_within_another_line)
{
    static const char inner[] = "a line\n";
    char text[ROOM], with[ROOM + 64], *record = long_text();
    const size_t n = speak(text, "short");
    char *part = strstr(text, "part short");
    char *told = strstr(text, "\nlockstep-says-1 1 1"), moved[200];
    cr_assert(part && told);
    const size_t length = strcspn(told + 1, "\n") + 2;
    memcpy(moved, told, length);
    moved[length] = '\0';
    memmove(told, told + length, n - (size_t)(told - text) - length + 1);
    for (char *at = part - 20; at < part + 8; ++at) {
        snprintf(with, sizeof with, "%.*s%s%s", (int)(at - text), text, moved, at);
        expect_all(with, "short");
    }
    snprintf(with, sizeof with, "%s%s", inner, text);
    struct launcher_messages messages;
    struct text_error why = {""};
    cr_assert(take_text(with, 2, &messages, &why) == 0 && !messages.process[1].has[MSG_ABORT]);
    launcher_messages_free(&messages);
    free(record);
}

/* A message is cut anywhere, or has another byte anywhere: it is never taken for a whole one. */
Test(launcher_messages, damaged_lines_are_no_messages, .timeout = 50)
{
    char text[ROOM], *record = long_text();
    const size_t n = speak(text, "short");
    const size_t end = (size_t)(strstr(text, "ended ok ") - text) + 9;
    for (size_t i = 0; i < n; ++i) {
        char damaged[ROOM];
        struct launcher_messages messages;
        struct text_error why = {""};
        memcpy(damaged, text, n + 1);
        if (damaged[i] == '\n')
            continue;
        damaged[i] ^= 1;
        const bool read = take_text(damaged, 2, &messages, &why) == 0;
        cr_assert(!read || !messages.process[0].has[MSG_BEGUN] ||
                      !messages.process[1].has[MSG_BEGUN] || !messages.process[0].has[MSG_ENDED] ||
                      !messages.process[1].has[MSG_ABORT] || !messages.process[0].parts,
                  "byte %zu", i);
        launcher_messages_free(&messages);
        memcpy(damaged, text, n + 1);
        damaged[i < end ? i : end] = '\0';
        cr_assert(take_text(damaged, 2, &messages, &why) == 0 &&
                  !messages.process[0].has[MSG_ENDED]);
        launcher_messages_free(&messages);
    }
    free(record);
}

Test(launcher_messages, of_others_is_refused)
{
    char text[ROOM], twice[2 * ROOM];
    struct launcher_messages messages;
    struct text_error why = {""};
    speak(text, "short");
    cr_assert(take_text(text, 1, &messages, &why) == -1);
    cr_assert_str_eq(why.text, "there is a process 1, but 1 were asked for");
    launcher_messages_free(&messages);
    snprintf(twice, sizeof twice, "%s%s", text, text);
    cr_assert(take_text(twice, 2, &messages, &why) == -1);
    cr_assert_str_eq(why.text, "message 0 of process 0 comes where 3 has to");
    launcher_messages_free(&messages);
}

/* The text comes line by line: an answer is complete when its word is there, and the next one
 * begins anew. */
Test(launcher_messages, answers_are_taken_one_by_one)
{
    int ends[2];
    char text[ROOM], last[MSG_NAME_BYTES + 100];
    struct launcher_messages messages = {.n = 2};
    struct text_error why = {""};

    cr_assert(pipe(ends) == 0);
    struct message_sender speaker[2] = {{ends[1], 0, 0}, {ends[1], 1, 0}};
    cr_assert(message_send(&speaker[1], MSG_BEGUN, "h2 11 An MPI") == 0);
    cr_assert(message_send(&speaker[0], MSG_READ, "16384") == 0);
    cr_assert(message_send(&speaker[0], MSG_READ, "40000") == 0);
    for (int i = 0; i < 2; ++i) {
        cr_assert(message_send(&speaker[0], MSG_PART, i == 0 ? "first" : "2nd") == 0);
        cr_assert(message_send(&speaker[0], MSG_ANSWER, i == 0 ? "7" : "8") == 0);
    }
    close(ends[1]);
    const ssize_t n = read(ends[0], text, ROOM - 1);
    close(ends[0]);
    cr_assert(n > 0);
    text[n] = '\0';
    struct program launcher = {.text = strdup("")};
    int answers = 0;
    for (const char *at = text; *at != '\0'; ++at) { /* it comes byte by byte */
        launcher.text = realloc(launcher.text, launcher.length + 1);
        launcher.text[launcher.length++] = *at;
        launcher_messages_take(&messages, &launcher, &why);
        cr_assert(why.text[0] == '\0', "%s", why.text);
        if (!messages.process[0].has[MSG_ANSWER])
            continue;
        cr_assert_eq(messages.process[0].read, 40000);
        cr_assert_str_eq(messages.process[0].parts, answers == 0 ? "first" : "2nd");
        cr_assert_str_eq(messages.process[0].answer, answers == 0 ? "7" : "8");
        launcher_answer_taken(&messages.process[0]);
        ++answers;
    }
    cr_assert(answers == 2);
    free(launcher.text);
    cr_assert(first_unfinished_process(&messages, last, sizeof last) == 1);
    cr_assert_str_eq(last, "process 1 of 2 (host h2, process 11) has begun, and neither ended nor "
                           "was told to end");
    launcher_messages_free(&messages);
}
