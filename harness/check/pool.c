/* check/pool.c: keeps as many processes running as were asked for, until all jobs are done. */
#include "check/pool.h"
#include "files/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

enum { SIGNAL_CHECK_MS = 50, POOL_HANGS = 12, FORK_TRIES = 200 };

struct pool {
    struct runner_job *jobs;
    size_t n, next; /* jobs from next on were not begun */
    struct runner_process *process;
    size_t slots;
    struct pollfd *poll; /* two per slot */
    size_t hangs;        /* cases in a row that gave no verdict in time, of any job */
    const struct runner_watcher *watcher;
};

/* The last verdict of a process may still change when the process ends, so it is not yet told. */
static void tell_watcher(const struct pool *pool, struct runner_job *job, size_t upto)
{
    for (; job->watched < upto; ++job->watched)
        if (pool->watcher)
            pool->watcher->verdict(pool->watcher->context, job->result[job->watched]);
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 100000};

    nanosleep(&pause, NULL);
}

/* A system that has no process to spare for a moment is no reason to stop. */
static int start_process(struct runner_process *process, struct runner_job *job)
{
    for (int i = 0; i < FORK_TRIES; ++i) {
        if (runner_process_start(process, job) == 0)
            return 0;
        if (errno != EAGAIN || stop_requested())
            return -1;
        for (int j = 0; j < 50; ++j)
            nap();
    }
    return -1;
}

/* Waits until there is something to read, or a deadline, or the time to check for signals. */
static void wait_for_words(struct pool *pool)
{
    const double now = runner_now();
    double left = SIGNAL_CHECK_MS / 1e3;

    for (size_t i = 0; i < pool->slots; ++i) {
        const struct runner_process *process = &pool->process[i];
        const bool busy = process->job != NULL;

        pool->poll[2 * i] = (struct pollfd){busy ? process->results : -1, POLLIN, 0};
        pool->poll[2 * i + 1] = (struct pollfd){busy ? process->noise : -1, POLLIN, 0};
        if (busy && process->ending)
            left = 0;
        else if (busy && process->deadline - now < left)
            left = process->deadline - now;
    }
    if (left <= 0)
        nap();
    if (poll(pool->poll, (nfds_t)(2 * pool->slots), left <= 0 ? 0 : (int)(left * 1e3) + 1) < 0)
        return;
    for (size_t i = 0; i < pool->slots; ++i) {
        if (pool->poll[2 * i].revents != 0)
            runner_process_listen(&pool->process[i]);
        if (pool->poll[2 * i + 1].revents != 0)
            runner_process_hear(&pool->process[i]);
    }
}

/* A process becomes our child if the process that started it has ended. It is killed, and the case
 * reports it. */
static void end_strays(const struct pool *pool, struct runner_job *job)
{
    pid_t *spared = calloc(pool->slots, sizeof *spared);
    size_t n = 0, killed;

    for (size_t i = 0; i < pool->slots && spared; ++i)
        if (pool->process[i].job)
            spared[n++] = pool->process[i].pid;
    killed = spared ? strays_kill(spared, n) : 0;
    free(spared);
    if (job && killed > 0 && job->n > 0 && job->next > 0)
        job->result[job->next - 1]->strays.n += (uint32_t)killed;
}

/* A job whose process ended is done, or continues in another process. */
static int collect_jobs(struct pool *pool)
{
    for (size_t i = 0; i < pool->slots; ++i) {
        struct runner_process *process = &pool->process[i];
        struct runner_job *job = process->job;

        if (!job)
            continue;
        if (!runner_process_ended(process)) {
            tell_watcher(pool, job, job->next > 0 ? job->next - 1 : 0);
            continue;
        }
        if (job->unclean)
            end_strays(pool, job);
        tell_watcher(pool, job, job->next);
        pool->hangs = job->hangs > 0 ? pool->hangs + 1 : 0;
        /* Hundreds of cases that all hang would take hours. */
        for (; pool->hangs >= POOL_HANGS && pool->next < pool->n; ++pool->next) {
            struct runner_job *rest = &pool->jobs[pool->next];

            runner_give_up(rest, "not run: many cases in a row gave no answer in time");
            tell_watcher(pool, rest, rest->n);
        }
        if (job->next < job->n && start_process(process, job))
            return -1;
    }
    return 0;
}

int runner_pool(struct runner_job jobs[], size_t n, size_t slots,
                const struct runner_watcher *watcher)
{
    struct pool pool = {.jobs = jobs, .n = n, .slots = slots, .watcher = watcher};
    bool busy = false;
    int status = 0, saved;

    pool.process = calloc(slots, sizeof *pool.process);
    pool.poll = calloc(2 * slots, sizeof *pool.poll);
    errno = ENOMEM;
    strays_watch();
    if (!pool.process || !pool.poll)
        status = -1;
    while (status == 0 && (pool.next < n || busy)) {
        if (stop_requested()) {
            status = 1;
            break;
        }
        for (size_t i = 0; i < slots && pool.next < n && status == 0; ++i)
            if (!pool.process[i].job)
                status = start_process(&pool.process[i], &pool.jobs[pool.next++]);
        if (status == 0)
            wait_for_words(&pool);
        if (status == 0)
            status = collect_jobs(&pool);
        busy = false;
        for (size_t i = 0; i < slots; ++i)
            busy = busy || pool.process[i].job;
    }
    saved = errno;
    for (size_t i = 0; pool.process && i < slots; ++i)
        if (pool.process[i].job)
            runner_process_stop(&pool.process[i]);
    if (status != 0 && pool.process)
        end_strays(&pool, NULL);
    free(pool.process);
    free(pool.poll);
    errno = saved;
    return status;
}
