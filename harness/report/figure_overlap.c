/* report/figure_overlap.c: what of the communication of ranks is hidden: a bar per number of
 * devices and bucket, for the smallest and the largest batch of a group: the step without its
 * reduction, upon it the reduction alone, and a line where the whole step ends. */
#include "report/figure.h"

#include <math.h>

enum { WIDTH = 1200, ROW = 450, KEY = 1020 };
enum { MAX_BARS = 10 };          /* more would have no room for their numbers */
static const double HALF = 0.33; /* of the width of a bar */

struct bars {
    const struct report_group *group;
    const struct report_point *point[MAX_BARS];
    size_t n, batch;
    double unit, highest;
    bool hollow, buckets, more;
};

static double top_of(const struct report_point *point)
{
    return fmax(report_middle(point, REPORT_COMPUTE) + report_middle(point, REPORT_COMM),
                report_middle(point, REPORT_WHOLE));
}

static void bars_make(const struct plot *plot, const struct report_group *group, size_t batch,
                      struct bars *bars)
{
    *bars = (struct bars){.group = group, .batch = batch};
    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &figure_report(plot)->point[i];

        if (!report_ranks_has(REPORT_RANKS_OVERLAP, point) || figure_batch(group, point) != batch)
            continue;
        bars->more = bars->more || bars->n == MAX_BARS;
        if (bars->n == MAX_BARS)
            continue;
        bars->point[bars->n++] = point;
        bars->highest = fmax(bars->highest, top_of(point));
        bars->hollow = bars->hollow || report_oversubscribed(point);
        bars->buckets = bars->buckets || point->bucket > 0;
    }
}

static void write_part(FILE *file, const struct bars *bars, bool comm)
{
    for (size_t i = 0; i < bars->n; ++i) {
        const struct report_point *point = bars->point[i];
        const double x = (double)i + 1, from = comm ? report_middle(point, REPORT_COMPUTE) : 0.0;
        const double to =
            report_middle(point, REPORT_COMPUTE) + (comm ? report_middle(point, REPORT_COMM) : 0.0);

        fprintf(file, "%g\t%g\t%g\t%.9g\t%.9g\n", x, x - HALF, x + HALF, from / bars->unit,
                to / bars->unit);
    }
    fputs("\n\n", file);
}

static void write_marks(const struct plot *plot, FILE *file, const struct bars *bars)
{
    char text[32], bucket[32];

    for (size_t i = 0; i < bars->n; ++i)
        fprintf(file, "%g\t%.9g\t%g\n", (double)i + 1 - HALF - 0.06,
                report_middle(bars->point[i], REPORT_WHOLE) / bars->unit, 2 * HALF + 0.12);
    fputs("\n\n", file);
    for (size_t i = 0; i < bars->n; ++i) {
        const struct report_value *hidden = &bars->point[i]->value[REPORT_HIDDEN];

        report_metrics[REPORT_HIDDEN].number(report_resolved(hidden, 1.0) ? hidden->middle : NAN,
                                             text);
        fprintf(file, "%zu\t%.9g\t%s\n", i + 1, top_of(bars->point[i]) / bars->unit, text);
    }
    fputs("\n\n", file);
    for (size_t i = 0; i < bars->n; ++i) {
        /* gnuplot reads the two characters of the line break as one. */
        figure_bucket(plot, figure_mode(bars->point[i]) * FIGURE_DDP, bucket);
        fprintf(file, "%zu\t%d%s%s%s\n", i + 1, bars->point[i]->row->cell->key.n_devices,
                report_oversubscribed(bars->point[i]) ? "*" : "", bucket[0] != '\0' ? "\\n" : "",
                bucket[0] != '\0' ? bucket + 1 : "");
    }
}

static void set_words(const struct plot *plot, const struct bars *bars, bool first,
                      const char *unit, struct plot_frame *frame)
{
    char *note = frame->words[PLOT_NOTE];

    snprintf(frame->words[PLOT_TITLE], REPORT_CELL_TEXT, " ");
    if (first)
        figure_title(plot, bars->group, WIDTH - 40, frame->words[PLOT_TITLE]);
    snprintf(note, REPORT_CELL_TEXT, "%s%s %zu%s",
             report_simulated(bars->point[0]->row) ? "SIMULATED; " : "",
             figure_is_weak(bars->group) ? "batch per device" : "global batch", bars->batch,
             bars->more ? "; not all drawn" : "");
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, bars->buckets ? "devices, bucket" : "devices");
    if (bars->hollow)
        report_add(frame->words[PLOT_X], " (*: %s)", report_crowding(bars->point[0]->row));
    snprintf(frame->words[PLOT_Y], REPORT_CELL_TEXT, "time (%s)", unit);
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
    fputs("# x, left, right, from, to of computation, then of reduction; then step, share, names\n",
          out.file);
    write_part(out.file, bars, false);
    write_part(out.file, bars, true);
    write_marks(plot, out.file, bars);
    return text_close(&out, plot->err);
}

/* The smallest or the largest batch with bars. */
static bool find_batch(const struct plot *plot, const struct report_group *group, bool from_above,
                       struct bars *bars)
{
    size_t batches[PLOT_MAX_TICKS];
    const size_t n = figure_batches(plot, group, batches, PLOT_MAX_TICKS);

    bars->n = 0;
    for (size_t b = 0; b < n && bars->n == 0; ++b)
        bars_make(plot, group, batches[from_above ? n - 1 - b : b], bars);
    return bars->n > 0;
}

static int write_group(struct plot *plot, const struct report_group *group,
                       struct plot_lines *unused)
{
    struct bars bars;
    size_t smallest;
    int result;

    (void)unused;
    if (!find_batch(plot, group, false, &bars))
        return 0;
    if (plot->panels / 2 >= PLOT_MAX_ROWS) {
        ++plot->left_out;
        return 0;
    }
    smallest = bars.batch;
    result = write_panel(plot, &bars, true);
    if (result == 0 && find_batch(plot, group, true, &bars) && bars.batch != smallest)
        result = write_panel(plot, &bars, false);
    plot->height += plot_bars_height(ROW, bars.buckets);
    return result;
}

int figure_overlap(struct plot *plot)
{
    plot->width = WIDTH;
    return figure_each_group(plot, write_group);
}
