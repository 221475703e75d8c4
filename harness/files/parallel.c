/* files/parallel.c: threads that live as long as one call, and take the next index each. */
#include "files/files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

struct job {
    void (*work)(void *context, size_t i);
    void *context;
    size_t n;
    atomic_size_t next;
};

static void *take_work(void *argument)
{
    struct job *job = argument;

    for (size_t i = atomic_fetch_add(&job->next, 1); i < job->n;
         i = atomic_fetch_add(&job->next, 1))
        job->work(job->context, i);
    return NULL;
}

void parallel_each(size_t n, size_t threads, void (*work)(void *context, size_t i), void *context)
{
    struct job job = {.work = work, .context = context, .n = n};
    pthread_t helper[MOST_THREADS];
    const size_t most = threads < MOST_THREADS ? threads : MOST_THREADS;
    size_t helpers = 0;

    while (helpers + 1 < most && helpers + 1 < n &&
           pthread_create(&helper[helpers], NULL, take_work, &job) == 0)
        ++helpers;
    take_work(&job);
    for (size_t i = 0; i < helpers; ++i)
        pthread_join(helper[i], NULL);
}

size_t parallel_cores(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 0 ? (size_t)cores : 1;
}
