/* soak/watch.c: a module around the model of each rank, which measures how long the rank's worker
 * computes; and a thread that notices an iteration that does not end.
 *
 * The time of a core is that of the worker's thread: it leaves out the time that other programs
 * take of the core. A device hangs if it has begun a forward or backward and not ended it. The
 * program ends then, because the thread that hangs cannot be stopped. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "measure/session.h"
#include "soak/soak.h"
#include "text/alloc.h"

/* ---- meter ----------------------------------------------------------------------------------- */

static uint64_t now_ns(const struct soak_meter *meter)
{
    return watch_ns(meter->cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC_RAW);
}

static struct soak_meter *meter_of(struct dp_module *module, const struct dp_run *run)
{
    struct soak_ranks *ranks = dp_module_self(module);
    const int replica = dp_run_replica(run);

    return &ranks->meter[replica < 0 ? 0 : replica];
}

static uint64_t begin(struct soak_meter *meter)
{
    atomic_fetch_add(&meter->begun, 1);
    return now_ns(meter);
}

static void end(struct soak_meter *meter, uint64_t since)
{
    meter->busy_ns += now_ns(meter) - since;
    atomic_fetch_add(&meter->ended, 1);
}

static int meter_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                         int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct soak_meter *meter = meter_of(module, run);
    const uint64_t since = begin(meter);
    const int status = dp_forward(dp_module_child(module, 0), run, in, n_in, out, n_out, err);

    end(meter, since);
    return status;
}

static int meter_backward(struct dp_module *module, struct dp_run *run,
                          const struct dp_tensor grad_out[], int n_out, struct dp_tensor grad_in[],
                          int n_in, struct dp_error *err)
{
    struct soak_meter *meter = meter_of(module, run);
    const uint64_t since = begin(meter);
    const int status =
        dp_backward(dp_module_child(module, 0), run, grad_out, n_out, grad_in, n_in, err);

    end(meter, since);
    return status;
}

int soak_meter_open(void *user, struct dp_group *group, struct dp_module *child,
                    struct dp_module **module, struct dp_error *err)
{
    struct soak_ranks *ranks = user;
    static const struct dp_module_ops ops = {
        .kind = "meter", .forward = meter_forward, .backward = meter_backward};

    for (int i = 0; i < dp_group_size(group); ++i) {
        struct dp_slot_info info;

        dp_slot_describe(dp_group_slot(group, i), &info);
        ranks->meter[i].cpu = (info.flags & DP_KIND_CORES) != 0;
    }
    soak_meter_clear(ranks);
    return dp_module_open(group, &ops, ranks, &child, 1, module, err);
}

void soak_meter_clear(struct soak_ranks *ranks)
{
    for (int i = 0; i < DP_MAX_SLOTS; ++i) {
        atomic_store(&ranks->meter[i].begun, 0);
        atomic_store(&ranks->meter[i].ended, 0);
        ranks->meter[i].busy_ns = 0;
    }
}

/* ---- watch ----------------------------------------------------------------------------------- */

struct soak_watch {
    struct soak *soak;
    pthread_t thread;
    atomic_bool stop;
};

static const struct timespec NAP = {.tv_nsec = 20000000};

static void note_hang(struct soak *soak, uint64_t iteration, int device, const char *where)
{
    struct soak_finding finding = {
        .what = SOAK_HUNG, .iteration = iteration, .device = device, .param = -1};

    snprintf(finding.text, sizeof finding.text, "%s, longer than %g s", where,
             soak->options->limit);
    soak_note(soak, &finding);
}

static void *watch(void *context)
{
    struct soak_watch *w = context;
    struct soak *soak = w->soak;
    const double limit_ns = soak->options->limit * 1e9;

    while (!atomic_load(&w->stop)) {
        const uint64_t iteration = atomic_load(&soak->watch_iteration);
        const uint64_t since = atomic_load(&soak->watch_ns);

        if (since > 0 && (double)watch_clock_ns() - (double)since > limit_ns &&
            iteration == atomic_load(&soak->watch_iteration)) {
            /* The thread that iterates writes nothing meanwhile: it hangs. */
            const struct soak_meter *meter = soak->ranks.meter;
            bool inside = false;

            for (int r = 0; r < soak->ranks.n; ++r)
                if (atomic_load(&meter[r].begun) > atomic_load(&meter[r].ended)) {
                    note_hang(soak, iteration, r,
                              atomic_load(&meter[r].begun) > 1 ? "backward" : "forward");
                    inside = true;
                }
            if (!inside)
                note_hang(soak, iteration, -1,
                          "no device is in forward or backward: a transfer or a reduction");
            soak->over = true;
            soak_conclude(soak);
            fflush(stdout);
            _exit(EXIT_FAILED);
        }
        nanosleep(&NAP, NULL);
    }
    return NULL;
}

struct soak_watch *soak_watch_open(struct soak *soak)
{
    struct soak_watch *w = cli_alloc(1, sizeof *w);

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
