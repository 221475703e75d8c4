/* check/judge.c: decides the verdicts of cases, by what their process sent and how it ended.
 *
 * A verdict counts only if its process ended well after it. Otherwise the case is a failure of the
 * implementation, if that ran in the process or hangs; else it has no verdict. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "check/pool.h"
#include "launch/child.h"

enum { HANGS = 3, NEVER_OPENED = 2 };

static bool ended_well(const struct runner_process *process, int status)
{
    return !process->timed_out && !process->damaged && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Returns the verdict of a case whose process ended without an answer. */
static enum check_verdict verdict_of_end(const struct runner_process *process, int status)
{
    const int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const struct runner_job *job = process->job;

    if (!process->timed_out && !process->damaged && process->answer == RUNNER_NO_SESSION)
        return process->blame ? CHECK_FAIL : CHECK_BROKEN;
    if (process->damaged || process->shared->doing[0] == '\0')
        return CHECK_BROKEN;
    if (process->timed_out)
        return CHECK_FAIL;
    /* No code of the implementation ran in the process itself. */
    if (job->process || (job->library && !job->same_process))
        return CHECK_BROKEN;
    return child_signal_is_foreign(signal_number) ? CHECK_BROKEN : CHECK_FAIL;
}

static void end_result(struct runner_result *result, enum check_verdict verdict, const char *reason)
{
    result->verdict = verdict;
    result->hint[0] = result->scenario[0] = '\0';
    snprintf(result->reason, sizeof result->reason, "%s", reason);
}

void runner_give_up(struct runner_job *job, const struct check_area *area, const char *reason)
{
    for (; job->next < job->n &&
           (!area || runner_area_of(job->result[job->next]->test->rule) == area);
         ++job->next)
        end_result(job->result[job->next], CHECK_BROKEN, reason);
}

bool runner_catches(enum check_verdict verdict, size_t compared)
{
    return verdict == CHECK_FAIL || verdict == CHECK_BROKEN ||
           (verdict == CHECK_PASS && compared == 0);
}

struct runner_result *runner_judge_message(struct runner_job *job,
                                           const struct runner_message *message)
{
    const struct check_outcome *outcome = &message->outcome;
    struct runner_result *result;

    if (message->index != job->next || job->next >= job->n || outcome->verdict > CHECK_BROKEN)
        return NULL;
    result = job->result[job->next++];
    result->ran = true;
    result->compared = outcome->compared;
    result->few_devices = outcome->few_devices <= IMPL_MAX_DEVICES ? outcome->few_devices : 0;
    end_result(result, outcome->verdict, outcome->reason);
    if (result->verdict == CHECK_FAIL) {
        memcpy(result->hint, outcome->hint, sizeof result->hint);
        memcpy(result->scenario, outcome->scenario, sizeof result->scenario);
    }
    if (result->verdict == CHECK_PASS && result->compared == 0)
        end_result(result, CHECK_FAIL, "the case compared nothing");
    if (job->until_caught && runner_catches(result->verdict, result->compared))
        job->n = job->next;
    job->hangs = 0;
    return result;
}

/* ---- a probe --------------------------------------------------------------------------------- */

static void judge_probe(struct runner_process *process, int status)
{
    struct runner_job *job = process->job;
    const char *fault = NULL;

    job->next = job->n;
    if (!ended_well(process, status) || process->answer == 0) {
        runner_describe_end(process, status, job->cause);
        job->blame = verdict_of_end(process, status) == CHECK_FAIL;
        return;
    }
    job->blame = process->answer == RUNNER_NO_SESSION && process->blame;
    if (process->answer == RUNNER_NO_SESSION)
        fault = process->why[0] != '\0' ? process->why : "no reason given";
    else {
        job->is = process->shared->is; /* which the implementation could have written */
        fault = check_about(&job->is.about);
    }
    if (!fault)
        return;
    snprintf(job->cause, sizeof job->cause, "%s", fault);
    check_clean(job->cause, sizeof job->cause);
    runner_add_words(process, job->cause);
}

/* ---- cases ----------------------------------------------------------------------------------- */

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
        runner_add_words(process, reason);
    } else {
        runner_describe_end(process, status, reason);
    }
    if (job->next < job->n) {
        /* The process is gone, and this case has no verdict. */
        struct runner_result *result = job->result[job->next++];

        end_result(result, verdict, reason);
        result->ran = true;
        result->seconds = process->lasted;
        if (job->until_caught)
            job->n = job->next;
        if (process->timed_out && ++job->hangs % HANGS == 0)
            runner_give_up(job, runner_area_of(result->test->rule),
                           "not run: three cases in a row gave no answer in time");
        if (!process->opened && ++job->never_opened >= NEVER_OPENED) {
            snprintf(after, sizeof after, "not run: %.900s", reason);
            runner_give_up(job, NULL, after);
        }
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
