/* report/cells.c: the words of settings, points and cells, and two tables: base cases, and all
 * cells. */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "text/alloc.h"
#include "workload.h"

/* ---- settings ----------------------------------------------------------------------------- */

const char *report_workload_words(const struct report *report, const struct report_row *row,
                                  char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &row->cell->key;
    char axes[PLAN_AXES_TEXT];
    bool several = false;

    for (size_t g = 0; g < report->n_groups && !several; ++g) {
        const struct report_row *other = report->group[g].point->row;

        several = strcmp(other->cell->key.communicator, key->communicator) != 0;
    }
    plan_axes_words(key, ", ", false, axes);
    snprintf(text, REPORT_CELL_TEXT, "%s%s%s%s", key->workload, several ? ", " : "",
             several ? key->communicator : "", axes);
    return text;
}

const char *report_setting_words(const struct report *report, const struct report_group *group,
                                 char text[REPORT_CELL_TEXT])
{
    const struct report_row *row = group->point->row;
    const struct record_key *key = &row->cell->key;
    char axes[PLAN_AXES_TEXT];
    bool many_lists = false;

    for (size_t r = 1; r < report->n_runs && !many_lists; ++r)
        many_lists = strcmp(report->run[r].run->devices, report->run[0].run->devices) != 0;
    plan_axes_words(key, ", ", false, axes);
    snprintf(text, REPORT_CELL_TEXT, "%s scaling, %s, %s/%s on %s%s", row->run->scaling, key->dtype,
             key->backend, key->communicator, row->kind, axes);
    if (report_simulated(row))
        report_add(text, ", SIMULATED");
    if (report->many_variants)
        report_add(text, ", built and run as run %.8s", row->run->run_id);
    if (report->many_variants && many_lists)
        report_add(text, " on %s", row->run->devices);
    return text;
}

const char *report_group_words(const struct report *report, const struct report_group *group,
                               char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT, "%s (%s)", group->point->key->workload,
             report_setting_words(report, group, PHRASE));
    return text;
}

/* On the page a group is a heading above its rows; in summary.md each row begins with its workload.
 */
void report_table_group(struct grid *grid, const struct report *report,
                        const struct report_group *group)
{
    grid_group(grid, report_group_words(report, group, PHRASE));
    grid_name(grid, report_workload_words(report, group->point->row, PHRASE));
}

void report_left(struct text_out *out, size_t all, size_t shown, const char *what)
{
    if (all > shown)
        text_print(out, "\n%zu of %zu %s; the other %zu are in %s.\n", shown, all, what,
                   all - shown, out->whole.path[0] != '\0' ? "index.html" : "the page of a report");
}

/* ---- parts of sentences ------------------------------------------------------------------- */

const char *report_ratio_range_words(const struct report_value *ratio, const char *unit,
                                     char text[REPORT_CELL_TEXT])
{
    snprintf(text, REPORT_CELL_TEXT,
             ratio->range == REPORT_NONE       ? "%s%s"
             : ratio->range == REPORT_INTERVAL ? "%s%s %s"
                                               : "%s%s (%s)",
             report_ratio_words(ratio, WORD), report_unmeasured(ratio) ? "" : unit,
             report_range_words(ratio, report_ratio, PHRASE));
    return text;
}

/* A base has no range. */
const char *report_speedup_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    struct report_value value = point->value[REPORT_SPEEDUP];
    char unit[16];

    if (point->base == point)
        value.range = REPORT_NONE;
    snprintf(unit, sizeof unit, "\u00d7%s", report_doubt_mark(point, REPORT_SPEEDUP));
    return report_ratio_range_words(&value, unit, text);
}

const char *report_base_name(const struct report_point *base)
{
    return report_is_plain(base) ? "the plain program"
           : report_is_ddp(base) ? "DDP on one rank"
                                 : "DataParallel on one device";
}

/* ---- columns ------------------------------------------------------------------------------ */

void report_cell_number(struct grid *grid, double value, report_number_fn *number)
{
    grid_cell(grid, "number", "%s", number(value, WORD));
}

void report_cell_range(struct grid *grid, const struct report_value *value,
                       report_number_fn *number)
{
    grid_cell(grid, "number", "%s", report_range_words(value, number, PHRASE));
}

void report_cell_metric(struct grid *grid, const struct report_point *point, int metric)
{
    grid_cell(grid, "number", "%s", report_metric_words(point, metric, PHRASE));
}

/* The name of the range of a column, if all its ranges are of one kind. Ranges of ratios count
 * pairs of launches, which can be fewer than the launches. */
static const char *range_name(const struct report *report, int metric)
{
    static const char *const kinds[] = {"Range", "p05..p95 of its steps", "Range of launches",
                                        "95\u00a0% interval"};
    int range = -1;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const int mine = (int)point->value[metric].range;

        if (mine == REPORT_NONE || (report_is_ratio(metric) && point->base == point))
            continue;
        if (range >= 0 && range != mine)
            return "[interval] or range";
        range = mine;
    }
    return kinds[range < 0 ? 0 : range];
}

/* ---- base cases --------------------------------------------------------------------------- */

/* Adds the step of a base case, and its range. alone: whether the others of its row are planned
 * says nothing about this one. */
static void cells_of_base(struct grid *grid, const struct report_point *point, bool alone)
{
    if (point && point->verified > 0) {
        report_cell_metric(grid, point, REPORT_STEP);
        report_cell_range(grid, &point->value[REPORT_STEP], report_time);
    } else {
        grid_cell(grid, "number", "%s", point ? "not verified" : alone ? "-" : "not planned");
        grid_cell(grid, "number", "-");
    }
}

/* Adds the row of a batch. others: there are columns of the plain program and of DataParallel. */
static void add_base(struct grid *grid, const struct report_base *base, bool others)
{
    const struct report_point *any = base->plain    ? base->plain
                                     : base->single ? base->single
                                                    : base->rank;
    const struct record_key *key = any->key;

    grid_row(grid, "");
    grid_cell(grid, "number", key->bucket_bytes == 0 ? "%zu" : "%zu (bucket %s)", key->global_batch,
              report_bucket_words(key->bucket_bytes, WORD));
    if (!others)
        return;
    cells_of_base(grid, base->plain, base->rank != NULL);
    cells_of_base(grid, base->single, base->rank != NULL);
    if (base->single && base->single->plain) {
        /* The step of DataParallel over that of the plain program. */
        const struct report_value ratio = report_inverse(&base->single->value[REPORT_SPEEDUP], 1.0);

        grid_cell(grid, "number", "%s\u00d7%s", report_ratio(ratio.middle, WORD),
                  report_doubt_mark(base->single, REPORT_SPEEDUP));
        report_cell_range(grid, &ratio, report_ratio);
    } else {
        grid_cell(grid, "number", "-");
        grid_cell(grid, "number", "-");
    }
}

void report_fill_bases(struct grid *grid, const struct report *report)
{
    const char *const range = range_name(report, REPORT_STEP);
    bool others = false, ranks = false;
    struct report_base base;

    for (size_t g = 0; g < report->n_groups; ++g)
        for (size_t at[3] = {0}; report_base_next(&report->group[g], at, &base);) {
            others = others || !base.rank;
            ranks = ranks || base.rank;
        }
    grid_headings(grid, "number", "Batch, rows");
    if (others) {
        grid_headings(grid, "number", "Plain program, step");
        grid_heading(grid, "number", range);
        grid_headings(grid, "number", "DataParallel on one device, step");
        grid_heading(grid, "number", range);
        grid_headings(grid, "number", "DataParallel / plain, by launch");
        grid_heading(grid, "number", range_name(report, REPORT_SPEEDUP));
    }
    if (ranks) {
        grid_headings(grid, "number", "DDP on one rank, step");
        grid_heading(grid, "number", range);
    }
    for (size_t g = 0; g < report->n_groups; ++g) {
        report_table_group(grid, report, &report->group[g]);
        for (size_t at[3] = {0}; report_base_next(&report->group[g], at, &base);) {
            add_base(grid, &base, others);
            if (ranks)
                cells_of_base(grid, base.rank, true);
        }
    }
}

/* ---- cells -------------------------------------------------------------------------------- */

void report_cell_mode(struct grid *grid, const struct report_point *point)
{
    grid_cell(grid, "number",
              report_is_plain(point)   ? "plain"
              : report_is_cores(point) ? "one process, %d cores"
              : report_is_ddp(point)   ? "%d ddp"
                                       : "%d",
              point->key->n_devices);
}

/* Adds the rows of each replica: "5x2 (3 idle)" or "4, 4, 1"; for plain-mt all rows. */
static void cell_of_shards(struct grid *grid, const struct record_cell *cell)
{
    const int n = cell->n_shards < RECORD_MAX_RANKS ? cell->n_shards : RECORD_MAX_RANKS;
    char text[REPORT_CELL_TEXT] = "";

    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && cell->shard[i + run] == cell->shard[i]; ++run)
            ;
        if (run > 1)
            report_add(text, "%s%d\u00d7%zu", i > 0 ? ", " : "", run, (size_t)cell->shard[i]);
        else
            report_add(text, "%s%zu", i > 0 ? ", " : "", (size_t)cell->shard[i]);
    }
    if (n > 0 && n < cell->key.n_devices && strcmp(cell->key.mode, "plain-mt") != 0)
        report_add(text, " (%d idle)", cell->key.n_devices - n);
    grid_cell(grid, "text shards", "%s", n > 0 ? text : "-");
}

/* Adds the two phases that take most of the median step. */
static void cell_of_phases(struct grid *grid, const struct report_point *point)
{
    char text[REPORT_CELL_TEXT] = "";
    int first = -1;

    for (int i = 0; i < 2; ++i) {
        double most = 0.0;
        int best = -1;

        for (int p = 0; p < RECORD_PHASES; ++p)
            if (p != first && report_middle(point, REPORT_PHASE + p) > most) {
                most = report_middle(point, REPORT_PHASE + p);
                best = p;
            }
        if (best >= 0)
            report_add(text, "%s%s %s", i > 0 ? ", " : "", record_phase_names[best],
                       report_share(most / report_middle(point, REPORT_STEP), WORD));
        first = best;
    }
    grid_cell(grid, "text phases", "%s",
              point->verified == 0 ? "-"
              : text[0] == '\0'    ? "not measured"
                                   : text);
}

static void cell_of_status(struct grid *grid, const struct report_point *point)
{
    char text[REPORT_CELL_TEXT] = "", why[200];
    const char *state = NULL;
    bool same = true;
    struct workload workload;

    /* Results that are rounded cannot be compared bit for bit. */
    if (point->verified > 0)
        report_add(text, "verified%s",
                   workload_parse(point->key->workload, &workload, why, sizeof why) == 0 &&
                           workload_is_exact(&workload)
                       ? ""
                       : " within bounds");
    /* The launches that are left out, with their state if they all have the same. */
    for (size_t i = 0; i < point->n; ++i) {
        const struct report_row *row = &point->row[i];

        if (row->verified)
            continue;
        same = same && (!state || strcmp(state, row->state) == 0);
        state = row->state;
    }
    if (point->verified == 0 && point->n == 1)
        report_failure_words(point->row, text);
    else if (state) {
        report_add(text, "%s%zu of %zu launches ", text[0] != '\0' ? ", " : "",
                   point->n - point->verified, point->n);
        if (same && strcmp(state, "skipped") == 0)
            report_add(text, "skipped");
        else if (same && strcmp(state, REPORT_INVALID) == 0)
            report_add(text, REPORT_INVALID " for timing");
        else
            report_add(text, same && strcmp(state, "failed") != 0 ? "FAILED (%s)" : "FAILED",
                       state);
    }
    if (report_simulated(point->row))
        report_add(text, ", %s",
                   strcmp(point->row->run->source, "simulated") == 0 ? "SIMULATED"
                                                                     : "source unknown");
    report_add(text, "%s%s%s", report_oversubscribed(point) ? ", oversubscribed" : "",
               report_settles(point) ? ", settling" : "",
               report_count_disturbed(point, REPORT_STEP) > 0 ? ", disturbed" : "");
    grid_cell(grid, "text status", "%s", text);
}

/* Columns that some tables lack, because no point has a value in them. */
struct shown {
    bool bucket, metric[REPORT_PHASE], range[REPORT_PHASE];
};

static bool is_shown(const struct report *report, int metric, bool range)
{
    const enum report_shown shown =
        range ? report_metrics[metric].range : report_metrics[metric].column;
    bool used = shown == REPORT_ALWAYS;

    for (size_t i = 0; i < report->n_points && !used && shown != REPORT_NEVER; ++i) {
        const struct report_value *value = &report->point[i].value[metric];

        used = range ? value->range != REPORT_NONE : isfinite(value->middle) != 0;
    }
    return used;
}

static void point_row(struct grid *grid, const struct report *report,
                      const struct report_point *point, const struct shown *shown)
{
    const struct record_cell *cell = point->row->cell;

    grid_name(grid, report_workload_words(report, point->row, PHRASE));
    grid_row(grid, report_point_failed(point) ? "failed" : "good");
    report_cell_mode(grid, point);
    if (shown->bucket)
        grid_cell(grid, "number", "%s",
                  report_is_ddp(point) ? report_bucket_words(cell->key.bucket_bytes, WORD) : "-");
    grid_cell(grid, "number", "%zu", cell->key.global_batch);
    cell_of_shards(grid, point->middle ? point->middle->cell : cell);
    grid_cell(grid, "number", point->verified == point->n ? "%zu" : "%zu of %zu", point->verified,
              point->n);
    for (int m = 0; m < REPORT_PHASE; ++m) {
        if (shown->metric[m])
            grid_cell(grid, "number", "%s",
                      point->verified > 0 ? report_metric_words(point, m, PHRASE) : "-");
        if (shown->range[m])
            grid_cell(grid, "number range", "%s",
                      point->verified > 0 ? report_metric_range_words(point, m, PHRASE) : "-");
    }
    cell_of_phases(grid, point);
    cell_of_status(grid, point);
}

/* Marks at most so many points. A short table takes those of the batch of the sentence about
 * scaling first, then those of the smallest batch, then the others. */
static void choose_cells(const struct report *report, size_t most, bool chosen[])
{
    size_t n = 0;

    for (int rank = 0; rank < 3; ++rank)
        for (size_t g = 0; g < report->n_groups; ++g) {
            const struct report_group *group = &report->group[g];
            const struct report_point *best = report_group_best(group);
            const size_t least = group->point->key->global_batch;
            bool *of_group = chosen + (group->point - report->point);

            for (size_t i = 0; i < group->n + group->n_cores && n < most; ++i) {
                const struct report_point *point = &group->point[i];
                const size_t batch = point->key->global_batch;
                const bool of_best =
                    best && (point->base == best->base || batch == best->key->global_batch);
                const int own = of_best ? 0 : batch == least ? 1 : 2;

                if (report->n_points > most && own != rank)
                    continue;
                n += !of_group[i];
                of_group[i] = true;
            }
        }
}

bool report_same_line(const struct report_point *a, const struct report_point *b)
{
    const struct record_key *x = a->key, *y = b->key;

    return x->n_devices == y->n_devices && strcmp(x->mode, y->mode) == 0 &&
           x->bucket_bytes == y->bucket_bytes;
}

void report_fill_cells(struct grid *grid, const struct report *report)
{
    bool *chosen = cli_alloc(report->n_points, sizeof *chosen);
    struct shown shown = {.bucket = false};

    for (size_t i = 0; i < report->n_points; ++i)
        shown.bucket = shown.bucket || report->point[i].bucket > 0;
    grid_headings(grid, "number",
                  shown.bucket ? "Devices|Bucket|Batch, rows" : "Devices|Batch, rows");
    grid_headings(grid, "text", "Shards, rows");
    grid_headings(grid, "number", "Launches");
    for (int m = 0; m < REPORT_PHASE; ++m) {
        shown.metric[m] = is_shown(report, m, false);
        shown.range[m] = is_shown(report, m, true);
        if (shown.metric[m])
            grid_heading(grid, "number", report_metrics[m].heading);
        if (shown.range[m])
            grid_heading(grid, "number", range_name(report, m));
    }
    grid_headings(grid, "text", "Slowest phases|Status");
    choose_cells(report, grid->brief ? REPORT_SUMMARY_CELLS : report->n_points, chosen);
    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];

        report_table_group(grid, report, group);
        for (size_t i = 0; i < group->n + group->n_cores; ++i) {
            const struct report_point *point = &group->point[i];

            if (i > 0 && !report_same_line(point - 1, point))
                grid_line(grid);
            if (chosen[point - report->point])
                point_row(grid, report, point, &shown);
        }
    }
    grid->rows = report->n_points;
    snprintf(grid->note, sizeof grid->note, "A number with ? is not certain.");
    free(chosen);
}
