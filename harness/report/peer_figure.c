/* report/peer_figure.c: draws lockstep against PyTorch. There is a panel for each workload and
 * batch, and a row for each ratio of step times, with its interval and whether it keeps its limit.
 */
#include "report/figure.h"
#include "report/peer.h"

#include <math.h>
#include <string.h>

/* The largest values that ratios may have. These are the rows of
 * suites/peers/pytorch/lockstep_peers/limits.py about ratios of the two programs. */
static const struct {
    const char *workload;
    size_t batch;
    const char *name;
    double most;
    const char *math; /* tf32 is for GPUs */
} limits[] = {
    {"mlp:1024,1024,1024,1024", 256, "lockstep 2 / PyTorch's fastest", 0.47, "f32"},
    {"mlp:1024,1024,1024,1024", 2048, "lockstep 2 / PyTorch's fastest", 0.80, "f32"},
    {"cnn", 64, "lockstep 2 / PyTorch's fastest", 0.30, "f32"},
    {"cnn", 512, "lockstep 2 / PyTorch's fastest", 0.42, "f32"},
    {"lstm", 64, "lockstep 2 / PyTorch's fastest", 0.40, "f32"},
    {"lstm", 512, "lockstep 2 / PyTorch's fastest", 0.35, "f32"},
    {"gpt-tiny", 8, "lockstep 2 / PyTorch's fastest", 0.35, "f32"},
    {"gpt-small", 8, "lockstep 2 / PyTorch's fastest", 0.80, "f32"},
    {"gpt-small", 32, "lockstep 2 / PyTorch's fastest", 0.80, "f32"},
    {"gpt-small", 8, "lockstep 2 / llm.c 2", 0.70, "f32"},
    {"tutorial", 30, "lockstep 2 / PyTorch DDP 2", 0.005, "f32"},
    {"tutorial", 30, "lockstep 2 / PyTorch plain", 0.03, "f32"},
    {"mlp:1024,1024,1024,1024", 256, "lockstep DDP 2 / PyTorch DDP 2", 0.55, "f32"},
    {"mlp:1024,1024,1024,1024", 2048, "lockstep MPI 2 / PyTorch DDP 2", 0.55, "f32"},
    {"gpt2", 8, "lockstep 1 / PyTorch in steps", 1.25, "tf32"},
};

/* A limit is met or missed if the whole interval is on one side of it. With too few rounds for an
 * interval it is open. */
enum verdict { UNLIMITED, MET, OPEN, MISSED };
static const char *const verdict_names[] = {"", "MET", "OPEN", "MISSED"};

static enum verdict judge_ratio(const struct report_value *value, double most)
{
    if (!(most > 0))
        return UNLIMITED;
    if (!isfinite(value->middle))
        return MISSED;
    if (value->range != REPORT_INTERVAL)
        return OPEN;
    return value->hi <= most ? MET : value->lo > most ? MISSED : OPEN;
}

/* Writes a row with words like "MET 0.31 [0.21, 0.42]: lockstep 2 / PyTorch DDP 2", whose end a
 * panel may cut. */
static void write_ratio(struct plot_table *table, const struct peer_record *record,
                        const struct peer_cell *cell, const struct peer_comparison *one, double row)
{
    const struct report_value *value = &one->value;
    const struct figure_value drawn = figure_value(value, 1);
    char words[REPORT_CELL_TEXT] = "";
    double most = 0; /* its limit; 0: none */

    /* On GPUs there are no limits for f32. */
    for (size_t i = 0; i < sizeof limits / sizeof limits[0] && !(most > 0); ++i)
        if (strcmp(limits[i].math, record->tf32 ? "tf32" : "f32") == 0 &&
            peer_is_on_gpus(record) == record->tf32 && limits[i].batch == cell->batch &&
            strcmp(limits[i].workload, cell->workload) == 0 &&
            strcmp(limits[i].name, one->name) == 0)
            most = limits[i].most;
    report_add(words, "%s%s%s", verdict_names[judge_ratio(value, most)], most > 0 ? " " : "",
               report_ratio(value->middle, WORD));
    if (value->range != REPORT_NONE)
        report_add(words, " %s", report_range_words(value, report_ratio, PHRASE));
    report_add(words, ": %s", one->name);
    if (plot_table_series(table, one->style, words))
        PLOT_ROW(table, row, drawn.middle, drawn.lo, drawn.hi, most, judge_ratio(value, most));
}

static void prepare_peer(struct plot *plot, struct plot_grid *grid)
{
    const struct peer_record *record = figure_report(plot)->peer;

    (void)grid;
    if (!record) {
        plot->why[0] = '\0';
        return;
    }
    snprintf(plot->footer, sizeof plot->footer,
             "%.120s%s, %.80s, %.10s, commit %.12s%s, seed %s; load %.1f at the start, %.1f at "
             "the end%s",
             peer_version_words(record, PHRASE), record->tf32 ? ", TF32" : "",
             record->run.cpu_model, record->run.created_utc, record->run.git_sha,
             record->run.git_dirty ? " (modified)" : "", record->seed, record->run.load_avg[0],
             record->load_end, record->complete ? "" : "; NOT FINISHED");
}

static void write_peer(struct plot_table *table)
{
    const struct peer_record *record = figure_report(table->plot)->peer;

    for (size_t c = 0; record && c < record->n_cells; ++c) {
        const struct peer_cell *cell = &record->cell[c];
        struct peer_comparison list[PEER_COMPARISONS];
        const size_t n = peer_compare(record, cell, list);
        char title[PLOT_TEXT] = "", setting[PLOT_TEXT] = "";
        bool any = false;
        double row = 0;

        for (size_t i = 0; i < n; ++i)
            any = any || (list[i].drawn && isfinite(list[i].value.middle));
        if (!any)
            continue;
        report_add(title, "batch %zu, %s", cell->batch, cell->workload);
        report_add(setting, "%d devices or processes%s", record->devices,
                   record->oversubscribed ? ", more than cores: no evidence" : "");
        if (!plot_table_panel(table, title, setting, "left of 1: lockstep's step is shorter"))
            continue;
        for (size_t i = 0; i < n; ++i)
            if (list[i].drawn)
                write_ratio(table, record, cell, &list[i], ++row);
    }
}

const struct figure_row figure_peer = {
    .grid = {.least = 350, .height = 180, .room = 14},
    .why = "no launch of the comparison was good",
    .columns = "row, ratio, low, high, limit (0: none), 1 met, 2 open, 3 missed",
    .prepare = prepare_peer,
    .write_panels = write_peer};
