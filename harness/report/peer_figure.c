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

/* The limit of a ratio; 0: none. On GPUs there are no limits for f32. */
static double limit_of(const struct peer_record *record, const struct peer_cell *cell,
                       const struct peer_comparison *one)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; ++i)
        if (strcmp(limits[i].math, record->math) == 0 &&
            peer_is_on_gpus(record) == peer_is_tf32(record) && limits[i].batch == cell->batch &&
            strcmp(limits[i].workload, cell->workload) == 0 &&
            strcmp(limits[i].name, one->name) == 0)
            return limits[i].most;
    return 0;
}

static enum verdict judge(const struct report_value *value, double most)
{
    if (!(most > 0))
        return UNLIMITED;
    if (!isfinite(value->middle))
        return MISSED;
    if (value->range != REPORT_INTERVAL)
        return OPEN;
    return value->hi <= most ? MET : value->lo > most ? MISSED : OPEN;
}

/* Writes "lockstep 2 / PyTorch DDP 2: 0.31 [0.21, 0.42], MET". */
static void row_words(const struct peer_comparison *one, double most, char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    report_add(text, "%s: ", one->name);
    report_add_ratio(text, one->value.middle);
    if (one->value.range != REPORT_NONE) {
        report_add(text, " ");
        report_add_range(text, &one->value, report_ratio);
    }
    if (most > 0)
        report_add(text, ", %s", verdict_names[judge(&one->value, most)]);
}

static size_t style_of(const struct peer_comparison *one)
{
    return strncmp(one->name, "lockstep DDP", 12) == 0     ? FIGURE_RANKS
           : strncmp(one->name, "lockstep NCCL", 13) == 0  ? FIGURE_RANKS
           : strncmp(one->name, "lockstep plain", 14) == 0 ? FIGURE_PLAIN
                                                           : FIGURE_DP;
}

static void write_row(struct plot_table *table, const struct peer_comparison *one, double most,
                      double row)
{
    const struct report_value *value = &one->value;
    const bool spread = value->range != REPORT_NONE;
    char words[REPORT_CELL_TEXT];

    row_words(one, most, words);
    if (plot_table_series(table, style_of(one), words))
        plot_table_row(table,
                       (const double[]){row, value->middle, spread ? value->lo : value->middle,
                                        spread ? value->hi : value->middle, most,
                                        judge(value, most)},
                       6);
}

static void write_panel(struct plot_table *table, const struct peer_record *record,
                        const struct peer_cell *cell)
{
    struct peer_comparison list[PEER_COMPARISONS];
    const size_t n = peer_compare(record, cell, list);
    char title[PLOT_TEXT] = "", setting[PLOT_TEXT] = "";
    bool any = false;
    double row = 0;

    for (size_t i = 0; i < n; ++i)
        any = any || (list[i].drawn && isfinite(list[i].value.middle));
    if (!any)
        return;
    report_add(title, "%s, batch %zu", cell->workload, cell->batch);
    report_add(setting, "%d devices or processes%s", record->devices,
               record->oversubscribed ? ", more than cores: no evidence" : "");
    if (!plot_table_panel(table, title, setting, "left of 1: lockstep's step is shorter"))
        return;
    for (size_t i = 0; i < n; ++i)
        if (list[i].drawn)
            write_row(table, &list[i], limit_of(record, cell, &list[i]), ++row);
}

int figure_peer(struct plot *plot)
{
    static const struct plot_grid grid = {.least = 350, .height = 180, .room = 14, .columns = 3};
    const struct peer_record *record = figure_report(plot)->peer;
    struct plot_table table;
    char names[REPORT_CELL_TEXT];

    plot->width = FIGURE_WIDTH;
    if (!record)
        return 0;
    peer_version_names(record, names);
    snprintf(plot->why, sizeof plot->why, "no launch of the comparison was good");
    snprintf(plot->footer, sizeof plot->footer,
             "%.120s%s, %.80s, %.10s, commit %.12s%s, seed %s; load %.1f at the start, %.1f at "
             "the end%s",
             names, peer_is_tf32(record) ? ", TF32" : "", record->cpu_model, record->created_utc,
             record->git_sha, record->git_dirty ? " (modified)" : "", record->seed,
             record->load_start, record->load_end, record->complete ? "" : "; NOT FINISHED");
    if (plot_table_open(&table, plot, &grid,
                        "row, ratio, low, high, limit (0: none), 1 met, 2 open, 3 missed") != 0)
        return -1;
    for (size_t c = 0; c < record->n_cells; ++c)
        write_panel(&table, record, &record->cell[c]);
    return plot_table_close(&table);
}
