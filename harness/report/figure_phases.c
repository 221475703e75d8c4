/* report/figure_phases.c: the phases of a step, stacked: a bar per device count, for the smallest
 * and the largest batch of a group.
 *
 * A phase is the median of its slowest rank, step by step. What the sum lacks of the step is
 * "other"; where phases of ranks overlap it is more than the step, which the note says: there is no
 * bar below zero. */
#include "report/figure.h"

#include <math.h>

enum { WIDTH = 1200, ROW = 470, KEY = 1040 };
enum { MAX_NAMES = 11 }; /* under, and numbers over bars: more would overlap */
enum { OTHER = RECORD_PHASES, FILLS = RECORD_PHASES + 1 };
static const double HALF = 0.33; /* of the width of a bar */

/* A panel: the bars from left to right; count 0 is the plain program. */
struct bars {
    const struct report_group *group;
    const struct report_point *point[PLOT_MAX_TICKS + 1];
    size_t n, batch;
    double unit, highest, excess; /* excess: the sum's over the step, as a part of it */
    bool hollow, ddp, buckets;
};

static double sum_of(const struct report_point *point)
{
    double sum = 0.0;

    for (int p = 0; p < RECORD_PHASES; ++p)
        sum += isfinite(report_middle(point, REPORT_PHASE + p))
                   ? report_middle(point, REPORT_PHASE + p)
                   : 0.0;
    return sum;
}

/* The range of single steps is wide and is shown elsewhere. */
static bool has_range(const struct report_point *point)
{
    return point->value[REPORT_STEP].range == REPORT_LAUNCHES ||
           point->value[REPORT_STEP].range == REPORT_INTERVAL;
}

static double top_of(const struct report_point *point)
{
    const double top = fmax(sum_of(point), report_middle(point, REPORT_STEP));

    return has_range(point) ? fmax(top, point->value[REPORT_STEP].hi) : top;
}

static void bars_make(const struct plot *plot, const struct report_group *group, size_t batch,
                      struct bars *bars)
{
    size_t counts[PLOT_MAX_TICKS + 1] = {0};
    const size_t n = 1 + figure_counts(plot, group, counts + 1, PLOT_MAX_TICKS);

    *bars = (struct bars){.group = group, .batch = batch};
    for (size_t c = 0; c < n; ++c) {
        const struct report_point *point = figure_find(plot, group, counts[c], batch);
        double sum;

        if (!point || !(sum_of(point) > 0.0))
            continue;
        sum = sum_of(point);
        bars->point[bars->n++] = point;
        bars->highest = fmax(bars->highest, top_of(point));
        bars->excess = fmax(bars->excess, sum / report_middle(point, REPORT_STEP) - 1.0);
        bars->ddp = bars->ddp || report_is_ddp(point);
        bars->buckets = bars->buckets || point->bucket > 0;
        bars->hollow = bars->hollow || report_oversubscribed(point);
    }
}

/* The batch that most device counts have, the smallest or the largest of those. */
static size_t best_batch(const struct plot *plot, const struct report_group *group, bool largest)
{
    size_t batches[PLOT_MAX_TICKS], best = 0, most = 0;
    const size_t n = figure_batches(plot, group, batches, PLOT_MAX_TICKS);
    struct bars bars;

    for (size_t b = 0; b < n; ++b) {
        bars_make(plot, group, batches[b], &bars);
        if (bars.n > most || (largest && bars.n == most)) {
            most = bars.n;
            best = batches[b];
        }
    }
    return best;
}

/* From where a segment goes to where; other ends at the step. */
static void segment(const struct report_point *point, int fill, double ends[2])
{
    ends[0] = 0.0;
    for (int p = 0; p < fill && p < RECORD_PHASES; ++p)
        ends[0] += isfinite(report_middle(point, REPORT_PHASE + p))
                       ? report_middle(point, REPORT_PHASE + p)
                       : 0.0;
    ends[1] = fill == OTHER ? report_middle(point, REPORT_STEP)
              : isfinite(report_middle(point, REPORT_PHASE + fill))
                  ? ends[0] + report_middle(point, REPORT_PHASE + fill)
                  : ends[0];
}

static void write_segments(FILE *file, const struct bars *bars)
{
    for (int fill = 0; fill < FILLS; ++fill) {
        for (size_t i = 0; i < bars->n; ++i) {
            const double x = (double)i + 1;
            double ends[2];

            segment(bars->point[i], fill, ends);
            if (ends[1] > ends[0])
                fprintf(file, "%g\t%g\t%g\t%.9g\t%.9g\n", x, x - HALF, x + HALF,
                        ends[0] / bars->unit, ends[1] / bars->unit);
        }
        fputs("nan\tnan\tnan\tnan\tnan\n\n\n", file);
    }
}

/* A bucket that was asked for stands in a second line: gnuplot reads the two characters as one. */
static void write_names(const struct plot *plot, FILE *file, const struct bars *bars)
{
    const size_t stride = 1 + (bars->n - 1) / MAX_NAMES;
    char bucket[32];

    for (size_t i = 0; i < bars->n; ++i) {
        const struct report_point *point = bars->point[i];

        figure_bucket(plot, figure_mode(point) * FIGURE_DDP, bucket);
        if (report_is_plain(point))
            fprintf(file, "%zu\tplain\n", i + 1);
        else if (i % stride == 0)
            fprintf(file, "%zu\t%d%s%s%s%s\n", i + 1, point->row->cell->key.n_devices,
                    report_is_ddp(point) ? "D" : "", report_oversubscribed(point) ? "*" : "",
                    bucket[0] != '\0' ? "\\n" : "", bucket[0] != '\0' ? bucket + 1 : "");
    }
}

/* The step, its range, the time in matrix products and the numbers over the bars. */
static void write_marks(FILE *file, const struct bars *bars)
{
    const double unit = bars->unit;
    char text[32];

    for (size_t i = 0; i < bars->n; ++i)
        fprintf(file, "%g\t%.9g\t%g\n", (double)i + 1 - HALF - 0.06,
                report_middle(bars->point[i], REPORT_STEP) / unit, 2 * HALF + 0.12);
    fputs("\n\n", file);
    for (size_t i = 0; i < bars->n; ++i) {
        const struct report_value *step = &bars->point[i]->value[REPORT_STEP];

        if (has_range(bars->point[i]))
            fprintf(file, "%zu\t%.9g\t%.9g\n", i + 1, step->lo / unit, step->hi / unit);
    }
    fputs("nan\tnan\tnan\n\n\n", file);
    for (size_t i = 0; i < bars->n; ++i)
        if (isfinite(report_middle(bars->point[i], REPORT_OUTSIDE)))
            fprintf(file, "%zu\t%.9g\n", i + 1,
                    (1.0 - report_middle(bars->point[i], REPORT_OUTSIDE)) *
                        report_middle(bars->point[i], REPORT_STEP) / unit);
    fputs("nan\tnan\n\n\n", file);
    for (size_t i = 0; i < bars->n; ++i) {
        report_rate(report_middle(bars->point[i], REPORT_STEP) / unit, text);
        if (bars->n <= MAX_NAMES)
            fprintf(file, "%zu\t%.9g\t%s\n", i + 1, top_of(bars->point[i]) / unit, text);
    }
    fputs("nan\tnan\t-\n\n\n", file);
}

static void set_words(const struct plot *plot, const struct bars *bars, bool first,
                      const char *unit, struct plot_frame *frame)
{
    char *note = frame->words[PLOT_NOTE];

    snprintf(frame->words[PLOT_TITLE], REPORT_CELL_TEXT, " ");
    if (first)
        figure_title(plot, bars->group, WIDTH - 40, frame->words[PLOT_TITLE]);
    snprintf(note, REPORT_CELL_TEXT, "%s%s %zu",
             report_simulated(bars->point[0]->row) ? "SIMULATED; " : "",
             figure_is_weak(bars->group) ? "batch per device" : "global batch", bars->batch);
    if (bars->excess >= 0.005)
        report_add(note, "; phases overlap: up to %.0f %% over step", 100.0 * bars->excess);
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, "devices");
    if (bars->ddp)
        report_add(frame->words[PLOT_X], bars->buckets ? " (D: DDP, bucket)" : " (D: DDP)");
    if (bars->hollow)
        report_add(frame->words[PLOT_X], " (*: %s)", report_crowding(bars->point[0]->row));
    snprintf(frame->words[PLOT_Y], REPORT_CELL_TEXT, "time per step (%s)", unit);
}

static int write_panel(struct plot *plot, struct bars *bars, bool first)
{
    struct plot_frame frame = {0};
    struct text_out out;
    const char *unit;

    bars->unit = plot_unit(bars->highest, &unit);
    set_words(plot, bars, first, unit, &frame);
    plot_bars_write(plot,
                    &(struct plot_bars){.first = first,
                                        .two_lines = bars->buckets,
                                        .row = ROW,
                                        .key = KEY,
                                        .n = bars->n,
                                        .highest = bars->highest,
                                        .unit = bars->unit},
                    &frame);
    if (plot_data_open(plot, &out) != 0)
        return -1;
    fputs("# for each phase: x, left, right, from, to; then step, range, matrix products, labels\n",
          out.file);
    write_segments(out.file, bars);
    write_marks(out.file, bars);
    write_names(plot, out.file, bars);
    return text_close(&out, plot->err);
}

static int write_group(struct plot *plot, const struct report_group *group,
                       struct plot_lines *unused)
{
    const size_t smallest = best_batch(plot, group, false);
    const size_t largest = best_batch(plot, group, true);
    struct bars bars;
    int result;

    (void)unused;
    bars_make(plot, group, smallest, &bars);
    if (bars.n == 0)
        return 0;
    if (plot->panels / 2 >= PLOT_MAX_ROWS) {
        ++plot->left_out;
        return 0;
    }
    result = write_panel(plot, &bars, true);
    if (largest != smallest && result == 0) {
        bars_make(plot, group, largest, &bars);
        result = write_panel(plot, &bars, false);
    }
    plot->height += plot_bars_height(ROW, bars.buckets);
    return result;
}

int figure_phases(struct plot *plot)
{
    plot->width = WIDTH;
    snprintf(plot->why, sizeof plot->why, "no record has the phases of a verified step");
    return figure_each_group(plot, write_group);
}
