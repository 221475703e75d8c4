/* report/figure_modes.c: DataParallel beside DistributedDataParallel on the same axes: step time,
 * bytes moved per step and memory against the number of devices, at the largest batch of both. */
#include "report/figure.h"

#include <math.h>

enum { WIDTH = 1200, ROW = 430, PANEL_WIDTH = 312, PANEL_STRIDE = 394 };

enum kind { STEP, MOVED, PEAK, KINDS };

/* The lines of a row: DataParallel, then ranks, a line per bucket. */
struct modes {
    const struct report_group *group;
    size_t batch;
    size_t count[PLOT_MAX_TICKS], n_counts; /* of all modes */
    size_t mode[PLOT_MAX_STYLES], n_modes;
    bool hollow, more;
};

/* DataParallel's and ranks' points there, on equally many devices. */
static size_t pairs_at(const struct plot *plot, const struct report_group *group, size_t batch)
{
    size_t n = 0;

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &figure_report(plot)->point[i];

        n += figure_mode(point) > 0 && point->verified > 0 && figure_batch(group, point) == batch &&
             point->peer;
    }
    return n;
}

static void add_mode(struct modes *modes, size_t mode)
{
    for (size_t m = 0; m < modes->n_modes; ++m)
        if (modes->mode[m] == mode)
            return;
    if (modes->n_modes == PLOT_MAX_STYLES)
        modes->more = true;
    else
        modes->mode[modes->n_modes++] = mode;
}

/* False: not both are there on any number of devices. */
static bool modes_make(const struct plot *plot, const struct report_group *group,
                       struct modes *modes)
{
    size_t batches[PLOT_MAX_TICKS], all[PLOT_MAX_TICKS], most = 0;
    const size_t n_batches = figure_batches(plot, group, batches, PLOT_MAX_TICKS);
    const size_t n = figure_counts(plot, group, all, PLOT_MAX_TICKS);

    *modes = (struct modes){.group = group};
    for (size_t b = 0; b < n_batches; ++b) {
        const size_t pairs = pairs_at(plot, group, batches[b]);

        if (pairs > 0 && pairs >= most) {
            most = pairs;
            modes->batch = batches[b];
        }
    }
    for (size_t c = 0; c < n && most > 0; ++c) {
        const struct report_point *point = figure_find(plot, group, all[c], modes->batch);

        if (!point)
            continue;
        modes->count[modes->n_counts++] = all[c];
        modes->hollow = modes->hollow || figure_hollow(point);
        add_mode(modes, all[c] / FIGURE_DDP);
    }
    return most > 0;
}

static const int metrics[KINDS] = {
    [STEP] = REPORT_STEP, [MOVED] = REPORT_MOVED, [PEAK] = REPORT_PEAK};

static double value_of(const struct report_point *point, enum kind kind)
{
    return report_middle(point, metrics[kind]);
}

static double largest(const struct plot *plot, const struct modes *modes, enum kind kind)
{
    double most = NAN;

    for (size_t c = 0; c < modes->n_counts; ++c)
        most = fmax(most,
                    value_of(figure_find(plot, modes->group, modes->count[c], modes->batch), kind));
    return most;
}

static double unit_of(double most, enum kind kind, const char **name)
{
    if (kind == STEP)
        return plot_unit(most, name);
    *name = most >= 0x1p30 ? "GiB" : most >= 0x1p20 ? "MiB" : most >= 0x1p10 ? "KiB" : "B";
    return most >= 0x1p30 ? 0x1p30 : most >= 0x1p20 ? 0x1p20 : most >= 0x1p10 ? 0x1p10 : 1;
}

static void add_line(const struct plot *plot, const struct modes *modes, enum kind kind, size_t m,
                     double unit, struct plot_lines *lines)
{
    struct plot_line *line = plot_lines_add(lines, (int)m + 1);
    const size_t mode = modes->mode[m];
    char bucket[32];

    for (size_t c = 0; c < modes->n_counts; ++c) {
        const struct report_point *point =
            figure_find(plot, modes->group, modes->count[c], modes->batch);

        if (modes->count[c] / FIGURE_DDP != mode || !isfinite(value_of(point, kind)))
            continue;
        line->mark[line->n++] =
            (struct plot_mark){.x = (double)figure_devices(modes->count[c]),
                               .y = value_of(point, kind) / unit,
                               .lo = kind == STEP ? point->value[REPORT_STEP].lo / unit : NAN,
                               .hi = kind == STEP ? point->value[REPORT_STEP].hi / unit : NAN,
                               .bound = NAN,
                               .hollow = figure_hollow(point)};
    }
    figure_bucket(plot, mode * FIGURE_DDP, bucket);
    snprintf(line->label, sizeof line->label, "%s%s", mode == 0 ? "DataParallel" : "DDP", bucket);
}

/* The plain program, on one device, is a cross of the first line. */
static void add_plain(const struct plot *plot, const struct modes *modes, enum kind kind,
                      double unit, struct plot_lines *lines)
{
    const struct report_point *plain = figure_find(plot, modes->group, 0, modes->batch);

    if (!plain || !isfinite(value_of(plain, kind)))
        return;
    lines->line[0].plain[0] = 1.0;
    lines->line[0].plain[1] = value_of(plain, kind) / unit;
}

static void set_words(const struct plot *plot, const struct modes *modes, enum kind kind,
                      const char *unit, struct plot_frame *frame)
{
    const struct report_row *first = figure_report(plot)->point[modes->group->first].row;
    const bool plain = figure_find(plot, modes->group, 0, modes->batch) != NULL;

    snprintf(frame->words[PLOT_TITLE], REPORT_CELL_TEXT, " ");
    if (kind == STEP) {
        figure_title(plot, modes->group, WIDTH - 40, frame->words[PLOT_TITLE]);
        snprintf(frame->words[PLOT_NOTE], REPORT_CELL_TEXT, "%s %zu rows%s%s",
                 figure_is_weak(modes->group) ? "batch per device" : "global batch", modes->batch,
                 plain ? "; \u00d7: plain program" : "",
                 modes->more ? "; not all buckets drawn" : "");
    } else if (kind == MOVED && modes->hollow) {
        snprintf(frame->words[PLOT_NOTE], REPORT_CELL_TEXT, "%s%s",
                 report_simulated(first) ? "SIMULATED, not measured (hollow markers)"
                                         : "hollow markers: ",
                 report_simulated(first) ? "" : report_crowding(first));
    } else {
        snprintf(frame->words[PLOT_NOTE], REPORT_CELL_TEXT, " ");
    }
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, "devices");
    snprintf(frame->words[PLOT_Y], REPORT_CELL_TEXT, "%s (%s)", report_metrics[metrics[kind]].name,
             unit);
}

static void set_axes(const struct modes *modes, struct plot_lines *lines)
{
    struct plot_axis *x = &lines->frame.x, *y = &lines->frame.y;

    *x = plot_axis_make(2.0);
    *y = plot_axis_make(0.0);
    for (size_t c = 0; c < modes->n_counts; ++c)
        plot_axis_tick(x, (double)figure_devices(modes->count[c]));
    plot_axis_tick(x, 1.0);
    plot_axis_add(x, 1.0);
    plot_lines_measure(lines);
    plot_axis_add(y, 0.0);
    plot_axis_pad(x, 0.06, 0.0, 2.0);
    plot_axis_pad(y, 0.0, 0.1, 1e-9);
    plot_axis_round(y);
}

static int write_panel(struct plot *plot, const struct modes *modes, enum kind kind,
                       struct plot_lines *lines)
{
    struct plot_frame *frame = &lines->frame;
    const char *unit_name;
    const double unit = unit_of(largest(plot, modes, kind), kind, &unit_name);

    *frame = (struct plot_frame){.left = 80 + PANEL_STRIDE * (double)kind, .at = 20};
    frame->right = frame->left + PANEL_WIDTH;
    frame->at = kind == STEP ? 20 : frame->left - 60;
    frame->title = plot->height + 24;
    frame->note = plot->height + 48;
    frame->top = plot->height + 66;
    frame->bottom = plot->height + ROW - 66;
    lines->n = 0;
    lines->label_pixels = figure_report(plot)->n_buckets > 1 ? 124 : 112;
    lines->dodge = 2.5;
    lines->simulated = report_simulated(figure_report(plot)->point[modes->group->first].row);
    for (size_t m = 0; m < modes->n_modes; ++m)
        add_line(plot, modes, kind, m, unit, lines);
    add_plain(plot, modes, kind, unit, lines);
    set_axes(modes, lines);
    set_words(plot, modes, kind, unit_name, frame);
    return plot_lines_write(plot, lines);
}

static int write_group(struct plot *plot, const struct report_group *group,
                       struct plot_lines *lines)
{
    struct modes modes;
    int result = 0;

    if (!modes_make(plot, group, &modes))
        return 0;
    if (plot->panels / KINDS >= PLOT_MAX_ROWS) {
        ++plot->left_out;
        return 0;
    }
    /* Older records have times only. */
    for (enum kind kind = STEP; kind < KINDS && result == 0; ++kind)
        if (isfinite(largest(plot, &modes, kind)))
            result = write_panel(plot, &modes, kind, lines);
    plot->height += ROW;
    return result;
}

int figure_modes(struct plot *plot)
{
    plot->width = WIDTH;
    return figure_each_group(plot, write_group);
}
