/* check/strays.c: finds and kills the processes that an implementation leaves
 * running. */
#include "check/runner.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The fields of /proc/PID/stat between the parent and the number of threads: proc(5). */
#define OTHERS " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"

enum { PAUSE_NS = 2000000, GRACE_PAUSES = 100, KILL_ROUNDS = 20 };

void strays_watch(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* ---- /proc ----------------------------------------------------------------------------------- */

/* Whether a process is a child of ours that lives. In the file its name is in brackets, and may
 * contain any character. A zombie with more than one thread lives: only its first thread has
 * ended. */
static bool is_living_child(const char *number, char name[32])
{
    char path[64], text[512], state = 'Z', *end;
    int parent = 0, threads = 0;
    const char *begin;
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    file = fopen(path, "r");
    if (!file)
        return false; /* it has ended since the folder was read */
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    begin = strchr(text, '(');
    end = strrchr(text, ')');
    if (!begin || !end || sscanf(end + 1, " %c %d" OTHERS " %d", &state, &parent, &threads) != 3)
        return false;
    if (parent != (int)getpid() || state == 'X' || (state == 'Z' && threads < 2))
        return false;
    *end = '\0';
    snprintf(name, 32, "%.31s", begin + 1);
    return true;
}

size_t strays_kill(const pid_t spared[], size_t n, char name[32])
{
    DIR *list = opendir("/proc");
    const struct dirent *entry;
    size_t killed = 0;

    if (!list)
        return 0;
    while ((entry = readdir(list))) {
        const long pid = strtol(entry->d_name, NULL, 10);
        bool is_spared = false;

        for (size_t i = 0; i < n; ++i)
            is_spared = is_spared || spared[i] == (pid_t)pid;
        if (pid > 1 && !is_spared && is_living_child(entry->d_name, name))
            killed += kill((pid_t)pid, SIGKILL) == 0;
    }
    closedir(list);
    return killed;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool all_end_soon(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    pid_t pid;

    for (int i = 0; i < GRACE_PAUSES; ++i) {
        do
            pid = waitpid(-1, NULL, WNOHANG); /* reaps the children that have ended */
        while (pid > 0);
        if (pid != 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* A process that was killed takes a moment to end, and then its children become ours. A process
 * that ends by itself during the search is not found, and is not left, either. */
void strays_end(struct strays *strays)
{
    int watched = 0;

    *strays = (struct strays){.unwatched = prctl(PR_GET_CHILD_SUBREAPER, &watched, 0, 0, 0) != 0 ||
                                           watched != 1};
    if (all_end_soon())
        return;
    for (int round = 0; round < KILL_ROUNDS; ++round) {
        const size_t killed = strays_kill(NULL, 0, strays->name);

        strays->n += (uint32_t)killed;
        if (all_end_soon())
            return;
        if (killed == 0)
            break;
    }
    strays->unseen = 1;
}
