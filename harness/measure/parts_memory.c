/* measure/parts_memory.c: measures copies from the host to each device, within its memory, and
 * back.
 *
 * A turn of a device is one chain of the three copies: the numbers that come back must be those
 * that were sent, or one of the copies went wrong. Each turn has other numbers, so that none of the
 * turn before are taken for them. The worker of the device makes the copy within its memory:
 * another thread could be far from that memory. */
#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

#include "numbers/equal.h"
#include "text/alloc.h"

enum {
    LEAST_SAMPLES = 5,
    MOST_CHAINS = 40, /* of a device */
    CHAINED = 3,      /* parts that a chain is for */
    SHIFT = 1024 /* from the numbers of a turn to those of another: a page, so that all are aligned
                    alike */
};
/* Sizes of the copies, larger than the caches of most processors, and of GPUs. */
static const size_t FLOATS_OF_CORE = (size_t)16 << 20, FLOATS_OF_GPU = (size_t)128 << 20;
/* The phase that the copy within a device is timed as; nothing else here uses it. */
static const enum dp_phase timed = DP_PHASE_LOSS;

struct copy_chain {
    struct dp_group *group;
    int devices;
    size_t n;
    struct dp_module *inner;
    struct dp_replicas *replicas;
    struct dp_tensor first[DP_MAX_SLOTS], second[DP_MAX_SLOTS], out[DP_MAX_SLOTS][DP_MAX_IO];
    struct dp_trace trace;
    int whose;    /* the device that copies now */
    bool fresh;   /* its memory was never written */
    float *there; /* numbers of all turns, n for each, each SHIFT after the one before */
    float *back;  /* n */
};

/* ---- the copy within a device ------------------------------------------------------------- */

/* Runs on the worker of each device; only the device whose turn it is does anything. New memory is
 * placed near the thread that writes it first. */
static int copy_forward(struct dp_module *module, struct dp_run *run, const struct dp_tensor in[],
                        int n_in, struct dp_tensor out[], int *n_out, struct dp_error *err)
{
    struct copy_chain *c = dp_module_self(module);
    const int device = dp_run_replica(run);
    int status = 0;

    (void)in, (void)n_in, (void)out;
    *n_out = 0;
    if (device != c->whose)
        return 0;
    if (c->fresh)
        status = dp_tensor_copy(&c->first[device], &c->second[device], err);
    const struct dp_span span = dp_phase_within(dp_run_slot(run), timed, DP_PHASE_FORWARD);

    if (status == 0)
        status = dp_tensor_copy(&c->second[device], &c->first[device], err);
    dp_phase_end(&span);
    return status;
}

/* Copies within a device; afterwards the trace has the time. */
static int copy_within(struct copy_chain *c, int device, struct dp_error *err)
{
    struct dp_call call[DP_MAX_SLOTS];
    int status;

    for (int d = 0; d < c->devices; ++d) {
        struct dp_run *run = dp_replicas_run(c->replicas, d);

        dp_run_reset(run);
        call[d] = (struct dp_call){c->inner, run, &c->first[d], 1, c->out[d], 0};
    }
    c->whose = device;
    memset(&c->trace, 0, sizeof c->trace);
    status = dp_apply(call, c->devices, err);
    if (status == 0)
        status = dp_group_wait(c->group, err);
    return status ? status : dp_trace_read(c->group, err);
}

/* ---- chains ------------------------------------------------------------------------------- */

static int open_chain(struct copy_chain *c, struct dp_error *err)
{
    static const struct dp_module_ops ops = {"copy", copy_forward, measure_no_backward, NULL};
    const size_t all = c->n + 2 * (size_t)c->devices * SHIFT;
    struct dp_slot *slot[DP_MAX_SLOTS];
    int status;

    c->there = session_floats(all);
    c->back = session_floats(c->n);
    if (!c->there || !c->back)
        return dp_fail(err, DP_ENOMEM, "no memory for a copy of %zu floats", c->n);
    /* 24 bits of a hash of i, so no stretch of the numbers looks like another one. */
    for (size_t i = 0; i < all; ++i)
        c->there[i] = (float)((uint32_t)i * 2654435761u >> 8);
    memset(c->back, 0, c->n * sizeof c->back[0]);
    for (int d = 0; d < c->devices; ++d) {
        slot[d] = dp_group_slot(c->group, d);
        if ((status = dp_tensor_alloc(slot[d], DP_F32, 1, &c->n, &c->first[d], err)) ||
            (status = dp_tensor_alloc(slot[d], DP_F32, 1, &c->n, &c->second[d], err)))
            return status;
    }
    if ((status = dp_module_open(c->group, &ops, c, NULL, 0, &c->inner, err)) ||
        (status = dp_replicas_open(c->inner, slot, c->devices, &c->replicas, err)))
        return status;
    for (int d = 0; d < c->devices; ++d)
        dp_run_grad_mode(dp_replicas_run(c->replicas, d), false);
    dp_group_trace(c->group, &c->trace);
    c->fresh = true;
    for (int d = 0; status == 0 && d < c->devices; ++d)
        status = copy_within(c, d, err);
    c->fresh = false;
    return status;
}

/* ns: the times of the three copies, in the order of enum record_part. */
static int run_copy_chain(struct copy_chain *c, int device, size_t round, uint64_t ns[CHAINED],
                          struct dp_error *err)
{
    /* They differ from those of the turn before and from those of another device. */
    const float *numbers = c->there + (round % 2 * (size_t)c->devices + (size_t)device) * SHIFT;
    struct equal_report report;
    uint64_t start = watch_clock_ns();
    int status = dp_tensor_write(&c->first[device], numbers, err);

    ns[0] = watch_clock_ns() - start;
    if (status || (status = copy_within(c, device, err)))
        return status;
    ns[2] = c->trace.replica[device].ns[timed];
    start = watch_clock_ns();
    status = dp_tensor_read(c->back, &c->second[device], err);
    ns[1] = watch_clock_ns() - start;
    if (status || equal_bits(c->back, numbers, c->n, &report) == 0)
        return status;
    return dp_fail(err, DP_EFAULT,
                   "value %zu of a copy from the host to %s, within it and back is %.9g, not %.9g",
                   report.first, dp_slot_name(dp_group_slot(c->group, device)), report.got,
                   report.want);
}

int measure_memory(struct dp_group *group, double seconds, struct record_cell *cell,
                   struct dp_error *err)
{
    struct record_part_times *times = &cell->part[RECORD_FROM_HOST];
    struct copy_chain *c = cli_alloc(1, sizeof *c);
    struct dp_slot_info info;
    uint64_t ns[CHAINED], begin;
    size_t n = 0;
    int status;

    dp_slot_describe(dp_group_slot(group, 0), &info);
    c->group = group;
    c->devices = dp_group_size(group);
    c->n = info.flags & DP_KIND_GPU ? FLOATS_OF_GPU : FLOATS_OF_CORE;
    status = open_chain(c, err);
    for (int part = 0; status == 0 && part < CHAINED; ++part) {
        record_part_alloc(cell, (enum record_part)((int)RECORD_FROM_HOST + part), MOST_CHAINS);
        cell->part[RECORD_FROM_HOST + part].work = c->n * sizeof(float);
    }
    cell->part[RECORD_MEMORY].work *= 2; /* each byte is read and written */
    /* A round has a chain for each device. The first one warms up, and is checked like the
     * others. */
    begin = watch_clock_ns();
    for (int d = 0; status == 0 && d < c->devices; ++d)
        status = run_copy_chain(c, d, 1, ns, err);
    while (status == 0 && n < MOST_CHAINS &&
           (n < LEAST_SAMPLES || session_seconds_since(begin) < CHAINED * seconds)) {
        for (int d = 0; status == 0 && d < c->devices; ++d) {
            status = run_copy_chain(c, d, n, ns, err);
            for (int part = 0; part < CHAINED; ++part)
                times[part].ns[(size_t)d * MOST_CHAINS + n] = ns[part];
        }
        ++n;
    }
    for (int part = 0; n > 0 && part < CHAINED; ++part) {
        for (int d = 1; d < c->devices; ++d)
            memmove(times[part].ns + (size_t)d * n, times[part].ns + (size_t)d * MOST_CHAINS,
                    n * sizeof times[part].ns[0]);
        times[part].n = n;
    }
    dp_group_trace(group, NULL);
    for (int d = 0; d < c->devices; ++d) {
        dp_tensor_free(&c->first[d]);
        dp_tensor_free(&c->second[d]);
    }
    dp_replicas_close(c->replicas);
    dp_module_close(c->inner);
    free(c->there);
    free(c->back);
    free(c);
    return status;
}
