/* analysis/metrics.c: the catalogue of metrics: what is said of a point, a row each.
 *
 * A metric is a number of a launch, summed up over the launches of a point, or a ratio of a point
 * and its base. What no launch knows is NaN, and its words are "-". */
#include "analysis/words.h"

#include "numbers/stats.h"

#include <math.h>

static double step_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->median_ns;
}

/* That of a point follows from its step. */
static double throughput_of(const struct report_row *row, int phase)
{
    (void)phase;
    return 1e9 * (double)row->cell->key.global_batch / row->cell->median_ns;
}

/* The same: of a language model. */
static double tokens_of(const struct report_row *row, int phase)
{
    const double tokens = (double)row->cell->tokens_per_row;

    return tokens > 0.0 ? tokens * throughput_of(row, phase) : (double)NAN;
}

static double outside_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->outside_frac;
}

static double moved_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->bytes_per_step;
}

static double peak_of(const struct report_row *row, int phase)
{
    double most = NAN;

    (void)phase;
    for (int i = 0; i < row->cell->n_peaks; ++i)
        most = fmax(most, (double)row->cell->peak_bytes[i]);
    return most;
}

static double compute_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->compute_alone_ns;
}

static double comm_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->comm_alone_ns;
}

static double whole_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->whole_ns;
}

/* Older records have it cut at 0 and 1. */
static double hidden_of(const struct report_row *row, int phase)
{
    const struct record_cell *cell = row->cell;

    (void)phase;
    return isnan(cell->hidden_frac)
               ? (double)NAN
               : stats_hidden(cell->compute_alone_ns, cell->comm_alone_ns, cell->whole_ns, 0.0);
}

static double hidden_time_of(const struct report_row *row, int phase)
{
    return hidden_of(row, phase) * comm_of(row, phase);
}

/* Of one device, while it is in a step. */
static double flops_of(const struct report_row *row, int phase)
{
    (void)phase;
    return 1e9 * row->cell->flops_per_step / (double)row->cell->key.n_devices /
           row->cell->median_ns;
}

static double products_of(const struct report_row *row, int phase)
{
    return flops_of(row, phase) / (1.0 - row->cell->outside_frac);
}

/* The median of its products. */
static double in_parts_of(const struct report_row *row, int phase)
{
    const struct record_part_times *part = &row->cell->part[RECORD_PRODUCT];
    double ns[RECORD_MOST_PARTS], least = NAN;

    (void)phase;
    for (size_t d = 0; part->ns && d < part->rows; ++d) {
        for (size_t i = 0; i < part->n; ++i)
            ns[i] = (double)part->ns[d * part->n + i];
        least = fmin(least, stats_median(ns, part->n));
    }
    return 1e9 * (double)part->work / least;
}

static double algbw_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->algbw_bytes_per_s;
}

static double busbw_of(const struct report_row *row, int phase)
{
    (void)phase;
    return row->cell->busbw_bytes_per_s;
}

static double phase_of(const struct report_row *row, int phase)
{
    return row->cell->phase_ns[phase] ? row->cell->phase_median_ns[phase] : (double)NAN;
}

static void speedup_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    if (point->base == point)
        report_add(text, "base");
    else
        report_add_ratio(text, report_middle(point, REPORT_SPEEDUP));
}

static void efficiency_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    const double efficiency = report_middle(point, REPORT_EFFICIENCY);

    if (point->base == point || !isfinite(efficiency)) {
        report_add(text, "-");
        return;
    }
    report_add_ratio(text, efficiency);
    report_add(text, " of %.2f", point->bound);
}

bool report_resolved(const struct report_value *value, double whole)
{
    return value->range == REPORT_INTERVAL && value->hi - value->lo < 0.5 * whole;
}

/* "82 %", or "not resolved: reduction 23 us, noise of the step 400 us". */
static void hidden_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    const struct report_value *share = &point->value[REPORT_HIDDEN];
    const struct report_value *time = &point->value[REPORT_HIDDEN_TIME];
    char number[32];

    report_percent(share->middle, number);
    if (!isfinite(share->middle) || report_resolved(share, 1.0)) {
        report_add(text, "%s", number);
        return;
    }
    report_time(report_middle(point, REPORT_COMM), number);
    report_add(text, "not resolved: reduction %s, ", number);
    report_time((time->hi - time->lo) / 2.0, number);
    if (time->range == REPORT_INTERVAL)
        report_add(text, "noise of the step %s", number);
    else
        report_add(text, "too few launches for an interval");
}

const struct report_metric report_metrics[REPORT_PHASE + 1] = {
    [REPORT_STEP] = {.name = "step time",
                     .unit = "ns",
                     .heading = "Median step",
                     .brief = "Step",
                     .better = REPORT_LOWER,
                     .column = REPORT_ALWAYS,
                     .range = REPORT_ALWAYS,
                     .number = report_time,
                     .of = step_of},
    [REPORT_THROUGHPUT] = {.name = "throughput",
                           .unit = "samples/s",
                           .heading = "Samples/s at the median step",
                           .brief = "Samples/s",
                           .better = REPORT_HIGHER,
                           .column = REPORT_ALWAYS,
                           .number = report_rate,
                           .of = throughput_of},
    [REPORT_TOKENS] = {.name = "token rate",
                       .unit = "tokens/s",
                       .heading = "Tokens/s at the median step",
                       .brief = "Tokens/s",
                       .better = REPORT_HIGHER,
                       .column = REPORT_WHERE_KNOWN,
                       .number = report_rate,
                       .of = tokens_of},
    [REPORT_SPEEDUP] = {.name = "speed-up",
                        .unit = "\u00d7",
                        .heading = "Speed-up",
                        .brief = "Speed-up",
                        .better = REPORT_HIGHER,
                        .column = REPORT_ALWAYS,
                        .range = REPORT_WHERE_KNOWN,
                        .number = report_ratio,
                        .words = speedup_words},
    [REPORT_EFFICIENCY] = {.name = "efficiency",
                           .unit = "",
                           .heading = "Efficiency, of bound",
                           .brief = "Efficiency",
                           .better = REPORT_HIGHER,
                           .column = REPORT_ALWAYS,
                           .range = REPORT_WHERE_KNOWN,
                           .number = report_ratio,
                           .words = efficiency_words},
    [REPORT_OUTSIDE] = {.name = "part outside matrix products",
                        .unit = "",
                        .heading = "Outside matrix products",
                        .brief = "Outside",
                        .better = REPORT_LOWER,
                        .column = REPORT_WHERE_KNOWN,
                        .number = report_share,
                        .of = outside_of},
    [REPORT_MOVED] = {.name = "moved per step",
                      .unit = "B",
                      .heading = "Moved per step",
                      .brief = "Moved",
                      .better = REPORT_LOWER,
                      .column = REPORT_WHERE_KNOWN,
                      .number = report_bytes,
                      .of = moved_of},
    [REPORT_PEAK] = {.name = "peak of a device",
                     .unit = "B",
                     .heading = "Peak memory of a device",
                     .brief = "Peak",
                     .better = REPORT_LOWER,
                     .column = REPORT_WHERE_KNOWN,
                     .number = report_bytes,
                     .of = peak_of},
    [REPORT_COMPUTE] = {.name = "step without reduction",
                        .unit = "ns",
                        .heading = "Step without reduction",
                        .better = REPORT_LOWER,
                        .number = report_time,
                        .of = compute_of},
    [REPORT_COMM] = {.name = "reduction alone",
                     .unit = "ns",
                     .heading = "Reduction alone",
                     .better = REPORT_LOWER,
                     .number = report_time,
                     .of = comm_of},
    [REPORT_WHOLE] = {.name = "whole step",
                      .unit = "ns",
                      .heading = "Whole step",
                      .better = REPORT_LOWER,
                      .number = report_time,
                      .of = whole_of},
    [REPORT_HIDDEN] = {.name = "hidden part of the reduction",
                       .unit = "",
                       .heading = "Hidden",
                       .better = REPORT_HIGHER,
                       .number = report_percent,
                       .of = hidden_of,
                       .words = hidden_words},
    [REPORT_HIDDEN_TIME] = {.name = "hidden time",
                            .unit = "ns",
                            .heading = "Hidden time",
                            .better = REPORT_HIGHER,
                            .number = report_time,
                            .of = hidden_time_of},
    [REPORT_FLOPS] = {.name = "operations of a device",
                      .unit = "FLOP/s",
                      .heading = "Operations of a device",
                      .better = REPORT_HIGHER,
                      .number = report_flops,
                      .of = flops_of},
    [REPORT_PRODUCTS] = {.name = "operations in matrix products",
                         .unit = "FLOP/s",
                         .heading = "Operations in matrix products",
                         .better = REPORT_HIGHER,
                         .number = report_flops,
                         .of = products_of},
    [REPORT_IN_PARTS] = {.name = "operations of a product by itself",
                         .unit = "FLOP/s",
                         .heading = "Operations of a product",
                         .better = REPORT_HIGHER,
                         .number = report_flops,
                         .of = in_parts_of},
    [REPORT_ALGBW] = {.name = "algorithm bandwidth",
                      .unit = "B/s",
                      .heading = "Algorithm bandwidth",
                      .better = REPORT_HIGHER,
                      .number = report_speed,
                      .of = algbw_of},
    [REPORT_BUSBW] = {.name = "bus bandwidth",
                      .unit = "B/s",
                      .heading = "Bus bandwidth",
                      .better = REPORT_HIGHER,
                      .number = report_speed,
                      .of = busbw_of},
    [REPORT_ALPHA] = {.name = "alpha",
                      .unit = "ns",
                      .heading = "Alpha",
                      .better = REPORT_LOWER,
                      .number = report_time},
    [REPORT_BETA] = {.name = "1/beta",
                     .unit = "B/s",
                     .heading = "1/beta",
                     .better = REPORT_HIGHER,
                     .number = report_speed},
    [REPORT_PHASE] = {.name = "phase",
                      .unit = "ns",
                      .heading = "Phase",
                      .better = REPORT_LOWER,
                      .number = report_time,
                      .of = phase_of},
};

const struct report_metric *report_metric_of(int metric)
{
    return &report_metrics[metric < REPORT_PHASE ? metric : REPORT_PHASE];
}

double report_middle(const struct report_point *point, int metric)
{
    return point->value[metric].middle;
}

bool report_metric_better(int metric, double a, double b)
{
    const enum report_direction better = report_metric_of(metric)->better;

    return better == REPORT_HIGHER ? a > b : better == REPORT_LOWER && a < b;
}

void report_add_metric(char text[REPORT_CELL_TEXT], const struct report_point *point, int metric)
{
    const struct report_metric *row = report_metric_of(metric);
    char number[32];

    if (row->words) {
        row->words(point, text);
        return;
    }
    row->number(report_middle(point, metric), number);
    report_add(text, "%s", number);
}

/* A ratio may have fewer pairs than there are launches. */
void report_add_metric_range(char text[REPORT_CELL_TEXT], const struct report_point *point,
                             int metric)
{
    const struct report_metric *row = report_metric_of(metric);
    const struct report_value *value = &point->value[metric];

    if (!row->of && (point->base == point || !isfinite(value->middle))) {
        report_add(text, "-");
        return;
    }
    report_add_range(text, value, row->number);
    if (!row->of && value->n != point->verified)
        report_add(text, " (%zu pair%s)", value->n, value->n == 1 ? "" : "s");
}
