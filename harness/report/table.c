/* report/table.c: the words of a report's table cells.
 *
 * The page and the summary say the same because both take their words from here. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "workload.h"

/* Columns that are no metric. */
static const struct label {
    const char *name, *class;
} labels[REPORT_COLUMNS] = {
    [REPORT_DEVICES_COLUMN] = {"Devices", "number"},
    [REPORT_BUCKET_COLUMN] = {"Bucket", "number"},
    [REPORT_BATCH_COLUMN] = {"Batch, rows", "number"},
    [REPORT_SHARDS_COLUMN] = {"Shards, rows", "text shards"},
    [REPORT_LAUNCHES_COLUMN] = {"Launches", "number"},
    [REPORT_PHASES_COLUMN] = {"Slowest phases", "text phases"},
    [REPORT_STATUS_COLUMN] = {"Status", "text status"},
};

int report_metric_column(enum report_metric_id metric, bool range)
{
    return REPORT_METRIC_COLUMNS + 2 * (int)metric + range;
}

/* The metric of a column; -1: none. */
static int metric_of(int column)
{
    return labels[column].name ? -1 : (column - REPORT_METRIC_COLUMNS) / 2;
}

static bool is_range(int column)
{
    return metric_of(column) >= 0 && (column - REPORT_METRIC_COLUMNS) % 2 == 1;
}

/* What the ranges of a column are, when they all are the same. Those of ratios are of pairs of
 * launches, of which there may be fewer than of launches. */
static const char *range_name(const struct report *report, int metric)
{
    static const char *const kinds[] = {"Range", "p05..p95 of its steps", "Range of launches",
                                        "95\u00a0% interval"};
    int range = -1;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const int mine = (int)point->value[metric].range;

        if (mine == REPORT_NONE || (!report_metrics[metric].of && point->base == point))
            continue;
        if (range >= 0 && range != mine)
            return "[interval] or range";
        range = mine;
    }
    return kinds[range < 0 ? 0 : range];
}

const char *report_column_name(const struct report *report, int column)
{
    const int metric = metric_of(column);

    if (metric < 0)
        return labels[column].name;
    return is_range(column) ? range_name(report, metric) : report_metrics[metric].heading;
}

static bool says_something(const struct report_point *point, int column)
{
    const int metric = metric_of(column);

    if (metric < 0)
        return column != REPORT_BUCKET_COLUMN || point->bucket > 0;
    return is_range(column) ? point->value[metric].range != REPORT_NONE
                            : isfinite(report_middle(point, metric)) != 0;
}

bool report_column_used(const struct report *report, int column)
{
    const int metric = metric_of(column);
    const enum report_shown shown = metric < 0         ? REPORT_WHERE_KNOWN
                                    : is_range(column) ? report_metrics[metric].range
                                                       : report_metrics[metric].column;
    bool used = shown == REPORT_ALWAYS;

    for (size_t i = 0; i < report->n_points && !used && shown != REPORT_NEVER; ++i)
        used = says_something(&report->point[i], column);
    return used;
}

const char *report_column_class(int column)
{
    return labels[column].class ? labels[column].class
           : is_range(column)   ? "number range"
                                : "number";
}

bool report_column_is_text(int column)
{
    return strncmp(report_column_class(column), "text", 4) == 0;
}

const char *report_base_column_name(const struct report *report, enum report_base_column column)
{
    static const char *const base_names[REPORT_BASE_COLUMNS] = {
        [REPORT_BASE_BATCH] = "Batch, rows",
        [REPORT_BASE_PLAIN] = "Plain program, step",
        [REPORT_BASE_SINGLE] = "DataParallel on one device, step",
        [REPORT_BASE_WRAPPER] = "DataParallel / plain, by launch",
        [REPORT_BASE_RANK] = "DDP on one rank, step",
    };

    if (column == REPORT_BASE_WRAPPER_RANGE)
        return range_name(report, REPORT_SPEEDUP);
    return base_names[column] ? base_names[column] : range_name(report, REPORT_STEP);
}

/* "5x2 (3 idle)", "4, 4, 1": the rows of each replica; of plain-mt all. */
static void shard_words(const struct record_cell *cell, char text[REPORT_CELL_TEXT])
{
    int n = cell->n_shards < RECORD_MAX_RANKS ? cell->n_shards : RECORD_MAX_RANKS;

    if (n <= 0) {
        report_add(text, "-");
        return;
    }
    for (int i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && cell->shard[i + run] == cell->shard[i]; ++run)
            ;
        if (run > 1)
            report_add(text, "%s%d\u00d7%zu", i > 0 ? ", " : "", run, cell->shard[i]);
        else
            report_add(text, "%s%zu", i > 0 ? ", " : "", cell->shard[i]);
    }
    if (n < cell->key.n_devices && strcmp(cell->key.mode, "plain-mt") != 0)
        report_add(text, " (%d idle)", cell->key.n_devices - n);
}

bool report_point_failed(const struct report_point *point)
{
    for (size_t i = 0; i < point->n; ++i)
        if (!point->row[i].verified && point->row[i].cell->status != RECORD_SKIPPED)
            return true;
    return false;
}

/* The launches that are left out, all in one state or not. */
static void left_out_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    const char *state = NULL;
    bool same = true;
    size_t n = 0;

    for (size_t i = 0; i < point->n; ++i) {
        const struct report_row *row = &point->row[i];

        if (row->verified)
            continue;
        same = same && (!state || strcmp(state, row->state) == 0);
        state = row->state;
        ++n;
    }
    if (n == 0)
        return;
    report_add(text, "%s%zu of %zu launches %s", text[0] != '\0' ? ", " : "", n, point->n,
               same && strcmp(state, "skipped") == 0        ? "skipped"
               : same && strcmp(state, REPORT_INVALID) == 0 ? REPORT_INVALID " for timing"
                                                            : "FAILED");
    if (same && strcmp(state, "failed") != 0 && strcmp(state, "skipped") != 0 &&
        strcmp(state, REPORT_INVALID) != 0)
        report_add(text, " (%s)", state);
}

/* Whether its results were compared bit for bit: what rounds cannot be. */
static bool is_exact(const struct report_point *point)
{
    struct workload workload;
    char why[200];

    return workload_parse(point->row->cell->key.workload, &workload, why, sizeof why) == 0 &&
           workload_is_exact(&workload);
}

static void status_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    if (point->verified > 0)
        report_add(text, is_exact(point) ? "verified" : "verified within bounds");
    if (point->verified == 0 && point->n == 1)
        report_failure_words(point->row, text);
    else
        left_out_words(point, text);
    if (report_simulated(point->row))
        report_add(text, ", %s",
                   strcmp(point->row->run->source, "simulated") == 0 ? "SIMULATED"
                                                                     : "source unknown");
    if (report_oversubscribed(point))
        report_add(text, ", oversubscribed");
    if (report_settles(point))
        report_add(text, ", settling");
}

/* The two phases that take most of the median step. */
static void phase_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    int best[2] = {-1, -1};

    for (int p = 0; p < RECORD_PHASES; ++p) {
        const double ns = report_middle(point, REPORT_PHASE + p);

        if (!(ns > 0.0))
            continue;
        if (best[0] < 0 || ns > report_middle(point, REPORT_PHASE + best[0])) {
            best[1] = best[0];
            best[0] = p;
        } else if (best[1] < 0 || ns > report_middle(point, REPORT_PHASE + best[1])) {
            best[1] = p;
        }
    }
    if (best[0] < 0)
        report_add(text, "not measured");
    for (int i = 0; i < 2 && best[i] >= 0; ++i) {
        report_add(text, "%s%s ", i > 0 ? ", " : "", record_phase_names[best[i]]);
        report_add_share(text, report_middle(point, REPORT_PHASE + best[i]) /
                                   report_middle(point, REPORT_STEP));
    }
}

static void metric_words(const struct report_point *point, int column, char text[REPORT_CELL_TEXT])
{
    if (is_range(column))
        report_add_metric_range(text, point, metric_of(column));
    else
        report_add_metric(text, point, metric_of(column));
}

/* What a point is, whether it was verified or not; false: the column is of numbers. */
static bool label_words(const struct report_point *point, int column, char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = point->row->cell;
    char bucket[32] = "-";

    switch (column) {
    case REPORT_DEVICES_COLUMN:
        report_add(text,
                   report_is_plain(point)   ? "plain"
                   : report_is_cores(point) ? "plain, %d cores"
                   : report_is_ddp(point)   ? "%d ddp"
                                            : "%d",
                   cell->key.n_devices);
        return true;
    case REPORT_BUCKET_COLUMN:
        if (report_is_ddp(point))
            report_bucket_name(cell->key.bucket_bytes, bucket);
        report_add(text, "%s", bucket);
        return true;
    case REPORT_BATCH_COLUMN:
        report_add(text, "%zu", cell->key.global_batch);
        return true;
    case REPORT_SHARDS_COLUMN:
        shard_words(point->middle != NULL ? point->middle->cell : cell, text);
        return true;
    case REPORT_LAUNCHES_COLUMN:
        report_add(text, point->verified == point->n ? "%zu" : "%zu of %zu", point->verified,
                   point->n);
        return true;
    case REPORT_STATUS_COLUMN:
        status_words(point, text);
        return true;
    default:
        return false;
    }
}

void report_point_words(const struct report *report, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT])
{
    (void)report;
    text[0] = '\0';
    if (!label_words(point, column, text)) {
        if (point->verified == 0)
            report_add(text, "-");
        else if (column == REPORT_PHASES_COLUMN)
            phase_words(point, text);
        else
            metric_words(point, column, text);
    }
}

void report_workload_words(const struct report *report, const struct report_row *row,
                           char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &row->cell->key;
    char axes[PLAN_AXES_TEXT];
    bool several = false;

    for (size_t g = 0; g < report->n_groups && !several; ++g) {
        const struct report_row *other = report->point[report->group[g].first].row;

        several = strcmp(other->cell->key.communicator, key->communicator) != 0;
    }
    text[0] = '\0';
    report_add(text, several ? "%s, %s" : "%s", key->workload, key->communicator);
    plan_axes_words(key, ", ", false, axes);
    report_add(text, "%s", axes);
}

static bool many_lists(const struct report *report)
{
    bool many = false;

    for (size_t r = 1; r < report->n_runs && !many; ++r)
        many = strcmp(report->run[r].run->devices, report->run[0].run->devices) != 0;
    return many;
}

void report_setting_words(const struct report *report, const struct report_group *group,
                          char text[REPORT_CELL_TEXT])
{
    const struct report_row *row = report->point[group->first].row;
    const struct record_key *key = &row->cell->key;
    char axes[PLAN_AXES_TEXT];

    plan_axes_words(key, ", ", false, axes);
    report_add(text, "%s scaling, %s, %s/%s on %s%s", group->scaling, key->dtype, key->backend,
               key->communicator, row->kind, axes);
    if (report_simulated(row))
        report_add(text, ", SIMULATED");
    if (report->many_variants)
        report_add(text, ", built and run as run %.8s", row->run->run_id);
    if (report->many_variants && many_lists(report))
        report_add(text, " on %s", row->run->devices);
}

void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    report_add(text, "%s (", report->point[group->first].row->cell->key.workload);
    report_setting_words(report, group, text);
    report_add(text, ")");
}

bool report_base_column_used(const struct report *report, enum report_base_column column)
{
    struct report_base base;
    bool used = column == REPORT_BASE_BATCH;

    for (size_t g = 0; g < report->n_groups && !used; ++g)
        for (size_t at[3] = {0}; !used && report_base_next(report, &report->group[g], at, &base);)
            used = (base.rank != NULL) == (column >= REPORT_BASE_RANK);
    return used;
}

/* alone: what the others of its row are planned for says nothing about it. */
static void base_step(const struct report_point *point, bool alone, bool range,
                      char text[REPORT_CELL_TEXT])
{
    if (!point)
        report_add(text, range || alone ? "-" : "not planned");
    else if (point->verified == 0)
        report_add(text, range ? "-" : "not verified");
    else
        metric_words(point, report_metric_column(REPORT_STEP, range), text);
}

/* The step of DataParallel over that of the plain program: the inverse of a speed-up. */
static void wrapper_words(const struct report_base *base, bool range, char text[REPORT_CELL_TEXT])
{
    const bool both = base->single && base->single->plain;
    struct report_value ratio;

    if (!both) {
        report_add(text, "-");
        return;
    }
    ratio = report_inverse(&base->single->value[REPORT_SPEEDUP], 1.0);
    if (range)
        report_add_range(text, &ratio, report_ratio);
    else
        report_add_ratio(text, ratio.middle);
    report_add(text, range ? "" : "\u00d7");
}

/* "64", "64 (bucket 1Mi)". */
static void batch_words(const struct record_key *key, char text[REPORT_CELL_TEXT])
{
    char bucket[32];

    report_add(text, "%zu", key->global_batch);
    if (key->bucket_bytes == 0)
        return;
    report_bucket_name(key->bucket_bytes, bucket);
    report_add(text, " (bucket %s)", bucket);
}

void report_base_words(const struct report_base *base, enum report_base_column column,
                       char text[REPORT_CELL_TEXT])
{
    const struct report_point *any = base->plain    ? base->plain
                                     : base->single ? base->single
                                                    : base->rank;

    text[0] = '\0';
    if (column == REPORT_BASE_BATCH) {
        batch_words(&any->row->cell->key, text);
    } else if (column == REPORT_BASE_WRAPPER || column == REPORT_BASE_WRAPPER_RANGE) {
        wrapper_words(base, column == REPORT_BASE_WRAPPER_RANGE, text);
    } else {
        const struct report_point *const of[REPORT_BASE_COLUMNS] = {
            [REPORT_BASE_PLAIN] = base->plain,   [REPORT_BASE_PLAIN_RANGE] = base->plain,
            [REPORT_BASE_SINGLE] = base->single, [REPORT_BASE_SINGLE_RANGE] = base->single,
            [REPORT_BASE_RANK] = base->rank,     [REPORT_BASE_RANK_RANGE] = base->rank};
        const bool range = column == REPORT_BASE_PLAIN_RANGE ||
                           column == REPORT_BASE_SINGLE_RANGE || column == REPORT_BASE_RANK_RANGE;

        base_step(of[column], base->rank || column >= REPORT_BASE_RANK, range, text);
    }
}
