/* check/crowd_launch.c: starts a launcher, writes to its input, reads its output, and ends it.
 *
 * A launcher may print what it likes, and end well where a process did not. So only what processes
 * say in lines of their own counts (files/said.h), and each must have had the last word. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check/crowd.h"
#include "check/crowd_inside.h"
#include "files/child.h"
#include "files/digest.h"
#include "measure/watch.h"
#include "record/launcher.h"
#include "text/text.h"

enum { TICK_MS = 20, PIECE = 65536, PATH_BYTES = 4096, OPTIONS = 5 };
/* To end by itself, and when it was told to: it has processes to end, which may be stopped. */
static const double patience = 3, grace = 8;
/* Where nobody says anything: so many times the limit, and so many seconds for MPI to start. */
enum { SILENT_LIMITS = 3, SILENT_SECONDS = 60 };

/* ---- start ----------------------------------------------------------------------------------- */

/* mpirun -n 2 /path/of/lockstep COMMAND ... */
static _Noreturn void become(struct launcher *words, const struct crowd *crowd, int in, int out,
                             int error)
{
    char self[PATH_BYTES], command[16], processes[16], limit[32];
    char *argument[LAUNCHER_WORDS + OPTIONS + 2];
    char *const more[OPTIONS + 1] = {command, "--processes", processes, "--limit", limit, NULL};
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(error, STDERR_FILENO) < 0)
        _exit(127);
    self[length] = '\0';
    snprintf(command, sizeof command, "%s", crowd->command);
    snprintf(processes, sizeof processes, "%d", crowd->said.n);
    snprintf(limit, sizeof limit, "%g", crowd->limit);
    memcpy(argument, words->word, (size_t)words->n * sizeof *argument);
    argument[words->n] = self;
    memcpy(argument + words->n + 1, more, sizeof more);
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* or its pool would be started, and spin */
    execvp(argument[0], argument);
    _exit(127);
}

static int start(struct crowd *crowd, struct launcher *words)
{
    int ends[3][2], made = 0;

    while (made < 3 && child_pipe(ends[made]) == 0)
        ++made;
    crowd->pid = made == 3 ? child_fork(CHILD_OWN_GROUP) : -1;
    if (crowd->pid == 0)
        become(words, crowd, ends[0][0], ends[1][1], ends[2][1]);
    for (int i = 0; i < made; ++i)
        close(ends[i][i == 0 ? 0 : 1]);
    crowd->input = made > 0 ? ends[0][1] : -1;
    crowd->output = made > 1 ? ends[1][0] : -1;
    crowd->error = made > 2 ? ends[2][0] : -1;
    return crowd->pid < 0 ? -1 : 0;
}

int crowd_start(const char *launcher, const char *command, int processes, double limit,
                struct crowd **crowd, struct text_error *why)
{
    struct crowd *c = calloc(1, sizeof *c);
    struct launcher words;

    if (!c || launcher_words(launcher, processes, &words)) {
        snprintf(why->text, sizeof why->text, "no memory, or the launcher's command is too long");
        free(c);
        return -1;
    }
    c->command = command;
    c->limit = limit;
    c->said.n = processes;
    c->input = c->output = c->error = -1;
    if (start(c, &words)) {
        snprintf(why->text, sizeof why->text, "no launcher could be started: %s", strerror(errno));
        c->pid = 0;
        crowd_close(c);
        return -1;
    }
    *crowd = c;
    return 0;
}

/* ---- listening ------------------------------------------------------------------------------- */

static void take_lines(struct crowd *crowd)
{
    char *line = crowd->text, *end;

    while ((end = memchr(line, '\n', crowd->length - (size_t)(line - crowd->text)))) {
        *end = '\0';
        if (crowd->fault.text[0] == '\0')
            (void)said_line(&crowd->said, line, (size_t)(end - line), &crowd->fault);
        line = end + 1;
    }
    crowd->length -= (size_t)(line - crowd->text);
    memmove(crowd->text, line, crowd->length);
}

static bool make_room(struct crowd *crowd)
{
    const size_t room = crowd->length + PIECE;
    char *text = crowd->room >= room ? crowd->text : realloc(crowd->text, 2 * room);

    if (!text) {
        snprintf(crowd->fault.text, sizeof crowd->fault.text, "no memory for what was printed");
        crowd->ended = true;
        return false;
    }
    crowd->room = crowd->room >= room ? crowd->room : 2 * room;
    crowd->text = text;
    return true;
}

/* It goes on to our own standard error. */
static void take_words(struct crowd *crowd)
{
    const size_t used = strlen(crowd->words);
    char piece[4096];
    const ssize_t n = read(crowd->error, piece, sizeof piece - 1);

    if (n <= 0 && !(n < 0 && errno == EINTR)) {
        close(crowd->error);
        crowd->error = -1;
    }
    if (n <= 0)
        return;
    piece[n] = '\0';
    snprintf(crowd->words + used, sizeof crowd->words - used, "%s", piece);
    for (const char *at = piece; *at != '\0'; at += *at == '\n') {
        const size_t bytes = strcspn(at, "\n");

        text_write(stderr, TEXT_PLAIN, at, bytes);
        at += bytes;
        fputs(*at == '\n' ? "\n" : "", stderr);
    }
}

/* Waits for a moment, and takes what has come. */
static void listen_to(struct crowd *crowd)
{
    struct pollfd ends[2] = {{.fd = crowd->output, .events = POLLIN},
                             {.fd = crowd->error, .events = POLLIN}};

    if (crowd->ended || !make_room(crowd) || poll(ends, 2, TICK_MS) <= 0)
        return;
    if (ends[1].revents != 0)
        take_words(crowd);
    if (ends[0].revents == 0)
        return;
    const ssize_t n = read(crowd->output, crowd->text + crowd->length, PIECE);

    if (n > 0)
        crowd->length += (size_t)n;
    crowd->ended = n == 0 || (n < 0 && errno != EINTR);
    take_lines(crowd);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* It stays a zombie, so that its process group stays its own until it is reaped. */
static bool has_ended(const struct crowd *crowd)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)crowd->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == crowd->pid;
}

static void wait_for_end(struct crowd *crowd, double seconds)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    struct watch watch;

    watch_start(&watch);
    while (!has_ended(crowd) && watch_seconds(&watch) < seconds) {
        if (crowd->ended)
            nanosleep(&pause, NULL);
        listen_to(crowd);
    }
    watch_close(&watch);
}

/* Without patience it is told at once. */
static void end(struct crowd *crowd, bool patient)
{
    if (crowd->input >= 0)
        close(crowd->input);
    crowd->input = -1;
    if (crowd->pid <= 0)
        return;
    if (patient)
        wait_for_end(crowd, patience);
    if (!has_ended(crowd)) {
        kill(crowd->pid, SIGTERM);
        wait_for_end(crowd, grace);
    }
    kill(-crowd->pid, SIGKILL);
    child_wait(crowd->pid, NULL);
    crowd->pid = 0;
    while (!crowd->ended && poll(&(struct pollfd){.fd = crowd->output, .events = POLLIN}, 1, 0) > 0)
        listen_to(crowd);
    while (crowd->error >= 0 &&
           poll(&(struct pollfd){.fd = crowd->error, .events = POLLIN}, 1, 0) > 0)
        take_words(crowd);
}

void crowd_close(struct crowd *crowd)
{
    if (!crowd)
        return;
    end(crowd, true);
    if (crowd->output >= 0)
        close(crowd->output);
    if (crowd->error >= 0)
        close(crowd->error);
    said_free(&crowd->said);
    free(crowd->text);
    free(crowd->answer);
    free(crowd);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static enum crowd_end part(struct crowd *crowd, const char **answer)
{
    json_t *answers[SAID_PROCESSES] = {NULL};
    struct watch watch;

    watch_start(&watch);
    while (!crowd->ended && !crowd_has_ended(crowd) && crowd->fault.text[0] == '\0' &&
           crowd->silent == 0 && watch_seconds(&watch) < crowd->limit + 2)
        listen_to(crowd);
    watch_close(&watch);
    end(crowd, crowd_has_ended(crowd));
    for (int p = 0; p < crowd->said.n; ++p) {
        const char *text = crowd_behind(crowd->said.process[p].ended, PARTING_REFUSED);

        answers[p] = text ? json_loads(text, 0, NULL) : NULL;
    }
    const enum crowd_end how = crowd_judge(crowd, answers, answer);

    for (int p = 0; p < crowd->said.n; ++p)
        json_decref(answers[p]);
    return how;
}

/* Each process by itself: who has not begun has not answered. */
static bool has_answered(const struct crowd *crowd, long long id)
{
    bool all = crowd->said.process[0].parts != NULL;

    for (int p = 0; p < crowd->said.n; ++p) {
        const struct said_process *from = &crowd->said.process[p];

        all = all && from->has[SAID_BEGUN] && from->has[SAID_ANSWER] &&
              strtoll(from->answer, NULL, 10) == id;
    }
    return all && crowd->fault.text[0] == '\0';
}

/* Messages so far. */
static unsigned long heard(const struct crowd *crowd)
{
    unsigned long n = 0;

    for (int p = 0; p < crowd->said.n; ++p)
        n += crowd->said.process[p].number;
    return n;
}

/* That many bytes more, and it need not keep more than it may. */
static bool has_room(const struct crowd *crowd, long long bytes)
{
    return crowd->sent + (unsigned long long)bytes <= crowd->said.process[0].read + CROWD_INPUT;
}

/* Until it is so, or cannot be any more. */
static void wait_until(struct crowd *crowd, bool (*is_so)(const struct crowd *, long long),
                       long long number)
{
    const double most = SILENT_LIMITS * crowd->limit + SILENT_SECONDS;
    unsigned long last = heard(crowd);
    struct watch watch;
    double since;

    watch_start(&watch);
    since = watch_seconds(&watch);
    while (!is_so(crowd, number) && !crowd_is_over(crowd)) {
        listen_to(crowd);
        if (heard(crowd) != last)
            since = watch_seconds(&watch);
        last = heard(crowd);
        /* Where one has answered, MPI has started, and the others have their answers, too. */
        const double wait = crowd->said.process[0].has[SAID_ANSWER] ? crowd->limit : most;

        if (watch_seconds(&watch) - since > wait)
            crowd->silent = wait;
    }
    watch_close(&watch);
}

/* What a launcher that is gone does not read shows at its output. */
static void write_line(struct crowd *crowd, const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        const size_t piece = left < CROWD_INPUT / 2 ? left : CROWD_INPUT / 2;

        wait_until(crowd, has_room, (long long)piece);
        if (!has_room(crowd, (long long)piece))
            return;
        const ssize_t n = write(crowd->input, line, piece);

        if (n < 0 && errno != EINTR)
            return;
        line += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
        crowd->sent += n > 0 ? (size_t)n : 0;
    }
}

enum crowd_end crowd_ask(struct crowd *crowd, long long id, const char *line, const char **answer)
{
    struct said_process *first = &crowd->said.process[0];
    struct text_error why = {""};
    char digest[DIGEST_HEX];

    if (crowd->input < 0)
        return crowd_lose(crowd, "these processes have ended", answer);
    write_line(crowd, line);
    write_line(crowd, "\n");
    wait_until(crowd, has_answered, id);
    if (!has_answered(crowd, id))
        return part(crowd, answer);
    (void)digest_sha256(line, strlen(line), digest); /* "": no process has that */
    if (crowd_said_all(crowd, CROWD_REQUEST, digest, &why)) {
        end(crowd, false);
        return crowd_lose(crowd, why.text, answer);
    }
    free(crowd->answer);
    crowd->answer = first->parts;
    first->parts = NULL;
    for (int p = 0; p < crowd->said.n; ++p)
        said_answer_taken(&crowd->said.process[p]);
    *answer = crowd->answer;
    return CROWD_ANSWERED;
}
