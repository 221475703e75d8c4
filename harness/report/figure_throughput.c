/* report/figure_throughput.c: throughput against batch, a line per device count (of DataParallel,
 * then of DistributedDataParallel) and one of the plain program. For weak scaling both are per
 * device. */
#include "report/figure.h"

#include <math.h>

enum { WIDTH = 1000, PANEL = 520 };

/* The line of a count, 0: of the plain program. */
static void add_line(const struct plot *plot, const struct report_group *group,
                     struct plot_lines *lines, size_t count, int style)
{
    struct plot_line *line = plot_lines_add(lines, style);
    const size_t devices = figure_devices(count);
    char bucket[32];
    const double share = figure_is_weak(group) && devices > 0 ? (double)devices : 1.0;

    figure_bucket(plot, count, bucket);
    for (int t = 0; t < lines->frame.x.n && line->n < PLOT_MAX_MARKS; ++t) {
        const size_t batch = (size_t)lines->frame.x.tick[t];
        const struct report_point *point = figure_find(plot, group, count, batch);

        if (!point)
            continue;
        const struct report_value *value = &point->value[REPORT_THROUGHPUT];

        line->mark[line->n] = (struct plot_mark){
            .x = (double)batch,
            .y = value->middle / share,
            .lo = value->lo / share,
            .hi = value->hi / share,
            .bound = NAN,
            .hollow = figure_hollow(point),
            .gap = t > 0 && line->n > 0 &&
                   !figure_find(plot, group, count, (size_t)lines->frame.x.tick[t - 1])};
        ++line->n;
    }
    if (devices == 0)
        snprintf(line->label, sizeof line->label, "plain program");
    else
        snprintf(line->label, sizeof line->label, "%zu device%s%s%s", devices,
                 devices == 1 ? "" : "s", count > FIGURE_DDP ? ", DDP" : "", bucket);
}

static void set_words(const struct plot *plot, const struct report_group *group,
                      struct plot_lines *lines)
{
    const struct report_metric *metric = &report_metrics[REPORT_THROUGHPUT];
    bool hollow = false;
    struct plot_frame *frame = &lines->frame;

    for (int s = 0; s < lines->n; ++s)
        for (size_t i = 0; i < lines->line[s].n; ++i)
            hollow = hollow || lines->line[s].mark[i].hollow;
    figure_title(plot, group, WIDTH - 40, frame->words[PLOT_TITLE]);
    snprintf(frame->words[PLOT_NOTE], REPORT_CELL_TEXT, "%s%s",
             lines->simulated ? "SIMULATED, not measured (hollow markers)"
             : hollow         ? "hollow markers: "
                              : "",
             hollow && !lines->simulated
                 ? report_crowding(figure_report(plot)->point[group->first].row)
                 : "");
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, "%s",
             figure_is_weak(group) ? "batch per device (rows)" : "global batch (rows)");
    snprintf(frame->words[PLOT_Y], REPORT_CELL_TEXT, "%s%s (%s)", metric->name,
             figure_is_weak(group) ? " per device" : "", metric->unit);
}

/* The panel of counts[0..n). */
static int write_panel(struct plot *plot, const struct report_group *group,
                       struct plot_lines *lines, const size_t counts[], size_t n, bool plain)
{
    size_t batches[PLOT_MAX_TICKS];
    const size_t n_batches = figure_batches(plot, group, batches, PLOT_MAX_TICKS);
    struct plot_frame *frame = &lines->frame;

    *frame = (struct plot_frame){.left = 84, .right = WIDTH - 20, .at = 20};
    frame->x = plot_axis_make(2.0);
    frame->y = plot_axis_make(10.0);
    lines->n = 0;
    lines->label_pixels = figure_report(plot)->n_buckets > 1 ? 200 : 160;
    lines->dodge = 4;
    lines->simulated = report_simulated(figure_report(plot)->point[group->first].row);
    for (size_t b = 0; b < n_batches; ++b) {
        plot_axis_tick(&frame->x, (double)batches[b]);
        plot_axis_add(&frame->x, (double)batches[b]);
    }
    for (size_t c = 0; c < n; ++c)
        add_line(plot, group, lines, counts[c], (int)c + 1);
    if (plain)
        add_line(plot, group, lines, 0, PLOT_PLAIN);
    plot_lines_measure(lines);
    plot_axis_pad(&frame->x, 0.05, 0.0, 2.0);
    plot_axis_pad(&frame->y, 0.06, 0.06, 5.0);
    plot_axis_round(&frame->y);
    set_words(plot, group, lines);
    frame->title = plot->height + 24;
    frame->note = plot->height + 46;
    frame->top = plot->height + 66;
    frame->bottom = plot->height + PANEL - 70;
    plot->height += PANEL;
    return plot_lines_write(plot, lines);
}

static bool has_plain(const struct plot *plot, const struct report_group *group)
{
    for (size_t i = group->first; i < group->first + group->n; ++i)
        if (report_is_plain(&figure_report(plot)->point[i]) &&
            figure_report(plot)->point[i].verified > 0)
            return true;
    return false;
}

/* As many panels as it takes: in each of them the plain program, too. */
static int write_group(struct plot *plot, const struct report_group *group,
                       struct plot_lines *lines)
{
    size_t counts[PLOT_MAX_TICKS];
    const size_t n = figure_counts(plot, group, counts, PLOT_MAX_TICKS);
    const bool plain = has_plain(plot, group);
    const size_t most = plain ? PLOT_MAX_STYLES - 1 : PLOT_MAX_STYLES;
    const size_t panels = n == 0 && plain ? 1 : (n + most - 1) / most;
    size_t first = 0;

    for (size_t p = 0; p < panels && plot->panels < PLOT_MAX_ROWS; ++p) {
        const size_t part = (n - first + panels - p - 1) / (panels - p);

        if (write_panel(plot, group, lines, counts + first, part, plain) != 0)
            return -1;
        first += part;
    }
    plot->left_out += first < n;
    return 0;
}

int figure_throughput(struct plot *plot)
{
    plot->width = WIDTH;
    snprintf(plot->why, sizeof plot->why, "no cell is verified, so nothing can be plotted");
    return figure_each_group(plot, write_group);
}
