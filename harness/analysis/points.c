/* analysis/points.c: sums launches up, and compares them with the base case launch by launch.
 *
 * The launch is the unit of repetition: an interval is over launches and never over the steps of
 * one. Rows are sorted, so one pass over them is enough. */
#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/alloc.h"

/* The bound of the efficiency. A shard is a whole number of rows, so the slowest device has
 * ceil(N/K) of them; plain-mt has no shards. Devices that share cores are together no faster than
 * these cores: those that the run could use, where every host of its ranks is assumed to have as
 * many as the first. The number of cores may be unknown, and GPUs do not work on them; then it does
 * not count. */
static double bound_of_efficiency(const struct report_point *point)
{
    const struct report_row *row = point->row;
    const int cores = row->run->cores, usable = row->run->usable_pus;
    const double hosts = row->cell->hosts > 1 ? row->cell->hosts : 1;
    const double all =
        !report_works_on_cores(row)
            ? 0
            : hosts * (cores > 0 && (usable <= 0 || cores < usable) ? cores : usable);
    const size_t rows = row->cell->key.global_batch;
    const size_t k = row->cell->key.n_devices > 0 ? (size_t)row->cell->key.n_devices : 1;
    const size_t shard = rows / k + (rows % k != 0);
    const double speedup = report_is_cores(point) ? (double)k : (double)rows / (double)shard;

    if (rows == 0)
        return NAN;
    return (all > 0 ? fmin(speedup, all) : speedup) / (double)k;
}

static void sum_point(struct report_point *point, double scratch[])
{
    const struct record_cell *cell = point->row->cell;
    struct report_value *value = point->value, *step = &value[REPORT_STEP];
    const double rows = 1e9 * (double)cell->key.global_batch;
    const double size = 1e9 * (double)cell->key.size_bytes;

    point->bound = bound_of_efficiency(point);
    for (size_t i = 0; i < point->n; ++i)
        point->verified += point->row[i].verified;
    /* The steps come last, because *scratch must hold them afterwards. */
    for (int m = REPORT_METRICS - 1; m >= REPORT_STEP; --m)
        value[m] = report_over_launches(point, m, scratch);
    /* Finds the first launch that is as slow as the lower median. */
    for (size_t i = 0; i < point->n && point->verified > 0 && !point->middle; ++i) {
        const double ns = point->row[i].cell->median_ns;

        if (point->row[i].verified && ns >= scratch[(point->verified - 1) / 2] &&
            ns <= scratch[(point->verified - 1) / 2])
            point->middle = &point->row[i];
    }
    /* With only one launch, its steps are all that can show a spread. */
    if (point->verified == 1) {
        step->range = REPORT_STEPS;
        step->n = point->middle->cell->n_valid;
        step->lo = point->middle->cell->p05_ns;
        step->hi = point->middle->cell->p95_ns;
    }
    /* These follow exactly from the steps: by rows for training, by bytes for a collective. */
    if (record_is_collective(&cell->key)) {
        value[REPORT_THROUGHPUT] = report_unknown;
        value[REPORT_ALGBW] = report_inverse(step, size);
        value[REPORT_BUSBW] = report_inverse(step, size * cell->bus_factor);
    } else {
        value[REPORT_THROUGHPUT] = report_inverse(step, rows);
        if (cell->tokens_per_row > 0)
            value[REPORT_TOKENS] = report_inverse(step, rows * (double)cell->tokens_per_row);
    }
}

double report_speedup(const struct record_cell *cell, double ns, const struct record_cell *base,
                      double base_ns)
{
    return base_ns / ns * (double)cell->key.global_batch / (double)base->key.global_batch;
}

/* The only estimate for two points, by the median steps. Every ratio of two points is made from
 * it. */
static struct report_value paired_speedup(const struct report_point *point,
                                          const struct report_point *base, double scratch[])
{
    struct report_value value;
    struct report_pair pair;
    size_t n = 0;

    for (size_t at[2] = {0}; report_pair_next(point, base, at, &pair);)
        scratch[n++] = report_speedup(pair.row->cell, pair.row->cell->median_ns, pair.base->cell,
                                      pair.base->cell->median_ns);
    value = report_value_of(scratch, n);
    if (n == 0)
        value.middle = report_speedup(point->row->cell, report_middle(point, REPORT_STEP),
                                      base->row->cell, report_middle(base, REPORT_STEP));
    return value;
}

/* Finds the points on one device in that mode. */
static struct report_ones find_ones(const struct report_group *group, const char *mode)
{
    const struct report_point *end = group->point + group->n;
    struct report_ones ones = {.point = group->point};

    while (ones.point < end && !report_is_mode(ones.point, mode))
        ++ones.point;
    while (ones.point + ones.n < end && report_is_mode(&ones.point[ones.n], mode) &&
           ones.point[ones.n].key->n_devices == 1)
        ++ones.n;
    return ones;
}

/* The verified point among these with that bucket and batch, or NULL. */
static const struct report_point *find_one(struct report_ones ones, size_t bucket, size_t batch)
{
    for (size_t i = 0; i < ones.n; ++i)
        if (ones.point[i].verified > 0 && ones.point[i].key->bucket_bytes == bucket &&
            ones.point[i].key->global_batch == batch)
            return &ones.point[i];
    return NULL;
}

static void find_bases(struct report_group *group, double scratch[])
{
    struct report_point *const end = group->point + group->n, *const all = end + group->n_cores;

    group->plain = find_ones(group, "plain");
    group->single = find_ones(group, "dp");
    group->rank = find_ones(group, "ddp");
    for (struct report_point *point = group->point; point < all; ++point) {
        const struct record_key *key = point->key;

        point->plain = find_one(group->plain, 0, point->batch);
        point->single = find_one(group->single, 0, point->batch);
        if (report_is_ddp(point))
            point->rank = find_one(group->rank, key->bucket_bytes, point->batch);
        point->base = point->plain ? point->plain : point->single ? point->single : point->rank;
        if (point->verified == 0)
            continue;
        if (point->base) {
            const double devices = (double)key->n_devices;
            struct report_value *efficiency = &point->value[REPORT_EFFICIENCY];

            *efficiency = paired_speedup(point, point->base, scratch);
            point->value[REPORT_SPEEDUP] = *efficiency;
            efficiency->middle /= devices;
            efficiency->lo /= devices;
            efficiency->hi /= devices;
            report_limit_parts(point, scratch);
        }
        /* DDP and the verified point of DataParallel on as many devices with the same batch. */
        for (const struct report_point *dp = group->point; dp < end && report_is_ddp(point); ++dp)
            if (!point->peer && dp->verified > 0 && report_is_mode(dp, "dp") &&
                dp->key->n_devices == key->n_devices &&
                dp->key->global_batch == key->global_batch) {
                const struct report_value faster = paired_speedup(point, dp, scratch);

                point->peer = dp;
                point->value[REPORT_BESIDE] = report_inverse(&faster, 1.0);
            }
    }
    for (struct report_point *point = group->point; point < end; ++point)
        for (struct report_point *c = end; point->base && c < all && !point->cores; ++c)
            if (point->key->n_devices > 1 && c->base == point->base &&
                c->key->n_devices == point->key->n_devices && c->verified > 0) {
                point->cores = c;
                point->value[REPORT_OF_CORES] = paired_speedup(point, c, scratch);
            }
}

bool report_base_next(const struct report_group *group, size_t at[3], struct report_base *base)
{
    const bool plain = at[0] < group->plain.n, single = at[1] < group->single.n;
    const struct report_point *a = &group->plain.point[at[0]];
    const struct report_point *b = &group->single.point[at[1]];
    const size_t x = plain ? a->key->global_batch : 0;
    const size_t y = single ? b->key->global_batch : 0;

    *base = (struct report_base){.plain = plain && (!single || x <= y) ? a : NULL,
                                 .single = single && (!plain || y <= x) ? b : NULL};
    at[0] += base->plain != NULL;
    at[1] += base->single != NULL;
    /* DDP on one rank is the base if neither plain nor single is there. */
    while (!plain && !single && !base->rank && at[2] < group->rank.n) {
        const struct report_point *rank = &group->rank.point[at[2]++];

        base->rank = rank->plain || rank->single ? NULL : rank;
    }
    return plain || single || base->rank;
}

size_t report_insert(size_t list[], size_t n, size_t capacity, size_t number)
{
    size_t i = n;

    for (size_t j = 0; j < n; ++j)
        if (list[j] == number)
            return n;
    if (n == capacity)
        return n;
    for (; i > 0 && list[i - 1] > number; --i)
        list[i] = list[i - 1];
    list[i] = number;
    return n + 1;
}

void report_points_make(struct report *report)
{
    double *scratch = cli_alloc(report->n_rows, sizeof *scratch);
    size_t n = 1; /* bucket 0 is 0 bytes */

    report->bucket = cli_alloc(report->n_rows + 1, sizeof *report->bucket);
    for (size_t i = 0; i < report->n_rows; ++i) {
        const struct report_row *row = &report->row[i];

        if (i == 0 || !report_same_point(row - 1, row)) {
            struct report_point *point = &report->point[report->n_points];

            if (i == 0 || !report_same_group(row - 1, row))
                report->group[report->n_groups++] = (struct report_group){.point = point};
            *point = (struct report_point){.row = row,
                                           .key = &row->cell->key,
                                           .weak = strcmp(row->run->scaling, "weak") == 0,
                                           .batch = row->cell->key.global_batch};
            if (point->weak && point->key->n_devices > 0)
                point->batch /= (size_t)point->key->n_devices;
            ++report->n_points;
            if (report_is_cores(point))
                ++report->group[report->n_groups - 1].n_cores;
            else
                ++report->group[report->n_groups - 1].n;
        }
        ++report->point[report->n_points - 1].n;
    }
    for (size_t i = 0; i < report->n_points; ++i)
        n = report_insert(report->bucket, n, report->n_rows + 1,
                          report->point[i].key->bucket_bytes);
    report->n_buckets = n;
    for (size_t i = 0; i < report->n_points; ++i)
        while (report->bucket[report->point[i].bucket] != report->point[i].key->bucket_bytes)
            ++report->point[i].bucket;
    for (size_t i = 0; i < report->n_points; ++i)
        sum_point(&report->point[i], scratch);
    for (size_t g = 0; g < report->n_groups; ++g)
        find_bases(&report->group[g], scratch);
    free(scratch);
}
