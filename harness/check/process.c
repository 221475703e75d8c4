/* check/process.c: the parent's side of one process: starts it, reads its messages, and says how it
 * ended.
 *
 * The process leads a new process group, so that all processes that it starts are killed with it.
 * It is killed when its parent dies, on a signal, and when its time is over. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "build_info.h"
#include "check/pool.h"
#include "launch/child.h"

enum {
    RESULT_FD = 200, /* above all others, where no implementation comes across it */
    CASE_SECONDS = 10,
    OPEN_SECONDS = 30,
    PROCESS_FACTOR = 6, /* in another process everything takes longer */
    SANITIZER_FACTOR = 4,
    END_SECONDS = 5, /* from the last message to the end of the process */
    PIECES = 4096,   /* reads at most, at the end */
    SAID = 200
};

double runner_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
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

/* Files in /proc of a process that is not traceable belong to root, so this process becomes
 * traceable for a moment. */
static void be_first_to_be_killed(void)
{
    const bool hidden = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
    int score;

    if (hidden)
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, "1000", 4) != 4)
        errno = 0; /* this is only an attempt */
    if (score >= 0)
        close(score);
    if (hidden)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

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
    be_first_to_be_killed();
    runner_child(process->job, output, process->token, process->shared);
}

static uint64_t new_token(void)
{
    uint64_t token = (uint64_t)(runner_now() * 1e9);
    const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

    if (file >= 0 && read(file, &token, sizeof token) != (ssize_t)sizeof token)
        token ^= (uint64_t)getpid();
    if (file >= 0)
        close(file);
    return token;
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

int runner_process_start(struct runner_process *process, struct runner_job *job)
{
    int results[2], noise[2];
    void *shared;

    *process =
        (struct runner_process){.job = job, .results = -1, .noise = -1, .token = new_token()};
    shared = child_shared_memory(sizeof *process->shared);
    if (!shared) {
        process->job = NULL;
        return -1;
    }
    process->shared = shared;
    if (open_pipe(results)) {
        free_process(process);
        return -1;
    }
    if (open_pipe(noise)) {
        close(results[0]);
        close(results[1]);
        free_process(process);
        return -1;
    }
    set_limit(process, OPEN_SECONDS);
    process->pid = child_fork(CHILD_OWN_GROUP);
    if (process->pid == 0)
        become_child(process, results[1], noise[1]);
    close(results[1]);
    close(noise[1]);
    process->results = results[0];
    process->noise = noise[0];
    if (process->pid > 0)
        return 0;
    free_process(process);
    return -1;
}

void runner_process_stop(struct runner_process *process)
{
    kill(-process->pid, SIGKILL);
    child_wait(process->pid, NULL);
    free_process(process);
}

/* ---- listening ------------------------------------------------------------------------------- */

/* Keeps the end of its output, so that any amount of output takes no more memory than this. */
bool runner_process_hear(struct runner_process *process)
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
        if (!runner_process_hear(process))
            break;
}

static void damage(struct runner_process *process, const char *what)
{
    process->damaged = true;
    snprintf(process->why, sizeof process->why, "%s", what);
}

static void take_verdict(struct runner_process *process)
{
    const struct runner_message *message = &process->message;
    struct runner_result *result =
        process->opened ? runner_judge_message(process->job, message) : NULL;

    if (!result) {
        damage(process, "the process sent an unexpected verdict");
        return;
    }
    result->seconds += runner_now() - process->started;
    result->strays = message->strays;
    runner_clean(result->strays.name, sizeof result->strays.name);
    if (message->fell != 0) {
        hear_all(process);
        runner_add_words(process, result->reason);
    }
    ++process->served;
    process->last = result;
    if (process->job->mode == RUNNER_EACH)
        set_limit(process, OPEN_SECONDS);
    else
        set_case_limit(process);
}

void runner_process_take(struct runner_process *process)
{
    struct runner_message *message = &process->message;

    message->reason[sizeof message->reason - 1] = '\0';
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
        process->blame = message->fell != 0;
        snprintf(process->why, sizeof process->why, "%s", message->reason);
        return;
    case RUNNER_VERDICT:
        take_verdict(process);
        return;
    default:
        damage(process, "the process sent a message of no known kind");
    }
}

bool runner_process_listen(struct runner_process *process)
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

/* ---- how it ended, in words ------------------------------------------------------------------ */

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
    runner_clean(words, sizeof words);
    if (words[0] != '\0')
        text_add(text, RUNNER_TEXT, "; it said: %s", words);
}

void runner_describe_end(const struct runner_process *process, int status, char text[RUNNER_TEXT])
{
    char name[sizeof process->shared->doing], doing[80];

    memcpy(name, process->shared->doing, sizeof name);
    runner_clean(name, sizeof name);
    snprintf(doing, sizeof doing, "%s%s", name[0] != '\0' ? ", in " : "", name);
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

/* The implementation could have written into this memory, so every field is checked. */
const char *runner_read_about(const struct runner_shared *shared, struct runner_about *is)
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

/* ---- the end --------------------------------------------------------------------------------- */

bool runner_process_ended(struct runner_process *process)
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
        if (!runner_process_listen(process))
            break;
    hear_all(process);
    runner_judge(process, status);
    free_process(process);
    return true;
}
