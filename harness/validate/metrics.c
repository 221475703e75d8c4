/* validate/metrics.c: the metrics that a limit can be about. */
#include "validate/metrics.h"

#include "numbers/stats.h"
#include "validate/parts.h"

#include <math.h>
#include <string.h>

static double step_of(const struct report_point *point, const struct report_row *row, int device,
                      enum validate_statistic by, double steps[])
{
    const struct record_cell *cell = row->cell;
    const double of[VALIDATE_STATISTICS] = {cell->p05_ns, cell->median_ns, cell->mean_ns,
                                            cell->p95_ns, cell->min_ns};

    (void)point, (void)device, (void)steps;
    return of[by];
}

static double throughput_of(const struct report_point *point, const struct report_row *row,
                            int device, enum validate_statistic by, double steps[])
{
    return 1e9 * (double)row->cell->key.global_batch / step_of(point, row, device, by, steps);
}

/* Returns the same launch of the base, in the same session. */
static const struct report_row *partner_of(const struct report_point *base,
                                           const struct report_row *row)
{
    for (size_t i = 0; base && i < base->n; ++i)
        if (base->row[i].verified && report_launch_order(&base->row[i], row) == 0)
            return &base->row[i];
    return NULL;
}

static double speedup_of(const struct report_point *point, const struct report_row *row, int device,
                         enum validate_statistic by, double steps[])
{
    const struct report_row *base = partner_of(point->base, row);

    return base ? step_of(point, base, device, by, steps) / step_of(point, row, device, by, steps)
                : (double)NAN;
}

static double efficiency_of(const struct report_point *point, const struct report_row *row,
                            int device, enum validate_statistic by, double steps[])
{
    return speedup_of(point, row, device, by, steps) / (double)row->cell->key.n_devices /
           point->bound;
}

static double moved_of(const struct report_point *point, const struct report_row *row, int device,
                       enum validate_statistic by, double steps[])
{
    (void)point, (void)device, (void)by, (void)steps;
    return row->cell->bytes_per_step;
}

static double peak_of(const struct report_point *point, const struct report_row *row, int device,
                      enum validate_statistic by, double steps[])
{
    (void)point, (void)by, (void)steps;
    return device < row->cell->n_peaks ? (double)row->cell->peak_bytes[device] : (double)NAN;
}

/* The time that one device computes for a row of its shard, in forward and backward. */
static double device_of(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[])
{
    const struct record_cell *cell = row->cell;
    const uint64_t *forward = cell->phase_ns[RECORD_FORWARD];
    const uint64_t *backward = cell->phase_ns[RECORD_BACKWARD];
    const size_t first = (size_t)device * cell->n_samples;
    size_t n = 0;

    (void)point;
    if (device >= cell->n_shards || cell->shard[device] == 0 || !forward || !backward)
        return (double)NAN;
    for (size_t i = 0; i < cell->n_samples; ++i)
        if ((cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
            steps[n++] =
                (double)(forward[first + i] + backward[first + i]) / (double)cell->shard[device];
    return validate_sum_up(steps, n, by);
}

/* The time of a device over the median of all devices of its launch. */
static double spread_of(const struct report_point *point, const struct report_row *row, int device,
                        enum validate_statistic by, double steps[])
{
    double all[RECORD_MAX_RANKS];
    size_t n = 0;

    for (int d = 0; d < row->cell->n_shards; ++d) {
        const double one = device_of(point, row, d, by, steps);

        if (isfinite(one))
            all[n++] = one;
    }
    return n < 2 ? (double)NAN : device_of(point, row, device, by, steps) / stats_median(all, n);
}

const struct validate_metric validate_metrics[VALIDATE_METRICS] = {
    {.name = "step_time",
     .means = "a step",
     .kind = QUANTITY_TIME,
     .of_steps = true,
     .of = step_of},
    {.name = "throughput",
     .means = "rows a second",
     .kind = QUANTITY_RATE,
     .higher = true,
     .of_steps = true,
     .of = throughput_of},
    {.name = "speed_up",
     .means = "the base's step over this one's, launch by launch",
     .kind = QUANTITY_RATIO,
     .higher = true,
     .has_base = true,
     .of_steps = true,
     .of = speedup_of},
    {.name = "efficiency",
     .means = "the speed-up over what the shards allow",
     .kind = QUANTITY_RATIO,
     .higher = true,
     .has_base = true,
     .of_steps = true,
     .of = efficiency_of},
    {.name = "moved",
     .means = "bytes moved between devices in a step",
     .kind = QUANTITY_BYTES,
     .counted = true,
     .of = moved_of},
    {.name = "peak_memory",
     .means = "the most that a device held",
     .kind = QUANTITY_BYTES,
     .counted = true,
     .by_device = true,
     .of = peak_of},
    {.name = "device_spread",
     .means = "forward and backward of a device, a row, over the median of all devices",
     .kind = QUANTITY_RATIO,
     .by_device = true,
     .of_steps = true,
     .of = spread_of},
    {.name = "product_spread",
     .means = "a matrix product of a device, in turns with the others, over the median of these",
     .kind = QUANTITY_RATIO,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_PRODUCT,
     .of = validate_product_spread},
    {.name = "sustained_product",
     .means =
         "operations of matrix products on all devices at once, in the last half of their time",
     .kind = QUANTITY_WORK,
     .higher = true,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_SUSTAINED,
     .of = validate_sustained},
    {.name = "sustained_spread",
     .means = "such a product of a device over the median of the others",
     .kind = QUANTITY_RATIO,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_SUSTAINED,
     .of = validate_sustained_spread},
    /* Metrics of the host. */
    {.name = "memlock",
     .means = "the memory that a process may lock",
     .kind = QUANTITY_BYTES,
     .higher = true,
     .counted = true,
     .fact = true,
     .worst = 0,
     .of = validate_memlock},
    {.name = "shm_size",
     .means = "the size of /dev/shm",
     .kind = QUANTITY_BYTES,
     .higher = true,
     .counted = true,
     .fact = true,
     .worst = 0,
     .of = validate_shm},
    {.name = "numa_balancing",
     .means = "0: off, 1: the kernel moves pages between nodes",
     .kind = QUANTITY_RATIO,
     .counted = true,
     .fact = true,
     .worst = 1,
     .of = validate_balancing},
    {.name = "threads_per_core",
     .means = "hardware threads of a core: 1 without SMT",
     .kind = QUANTITY_RATIO,
     .counted = true,
     .fact = true,
     .worst = 64,
     .of = validate_threads},
    {.name = "governor",
     .means = "1: performance, 0: another governor of the clock rate",
     .kind = QUANTITY_RATIO,
     .higher = true,
     .counted = true,
     .fact = true,
     .worst = 0,
     .of = validate_governor},
    {.name = "foreign_share",
     .means = "what other programs had of the cores of a launch, in its steps",
     .kind = QUANTITY_RATIO,
     .counted = true,
     .fact = true,
     .worst = 1,
     .of = validate_foreign},
    {.name = "stolen_share",
     .means = "what the hypervisor gave of them to other machines",
     .kind = QUANTITY_RATIO,
     .counted = true,
     .fact = true,
     .worst = 1,
     .of = validate_stolen},
    /* Metrics that vendors and operators publish. */
    {.name = "allreduce_bandwidth",
     .means = "bus bandwidth of an all-reduce: its bytes x 2 (n-1)/n, over its time",
     .kind = QUANTITY_SPEED,
     .higher = true,
     .of = validate_allreduce,
     .bytes = validate_allreduce_bytes},
    {.name = "host_copy",
     .means = "a copy from the host to a device or back, whichever is slower",
     .kind = QUANTITY_SPEED,
     .higher = true,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_FROM_HOST,
     .of = validate_host_copy,
     .bytes = validate_host_bytes},
    {.name = "peer_copy",
     .means = "a copy from a device to that other one which gets it slowest",
     .kind = QUANTITY_SPEED,
     .higher = true,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_COPY,
     .of = validate_copy,
     .of_pair = validate_pair,
     .bytes = validate_copy_bytes},
    {.name = "memory_bandwidth",
     .means = "a copy within a device's own memory: bytes read and bytes written",
     .kind = QUANTITY_SPEED,
     .higher = true,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_MEMORY,
     .of = validate_memory,
     .bytes = validate_memory_bytes},
    {.name = "matrix_product",
     .means = "operations of a matrix product on a device, in turns with the others",
     .kind = QUANTITY_WORK,
     .higher = true,
     .by_device = true,
     .in_parts = true,
     .part = RECORD_PRODUCT,
     .of = validate_product},
};

const struct validate_metric *validate_metric_find(const char *name)
{
    for (int i = 0; i < VALIDATE_METRICS; ++i)
        if (strcmp(validate_metrics[i].name, name) == 0)
            return &validate_metrics[i];
    return NULL;
}
