/* check/pool.c: keeps as many processes running as were asked for, until all jobs are done: starts
 * them, reads their messages, and ends them.
 *
 * A process leads a new process group, so that all processes that it starts are killed with it. It
 * is killed when its parent dies, on a signal, and when its time is over. */
#include "check/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "build_info.h"
#include "files/files.h"
#include "launch/child.h"
#include "launch/watch.h"
#include "text/alloc.h"

enum {
    RESULT_FD = 200, /* above all others, where no implementation comes across it */
    CASE_SECONDS = 10,
    OPEN_SECONDS = 30,
    PROCESS_FACTOR = 6, /* in another process everything takes longer */
    SANITIZER_FACTOR = 4,
    TERMINAL_COLUMNS = 80,
    SAYS_SECONDS = 30, /* from one line of progress to the next, where there is no terminal */
    END_SECONDS = 5,   /* from the last message to the end of the process */
    PIECES = 4096,     /* reads at most, at the end */
    SIGNAL_CHECK_MS = 50,
    POOL_HANGS = 12,
    FORK_TRIES = 200
};

static double runner_now(void)
{
    return (double)watch_clock_ns() / 1e9;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void set_limit(struct runner_process *process, double seconds)
{
    const struct runner_job *job = process->job;

    if (job->process)
        seconds *= PROCESS_FACTOR;
    if (BUILD_SANITIZERS[0] != '\0')
        seconds *= SANITIZER_FACTOR;
    process->started = runner_now();
    process->limit_s = job->limit_s > 0 ? job->limit_s : seconds;
    process->deadline = process->started + process->limit_s;
}

static void set_case_limit(struct runner_process *process)
{
    const struct runner_job *job = process->job;
    const unsigned ms = job->next < job->n ? job->result[job->next]->test->limit_ms : 0;

    set_limit(process, ms > 0 ? ms / 1e3 : CASE_SECONDS);
}

/* ---- start ----------------------------------------------------------------------------------- */

/* The implementation must not have the files of the parent, such as pipes to other processes. A
 * crash is expected here and needs no core file. When memory runs out, this process is to be
 * killed, and not the runner. */
static _Noreturn void become_child(const struct runner_process *process, int results, int noise)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    const struct rlimit none = {0, 0};
    const int output = fcntl(results, F_DUPFD_CLOEXEC, RESULT_FD);
    const int null = open("/dev/null", O_RDONLY);

    if (output < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(noise, STDOUT_FILENO) < 0 ||
        dup2(noise, STDERR_FILENO) < 0)
        _exit(EXIT_FAILURE);
    for (int fd = STDERR_FILENO + 1; fd < RESULT_FD; ++fd)
        close(fd);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i)
        sigaction(signals[i], &standard, NULL);
    setrlimit(RLIMIT_CORE, &none);
    /* Files in /proc of a process that is not traceable belong to root, so this process becomes
     * traceable for a moment. */
    const bool hidden = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;

    if (hidden)
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (score >= 0 && write(score, "1000", 4) != 4)
        errno = 0; /* this is only an attempt */
    if (score >= 0)
        close(score);
    if (hidden)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    runner_child(process->job, output, process->token, process->shared);
}

static int open_pipe(int ends[2])
{
    if (child_pipe(ends))
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

static void free_process(struct runner_process *process)
{
    const int saved = errno;

    child_close(&process->results);
    child_close(&process->noise);
    if (process->shared)
        munmap(process->shared, sizeof *process->shared);
    *process = (struct runner_process){.job = NULL, .results = -1, .noise = -1};
    errno = saved;
}

static int try_process(struct runner_process *process, struct runner_job *job)
{
    int results[2] = {-1, -1}, noise[2] = {-1, -1};

    *process = (struct runner_process){.job = job, .results = -1, .noise = -1};
    process->token = (uint64_t)(runner_now() * 1e9);
    if (getrandom(&process->token, sizeof process->token, 0) != (ssize_t)sizeof process->token)
        process->token ^= (uint64_t)getpid();
    process->shared = child_shared_memory(sizeof *process->shared);
    if (process->shared && open_pipe(results) == 0 && open_pipe(noise) == 0) {
        set_limit(process, OPEN_SECONDS);
        process->pid = child_fork(CHILD_OWN_GROUP);
        if (process->pid == 0)
            become_child(process, results[1], noise[1]);
    }
    process->results = results[0];
    process->noise = noise[0];
    const int problem = errno;

    child_close(&results[1]);
    child_close(&noise[1]);
    errno = problem;
    if (process->pid > 0)
        return 0;
    free_process(process);
    return -1;
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 100000};

    nanosleep(&pause, NULL);
}

/* A system that has no process to spare for a moment is no reason to stop. */
static int start_process(struct runner_process *process, struct runner_job *job)
{
    for (int i = 0; i < FORK_TRIES; ++i) {
        if (try_process(process, job) == 0)
            return 0;
        if (errno != EAGAIN || stop_requested())
            return -1;
        for (int j = 0; j < 50; ++j)
            nap();
    }
    return -1;
}

/* ---- listening ------------------------------------------------------------------------------- */

/* Keeps the end of its output, so that any amount of output takes no more memory than this. */
static bool hear_process(struct runner_process *process)
{
    char piece[RUNNER_TAIL];
    const ssize_t n = read(process->noise, piece, sizeof piece);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR; /* there may be more */
    if (n <= 0) {
        child_close(&process->noise);
        return false;
    }
    const size_t keep = process->tail_bytes + (size_t)n > RUNNER_TAIL
                            ? (size_t)RUNNER_TAIL - (size_t)n
                            : process->tail_bytes;

    memmove(process->tail, process->tail + process->tail_bytes - keep, keep);
    memcpy(process->tail + keep, piece, (size_t)n);
    process->tail_bytes = keep + (size_t)n;
    process->tail[process->tail_bytes] = '\0';
    return true;
}

/* Reads the output that came before its end. A process that it started may continue to write, so
 * the number of reads is limited. */
static void hear_all(struct runner_process *process)
{
    for (int i = 0; i < PIECES && process->noise >= 0; ++i)
        if (!hear_process(process))
            break;
}

static void damage(struct runner_process *process, const char *what)
{
    process->damaged = true;
    snprintf(process->why, sizeof process->why, "%s", what);
}

void runner_process_take(struct runner_process *process)
{
    struct runner_message *message = &process->message;
    struct runner_result *result;

    check_clean(message->outcome.reason, sizeof message->outcome.reason);
    check_clean(message->outcome.hint, sizeof message->outcome.hint);
    check_clean(message->outcome.scenario, sizeof message->outcome.scenario);
    if (message->token != process->token) {
        damage(process, "something other than the suite wrote into the pipe for results");
        return;
    }
    switch (message->kind) {
    case RUNNER_OPENED:
        process->opened = true;
        process->job->never_opened = 0;
        set_case_limit(process);
        return;
    case RUNNER_ABOUT:
    case RUNNER_NO_SESSION:
        process->answer = message->kind;
        process->blame = message->outcome.fell;
        snprintf(process->why, sizeof process->why, "%s", message->outcome.reason);
        return;
    case RUNNER_VERDICT:
        result = process->opened ? runner_judge_message(process->job, message) : NULL;
        if (!result) {
            damage(process, "the process sent an unexpected verdict");
            return;
        }
        result->seconds += runner_now() - process->started;
        result->strays = message->strays;
        check_clean(result->strays.name, sizeof result->strays.name);
        if (message->outcome.fell) {
            hear_all(process);
            runner_add_words(process, result->reason);
        }
        process->last = result;
        if (process->job->mode == RUNNER_EACH)
            set_limit(process, OPEN_SECONDS);
        else
            set_case_limit(process);
        return;
    default:
        damage(process, "the process sent a message of no known kind");
    }
}

static bool listen_to_process(struct runner_process *process)
{
    char *into = (char *)&process->message;
    const ssize_t n =
        read(process->results, into + process->have, sizeof process->message - process->have);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (n < 0 && !process->damaged) {
        char why[96];

        snprintf(why, sizeof why, "the pipe for results cannot be read: %s", strerror(errno));
        damage(process, why);
    }
    if (n <= 0) {
        child_close(&process->results);
        return false;
    }
    process->have += (size_t)n;
    if (process->have < sizeof process->message)
        return true;
    process->have = 0;
    if (!process->damaged)
        runner_process_take(process);
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Whether the process has ended, and was judged; then the slot is free. */
static bool has_ended(struct runner_process *process)
{
    siginfo_t info;
    int status = 0;

    if (process->results < 0 && !process->ending) {
        process->ending = true;
        process->deadline = runner_now() + END_SECONDS;
    }
    if (!child_has_ended(process->pid, &info) && !process->damaged) {
        if (runner_now() < process->deadline)
            return false;
        process->timed_out = true;
    }
    /* The system gives its number to no other process before it was waited for. */
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL);
    child_wait(process->pid, &status);
    /* The rest of the messages is still in the pipe. */
    for (int i = 0; i < PIECES && process->results >= 0 && !process->damaged; ++i)
        if (!listen_to_process(process))
            break;
    hear_all(process);
    process->lasted = runner_now() - process->started;
    runner_judge(process, status);
    free_process(process);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct pool {
    struct runner_job *jobs;
    size_t n, next; /* jobs from next on were not begun */
    struct runner_process *process;
    size_t slots;
    struct pollfd *poll; /* two per slot */
    size_t hangs;        /* cases in a row that gave no verdict in time, of any job */
    struct runner_progress *progress;
};

/* Waits until there is something to read, or a deadline, or the time to check for signals. */
static void wait_for_words(struct pool *pool)
{
    const double now = runner_now();
    double left = SIGNAL_CHECK_MS / 1e3;

    for (size_t i = 0; i < pool->slots; ++i) {
        const struct runner_process *process = &pool->process[i];
        const bool busy = process->job != NULL;

        pool->poll[2 * i] = (struct pollfd){busy ? process->results : -1, POLLIN, 0};
        pool->poll[2 * i + 1] = (struct pollfd){busy ? process->noise : -1, POLLIN, 0};
        if (busy && process->ending)
            left = 0;
        else if (busy && process->deadline - now < left)
            left = process->deadline - now;
    }
    if (left <= 0)
        nap();
    if (poll(pool->poll, (nfds_t)(2 * pool->slots), left <= 0 ? 0 : (int)(left * 1e3) + 1) < 0)
        return;
    for (size_t i = 0; i < pool->slots; ++i) {
        if (pool->poll[2 * i].revents != 0)
            listen_to_process(&pool->process[i]);
        if (pool->poll[2 * i + 1].revents != 0)
            hear_process(&pool->process[i]);
    }
}

/* The last verdict of a process may still change when the process ends, so it is not yet shown. */
static void show_verdicts(const struct pool *pool, struct runner_job *job, size_t upto)
{
    struct runner_progress *progress = pool->progress;
    const char *const clear = progress && progress->terminal ? "\r\033[K" : "";

    for (; job->shown < upto && progress; ++job->shown) {
        const struct runner_result *result = job->result[job->shown];
        const char *reason = result->reason;
        int sentence = 0; /* the length of its first one, to "; " or ". " or the end */

        while (reason[sentence] != '\0' &&
               !(strchr(";.", reason[sentence]) && strchr(" ", reason[sentence + 1])))
            ++sentence;
        const char *word = runner_verdict_words[result->verdict];
        /* On a terminal it is one line: the block after the run has all of it. */
        const int room = TERMINAL_COLUMNS - (int)(strlen(word) + strlen(result->test->id) + 3);

        sentence = progress->terminal && sentence > room ? room : sentence;
        if (runner_failed(result) && !result->listed && !progress->silent)
            fprintf(stderr, "%s%s %s: %.*s\n", clear, word, result->test->id, sentence, reason);
        ++progress->done;
        progress->bad += runner_failed(result) && !result->listed;
        progress->listed += runner_failed(result) && result->listed;
        if (progress->said == 0)
            progress->said = runner_now();
        if (!progress->terminal && runner_now() - progress->said < SAYS_SECONDS)
            continue;
        progress->said = runner_now();
        fprintf(stderr, "%s[%zu", clear, progress->done);
        if (progress->total > 0)
            fprintf(stderr, "/%zu", progress->total);
        fprintf(stderr, "] %.40s", result->test->id);
        if (progress->bad > 0)
            fprintf(stderr, ", %zu not passed", progress->bad);
        if (progress->listed > 0)
            fprintf(stderr, ", %zu to be compared with --known", progress->listed);
        fputs(progress->terminal ? "" : "\n", stderr);
        fflush(stderr);
    }
}

/* A process becomes our child if the process that started it has ended. It is killed, and the case
 * reports it. */
static void end_strays(const struct pool *pool, struct runner_job *job)
{
    pid_t *spared = cli_alloc(pool->slots, sizeof *spared);
    size_t n = 0;
    char name[32];

    for (size_t i = 0; i < pool->slots; ++i)
        if (pool->process[i].job)
            spared[n++] = pool->process[i].pid;

    const size_t killed = strays_kill(spared, n, name);

    free(spared);
    if (job && killed > 0 && job->n > 0 && job->next > 0)
        job->result[job->next - 1]->strays.n += (uint32_t)killed;
}

/* A job whose process ended is done, or continues in another process. */
static int collect_jobs(struct pool *pool)
{
    for (size_t i = 0; i < pool->slots; ++i) {
        struct runner_process *process = &pool->process[i];
        struct runner_job *job = process->job;

        if (!job)
            continue;
        if (!has_ended(process)) {
            show_verdicts(pool, job, job->next > 0 ? job->next - 1 : 0);
            continue;
        }
        if (job->unclean)
            end_strays(pool, job);
        show_verdicts(pool, job, job->next);
        pool->hangs = job->hangs > 0 ? pool->hangs + 1 : 0;
        /* Hundreds of cases that all hang would take hours. */
        for (struct runner_job *rest = job; pool->hangs >= POOL_HANGS && rest;
             rest = pool->next < pool->n ? &pool->jobs[pool->next++] : NULL) {
            runner_give_up(rest, NULL, "not run: many cases in a row gave no answer in time");
            show_verdicts(pool, rest, rest->n);
        }
        if (job->next < job->n && start_process(process, job))
            return -1;
    }
    return 0;
}

int runner_pool(struct runner_job jobs[], size_t n, size_t slots, struct runner_progress *progress)
{
    struct pool pool = {.jobs = jobs, .n = n, .slots = slots, .progress = progress};
    bool busy = false, failed = false; /* --exitfirst: a case was not passed */
    int status = 0, saved;

    pool.process = cli_alloc(slots, sizeof *pool.process);
    pool.poll = cli_alloc(2 * slots, sizeof *pool.poll);
    strays_watch();
    while (status == 0 && !failed && (pool.next < n || busy)) {
        if (stop_requested()) {
            status = 1;
            break;
        }
        for (size_t i = 0; i < slots && pool.next < n && status == 0; ++i)
            if (!pool.process[i].job)
                status = start_process(&pool.process[i], &pool.jobs[pool.next++]);
        if (status != 0)
            break;
        wait_for_words(&pool);
        status = collect_jobs(&pool);
        failed = progress && progress->exitfirst && progress->bad + progress->listed > 0;
        busy = false;
        for (size_t i = 0; i < slots; ++i)
            busy = busy || pool.process[i].job;
    }
    saved = errno;
    for (size_t i = 0; i < slots; ++i) {
        if (!pool.process[i].job)
            continue;
        kill(-pool.process[i].pid, SIGKILL);
        child_wait(pool.process[i].pid, NULL);
        free_process(&pool.process[i]);
    }
    if (status != 0 || failed)
        end_strays(&pool, NULL);
    /* A verdict that was not told could still have changed. */
    for (size_t j = 0; j < n && failed; ++j)
        for (size_t i = jobs[j].shown; i < jobs[j].n; ++i)
            runner_unask(jobs[j].result[i], false);
    free(pool.process);
    free(pool.poll);
    errno = saved;
    return status;
}

void runner_interrupt(struct runner_job jobs[], size_t n, bool first)
{
    for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i < jobs[j].n; ++i)
            if (i >= jobs[j].shown || (first && jobs[j].result[i]->reason[0] == '\0'))
                runner_unask(jobs[j].result[i], true);
}
