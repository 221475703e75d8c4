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

    if (pid > 0 && group == CHILD_OWN_GROUP)
        setpgid(pid, pid); /* both do it: it holds whoever comes first */
    if (pid != 0)
        return pid;
    if (group == CHILD_OWN_GROUP)
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE); /* it died before the line above */
    return 0;
}

int child_pipe(int ends[2])
{
    if (pipe(ends))
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

int child_wait(pid_t pid, int *status)
{
    pid_t ended;

    do
        ended = waitpid(pid, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == pid ? 0 : -1;
}
