/* validate/metrics.c: the metrics that a limit can be about, and their values in a launch: steps,
 * facts of the host, and parts of the machine. A value is NaN if the launch did not measure it. */
#include "validate/profile.h"

#include "numbers/stats.h"

#include <math.h>
#include <string.h>

#define OF_STEPS(member) offsetof(struct record_cell, member)
const struct validate_statistic_row validate_statistics[VALIDATE_STATISTICS] = {
    [VALIDATE_FLOOR] = {"floor", 0.05, OF_STEPS(p05_ns)},
    [VALIDATE_TYPICAL] = {"typical", 0.5, OF_STEPS(median_ns)},
    [VALIDATE_COST] = {"cost", (double)NAN, OF_STEPS(mean_ns)},
    [VALIDATE_TAIL] = {"tail", 0.95, OF_STEPS(p95_ns)},
    [VALIDATE_LEAST] = {"least", 0, OF_STEPS(min_ns)},
};

/* Computes the statistic of n times, which it may sort; NaN: there are none. */
static double statistic_of(double times[], size_t n, enum validate_statistic by)
{
    const double quantile = validate_statistics[by].quantile;
    double sum = 0.0;

    if (n == 0)
        return (double)NAN;
    if (isnan(quantile)) {
        for (size_t i = 0; i < n; ++i)
            sum += times[i];
        return sum / (double)n;
    }
    stats_sort(times, n);
    return stats_quantile(times, n, quantile);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static double step_time(const struct report_row *row, enum validate_statistic by)
{
    const size_t in_cell = validate_statistics[by].in_cell;

    return in_cell > 0 ? *(const double *)((const char *)row->cell + in_cell) : (double)NAN;
}

static double of_step(const struct validate_sample *at)
{
    return step_time(at->row, at->by);
}

static double of_throughput(const struct validate_sample *at)
{
    return 1e9 * (double)at->row->cell->key.global_batch / step_time(at->row, at->by);
}

/* The base is the same launch of the plain program, in the same session. */
static double of_speedup(const struct validate_sample *at)
{
    const struct report_point *base = at->point->base;

    for (size_t i = 0; base && i < base->n; ++i)
        if (base->row[i].verified && report_launch_order(&base->row[i], at->row) == 0)
            return report_speedup(at->row->cell, step_time(at->row, at->by), base->row[i].cell,
                                  step_time(&base->row[i], at->by));
    return (double)NAN;
}

static double of_efficiency(const struct validate_sample *at)
{
    return of_speedup(at) / (double)at->row->cell->key.n_devices / at->point->bound;
}

static double of_peak(const struct validate_sample *at)
{
    const struct record_cell *cell = at->row->cell;

    return at->device < cell->n_peaks ? (double)cell->peak_bytes[at->device] : (double)NAN;
}

/* The time that one device computes for a row of its shard, in forward and backward. */
static double device_time(const struct validate_sample *at, int device)
{
    const struct record_cell *cell = at->row->cell;
    const uint64_t *forward = cell->phase_ns[RECORD_FORWARD];
    const uint64_t *backward = cell->phase_ns[RECORD_BACKWARD];
    const size_t first = (size_t)device * cell->n_samples;
    size_t n = 0;

    if (device >= cell->n_shards || cell->shard[device] == 0 || !forward || !backward)
        return (double)NAN;
    for (size_t i = 0; i < cell->n_samples; ++i)
        if ((cell->flags[i] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
            at->steps[n++] =
                (double)(forward[first + i] + backward[first + i]) / (double)cell->shard[device];
    return statistic_of(at->steps, n, at->by);
}

/* The time of a device over the median of all devices of its launch. */
static double of_spread(const struct validate_sample *at)
{
    double all[RECORD_MAX_RANKS];
    size_t n = 0;

    for (int d = 0; d < at->row->cell->n_shards; ++d) {
        const double one = device_time(at, d);

        if (isfinite(one))
            all[n++] = one;
    }
    return n < 2 ? (double)NAN : device_time(at, at->device) / stats_median(all, n);
}

/* ---- facts of the host ---------------------------------------------------------------------- */

static double of_threads(const struct validate_sample *at)
{
    const double pus = at->row->run->pus, cores = at->row->run->cores;

    return pus > 0 && cores > 0 ? pus / cores : (double)NAN;
}

static double of_governor(const struct validate_sample *at)
{
    const char *governor = at->row->run->governor;

    if (governor[0] == '\0' || strcmp(governor, "unknown") == 0)
        return (double)NAN;
    return strcmp(governor, "performance") == 0 ? 1.0 : 0.0;
}

/* ---- parts of the machine ------------------------------------------------------------------- */

/* The time of a line of a part: a device's, or that of a copy. The first half of a sustained run is
 * burst, or still changes from burst to sustained, so it does not count. */
static double part_time(const struct validate_sample *at, enum record_part part, size_t line)
{
    const struct record_part_times *times = &at->row->cell->part[part];
    size_t n = 0;

    if (!times->ns || line >= times->rows)
        return (double)NAN;
    for (size_t i = part == RECORD_SUSTAINED ? times->n / 2 : 0; i < times->n; ++i)
        at->steps[n++] = (double)times->ns[line * times->n + i];
    return statistic_of(at->steps, n, at->by);
}

static double part_rate(const struct validate_sample *at, enum record_part part)
{
    return 1e9 * (double)at->row->cell->part[part].work / part_time(at, part, (size_t)at->device);
}

static double of_part(const struct validate_sample *at)
{
    return part_rate(at, at->metric->part);
}

/* The time of a device over the median of the others. With two devices the median of all would
 * halve the difference. */
static double of_part_spread(const struct validate_sample *at)
{
    const enum record_part part = at->metric->part;
    double others[RECORD_MAX_RANKS];
    size_t n = 0;

    for (size_t d = 0; d < at->row->cell->part[part].rows; ++d)
        if (d != (size_t)at->device)
            others[n++] = part_time(at, part, d);
    return n == 0 ? (double)NAN : part_time(at, part, (size_t)at->device) / stats_median(others, n);
}

static double part_bytes(const struct validate_metric *metric, const struct report_row *row)
{
    return (double)row->cell->part[metric->part].work;
}

static double of_pair(const struct validate_sample *at, int to)
{
    const size_t line = (size_t)at->device * (size_t)at->row->cell->key.n_devices + (size_t)to;

    return 1e9 * (double)at->row->cell->part[RECORD_COPY].work / part_time(at, RECORD_COPY, line);
}

/* The slowest copy from the device to another one. */
static double of_copy(const struct validate_sample *at)
{
    double slowest = INFINITY;

    for (int to = 0; to < at->row->cell->key.n_devices; ++to) {
        const double rate = to == at->device ? INFINITY : of_pair(at, to);

        if (!(rate >= slowest))
            slowest = rate;
    }
    return isfinite(slowest) ? slowest : (double)NAN;
}

/* Returns the bytes of a copy to or from the host. NaN: the two directions have different sizes,
 * which no program here writes. */
static double host_bytes(const struct validate_metric *metric, const struct report_row *row)
{
    const struct record_part_times *part = row->cell->part;

    return part[RECORD_FROM_HOST].work == part[RECORD_TO_HOST].work ? part_bytes(metric, row)
                                                                    : (double)NAN;
}

static double of_host_copy(const struct validate_sample *at)
{
    const double there = part_rate(at, RECORD_FROM_HOST), back = part_rate(at, RECORD_TO_HOST);

    return isnan(there) || there < back ? there : back;
}

static double reduced_bytes(const struct validate_metric *metric, const struct report_row *row)
{
    (void)metric;
    return (double)(row->cell->model_params * sizeof(float));
}

/* The reduction of all gradients of a ddp cell, when it runs alone. */
static double of_allreduce(const struct validate_sample *at)
{
    const struct record_cell *cell = at->row->cell;
    const double n = (double)cell->key.n_devices;
    double ns;

    if (cell->key.n_devices < 2)
        return (double)NAN;
    for (int i = 0; i < cell->n_rounds; ++i)
        at->steps[i] = (double)cell->round_ns[RECORD_COMM][i];
    ns = statistic_of(at->steps, (size_t)cell->n_rounds, at->by);
    return 1e9 * reduced_bytes(at->metric, at->row) * 2.0 * (n - 1.0) / n / ns;
}

/* ---- the table ------------------------------------------------------------------------------ */

#define RUN(member)  .in_run = offsetof(struct record_run, member)
#define CELL(member) .in_cell = offsetof(struct record_cell, member)

const struct validate_metric validate_metrics[VALIDATE_METRICS] = {
    {"step_time", "a step", QUANTITY_TIME, .of_steps = true, .of = of_step},
    {"throughput", "rows a second", QUANTITY_RATE, .higher = true, .of_steps = true,
     .of = of_throughput},
    {"speed_up", "the base's step over this one's, launch by launch", QUANTITY_RATIO,
     .higher = true, .has_base = true, .of_steps = true, .of = of_speedup,
     .action = "see which part of the step is lost: lockstep report"},
    {"efficiency", "the speed-up over what the shards allow", QUANTITY_RATIO, .higher = true,
     .has_base = true, .of_steps = true, .of = of_efficiency,
     .action = "see which part of the step is lost: lockstep report"},
    {"moved", "bytes moved between devices in a step", QUANTITY_BYTES, .counted = true,
     CELL(bytes_per_step), .reason = "the program moves other bytes than that of the limit",
     .action = "measure by the communicator and the build that the limit is from"},
    {"peak_memory", "the most that a device held", QUANTITY_BYTES, .counted = true,
     .by_device = true, .of = of_peak, .reason = "the program holds more than that of the limit",
     .action = "measure by the build that the limit is from"},
    {"device_spread", "forward and backward of a device, a row, over the median of all devices",
     QUANTITY_RATIO, .by_device = true, .of_steps = true, .of = of_spread,
     .reason = "one device is slower than the others",
     .action = "see its clock, its cooling and what shares its core; swap it with another device "
               "and measure both again"},
    {"product_spread",
     "a matrix product of a device, in turns with the others, over the median of these",
     QUANTITY_RATIO, .by_device = true, .in_parts = true, .part = RECORD_PRODUCT,
     .of = of_part_spread, .reason = "one device computes slower than the others",
     .action = "see its clock, its cooling and what shares its core; swap it with another device "
               "and measure both again"},
    {"sustained_product",
     "operations of matrix products on all devices at once, in the last half of their time",
     QUANTITY_WORK, .higher = true, .by_device = true, .in_parts = true, .part = RECORD_SUSTAINED,
     .of = of_part},
    {"sustained_spread", "such a product of a device over the median of the others", QUANTITY_RATIO,
     .by_device = true, .in_parts = true, .part = RECORD_SUSTAINED, .of = of_part_spread,
     .reason = "one device computes slower than the others when all compute",
     .action = "see its power, its cooling and what shares its core; swap it with another device "
               "and measure both again"},
    /* Metrics of the host. */
    {"memlock", "the memory that a process may lock", QUANTITY_BYTES, .higher = true,
     .counted = true, .fact = true, RUN(memlock_bytes),
     .reason = "the system limits what a process may lock",
     .action = "raise it: ulimit -l, or limits.conf"},
    {"shm_size", "the size of /dev/shm", QUANTITY_BYTES, .higher = true, .counted = true,
     .fact = true, RUN(shm_bytes), .reason = "the system or the container has a small /dev/shm",
     .action = "mount a larger one"},
    {"numa_balancing", "0: off, 1: the kernel moves pages between nodes", QUANTITY_RATIO,
     .counted = true, .fact = true, .worst = 1, RUN(numa_balancing),
     .reason = "the kernel moves pages while programs run",
     .action = "switch it off: sysctl kernel.numa_balancing=0"},
    {"threads_per_core", "hardware threads of a core: 1 without SMT", QUANTITY_RATIO,
     .counted = true, .fact = true, .worst = 64, .of = of_threads,
     .reason = "the cores have several hardware threads", .action = "switch SMT off"},
    {"governor", "1: performance, 0: another governor of the clock rate", QUANTITY_RATIO,
     .higher = true, .counted = true, .fact = true, .of = of_governor,
     .reason = "the clock rate follows the load", .action = "set the governor performance"},
    {"foreign_share", "what other programs had of the cores of a launch, in its steps",
     QUANTITY_RATIO, .counted = true, .fact = true, .worst = 1, CELL(foreign_frac),
     .reason = "other programs have the cores", .action = "end them, and measure again"},
    {"stolen_share", "what the hypervisor gave of them to other machines", QUANTITY_RATIO,
     .counted = true, .fact = true, .worst = 1, CELL(steal_frac),
     .reason = "other machines have the cores", .action = "measure when the host is less busy"},
    /* Metrics that vendors and operators publish. */
    {"allreduce_bandwidth", "bus bandwidth of an all-reduce: its bytes x 2 (n-1)/n, over its time",
     QUANTITY_SPEED, .higher = true, .of = of_allreduce, .bytes = reduced_bytes},
    {"host_copy", "a copy from the host to a device or back, whichever is slower", QUANTITY_SPEED,
     .higher = true, .by_device = true, .in_parts = true, .part = RECORD_FROM_HOST,
     .of = of_host_copy, .bytes = host_bytes,
     .reason = "copies between a device and the host are slow",
     .action = "see the copies of the other devices, and at what width and speed its link runs"},
    {"peer_copy", "a copy from a device to that other one which gets it slowest", QUANTITY_SPEED,
     .higher = true, .by_device = true, .in_parts = true, .part = RECORD_COPY, .of = of_copy,
     .of_pair = of_pair, .bytes = part_bytes, .reason = "copies between devices are slow",
     .action = "see what the slow copies have in common"},
    {"memory_bandwidth", "a copy within a device's own memory: bytes read and bytes written",
     QUANTITY_SPEED, .higher = true, .by_device = true, .in_parts = true, .part = RECORD_MEMORY,
     .of = of_part, .bytes = part_bytes, .reason = "copies within a device are slow",
     .action = "see the other devices, and swap it with one of them"},
    {"matrix_product", "operations of a matrix product on a device, in turns with the others",
     QUANTITY_WORK, .higher = true, .by_device = true, .in_parts = true, .part = RECORD_PRODUCT,
     .of = of_part},
};

const struct validate_metric *validate_metric_find(const char *name)
{
    for (int i = 0; i < VALIDATE_METRICS; ++i)
        if (strcmp(validate_metrics[i].name, name) == 0)
            return &validate_metrics[i];
    return NULL;
}

double validate_metric_value(const struct validate_sample *at)
{
    const struct validate_metric *metric = at->metric;

    if (metric->of)
        return metric->of(at);
    return *(const double *)(const void *)(metric->in_run > 0
                                               ? (const char *)at->row->run + metric->in_run
                                               : (const char *)at->row->cell + metric->in_cell);
}
