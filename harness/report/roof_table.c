/* report/roof_table.c: each phase of each workload against its limit, and below it its products by
 * themselves. */
#include "export/grid.h"
#include "report/roof.h"

#include <math.h>
#include <string.h>

enum { NAME, TIME, PART, RATE, LIMIT, SHARE, COLUMNS };
static const char *const names[COLUMNS] = {
    "Phase, and its products", "Time", "Of the step", "Rate", "Limit", "Share of it"};

const char roof_title[] = "Each phase against its limit";
static const char note[] =
    "The limit is the least time that the ceilings measured beside it allow: for forward and "
    "backward the multiply-adds of a core or its memory, whichever is slower at so many operations "
    "per byte; for an update the memory of one core; for what carries, what all cores together "
    "copy. Counted are the operations of matrix products, two for a multiply-add, and the bytes of "
    "their operands and results, each once; of an update 12 bytes a parameter, by AdamW 28; of "
    "what carries "
    "the bytes that cross devices. Other kernels are in the time of a phase and not in its "
    "counts. Above 100\u00a0%, data stay in a cache. Behind a share: its range over the 5th to "
    "95th percentile of the steps, which is no confidence interval.";

void roof_rate_words(const struct roof_line *line, char text[32])
{
    const struct roof_work *work = &line->work;

    if (work->flops > 0)
        report_flops(1e9 * work->flops / work->ns.middle, text);
    else if (work->bytes > 0)
        report_speed(1e9 * work->bytes / work->ns.middle, text);
    else
        snprintf(text, 32, "-");
}

static void add_limit(char text[REPORT_CELL_TEXT], const struct roof_line *line,
                      const struct roof_share *share)
{
    struct roof_line at_limit = *line;
    char rate[32];

    if (share->bound == ROOF_UNKNOWN) {
        report_add(text, "-");
        return;
    }
    at_limit.work.ns.middle *= share->share;
    roof_rate_words(&at_limit, rate);
    report_add(text, "%s, %s", rate, roof_bound_words[share->bound]);
}

static void add_share(char text[REPORT_CELL_TEXT], const struct roof_line *line,
                      const struct roof_share *share)
{
    const struct roof_range *ns = &line->work.ns;

    if (share->bound == ROOF_UNKNOWN) {
        report_add(text, "%s", roof_bound_words[ROOF_UNKNOWN]);
        return;
    }
    report_add_share(text, share->share);
    report_add(text, " (%.0f..%.0f)", 100 * share->share * ns->middle / ns->hi,
               100 * share->share * ns->middle / ns->lo);
    if (share->least > 1)
        report_add(text, ", above it");
}

static void words(const struct roof *roof, const struct roof_workload *w,
                  const struct roof_line *line, int column, char text[REPORT_CELL_TEXT])
{
    const struct roof_share share = roof_share(&roof->ceilings, &line->work);
    char word[32];

    text[0] = '\0';
    if (column == NAME && line->product)
        report_add(text, "product %s \u00d7 %zu", line->name, line->count);
    else if (column == NAME)
        report_add(text, "%s", line->name);
    else if (column == TIME) {
        report_time(line->work.ns.middle, word);
        report_add(text, "%s", word);
    } else if (column == PART)
        report_add_share(text, line->work.ns.middle / w->step_ns);
    else if (column == RATE) {
        roof_rate_words(line, word);
        report_add(text, "%s", word);
    } else if (column == LIMIT)
        add_limit(text, line, &share);
    else
        add_share(text, line, &share);
}

static void workload_words(const struct roof *roof, const struct roof_workload *w,
                           char text[REPORT_CELL_TEXT])
{
    char step[32];

    report_time(w->step_ns, step);
    text[0] = '\0';
    report_add(text, "%s, batch %zu, %s, a step %s%s", w->name, w->batch, roof->devices, step,
               roof->oversubscribed ? ", more devices than cores: no evidence" : "");
}

static void ceiling_words(const struct roof *roof, char text[REPORT_CELL_TEXT])
{
    static const struct {
        enum roof_rate rate;
        const char *words, *unit;
    } of[ROOF_RATES] = {{ROOF_FMA, "multiply-adds", "GFLOP/s"},
                        {ROOF_READ, "memory read", "GB/s"},
                        {ROOF_COPY, "memory copied", "GB/s"}};

    text[0] = '\0';
    report_add(text, "Of a core, alone and at once on %d, by %s:", roof->ceilings.devices,
               roof->instructions);
    for (int r = 0; r < ROOF_RATES; ++r) {
        const struct roof_range *way = roof->ceilings.rate[of[r].rate];

        report_add(text, " %s %.1f and %.1f %s [%.1f..%.1f]%s", of[r].words, way[ROOF_ALONE].middle,
                   way[ROOF_AT_ONCE].middle, of[r].unit, way[ROOF_AT_ONCE].lo, way[ROOF_AT_ONCE].hi,
                   r + 1 < ROOF_RATES ? "," : "");
    }
    report_add(text, "; medians and ranges of %zu rounds, %s, %s. ", roof->rounds, roof->blas,
               roof->created_utc);
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

/* ---- table ---------------------------------------------------------------------------------- */

static void add_line(struct grid *grid, const struct roof *roof, const struct roof_workload *w,
                     const struct roof_line *line)
{
    char text[REPORT_CELL_TEXT];

    grid_row(grid, "");
    for (int c = 0; c < COLUMNS; ++c) {
        words(roof, w, line, c, text);
        grid_cell(grid, c == NAME || c == LIMIT ? "text" : "number", "%s", text);
    }
}

/* Each phase, and after it each of its products; those of no phase come last. */
static void add_workload(struct grid *grid, const struct roof *roof, const struct roof_workload *w)
{
    for (int phase = 0; phase <= RECORD_PHASES; ++phase)
        for (int product = 0; product < 2; ++product)
            for (size_t i = 0; i < w->n; ++i)
                if (w->line[i].product == (product == 1) && (w->line[i].phase == phase))
                    add_line(grid, roof, w, &w->line[i]);
}

void roof_table(struct grid *grid, const struct report *report)
{
    const struct roof *roof = report->roof;
    char text[REPORT_CELL_TEXT];

    if (!roof)
        return;
    snprintf(grid->contents, sizeof grid->contents, "%zu workload%s", roof->n,
             roof->n == 1 ? "" : "s");
    for (int c = 0; c < COLUMNS; ++c)
        grid_heading(grid, c == NAME || c == LIMIT ? "text" : "number", names[c]);
    for (size_t i = 0; i < roof->n; ++i) {
        const struct roof_workload *w = &roof->workload[i];

        workload_words(roof, w, text);
        grid_group(grid, text);
        text[0] = '\0';
        report_add(text, "%s, %zu", w->name, w->batch);
        grid_name(grid, text);
        add_workload(grid, roof, w);
    }
    ceiling_words(roof, text);
    snprintf(grid->note, sizeof grid->note, "%s%s", text, note);
}
