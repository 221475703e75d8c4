/* report/figure_limits.c: draws each phase of each workload, and its slowest products by
 * themselves, as a share of the limit of the machine. There is a panel for each workload and batch,
 * and a row for each phase or product. */
#include "analysis/roof.h"
#include "report/figure.h"

#include <math.h>

/* The number of products that are drawn, those with the most time. The table has all of them. */
enum { MOST_PRODUCTS = 6 };
/* The styles of the two kinds of rows, see plots/limits.gp. */
enum { PHASE_STYLE = FIGURE_DP, PRODUCT_STYLE = FIGURE_PYTORCH };

static void write_limit(struct plot_table *table, const struct roof *roof,
                        const struct roof_line *line, double *row)
{
    const struct roof_share share = roof_share(&roof->ceilings, &line->work);
    const double ns = line->work.ns.middle;
    char words[REPORT_CELL_TEXT] = "";

    if (share.bound == ROOF_UNKNOWN)
        return;
    report_add(words, "%s: ", line->name);
    report_add_share(words, share.share);
    report_add(words, ", %s, %s", roof_rate_words(&line->work, ns, WORD), report_time(ns, WORD));
    if (!plot_table_series(table, line->product ? PRODUCT_STYLE : PHASE_STYLE, words))
        return;
    *row += 1;
    plot_table_row(table,
                   (const double[]){*row, share.share, share.share * ns / line->work.ns.hi,
                                    share.share * ns / line->work.ns.lo},
                   4);
}

static void write_limits_panel(struct plot_table *table, const struct roof *roof,
                               const struct roof_workload *w)
{
    char heading[PLOT_TEXT] = "", setting[PLOT_TEXT] = "";
    size_t known = 0;
    double row = 0;

    for (size_t i = 0; i < w->n; ++i)
        known += roof_share(&roof->ceilings, &w->line[i].work).bound != ROOF_UNKNOWN;
    if (known == 0)
        return;
    report_add(heading, "%s, batch %zu", w->name, w->batch);
    report_add(setting, "%s%s", roof->devices,
               roof->oversubscribed ? ", more devices than cores: no evidence" : "");
    if (known < w->n)
        report_add(setting, "; %zu not counted", w->n - known);
    if (!plot_table_panel(table, heading, setting, "beyond 100 %: the data stay in a cache"))
        return;
    for (size_t i = 0; i < w->n; ++i)
        if (!w->line[i].product)
            write_limit(table, roof, &w->line[i], &row);
    for (size_t i = 0; i < w->n; ++i) {
        const double own = w->line[i].work.ns.middle;
        size_t longer = 0;

        for (size_t k = 0; k < w->n; ++k) {
            const double ns = w->line[k].work.ns.middle;

            longer += w->line[k].product && (ns > own || (ns == own && k < i));
        }
        if (w->line[i].product && longer < MOST_PRODUCTS)
            write_limit(table, roof, &w->line[i], &row);
    }
}

int figure_limits(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 350, .height = 350, .room = 14, .columns = 3};
    const struct roof *roof = figure_report(plot)->roof;
    struct plot_table table;

    plot->width = FIGURE_WIDTH;
    snprintf(plot->why, sizeof plot->why, "%s",
             roof ? "no phase has operations or bytes that are counted"
                  : "no limits were measured here: `lockstep sweep limits --format json` does, and "
                    "--limits reads it");
    if (roof)
        snprintf(plot->footer, sizeof plot->footer, "%.120s, %.30s, %zu rounds, %.10s",
                 roof->cpu_model, roof->instructions, roof->rounds, roof->created_utc);
    if (plot_table_open(&table, plot, &grid, "row, share of the limit, low, high") != 0)
        return -1;
    for (size_t i = 0; roof && i < roof->n; ++i)
        write_limits_panel(&table, roof, &roof->workload[i]);
    return plot_table_close(&table);
}
