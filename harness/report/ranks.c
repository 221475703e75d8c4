/* report/ranks.c: the words about DistributedDataParallel: its buckets, what it takes beside
 * DataParallel, and what of its communication is hidden. */
#include "report/report.h"

#include <math.h>
#include <string.h>

enum {
    BESIDE_STEP_DP = 3,
    BESIDE_STEP,
    BESIDE_RATIO,
    BESIDE_MOVED_DP,
    BESIDE_MOVED,
    BESIDE_PEAK_DP,
    BESIDE_PEAK,
    BESIDE_COLUMNS
};
enum {
    OVERLAP_COMPUTE = 3,
    OVERLAP_COMM,
    OVERLAP_WHOLE,
    OVERLAP_HIDDEN,
    OVERLAP_RANGE,
    OVERLAP_COLUMNS
};

const struct report_ranks_table report_ranks_tables[REPORT_RANKS_TABLES] = {
    [REPORT_RANKS_BESIDE] =
        {.id = "beside",
         .title = "DataParallel and DistributedDataParallel in numbers",
         .rows = "comparisons",
         .note = "DP: DataParallel; DDP: DistributedDataParallel; on the same devices with the "
                 "same batch. Moved: bytes that crossed devices in a step. Peak: the most memory "
                 "that one device held at a time: parameters, gradients, batches and what a step "
                 "keeps, not what libraries take for themselves.",
         .n = BESIDE_COLUMNS,
         .column = {"Devices", "Batch, rows", "Bucket, bytes", [BESIDE_STEP_DP] = "Step, DP",
                    [BESIDE_STEP] = "Step, DDP", [BESIDE_RATIO] = "DDP / DP",
                    [BESIDE_MOVED_DP] = "Moved, DP", [BESIDE_MOVED] = "Moved, DDP",
                    [BESIDE_PEAK_DP] = "Peak, DP", [BESIDE_PEAK] = "Peak, DDP"}},
    [REPORT_RANKS_OVERLAP] =
        {.id = "overlap",
         .title = "Communication hidden behind backward",
         .rows = "cells of several ranks",
         .note = "Of DistributedDataParallel, in turns: a step without its reduction, the "
                 "reduction alone, and the whole step. Hidden is (step without + reduction - "
                 "whole) / reduction; what noise puts outside of 0 to 100 % is shown as 0 or "
                 "100 %, and there is no number where the clock cannot tell the reduction from "
                 "nothing. On virtual devices the reduction is work of the same cores, and none of "
                 "them is idle: what is hidden there is reported, not judged.",
         .n = OVERLAP_COLUMNS,
         .column = {"Devices", "Batch, rows",
                    "Bucket, bytes", [OVERLAP_COMPUTE] = "Step without reduction",
                    [OVERLAP_COMM] = "Reduction alone", [OVERLAP_WHOLE] = "Whole step",
                    [OVERLAP_HIDDEN] = "Hidden", [OVERLAP_RANGE] = "[interval] or range"}},
};

void report_bucket_name(size_t bytes, char text[32])
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi"};
    size_t unit = 0;

    if (bytes == 0) {
        snprintf(text, 32, "1Mi, 25Mi");
        return;
    }
    for (; unit < 3 && bytes % 1024 == 0; ++unit)
        bytes /= 1024;
    snprintf(text, 32, "%zu%s", bytes, units[unit]);
}

const struct report_point *report_ranks_peer(const struct report *report,
                                             const struct report_group *group,
                                             const struct report_point *point)
{
    const struct record_key *key = &point->row->cell->key;

    for (size_t i = group->first; i < group->first + group->n; ++i) {
        const struct report_point *other = &report->point[i];
        const struct record_key *of = &other->row->cell->key;

        if (other->verified > 0 && strcmp(of->mode, "dp") == 0 && of->n_devices == key->n_devices &&
            of->global_batch == key->global_batch)
            return other;
    }
    return NULL;
}

bool report_ranks_has(const struct report *report, const struct report_group *group,
                      enum report_ranks table, const struct report_point *point)
{
    if (!report_is_ddp(point) || point->verified == 0)
        return false;
    if (table == REPORT_RANKS_BESIDE)
        return report_ranks_peer(report, group, point) != NULL;
    return point->row->cell->key.n_devices > 1 && isfinite(point->whole_ns);
}

size_t report_ranks_count(const struct report *report, enum report_ranks table)
{
    size_t n = 0;

    for (size_t g = 0; g < report->n_groups; ++g) {
        const struct report_group *group = &report->group[g];

        for (size_t i = group->first; i < group->first + group->n; ++i)
            n += report_ranks_has(report, group, table, &report->point[i]);
    }
    return n;
}

static void share_number(double share, char text[32])
{
    if (isfinite(share))
        snprintf(text, 32, "%.0f\u00a0%%", 100.0 * share);
    else
        snprintf(text, 32, "-");
}

static void overlap_words(const struct report_point *point, int column, char text[REPORT_CELL_TEXT])
{
    char number[32] = "";

    if (column == OVERLAP_HIDDEN)
        share_number(point->hidden.middle, number);
    else if (column == OVERLAP_RANGE)
        report_add_range(text, &point->hidden, share_number);
    else
        report_time(column == OVERLAP_COMPUTE ? point->compute_ns
                    : column == OVERLAP_COMM  ? point->comm_ns
                                              : point->whole_ns,
                    number);
    report_add(text, "%s", number);
}

static void beside_words(const struct report_point *point, const struct report_point *peer,
                         int column, char text[REPORT_CELL_TEXT])
{
    char number[32] = "";

    switch (column) {
    case BESIDE_STEP_DP:
    case BESIDE_STEP:
        report_time(column == BESIDE_STEP ? point->step_ns.middle : peer->step_ns.middle, number);
        break;
    case BESIDE_RATIO:
        report_ratio(point->step_ns.middle / peer->step_ns.middle, number);
        break;
    case BESIDE_MOVED_DP:
    case BESIDE_MOVED:
        report_bytes(column == BESIDE_MOVED ? point->moved : peer->moved, number);
        break;
    default:
        report_bytes(column == BESIDE_PEAK ? point->peak : peer->peak, number);
    }
    report_add(text, "%s", number);
}

void report_ranks_words(const struct report *report, const struct report_group *group,
                        enum report_ranks table, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &point->row->cell->key;
    char bucket[32];

    text[0] = '\0';
    report_bucket_name(key->bucket_bytes, bucket);
    if (column == 0)
        report_add(text, "%d%s", key->n_devices,
                   report_oversubscribed(point->row) ? " (oversubscribed)" : "");
    else if (column == 1)
        report_add(text, "%zu", key->global_batch);
    else if (column == 2)
        report_add(text, "%s", bucket);
    else if (table == REPORT_RANKS_OVERLAP)
        overlap_words(point, column, text);
    else
        beside_words(point, report_ranks_peer(report, group, point), column, text);
    text_clean(text, ' ');
}
