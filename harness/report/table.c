/* report/table.c: the words of a report's table cells.
 *
 * The page and the summary say the same because both take their words from here. */
#include "report/report.h"

#include <math.h>
#include <string.h>

static const char *const names[REPORT_COLUMNS] = {
    [REPORT_DEVICES] = "Devices",
    [REPORT_BUCKET] = "Bucket",
    [REPORT_BATCH] = "Batch, rows",
    [REPORT_SHARDS] = "Shards, rows",
    [REPORT_LAUNCHES_DONE] = "Launches",
    [REPORT_STEP] = "Median step",
    [REPORT_THROUGHPUT] = "Samples/s",
    [REPORT_SPEEDUP] = "Speed-up",
    [REPORT_EFFICIENCY] = "Efficiency, of bound",
    [REPORT_OUTSIDE] = "Outside matrix products",
    [REPORT_MOVED] = "Moved per step",
    [REPORT_PEAK] = "Peak memory of a device",
    [REPORT_PHASES] = "Slowest phases",
    [REPORT_STATUS] = "Status",
};

/* What the ranges of a column are, when they all are the same. Those of speed-ups are of pairs of
 * launches, of which there may be fewer than of launches. */
static const char *range_name(const struct report *report, bool speedup)
{
    static const char *const kinds[] = {"Range", "p05..p95 of its steps", "Range of launches",
                                        "95\u00a0% interval"};
    int range = -1;

    for (size_t i = 0; i < report->n_points; ++i) {
        const struct report_point *point = &report->point[i];
        const int mine = (int)(speedup ? point->speedup.range : point->step_ns.range);

        if (mine == REPORT_NONE || (speedup && point->base == point))
            continue;
        if (range >= 0 && range != mine)
            return "[interval] or range";
        range = mine;
    }
    return kinds[range < 0 ? 0 : range];
}

const char *report_column_name(const struct report *report, enum report_column column)
{
    if (column == REPORT_STEP_RANGE || column == REPORT_SPEEDUP_RANGE)
        return range_name(report, column == REPORT_SPEEDUP_RANGE);
    return names[column];
}

static bool says_something(const struct report_point *point, enum report_column column)
{
    switch (column) {
    case REPORT_SPEEDUP_RANGE:
        return point->speedup.range != REPORT_NONE;
    case REPORT_BUCKET:
        return point->bucket > 0;
    case REPORT_OUTSIDE:
        return isfinite(point->outside);
    case REPORT_MOVED:
        return isfinite(point->moved);
    case REPORT_PEAK:
        return isfinite(point->peak);
    default:
        return true;
    }
}

bool report_column_used(const struct report *report, enum report_column column)
{
    bool used = false;

    for (size_t i = 0; i < report->n_points && !used; ++i)
        used = says_something(&report->point[i], column);
    return used;
}

bool report_column_is_text(enum report_column column)
{
    return column == REPORT_SHARDS || column == REPORT_PHASES || column == REPORT_STATUS;
}

const char *report_base_column_name(const struct report *report, enum report_base_column column)
{
    static const char *const base_names[REPORT_BASE_COLUMNS] = {
        [REPORT_BASE_BATCH] = "Batch, rows",
        [REPORT_BASE_PLAIN] = "Plain program, step",
        [REPORT_BASE_SINGLE] = "DataParallel on one device, step",
        [REPORT_BASE_WRAPPER] = "DataParallel / plain",
    };

    return column == REPORT_BASE_PLAIN_RANGE || column == REPORT_BASE_SINGLE_RANGE
               ? range_name(report, false)
               : base_names[column];
}

/* "5x2 (3 idle)", "4, 4, 1": the rows of each replica. */
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
    if (n < cell->key.n_devices)
        report_add(text, " (%d idle)", cell->key.n_devices - n);
}

void report_failure_words(const struct report_row *row, char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = row->cell;

    report_add(text, "%s", cell->status == RECORD_SKIPPED ? "skipped" : "FAILED");
    if (cell->status != RECORD_SKIPPED && strcmp(row->state, "failed") != 0)
        report_add(text, " (%s)", row->state);
    if (cell->reason[0] != '\0')
        report_add(text, ": %s", cell->reason);
    else if (cell->status == RECORD_OK)
        report_add(text, ": recorded as ok, but without checked values or finite times");
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
               strcmp(state, "skipped") == 0 && same ? "skipped" : "FAILED");
    if (same && strcmp(state, "failed") != 0 && strcmp(state, "skipped") != 0)
        report_add(text, " (%s)", state);
}

static void status_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    size_t unsteady = 0;

    for (size_t i = 0; i < point->n; ++i)
        unsteady += point->row[i].cell->n_samples > 0 && !point->row[i].cell->steady_state;
    if (point->verified > 0)
        report_add(text, "verified");
    if (point->verified == 0 && point->n == 1)
        report_failure_words(point->row, text);
    else
        left_out_words(point, text);
    if (report_simulated(point->row))
        report_add(text, ", %s",
                   strcmp(point->row->run->source, "simulated") == 0 ? "SIMULATED"
                                                                     : "source unknown");
    if (report_oversubscribed(point->row))
        report_add(text, ", oversubscribed");
    if (unsteady > 0 && point->n == 1)
        report_add(text, ", not steady");
    else if (unsteady > 0)
        report_add(text, ", %zu not steady", unsteady);
}

/* The two phases that take most of the median step. */
static void phase_words(const struct report_point *point, char text[REPORT_CELL_TEXT])
{
    int best[2] = {-1, -1};

    for (int p = 0; p < RECORD_PHASES; ++p) {
        const double ns = point->phase_ns[p];

        if (!(ns > 0.0))
            continue;
        if (best[0] < 0 || ns > point->phase_ns[best[0]]) {
            best[1] = best[0];
            best[0] = p;
        } else if (best[1] < 0 || ns > point->phase_ns[best[1]]) {
            best[1] = p;
        }
    }
    if (best[0] < 0)
        report_add(text, "not measured");
    for (int i = 0; i < 2 && best[i] >= 0; ++i) {
        report_add(text, "%s%s ", i > 0 ? ", " : "", record_phase_names[best[i]]);
        report_add_share(text, point->phase_ns[best[i]] / point->step_ns.middle);
    }
}

static void ratio_words(const struct report_point *point, enum report_column column,
                        char text[REPORT_CELL_TEXT])
{
    if (column == REPORT_SPEEDUP && point->base == point) {
        report_add(text, "base");
    } else if (column == REPORT_SPEEDUP) {
        report_add_ratio(text, point->speedup.middle);
    } else if (point->base == point || !isfinite(point->efficiency.middle)) {
        report_add(text, "-");
    } else if (column == REPORT_EFFICIENCY) {
        report_add_ratio(text, point->efficiency.middle);
        report_add(text, " of %.2f", point->bound);
    } else {
        report_add_range(text, &point->speedup, report_ratio);
        if (point->speedup.n != point->verified)
            report_add(text, " (%zu pair%s)", point->speedup.n, point->speedup.n == 1 ? "" : "s");
    }
}

static void number_words(const struct report_point *point, enum report_column column,
                         char text[REPORT_CELL_TEXT])
{
    char number[32] = "";

    switch (column) {
    case REPORT_STEP:
        report_time(point->step_ns.middle, number);
        break;
    case REPORT_THROUGHPUT:
        report_rate(point->throughput.middle, number);
        break;
    case REPORT_STEP_RANGE:
        report_add_range(text, &point->step_ns, report_time);
        break;
    case REPORT_OUTSIDE:
        report_add_share(text, point->outside);
        break;
    case REPORT_MOVED:
        report_bytes(point->moved, number);
        break;
    case REPORT_PEAK:
        report_bytes(point->peak, number);
        break;
    case REPORT_PHASES:
        phase_words(point, text);
        break;
    default:
        ratio_words(point, column, text);
    }
    report_add(text, "%s", number);
}

void report_point_words(const struct report *report, const struct report_point *point,
                        enum report_column column, char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = point->row->cell;
    char bucket[32] = "-";

    (void)report;
    text[0] = '\0';
    if (report_is_ddp(point))
        report_bucket_name(cell->key.bucket_bytes, bucket);
    if (column == REPORT_DEVICES)
        report_add(text,
                   report_is_plain(point) ? "plain"
                   : report_is_ddp(point) ? "%d ddp"
                                          : "%d",
                   cell->key.n_devices);
    else if (column == REPORT_BUCKET)
        report_add(text, "%s", bucket);
    else if (column == REPORT_BATCH)
        report_add(text, "%zu", cell->key.global_batch);
    else if (column == REPORT_SHARDS)
        shard_words(point->middle != NULL ? point->middle->cell : cell, text);
    else if (column == REPORT_LAUNCHES_DONE)
        report_add(text, point->verified == point->n ? "%zu" : "%zu of %zu", point->verified,
                   point->n);
    else if (column == REPORT_STATUS)
        status_words(point, text);
    else if (point->verified == 0)
        report_add(text, "-");
    else
        number_words(point, column, text);
    text_clean(text, ' '); /* what was cut short may end inside a character */
}

void report_group_words(const struct report *report, const struct report_group *group,
                        char text[REPORT_CELL_TEXT])
{
    const struct report_row *row = report->point[group->first].row;
    const struct record_key *key = &row->cell->key;

    text[0] = '\0';
    report_add(text, "%s (%s scaling, %s, %s/%s on %s", key->workload, group->scaling, key->dtype,
               key->backend, key->communicator, row->kind);
    if (report_simulated(row))
        report_add(text, ", SIMULATED");
    if (report->many_variants)
        report_add(text, ", built and run as run %.8s on %s", row->run->run_id, row->run->devices);
    report_add(text, ")");
    text_clean(text, ' ');
}

static void base_step(const struct report_point *point, bool range, char text[REPORT_CELL_TEXT])
{
    char time[32];

    if (!point) {
        report_add(text, range ? "-" : "not planned");
    } else if (point->verified == 0) {
        report_add(text, range ? "-" : "not verified");
    } else if (range) {
        report_add_range(text, &point->step_ns, report_time);
    } else {
        report_time(point->step_ns.middle, time);
        report_add(text, "%s", time);
    }
}

void report_base_words(const struct report_base *base, enum report_base_column column,
                       char text[REPORT_CELL_TEXT])
{
    const struct report_point *any = base->plain ? base->plain : base->single;

    text[0] = '\0';
    if (column == REPORT_BASE_BATCH) {
        report_add(text, "%zu", any->row->cell->key.global_batch);
    } else if (column == REPORT_BASE_WRAPPER) {
        const bool both = base->single && base->single->plain;

        report_add_ratio(text, both ? 1.0 / base->single->speedup.middle : NAN);
        report_add(text, both ? "\u00d7" : "");
    } else {
        const bool plain = column == REPORT_BASE_PLAIN || column == REPORT_BASE_PLAIN_RANGE;

        base_step(plain ? base->plain : base->single,
                  column == REPORT_BASE_PLAIN_RANGE || column == REPORT_BASE_SINGLE_RANGE, text);
    }
}
