/* soak/watch.c: a thread that looks whether an iteration ends. One that does not is told from the
 * meters of the devices: that which has begun something and not ended it hangs. The program ends
 * then, for nobody can stop the thread that hangs. */
#include "soak/soak.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "measure/session.h"

struct soak_watch {
    struct soak *soak;
    pthread_t thread;
    atomic_bool stop;
};

static const struct timespec NAP = {.tv_nsec = 20000000};

static void note(struct soak *soak, uint64_t iteration, int device, const char *where)
{
    struct soak_finding finding = {
        .what = SOAK_HUNG, .iteration = iteration, .device = device, .param = -1};

    snprintf(finding.text, sizeof finding.text, "%s, longer than %g s", where,
             soak->options->limit);
    soak_note(soak, &finding);
}

/* The thread that iterates writes nothing meanwhile: it hangs. */
static void end_program(struct soak *soak, uint64_t iteration)
{
    const struct soak_meter *meter = soak->ranks.meters.of;
    size_t inside = 0;

    for (int r = 0; r < soak->ranks.n; ++r)
        if (atomic_load(&meter[r].begun) > atomic_load(&meter[r].ended)) {
            note(soak, iteration, r, atomic_load(&meter[r].begun) > 1 ? "backward" : "forward");
            ++inside;
        }
    if (inside == 0)
        note(soak, iteration, -1, "no device is in forward or backward: a transfer or a reduction");
    soak->over = true;
    soak_conclude(soak);
    fflush(stdout);
    _exit(EXIT_FAILED);
}

static void *watch(void *context)
{
    struct soak_watch *w = context;
    struct soak *soak = w->soak;
    const double limit_ns = soak->options->limit * 1e9;

    while (!atomic_load(&w->stop)) {
        const uint64_t iteration = atomic_load(&soak->watch_iteration);
        const uint64_t since = atomic_load(&soak->watch_ns);

        if (since > 0 && (double)session_clock_ns() - (double)since > limit_ns &&
            iteration == atomic_load(&soak->watch_iteration))
            end_program(soak, iteration);
        nanosleep(&NAP, NULL);
    }
    return NULL;
}

struct soak_watch *soak_watch_open(struct soak *soak)
{
    struct soak_watch *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->soak = soak;
    if (pthread_create(&w->thread, NULL, watch, w) == 0)
        return w;
    free(w);
    return NULL;
}

void soak_watch_close(struct soak_watch *watch)
{
    if (!watch)
        return;
    atomic_store(&watch->stop, true);
    pthread_join(watch->thread, NULL);
    free(watch);
}
