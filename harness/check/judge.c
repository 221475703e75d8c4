/* check/judge.c: how a process ended, in words, and what that means for the cases it served.
 *
 * A verdict counts only if its process ended well after it. Otherwise the case is a failure of the
 * implementation, if that ran in the process or hangs; else it has no verdict. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "check/pool.h"

enum { HANGS = 3, NEVER_OPENED = 2, SAID = 200 };

/* Finds the line of the last output that tells most: the summary of a sanitizer, or else the last
 * line. */
static void last_words(const char *tail, char words[SAID])
{
    static const char *const telling[] = {"SUMMARY: ", "runtime error: "};
    const char *end = tail + strlen(tail), *begin = NULL;

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
    snprintf(words, SAID, "%.*s", (int)(end - begin), begin);
    runner_clean(words, SAID);
}

/* Writes ", in forward", for example. */
static void read_doing(const struct runner_process *process, char text[80])
{
    char doing[sizeof process->shared->doing];

    memcpy(doing, process->shared->doing, sizeof doing);
    runner_clean(doing, sizeof doing);
    snprintf(text, 80, "%s%s", doing[0] != '\0' ? ", in " : "", doing);
}

void runner_add_words(const struct runner_process *process, char text[RUNNER_TEXT])
{
    char words[SAID];

    last_words(process->tail, words);
    if (words[0] != '\0')
        text_add(text, RUNNER_TEXT, "; it said: %s", words);
}

static bool ended_well(const struct runner_process *process, int status)
{
    return !process->timed_out && !process->damaged && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void describe_end(const struct runner_process *process, int status, char text[RUNNER_TEXT])
{
    char doing[80];

    read_doing(process, doing);
    if (process->damaged)
        snprintf(text, RUNNER_TEXT, "%.800s%s", process->why, doing);
    else if (process->timed_out && process->ending)
        snprintf(text, RUNNER_TEXT, "the process did not end by itself%s; killed", doing);
    else if (process->timed_out)
        snprintf(text, RUNNER_TEXT, "no answer after %g s%s; killed", process->limit_s, doing);
    else if (WIFSIGNALED(status))
        snprintf(text, RUNNER_TEXT, "the process died of signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), doing);
    else
        snprintf(text, RUNNER_TEXT, "the process ended with status %d and without an answer%s",
                 WEXITSTATUS(status), doing);
    runner_add_words(process, text);
}

/* Returns the verdict of a case whose process ended without an answer. */
static enum check_verdict verdict_of_end(const struct runner_process *process, int status)
{
    const int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const struct runner_job *job = process->job;
    char doing[80];

    read_doing(process, doing);
    if (!process->timed_out && !process->damaged && process->answer == RUNNER_NO_SESSION)
        return process->blame ? CHECK_FAIL : CHECK_BROKEN;
    if (process->damaged || doing[0] == '\0')
        return CHECK_BROKEN;
    if (process->timed_out)
        return CHECK_FAIL;
    /* No code of the implementation ran in the process itself. */
    if (job->process || (job->library && !job->same_process))
        return CHECK_BROKEN;
    /* These signals come from other processes; an implementation does not crash with them. */
    return signal_number == SIGKILL || signal_number == SIGTERM || signal_number == SIGINT ||
                   signal_number == SIGHUP
               ? CHECK_BROKEN
               : CHECK_FAIL;
}

static void end_result(struct runner_result *result, enum check_verdict verdict, const char *reason)
{
    result->verdict = verdict;
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

void runner_give_up(struct runner_job *job, const char *reason)
{
    for (; job->next < job->n; ++job->next)
        end_result(job->result[job->next], CHECK_BROKEN, reason);
}

bool runner_catches(enum check_verdict verdict, size_t compared)
{
    return verdict == CHECK_FAIL || verdict == CHECK_BROKEN ||
           (verdict == CHECK_PASS && compared == 0);
}

/* ---- a probe --------------------------------------------------------------------------------- */

/* The implementation could have written into this memory, so every field is checked. */
static const char *read_about(const struct runner_shared *shared, struct runner_about *is)
{
    struct impl_about *about = &is->about;

    memcpy(is, &shared->is, sizeof *is);
    runner_clean(about->name, sizeof about->name);
    runner_clean(about->version, sizeof about->version);
    runner_clean(about->blas, sizeof about->blas);
    runner_clean(about->gpu_software, sizeof about->gpu_software);
    if (about->name[0] == '\0')
        return "the implementation has no name";
    if (about->devices < 0 || about->devices > IMPL_MAX_DEVICES)
        return "the number of devices is out of range";
    for (int i = 0; i < about->devices; ++i)
        runner_clean(about->device_name[i], sizeof about->device_name[i]);
    for (int i = 0; i < IMPL_DIALECTS; ++i)
        if ((int)about->dialect[i] < IMPL_UNDECLARED || (int)about->dialect[i] > IMPL_FREE)
            return "a declared dialect is not a word of impl.h";
    return NULL;
}

static void judge_probe(struct runner_process *process, int status)
{
    struct runner_job *job = process->job;
    const char *fault = NULL;

    job->next = job->n;
    if (!ended_well(process, status) || process->answer == 0) {
        describe_end(process, status, job->cause);
        job->blame = verdict_of_end(process, status) == CHECK_FAIL;
        return;
    }
    job->blame = process->answer == RUNNER_NO_SESSION && process->blame;
    if (process->answer == RUNNER_NO_SESSION)
        fault = process->why[0] != '\0' ? process->why : "no reason given";
    else
        fault = read_about(process->shared, &job->is);
    if (!fault)
        return;
    snprintf(job->cause, sizeof job->cause, "%s", fault);
    runner_clean(job->cause, sizeof job->cause);
    runner_add_words(process, job->cause);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* The process is gone, and the case at job->next has no verdict. */
static void blame_next(struct runner_process *process, enum check_verdict verdict,
                       const char *reason)
{
    struct runner_job *job = process->job;
    struct runner_result *result = job->result[job->next++];
    char rest[RUNNER_TEXT];

    end_result(result, verdict, reason);
    result->ran = true;
    result->seconds = runner_now() - process->started;
    if (job->until_caught)
        job->n = job->next;
    if (process->timed_out && ++job->hangs >= HANGS)
        runner_give_up(job, "not run: three cases in a row gave no answer in time");
    if (!process->opened && ++job->never_opened >= NEVER_OPENED) {
        snprintf(rest, sizeof rest, "not run: %.900s", reason);
        runner_give_up(job, rest);
    }
}

static void judge_cases(struct runner_process *process, int status)
{
    struct runner_job *job = process->job;
    const bool well = ended_well(process, status);
    struct runner_result *last = process->last;
    char reason[RUNNER_TEXT], after[RUNNER_TEXT];
    enum check_verdict verdict;

    if (well && job->next == job->n)
        return;
    verdict = verdict_of_end(process, status);
    if (well && process->answer == RUNNER_NO_SESSION) {
        snprintf(reason, sizeof reason, "%s", process->why);
        runner_clean(reason, sizeof reason);
        runner_add_words(process, reason);
    } else {
        describe_end(process, status, reason);
    }
    if (job->next < job->n) {
        blame_next(process, verdict, reason);
    } else if (last && last->verdict != CHECK_FAIL && last->verdict != CHECK_BROKEN) {
        snprintf(after, sizeof after, "after the case: %.1000s", reason);
        end_result(last, verdict, after);
    }
}

void runner_judge(struct runner_process *process, int status)
{
    process->job->unclean = !ended_well(process, status);
    if (process->job->mode == RUNNER_PROBE)
        judge_probe(process, status);
    else
        judge_cases(process, status);
}
