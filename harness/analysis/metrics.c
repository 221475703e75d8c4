/* analysis/metrics.c: the catalogue of metrics, and their values. Each metric of a point is one
 * row.
 *
 * A metric is either a number of a launch, summed up over the launches of a point, or a ratio of a
 * point and its base. If no launch knows it, it is NaN, and is printed as "-". */
#include "analysis/analysis.h"

#include "numbers/stats.h"

#include <math.h>
#include <stddef.h>

#define CELL(member) .of_launch = offsetof(struct record_cell, member)

const struct report_metric report_metrics[REPORT_PHASE + 1] = {
    [REPORT_STEP] = {report_time, "Median step", .column = REPORT_ALWAYS, .range = REPORT_ALWAYS,
                     CELL(median_ns)},
    [REPORT_THROUGHPUT] = {report_rate, "Samples/s at the median step", .column = REPORT_ALWAYS},
    [REPORT_TOKENS] = {report_rate, "Tokens/s at the median step", .column = REPORT_WHERE_KNOWN},
    [REPORT_SPEEDUP] = {report_ratio, "Speed-up", .column = REPORT_ALWAYS,
                        .range = REPORT_WHERE_KNOWN},
    [REPORT_EFFICIENCY] = {report_ratio, "Efficiency, of bound", .column = REPORT_ALWAYS,
                           .range = REPORT_WHERE_KNOWN},
    [REPORT_OF_CORES] = {report_ratio, "Against one process, same cores",
                         .column = REPORT_WHERE_KNOWN, .range = REPORT_WHERE_KNOWN},
    [REPORT_BESIDE] = {.number = report_ratio},
    [REPORT_OUTSIDE] = {report_share, "Outside matrix products", .column = REPORT_WHERE_KNOWN,
                        CELL(outside_frac)},
    [REPORT_MOVED] = {report_bytes, "Moved per step", .column = REPORT_WHERE_KNOWN,
                      CELL(bytes_per_step)},
    [REPORT_PEAK] = {report_bytes, "Peak memory of a device", .column = REPORT_WHERE_KNOWN},
    [REPORT_COMPUTE] = {report_time, CELL(compute_alone_ns)},
    [REPORT_COMM] = {report_time, CELL(comm_alone_ns)},
    [REPORT_WHOLE] = {report_time, CELL(whole_ns)},
    [REPORT_HIDDEN] = {.number = report_percent},
    [REPORT_HIDDEN_TIME] = {.number = report_time},
    [REPORT_FLOPS] = {.number = report_flops},
    [REPORT_PRODUCTS] = {.number = report_flops},
    [REPORT_IN_PARTS] = {.number = report_flops},
    [REPORT_ALGBW] = {report_speed, CELL(algbw_bytes_per_s)},
    [REPORT_BUSBW] = {report_speed, CELL(busbw_bytes_per_s)},
    [REPORT_ALPHA] = {.number = report_time},
    [REPORT_BETA] = {.number = report_speed},
    [REPORT_PHASE] = {.number = report_time},
};

const struct report_metric *report_metric_of(int metric)
{
    return &report_metrics[metric < REPORT_PHASE ? metric : REPORT_PHASE];
}

bool report_is_ratio(int metric)
{
    return metric >= REPORT_SPEEDUP && metric <= REPORT_BESIDE;
}

int report_rival(const struct report_point *point)
{
    return report_middle(point, REPORT_OF_CORES) < report_middle(point, REPORT_SPEEDUP)
               ? REPORT_OF_CORES
               : REPORT_SPEEDUP;
}

/* ---- a launch ----------------------------------------------------------------------------- */

double report_number_of(const struct report_row *row, int metric)
{
    const struct record_cell *cell = row->cell;
    const struct record_part_times *part = &cell->part[RECORD_PRODUCT];
    const double tokens = (double)cell->tokens_per_row;
    const size_t at = report_metric_of(metric)->of_launch;
    double ns[RECORD_MOST_PARTS], most = NAN, least = NAN;

    if (at > 0)
        return *(const double *)((const char *)cell + at);
    switch (metric) {
    case REPORT_THROUGHPUT:
        return 1e9 * (double)cell->key.global_batch / cell->median_ns;
    case REPORT_TOKENS:
        return tokens > 0.0 ? tokens * report_number_of(row, REPORT_THROUGHPUT) : (double)NAN;
    case REPORT_PEAK:
        for (int i = 0; i < cell->n_peaks; ++i)
            most = fmax(most, (double)cell->peak_bytes[i]);
        return most;
    case REPORT_HIDDEN: /* older records cut it to 0..1 */
        return isnan(cell->hidden_frac)
                   ? (double)NAN
                   : stats_hidden(cell->compute_alone_ns, cell->comm_alone_ns, cell->whole_ns, 0.0);
    case REPORT_HIDDEN_TIME:
        return report_number_of(row, REPORT_HIDDEN) * cell->comm_alone_ns;
    case REPORT_FLOPS:
        return 1e9 * cell->flops_per_step / (double)cell->key.n_devices / cell->median_ns;
    case REPORT_PRODUCTS:
        return report_number_of(row, REPORT_FLOPS) / (1.0 - cell->outside_frac);
    case REPORT_IN_PARTS:
        /* The median of the fastest device in the products of `sweep --parts`. */
        for (size_t d = 0; part->ns && d < part->rows; ++d) {
            for (size_t i = 0; i < part->n; ++i)
                ns[i] = (double)part->ns[d * part->n + i];
            least = fmin(least, stats_median(ns, part->n));
        }
        return 1e9 * (double)part->work / least;
    default:
        return metric >= REPORT_PHASE && cell->phase_ns[metric - REPORT_PHASE]
                   ? cell->phase_median_ns[metric - REPORT_PHASE]
                   : (double)NAN;
    }
}

/* ---- values ------------------------------------------------------------------------------- */

static const double LEVEL = 0.95;

const struct report_value report_unknown = {
    .middle = NAN, .lo = NAN, .hi = NAN, .range = REPORT_NONE, .coverage = NAN};

struct report_value report_value_of(double values[], size_t n)
{
    struct report_value value = report_unknown;
    struct stats_interval interval;

    stats_sort(values, n);
    interval = stats_median_interval(values, n, LEVEL);
    value.middle = stats_quantile(values, n, 0.5);
    value.n = n;
    if (interval.valid) {
        value.range = REPORT_INTERVAL;
        value.lo = interval.lo;
        value.hi = interval.hi;
        value.coverage = interval.coverage;
    } else if (n > 1) {
        value.range = REPORT_LAUNCHES;
        value.lo = values[0];
        value.hi = values[n - 1];
    }
    return value;
}

struct report_value report_inverse(const struct report_value *value, double over)
{
    struct report_value inverse = *value;

    inverse.middle = over / value->middle;
    inverse.lo = over / value->hi;
    inverse.hi = over / value->lo;
    return inverse;
}

/* Both points are ordered by launch, run and session, so one pass over both finds the equal ones.
 */
bool report_pair_next(const struct report_point *point, const struct report_point *base,
                      size_t at[2], struct report_pair *pair)
{
    while (at[0] < point->n && at[1] < base->n) {
        const struct report_row *a = &point->row[at[0]], *b = &base->row[at[1]];
        const int order = report_launch_order(a, b);

        at[0] += order <= 0;
        at[1] += order >= 0;
        if (order == 0 && a->verified && b->verified) {
            *pair = (struct report_pair){a, b};
            return true;
        }
    }
    return false;
}

struct report_value report_over_launches(const struct report_point *point, int metric,
                                         double scratch[])
{
    size_t n = 0;

    for (size_t i = 0; i < point->n; ++i) {
        const double number =
            point->row[i].verified ? report_number_of(&point->row[i], metric) : (double)NAN;

        if (isfinite(number))
            scratch[n++] = number;
    }
    return report_value_of(scratch, n);
}

/* ---- a point ------------------------------------------------------------------------------ */

double report_middle(const struct report_point *point, int metric)
{
    return point->value[metric].middle;
}

double report_of_bound(const struct report_point *point)
{
    return report_middle(point, REPORT_EFFICIENCY) / point->bound;
}
