/* report/limits.c: each phase of each workload against the limit of the machine, as a table and as
 * a figure. In the table the products of a phase are below it. In the figure there is a panel for
 * each workload and batch, with the phases and its slowest products by themselves. */
#include "report/figure.h"

static const char limits_note[] =
    "The limit is the least time that the ceilings of the same run allow: for forward and "
    "backward the multiply-adds of a core or its memory, whichever is slower at so many operations "
    "per byte; for an update the memory of one core; for what carries, what all cores together "
    "copy. Counted are the operations of matrix products, two for a multiply-add, and the bytes of "
    "their operands and results, each once; of an update 12 bytes a parameter, by AdamW 28; of "
    "what carries "
    "the bytes that cross devices. Other kernels are in the time of a phase and not in its "
    "counts. Above 100\u00a0%, data stay in a cache. After a share: its range over the 5th to "
    "95th percentile of the steps, which is no confidence interval.";

/* Writes "104 GFLOP/s" or "15.8 GB/s" for the work in so many ns. Returns text, or "-" if nothing
 * is counted. */
static const char *roof_rate_words(const struct roof_work *work, double ns, char text[32])
{
    return work->flops > 0   ? report_flops(1e9 * work->flops / ns, text)
           : work->bytes > 0 ? report_speed(1e9 * work->bytes / ns, text)
                             : "-";
}

/* Adds the row of a phase, or of a product. */
static void add_limit_row(struct grid *grid, const struct roof *roof, const struct roof_workload *w,
                          const struct roof_line *line)
{
    const struct roof_share share = roof_share(&roof->ceilings, &line->work);
    const struct roof_range *ns = &line->work.ns;
    const double at_limit = share.share * ns->middle;

    grid_row(grid, "");
    grid_cell(grid, "text", line->product ? "product %s \u00d7 %zu" : "%s", line->name,
              line->count);
    report_cell_number(grid, ns->middle, report_time);
    report_cell_number(grid, ns->middle / w->step_ns, report_share);
    grid_cell(grid, "number", "%s", roof_rate_words(&line->work, ns->middle, WORD));
    if (share.bound == ROOF_UNKNOWN) {
        grid_cell(grid, "text", "-");
        grid_cell(grid, "number", "%s", roof_bound_words[ROOF_UNKNOWN]);
        return;
    }
    grid_cell(grid, "text", "%s, %s", roof_rate_words(&line->work, at_limit, WORD),
              roof_bound_words[share.bound]);
    grid_cell(grid, "number", "%s (%.0f..%.0f)%s", report_share(share.share, WORD),
              100 * at_limit / ns->hi, 100 * at_limit / ns->lo,
              share.least > 1 ? ", above it" : "");
}

void report_fill_limits(struct grid *grid, const struct report *report)
{
    static const char *const names[ROOF_RATES] = {
        [ROOF_FMA] = "multiply-adds", [ROOF_READ] = "memory read", [ROOF_COPY] = "memory copied"};
    const struct roof *roof = report->roof;
    char text[REPORT_CELL_TEXT];

    if (!roof)
        return;
    snprintf(grid->contents, sizeof grid->contents, "%zu workload%s", roof->n, text_s(roof->n));
    grid_headings(grid, "text", "Phase, and its products");
    grid_headings(grid, "number", "Time|Of the step|Rate");
    grid_headings(grid, "text", "Limit");
    grid_headings(grid, "number", "Share of it");
    for (size_t i = 0; i < roof->n; ++i) {
        const struct roof_workload *w = &roof->workload[i];

        snprintf(text, REPORT_CELL_TEXT, "%s, batch %zu, %s, a step %s%s", w->name, w->batch,
                 roof->devices, report_time(w->step_ns, WORD),
                 roof->oversubscribed ? ", more devices than cores: no evidence" : "");
        grid_group(grid, text);
        snprintf(text, REPORT_CELL_TEXT, "%s, %zu", w->name, w->batch);
        grid_name(grid, text);
        /* Each phase is followed by its products; products of no phase come last. */
        for (int phase = 0; phase <= RECORD_PHASES; ++phase)
            for (int product = 0; product < 2; ++product)
                for (size_t k = 0; k < w->n; ++k)
                    if (w->line[k].product == (product == 1) && w->line[k].phase == phase)
                        add_limit_row(grid, roof, w, &w->line[k]);
    }
    snprintf(text, REPORT_CELL_TEXT,
             "Of a core, alone and at once on %d, by %s:", roof->ceilings.devices,
             roof->instructions);
    for (enum roof_rate rate = ROOF_FMA; rate < ROOF_RATES; ++rate) {
        const struct roof_range *way = roof->ceilings.rate[rate];

        report_add(text, "%s %s %.1f and %.1f %s [%.1f..%.1f]", rate > ROOF_FMA ? "," : "",
                   names[rate], way[ROOF_ALONE].middle, way[ROOF_AT_ONCE].middle,
                   rate == ROOF_FMA ? "GFLOP/s" : "GB/s", way[ROOF_AT_ONCE].lo,
                   way[ROOF_AT_ONCE].hi);
    }
    report_add(text, "; medians and ranges of %zu round%s, %s, %s. ", roof->rounds,
               text_s(roof->rounds), roof->blas, roof->created_utc);
    snprintf(grid->note, sizeof grid->note, "%s%s", text, limits_note);
}

/* ---- figure ------------------------------------------------------------------------------- */

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
    report_add(words, "%s: %s, %s, %s", line->name, report_share(share.share, WORD),
               roof_rate_words(&line->work, ns, WORD), report_time(ns, WORD));
    if (!plot_table_series(table, line->product ? PRODUCT_STYLE : PHASE_STYLE, words))
        return;
    *row += 1;
    PLOT_ROW(table, *row, share.share, share.share * ns / line->work.ns.hi,
             share.share * ns / line->work.ns.lo);
}

static void prepare_limits(struct plot *plot, struct plot_grid *grid)
{
    const struct roof *roof = figure_report(plot)->roof;

    (void)grid;
    if (roof) {
        snprintf(plot->why, sizeof plot->why, "no phase has operations or bytes that are counted");
        snprintf(plot->footer, sizeof plot->footer, "%.120s, %.30s, %zu rounds, %.10s",
                 roof->cpu_model, roof->instructions, roof->rounds, roof->created_utc);
    }
}

static void write_limits(struct plot_table *table)
{
    const struct roof *roof = figure_report(table->plot)->roof;

    for (size_t p = 0; roof && p < roof->n; ++p) {
        const struct roof_workload *w = &roof->workload[p];
        char heading[PLOT_TEXT] = "", setting[PLOT_TEXT] = "";
        size_t known = 0;
        double row = 0;

        for (size_t i = 0; i < w->n; ++i)
            known += roof_share(&roof->ceilings, &w->line[i].work).bound != ROOF_UNKNOWN;
        if (known == 0)
            continue;
        report_add(heading, "%s, batch %zu", w->name, w->batch);
        report_add(setting, "%s%s", roof->devices,
                   roof->oversubscribed ? ", more devices than cores: no evidence" : "");
        if (known < w->n)
            report_add(setting, "; %zu not counted", w->n - known);
        if (!plot_table_panel(table, heading, setting, "beyond 100 %: the data stay in a cache"))
            continue;
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
}

const struct figure_row figure_limits = {
    .grid = {.least = 350, .height = 350, .room = 14, .columns = 3},
    .why = "no limits were measured here: `lockstep sweep limits --format json` does, and --limits "
           "reads it",
    .columns = "row, share of the limit, low, high",
    .prepare = prepare_limits,
    .write_panels = write_limits};
