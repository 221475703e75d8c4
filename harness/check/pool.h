/* check/pool.h: jobs of cases, each in a process of its own, several at a time. */
#ifndef HARNESS_CHECK_POOL_H
#define HARNESS_CHECK_POOL_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "check/runner.h"
#include "check/strays.h"

enum runner_mode {
    RUNNER_PROBE,  /* opens and tells what it is; no case */
    RUNNER_EACH,   /* a session for each case */
    RUNNER_SHARED, /* one session for all cases, with a reset between them */
};

/* Cases that one process serves in order. When it dies, another one goes on after the case that
 * killed it. */
struct runner_job {
    const char *spec, *impl_options, *devices;
    uint64_t seed;
    enum runner_mode mode;
    bool process;       /* out of process, where everything takes longer */
    bool library;       /* a shared object */
    bool same_process;  /* it runs where its cases do: no wall */
    double limit_s;     /* of each case, 0: its own */
    bool until_caught;  /* ends with the first case that fails or is broken */
    atomic_uchar *note; /* of a mutant: the bugs that case i asks for, row i of mutant_n; or NULL */
    /* What the probe said: a session that says otherwise is BROKEN. NULL: there was no probe. */
    const struct impl_about *expected;
    struct runner_result **result;
    size_t n, next;          /* next: the first without a verdict */
    size_t hangs;            /* cases in a row that gave no verdict in time */
    size_t never_opened;     /* processes in a row that died before the session was open */
    size_t watched;          /* verdicts that the watcher knows of */
    bool unclean;            /* its last process did not end as it should: somebody may be left */
    struct runner_about is;  /* PROBE: out */
    char cause[RUNNER_TEXT]; /* PROBE: out, why there is no answer */
    bool blame;              /* PROBE: out, the implementation is that reason */
};

/* Whether a job until_caught ends with this verdict. */
bool runner_catches(enum check_verdict verdict, size_t compared);

/* Called after every verdict. */
struct runner_watcher {
    void (*verdict)(void *context, const struct runner_result *result);
    void *context;
};

/* Runs all jobs, at most `slots` at a time. 0; 1 when a stop was requested first; -1 when no
 * process can be started, errno set. */
int runner_pool(struct runner_job jobs[], size_t n, size_t slots,
                const struct runner_watcher *watcher);

/* ---- between the process of a job and its parent ------------------------------------------- */

/* Memory of both. An implementation without a wall can write there, too. */
struct runner_shared {
    char doing[64];
    struct runner_about is;
};

enum runner_message_kind { RUNNER_OPENED = 1, RUNNER_ABOUT, RUNNER_VERDICT, RUNNER_NO_SESSION };

struct runner_message {
    uint64_t token; /* of this process */
    uint32_t kind;
    uint32_t verdict; /* enum check_verdict */
    uint64_t index;   /* of the case in its job */
    uint64_t compared;
    uint32_t few_devices;
    uint32_t fell; /* it crashed: what it said at last tells more; NO_SESSION: it is to blame */
    struct strays strays;
    char reason[600];
};

_Noreturn void runner_child(const struct runner_job *job, int output, uint64_t token,
                            struct runner_shared *shared);

enum { RUNNER_TAIL = 2048 };

/* The parent's side of one process. */
struct runner_process {
    struct runner_job *job; /* NULL: free */
    pid_t pid;
    int results, noise; /* read ends; -1 closed */
    uint64_t token;
    struct runner_shared *shared;
    struct runner_message message; /* the next one, as far as it has come */
    size_t have;
    char tail[RUNNER_TAIL + 1]; /* the last that it said on its standard output and error */
    size_t tail_bytes;
    double started, deadline, limit_s; /* of what is going on now */
    size_t served;                     /* verdicts of this process, and the last of them: */
    struct runner_result *last;
    bool opened;
    uint32_t answer; /* RUNNER_ABOUT, RUNNER_NO_SESSION; 0: none yet */
    bool ending, timed_out, damaged;
    bool blame;            /* NO_SESSION: the implementation is the reason */
    char why[RUNNER_TEXT]; /* damaged: what was wrong with what it sent; NO_SESSION: the reason */
};

double runner_now(void);
/* Anonymous, zeroed, and the same in a child. NULL: there is none, errno set. */
void *runner_shared_memory(size_t bytes);
int runner_process_start(struct runner_process *process, struct runner_job *job);
void runner_process_stop(struct runner_process *process);
/* Take what has come; false when that was nothing. */
bool runner_process_listen(struct runner_process *process);
void runner_process_take(struct runner_process *process); /* one whole message */
bool runner_process_hear(struct runner_process *process);
/* True when it has ended and was judged: the slot is free. */
bool runner_process_ended(struct runner_process *process);

/* ", it said: ..": what a process said at last. */
void runner_add_words(const struct runner_process *process, char text[RUNNER_TEXT]);
/* What the end of a process means for its cases; status as from waitpid. */
void runner_judge(struct runner_process *process, int status);
/* The cases that are left are BROKEN for this reason. */
void runner_give_up(struct runner_job *job, const char *reason);

#endif
