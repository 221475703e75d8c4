/* launch/child.c: starting processes, waiting for them, and what is shared with them. */
#define _DEFAULT_SOURCE /* MAP_NORESERVE */
#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
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

pid_t child_execute(const char *program, char *const argument[], const int streams[3],
                    const char *directory)
{
    const pid_t pid = child_fork(CHILD_OWN_GROUP);

    if (pid != 0)
        return pid;
    for (int i = 0; i < 3; ++i)
        if (streams[i] != i && dup2(streams[i], i) < 0)
            _exit(126);
    if (directory && chdir(directory) != 0)
        _exit(126);
    /* Our programs begin with one BLAS thread in any case. The pool that OpenBLAS would start
     * before that spins for some hundredths of a second on the cores that are to be measured. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execvp(program, argument);
    _exit(errno == ENOENT ? 127 : 126);
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

bool child_has_ended(pid_t pid, siginfo_t *info)
{
    *info = (siginfo_t){.si_pid = 0};
    return waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT) == 0 && info->si_pid == pid;
}

bool child_signal_is_foreign(int number)
{
    return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
}

void child_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

ssize_t child_write(int fd, const void *bytes, size_t n)
{
    const struct timespec at_once = {0};
    sigset_t pipe_only, before, pending;
    ssize_t written;
    int problem;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    written = write(fd, bytes, n);
    problem = errno;
    if (written < 0 && problem == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_only, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = problem;
    return written;
}

void *child_shared_memory(size_t bytes)
{
    const int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
    void *memory;

    if (zero < 0)
        return NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, zero, 0);
    close(zero);
    return memory == MAP_FAILED ? NULL : memory;
}
