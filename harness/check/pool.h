/* check/pool.h: jobs of cases; each job has its own process, and several run at a time. */
#ifndef HARNESS_CHECK_POOL_H
#define HARNESS_CHECK_POOL_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "check/runner.h"

enum runner_mode {
    RUNNER_PROBE,  /* opens the implementation and reports about it; runs no case */
    RUNNER_EACH,   /* a session for each case */
    RUNNER_SHARED, /* one session for all cases, with a reset between them */
};

/* Cases that one process serves in order. If it dies, another process continues after the case that
 * killed it. */
struct runner_job {
    const char *spec, *impl_options, *devices;
    uint64_t seed, schedule; /* of the data, and of the implementation's session */
    enum runner_mode mode;
    const struct world_plan *world; /* the ranks are in several processes; NULL: in one */
    bool process;      /* the implementation is in another process, where everything takes longer */
    bool library;      /* the implementation is a shared object */
    bool same_process; /* the implementation runs in the process of its cases: no wall */
    size_t required;   /* devices: it fails if they are missing */
    double limit_s;    /* limit of each case; 0: the limit of the case */
    bool until_caught; /* the job ends with the first case that fails or is broken */
    atomic_uchar *note; /* of a mutant: the bugs that case i asks for, row i of mutant_n; or NULL */
    /* The report of the probe: a session that reports otherwise is BROKEN. NULL: there was no
     * probe. */
    const struct impl_about *expected;
    struct runner_result **result;
    size_t n, next;      /* next: the first case without a verdict */
    size_t hangs;        /* cases in a row that gave no verdict in time */
    size_t never_opened; /* processes in a row that died before the session was open */
    size_t shown;        /* verdicts that the progress has */
    bool unclean; /* its last process did not end as it should: some of its children may be left */
    struct runner_about is;  /* PROBE: out */
    char cause[RUNNER_TEXT]; /* PROBE: out, why there is no answer */
    bool blame;              /* PROBE: out, the implementation is that reason */
};

/* Whether a job with until_caught ends after this verdict. */
bool runner_catches(enum check_verdict verdict, size_t compared);

/* Verdicts so far, shown on standard error: each failure as it comes, how many, and which was last.
 */
struct runner_progress {
    bool terminal;
    bool silent;    /* failures are expected: of mutants */
    bool exitfirst; /* nothing goes on after the first verdict that is FAIL or BROKEN */
    size_t done, total, bad, listed; /* listed: failures of cases in the file of --known */
    double said;                     /* no terminal: when a line was printed last */
};

/* Runs all jobs, at most `slots` at a time. Returns 0; 1 if a stop was requested first; or -1 with
 * errno if no process can be started. */
int runner_pool(struct runner_job jobs[], size_t n, size_t slots, struct runner_progress *progress);

/* A job without cases on an implementation, as the options say. */
struct runner_job runner_job_of(const struct runner_options *options, const char *spec);
/* Runs all jobs with so many slots, as the options say, and shows how many of so many verdicts
 * there are (0: it is not known). With --exitfirst, those without a verdict are skipped after the
 * first failure. Returns 0, or the exit status after a complaint. */
int runner_jobs(const char *command, const struct runner_options *options, struct runner_job jobs[],
                size_t n, size_t total);
/* A verdict that was not shown, or a pass with the first schedule alone, is none now: these are
 * BROKEN because the run was interrupted. */
void runner_interrupt(struct runner_job jobs[], size_t n, bool first);

/* ---- between the process of a job and its parent ------------------------------------------- */

/* Memory that the process of a job shares with its parent. An implementation without a wall can
 * write there, too. */
struct runner_shared {
    char doing[64];
    struct runner_about is;
};

enum runner_message_kind { RUNNER_OPENED = 1, RUNNER_ABOUT, RUNNER_VERDICT, RUNNER_NO_SESSION };

struct runner_message {
    uint64_t token; /* of this process */
    uint32_t kind;
    uint64_t index;               /* of the case in its job */
    struct check_outcome outcome; /* NO_SESSION: fell, the implementation is to blame; reason */
    struct strays strays;
};

_Noreturn void runner_child(const struct runner_job *job, int output, uint64_t token,
                            struct runner_shared *shared);

/* check/world.c: the reference with its ranks in several processes. Fills the source; options: of
 * the reference. Returns 0, or -1 with one line in reason. */
int world_load(const struct world_plan *plan, const char *options, struct impl_source *source,
               char reason[600]);

enum { RUNNER_TAIL = 2048 };

/* The parent's side of one process. */
struct runner_process {
    struct runner_job *job; /* NULL: free */
    pid_t pid;
    int results, noise; /* read ends of the pipes; -1: closed */
    uint64_t token;
    struct runner_shared *shared;
    struct runner_message message; /* the next message, as far as it has come */
    size_t have;
    char tail[RUNNER_TAIL + 1]; /* the end of its standard output and error */
    size_t tail_bytes;
    double started, deadline, limit_s; /* of the current operation */
    double lasted;                     /* that operation, until the end of the process */
    struct runner_result *last;        /* of its verdicts */
    bool opened;
    uint32_t answer; /* RUNNER_ABOUT, RUNNER_NO_SESSION; 0: none yet */
    bool ending, timed_out, damaged;
    bool blame;            /* NO_SESSION: the implementation is the reason */
    char why[RUNNER_TEXT]; /* damaged: the fault in its messages; NO_SESSION: the reason */
};

/* Takes the whole message that has come. */
void runner_process_take(struct runner_process *process);

/* Appends ", it said: .." with the last output of the process. */
void runner_add_words(const struct runner_process *process, char text[RUNNER_TEXT]);
/* Writes how the process ended; status as from waitpid. */
void runner_describe_end(const struct runner_process *process, int status, char text[RUNNER_TEXT]);

/* Takes the verdict of a message for the next case of the job. NULL: it is for another one. */
struct runner_result *runner_judge_message(struct runner_job *job,
                                           const struct runner_message *message);
/* Judges the cases of a process by how it ended; status as from waitpid. */
void runner_judge(struct runner_process *process, int status);
/* The cases of the job that are next are BROKEN for this reason: all, or those of the area. */
void runner_give_up(struct runner_job *job, const struct check_area *area, const char *reason);

#endif
