/* report_plot.c: the figure of throughput against batch, a panel per workload.
 *
 * gnuplot gets a static script, numbers made here, and data files. Text from records is only ever
 * data, in the last column of a file. Ranges, ticks and places of labels are computed here. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TICKS 64

/* Points first..end of one group, at most REPORT_MAX_SERIES lines. */
struct panel {
    size_t first, end;
    int n_series;
    size_t tick[MAX_TICKS]; /* batches, ascending */
    int n_ticks;
    bool hollow;
    double x_lo, x_hi, y_lo, y_hi; /* of the points */
};

/* The end of a line, where its label belongs. */
struct series_end {
    const struct report_point *point;
    bool hollow, drawn;
    double x, y, label; /* label: log10 of its y */
};

/* The point after the series (mode and device count) that begins at point i. */
static size_t series_end_point(const struct report *report, size_t i, size_t end)
{
    const struct record_key *first = &report->point[i].row->cell->key;

    for (; i < end; i++) {
        const struct record_key *key = &report->point[i].row->cell->key;

        if (key->n_devices != first->n_devices || strcmp(key->mode, first->mode) != 0)
            break;
    }
    return i;
}

/* The panel that begins at point first of a group that ends before group_end. */
static struct panel panel_at(const struct report *report, size_t first, size_t group_end)
{
    struct panel panel = {.first = first, .end = first};

    while (panel.end < group_end && panel.n_series < REPORT_MAX_SERIES) {
        panel.end = series_end_point(report, panel.end, group_end);
        panel.n_series++;
    }
    return panel;
}

static void add_tick(struct panel *panel, size_t batch)
{
    int i = panel->n_ticks;

    for (int j = 0; j < panel->n_ticks; j++)
        if (panel->tick[j] == batch)
            return;
    if (i == MAX_TICKS)
        return;
    for (; i > 0 && panel->tick[i - 1] > batch; i--)
        panel->tick[i] = panel->tick[i - 1];
    panel->tick[i] = batch;
    panel->n_ticks++;
}

/* Ranges and ticks; false when there is nothing to draw. */
static bool panel_measure(const struct report *report, struct panel *panel)
{
    panel->x_lo = panel->y_lo = INFINITY;
    for (size_t i = panel->first; i < panel->end; i++) {
        const struct report_point *point = &report->point[i];
        const struct report_value *y = &point->throughput;
        double x;

        if (point->middle == NULL)
            continue;
        x = (double)point->row->cell->key.global_batch;
        panel->x_lo = fmin(panel->x_lo, x);
        panel->x_hi = fmax(panel->x_hi, x);
        panel->y_lo = fmin(panel->y_lo, fmin(y->middle, y->lo)); /* fmin and fmax skip NaN */
        panel->y_hi = fmax(panel->y_hi, fmax(y->middle, y->hi));
        panel->hollow = panel->hollow || report_oversubscribed(point->middle);
        add_tick(panel, point->row->cell->key.global_batch);
    }
    return panel->x_hi > 0.0;
}

/* All panels that have something in them; fills at most capacity. */
static size_t find_panels(const struct report *report, struct panel panels[], size_t capacity)
{
    size_t count = 0;

    for (size_t g = 0; g < report->n_groups; g++) {
        size_t end = report->group[g].first + report->group[g].n;

        for (size_t i = report->group[g].first; i < end;) {
            struct panel panel = panel_at(report, i, end);

            i = panel.end;
            if (!panel_measure(report, &panel))
                continue;
            if (count < capacity)
                panels[count] = panel;
            count++;
        }
    }
    return count;
}

size_t report_panels(const struct report *report)
{
    return find_panels(report, NULL, 0);
}

/* One line of the figure: batch, throughput, range, and the same throughput as filled or hollow
 * marker. An empty line where a cell of the panel's batches is missing breaks the line. */
static struct series_end write_series(FILE *file, const struct report *report,
                                      const struct panel *panel, size_t first, size_t end)
{
    struct series_end last = {.point = &report->point[first]};
    int tick = 0;

    for (size_t i = first; i < end; i++) {
        const struct report_point *point = &report->point[i];
        size_t batch = point->row->cell->key.global_batch;
        bool gap = point->middle == NULL, hollow;

        for (; tick < panel->n_ticks && panel->tick[tick] < batch; tick++)
            gap = true;
        if (gap && last.drawn)
            fputs("\n", file);
        tick += tick < panel->n_ticks && panel->tick[tick] == batch;
        if (point->middle == NULL)
            continue;
        last.x = (double)batch;
        last.y = point->throughput.middle;
        last.drawn = true;
        hollow = report_oversubscribed(point->middle) || report_simulated(point->middle);
        last.hollow = last.hollow || hollow;
        fprintf(file,
                hollow ? "%zu\t%.9g\t%.9g\t%.9g\tnan\t%.9g\n"
                       : "%zu\t%.9g\t%.9g\t%.9g\t%.9g\tnan\n",
                batch, last.y, point->throughput.lo, point->throughput.hi, last.y);
    }
    if (!last.drawn)
        fprintf(file, "1\tnan\tnan\tnan\tnan\tnan\n");
    return last;
}

static int by_height(const void *left, const void *right)
{
    const struct series_end *const *a = left, *const *b = right;

    return ((*a)->y > (*b)->y) - ((*a)->y < (*b)->y);
}

/* Moves labels that are closer than step apart, around where they belong, inside lo..hi. */
static void spread_labels(struct series_end end[], int n, double step, double lo, double hi)
{
    struct series_end *order[REPORT_MAX_SERIES];

    for (int i = 0; i < n; i++) {
        order[i] = &end[i];
        end[i].label = end[i].drawn ? log10(end[i].y) : lo;
    }
    qsort(order, (size_t)n, sizeof order[0], by_height);
    for (int round = 0; round < 200; round++) {
        for (int i = 1; i < n; i++) {
            double lack = step - (order[i]->label - order[i - 1]->label);

            if (lack > 0.0 && order[i - 1]->drawn) {
                order[i - 1]->label -= lack / 2;
                order[i]->label += lack / 2;
            }
        }
        for (int i = 0; i < n; i++)
            order[i]->label = fmin(fmax(order[i]->label, lo), hi);
    }
}

/* Batches with their names, except where names would overlap: those get a bare tick. */
static void write_ticks(FILE *variables, const struct panel *panel, int p, double span)
{
    double last = -INFINITY;

    for (int bare = 0; bare < 2; bare++) {
        last = -INFINITY;
        fprintf(variables, ";%s_%d='", bare ? "xbare" : "xticks", p);
        for (int i = 0; i < panel->n_ticks; i++) {
            double at = log2((double)panel->tick[i]);
            bool fits = at - last >= 0.045 * span;

            last = fits ? at : last;
            if (fits != (bare != 0))
                fprintf(variables, "%zu ", panel->tick[i]);
        }
        fputs("'", variables);
    }
}

/* 1, 2 and 5 of each decade, or only 1 when there are many decades. */
static void write_rates(FILE *variables, int p, double lo, double hi)
{
    static const double digits[] = {1, 2, 5};
    size_t n = hi - lo > 2.5 ? 1 : 3;

    fprintf(variables, ";yticks_%d='", p);
    for (int decade = (int)floor(lo); decade <= (int)ceil(hi); decade++) {
        for (size_t i = 0; i < n; i++) {
            double value = digits[i] * pow(10.0, decade);

            if (log10(value) >= lo && log10(value) <= hi)
                fprintf(variables, "%.9g ", value);
        }
    }
    fputs("'", variables);
}

/* The numbers of panel p (1-based), and its labels at the end of its data file. */
static void write_layout(FILE *file, FILE *variables, const struct panel *panel, int p,
                         struct series_end end[], bool simulated)
{
    double octaves = fmax(log2(panel->x_hi / panel->x_lo), 1.0);
    double y_lo = log10(panel->y_lo), y_hi = log10(panel->y_hi);
    double pad = fmax(0.06 * (y_hi - y_lo), (0.7 - (y_hi - y_lo)) / 2);
    double x_label = panel->x_hi * exp2(0.045 * octaves);
    double x_lo = panel->x_lo * exp2(-0.04 * octaves), x_hi = panel->x_hi * exp2(0.24 * octaves);

    y_lo -= pad;
    y_hi += pad;
    fprintf(variables, ";series_%d=%d;hollow_%d=%d;simulated_%d=%d", p, panel->n_series, p,
            panel->hollow, p, simulated);
    fprintf(variables, ";xlo_%d=%.9g;xhi_%d=%.9g;ylo_%d=%.9g;yhi_%d=%.9g", p, x_lo, p, x_hi, p,
            pow(10.0, y_lo), p, pow(10.0, y_hi));
    write_ticks(variables, panel, p, log2(x_hi / x_lo));
    write_rates(variables, p, y_lo, y_hi);
    spread_labels(end, panel->n_series, 0.075 * (y_hi - y_lo), y_lo + 0.03 * (y_hi - y_lo),
                  y_hi - 0.01 * (y_hi - y_lo));
    for (int s = 0; s < panel->n_series; s++) {
        fprintf(file, "\n\n");
        if (!end[s].drawn) {
            fprintf(file, "1\tnan\tnan\tnan\tnan\tnan\t-\n");
            continue;
        }
        double y = pow(10.0, end[s].label);
        int devices = end[s].point->row->cell->key.n_devices;
        const char *unit = report_is_plain(end[s].point) ? "plain"
                           : devices == 1                ? "device"
                                                         : "devices";
        fprintf(file,
                end[s].hollow ? "%.9g\t%.9g\t%.9g\t%.9g\tnan\t%.9g\t%d %s\n"
                              : "%.9g\t%.9g\t%.9g\t%.9g\t%.9g\tnan\t%d %s\n",
                end[s].x, end[s].y, x_label, y, y, devices, unit);
    }
}

/* Data file of panel p: a block per series, then a block per label. */
static int write_panel(const char *directory, const struct report *report,
                       const struct panel *panel, int p, FILE *variables, struct record_error *err)
{
    struct series_end end[REPORT_MAX_SERIES] = {{0}};
    struct report_out out;
    char name[48];
    int s = 0;

    snprintf(name, sizeof name, "throughput-%d.tsv", p);
    if (report_open(&out, directory, name, report_escape_none, err) != 0)
        return -1;
    for (size_t i = panel->first, next; i < panel->end; i = next, s++) {
        next = series_end_point(report, i, panel->end);
        fprintf(out.file, "%s", s > 0 ? "\n\n" : "");
        end[s] = write_series(out.file, report, panel, i, next);
    }
    write_layout(out.file, variables, panel, p, end,
                 report_simulated(report->point[panel->first].row));
    return report_close(&out, err);
}

/* gnuplot's labels know two special characters in data, the double quote and the backslash. */
static void write_label(struct report_out *out, size_t number, char text[REPORT_CELL_TEXT])
{
    for (char *at = strchr(text, '"'); at != NULL; at = strchr(at, '"'))
        *at = '\'';
    for (char *at = strchr(text, '\\'); at != NULL; at = strchr(at, '\\'))
        *at = '/';
    report_print(out, "%zu\t%s\n", number, text);
}

static const struct report_group *group_of(const struct report *report, const struct panel *panel)
{
    const struct report_group *group = report->group;

    while (panel->first >= group->first + group->n)
        group++;
    return group;
}

/* The footer, number 0, and the titles. */
static int write_text(const char *directory, const struct report *report,
                      const struct panel panels[], size_t n, struct record_error *err)
{
    const struct record_run *run = &report->file[0].run;
    char text[REPORT_CELL_TEXT];
    struct report_out out;

    if (report_open(&out, directory, "throughput-text.tsv", report_escape_none, err) != 0)
        return -1;
    snprintf(text, sizeof text, "run %.8s%s, %s, %.10s, commit %.12s%s; base: one device",
             run->run_id, report->many_runs ? " and others" : "", run->cpu_model, run->created_utc,
             run->git_sha[0] != '\0' ? run->git_sha : "unknown",
             run->git_dirty ? " (modified)" : "");
    report_clean(text); /* a text cut short may end inside a character */
    write_label(&out, 0, text);
    for (size_t p = 0; p < n; p++) {
        report_group_words(report, group_of(report, &panels[p]), text);
        write_label(&out, p + 1, text);
    }
    return report_close(&out, err);
}

static int write_script(const char *directory, struct record_error *err)
{
    struct report_out out;

    if (report_open(&out, directory, "throughput.gp", report_escape_none, err) != 0)
        return -1;
    fputs((const char *)report_asset_gnuplot, out.file);
    return report_close(&out, err);
}

/* Script, text and data files; *variables is what gnuplot needs to know. Caller frees. */
static int write_inputs(const char *directory, const struct report *report,
                        const struct panel panels[], size_t n, char **variables,
                        struct record_error *err)
{
    size_t bytes = 0;
    FILE *stream = open_memstream(variables, &bytes);
    int result;

    if (stream == NULL) {
        snprintf(err->text, sizeof err->text, "no memory for the figure");
        return -1;
    }
    fprintf(stream, ";panels=%zu", n);
    result = write_script(directory, err);
    if (result == 0)
        result = write_text(directory, report, panels, n, err);
    for (size_t p = 0; p < n && result == 0; p++)
        result = write_panel(directory, report, &panels[p], (int)p + 1, stream, err);
    if (fclose(stream) != 0 && result == 0) {
        snprintf(err->text, sizeof err->text, "no memory for the figure");
        result = -1;
    }
    return result;
}

const char *const report_figure_names[REPORT_FIGURES] = {
    [REPORT_FIGURE_THROUGHPUT] = "throughput",
    [REPORT_FIGURE_SCALING] = "scaling",
    [REPORT_FIGURE_PHASES] = "phases",
    [REPORT_FIGURE_SHARDS] = "shards",
    [REPORT_FIGURE_DISTRIBUTION] = "distribution",
    [REPORT_FIGURE_PEER] = "peer",
};

static enum report_plot_status draw_throughput(const char *directory, const struct report *report,
                                               struct record_error *err)
{
    struct panel panels[REPORT_MAX_PANELS];
    size_t n = find_panels(report, panels, REPORT_MAX_PANELS);
    char *variables = NULL;
    enum report_plot_status status = REPORT_PLOT_OK;

    n = n < REPORT_MAX_PANELS ? n : REPORT_MAX_PANELS;
    if (n == 0) {
        snprintf(err->text, sizeof err->text, "no cell is verified, so nothing can be plotted");
        return REPORT_PLOT_NONE;
    }
    if (write_inputs(directory, report, panels, n, &variables, err) != 0)
        status = REPORT_PLOT_WRITE;
    else if (report_draw(directory, variables, err) != 0)
        status = REPORT_PLOT_FAILED;
    free(variables);
    return status;
}

enum report_plot_status report_plot(const char *directory, const struct report *report,
                                    struct report_figures *made, struct record_error *err)
{
    report_remove(directory, "throughput.svg");
    report_remove(directory, "throughput.png");
    *made = (struct report_figures){.status = {REPORT_PLOT_OK}};
    for (int f = 0; f < REPORT_FIGURES; f++)
        made->status[f] = REPORT_PLOT_NONE;
    made->status[REPORT_FIGURE_THROUGHPUT] = draw_throughput(directory, report, err);
    snprintf(made->why[REPORT_FIGURE_THROUGHPUT], sizeof made->why[0], "%.190s", err->text);
    return made->status[REPORT_FIGURE_THROUGHPUT];
}
