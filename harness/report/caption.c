/* report/caption.c: writes the caption of a figure: what is drawn, in at most 40 words. What bars
 * are is said once for all figures; the rest is under "How to read this" (plots/reading.html). */
#include "report/page.h"

#include <math.h>

/* The smallest and the largest of several numbers; hi 0: there are none. */
struct span {
    size_t lo, hi;
};

/* Appends "Bars of 6", or "Bars of 3 to 6", if there are any. */
static bool add_span(char text[REPORT_CELL_TEXT], const char *before, struct span span)
{
    if (span.hi > 0 && span.lo == span.hi)
        report_add(text, "%s%zu", before, span.hi);
    else if (span.hi > 0)
        report_add(text, "%s%zu to %zu", before, span.lo, span.hi);
    return span.hi > 0;
}

void report_bars(struct text_out *out, const struct report *report)
{
    /* The n of all bars of a kind, of step times and of ratios, which count pairs of launches. */
    struct span span[REPORT_INTERVAL + 1] = {{0}};
    double coverage = 1.0;
    char text[REPORT_CELL_TEXT] = "";

    for (size_t i = 0; i < report->n_points; ++i) {
        static const enum report_metric_id metrics[] = {REPORT_STEP, REPORT_SPEEDUP};

        for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; ++m) {
            const struct report_value *value = &report->point[i].value[metrics[m]];

            struct span *of = &span[value->range];

            of->lo = of->hi == 0 || value->n < of->lo ? value->n : of->lo;
            of->hi = value->n > of->hi ? value->n : of->hi;
            if (value->range == REPORT_INTERVAL)
                coverage = fmin(coverage, value->coverage);
        }
    }
    if (add_span(text, "Bars of ", span[REPORT_INTERVAL]))
        report_add(text,
                   " launches: interval of the median over launches by order statistics, which "
                   "covers %.1f\u00a0%% or more, of launches that are independent, in this "
                   "session. ",
                   100.0 * coverage);
    if (add_span(text, "Bars of ", span[REPORT_LAUNCHES]))
        report_add(text,
                   " launches: smallest to largest launch; this is a range, not an interval. ");
    if (add_span(text, "Bars of one launch: 5th to 95th percentile of its ", span[REPORT_STEPS]))
        report_add(text, " steps; steps are correlated, so this is a spread, not an interval. ");
    if (text[0] == '\0' && report->n_points > 0)
        report_add(text, "One launch shows no spread.");
    text_print(out, "%s", text);
}

/* Sentence i > 0 is about something that only some figures have: those with mark 1 << i. */
static const char *const captions[REPORT_FIGURES][4] = {
    [REPORT_FIGURE_MAP] =
        {"Percent of the speed-up that is possible, and half of its interval, for each number of "
         "devices and batch.",
         " Hatched: not certain.", " Grey: no evidence of speed.", " !: a launch was disturbed."},
    [REPORT_FIGURE_SCALING] =
        {"Speed-up over one device, at one batch. Ideal: K devices are K times as fast.",
         " Dashes: the most that whole shards and cores allow.",
         " Plus: the most that the reduction allows.",
         " PyTorch: against lockstep's plain program."},
    [REPORT_FIGURE_WATERFALL] =
        {"A step (p5: 5th percentile of steps) as a sum of measured differences. Thin bar: what "
         "replicas did, by their clocks.",
         " Whiskers: interval of a difference, or range of few launches.",
         " Grey: not told apart from 0, or not certain."},
    [REPORT_FIGURE_BATCH] =
        {"Samples/s of a device against rows of a device. On a diagonal all steps take the same "
         "time. Ring: the knee, the smallest batch that reaches 90\u00a0% of the best of its "
         "line."},
    [REPORT_FIGURE_ROOFLINE] =
        {"Operations of matrix products per second and device, against those for each byte that "
         "is moved between devices. Ceilings: the best that was measured here.",
         " How near each phase is to its limit was not measured (--limits)."},
    [REPORT_FIGURE_LIMITS] =
        {"What each phase, and each of the longest products, reaches of what the machine allows. "
         "Points: means of the middle half of the steps; bars: 5th to 95th percentile. Right of "
         "the line data stay in a cache."},
    [REPORT_FIGURE_TRUST] =
        {"Launches over the median of their cell, by the time they began; colour: what other "
         "programs took. Then the cells whose launches are farthest apart. Then the first steps "
         "of launches, warm-up included."},
    [REPORT_FIGURE_PEER] =
        {"Step times of lockstep over those of PyTorch: left of 1 lockstep is faster. Bars: "
         "intervals over rounds, or ranges of few. Ticks: limits; a ratio keeps one (MET) or not "
         "(MISSED) only if its whole interval does."},
    [REPORT_FIGURE_OVERLAP] =
        {"The reduction alone as a part of the whole step, and what of it the step does not hide, "
         "where that is resolved. On virtual devices both are work of the same cores: reported, "
         "not judged."},
    [REPORT_FIGURE_BANDWIDTH] =
        {"Bus bandwidth of collectives, as nccl-tests defines it, by the bytes of each device. "
         "Bars: the interval over launches, or their range. On virtual devices: copies by the "
         "host's cores, and no bus."},
};

void report_caption(struct text_out *out, const struct report_figures *figures,
                    enum report_figure figure)
{
    for (int i = 0; i < 4 && captions[figure][i]; ++i)
        if (i == 0 || figures->marks[figure] & 1U << i)
            text_print(out, "%s", captions[figure][i]);
}
