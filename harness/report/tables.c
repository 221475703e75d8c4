/* report/tables.c: the tables of a report. One function fills a table for the page, which has all
 * rows, and for summary.md, which is short. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "text/alloc.h"

/* On the page, a table of failures with fewer rows stays open. */
enum { LONG_TABLE = 12 };

/* ---- runs --------------------------------------------------------------------------------- */

static void cell_of_run(struct grid *grid, const struct report_run *run)
{
    char name[64];

    snprintf(name, sizeof name, "%.8s, %.20s", run->run->run_id, run->run->created_utc);
    text_clean(name, ' ');
    grid_cell(grid, "text", "%s", name);
}

/* Adds the counts of a run; of the last row, which is their sum, there is no run. */
static void add_counts(struct grid *grid, const struct report_counts *counts,
                       const struct report_run *run)
{
    const size_t numbers[] = {counts->planned, counts->measured, counts->verified,
                              counts->failed,  counts->skipped,  counts->missing};

    grid_row(grid, counts->failed + counts->missing > 0 ? "failed" : "good");
    if (run)
        cell_of_run(grid, run);
    else
        grid_cell(grid, "text", "all");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        grid_cell(grid, "number", "%zu", numbers[i]);
    if (run && isfinite(run->seconds))
        grid_cell(grid, "number", "%.0f %% of %.1f s",
                  100 * (run->timed.steps + run->timed.beside) / run->seconds, run->seconds);
    else
        grid_cell(grid, "number", "-");
}

static void fill_counts(struct grid *grid, const struct report *report)
{
    snprintf(grid->contents, sizeof grid->contents, "%zu run%s", report->n_runs,
             text_s(report->n_runs));
    grid_headings(grid, "text", "Run");
    grid_headings(grid, "number", "planned|measured|verified|failed|skipped|missing|timed");
    for (size_t r = 0; r < report->n_runs; ++r)
        add_counts(grid, &report->run[r].counts, &report->run[r]);
    if (report->n_runs > 1) {
        grid_line(grid);
        add_counts(grid, &report->counts, NULL);
    }
}

/* Fills the table of the time that launches take outside their measured steps. */
static void fill_costs(struct grid *grid, const struct report *report)
{
    grid_headings(grid, "text", "Run");
    for (int c = 0; c < RECORD_COSTS; ++c)
        grid_heading(grid, "number", record_cost_names[c]);
    grid_headings(grid, "number", "writing|all");
    for (size_t r = 0; r < report->n_runs; ++r) {
        const struct report_run *run = &report->run[r];

        if (!isfinite(record_costs_ms(&run->costs, 0)))
            continue;
        grid_row(grid, "");
        cell_of_run(grid, run);
        for (int c = 0; c < RECORD_COSTS; ++c)
            report_cell_number(grid, 1e6 * record_cost_ms(&run->costs, (enum record_cost)c),
                               report_time);
        report_cell_number(grid, 1e9 * run->writing / (double)run->costs.launches, report_time);
        report_cell_number(grid, 1e6 * record_costs_ms(&run->costs, run->writing), report_time);
    }
    snprintf(grid->contents, sizeof grid->contents, "%zu run%s", grid->rows, text_s(grid->rows));
}

static void fill_failures(struct grid *grid, const struct report *report)
{
    char text[REPORT_CELL_TEXT], amount[RECORD_AMOUNT_TEXT];

    grid_headings(grid, "text", "Workload|Mode");
    grid_headings(grid, "number", "Devices|Batch or size|Launch");
    grid_headings(grid, "text", "Run|What happened");
    for (size_t i = 0; i < report->n_all; ++i) {
        const struct report_row *row = &report->row[i];
        const struct record_key *key = &row->cell->key;

        if (row->verified)
            continue;
        record_amount_words(key, amount);
        report_failure_words(row, text);
        text_clean(text, ' ');
        grid_row(grid, row->cell->status == RECORD_SKIPPED ? "good" : "failed");
        grid_cell(grid, "text name", "%s", key->workload);
        grid_cell(grid, "text", "%s", key->mode);
        grid_cell(grid, "number", "%d", key->n_devices);
        grid_cell(grid, "number", "%s", amount);
        grid_cell(grid, "number", "%d", key->launch);
        grid_cell(grid, "text", "%s", row->run->run_id);
        grid_cell(grid, "text reason", "%s", text);
    }
    grid->fold = grid->rows > LONG_TABLE ? GRID_FOLDED : GRID_OPEN;
}

/* ---- answers ------------------------------------------------------------------------------ */

/* A row for each workload and mode, with its best step, how good that is, and what costs most. The
 * best point has the largest speed-up. Points on several devices, with separate cores or GPUs, and
 * with a speed-up that is certain, are preferred. */

/* The rank of a point, which is compared before the speed-up: it has several devices, these are not
 * shared, it is not more than possible, and it is certain. */
static int worth_of(const struct report_point *point)
{
    return 8 * (point->key->n_devices > 1) + 4 * !report_oversubscribed(point) +
           2 * (!report_beyond(point) && !report_unmeasured(&point->value[REPORT_SPEEDUP])) +
           !report_doubt_of(point, REPORT_SPEEDUP);
}

/* Puts the points closest to their bound first. */
static int compare_answers(const void *left, const void *right)
{
    const struct report_point *a = *(const struct report_point *const *)left;
    const struct report_point *b = *(const struct report_point *const *)right;
    const double x = report_of_bound(a), y = report_of_bound(b);

    return x < y ? 1 : x > y ? -1 : (a > b) - (a < b);
}

static void add_answer(struct grid *grid, const struct report *report,
                       const struct report_point *point, bool cores)
{
    static const char *const losses[REPORT_LOSSES] = {
        [REPORT_LOSS_COMPUTE] = "computing",
        [REPORT_LOSS_MOVES] = "moving data",
        [REPORT_LOSS_ALONE] = "loss, update",
        [REPORT_LOSS_BETWEEN] = "waiting",
    };
    const struct record_key *key = point->key;
    const struct report_group *group = report->group;
    struct report_limit limit;
    const bool known = report_limit_of(point, &limit);
    const double lost = limit.loss[limit.most];
    size_t settings = 0; /* of its workload */

    for (size_t g = 0; g < report->n_groups; ++g) {
        settings += strcmp(report->group[g].point->key->workload, key->workload) == 0;
        group = report->group[g].point <= point ? &report->group[g] : group;
    }
    grid_row(grid, "");
    grid_cell(grid, "text name", "%s",
              settings > 1 ? report_group_words(report, group, PHRASE) : key->workload);
    grid_cell(grid, "text mode", "%s%s%s",
              report_is_ddp(point)     ? "DDP"
              : report_is_cores(point) ? "one process, all cores"
                                       : "DataParallel",
              point->bucket > 0 ? ", buckets " : "",
              point->bucket > 0 ? report_bucket_words(key->bucket_bytes, WORD) : "");
    report_cell_metric(grid, point->base, REPORT_STEP);
    report_cell_metric(grid, point, REPORT_STEP);
    grid_cell(grid, "text where", "%d\u00a0%s%s, %zu%s%s", key->n_devices,
              report_is_cores(point) ? "core" : "device", text_s((size_t)key->n_devices),
              key->global_batch, report_oversubscribed(point) ? ", oversubscribed" : "",
              report_simulated(point->row) ? ", SIMULATED" : "");
    grid_cell(grid, "number speedup", "%s", report_speedup_words(point, PHRASE));
    if (report_unmeasured(&point->value[REPORT_SPEEDUP]))
        grid_cell(grid, "number", "-");
    else
        grid_cell(grid, "number", "%s%s", report_share(report_of_bound(point), WORD),
                  report_doubt_mark(point, REPORT_SPEEDUP));
    if (cores)
        grid_cell(grid, "number best", "%s",
                  point->cores ? report_ratio_range_words(
                                     &point->value[report_rival(point)],
                                     report_rival_doubt(point) ? "\u00d7?" : "\u00d7", PHRASE)
                               : "-");
    if (report_beyond(point))
        grid_cell(grid, "text loss", "more than is possible: one device was disturbed");
    else if (report_doubt_of(point, REPORT_SPEEDUP))
        grid_cell(grid, "text loss", "not certain");
    else if (!(limit.of_bound < REPORT_AT_BOUND))
        grid_cell(grid, "text loss", "no loss shown");
    else if (!known)
        grid_cell(grid, "text loss", "not told apart");
    else if (lost <= limit.missing)
        grid_cell(grid, "text loss", "%s: %.0f of the %.0f\u00a0%% lost", losses[limit.most],
                  100.0 * lost, 100.0 * limit.missing);
    else
        grid_cell(grid, "text loss", "%s: all of the %.0f\u00a0%% lost", losses[limit.most],
                  100.0 * limit.missing);
}

static const char answers_note[] =
    "One row per workload and mode, with its best speed-up, the nearest to what is possible first. "
    "Settings that share cores, or are not certain, count only if there are no others. A number "
    "with ? is not certain. Speed-up is the median of ratios of launches, so it need not be the "
    "quotient of the two steps.";

static void fill_answers(struct grid *grid, const struct report *report)
{
    const struct report_point **list = cli_alloc(report->n_points, sizeof *list);
    size_t n = 0;
    bool cores = false; /* one process on all cores was measured */

    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];
        const size_t first = n;

        /* The best point of each mode of the group. */
        for (size_t i = 0; i < group->n + group->n_cores; ++i) {
            const struct report_point *point = &group->point[i];
            size_t at = first;

            if (report_is_plain(point) || !isfinite(report_of_bound(point)))
                continue;
            while (at < n && (!report_is_mode(list[at], point->key->mode) ||
                              list[at]->bucket != point->bucket))
                ++at;
            const struct report_point *best = at < n ? list[at] : NULL;

            if (!best || worth_of(point) > worth_of(best) ||
                (worth_of(point) == worth_of(best) &&
                 report_middle(point, REPORT_SPEEDUP) > report_middle(best, REPORT_SPEEDUP)))
                list[at] = point;
            n += at == n;
        }
    }
    qsort(list, n, sizeof *list, compare_answers);
    grid->fold = GRID_PLAIN;
    grid_headings(grid, "text name", "Workload");
    grid_headings(grid, "text mode", "Mode");
    grid_headings(grid, "number", "Step of one device|Best step");
    grid_headings(grid, "text where", "Devices, best batch");
    grid_headings(grid, "number speedup", "Speed-up");
    grid_headings(grid, "number", "Of what is possible");
    for (size_t i = 0; i < n; ++i)
        cores = cores || list[i]->cores;
    if (cores)
        grid_headings(grid, "number best", "Against the best single process");
    grid_headings(grid, "text loss", "Where most is lost");
    for (size_t i = 0; i < n; ++i)
        add_answer(grid, report, list[i], cores);
    snprintf(grid->note, sizeof grid->note, "%s", answers_note);
    free(list);
}

/* ---- all of them -------------------------------------------------------------------------- */

static const struct report_table {
    const char *id, *title, *rows; /* rows: the name of its rows; NULL: they are not counted */
    /* The largest number of rows in summary.md; SIZE_MAX: it is a part of a section there, and has
     * no heading. */
    size_t most;
    const char *names; /* see struct grid */
    bool right;        /* see struct grid, too */
    report_fill_fn *fill;
} tables[REPORT_TABLES] = {
    [REPORT_TABLE_ANSWERS] = {"answers", "Answers", NULL, 0, NULL, false, fill_answers},
    [REPORT_TABLE_COUNTS] = {"counts", "Launches of each run", "runs", 0, NULL, false, fill_counts},
    [REPORT_TABLE_COSTS] = {"costs", "Outside the measured steps, a launch on the average", "runs",
                            0, NULL, false, fill_costs},
    [REPORT_TABLE_COLLECTIVES] = {"collectives", "Collectives", "cells of collectives", 100, NULL,
                                  true, report_fill_collectives},
    [REPORT_TABLE_FITS] = {"fits", "Alpha and beta of collectives", "lines", 30, NULL, true,
                           report_fill_fits},
    [REPORT_TABLE_NCCL_TESTS] = {"beside", "Next to nccl-tests", "cells", 100, NULL, true,
                                 report_fill_nccl_tests},
    [REPORT_TABLE_BASES] = {"bases", "Base cases", "base cases", 12, "Workload", false,
                            report_fill_bases},
    [REPORT_TABLE_TOKENS] = {"tokens", "Tokens", "cells of language models", 16, "Workload", false,
                             report_fill_tokens},
    [REPORT_TABLE_HELD] = {"held", "Planned memory of a device", "cells of language models", 16,
                           "Workload", false, report_fill_held},
    [REPORT_TABLE_RANKS] = {"beside", "DataParallel and DistributedDataParallel in numbers",
                            "comparisons", 16, "Workload", false, report_fill_ranks},
    [REPORT_TABLE_OVERLAP] = {"overlap", "Communication hidden during backward",
                              "cells of several ranks", 16, "Workload", false, report_fill_overlap},
    [REPORT_TABLE_SLOWEST] = {"slowest", "The slowest rank", "cells of several ranks", 16,
                              "Workload", false, report_fill_slowest},
    [REPORT_TABLE_MEMORY] = {"memory", "Memory and the largest batch", "lines through two batches",
                             0, NULL, false, report_fill_memory},
    [REPORT_TABLE_LIMITS] = {"limits", "Each phase against its limit", "phases and products", 80,
                             "Workload, batch", false, report_fill_limits},
    [REPORT_TABLE_FAILURES] = {"failures", "Failed and skipped", "launches without a result", 0,
                               NULL, false, fill_failures},
    [REPORT_TABLE_CELLS] = {"cells", "Cells", "cells", REPORT_SUMMARY_CELLS, "Workload", false,
                            report_fill_cells},
    [REPORT_TABLE_PEER_STEPS] = {"peer-steps", "Step times next to PyTorch", NULL, SIZE_MAX,
                                 "Workload", true, report_fill_peer_steps},
    [REPORT_TABLE_PEER_RATIOS] = {"peer-ratios", "Ratios next to PyTorch", NULL, SIZE_MAX,
                                  "Workload", true, report_fill_peer_ratios},
};

void report_table(struct text_out *out, const struct report *report, enum report_table_id which)
{
    const struct report_table *table = &tables[which];
    struct grid grid;

    grid_open(&grid, out, table->id, table->title);
    grid.names = table->names;
    grid.right = table->right;
    table->fill(&grid, report);
    if (grid.contents[0] == '\0' && table->rows)
        snprintf(grid.contents, sizeof grid.contents, "%zu %s", grid.rows, table->rows);
    if (grid.rows == 0 && which != REPORT_TABLE_CELLS &&
        (which != REPORT_TABLE_NCCL_TESTS || report->n_external == 0)) {
        grid_close(&grid);
        return;
    }
    if (grid.brief) {
        text_print(out, table->most == SIZE_MAX ? "\n" : "\n## %s\n\n", grid.title);
        grid_markdown(&grid, table->most);
        report_left(out, grid.rows, grid.shown, table->rows);
        if (grid.note[0] != '\0')
            text_print(out, "\n%s\n", grid.note);
    } else
        grid_html(&grid);
    grid_close(&grid);
}

/* Prints the tables of a range, in their order. */
static void print_tables(struct text_out *out, const struct report *report,
                         enum report_table_id from, enum report_table_id to)
{
    for (enum report_table_id which = from; which <= to; ++which)
        report_table(out, report, which);
}

/* Whether the report has more than collectives. */
static bool has_models(const struct report *report)
{
    return report->n_points > 0 || report->collectives->n_points == 0;
}

void report_tables(struct text_out *out, const struct report *report)
{
    print_tables(out, report, REPORT_TABLE_COUNTS, REPORT_TABLE_COSTS);
    report_copies_table(out, report);
    print_tables(out, report, REPORT_TABLE_COLLECTIVES, REPORT_TABLE_NCCL_TESTS);
    if (has_models(report))
        print_tables(out, report, REPORT_TABLE_BASES, REPORT_TABLE_CELLS);
    else
        report_table(out, report, REPORT_TABLE_FAILURES);
}

void report_brief_tables(struct text_out *out, const struct report *report)
{
    print_tables(out, report, REPORT_TABLE_BASES, REPORT_TABLE_SLOWEST);
    report_copies_table(out, report);
    report_table(out, report, REPORT_TABLE_LIMITS);
    print_tables(out, report, REPORT_TABLE_COLLECTIVES, REPORT_TABLE_NCCL_TESTS);
    if (has_models(report))
        report_table(out, report, REPORT_TABLE_CELLS);
}
