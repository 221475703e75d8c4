/* analysis/metrics.c: the catalogue of metrics, and their values. Each metric of a point is one
 * row.
 *
 * A metric is either a number of a launch, summed up over the launches of a point, or a ratio of a
 * point and its base. If no launch knows it, it is NaN, and is printed as "-". */
#include "analysis/analysis.h"

#include "numbers/stats.h"

#include <math.h>

/* The columns are name, unit, heading, better, column, range and number. */
const struct report_metric report_metrics[REPORT_PHASE + 1] = {
    [REPORT_STEP] = {"step time", "ns", "Median step", REPORT_LOWER, REPORT_ALWAYS, REPORT_ALWAYS,
                     report_time},
    [REPORT_THROUGHPUT] = {"throughput", "samples/s", "Samples/s at the median step", REPORT_HIGHER,
                           REPORT_ALWAYS, REPORT_NEVER, report_rate},
    [REPORT_TOKENS] = {"token rate", "tokens/s", "Tokens/s at the median step", REPORT_HIGHER,
                       REPORT_WHERE_KNOWN, REPORT_NEVER, report_rate},
    [REPORT_SPEEDUP] = {"speed-up", "\u00d7", "Speed-up", REPORT_HIGHER, REPORT_ALWAYS,
                        REPORT_WHERE_KNOWN, report_ratio},
    [REPORT_EFFICIENCY] = {"efficiency", "", "Efficiency, of bound", REPORT_HIGHER, REPORT_ALWAYS,
                           REPORT_WHERE_KNOWN, report_ratio},
    [REPORT_OF_CORES] = {"speed-up against one process", "\u00d7",
                         "Against one process, same cores", REPORT_HIGHER, REPORT_WHERE_KNOWN,
                         REPORT_WHERE_KNOWN, report_ratio},
    [REPORT_OUTSIDE] = {"part outside matrix products", "", "Outside matrix products", REPORT_LOWER,
                        REPORT_WHERE_KNOWN, REPORT_NEVER, report_share},
    [REPORT_MOVED] = {"moved per step", "B", "Moved per step", REPORT_LOWER, REPORT_WHERE_KNOWN,
                      REPORT_NEVER, report_bytes},
    [REPORT_PEAK] = {"peak of a device", "B", "Peak memory of a device", REPORT_LOWER,
                     REPORT_WHERE_KNOWN, REPORT_NEVER, report_bytes},
    [REPORT_COMPUTE] = {"step without reduction", "ns", "Step without reduction", REPORT_LOWER,
                        REPORT_NEVER, REPORT_NEVER, report_time},
    [REPORT_COMM] = {"reduction alone", "ns", "Reduction alone", REPORT_LOWER, REPORT_NEVER,
                     REPORT_NEVER, report_time},
    [REPORT_WHOLE] = {"whole step", "ns", "Whole step", REPORT_LOWER, REPORT_NEVER, REPORT_NEVER,
                      report_time},
    [REPORT_HIDDEN] = {"hidden part of the reduction", "", "Hidden", REPORT_HIGHER, REPORT_NEVER,
                       REPORT_NEVER, report_percent},
    [REPORT_HIDDEN_TIME] = {"hidden time", "ns", "Hidden time", REPORT_HIGHER, REPORT_NEVER,
                            REPORT_NEVER, report_time},
    [REPORT_FLOPS] = {"operations of a device", "FLOP/s", "Operations of a device", REPORT_HIGHER,
                      REPORT_NEVER, REPORT_NEVER, report_flops},
    [REPORT_PRODUCTS] = {"operations in matrix products", "FLOP/s", "Operations in matrix products",
                         REPORT_HIGHER, REPORT_NEVER, REPORT_NEVER, report_flops},
    [REPORT_IN_PARTS] = {"operations of a product by itself", "FLOP/s", "Operations of a product",
                         REPORT_HIGHER, REPORT_NEVER, REPORT_NEVER, report_flops},
    [REPORT_ALGBW] = {"algorithm bandwidth", "B/s", "Algorithm bandwidth", REPORT_HIGHER,
                      REPORT_NEVER, REPORT_NEVER, report_speed},
    [REPORT_BUSBW] = {"bus bandwidth", "B/s", "Bus bandwidth", REPORT_HIGHER, REPORT_NEVER,
                      REPORT_NEVER, report_speed},
    [REPORT_ALPHA] = {"alpha", "ns", "Alpha", REPORT_LOWER, REPORT_NEVER, REPORT_NEVER,
                      report_time},
    [REPORT_BETA] = {"1/beta", "B/s", "1/beta", REPORT_HIGHER, REPORT_NEVER, REPORT_NEVER,
                     report_speed},
    [REPORT_PHASE] = {"phase", "ns", "Phase", REPORT_LOWER, REPORT_NEVER, REPORT_NEVER,
                      report_time},
};

const struct report_metric *report_metric_of(int metric)
{
    return &report_metrics[metric < REPORT_PHASE ? metric : REPORT_PHASE];
}

bool report_is_ratio(int metric)
{
    return metric >= REPORT_SPEEDUP && metric <= REPORT_OF_CORES;
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
    double ns[RECORD_MOST_PARTS], most = NAN, least = NAN;

    switch (metric) {
    case REPORT_STEP:
        return cell->median_ns;
    case REPORT_THROUGHPUT:
        return 1e9 * (double)cell->key.global_batch / cell->median_ns;
    case REPORT_TOKENS:
        return tokens > 0.0 ? tokens * report_number_of(row, REPORT_THROUGHPUT) : (double)NAN;
    case REPORT_OUTSIDE:
        return cell->outside_frac;
    case REPORT_MOVED:
        return cell->bytes_per_step;
    case REPORT_PEAK:
        for (int i = 0; i < cell->n_peaks; ++i)
            most = fmax(most, (double)cell->peak_bytes[i]);
        return most;
    case REPORT_COMPUTE:
        return cell->compute_alone_ns;
    case REPORT_COMM:
        return cell->comm_alone_ns;
    case REPORT_WHOLE:
        return cell->whole_ns;
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
    case REPORT_ALGBW:
        return cell->algbw_bytes_per_s;
    case REPORT_BUSBW:
        return cell->busbw_bytes_per_s;
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

bool report_metric_better(int metric, double a, double b)
{
    return report_metric_of(metric)->better == REPORT_HIGHER ? a > b : a < b;
}
