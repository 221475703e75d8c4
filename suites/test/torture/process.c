/* process.c: programs that a test starts, kills and must outlive. */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double POLL_SECONDS = 0.001;

int process_adopt(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

double process_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void process_sleep_until(double time)
{
    struct timespec at = {.tv_sec = (time_t)time};

    at.tv_nsec = (long)((time - (double)at.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

static void become(char *const argv[], const int output[2], const char *const set[][2])
{
    const int input = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output[0], STDOUT_FILENO) < 0 ||
        dup2(output[1], STDERR_FILENO) < 0)
        _exit(126);
    for (int i = 0; set && set[i][0]; ++i)
        if (setenv(set[i][0], set[i][1], 1) != 0)
            _exit(126);
    close(input);
    execv(argv[0], argv);
    _exit(127);
}

pid_t process_start(char *const argv[], const char *const set[][2], const char *out,
                    const char *err)
{
    /* Here, so that they are there however early the program is killed. */
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, first = open(out, flags, 0666);
    const int output[] = {first, err ? open(err, flags, 0666) : first};
    const pid_t pid = output[0] < 0 || output[1] < 0 ? -1 : fork();

    if (pid == 0)
        become(argv, output, set);
    for (int i = 0; i < (err ? 2 : 1); ++i)
        if (output[i] >= 0)
            close(output[i]);
    return pid;
}

bool process_wait(pid_t pid, double seconds, int *status)
{
    const double end = process_now() + seconds;

    while (waitpid(pid, status, WNOHANG) != pid) {
        if (process_now() >= end)
            return false;
        process_sleep_until(process_now() + POLL_SECONDS);
    }
    return true;
}

/* The parent of a process as /proc knows it, -1 when there is none any more, or it has ended. */
static pid_t parent_of(const char *process)
{
    char path[300], text[512];
    const char *state;
    char ended;
    size_t n;
    int parent;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", process);
    file = fopen(path, "r");
    if (!file)
        return -1;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    state = strrchr(text, ')'); /* the name before it may hold anything */
    if (!state || sscanf(state + 1, " %c %d", &ended, &parent) != 2 || ended == 'Z')
        return -1;
    return parent;
}

size_t process_children(pid_t parent, pid_t child[], size_t max)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    size_t n = 0;

    while (folder && n < max && (entry = readdir(folder)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            parent_of(entry->d_name) == parent)
            child[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
    if (folder)
        closedir(folder);
    return n;
}

bool process_is_worker(pid_t pid)
{
    char path[64], name[64] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(name, sizeof name, file))
        name[0] = '\0';
    fclose(file);
    return strcmp(name, "lockstep cell\n") == 0;
}

/* Ends what stays, and what becomes an orphan by that. */
static pid_t end_all(void)
{
    pid_t child[16], first = 0;

    for (int round = 0; round < 100; ++round) {
        const size_t n = process_children(getpid(), child, sizeof child / sizeof child[0]);

        if (first == 0 && n > 0)
            first = child[0];
        for (size_t i = 0; i < n; ++i)
            kill(child[i], SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (waitpid(-1, NULL, WNOHANG) < 0)
            break;
        process_sleep_until(process_now() + 0.01);
    }
    return first;
}

pid_t process_leftover(double seconds)
{
    const double end = process_now() + seconds;

    while (process_now() < end) {
        const pid_t pid = waitpid(-1, NULL, WNOHANG);

        if (pid < 0 && errno == ECHILD)
            return 0;
        if (pid == 0)
            process_sleep_until(process_now() + POLL_SECONDS);
    }
    return end_all();
}
