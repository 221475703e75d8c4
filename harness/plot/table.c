/* plot/table.c: a figure whose panels gnuplot lays out: one table of numbers, NAME.tsv, with a
 * block per series, and words that are data like those of all figures.
 *
 * Where a panel is, its axes and its ticks are plots/grid.gp, plots/panel.gp and the figure's own
 * script. */
#include "plot/plot.h"

#include <math.h>
#include <string.h>

int plot_table_open(struct plot_table *table, struct plot *plot, const struct plot_grid *grid,
                    const char *columns)
{
    char name[64];

    *table = (struct plot_table){.plot = plot};
    plot->narrow = true;
    fprintf(plot->layout.file,
            "panel_least = %d; panel_height = %d; panel_room = %d; panel_columns = %d\n",
            grid->least, grid->height, grid->room, grid->columns);
    snprintf(name, sizeof name, "%s.tsv", plot->name);
    if (text_open(&table->out, plot->directory, name, TEXT_PLAIN, plot->err) != 0)
        return -1;
    fprintf(table->out.file, "# a block per series: %s\n", columns);
    return 0;
}

void plot_list(struct plot *plot, const char *name, const size_t list[], size_t n)
{
    fprintf(plot->layout.file, "%s_%d = '", name, plot->panels);
    for (size_t i = 0; i < n; ++i)
        fprintf(plot->layout.file, "%zu ", list[i]);
    fputs("'\n", plot->layout.file);
}

/* The series of the panel are known when the next one begins. */
static void end_panel(struct plot_table *table)
{
    if (table->plot->panels > 0)
        plot_list(table->plot, "styles", table->style, table->series);
    table->series = 0;
}

bool plot_table_panel(struct plot_table *table, const char *title, const char *setting,
                      const char *note)
{
    struct plot *plot = table->plot;

    if (plot->panels == PLOT_MAX_PANELS) {
        ++plot->left_out;
        return false;
    }
    end_panel(table);
    ++plot->panels;
    plot_number(plot, "block", table->blocks);
    plot_number(plot, "text", plot->texts);
    plot_words(plot, title);
    plot_words(plot, setting);
    plot_words(plot, note);
    return true;
}

bool plot_table_series(struct plot_table *table, size_t style, const char *label)
{
    if (table->series == PLOT_MAX_SERIES)
        return false;
    table->style[table->series++] = style;
    fputs(table->blocks++ > 0 ? "\n\n" : "", table->out.file);
    plot_words(table->plot, label);
    return true;
}

void plot_table_row(struct plot_table *table, const double number[], size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (isfinite(number[i]))
            fprintf(table->out.file, "%.9g", number[i]);
        else
            fputs("nan", table->out.file);
        fputs(i + 1 < n ? "\t" : "\n", table->out.file);
    }
}

void plot_table_gap(struct plot_table *table)
{
    fputs("\n", table->out.file);
}

int plot_table_close(struct plot_table *table)
{
    end_panel(table);
    if (table->plot->panels > 0)
        return text_close(&table->out, table->plot->err) == 0 ? 1 : -1;
    text_discard(&table->out);
    return 0;
}
