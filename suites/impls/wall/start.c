/* start.c: the process of an implementation: how it is set up, and how it ends.
 *
 * It cannot read our memory: we are not traceable (the harness sees to that), and it gives up the
 * right of root to trace such processes. */
#define _DEFAULT_SOURCE /* syscall, MAP_NORESERVE */

#include "inside.h"

#include "launch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- becoming the other side ----------------------------------------------------------------- */

/* The address is sent to the process that judges. Then the fault happens again, with its usual
 * effect. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    const void *const at = info->si_addr;

    (void)context;
    if (info->si_code <= 0 || write(WALL_FD, &at, sizeof at) < 0)
        raise(number);
}

/* Tries to give up the right; a user who is not root does not have it. */
static void give_up_tracing(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];

    memset(data, 0, sizeof data);
    prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0);
    if (syscall(SYS_capget, &header, data) != 0)
        return;
    data[0].effective &= ~((uint32_t)1 << CAP_SYS_PTRACE);
    data[0].permitted &= ~((uint32_t)1 << CAP_SYS_PTRACE);
    data[0].inheritable &= ~((uint32_t)1 << CAP_SYS_PTRACE);
    syscall(SYS_capset, &header, data);
}

struct pipes {
    int ask[2], answer[2], fault[2];
};

static _Noreturn void become_other(struct wall *wall, const struct wall_plan *plan,
                                   struct pipes *pipes)
{
    struct wall_serve serve = {.plan = plan, .box = wall->box, .arena = wall->arena};

    if (plan->forget)
        plan->forget(plan->context);
    close(pipes->ask[1]);
    close(pipes->answer[0]);
    close(pipes->fault[0]);
    if (dup2(pipes->fault[1], WALL_FD) < 0 || fcntl(WALL_FD, F_SETFD, FD_CLOEXEC) < 0)
        _exit(EXIT_FAILURE);
    serve.ask = fcntl(pipes->ask[0], F_DUPFD_CLOEXEC, WALL_FD + 1);
    serve.answer = fcntl(pipes->answer[1], F_DUPFD_CLOEXEC, WALL_FD + 1);
    close(pipes->ask[0]);
    close(pipes->answer[1]);
    close(pipes->fault[1]);
    if (serve.ask < 0 || serve.answer < 0)
        _exit(EXIT_FAILURE);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* a debugger may attach to it */
    give_up_tracing();
    if (!plan->sanitized) {
        struct sigaction action = {.sa_sigaction = on_fault};

        action.sa_flags = SA_SIGINFO | (int)SA_RESETHAND;
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
    }
    wall_serve(&serve);
}

/* ---- start and end --------------------------------------------------------------------------- */

static int open_pipes(struct pipes *pipes)
{
    int *const all[] = {pipes->ask, pipes->answer, pipes->fault};

    for (int i = 0; i < 3; ++i)
        all[i][0] = all[i][1] = -1;
    for (int i = 0; i < 3; ++i)
        if (child_pipe(all[i]) != 0)
            return -1;
    return fcntl(pipes->fault[0], F_SETFL, O_NONBLOCK) < 0 ? -1 : 0;
}

static void free_wall(struct wall *wall)
{
    child_close(&wall->ask);
    child_close(&wall->answer);
    child_close(&wall->fault);
    arena_close(&wall->arena);
    if (wall->box)
        munmap(wall->box, sizeof(struct wall_box) + WALL_ROOM);
    free(wall);
}

static int fork_other(struct wall *wall, const struct wall_plan *plan)
{
    struct pipes pipes;
    int problem = open_pipes(&pipes) ? errno : 0;

    if (problem == 0) {
        wall->pid = child_fork(CHILD_SAME_GROUP);
        if (wall->pid == 0)
            become_other(wall, plan, &pipes);
        problem = wall->pid < 0 ? errno : 0;
    }
    child_close(&pipes.ask[0]);
    child_close(&pipes.answer[1]);
    child_close(&pipes.fault[1]);
    wall->ask = pipes.ask[1];
    wall->answer = pipes.answer[0];
    wall->fault = pipes.fault[0];
    errno = problem;
    return problem == 0 ? 0 : -1;
}

/* Reads the result of loading. */
static int take_load(struct wall *wall, char reason[WALL_REASON], bool *blame)
{
    *blame = false;
    if (wall_answer(wall, "load") != 0) {
        *blame = wall->fell;
        snprintf(reason, WALL_REASON, "%s", wall->dead);
        return -1;
    }
    if (wall->box->status != IMPL_OK) {
        memcpy(reason, wall->box->reason, WALL_REASON);
        reason[WALL_REASON - 1] = '\0';
        return -1;
    }
    memcpy(wall->changed, wall->box->changed, sizeof wall->changed);
    wall->changed[sizeof wall->changed - 1] = '\0';
    if (wall->changed[0] != '\0') {
        *blame = true;
        snprintf(reason, WALL_REASON, "load left changed: %s", wall->changed);
        return -1;
    }
    memcpy(wall->options, wall->box->options, sizeof wall->options);
    wall->options[sizeof wall->options - 1] = '\0';
    /* Keeps only the operations that exist; the members from `open` on are functions. */
    enum { FIRST = offsetof(struct impl_ops, open), EACH = sizeof wall->ops.open };
    static const unsigned char none[EACH];
    struct impl_ops there;

    memcpy(&there, &wall->box->table, sizeof there);
    wall->ops = remote_ops;
    wall->ops.open = wall_open;
    wall->ops.close = wall_close;
    for (size_t at = FIRST; at + EACH <= sizeof there; at += EACH)
        if (memcmp((const unsigned char *)&there + at, none, EACH) == 0)
            memset((unsigned char *)&wall->ops + at, 0, EACH);
    return 0;
}

int wall_start(const struct wall_plan *plan, struct wall **wall, char reason[WALL_REASON],
               bool *blame)
{
    struct wall *made = calloc(1, sizeof *made);
    char ignored[WALL_REASON];

    *wall = NULL;
    *blame = false;
    if (!made) {
        snprintf(reason, WALL_REASON, "out of memory");
        return -1;
    }
    made->ask = made->answer = made->fault = -1;
    made->box = child_shared_memory(sizeof(struct wall_box) + WALL_ROOM);
    if (!made->box || arena_open(&made->arena, ARENA_SHARED) != 0 || fork_other(made, plan) != 0) {
        snprintf(reason, WALL_REASON, "no process for the implementation can be started: %s",
                 strerror(errno));
        free_wall(made);
        return -1;
    }
    if (take_load(made, reason, blame) == 0) {
        *wall = made;
        return 0;
    }
    wall_end(made, ignored);
    return -1;
}

int wall_end(struct wall *wall, char reason[WALL_REASON])
{
    siginfo_t info;
    int status = 0;

    child_close(&wall->ask);
    wall_wait(wall, &info);
    /* The system gives its number to no other process before it was waited for. */
    kill(wall->pid, SIGKILL);
    child_wait(wall->pid, &status);
    if (wall->dead[0] != '\0' || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        free_wall(wall);
        return 0;
    }
    if (WIFEXITED(status))
        snprintf(reason, WALL_REASON, "the process ended with status %d", WEXITSTATUS(status));
    else
        snprintf(reason, WALL_REASON, "the process did not end by itself: signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    free_wall(wall);
    return -1;
}
