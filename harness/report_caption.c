/* report_caption.c: what stands under a figure: what is drawn, the statistic, its level and n.
 *
 * A reader who sees only the figure and these words knows what a point and a bar are. */
#include "report.h"

#include <math.h>
#include <string.h>

/* Fewest and most over all verified points. */
struct span {
    size_t lo, hi;
};

static void widen(struct span *span, size_t n)
{
    span->lo = span->hi == 0 || n < span->lo ? n : span->lo;
    span->hi = n > span->hi ? n : span->hi;
}

static void add_span(char text[REPORT_CELL_TEXT], struct span span)
{
    if (span.lo == span.hi)
        report_add(text, "%zu", span.hi);
    else
        report_add(text, "%zu to %zu", span.lo, span.hi);
}

static struct span launches(const struct report *report, enum report_range range)
{
    struct span span = {0};

    for (size_t i = 0; i < report->n_points; i++)
        if (report->point[i].verified > 0 && report->point[i].step_ns.range == range)
            widen(&span, report->point[i].step_ns.n);
    return span;
}

static struct span steps(const struct report *report)
{
    struct span span = {0};

    for (size_t i = 0; i < report->n_rows; i++)
        if (report->row[i].verified)
            widen(&span, report->row[i].cell->n_valid);
    return span;
}

static double least_coverage(const struct report *report)
{
    double least = 1.0;

    for (size_t i = 0; i < report->n_points; i++)
        if (report->point[i].step_ns.range == REPORT_INTERVAL)
            least = fmin(least, report->point[i].step_ns.coverage);
    return least;
}

/* What the bars of this report are. */
static void bars(struct report_out *out, const struct report *report)
{
    const struct span interval = launches(report, REPORT_INTERVAL);
    const struct span range = launches(report, REPORT_LAUNCHES);
    const struct span single = launches(report, REPORT_STEPS);
    char text[REPORT_CELL_TEXT] = "";

    if (interval.hi > 0) {
        report_add(text, " Bars of ");
        add_span(text, interval);
        report_add(text,
                   " launches: interval of the median over launches by order statistics, which "
                   "covers %.1f\u00a0%% or more.",
                   100.0 * least_coverage(report));
    }
    if (range.hi > 0) {
        report_add(text, " Bars of ");
        add_span(text, range);
        report_add(text, " launches: smallest to largest launch, a range and no interval.");
    }
    if (single.hi > 0) {
        report_add(text, " Bars of one launch: 5th to 95th percentile of its ");
        add_span(text, single);
        report_add(text, " steps, which depend on each other: a spread and no interval.");
    }
    report_print(out, "%s", text);
}

static void throughput(struct report_out *out, const struct report *report)
{
    report_print(out, "Throughput against global batch, a line per number of devices. Points: per "
                      "launch all rows over all time, then the median over launches.");
    bars(out, report);
    report_print(out, " Failed and unverified cells are left out, and no line crosses them.");
}

static void scaling(struct report_out *out, const struct report *report)
{
    report_print(out,
                 "Step time, speed-up and efficiency against number of devices. Points: the median "
                 "over launches of the median step; ratios are taken launch by launch against the "
                 "base case of the same batch, which is the plain program, or else DataParallel on "
                 "one device. Ideal: N devices are N times as fast. Bound: what shards of "
                 "ceil(N/K) rows leave of it. A ratio from one launch has no bar.");
    bars(out, report);
}

static void phases(struct report_out *out)
{
    report_print(out, "Where a step goes: per phase the slowest replica of each step, the median "
                      "over steps, then over launches. What is left of the median step lies "
                      "between the phases: waiting and handing over. Phases of different replicas "
                      "may overlap.");
}

static void shards(struct report_out *out)
{
    report_print(out, "Which rows of the batch went to which device, as each replica recorded "
                      "them: shards of ceil(N/K) rows, in order; a device without rows is idle.");
}

static void distribution(struct report_out *out, const struct report *report)
{
    char text[REPORT_CELL_TEXT] = "";

    add_span(text, steps(report));
    report_print(out,
                 "Share of the steps that took at most so long, over %s timed steps of a launch "
                 "after warm-up; outliers are in it. Steps of one launch depend on each other.",
                 text);
}

void report_caption(struct report_out *out, const struct report *report, enum report_figure figure)
{
    switch (figure) {
    case REPORT_FIGURE_THROUGHPUT:
        throughput(out, report);
        break;
    case REPORT_FIGURE_SCALING:
        scaling(out, report);
        break;
    case REPORT_FIGURE_PHASES:
        phases(out);
        break;
    case REPORT_FIGURE_SHARDS:
        shards(out);
        break;
    case REPORT_FIGURE_DISTRIBUTION:
        distribution(out, report);
        break;
    default:
        report_print(out, "Step times side by side with the other program, taken in turns.");
    }
}
