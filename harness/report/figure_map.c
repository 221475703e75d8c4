/* report/figure_map.c: draws an overview of scaling. There is a panel for each group and mode. In
 * it, the cell for a number of devices and a batch has the share of the bound that the efficiency
 * reaches. */
#include "report/figure.h"
#include "report/page.h"

#include <math.h>

enum { MOST_COUNTS = 8, MOST_BATCHES = 12, CELL = 32 };

/* The state of a cell, and bits of its marks (report/caption.c). */
enum state { SHOWN, OPEN, CROWDED, DISTURBED };

/* All panels have the same axes. */
struct map {
    size_t devices[PLOT_MAX_TICKS], n_devices;
    size_t batch[PLOT_MAX_TICKS], n_batches;
    bool more; /* there are more than are drawn */
};

static bool has_cell(const struct report_point *point)
{
    return point->verified > 0 && !report_is_plain(point) && point->base != point &&
           isfinite(report_middle(point, REPORT_EFFICIENCY));
}

/* Reduces a list to at most so many numbers: the smallest, the largest, and some between them. */
static size_t thin_list(size_t list[], size_t n, size_t most, bool *more)
{
    if (n <= most)
        return n;
    for (size_t i = 0; i < most; ++i)
        list[i] = list[i * (n - 1) / (most - 1)];
    *more = true;
    return most;
}

/* The position of a number, counted from 1; 0: it is not drawn. */
static size_t place_in(const size_t list[], size_t n, size_t number)
{
    for (size_t i = 0; i < n; ++i)
        if (list[i] == number)
            return i + 1;
    return 0;
}

static void write_map_panel(struct plot_table *table, const struct map *map,
                            const struct report_group *group, size_t style)
{
    const struct plot *plot = table->plot;
    const struct report_point *point;
    bool begun = false;
    char name[PLOT_TEXT];

    figure_style_words(plot, style, name);
    if (map->more)
        report_add(name, "; not all cells drawn");
    for (size_t at = 0; (point = figure_next(group, style, 0, &at)) != NULL;) {
        if (!has_cell(point))
            continue;
        const struct report_value *value = &point->value[REPORT_EFFICIENCY];
        const bool interval = value->range == REPORT_INTERVAL;
        const double half = interval ? (value->hi - value->lo) / 2 / point->bound : NAN;
        const enum state state = figure_hollow(point)                     ? CROWDED
                                 : report_doubt_of(point, REPORT_SPEEDUP) ? OPEN
                                                                          : SHOWN;
        const size_t x = place_in(map->devices, map->n_devices, (size_t)point->key->n_devices);
        const size_t y = place_in(map->batch, map->n_batches, point->batch);
        const bool disturbed = report_count_disturbed(point, REPORT_STEP) > 0 ||
                               report_count_disturbed(point->base, REPORT_STEP) > 0;

        if (x > 0 && !begun) {
            if (!figure_panel(table, group, false, name) || !plot_table_series(table, style, name))
                return;
            plot_list(table->plot, "counts", map->devices, map->n_devices);
            plot_list(table->plot, "batches", map->batch, map->n_batches);
            begun = true;
        }
        if (x == 0 || y == 0)
            continue;
        /* In percent of the bound. */
        PLOT_ROW(table, (double)x, (double)y,
                 report_unmeasured(value) ? -1.0 : 100 * value->middle / point->bound,
                 interval ? 100 * half : -1.0, (double)state, disturbed);
        table->plot->marks |= 1U << state | (unsigned)disturbed << DISTURBED;
    }
}

static struct map map_make(const struct report *report)
{
    struct map map = {.more = false};

    for (size_t g = 0; g < report->n_groups; ++g)
        for (size_t i = 0; i < report->group[g].n; ++i) {
            const struct report_point *point = &report->group[g].point[i];

            if (!has_cell(point))
                continue;
            map.n_devices = report_insert(map.devices, map.n_devices, PLOT_MAX_TICKS,
                                          (size_t)point->key->n_devices);
            map.n_batches = report_insert(map.batch, map.n_batches, PLOT_MAX_TICKS, point->batch);
        }
    map.n_devices = thin_list(map.devices, map.n_devices, MOST_COUNTS, &map.more);
    map.n_batches = thin_list(map.batch, map.n_batches, MOST_BATCHES, &map.more);
    return map;
}

static void prepare_map(struct plot *plot, struct plot_grid *grid)
{
    grid->columns = figure_report(plot)->n_groups > 1 ? (int)figure_report(plot)->n_groups : 0;
    grid->height = CELL * (int)map_make(figure_report(plot)).n_batches;
}

/* Draws a row of panels for each mode, and a column for each group. */
static void write_map(struct plot_table *table)
{
    const struct report *report = figure_report(table->plot);
    const struct map map = map_make(report);

    for (size_t s = 1; s < figure_styles(table->plot); ++s)
        for (size_t g = 0; g < report->n_groups; ++g)
            write_map_panel(table, &map, &report->group[g], figure_nth_style(s));
}

const struct figure_row figure_map = {
    .grid = {.least = 200, .room = 18},
    .why = "no cell is verified that has another as its base",
    .columns = "place of devices, of batch, % of the bound, half of its interval (-1: none), 0 "
               "counts, 1 not certain, 2 crowded, 1: disturbed",
    .prepare = prepare_map,
    .write_panels = write_map};
