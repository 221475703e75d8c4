/* check/process.c: how a process of cases ended, and what it reported, in words. */
#include <string.h>
#include <sys/wait.h>

#include "check/pool.h"
#include "text/text.h"

enum { SAID = 200 };

void runner_add_words(const struct runner_process *process, char text[RUNNER_TEXT])
{
    static const char *const telling[] = {"SUMMARY: ", "runtime error: "};
    const char *tail = process->tail, *end = tail + strlen(tail), *begin = NULL;
    char words[SAID];

    /* The line that tells most: the summary of a sanitizer, or else the last line. */
    for (size_t i = 0; i < sizeof telling / sizeof telling[0] && !begin; ++i)
        begin = strstr(tail, telling[i]);
    if (!begin) {
        while (end > tail && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
            --end;
        begin = end;
        while (begin > tail && begin[-1] != '\n')
            --begin;
    } else {
        end = begin + strcspn(begin, "\n");
    }
    snprintf(words, sizeof words, "%.*s", (int)(end - begin), begin);
    check_clean(words, sizeof words);
    if (words[0] != '\0')
        text_add(text, RUNNER_TEXT, "; it said: %s", words);
}

void runner_describe_end(const struct runner_process *process, int status, char text[RUNNER_TEXT])
{
    char name[sizeof process->shared->doing], doing[80];

    memcpy(name, process->shared->doing, sizeof name);
    check_clean(name, sizeof name);
    snprintf(doing, sizeof doing, "%s%s", name[0] != '\0' ? ", in " : "", name);
    if (process->damaged)
        snprintf(text, RUNNER_TEXT, "%.800s%s", process->why, doing);
    else if (process->timed_out && process->ending)
        snprintf(text, RUNNER_TEXT, "the process did not end by itself%s; killed", doing);
    else if (process->timed_out)
        snprintf(text, RUNNER_TEXT, "no answer after %g s%s; killed: --timeout sets this limit",
                 process->limit_s, doing);
    else if (WIFSIGNALED(status))
        snprintf(text, RUNNER_TEXT, "the process died of signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), doing);
    else
        snprintf(text, RUNNER_TEXT, "the process ended with status %d and without an answer%s",
                 WEXITSTATUS(status), doing);
    runner_add_words(process, text);
}
