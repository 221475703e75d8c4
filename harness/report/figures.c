/* report/figures.c: draws all figures of a report, one after the other. It also has the functions
 * that their writers share. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_NAME(id, name, title)  #name,
#define FIGURE_TITLE(id, name, title) title,
const char *const report_figure_names[REPORT_FIGURES] = {REPORT_FIGURE_LIST(FIGURE_NAME)};
const char *const report_figure_titles[REPORT_FIGURES] = {REPORT_FIGURE_LIST(FIGURE_TITLE)};

/* The subject of a figure. */
struct figure {
    const struct report *report;
    const struct figure_row *row;
};

const struct report *figure_report(const struct plot *plot)
{
    return ((const struct figure *)plot->subject)->report;
}

/* ---- what writers share ------------------------------------------------------------------- */

bool figure_hollow(const struct report_point *point)
{
    return report_oversubscribed(point) || report_simulated(point->middle);
}

size_t figure_batches(const struct report_group *group, size_t list[], size_t capacity)
{
    size_t n = 0;

    for (const struct report_point *point = group->point; point < group->point + group->n;
         ++point) {
        if (point->verified > 0)
            n = report_insert(list, n, capacity, point->batch);
    }
    return n;
}

size_t figure_style(const struct report_point *point)
{
    return report_is_plain(point) ? FIGURE_PLAIN
           : report_is_ddp(point) ? FIGURE_RANKS + FIGURE_STYLES * point->bucket
                                  : FIGURE_DP;
}

size_t figure_styles(const struct plot *plot)
{
    return 2 + figure_report(plot)->n_buckets;
}

size_t figure_nth_style(size_t i)
{
    return i < 2 ? FIGURE_PLAIN + i : FIGURE_RANKS + FIGURE_STYLES * (i - 2);
}

const char *figure_style_words(const struct plot *plot, size_t style, char text[PLOT_TEXT])
{
    static const char *const names[] = {"plain", "DataParallel", "DDP", "PyTorch"};
    const size_t which = (style - 1) / FIGURE_STYLES; /* of the buckets */

    snprintf(text, PLOT_TEXT, "%s", names[(style - 1) % FIGURE_STYLES]);
    if (which > 0 && which < figure_report(plot)->n_buckets)
        report_add(text, " %s", report_bucket_words(figure_report(plot)->bucket[which], WORD));
    return text;
}

const struct report_point *figure_next(const struct report_group *group, size_t style,
                                       size_t devices, size_t *at)
{
    while (*at < group->n) {
        const struct report_point *point = &group->point[(*at)++];

        if (point->verified > 0 && figure_style(point) == style &&
            (devices == 0 || (size_t)point->key->n_devices == devices))
            return point;
    }
    return NULL;
}

size_t figure_most_devices(const struct report_group *group, size_t style)
{
    const struct report_point *point;
    size_t most = 0, most_crowded = 0;

    for (size_t at = 0; (point = figure_next(group, style, 0, &at)) != NULL;) {
        const size_t devices = (size_t)point->key->n_devices;
        size_t *of = report_oversubscribed(point) ? &most_crowded : &most;

        *of = devices > *of ? devices : *of;
    }
    return most > 0 ? most : most_crowded;
}

bool figure_panel_titled(struct plot_table *table, const struct report_group *group,
                         const char *title, const char *note)
{
    return plot_table_panel(table, title,
                            report_setting_words(figure_report(table->plot), group, PHRASE), note);
}

bool figure_panel(struct plot_table *table, const struct report_group *group, bool hollow,
                  const char *more)
{
    const struct report_row *row = group->point->row;
    char note[REPORT_CELL_TEXT] = "";

    if (report_simulated(row))
        report_add(note, "SIMULATED, not measured (hollow)");
    if (more[0] != '\0')
        report_add(note, "%s%s", note[0] != '\0' ? "; " : "", more);
    if (hollow && !report_simulated(row))
        report_add(note, "%shollow: %s", note[0] != '\0' ? "; " : "", report_crowding(row));
    return figure_panel_titled(table, group, row->cell->key.workload, note);
}

struct figure_value figure_value(const struct report_value *value, double scale)
{
    return (struct figure_value){scale * value->middle,
                                 scale * (isfinite(value->lo) ? value->lo : value->middle),
                                 scale * (isfinite(value->hi) ? value->hi : value->middle)};
}

/* ---- all figures -------------------------------------------------------------------------- */

static int write_figure(struct plot *plot)
{
    const struct report *report = figure_report(plot);
    const struct figure_row *row = ((const struct figure *)plot->subject)->row;
    const struct report *of = row->collectives ? report->collectives : report;
    struct plot_grid grid = row->grid;
    struct plot_table table;
    char more[64] = "";

    plot->width = FIGURE_WIDTH;
    snprintf(plot->why, sizeof plot->why, "%s", row->collectives && of->n_all == 0 ? "" : row->why);
    if (row->prepare)
        row->prepare(plot, &grid);
    if (plot_table_open(&table, plot, &grid, row->columns) != 0)
        return -1;
    for (size_t g = 0; row->write_group && g < of->n_groups; ++g)
        row->write_group(&table, &of->group[g]);
    if (!row->write_group)
        row->write_panels(&table);
    const int result = plot_table_close(&table);

    /* The words at the foot, unless the writer has set other words. */
    if (report->n_files == 0 || plot->footer[0] != '\0')
        return result;
    const struct record_run *run = &report->file[0].run;
    const bool based = report->n_points > 0 && row != &figure_slide;

    if (plot->left_out > 0)
        snprintf(more, sizeof more, "%zu more workload%s or setting%s not drawn; ", plot->left_out,
                 text_s(plot->left_out), text_s(plot->left_out));
    snprintf(plot->footer, sizeof plot->footer, "%s%srun %.8s%s, %.48s, %.10s, commit %.12s%s%s",
             strcmp(run->source, "measured") != 0 ? "SIMULATED: " : "", more, run->run_id,
             report->many_runs ? " and others" : "", run->cpu_model, run->created_utc,
             run->git_sha[0] != '\0' ? run->git_sha : "unknown",
             run->git_dirty ? " (modified)" : "",
             based ? "; base: plain program, else DataParallel, else DDP, on one device" : "");
    return result;
}

#define FIGURE_ROW(id, name, title) {figure_asset_##name, &figure_##name},
static const struct {
    const unsigned char *script;
    const struct figure_row *row;
} figures[REPORT_FIGURES] = {REPORT_FIGURE_LIST(FIGURE_ROW)};

enum plot_status report_plot(const char *directory, const struct report *report,
                             struct report_figures *made, struct text_error *err)
{
    enum plot_status status = PLOT_OK;

    if (plot_scripts(directory, err) != 0)
        return PLOT_WRITE;
    for (int f = 0; f < REPORT_FIGURES && status != PLOT_WRITE; ++f) {
        struct text_error why = {{0}};
        const struct figure figure = {report, figures[f].row};
        struct plot plot = {.subject = &figure,
                            .directory = directory,
                            .name = report_figure_names[f],
                            .err = &why};

        plot_remove(directory, plot.name);
        made->status[f] = PLOT_NONE;
        if (f == REPORT_FIGURE_SLIDE && !report->slide)
            continue;
        made->status[f] = plot_make(&plot, figures[f].script, write_figure);
        made->marks[f] = plot.marks;
        snprintf(made->why[f], sizeof made->why[f], "%.191s",
                 made->status[f] == PLOT_NONE ? plot.why : why.text);
        /* The status is the worst of all, and err keeps the first reason of a failure. */
        if (made->status[f] == PLOT_WRITE ||
            (made->status[f] == PLOT_FAILED && status != PLOT_FAILED)) {
            status = made->status[f];
            *err = why;
        }
    }
    bool any = status != PLOT_OK || made->status[REPORT_FIGURE_BATCH] != PLOT_NONE;

    for (size_t i = 0; report->n_files > 0 && i < report->collectives->n_points && !any; ++i)
        any = report->collectives->point[i].verified > 0;
    if (any)
        return status;
    snprintf(err->text, sizeof err->text, "%s", made->why[REPORT_FIGURE_BATCH]);
    return PLOT_NONE;
}
