/* process.c: starts the command, makes sure that it ends when we do, and ends it; reads how much
 * memory it has. */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/child.h"

enum { PATIENCE_MS = 1000, TICK_NS = 500000, DESCRIPTORS = 1024 };

/* Our other pipes must not stay open in this process: a reader that waits for their end would then
 * wait for this process, too. The system lists them, because the limit of descriptors can be a
 * million. */
static void close_all_but(int kept)
{
    int found[DESCRIPTORS], n = 0;
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (!list)
        return;
    while ((entry = readdir(list)) && n < DESCRIPTORS)
        if (entry->d_name[0] != '.')
            found[n++] = (int)strtol(entry->d_name, NULL, 10);
    closedir(list);
    for (int i = 0; i < n; ++i)
        if (found[i] > STDERR_FILENO && found[i] != kept)
            close(found[i]);
}

static void default_signals(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int number = 1; number < 32; ++number)
        sigaction(number, &action, NULL); /* fails for SIGKILL and SIGSTOP */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void start_watch(struct process *p)
{
    int life[2];

    if (child_pipe(life) != 0)
        return;
    p->watch = child_fork(CHILD_WATCH);
    if (p->watch == 0) {
        close(life[1]);
        /* Becomes a process that only waits for our death, by any signal: then the pipe ends. */
        const pid_t group = p->pid;
        const int our_life = life[0];
        const int nothing = open("/dev/null", O_RDWR);
        char byte;
        ssize_t n;

        default_signals();
        for (int i = 0; i <= STDERR_FILENO; ++i)
            dup2(nothing, i);
        close_all_but(our_life);
        do
            n = read(our_life, &byte, 1);
        while (n < 0 && errno == EINTR);
        if (n == 0)
            kill(-group, SIGKILL);
        _exit(0);
    }
    close(life[0]);
    p->alive = life[1];
    if (p->watch < 0)
        child_close(&p->alive);
}

int process_start(struct process *p, const char *command, char reason[PROCESS_REASON])
{
    int ends[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int made = 0;

    memset(p, 0, sizeof *p);
    p->input = p->output = p->error = p->alive = p->watch = -1;
    while (made < 3 && child_pipe(ends[made]) == 0)
        ++made;
    p->pid = made == 3 ? child_fork(CHILD_OWN_GROUP) : -1;
    if (p->pid == 0) {
        /* The three ends become descriptors 0, 1 and 2. Before, all of them are above 2. */
        default_signals();
        if (dup2(ends[0][0], STDIN_FILENO) < 0 || dup2(ends[1][1], STDOUT_FILENO) < 0 ||
            dup2(ends[2][1], STDERR_FILENO) < 0)
            _exit(126);
        close_all_but(STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (p->pid < 0)
        snprintf(reason, PROCESS_REASON, "no process could be started: %s", strerror(errno));
    child_close(&ends[0][0]);
    child_close(&ends[1][1]);
    child_close(&ends[2][1]);
    p->input = ends[0][1];
    p->output = ends[1][0];
    p->error = ends[2][0];
    if (p->pid < 0) {
        p->pid = 0;
        process_end(p, false);
        return -1;
    }
    fcntl(p->input, F_SETFL, O_NONBLOCK);
    fcntl(p->output, F_SETFL, O_NONBLOCK);
    fcntl(p->error, F_SETFL, O_NONBLOCK);
    start_watch(p);
    if (p->watch > 0)
        return 0;
    snprintf(reason, PROCESS_REASON, "no second process could be started: %s", strerror(errno));
    process_end(p, false);
    return -1;
}

bool process_has_ended(const struct process *p)
{
    siginfo_t info = {.si_pid = 0};

    if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno == ECHILD; /* if SIGCHLD is ignored */
    return info.si_pid == p->pid;
}

void process_end(struct process *p, bool patient)
{
    child_close(&p->input);
    if (p->pid > 0 && patient) {
        /* Reads the output that the process still writes, because it could not end otherwise. */
        const struct timespec tick = {.tv_nsec = TICK_NS};
        char rest[4096];

        for (int i = 0; i < PATIENCE_MS * 1000000 / TICK_NS && !process_has_ended(p); ++i) {
            while (read(p->output, rest, sizeof rest) > 0)
                ;
            while (read(p->error, rest, sizeof rest) > 0)
                ;
            nanosleep(&tick, NULL);
        }
    }
    if (p->pid > 0) {
        /* Before it is reaped: until then no other group can have this number. */
        kill(-p->pid, SIGKILL);
        child_wait(p->pid, NULL);
    }
    if (p->watch > 0) {
        kill(p->watch, SIGKILL);
        child_wait(p->watch, NULL);
    }
    child_close(&p->alive);
    child_close(&p->output);
    child_close(&p->error);
    free(p->line);
    p->line = NULL;
    p->pid = p->watch = 0;
    p->length = p->room = 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Returns the pages of a process if it is in the group, else 0. In the file its name is in brackets
 * and may contain any character, so fields are counted from the last bracket. */
static unsigned long long pages_of(const char *number, pid_t group)
{
    char path[64], text[1024];
    unsigned long long resident = 0;
    const char *fields;
    int its_group = 0;
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    file = fopen(path, "r");
    if (!file)
        return 0; /* it has ended since the folder was read */
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    fields = strrchr(text, ')');
    if (!fields ||
        sscanf(fields + 1,
               " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u "
               "%*u %llu",
               &its_group, &resident) != 2)
        return 0;
    return its_group == group ? resident : 0;
}

int process_resident(const struct process *p, size_t *bytes)
{
    unsigned long long pages = 0;
    const struct dirent *entry;
    DIR *list;

    *bytes = 0;
    if (p->pid <= 0)
        return -1;
    list = opendir("/proc");
    if (!list)
        return -1;
    while ((entry = readdir(list)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            pages += pages_of(entry->d_name, p->pid);
    closedir(list);
    *bytes = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
    return pages > 0 ? 0 : -1;
}
