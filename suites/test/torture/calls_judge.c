/* calls_judge.c: judges whether a command with a failed call ended as it must: in time, with a
 * documented status, and, if that is not 0, with one line that says why. */
#include "calls_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Counts complaints. Progress is none, nor is a table, which is indented by two blanks and goes on
 * with more than four. The reason of a cell, indented by four, is one. The answer follows
 * the table of a sweep, and goes on until the program complains. */
static int complaints(const char *text, const char **first)
{
    int n = 0;
    bool table = false, answer = false;

    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');

        const bool reason = strncmp(line, "    ", 4) == 0 && line[4] != ' ';
        const bool progress = strchr("[ \n\r", *line) != NULL && !reason;

        answer = strncmp(line, "lockstep", 8) != 0 && (answer || (table && *line == '\n'));
        table = progress && strncmp(line, "  ", 2) == 0;
        if (!progress && !answer && strncmp(line, "epoch ", 6) != 0 &&
            strncmp(line, "figure/", 7) != 0 && n++ == 0)
            *first = line;
        line = !end ? line + strlen(line) : end + 1;
    }
    return n;
}

/* Returns whether the text has the verdict of a case that did not pass, with a reason after it. */
static bool has_verdict(const char *text)
{
    return strncmp(text, "BROKEN ", 7) == 0 || strstr(text, "\nBROKEN ") || strstr(text, "\nFAIL ");
}

/* The same for the file of the option. */
static bool has_verdict_in_file(const struct fault_command *command)
{
    static const char *const words[] = {"\"BROKEN\"", "\"FAIL\"", "<error",
                                        "<failure",   "| BROKEN", "| FAIL"};
    bool found = false;

    for (int i = 0; !found && command->old[i]; ++i) {
        size_t bytes;
        char *text = fault_read(command->old[i], &bytes);

        for (size_t w = 0; text && w < sizeof words / sizeof words[0]; ++w)
            found = found || strstr(text, words[w]);
        free(text);
    }
    return found;
}

/* Returns whether the line names what failed. */
static bool names_cause(const struct fault_point *point, const char *line)
{
    static const char *const words[] = {"memory", "allocate"};

    for (size_t i = 0; i < sizeof words / sizeof words[0] && point->kind <= FAULT_JANSSON; ++i)
        if (strstr(line, words[i]))
            return true;
    return point->kind > FAULT_JANSSON;
}

static bool judge_failure(const struct fault_command *command, const struct fault_point *point,
                          const struct fault_end *end, char why[256])
{
    const char *line = "";
    const int n = complaints(end->err, &line);

    if (n == 0 && has_verdict_in_file(command))
        return true;
    if (point->process != 0 || (n == 0 && has_verdict(end->out))) {
        if (end->err[0] == '\0' && end->out[0] == '\0')
            snprintf(why, 256, "status %d without a word", WEXITSTATUS(end->status));
    } else if (n != 1) {
        snprintf(why, 256, "%d lines of complaint", n);
    } else if (!names_cause(point, line)) {
        snprintf(why, 256, "the line does not name the cause: %.*s", (int)strcspn(line, "\n"),
                 line);
    }
    return why[0] == '\0';
}

static bool judge_success(char why[256])
{
    char where[DIFFERS];

    if (fault_all_there(".", why) && !fault_same_files("../out", "../true.out", where))
        snprintf(why, 256, "status 0, but standard output is another: %.130s", where);
    return why[0] == '\0';
}

/* Without memory glibc ends the program with one of these lines: for a library's variables of a
 * thread, and while a library of C++ is loaded, for names that a process has once (oneDNN has). */
static bool ends_in_glibc(const struct fault_end *end)
{
    static const char *const lines[] = {"cannot allocate memory for thread-local data: ABORT\n",
                                        "out of memory\n"};

    if (!WIFEXITED(end->status) || WEXITSTATUS(end->status) != 127)
        return false;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i)
        if (strcmp(end->err, lines[i]) == 0)
            return true;
    return false;
}

enum fault_verdict fault_judge(const struct fault_place *place, const struct fault_command *command,
                               const struct fault_point *point, const struct fault_end *end,
                               char why[256])
{
    static const int documented[] = {0, 1, 2, 3, 77};
    bool known = false;

    why[0] = '\0';
    known = ends_in_glibc(end);
    for (size_t i = 0; i < sizeof documented / sizeof documented[0]; ++i)
        known = known || (WIFEXITED(end->status) && WEXITSTATUS(end->status) == documented[i]);
    if (end->hangs)
        snprintf(why, 256, "it hangs");
    else if (end->leftover)
        snprintf(why, 256, "a process is left");
    else if (WIFSIGNALED(end->status))
        snprintf(why, 256, "it died of signal %d", WTERMSIG(end->status));
    else if (!known)
        snprintf(why, 256, "status %d", WEXITSTATUS(end->status));
    else if (fault_judge_folder(command, ".", why) && fault_old_there(command, why))
        (void)(WEXITSTATUS(end->status) == 0 ? judge_success(why)
                                             : judge_failure(command, point, end, why));
    if (why[0] != '\0')
        return FAULT_BAD;
    if (place->page->done == 0)
        return FAULT_UNREACHED;
    return WEXITSTATUS(end->status) == 0 ? FAULT_UNHARMED : FAULT_SAID;
}
