/* report/caption.c: writes the caption of a figure: what is drawn, the statistic, its level and n.
 *
 * A reader who sees only the figure and its caption must know what a point and a bar are. */
#include "report/page.h"
#include "report/peer.h"

#include <math.h>
#include <string.h>

/* The smallest and the largest of several numbers; hi 0: there are none. */
struct span {
    size_t lo, hi;
};

static void widen_span(struct span *span, size_t n)
{
    span->lo = span->hi == 0 || n < span->lo ? n : span->lo;
    span->hi = n > span->hi ? n : span->hi;
}

/* Appends "6", or "3 to 6". */
static void add_span(char text[REPORT_CELL_TEXT], struct span span)
{
    if (span.lo == span.hi)
        report_add(text, "%zu", span.hi);
    else
        report_add(text, "%zu to %zu", span.lo, span.hi);
}

/* The n of all bars of that kind. With ratios, also the n of the ratios, which count pairs of
 * launches. */
static struct span launches(const struct report *report, enum report_range range, bool ratios)
{
    struct span span = {0};

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];

        if (point->value[REPORT_STEP].range == range)
            widen_span(&span, point->value[REPORT_STEP].n);
        if (ratios && point->value[REPORT_SPEEDUP].range == range)
            widen_span(&span, point->value[REPORT_SPEEDUP].n);
    }
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

/* ---- what depends on the report ------------------------------------------------------------ */

static void add_intervals_of_map(struct text_out *out, const struct report *report)
{
    const struct span interval = launches(report, REPORT_INTERVAL, true);
    char text[REPORT_CELL_TEXT] = "";

    if (interval.hi > 0) {
        report_add(text, " Intervals of ");
        add_span(text, interval);
        report_add(text, " launches, by order statistics, cover %.1f\u00a0%% or more.",
                   100.0 * least_coverage(report, true));
    }
    text_print(out, "%s", text);
}

static void add_pytorch(struct text_out *out, const struct report *report)
{
    if (report->peer)
        text_print(out, " PyTorch: its plain program and its parallel one against lockstep's plain "
                        "program, round by round of the comparison, where it has one of these "
                        "batches, which is then the one that is shown.");
}

static void add_unmeasured_limits(struct text_out *out, const struct report *report)
{
    if (!report->roof)
        text_print(out, " How near each phase is to its limit was not measured (--limits).");
}

static void add_terms(struct text_out *out, const struct report *report)
{
    bool weak = false;

    for (size_t g = 0; g < report->n_groups; ++g)
        weak = weak || strcmp(report->group[g].scaling, "weak") == 0;
    text_print(out,
               "%s. Smaller shard: what the base takes more for the rows of one device. Together: "
               "what it takes more when all devices do so at once, without communication. "
               "Communication: the rest of the step, which nothing hides. All are measured: of a "
               "launch the 5th percentile of its steps (of the 5 to 11 without communication the "
               "shortest), then the median over launches, so that the terms add up. Whiskers: the "
               "difference in the same launches. A term is hollow where that has 0 in it.",
               weak ? " (weak scaling: the base's whole step)" : "");
}

static void add_steps(struct text_out *out, const struct report *report)
{
    struct span steps = {0};
    char text[REPORT_CELL_TEXT] = "";

    for (size_t i = 0; i < report->n_rows; ++i)
        if (report->row[i].verified)
            widen_span(&steps, report->row[i].cell->n_valid);
    add_span(text, steps);
    text_print(out, "%s steps after warm-up.", text);
}

static void add_ranges_of_peer(struct text_out *out, const struct report *report)
{
    const struct report *points = &report->peer->points;
    const struct span interval = launches(points, REPORT_INTERVAL, false);
    const struct span range = launches(points, REPORT_LAUNCHES, false);
    char text[REPORT_CELL_TEXT] = "";

    if (interval.hi > 0) {
        report_add(
            text,
            ", with its interval by order statistics (%.1f\u00a0%% or more, of launches that are "
            "independent, in this session; ",
            100 * least_coverage(points, false));
        add_span(text, interval);
        report_add(text, " launches)");
    }
    if (range.hi > 0) {
        report_add(text, "%s with the range of ", interval.hi > 0 ? ", or" : ",");
        add_span(text, range);
        report_add(text, " launches, too few for an interval");
    }
    if (interval.hi + range.hi == 0)
        report_add(text, "; one launch shows no spread");
    text_print(
        out,
        "%s. Left of 1 lockstep's step is the shorter one. Ticks: limits, which a ratio "
        "keeps (MET) or not (MISSED) only where its whole interval does; else it is OPEN. Of "
        "PyTorch's programs that do the same the fastest counts: the table of ratios names it.",
        text);
}

/* ---- all captions -------------------------------------------------------------------------- */

enum bars { NO_BARS, BARS, BARS_OF_RATIOS };

static const struct {
    const char *words;
    void (*add)(struct text_out *out, const struct report *report);
    enum bars bars;
    const char *last;
} captions[REPORT_FIGURES] = {
    [REPORT_FIGURE_MAP] =
        {"Efficiency, as a percentage of its bound, for each number of devices and batch, and half "
         "of its interval: the speed-up, which is the median over launches of the ratio to the "
         "base, over the devices and over what whole shards and the cores allow. The stronger the "
         "colour, the nearer to the bound. Hatched: not resolved, which is an interval wider than "
         "20 points, or none: it takes 6 launches. Grey: no evidence of how fast, because devices "
         "share cores or a GPU, or are simulated.",
         add_intervals_of_map, NO_BARS, ""},
    [REPORT_FIGURE_SCALING] =
        {"Speed-up against the number of devices, at the largest batch that most numbers of "
         "devices have, on the same axes for all workloads. Points: the median over launches of "
         "the ratio, launch by launch, to the plain program, or else DataParallel on one device, "
         "or else for DDP itself on one rank, at the same batch (weak scaling: times the devices, "
         "which do so many times the rows). Ideal: K devices are K times as fast. Dashes: the "
         "bound that is left when shards are whole rows, so that the slowest device has "
         "ceil(N/K), and when virtual devices share cores, so that the speed-up is at most their "
         "number. Plus: the bound of DDP where it is lower, because no step is shorter than its "
         "reduction alone. A ratio from one launch has no bar.",
         add_pytorch, BARS_OF_RATIOS, ""},
    [REPORT_FIGURE_WATERFALL] =
        {"Where a step on several devices goes, at the smallest batch whose shard was measured "
         "alone too, at the knee and at the largest. Ideal: the base's step over K, the number of "
         "devices",
         add_terms, BARS_OF_RATIOS,
         " Thin bar: parts of a step by the clocks of the replicas, the mean over replicas, steps "
         "and launches; waiting is what is left."},
    [REPORT_FIGURE_BATCH] =
        {"Samples/s per device against rows per device, both logarithmic, on the same axes for all "
         "workloads: of the plain program, and of DataParallel and DistributedDataParallel on the "
         "most devices that have separate cores. Points: the rows of the batch over the median "
         "step, which is the median over launches of the median of a launch's steps, over the "
         "devices. On a diagonal all steps take the same time. A ring with the rows per device is "
         "a knee: the smallest batch whose bar reaches 90\u00a0% of the best point of its line, "
         "where there are 4 batches or more; every smaller one is below.",
         NULL, BARS, " Failed and unverified cells are left out."},
    [REPORT_FIGURE_ROOFLINE] =
        {"Operations of matrix products per second and device, against those for each byte that is "
         "moved between devices in a step; a line goes through the batches, on the most devices "
         "with separate cores. Points: the median over launches. What moves no byte stands at the "
         "right. Ceilings are the best measured here in this workload: the same operations over "
         "the time in matrix products, and the bytes of a step over the time of the reduction "
         "alone, per device, which only DDP measures. One that the records do not have is not "
         "drawn.",
         add_unmeasured_limits, BARS, ""},
    [REPORT_FIGURE_LIMITS] =
        {"What each phase of a step, on all devices at once, reaches of what the machine allows: "
         "the least time by the multiply-adds of a core, its memory, or the copies of all cores, "
         "each measured in the same run, over its own time. Counted are matrix products and the "
         "bytes that they, updates and transfers must move. Then the products that take longest, "
         "by themselves. Points: means of the middle half of the steps; bars: 5th to 95th "
         "percentile of the steps. Right of the line data stay in a cache.",
         NULL, NO_BARS, ""},
    [REPORT_FIGURE_TRUST] =
        {"Each launch's median step over the median of its cell, of cells with 3 launches or more, "
         "by the time it began; its colour is the part of the CPU time of its cores that other "
         "programs took, the strip below what a hypervisor took. Then the cells whose launches are "
         "farthest apart: a ring per launch, and the 5th percentile of a launch's steps, its "
         "floor, as a tick. Last the first 60 steps of launches over the median step of each, "
         "warm-up included. Launches have ",
         add_steps, BARS, ""},
    [REPORT_FIGURE_PEER] = {"Ratios of step times, lockstep over PyTorch, a panel per workload and "
                            "batch: the median over rounds of the ratio of the median steps of two "
                            "launches",
                            add_ranges_of_peer, NO_BARS, ""},
    [REPORT_FIGURE_OVERLAP] =
        {"DistributedDataParallel, of cells in which it is resolved: the reduction alone as a part "
         "of the whole step, and what of it the step does not hide. A step without reduction, the "
         "reduction and the whole step take turns; medians over rounds, then over launches; "
         "whiskers: the interval over launches, narrower than 50 points of the reduction. On "
         "virtual devices the reduction is work of the same cores, and none of them is idle: the "
         "overlap there is reported, not judged.",
         NULL, NO_BARS, ""},
    [REPORT_FIGURE_BANDWIDTH] =
        {"Bus bandwidth of collectives by themselves, by the bytes of each device: the size over "
         "the median time of an iteration, times the factor of nccl-tests. Medians over launches; "
         "bars: the interval over launches, or their range. Every iteration is verified. On "
         "virtual devices these are copies and sums of the host's cores, and of no bus.",
         NULL, NO_BARS, ""},
};

/* The figure of a comparison is drawn only if there is one. */
void report_caption(struct text_out *out, const struct report *report, enum report_figure figure)
{
    const bool ratios = captions[figure].bars == BARS_OF_RATIOS;
    const struct span interval = launches(report, REPORT_INTERVAL, ratios);
    const struct span range = launches(report, REPORT_LAUNCHES, ratios);
    const struct span single = launches(report, REPORT_STEPS, false);
    const bool bars = captions[figure].bars != NO_BARS;
    char text[REPORT_CELL_TEXT] = "";

    fputs(captions[figure].words, out->file);
    if (captions[figure].add)
        captions[figure].add(out, report);
    if (bars && interval.hi > 0) {
        report_add(text, " Bars of ");
        add_span(text, interval);
        report_add(text,
                   " launches: interval of the median over launches by order statistics, which "
                   "covers %.1f\u00a0%% or more, of launches that are independent, in this "
                   "session.",
                   100.0 * least_coverage(report, ratios));
    }
    if (bars && range.hi > 0) {
        report_add(text, " Bars of ");
        add_span(text, range);
        report_add(text,
                   " launches: smallest to largest launch; this is a range, not an interval.");
    }
    if (bars && single.hi > 0) {
        report_add(text, " Bars of one launch: 5th to 95th percentile of its ");
        add_span(text, single);
        report_add(text, " steps; steps are correlated, so this is a spread, not an interval.");
    }
    text_print(out, "%s", text);
    fputs(captions[figure].last, out->file);
}
