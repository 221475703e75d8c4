/* files/child.c: starting processes, and waiting for them. */
#include "files/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_fork(enum child_group group)
{
    const pid_t parent = getpid();

    fflush(NULL);

    const pid_t pid = fork();

    if (pid > 0 && group != CHILD_SAME_GROUP)
        setpgid(pid, pid); /* both do it: it holds whichever comes first */
    if (pid != 0)
        return pid;
    if (group != CHILD_SAME_GROUP)
        setpgid(0, 0);
    if (group == CHILD_WATCH)
        return 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE); /* it died before the line above */
    return 0;
}

int child_pipe(int ends[2])
{
    int low[2];

    if (pipe(low))
        return -1;
    for (int i = 0; i < 2; ++i) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    close(ends[0]);
    close(ends[1]);
    return -1;
}

int child_wait(pid_t pid, int *status)
{
    pid_t ended;

    do
        ended = waitpid(pid, status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0) { /* it is not left running */
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return ended == pid ? 0 : -1;
}
