/* report/roof_table.c: the table of each phase of each workload against its limit. The products of
 * a phase are below it. */
#include "analysis/roof.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

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

const char *roof_rate_words(const struct roof_work *work, double ns, char text[32])
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
    if (line->product)
        grid_cell(grid, "text", "product %s \u00d7 %zu", line->name, line->count);
    else
        grid_cell(grid, "text", "%s", line->name);
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
    snprintf(grid->contents, sizeof grid->contents, "%zu workload%s", roof->n,
             roof->n == 1 ? "" : "s");
    grid_headings(grid, "text", "Phase, and its products");
    grid_headings(grid, "number", "Time|Of the step|Rate");
    grid_headings(grid, "text", "Limit");
    grid_headings(grid, "number", "Share of it");
    for (size_t i = 0; i < roof->n; ++i) {
        const struct roof_workload *w = &roof->workload[i];

        text[0] = '\0';
        report_add(text, "%s, batch %zu, %s, a step %s%s", w->name, w->batch, roof->devices,
                   report_time(w->step_ns, WORD),
                   roof->oversubscribed ? ", more devices than cores: no evidence" : "");
        grid_group(grid, text);
        text[0] = '\0';
        report_add(text, "%s, %zu", w->name, w->batch);
        grid_name(grid, text);
        /* Each phase is followed by its products; products of no phase come last. */
        for (int phase = 0; phase <= RECORD_PHASES; ++phase)
            for (int product = 0; product < 2; ++product)
                for (size_t k = 0; k < w->n; ++k)
                    if (w->line[k].product == (product == 1) && w->line[k].phase == phase)
                        add_limit_row(grid, roof, w, &w->line[k]);
    }
    text[0] = '\0';
    report_add(text, "Of a core, alone and at once on %d, by %s:", roof->ceilings.devices,
               roof->instructions);
    for (enum roof_rate rate = ROOF_FMA; rate < ROOF_RATES; ++rate) {
        const struct roof_range *way = roof->ceilings.rate[rate];

        report_add(text, "%s %s %.1f and %.1f %s [%.1f..%.1f]", rate > ROOF_FMA ? "," : "",
                   names[rate], way[ROOF_ALONE].middle, way[ROOF_AT_ONCE].middle,
                   rate == ROOF_FMA ? "GFLOP/s" : "GB/s", way[ROOF_AT_ONCE].lo,
                   way[ROOF_AT_ONCE].hi);
    }
    report_add(text, "; medians and ranges of %zu rounds, %s, %s. ", roof->rounds, roof->blas,
               roof->created_utc);
    snprintf(grid->note, sizeof grid->note, "%s%s", text, limits_note);
}

void roof_caution(const struct roof *roof, char text[REPORT_CELL_TEXT])
{
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; roof && i < roof->n; ++i)
        for (size_t k = 0; k < roof->workload[i].n; ++k) {
            const struct roof_workload *w = &roof->workload[i];
            const struct roof_share share = roof_share(&roof->ceilings, &w->line[k].work);

            if (share.bound == ROOF_UNKNOWN || !(share.least > 1))
                continue;
            if (n++ < 3)
                report_add(text, "%s%s of %s, batch %zu", n > 1 ? "; " : "", w->line[k].name,
                           w->name, w->batch);
        }
    if (n > 3)
        report_add(text, "; and %zu more", n - 3);
    if (n > 0)
        report_add(text, ": faster than its limit, by more than times and ceilings vary. Its data "
                         "stay in a cache, which no ceiling is of, or a ceiling was disturbed.");
}
