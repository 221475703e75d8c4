/* report/caption.c: what stands under a figure: what is drawn, the statistic, its level and n.
 *
 * A reader who sees only the figure and these words knows what a point and a bar are. */
#include "report/peer_report.h"

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

/* The n of all bars of that kind; with ratios, which are of pairs of launches, also theirs. */
static struct span launches(const struct report *report, enum report_range range, bool ratios)
{
    struct span span = {0};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (point->value[REPORT_STEP].range == range)
            widen(&span, point->value[REPORT_STEP].n);
        if (ratios && point->value[REPORT_SPEEDUP].range == range)
            widen(&span, point->value[REPORT_SPEEDUP].n);
    }
    return span;
}

static struct span steps(const struct report *report)
{
    struct span span = {0};

    for (size_t i = 0; i < report->n_rows; ++i)
        if (report->row[i].verified)
            widen(&span, report->row[i].cell->n_valid);
    return span;
}

static double least_coverage(const struct report *report, bool ratios)
{
    double least = 1.0;

    for (size_t i = 0; i < report->n_points; ++i) {
        least = fmin(least, report->point[i].value[REPORT_STEP].coverage);
        least = ratios ? fmin(least, report->point[i].value[REPORT_SPEEDUP].coverage) : least;
    }
    return least;
}

/* What the bars of a figure are. */
static void bars(struct text_out *out, const struct report *report, bool ratios)
{
    const struct span interval = launches(report, REPORT_INTERVAL, ratios);
    const struct span range = launches(report, REPORT_LAUNCHES, ratios);
    const struct span single = launches(report, REPORT_STEPS, false);
    char text[REPORT_CELL_TEXT] = "";

    if (interval.hi > 0) {
        report_add(text, " Bars of ");
        add_span(text, interval);
        report_add(text,
                   " launches: interval of the median over launches by order statistics, which "
                   "covers %.1f\u00a0%% or more, of launches that are independent, in this "
                   "sitting.",
                   100.0 * least_coverage(report, ratios));
    }
    if (range.hi > 0) {
        report_add(text, " Bars of ");
        add_span(text, range);
        report_add(text,
                   " launches: smallest to largest launch; this is a range, not an interval.");
    }
    if (single.hi > 0) {
        report_add(text, " Bars of one launch: 5th to 95th percentile of its ");
        add_span(text, single);
        report_add(text, " steps; steps are correlated, so this is a spread, not an interval.");
    }
    text_print(out, "%s", text);
}

static bool any_weak(const struct report *report)
{
    for (size_t g = 0; g < report->n_groups; ++g)
        if (strcmp(report->group[g].scaling, "weak") == 0)
            return true;
    return false;
}

static void throughput(struct text_out *out, const struct report *report)
{
    text_print(out,
               "Throughput against batch, a line per number of devices and one of the plain "
               "program%s. Points: the rows of the batch over the median step, which is the median "
               "over launches of the median of a launch's steps.",
               any_weak(report) ? "; for weak scaling both are per device" : "");
    bars(out, report, false);
    text_print(out, " Failed and unverified cells are left out, and no line crosses them.");
}

static void scaling(struct text_out *out, const struct report *report)
{
    text_print(out,
               "Step time, speed-up and efficiency against the number of devices, a line "
               "per batch. Points: the median over launches of the median step. The ratios "
               "are taken launch by launch against the plain program, or else DataParallel "
               "on one device, at the same batch. Ideal: K devices take 1/K of the base's "
               "time%s. Bound: the ideal that is left when shards are whole rows, so that the "
               "slowest device has ceil(N/K), and when virtual devices share cores, so that the "
               "speed-up is at most their number. A ratio from one launch has no bar.",
               any_weak(report) ? " (weak scaling: the same time, for K times the rows)" : "");
    bars(out, report, true);
}

static void phases(struct text_out *out)
{
    text_print(out,
               "Where a step goes, at the smallest and the largest batch that most numbers of "
               "devices have: of each phase the slowest replica, step by step, then the median "
               "over steps and over "
               "launches. Other: time outside all phases, such as waiting and hand-offs between "
               "them. Phases of different replicas may overlap. All "
               "batches are in the table of cells.");
}

static void shards(struct text_out *out)
{
    text_print(out, "Which rows of the batch went to which device, as the replicas of a verified "
                    "step saw them. A device without rows is idle.");
}

static void distribution(struct text_out *out, const struct report *report)
{
    char text[REPORT_CELL_TEXT] = "";

    add_span(text, steps(report));
    text_print(out,
               "Cumulative share of steps by time, at the smallest and the largest batch: all "
               "timed steps of all verified launches together (%s of each launch "
               "after warm-up), outliers included. Steps of one launch depend on each other.",
               text);
}

static void modes(struct text_out *out, const struct report *report)
{
    text_print(out, "DataParallel and DistributedDataParallel on the same devices with the same "
                    "batch, the largest that both have: the median step, the bytes that crossed "
                    "devices in a step, and the most memory that one device held at a time: "
                    "parameters, gradients, batches and what a step keeps, not what libraries take "
                    "for themselves. DDP with a size: buckets of that many bytes.");
    bars(out, report, false);
}

static void overlap(struct text_out *out)
{
    text_print(
        out,
        "DistributedDataParallel: a step without its reduction, and the reduction alone, "
        "stacked. The line is the whole step. The part of the bar above the line overlaps "
        "backward; the number over a bar is its share of the reduction, a dash where that is not "
        "resolved: its interval over the launches is 50 points wide or more, or there is "
        "none. "
        "The three are measured in turns; medians over rounds, then over launches, whose "
        "range is in the table. On "
        "virtual devices the reduction is work of the same cores, and none of them is "
        "idle: the overlap there is reported, not judged.");
}

void report_caption(struct text_out *out, const struct report *report, enum report_figure figure)
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
    case REPORT_FIGURE_MODES:
        modes(out, report);
        break;
    case REPORT_FIGURE_OVERLAP:
        overlap(out);
        break;
    default:
        if (report->peer)
            report_peer_caption(out, report->peer);
    }
}
