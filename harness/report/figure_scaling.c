/* report/figure_scaling.c: step time, speed-up and efficiency against the number of devices: a row
 * of three panels per group, mode and bucket, a line per batch.
 *
 * With each line its ideal, and the bound that unequal shards and shared cores set: N rows on K
 * devices take as long as ceil(N/K) rows, which is a speed-up of N / ceil(N/K), and virtual devices
 * are together no faster than the cores that they have. */
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1200, ROW = 450, PANEL_WIDTH = 312, PANEL_STRIDE = 394 };

/* A bound above it hardly differs from the ideal and would only hide it. */
static const double SHOWN = 0.98;

enum kind { STEP, SPEEDUP, EFFICIENCY, KINDS };

struct row {
    const struct report_group *group;
    size_t batch[PLOT_MAX_STYLES], count[PLOT_MAX_TICKS];
    size_t n_batches, all_batches, n_counts;
    size_t mode; /* plot_mode */
    double unit; /* of time */
    const char *unit_name;
    bool hollow, plain, ratios, bounded;
};

/* The least bound of a batch; above 1 when there is no point of it. */
static double least_bound(const struct plot *plot, const struct row *row, size_t batch)
{
    double least = INFINITY;

    for (size_t c = 0; c < row->n_counts; ++c) {
        const struct report_point *point = figure_find(plot, row->group, row->count[c], batch);

        least = point ? fmin(least, point->bound) : least;
    }
    return least;
}

/* At most six batches: the smallest, the largest, and some between. */
static void choose_batches(const struct plot *plot, struct row *row)
{
    size_t all[PLOT_MAX_TICKS], n = 0;
    const size_t known = figure_batches(plot, row->group, all, PLOT_MAX_TICKS);

    for (size_t i = 0; i < known; ++i)
        if (least_bound(plot, row, all[i]) <= 1.0)
            all[n++] = all[i];
    row->all_batches = n;
    row->n_batches = n < PLOT_MAX_STYLES ? n : PLOT_MAX_STYLES;
    for (size_t i = 0; i < row->n_batches; ++i)
        row->batch[i] = all[row->n_batches > 1 ? i * (n - 1) / (row->n_batches - 1) : 0];
    for (size_t i = 0; i < row->n_batches; ++i)
        row->bounded = row->bounded || least_bound(plot, row, row->batch[i]) <= SHOWN;
}

static void choose_counts(const struct plot *plot, struct row *row)
{
    size_t all[2 * PLOT_MAX_TICKS];
    const size_t n = figure_counts(plot, row->group, all, 2 * PLOT_MAX_TICKS);

    for (size_t i = 0; i < n && row->n_counts < PLOT_MAX_TICKS; ++i)
        if (all[i] / FIGURE_DDP == row->mode)
            row->count[row->n_counts++] = all[i];
}

/* False when the group has less than two device counts to compare in that mode. */
static bool row_make(const struct plot *plot, const struct report_group *group, size_t mode,
                     struct row *row)
{
    double longest = 0.0;

    *row = (struct row){.group = group, .mode = mode};
    choose_counts(plot, row);
    choose_batches(plot, row);
    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *point = &figure_report(plot)->point[i];

        if (point->verified == 0 || (!report_is_plain(point) && figure_mode(point) != mode))
            continue;
        longest = fmax(longest, report_middle(point, REPORT_STEP));
        row->hollow = row->hollow || figure_hollow(point);
        row->plain = row->plain || report_is_plain(point);
        row->ratios = row->ratios || isfinite(report_middle(point, REPORT_SPEEDUP));
    }
    row->unit = plot_unit(longest, &row->unit_name);
    return row->n_counts > 1;
}

static const int metrics[KINDS] = {
    [STEP] = REPORT_STEP, [SPEEDUP] = REPORT_SPEEDUP, [EFFICIENCY] = REPORT_EFFICIENCY};

static struct plot_mark mark_of(const struct row *row, const struct report_point *point,
                                enum kind kind)
{
    const struct report_value *value = &point->value[metrics[kind]];
    const double unit = kind == STEP ? row->unit : 1.0;
    const double devices = (double)point->row->cell->key.n_devices;

    return (struct plot_mark){.x = devices,
                              .y = value->middle / unit,
                              .lo = value->lo / unit,
                              .hi = value->hi / unit,
                              .bound = kind == STEP      ? NAN
                                       : kind == SPEEDUP ? point->bound * devices
                                                         : point->bound,
                              .hollow = figure_hollow(point)};
}

static void add_marks(const struct plot *plot, const struct row *row, enum kind kind, size_t batch,
                      struct plot_line *line)
{
    bool gap = false;

    for (size_t c = 0; c < row->n_counts; ++c) {
        const struct report_point *point = figure_find(plot, row->group, row->count[c], batch);

        if (!point || (kind != STEP && !isfinite(report_middle(point, REPORT_SPEEDUP)))) {
            gap = true;
            continue;
        }
        line->mark[line->n] = mark_of(row, point, kind);
        line->mark[line->n++].gap = gap;
        gap = false;
    }
}

static void set_ideal(struct plot_line *line, double x1, double y1, double x2, double y2)
{
    line->ideal[0][0] = x1;
    line->ideal[0][1] = y1;
    line->ideal[1][0] = x2;
    line->ideal[1][1] = y2;
}

/* Step time of the base at one device, from any point of the batch that has a base. */
static void add_ideal_step(const struct plot *plot, const struct row *row, size_t batch,
                           struct plot_line *line)
{
    const double last = (double)figure_devices(row->count[row->n_counts - 1]);
    const struct report_point *point = NULL, *plain = figure_find(plot, row->group, 0, batch);

    for (size_t c = 0; c < row->n_counts && !point; ++c)
        point = figure_find(plot, row->group, row->count[c], batch);
    if (plain) {
        line->plain[0] = 1.0;
        line->plain[1] = report_middle(plain, REPORT_STEP) / row->unit;
    }
    if (point && point->base) {
        const double base = report_middle(point->base, REPORT_STEP) / row->unit;

        set_ideal(line, 1.0, base, last, figure_is_weak(row->group) ? base : base / last);
    }
}

static void add_line(const struct plot *plot, const struct row *row, enum kind kind, size_t batch,
                     struct plot_lines *lines)
{
    const double last = (double)figure_devices(row->count[row->n_counts - 1]);
    struct plot_line *line = plot_lines_add(lines, lines->n + 1);

    add_marks(plot, row, kind, batch, line);
    for (size_t i = 0; i < line->n && least_bound(plot, row, batch) > SHOWN; ++i)
        line->mark[i].bound = NAN;
    snprintf(line->label, sizeof line->label, "%zu", batch);
    if (kind == STEP)
        add_ideal_step(plot, row, batch, line);
    else if (lines->n == 1)
        set_ideal(line, 1.0, 1.0, last, kind == SPEEDUP ? last : 1.0);
}

static void hollow_words(const struct row *row, const struct report_row *first,
                         char note[REPORT_CELL_TEXT])
{
    if (report_simulated(first))
        snprintf(note, REPORT_CELL_TEXT, "SIMULATED, not measured (hollow markers)");
    else if (row->hollow)
        snprintf(note, REPORT_CELL_TEXT, "hollow markers: %s", report_crowding(first));
    else
        snprintf(note, REPORT_CELL_TEXT, " ");
}

static void set_words(const struct plot *plot, const struct row *row, enum kind kind,
                      struct plot_frame *frame)
{
    const size_t missing = row->all_batches - row->n_batches;
    char *title = frame->words[PLOT_TITLE], *note = frame->words[PLOT_NOTE];
    char bucket[32];
    const struct report_metric *metric = &report_metrics[metrics[kind]];
    const char *unit = kind == STEP ? row->unit_name : metric->unit;

    snprintf(title, REPORT_CELL_TEXT, " ");
    if (kind == STEP) {
        figure_title(plot, row->group, row->mode > 0 ? WIDTH - 300 : WIDTH - 40, title);
        figure_bucket(plot, row->mode * FIGURE_DDP, bucket);
        report_add(title, "%s%s%s", row->mode > 0 ? " \u00b7 DistributedDataParallel" : "",
                   bucket[0] != '\0' ? ", buckets of" : "", bucket);
        snprintf(note, REPORT_CELL_TEXT, "a line per %s (rows)%s; dotted: ideal%s%s",
                 figure_is_weak(row->group) ? "batch per device" : "global batch",
                 missing > 0 ? ", not all drawn" : "",
                 row->bounded ? "; thin dashes: bound that shards and cores set" : "",
                 row->plain ? "; \u00d7: plain program" : "");
    } else if (kind == SPEEDUP)
        hollow_words(row, figure_report(plot)->point[row->group->first].row, note);
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, "devices");
    snprintf(frame->words[PLOT_Y], REPORT_CELL_TEXT, unit[0] != '\0' ? "%s (%s)" : "%s",
             metric->name, unit);
}

/* Efficiency is about 0 to 1; a bar that is much longer may leave the panel, a marker may not. */
static void limit_bars(struct plot_lines *lines)
{
    double highest = 1.5;

    for (int s = 0; s < lines->n; ++s)
        for (size_t i = 0; i < lines->line[s].n; ++i)
            highest = fmax(highest, 1.05 * lines->line[s].mark[i].y);
    lines->frame.y.hi = fmin(lines->frame.y.hi, highest);
}

static void set_axes(const struct row *row, enum kind kind, struct plot_lines *lines)
{
    struct plot_axis *x = &lines->frame.x, *y = &lines->frame.y;

    *x = plot_axis_make(2.0);
    *y = plot_axis_make(kind == STEP ? 10.0 : kind == SPEEDUP ? 2.0 : 0.0);
    for (size_t c = 0; c < row->n_counts; ++c) {
        plot_axis_tick(x, (double)figure_devices(row->count[c]));
        plot_axis_add(x, (double)figure_devices(row->count[c]));
    }
    if (row->plain)
        plot_axis_tick(x, 1.0);
    plot_axis_add(x, 1.0);
    plot_lines_measure(lines);
    if (kind == EFFICIENCY)
        limit_bars(lines);
    for (int s = 0; s < lines->n; ++s)
        for (int i = 0; i < 2; ++i)
            plot_axis_add(y, lines->line[s].ideal[i][1]);
    if (kind == EFFICIENCY) {
        plot_axis_add(y, 0.0);
        plot_axis_add(y, 1.1 / 1.001);
    }
    plot_axis_pad(x, 0.05, 0.0, 2.0);
    plot_axis_pad(y, kind == EFFICIENCY ? 0.0 : 0.05, kind == EFFICIENCY ? 0.001 : 0.05,
                  kind == EFFICIENCY ? 0.0 : 2.0);
    plot_axis_round(y);
}

static int write_panel(struct plot *plot, const struct row *row, enum kind kind,
                       struct plot_lines *lines)
{
    struct plot_frame *frame = &lines->frame;

    *frame = (struct plot_frame){.left = 80 + PANEL_STRIDE * (double)kind, .at = 20};
    frame->right = frame->left + PANEL_WIDTH;
    frame->title = plot->height + 24;
    frame->note = plot->height + (kind == SPEEDUP ? 66 : 46);
    frame->top = plot->height + 84;
    frame->bottom = plot->height + ROW - 66;
    lines->n = 0;
    lines->label_pixels = 66;
    lines->dodge = 2.5;
    lines->simulated = report_simulated(figure_report(plot)->point[row->group->first].row);
    for (size_t b = 0; b < row->n_batches; ++b)
        add_line(plot, row, kind, row->batch[b], lines);
    set_axes(row, kind, lines);
    set_words(plot, row, kind, frame);
    return plot_lines_write(plot, lines);
}

static int write_row(struct plot *plot, const struct report_group *group, size_t mode,
                     struct plot_lines *lines)
{
    struct row row;
    int result = 0;

    if (!row_make(plot, group, mode, &row))
        return 0;
    if (plot->panels / KINDS >= PLOT_MAX_ROWS) {
        ++plot->left_out;
        return 0;
    }
    /* Without a base there are only times. */
    for (int kind = 0; kind < (row.ratios ? KINDS : SPEEDUP) && result == 0; ++kind)
        result = write_panel(plot, &row, (enum kind)kind, lines);
    plot->height += ROW;
    return result;
}

static int write_group(struct plot *plot, const struct report_group *group,
                       struct plot_lines *lines)
{
    int result = 0;

    for (size_t mode = 0; mode <= figure_report(plot)->n_buckets && result == 0; ++mode)
        result = write_row(plot, group, mode, lines);
    return result;
}

int figure_scaling(struct plot *plot)
{
    plot->width = WIDTH;
    snprintf(plot->why, sizeof plot->why, "no workload is verified on two numbers of devices");
    return figure_each_group(plot, write_group);
}
