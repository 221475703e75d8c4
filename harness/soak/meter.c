/* soak/meter.c: a module around the model of each rank, which passes everything on, and notes what
 * the rank's worker does and how long. The time of a core is that of the worker's thread: what
 * other programs take of the core is not the device's. */
#include "soak/soak.h"

#include <time.h>

static uint64_t now_ns(const struct soak_meter *meter)
{
    struct timespec now;

    clock_gettime(meter->cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static struct soak_meter *meter_of(struct dp_module *module, const struct dp_run *run)
{
    struct soak_meters *meters = dp_module_self(module);
    const int replica = dp_run_replica(run);

    return &meters->of[replica < 0 ? 0 : replica];
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

int soak_meter_open(struct dp_group *group, struct dp_module *child, struct soak_meters *meters,
                    struct dp_module **module, struct dp_error *err)
{
    static const struct dp_module_ops ops = {
        .kind = "meter", .forward = meter_forward, .backward = meter_backward};

    for (int i = 0; i < dp_group_size(group); ++i) {
        struct dp_slot_info info;

        dp_slot_describe(dp_group_slot(group, i), &info);
        meters->of[i].cpu = (info.flags & DP_KIND_CORES) != 0;
    }
    soak_meter_clear(meters);
    return dp_module_open(group, &ops, meters, &child, 1, module, err);
}

void soak_meter_clear(struct soak_meters *meters)
{
    for (int i = 0; i < DP_MAX_SLOTS; ++i) {
        atomic_store(&meters->of[i].begun, 0);
        atomic_store(&meters->of[i].ended, 0);
        meters->of[i].busy_ns = 0;
    }
}
