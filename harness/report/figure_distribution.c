/* report/figure_distribution.c: how long how many of the steps took, for the smallest and the
 * largest batch of a group, a line per device count.
 *
 * All counted steps of all verified launches. Long lines are thinned to even shares; the steps that
 * are kept stand where they were. */
#include "report/figure.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1200, ROW = 450, PANEL_WIDTH = 510, PANEL_STRIDE = 590, KEPT = 240 };

static int compare_times(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* The counted steps of a point, sorted; NULL: none, or no memory. Caller frees. */
static double *collect_steps(const struct report_point *point, size_t *n)
{
    size_t capacity = 0;
    double *steps;

    *n = 0;
    for (size_t i = 0; i < point->n; ++i)
        capacity += point->row[i].verified ? point->row[i].cell->n_samples : 0;
    steps = calloc(capacity + 1, sizeof *steps);
    if (!steps)
        return NULL;
    for (size_t i = 0; i < point->n; ++i) {
        const struct record_cell *cell = point->row[i].cell;

        for (size_t s = 0; point->row[i].verified && s < cell->n_samples; ++s)
            if ((cell->flags[s] & (RECORD_WARMUP | RECORD_BAD_VALUES)) == 0)
                steps[(*n)++] = (double)cell->t_step_ns[s];
    }
    qsort(steps, *n, sizeof *steps, compare_times);
    return steps;
}

static void add_mark(struct plot_line *line, double x, double y, bool bare, bool hollow)
{
    line->mark[line->n++] = (struct plot_mark){
        .x = x, .y = y, .lo = NAN, .hi = NAN, .bound = NAN, .hollow = hollow, .bare = bare};
}

/* The line goes up at each step; 50 % and 95 % get a marker where it passes them. */
static void add_steps(struct plot_line *line, const double steps[], size_t n, double unit,
                      bool hollow)
{
    static const double marked[] = {0.5, 0.95};
    const size_t kept = n < KEPT ? n : KEPT;
    size_t next = 0;

    add_mark(line, steps[0] / unit, 0.0, true, hollow);
    for (size_t k = 1; k <= kept; ++k) {
        const size_t i = k * n / kept - 1;
        const double share = (double)(i + 1) / (double)n;

        for (; next < 2 && share >= marked[next]; ++next) {
            const size_t at = (size_t)ceil(marked[next] * (double)n) - 1;

            add_mark(line, steps[at] / unit, line->mark[line->n - 1].y, true, hollow);
            add_mark(line, steps[at] / unit, marked[next], false, hollow);
        }
        add_mark(line, steps[i] / unit, line->mark[line->n - 1].y, true, hollow);
        add_mark(line, steps[i] / unit, share, true, hollow);
    }
}

static int add_line(const struct plot *plot, struct plot_lines *lines,
                    const struct report_point *point, int style, double unit)
{
    struct plot_line *line = plot_lines_add(lines, style);
    const int devices = point->row->cell->key.n_devices;
    char bucket[32];
    size_t n;
    double *steps = collect_steps(point, &n);

    if (!steps)
        return -1;
    if (n > 0)
        add_steps(line, steps, n, unit, figure_hollow(point));
    free(steps);
    figure_bucket(plot, figure_mode(point) * FIGURE_DDP, bucket);
    if (report_is_plain(point))
        snprintf(line->label, sizeof line->label, "plain, n = %zu", n);
    else
        snprintf(line->label, sizeof line->label, "%d device%s%s%s, n = %zu", devices,
                 devices == 1 ? "" : "s", report_is_ddp(point) ? ", DDP" : "", bucket, n);
    line->label_place = 0.92 - 0.075 * (lines->n - 1);
    return 0;
}

/* Place 0 is the plain program's, which may be NULL. At most six in all: the fewest devices, the
 * most, and some between; *more: not all are there. */
static size_t choose_points(const struct plot *plot, const struct report_group *group, size_t batch,
                            const struct report_point *points[PLOT_MAX_LINES], bool *more)
{
    size_t counts[PLOT_MAX_TICKS], all = 0, kept, most;
    const size_t n = figure_counts(plot, group, counts, PLOT_MAX_TICKS);

    for (size_t c = 0; c < n; ++c)
        if (figure_find(plot, group, counts[c], batch))
            counts[all++] = counts[c];
    points[0] = figure_find(plot, group, 0, batch);
    most = points[0] ? PLOT_MAX_STYLES - 1 : PLOT_MAX_STYLES;
    kept = all < most ? all : most;
    *more = all > kept;
    for (size_t i = 0; i < kept; ++i)
        points[1 + i] =
            figure_find(plot, group, counts[kept > 1 ? i * (all - 1) / (kept - 1) : 0], batch);
    return 1 + kept;
}

static void set_words(const struct report_group *group, size_t batch, const char *unit, bool more,
                      struct plot_lines *lines)
{
    struct plot_frame *frame = &lines->frame;
    bool hollow = false;

    for (int s = 0; s < lines->n; ++s)
        hollow = hollow || (lines->line[s].n > 0 && lines->line[s].mark[0].hollow);
    snprintf(frame->words[PLOT_NOTE], REPORT_CELL_TEXT, "%s %zu; p50, p95 marked%s%s",
             figure_is_weak(group) ? "batch per device" : "global batch", batch,
             more ? "; not all drawn" : "",
             lines->simulated ? "; SIMULATED (hollow)"
             : hollow         ? "; hollow: more than cores"
                              : "");
    snprintf(frame->words[PLOT_X], REPORT_CELL_TEXT, "step time (%s)", unit);
    snprintf(frame->words[PLOT_Y], REPORT_CELL_TEXT, "share of steps that took at most this");
}

static void set_axes(struct plot_lines *lines)
{
    static const double shares[] = {0.0, 0.25, 0.5, 0.75, 0.95, 1.0};
    struct plot_axis *x = &lines->frame.x, *y = &lines->frame.y;

    *x = plot_axis_make(10.0);
    *y = plot_axis_make(0.0);
    plot_lines_measure(lines);
    plot_axis_pad(x, 0.03, 0.0, 2.0);
    plot_axis_round(x);
    y->lo = 0.0;
    y->hi = 1.03;
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; ++i)
        plot_axis_tick(y, shares[i]);
}

/* Room for the longest label and its marker: "8 devices, DDP, n = 12345" with the words there are.
 */
static double label_pixels(const struct plot *plot, const struct report_point *const points[],
                           size_t n)
{
    if (figure_report(plot)->n_buckets > 1)
        return 255;
    for (size_t i = 0; i < n; ++i)
        if (points[i] && report_is_ddp(points[i]))
            return 225;
    return 190;
}

static int write_panel(struct plot *plot, const struct report_group *group, size_t batch,
                       bool first, struct plot_lines *lines)
{
    const struct report_point *points[PLOT_MAX_LINES];
    bool more;
    const size_t n = choose_points(plot, group, batch, points, &more);
    struct plot_frame *frame = &lines->frame;
    double longest = 0.0, unit;
    const char *unit_name;

    *frame = (struct plot_frame){.left = first ? 84 : 84 + PANEL_STRIDE};
    frame->right = frame->left + PANEL_WIDTH;
    frame->at = first ? 20 : frame->left - 64;
    frame->title = plot->height + 24;
    frame->note = plot->height + 48;
    frame->top = plot->height + 66;
    frame->bottom = plot->height + ROW - 66;
    lines->n = 0;
    lines->label_pixels = label_pixels(plot, points, n);
    lines->dodge = 0;
    lines->simulated = report_simulated(figure_report(plot)->point[group->first].row);
    for (size_t i = 0; i < n; ++i)
        longest = points[i] ? fmax(longest, report_middle(points[i], REPORT_STEP)) : longest;
    unit = plot_unit(longest, &unit_name);
    for (size_t i = 0; i < n; ++i)
        if (points[i] &&
            add_line(plot, lines, points[i], i == 0 ? PLOT_PLAIN : (int)i, unit) != 0) {
            snprintf(plot->err->text, sizeof plot->err->text, "no memory for the figure");
            return -1;
        }
    set_axes(lines);
    set_words(group, batch, unit_name, more, lines);
    if (first)
        figure_title(plot, group, WIDTH - 40, frame->words[PLOT_TITLE]);
    return plot_lines_write(plot, lines);
}

static int write_group(struct plot *plot, const struct report_group *group,
                       struct plot_lines *lines)
{
    size_t batches[PLOT_MAX_TICKS];
    const size_t n = figure_batches(plot, group, batches, PLOT_MAX_TICKS);
    int result;

    if (n == 0)
        return 0;
    if (plot->panels / 2 >= PLOT_MAX_ROWS) {
        ++plot->left_out;
        return 0;
    }
    result = write_panel(plot, group, batches[0], true, lines);
    if (n > 1 && result == 0)
        result = write_panel(plot, group, batches[n - 1], false, lines);
    plot->height += ROW;
    return result;
}

int figure_distribution(struct plot *plot)
{
    plot->width = WIDTH;
    snprintf(plot->why, sizeof plot->why, "no cell is verified, so there are no steps");
    return figure_each_group(plot, write_group);
}
