/* report/ranks.c: the words about DistributedDataParallel: its buckets, its times next to those of
 * DataParallel, and how much communication overlaps backward; and all tables whose rows are points.
 */
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Behind the columns of the point itself: whose number it is, and of what. */
enum whose { OF_POINT, OF_PEER, RATIO, RATIO_RANGE, RANGE };
struct report_ranks_column {
    enum whose whose;
    int metric;        /* enum report_metric_id */
    const char *after; /* the brief heading of the metric; NULL: the whole heading, alone */
};

static const char *const first_columns[] = {"Devices", "Batch, rows", "Bucket, bytes"};
enum { FIRST_COLUMNS = sizeof first_columns / sizeof first_columns[0] };

static const struct report_ranks_column beside[] = {
    {OF_PEER, REPORT_STEP, ", DP"},  {OF_POINT, REPORT_STEP, ", DDP"},
    {RATIO, REPORT_STEP, NULL},      {RATIO_RANGE, REPORT_STEP, NULL},
    {OF_PEER, REPORT_MOVED, ", DP"}, {OF_POINT, REPORT_MOVED, ", DDP"},
    {OF_PEER, REPORT_PEAK, ", DP"},  {OF_POINT, REPORT_PEAK, ", DDP"}};
static const struct report_ranks_column overlap[] = {{OF_POINT, REPORT_COMPUTE, NULL},
                                                     {OF_POINT, REPORT_COMM, NULL},
                                                     {OF_POINT, REPORT_WHOLE, NULL},
                                                     {OF_POINT, REPORT_HIDDEN, NULL},
                                                     {RANGE, REPORT_HIDDEN, NULL}};

const struct report_ranks_table report_ranks_tables[REPORT_RANKS_TABLES] = {
    [REPORT_RANKS_TOKENS] =
        {.id = "tokens",
         .title = "Tokens",
         .rows = "cells of language models",
         .note =
             "FLOP per token: 6 N + 6 L D (C + 1) for L layers of width D and a context of C. N "
             "counts the weights that a token is multiplied by: those of the layers, and the "
             "table once, as the output; not positions, norms and biases. Attention is counted "
             "with its causal half: token t sees t tokens. Product rate: the most that a device of "
             "this workload reached here while it was in matrix products. It counts the whole "
             "square of attention, 6 N + 12 L D C, as is usual, and so do the operations of a "
             "device elsewhere. Fast kernels leave out the half that the mask hides, so these two "
             "can be more than what was computed.",
         .n = REPORT_TOKENS_COLUMNS},
    [REPORT_RANKS_HELD] =
        {.id = "held",
         .title = "Planned memory of a device",
         .rows = "cells of language models",
         .note =
             "Measured: the most that tensors held at one time on the device that held most. "
             "Planned: weights, gradients, AdamW's two states, on DataParallel's first device "
             "and the first rank gradients once more, and what a step keeps of the rows of its "
             "shard, forward and backward, on DataParallel's first device with the outputs of "
             "the whole batch. It is an upper end: at least half of it is held. The largest "
             "batch is an estimate that follows from the plan, and was not run. Virtual devices "
             "share the memory of the machine. What libraries and the system take is in none "
             "of these numbers.",
         .n = REPORT_HELD_COLUMNS},
    [REPORT_RANKS_BESIDE] =
        {.id = "beside",
         .title = "DataParallel and DistributedDataParallel in numbers",
         .rows = "comparisons",
         .note = "DP: DataParallel; DDP: DistributedDataParallel; on the same devices with the "
                 "same batch. DDP / DP: of the steps of the same launch, then the median. Moved: "
                 "bytes that crossed devices in a step. Peak: the most memory "
                 "that one device held at a time: parameters, gradients, batches and what a step "
                 "keeps, not what libraries take for themselves.",
         .n = FIRST_COLUMNS + sizeof beside / sizeof beside[0],
         .column = beside},
    [REPORT_RANKS_OVERLAP] =
        {.id = "overlap",
         .title = "Communication hidden behind backward",
         .rows = "cells of several ranks",
         .note = "Of DistributedDataParallel, in turns: a step without its reduction, the "
                 "reduction alone, and the whole step. Hidden is (step without + reduction - "
                 "whole) / reduction of a launch, then the median; noise puts it below 0 and above "
                 "100 %, too. It is resolved where its interval over the launches is narrower than "
                 "50 points. Noise of the step: half the interval of (step without + reduction - "
                 "whole). There is no number where the clock cannot tell the reduction from "
                 "nothing. On virtual devices the reduction is work of the same cores, and none of "
                 "them is idle: what is hidden there is reported, not judged.",
         .n = FIRST_COLUMNS + sizeof overlap / sizeof overlap[0],
         .column = overlap},
    [REPORT_RANKS_SLOWEST] =
        {.id = "slowest",
         .title = "The slowest rank",
         .rows = "cells of several ranks",
         .note = "In DistributedDataParallel all ranks wait for the slowest one. A rank's own work "
                 "is its forward, loss and backward. Only ranks with as many rows as the largest "
                 "shard are compared. In launches: how many had this rank as the slowest in most "
                 "of their steps. In steps: its share of the steps of these launches. By chance: "
                 "how likely it is that some rank is the slowest in so many launches, if all are "
                 "alike (binomial). Steps of one launch resemble each other, so they are no "
                 "evidence. Hosts are numbered by their first ranks.",
         .n = FIRST_COLUMNS + REPORT_SLOWEST_COLUMNS},
};

int report_ranks_columns(const struct report *report, enum report_ranks table)
{
    const bool without = table == REPORT_RANKS_TOKENS && !(report->peak > 0.0);

    return report_ranks_tables[table].n - without;
}

void report_ranks_note(const struct report *report, enum report_ranks table,
                       char note[REPORT_NOTE_TEXT])
{
    char more[REPORT_CELL_TEXT] = "";

    if (table == REPORT_RANKS_TOKENS)
        report_rates_note(report, more);
    snprintf(note, REPORT_NOTE_TEXT, "%s%s", report_ranks_tables[table].note, more);
}

static void metric_name(const struct report_ranks_column *column, char text[REPORT_CELL_TEXT])
{
    const struct report_metric *metric = &report_metrics[column->metric];

    if (column->whose == RATIO)
        report_add(text, "DDP / DP, by launch");
    else if (column->whose == RANGE || column->whose == RATIO_RANGE)
        report_add(text, "[interval] or range");
    else if (column->after)
        report_add(text, "%s%s", metric->brief, column->after);
    else
        report_add(text, "%s", metric->heading);
}

static bool is_of_tokens(enum report_ranks table)
{
    return table == REPORT_RANKS_TOKENS || table == REPORT_RANKS_HELD;
}

void report_ranks_name(enum report_ranks table, int column, char text[REPORT_CELL_TEXT])
{
    text[0] = '\0';
    if (is_of_tokens(table))
        report_add(text, "%s", report_tokens_name(table, column));
    else if (column < FIRST_COLUMNS)
        report_add(text, "%s", first_columns[column]);
    else if (table == REPORT_RANKS_SLOWEST)
        report_add(text, "%s", report_slowest_names[column - FIRST_COLUMNS]);
    else
        metric_name(&report_ranks_tables[table].column[column - FIRST_COLUMNS], text);
}

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

bool report_ranks_has(enum report_ranks table, const struct report_point *point)
{
    if (is_of_tokens(table))
        return report_tokens_has(table, point);
    if (!report_is_ddp(point) || point->verified == 0)
        return false;
    if (table == REPORT_RANKS_BESIDE)
        return point->peer != NULL;
    if (table == REPORT_RANKS_SLOWEST)
        return point->slowest.rank >= 0 && point->slowest.launches > 0;
    return point->row->cell->key.n_devices > 1 && isfinite(report_middle(point, REPORT_WHOLE));
}

static void metric_words(const struct report_ranks_column *column, const struct report_point *point,
                         char text[REPORT_CELL_TEXT])
{
    const struct report_metric *metric = &report_metrics[column->metric];

    if (column->whose == RANGE)
        report_add_range(text, &point->value[column->metric], metric->number);
    else if (column->whose == RATIO)
        report_add_ratio(text, point->beside.middle);
    else if (column->whose == RATIO_RANGE)
        report_add_range(text, &point->beside, report_ratio);
    else
        report_add_metric(text, column->whose == OF_PEER ? point->peer : point, column->metric);
}

void report_ranks_words(enum report_ranks table, const struct report_point *point, int column,
                        char text[REPORT_CELL_TEXT])
{
    const struct record_key *key = &point->row->cell->key;
    char bucket[32];

    text[0] = '\0';
    report_bucket_name(key->bucket_bytes, bucket);
    if (is_of_tokens(table))
        report_tokens_words(table, point, column, text);
    else if (column == 0)
        report_add(text, "%d%s", key->n_devices,
                   report_oversubscribed(point) ? " (oversubscribed)" : "");
    else if (column == 1)
        report_add(text, "%zu", key->global_batch);
    else if (column == 2)
        report_add(text, "%s", bucket);
    else if (table == REPORT_RANKS_SLOWEST)
        report_slowest_words(point, column - FIRST_COLUMNS, text);
    else
        metric_words(&report_ranks_tables[table].column[column - FIRST_COLUMNS], point, text);
}

/* Which of its hosts, from 1; 0: it is not known. */
static int host_of(const char *ranks_of_hosts, int rank)
{
    int host = 0;

    while (*ranks_of_hosts != '\0') {
        char *end;
        const long ranks = strtol(ranks_of_hosts, &end, 10);

        if (end == ranks_of_hosts || ranks < 1)
            return 0;
        ++host;
        if (rank < ranks)
            return host;
        rank -= (int)ranks;
        ranks_of_hosts = *end == ',' ? end + 1 : end;
    }
    return 0;
}

const char *const report_slowest_names[REPORT_SLOWEST_COLUMNS] = {
    "Rank", "Host", "Own work, above the others'", "In steps", "In launches", "By chance"};

void report_slowest_words(const struct report_point *point, int column, char text[REPORT_CELL_TEXT])
{
    const struct report_slowest *slowest = &point->slowest;
    const struct record_cell *cell = point->row->cell;
    const int host = host_of(cell->host_ranks, slowest->rank);

    switch (column) {
    case 0:
        report_add(text, "%d", slowest->rank);
        break;
    case 1:
        if (host > 0)
            report_add(text, "%d of %d", host, cell->hosts);
        else
            report_add(text, "-");
        break;
    case 2:
        report_add(text, isfinite(slowest->more) ? "%+.1f %%" : "-", 100 * slowest->more);
        break;
    case 3:
        report_add_share(text, slowest->steps);
        break;
    case 4:
        report_add(text, "%zu of %zu", slowest->lost, slowest->launches);
        break;
    default:
        report_add(text, isfinite(slowest->p) ? "p %.2g" : "-", slowest->p);
    }
}
