/* analysis/rows.c: which rows a report has, in which order, and which rows belong together.
 *
 * Only a row whose values were checked and whose numbers are finite is verified. All others are
 * listed with their state, and are used for nothing else. */
#include "analysis/analysis.h"

#include "command/command.h"
#include "dp.h"
#include "record/record.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Compares the fields of a run that are also in the key of a cell (in_key is true), or those that
 * are not (false). Those of the key sort rows into groups; only a record that contradicts itself
 * has others in its run. */
int report_runs_order(bool in_key, const struct record_run *a, const struct record_run *b)
{
    int order = 0;

    if (a == b)
        return 0;
    for (const struct record_field *field = record_run_fields; field->name && order == 0; ++field)
        if (in_key == (record_find(record_key_fields, field->name) != NULL))
            order = record_field_order(field, RECORD_APART, a, b);
    return order;
}

/* Records that were written before there were machine classes have none; two of them are of one
 * machine only if they are of one host. */
bool report_same_machine(const struct record_run *a, const struct record_run *b)
{
    const unsigned roles =
        RECORD_MACHINE | (a->machine_class[0] == '\0' ? RECORD_HOST : RECORD_MACHINE);

    return !record_differs(record_run_fields, roles, a, b);
}

/* The order of modes: plain, dp, others; plain-mt is a reference, and last. */
static int mode_rank(const char *mode)
{
    static const char *const first[] = {"plain", "dp"};

    for (int i = 0; i < 2; ++i)
        if (strcmp(mode, first[i]) == 0)
            return i;
    return strcmp(mode, "plain-mt") == 0 ? 3 : 2;
}

/* Compares everything that a group has in common: all of a key except the axes, in which points of
 * one group differ. */
static int compare_setting(const struct report_row *a, const struct report_row *b)
{
    static const size_t axes[] = {
        offsetof(struct record_key, mode),         offsetof(struct record_key, devices),
        offsetof(struct record_key, n_devices),    offsetof(struct record_key, global_batch),
        offsetof(struct record_key, bucket_bytes), offsetof(struct record_key, size_bytes)};
    const struct record_key *x = &a->cell->key, *y = &b->cell->key;
    int order = strcmp(x->workload, y->workload);

    if (order == 0)
        order = strcmp(a->run->scaling, b->run->scaling);
    for (const struct record_field *field = record_key_fields; field->name && order == 0; ++field) {
        bool axis = false;

        for (size_t i = 0; i < sizeof axes / sizeof axes[0] && !axis; ++i)
            axis = axes[i] == field->offset;
        order = axis ? 0 : record_field_order(field, RECORD_APART, x, y);
    }
    if (order == 0)
        order = strcmp(a->kind, b->kind);
    return order != 0 ? order : (a->variant > b->variant) - (a->variant < b->variant);
}

static int compare_cells(const struct report_row *a, const struct report_row *b)
{
    return record_order(record_cell_fields, RECORD_APART, a->cell, b->cell);
}

static int compare_keys(const void *left, const void *right)
{
    const struct report_row *a = left, *b = right;
    const struct record_key *x = &a->cell->key, *y = &b->cell->key;
    int order = compare_setting(a, b);

    if (order == 0)
        order = mode_rank(x->mode) - mode_rank(y->mode);
    if (order == 0)
        order = strcmp(x->mode, y->mode);
    if (order != 0)
        return order;
    const size_t mine[] = {(size_t)x->n_devices, x->bucket_bytes, x->size_bytes, x->global_batch};
    const size_t other[] = {(size_t)y->n_devices, y->bucket_bytes, y->size_bytes, y->global_batch};

    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; ++i)
        if (mine[i] != other[i])
            return mine[i] < other[i] ? -1 : 1;
    order = record_order(record_key_fields, RECORD_APART, x, y);
    return order != 0 ? order : report_runs_order(true, a->run, b->run);
}

/* Orders rows of one key: verified ones first, and those of one work together. */
static int compare_work(const void *left, const void *right)
{
    const struct report_row *a = left, *b = right;
    const int order = b->verified - a->verified;

    return order != 0 || !a->verified ? order : compare_cells(a, b);
}

/* Orders rows of one key by work and launch. */
static int compare_launches(const void *left, const void *right)
{
    const struct report_row *a = left, *b = right;
    const int order = (a->work > b->work) - (a->work < b->work);

    return order != 0 ? order : report_launch_order(a, b);
}

/* A key has many words. Rows of one key are sorted in a second pass, so that keys are compared
 * once. */
void report_rows_sort(struct report *report)
{
    qsort(report->row, report->n_rows, sizeof *report->row, compare_keys);
    for (size_t first = 0, end; first < report->n_rows; first = end) {
        struct report_row *row = &report->row[first];

        for (end = first + 1; end < report->n_rows && compare_keys(row, &report->row[end]) == 0;)
            ++end;
        /* Rows of one key differ in their work if their cells differ in what they say about the
         * work outside their key. A cell that was not verified may have ended before it said
         * anything; it goes with the first. */
        qsort(row, end - first, sizeof *row, compare_work);
        for (size_t i = 0; i < end - first; ++i)
            row[i].work = i > 0 && row[i].verified
                              ? row[i - 1].work + (compare_cells(&row[i - 1], &row[i]) != 0)
                              : 0;
        qsort(row, end - first, sizeof *row, compare_launches);
    }
}

int report_launch_order(const struct report_row *a, const struct report_row *b)
{
    const int x = a->cell->key.launch, y = b->cell->key.launch;
    const int order = x != y ? (x > y) - (x < y) : strcmp(a->run->run_id, b->run->run_id);

    return order != 0
               ? order
               : (a->cell->sitting > b->cell->sitting) - (a->cell->sitting < b->cell->sitting);
}

bool report_same_group(const struct report_row *a, const struct report_row *b)
{
    return compare_setting(a, b) == 0;
}

bool report_same_point(const struct report_row *a, const struct report_row *b)
{
    return a->work == b->work && compare_keys(a, b) == 0;
}

/* Asks the launch of the median step: one that is not verified may have ended before it knew. */
bool report_oversubscribed(const struct report_point *point)
{
    return (point->middle ? point->middle : point->row)->cell->oversubscribed;
}

bool report_simulated(const struct report_row *row)
{
    return strcmp(row->run->source, "measured") != 0;
}

bool report_works_on_cores(const struct report_row *row)
{
    struct dp_kind_row kind;

    return !dp_kind_of(row->kind, &kind) || kind.flags & DP_KIND_CORES;
}

const char *report_crowding(const struct report_row *row)
{
    return report_works_on_cores(row) ? "more devices than cores"
                                      : "several slots on one GPU or core";
}

bool report_is_mode(const struct report_point *point, const char *mode)
{
    return strcmp(point->key->mode, mode) == 0;
}

bool report_is_plain(const struct report_point *point)
{
    return report_is_mode(point, "plain");
}

bool report_is_cores(const struct report_point *point)
{
    return report_is_mode(point, "plain-mt");
}

bool report_is_ddp(const struct report_point *point)
{
    return report_is_mode(point, "ddp");
}

const struct report_steal_source report_steal_sources[REPORT_STEAL_SOURCES] = {
    {offsetof(struct record_cell, foreign_frac), 0.30, "other programs"},
    {offsetof(struct record_cell, steal_frac), 0.02, "other machines on the same host"}};

double report_share_of(const struct record_cell *cell, const struct report_steal_source *to)
{
    return *(const double *)((const char *)cell + to->field);
}

bool report_disturbed(const struct report_row *row)
{
    bool any = false;

    for (size_t e = 0; row->verified && e < REPORT_STEAL_SOURCES; ++e)
        any = any ||
              report_share_of(row->cell, &report_steal_sources[e]) > report_steal_sources[e].limit;
    return any;
}

bool report_point_failed(const struct report_point *point)
{
    for (size_t i = 0; i < point->n; ++i)
        if (!point->row[i].verified && point->row[i].cell->status != RECORD_SKIPPED)
            return true;
    return false;
}

const char *report_failure_words(const struct report_row *row, char text[REPORT_CELL_TEXT])
{
    const struct record_cell *cell = row->cell;
    char why[RECORD_NODE_TEXT];

    text[0] = '\0';
    if (strcmp(row->state, REPORT_INVALID) == 0) {
        record_gpu_doubt(cell, why);
        report_add(text, REPORT_INVALID " for timing: %s", why);
        return text;
    }
    report_add(text, "%s", cell->status == RECORD_SKIPPED ? "skipped" : "FAILED");
    if (cell->status != RECORD_SKIPPED && strcmp(row->state, "failed") != 0)
        report_add(text, " (%s)", row->state);
    if (cell->reason[0] != '\0')
        report_add(text, ": %s", cell->reason);
    else if (cell->status == RECORD_OK)
        report_add(text, ": recorded as ok, but without checked values or finite times");
    return text;
}
