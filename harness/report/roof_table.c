/* report/roof_table.c: each phase of each workload against its limit, and below it its products by
 * themselves. */
#include "report/html_table.h"
#include "report/roof.h"

#include <math.h>
#include <string.h>

enum { NAME, TIME, PART, RATE, LIMIT, SHARE, COLUMNS };
static const char *const names[COLUMNS] = {
    "Phase, and its products", "Time", "Of the step", "Rate", "Limit", "Share of it"};
enum { SUMMARY_LINES = 80 };

static const char title[] = "Each phase against its limit";
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
    text_clean(text, ' ');
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
    text_clean(text, ' ');
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Calls for each phase, and behind it for each of its products; those of no phase come last. */
typedef void line_fn(void *context, const struct roof *roof, const struct roof_workload *w,
                     const struct roof_line *line);

static void each_product(const struct roof *roof, const struct roof_workload *w, int phase,
                         line_fn *call, void *context)
{
    for (size_t i = 0; i < w->n; ++i)
        if (w->line[i].product && w->line[i].phase == phase)
            call(context, roof, w, &w->line[i]);
}

static void each_line(const struct roof *roof, const struct roof_workload *w, line_fn *call,
                      void *context)
{
    for (int phase = 0; phase <= RECORD_PHASES; ++phase) {
        for (size_t i = 0; i < w->n; ++i)
            if (!w->line[i].product && w->line[i].phase == phase)
                call(context, roof, w, &w->line[i]);
        each_product(roof, w, phase, call, context);
    }
}

static void html_line(void *context, const struct roof *roof, const struct roof_workload *w,
                      const struct roof_line *line)
{
    struct html_table *table = context;
    char text[REPORT_CELL_TEXT];

    html_table_row(table, "");
    for (int c = 0; c < COLUMNS; ++c) {
        words(roof, w, line, c, text);
        html_table_cell(table, c == NAME || c == LIMIT ? "text" : "number", text);
    }
    html_table_row_end(table);
}

int roof_table(struct text_out *out, const struct report *report)
{
    const struct roof *roof = report->roof;
    char text[REPORT_CELL_TEXT], below[sizeof note + REPORT_CELL_TEXT];
    struct html_table table;

    if (!roof)
        return 0;
    snprintf(text, sizeof text, "%zu workload%s", roof->n, roof->n == 1 ? "" : "s");
    html_table_begin(&table, out, HTML_FOLDED, "limits", title, text);
    for (int c = 0; c < COLUMNS; ++c)
        html_table_heading(&table, c == NAME || c == LIMIT ? "text" : "number", names[c]);
    for (size_t i = 0; i < roof->n; ++i) {
        workload_words(roof, &roof->workload[i], text);
        html_table_group(&table, text);
        each_line(roof, &roof->workload[i], html_line, &table);
    }
    ceiling_words(roof, text);
    snprintf(below, sizeof below, "%s%s", text, note);
    return html_table_end(&table, below);
}

/* Of the summary. */
struct summary {
    struct text_out *out;
    size_t all, shown;
};

static void summary_line(void *context, const struct roof *roof, const struct roof_workload *w,
                         const struct roof_line *line)
{
    struct summary *summary = context;
    char text[REPORT_CELL_TEXT];

    if (summary->all++ >= SUMMARY_LINES)
        return;
    ++summary->shown;
    text_print(summary->out, "| %s, %zu |", w->name, w->batch);
    for (int c = 0; c < COLUMNS; ++c) {
        words(roof, w, line, c, text);
        text_print(summary->out, " %s |", text);
    }
    fputs("\n", summary->out->file);
}

void roof_summary(struct text_out *out, const struct report *report)
{
    const struct roof *roof = report->roof;
    struct summary summary = {.out = out};
    char text[REPORT_CELL_TEXT];

    if (!roof)
        return;
    text_print(out, "\n## %s\n\n| Workload, batch |", title);
    for (int c = 0; c < COLUMNS; ++c)
        text_print(out, " %s |", names[c]);
    fputs("\n| :--- |", out->file);
    for (int c = 0; c < COLUMNS; ++c)
        fputs(c == NAME || c == LIMIT ? " :--- |" : " ---: |", out->file);
    fputs("\n", out->file);
    for (size_t i = 0; i < roof->n; ++i)
        each_line(roof, &roof->workload[i], summary_line, &summary);
    report_left(out, summary.all, summary.shown, "phases and products");
    ceiling_words(roof, text);
    text_print(out, "\n%s%s\n", text, note);
}
