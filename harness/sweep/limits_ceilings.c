/* sweep/limits_ceilings.c: what a core can do at most, measured where steps are: by the workers of
 * the devices, with their binding, in memory of the devices. */
#include "sweep/limits.h"

#include "measure/measure.h"

#include <inttypes.h>
#include <string.h>

enum { TIMES = 1 << 20, CACHES = 4, LEAST_BYTES = 32 << 20 };

/* ---- on a worker ---------------------------------------------------------------------------- */

/* The first to touch the pages of its block is who reads it. */
static void fill_block(uint64_t word[], size_t first, size_t last)
{
    for (size_t i = first; i < last; ++i)
        word[i] = i;
}

static int run_fma(struct ceilings *c, int d, struct dp_error *err)
{
    float sums[PEAK_FLOATS];
    uint64_t begin;

    for (size_t i = 0; i < c->peak->floats; ++i)
        sums[i] = (float)i;
    begin = watch_clock_ns();
    c->peak->run(TIMES, 1, 1, sums);
    c->rate[d] = 2.0 * TIMES * (double)c->peak->floats / (double)(watch_clock_ns() - begin);
    for (size_t i = 0; i < c->peak->floats; ++i)
        if (sums[i] != (float)(TIMES + i))
            return dp_fail(err, DP_EFAULT, "sum %zu of %d multiply-adds is %.9g, not %zu", i, TIMES,
                           (double)sums[i], TIMES + i);
    return 0;
}

static int run_read(struct ceilings *c, int d, struct dp_error *err)
{
    const size_t n = c->bytes / sizeof(uint64_t);
    const uint64_t begin = watch_clock_ns(), sum = peak_read(c->block[d].data, n);
    const uint64_t ns = watch_clock_ns() - begin, want = (uint64_t)n * (n - 1) / 2;

    c->rate[d] = (double)c->bytes / (double)ns;
    return sum == want
               ? 0
               : dp_fail(err, DP_EFAULT,
                         "the sum of %zu numbers that were read is %" PRIu64 ", not %" PRIu64, n,
                         sum, want);
}

/* The first half to the second, which is then made what it was. */
static int run_copy(struct ceilings *c, int d, struct dp_error *err)
{
    const size_t n = c->bytes / sizeof(uint64_t) / 2;
    uint64_t *word = c->block[d].data;
    const uint64_t begin = watch_clock_ns();
    uint64_t ns;
    bool same;

    memcpy(word + n, word, n * sizeof *word);
    ns = watch_clock_ns() - begin;
    c->rate[d] = (double)(n * sizeof *word) / (double)ns;
    same = memcmp(word, word + n, n * sizeof *word) == 0;
    fill_block(word, n, 2 * n);
    return same ? 0 : dp_fail(err, DP_EFAULT, "a copy of %zu numbers differs from them", n);
}

static int (*const runs[ROOF_RATES])(struct ceilings *c, int d, struct dp_error *err) = {
    [ROOF_FMA] = run_fma, [ROOF_READ] = run_read, [ROOF_COPY] = run_copy};

static int ceiling_forward(struct dp_module *module, struct dp_run *run,
                           const struct dp_tensor in[], int n_in, struct dp_tensor out[],
                           int *n_out, struct dp_error *err)
{
    struct ceilings *c = dp_module_self(module);
    const int d = dp_run_replica(run);

    (void)in, (void)n_in, (void)out;
    *n_out = 0;
    if (c->fill)
        fill_block(c->block[d].data, 0, c->bytes / sizeof(uint64_t));
    return c->fill || (c->alone && d > 0) ? 0 : runs[c->what](c, d, err);
}

/* ---- turns ---------------------------------------------------------------------------------- */

static int take_turn(struct ceilings *c, struct dp_error *err)
{
    struct dp_call call[DP_MAX_SLOTS];

    for (int d = 0; d < c->devices; ++d)
        call[d] = (struct dp_call){
            c->turn, dp_replicas_run(c->replicas, d), &c->block[d], 1, c->out[d], 0};
    dp_group_barrier(c->group);
    return dp_apply(call, c->devices, err);
}

int ceilings_open(struct ceilings *c, struct dp_group *group, struct dp_error *err)
{
    static const struct dp_module_ops ops = {"ceiling", ceiling_forward, measure_no_backward, NULL};
    struct dp_slot *slot[DP_MAX_SLOTS];
    int status;

    c->group = group;
    c->devices = dp_group_size(group);
    c->peak = peak_of_cpu();
    struct dp_machine machine;
    status = dp_machine_read(&machine, err);
    uint64_t bytes;

    if (status)
        return status;
    bytes = CACHES * (machine.l3_bytes > 0 ? machine.l3_bytes : machine.l2_bytes);
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes / 4096 * 4096;
    if (bytes > machine.usable_bytes / 2 / (uint64_t)c->devices)
        return dp_fail(err, DP_ENOMEM,
                       "%d blocks of %" PRIu64 " bytes, %d times the last cache, are more than "
                       "half of the memory",
                       c->devices, bytes, CACHES);
    c->bytes = (size_t)bytes;
    for (int d = 0; status == 0 && d < c->devices; ++d) {
        const size_t n = c->bytes / sizeof(uint64_t);

        slot[d] = dp_group_slot(group, d);
        status = dp_tensor_alloc(slot[d], DP_I64, 1, &n, &c->block[d], err);
    }
    if (status || (status = dp_module_open(group, &ops, c, NULL, 0, &c->turn, err)) ||
        (status = dp_module_to(c->turn, slot[0], err)) ||
        (status = dp_replicas_open(c->turn, slot, c->devices, &c->replicas, err)))
        return status;
    for (int d = 0; d < c->devices; ++d)
        dp_run_grad_mode(dp_replicas_run(c->replicas, d), false);
    c->fill = true;
    status = take_turn(c, err);
    c->fill = false;
    return status;
}

void ceilings_close(struct ceilings *c)
{
    dp_replicas_close(c->replicas);
    dp_module_close(c->turn);
    for (int d = 0; d < c->devices; ++d)
        dp_tensor_free(&c->block[d]);
}

int ceilings_measure(struct ceilings *c, enum roof_rate what, enum roof_way way, double *rate,
                     struct dp_error *err)
{
    const int n = way == ROOF_ALONE ? 1 : c->devices;
    int status;

    c->what = what;
    c->alone = way == ROOF_ALONE;
    *rate = 0;
    status = take_turn(c, err);
    for (int d = 0; d < n; ++d)
        *rate += c->rate[d] / n;
    return status;
}
