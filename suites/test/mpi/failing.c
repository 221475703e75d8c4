/* failing.c: one process of several misbehaves at a call; the others end, and name it.
 *
 *   lockstep-mpi-failing MODULE KIND HOW VICTIM AT ELEMENTS DEADLINE_MS
 *
 * All processes make calls of KIND, over and over. HOW is the thing that process VICTIM does
 * instead of its call number AT: kill, stop, late (sleeps for longer than the deadline), other
 * (makes another call), larger (a call with more bytes), abort (gives up), none; or during, killed:
 * a second thread stops or kills the process at some time. Each process that lives prints one line:
 * itself, the milliseconds that the failing call and the close took, and the error. The exit status
 * is 3 if the error was expected. */
#include "backend.h"
#include "ddp.h"
#include "dp_mpi.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 12, SPREADS = 5 };

static const char *const kinds[] = {"allreduce", "broadcast", "allgather", "reducescatter",
                                    "alltoall",  "sum",       "send",      "exchange",
                                    "barrier",   "agree"};
enum { SUM = SPREADS, SEND, EXCHANGE, BARRIER, AGREE, KINDS };

struct test {
    struct dp_mpi *mpi;
    struct dp_group *group;
    int victim;
    size_t n;
    struct dp_tensor in, out, large;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void nap(unsigned long us)
{
    const struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

static int call(struct test *t, int kind, size_t n, struct dp_error *err)
{
    const struct dp_world *world = dp_mpi_world(t->mpi);
    int64_t values[4] = {1, 2, 3, 4};
    char all[8 * 8], mine[8] = "bytes";
    struct dp_tensor in = t->in, out = t->out;
    const size_t ranks = (size_t)dp_mpi_size(t->mpi);
    switch (kind) {
    case SUM:
    case SEND:
        in.dim[0] = n;
        return kind == SUM ? dp_allreduce(t->group, &in, err)
                           : dp_broadcast(t->group, &in, t->victim, err);
    case EXCHANGE:
        return world->bootstrap->exchange(world->self, mine, sizeof mine, all, err);
    case BARRIER:
        return world->bootstrap->barrier(world->self, err);
    case AGREE:
        return dp_comm_allreduce_max(t->group, values, 4, err);
    default:
        in.dim[0] =
            n * (kind == DP_COLLECTIVE_REDUCESCATTER || kind == DP_COLLECTIVE_ALLTOALL ? ranks : 1);
        out.dim[0] =
            n * (kind == DP_COLLECTIVE_ALLGATHER || kind == DP_COLLECTIVE_ALLTOALL ? ranks : 1);
        return dp_collective_run(t->group, (enum dp_collective_kind)kind, t->victim, &in, &out,
                                 err);
    }
}

struct blow {
    unsigned long us;
    int signal;
};

static void *strike(void *arg)
{
    const struct blow *blow = arg;
    nap(blow->us);
    kill(getpid(), blow->signal);
    return NULL;
}

/* Makes the victim misbehave; its proper call comes after that. */
static int go_wrong(struct test *t, const char *how, int kind, unsigned deadline_ms,
                    struct dp_error *err)
{
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "stop") == 0)
        kill(getpid(), SIGSTOP);
    if (strcmp(how, "late") == 0)
        nap((deadline_ms + 1000) * 1000ul);
    if (strcmp(how, "abort") == 0)
        dp_mpi_abort(t->mpi);
    if (strcmp(how, "other") == 0)
        return call(t, kind == BARRIER ? EXCHANGE : BARRIER, t->n, err);
    if (strcmp(how, "larger") == 0)
        return call(t, kind, t->n * 2, err);
    return 0;
}

static int failing_run(struct test *t, int kind, const char *how, int at, unsigned deadline_ms)
{
    struct dp_error err = {0};
    double begin = now_ms();
    int status = 0;
    const bool victim = dp_mpi_rank(t->mpi) == t->victim;
    const bool killed = strcmp(how, "killed") == 0, during = killed || strcmp(how, "during") == 0;
    struct blow blow = {200ul * (unsigned long)at, killed ? SIGKILL : SIGSTOP};
    pthread_t thread;
    if (victim && during && pthread_create(&thread, NULL, strike, &blow) == 0)
        pthread_detach(thread);
    const int calls = during ? 100000 : CALLS;
    for (int k = 1; status == 0 && k <= calls; ++k) {
        begin = now_ms();
        if (victim && k == at)
            status = go_wrong(t, how, kind, deadline_ms, &err);
        status = status ? status : call(t, kind, t->n, &err);
    }
    if (status == 0) /* sends and broadcasts wait for no other process */
        status = call(t, BARRIER, 1, &err);
    const double failed = now_ms();
    if (status) { /* no call works after it */
        struct dp_error again = {0};
        if (call(t, kind, t->n, &again) == 0)
            dp_fail(&err, DP_EFAULT, "a call behind it did not fail");
    }
    dp_group_close(t->group);
    struct dp_error close_err = {0};
    const int closed = dp_mpi_close(t->mpi, &close_err);
    printf("process %d: %.0f ms, close %.0f ms: %s\n", (int)getpid(), failed - begin,
           now_ms() - failed, status ? err.text : "no error");
    fflush(stdout);
    return status && closed ? 3 : status || closed ? 4 : 0;
}

int main(int argc, char **argv)
{
    struct test t = {.mpi = NULL};
    struct dp_error err = {0};
    int kind = 0;
    if (argc != 8)
        return 2;
    while (kind < KINDS && strcmp(kinds[kind], argv[2]) != 0)
        ++kind;
    if (kind == KINDS)
        return 2;
    const unsigned deadline_ms = (unsigned)strtoul(argv[7], NULL, 10);
    const struct dp_mpi_config config = {.module = argv[1], .deadline_ms = deadline_ms};
    /* A launcher that sees one die ends the others with SIGTERM: here they have to end by
     * themselves. */
    signal(SIGTERM, SIG_IGN);
    int status = dp_mpi_open(&config, &t.mpi, &err);
    const struct dp_group_config g = {.devices = "virt:1",
                                      .world = t.mpi ? dp_mpi_world(t.mpi) : NULL};
    const double begin = now_ms();
    if (status == 0) {
        printf("started %d %d\n", dp_mpi_rank(t.mpi), (int)getpid());
        fflush(stdout);
        status = dp_group_open(&g, &t.group, &err);
    }
    if (status && t.mpi) { /* the others have come to their first call */
        printf("process %d: %.0f ms, close 0 ms: %s\n", (int)getpid(), now_ms() - begin, err.text);
        fflush(stdout);
        _exit(3);
    }
    t.victim = (int)strtol(argv[4], NULL, 10);
    t.n = strtoul(argv[6], NULL, 10);
    const size_t most = status ? 0 : 2 * t.n * (size_t)dp_mpi_size(t.mpi);
    if (status == 0)
        status = dp_tensor_alloc(dp_group_slot(t.group, 0), DP_F32, 1, &most, &t.in, &err);
    if (status == 0)
        status = dp_tensor_alloc(dp_group_slot(t.group, 0), DP_F32, 1, &most, &t.out, &err);
    if (status) {
        printf("FAIL: %s\n", err.text);
        fflush(stdout);
        _exit(1);
    }
    _exit(failing_run(&t, kind, argv[3], (int)strtol(argv[5], NULL, 10), deadline_ms));
}
